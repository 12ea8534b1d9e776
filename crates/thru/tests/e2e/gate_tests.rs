//! Tests of sub-agents' outputs with the real Claude Code.

use std::fs;

use serde_json::json;

use crate::claude::{ClaudeCode, session_id_of_result};
use crate::model::{RequestKind, ScriptedModel};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, call_step, text_step};

const COMPLETE_MARK: &str = "<!-- AGENT_COMPLETE -->";

/// The sub-agent's prompt names an output, but the sub-agent does not write it. The verdict and the sub-agent's last
/// message are on disk before the main agent continues. A brief names the missing output, and `gate run` produces it.
#[test]
fn an_output_that_was_not_left_is_noticed_named_and_made() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    scratch.write_file(
        ".claude/agents/security.md",
        "---\nname: security\ndescription: Reviews for security\n---\nYou review for security.\n",
    );
    let expect =
        ["gate", "expect", "review", "--critical", "review-security.md", "--prompt", "REVIEW-IT-PLEASE"];
    let made = scratch.run_thru_json(&expect);
    let run = made["run"].as_str().expect("a run").to_owned();
    let output = format!("{run}/review-security.md");
    let agent = json!({
        "description": "Review", "prompt": "LOOK-FOR-HOLES", "subagent_type": "security", "run_in_background": false,
    });
    let script = ModelScript {
        main: vec![
            call_step("Agent", agent),
            // Copies the files that exist at the main agent's next step.
            call_step(
                "Bash",
                json!({ "command": format!("cp -r {run} seen; cp .agent/context/sessions/*.jsonl seen/journal"),
                "description": "Look" }),
            ),
            text_step("The review is done."),
            text_step("I see what is open."),
        ],
        subagent: vec![text_step("I FOUND-NO-HOLES, and forgot to write it down.")],
        compact: vec![text_step("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
    };
    let model = ScriptedModel::start(script);

    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    let sid = session_id_of_result(&talk.send_and_wait("Have it reviewed"));
    talk.send_and_wait("/compact");
    talk.send_and_wait("What is open?");
    talk.end().assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let told = asked.iter().find(|asked| asked.kind == RequestKind::Subagent).expect("a sub-agent asked");
    assert!(told.contains("LOOK-FOR-HOLES") && told.contains(&output), "the sub-agent is told its path");
    let seen = |file: &str| fs::read_to_string(scratch.project.join("seen").join(file)).unwrap_or_default();
    assert!(
        seen("review-security.md.last-message.md").contains("FOUND-NO-HOLES"),
        "saved before the next step"
    );
    assert!(
        seen("journal").contains("\"verdict\":\"missing\""),
        "judged before the next step: {}",
        seen("journal")
    );
    scratch.read_journal(&sid).assert_once(&json!({
        "event": "subagent-stop", "agent": { "type": "security" }, "verdict": "missing",
        "output": output.strip_prefix(&format!("{}/", scratch.project.display())).expect("inside the project"),
    }));
    let after = asked.last().expect("a question after the compaction");
    for needle in ["Sub-agent outputs that are still open", "review-security.md, critical: missing"] {
        assert!(after.contains(needle), "{needle:?} reaches the model after a compaction");
    }
    assert!(!fs::exists(&output).expect("to look"), "never as the output itself");

    let checked = scratch.run_thru(&["gate", "check"]);
    assert_eq!(checked.status.code(), Some(4), "{}", String::from_utf8_lossy(&checked.stdout));

    // Now a launched command must write this output. The command is Claude Code itself, with the prompt on stdin. The
    // command's script is written later, when the model is running.
    let launch = scratch.project.join("launch.sh").to_string_lossy().into_owned();
    let made = scratch.run_thru_json(&[&expect[..], &["--", "sh", &launch]].concat());
    let run = made["run"].as_str().expect("a run").to_owned();
    let output = format!("{run}/review-security.md");
    let text = format!("# Review\n\nNo holes.\n\n{COMPLETE_MARK}\n");
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": output, "content": text })),
        text_step("Written."),
    ]));
    let command = claude.claude_command(&scratch, &model);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> =
        words.map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))).collect();
    fs::write(&launch, format!("exec {}\n", words.join(" "))).expect("a file");
    let mut gate = scratch.command_in_project("thru");
    gate.args(["gate", "run"]).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = gate.output().expect("thru runs");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && said.contains("PERSISTENCE_GATE=PASS"), "{said}");
    model.assert_script_used_up();
    let asked = model.received_requests();
    assert!(asked[0].contains("REVIEW-IT-PLEASE") && asked[0].contains(&output), "prompt and path on stdin");
    assert_eq!(fs::read_to_string(&output).expect("it is there"), text);
    let log = fs::read_to_string(format!("{output}.launch.log")).expect("what it said is kept");
    assert!(log.contains("\"type\":\"result\"") && log.contains("=== exit 0"), "{log}");
    scratch.assert_healthy();
}
