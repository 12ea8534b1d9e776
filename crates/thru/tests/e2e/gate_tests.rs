//! Outputs of sub-agents, with the real Claude Code.

use std::fs;

use serde_json::json;

use crate::claude::{ClaudeCode, session};
use crate::model::{Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, call, say};

const DONE: &str = "<!-- AGENT_COMPLETE -->";

/// The sub-agent is told which output to write and does not write it. The verdict and its last message are on disk
/// before the main agent continues, a brief names the missing output, and `gate run` makes it.
#[test]
fn an_output_that_was_not_left_is_noticed_named_and_made() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    scratch.write(
        ".claude/agents/security.md",
        "---\nname: security\ndescription: Reviews for security\n---\nYou review for security.\n",
    );
    let expect =
        ["gate", "expect", "review", "--critical", "review-security.md", "--prompt", "REVIEW-IT-PLEASE"];
    let made = scratch.thru_json(&expect);
    let run = made["run"].as_str().expect("a run").to_owned();
    let output = format!("{run}/review-security.md");
    let agent = json!({
        "description": "Review", "prompt": "LOOK-FOR-HOLES", "subagent_type": "security", "run_in_background": false,
    });
    let script = Script {
        main: vec![
            call("Agent", agent),
            // Lists the files that exist when the main agent takes its next step.
            call(
                "Bash",
                json!({ "command": format!("cp -r {run} seen; cp .agent/context/sessions/*.jsonl seen/journal"),
                "description": "Look" }),
            ),
            say("The review is done."),
            say("I see what is open."),
        ],
        subagent: vec![say("I FOUND-NO-HOLES, and forgot to write it down.")],
        compact: vec![say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
    };
    let model = Model::start(script);

    let mut talk = claude.converse(&scratch, &model, &[]);
    let sid = session(&talk.say("Have it reviewed"));
    talk.say("/compact");
    talk.say("What is open?");
    talk.end().assert_success();

    model.assert_played();
    let asked = model.asked();
    let told = asked.iter().find(|asked| asked.kind == Kind::Subagent).expect("a sub-agent asked");
    assert!(told.holds("LOOK-FOR-HOLES") && told.holds(&output), "the sub-agent is told its path");
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
    scratch.journal(&sid).once(&json!({
        "event": "subagent-stop", "agent": { "type": "security" }, "verdict": "missing",
        "output": output.strip_prefix(&format!("{}/", scratch.project.display())).expect("inside the project"),
    }));
    let after = asked.last().expect("a question after the compaction");
    for needle in ["Outputs of sub-agents that are still open", "review-security.md, critical: missing"] {
        assert!(after.holds(needle), "{needle:?} reaches the model after a compaction");
    }
    assert!(!fs::exists(&output).expect("to look"), "never as the output itself");

    let checked = scratch.thru(&["gate", "check"]);
    assert_eq!(checked.status.code(), Some(4), "{}", String::from_utf8_lossy(&checked.stdout));

    // The same output is now made by a command: Claude Code itself, with the prompt on stdin. thru gets the command
    // now, and its script is written once the model is running.
    let launch = scratch.project.join("launch.sh").to_string_lossy().into_owned();
    let made = scratch.thru_json(&[&expect[..], &["--", "sh", &launch]].concat());
    let run = made["run"].as_str().expect("a run").to_owned();
    let output = format!("{run}/review-security.md");
    let text = format!("# Review\n\nNo holes.\n\n{DONE}\n");
    let model = Model::start(Script::main([
        call("Write", json!({ "file_path": output, "content": text })),
        say("Written."),
    ]));
    let command = claude.command(&scratch, &model);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> =
        words.map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))).collect();
    fs::write(&launch, format!("exec {}\n", words.join(" "))).expect("a file");
    let mut gate = scratch.command("thru");
    gate.args(["gate", "run"]).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let done = gate.output().expect("thru runs");
    let said = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && said.contains("PERSISTENCE_GATE=PASS"), "{said}");
    model.assert_played();
    let asked = model.asked();
    assert!(asked[0].holds("REVIEW-IT-PLEASE") && asked[0].holds(&output), "prompt and path on stdin");
    assert_eq!(fs::read_to_string(&output).expect("it is there"), text);
    let log = fs::read_to_string(format!("{output}.launch.log")).expect("what it said is kept");
    assert!(log.contains("\"type\":\"result\"") && log.contains("=== exit 0"), "{log}");
    scratch.assert_healthy();
}
