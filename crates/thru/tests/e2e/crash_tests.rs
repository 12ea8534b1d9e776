//! If a harness dies, only the call that was running is lost.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::claude::{ClaudeCode, transcript_paths};
use crate::model::ScriptedModel;
use crate::process::{EndedProcess, WAIT_LIMIT};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

#[test]
fn killed_during_a_call_at_most_that_call_is_lost() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let file = scratch.project.join("a.txt");
    // The command outlives the harness and ends when the folder of this test is removed. `exec` replaces the harness's
    // shell, because that shell would write to the folder during its removal.
    let endless = "touch in-flight; exec sh -c 'while [ -e in-flight ]; do sleep 0.1; done'";
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": file, "content": "a\n" })),
        call_step("Bash", json!({ "command": "exit 4", "description": "Fail" })),
        call_step("Read", json!({ "file_path": file })),
        ScriptStep {
            text: "LAST-WORDS: the suite takes long, so it goes last.".to_owned(),
            ..call_step("Bash", json!({ "command": endless, "description": "Never end" }))
        },
    ]));

    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    talk.send_prompt("Begin and do not end");
    let running = scratch.project.join("in-flight");
    wait_until("the last call is running", || running.exists());
    // Claude Code writes its transcript shortly after it has processed a reply, so wait for it.
    wait_until("the transcript names the last call", || any_transcript_contains(&scratch, "touch in-flight"));
    let killed = talk.kill();
    assert!(!killed.status.success());

    let journal = scratch.read_journal(&session_id(&killed));
    journal.assert_in_order(&[
        json!({ "event": "session-start", "name": "startup" }),
        json!({ "event": "prompt", "text": "Begin and do not end" }),
        json!({ "tool": "Write", "ok": true, "files": [{ "path": "a.txt", "action": "create" }] }),
        json!({ "tool": "Bash", "ok": false, "command": "exit 4", "exit": 4 }),
        json!({ "tool": "Read", "ok": true, "files": [{ "path": "a.txt", "action": "read" }] }),
    ]);
    journal.assert_never(&json!({ "event": "stop" }));
    let shown = scratch.run_thru_successfully(&["journal"]);
    assert!(shown.contains("Begin and do not end") && shown.contains("exit 4"), "{shown}");
    let files = scratch.run_thru_successfully(&["files"]);
    assert!(files.contains("a.txt"), "{files}");
    scratch.assert_healthy();
    // The packet contains what no hook reported: the last message, and the call that was running.
    let swept = scratch.run_thru_json(&["sweep"]);
    let packet = swept[0]["packet"].as_str().expect("a packet");
    let text = scratch.run_thru_successfully(&["packet", "show", packet]);
    for needle in [
        "LAST-WORDS: the suite takes long",
        "Running when the session ended, outcome unknown",
        "touch in-flight",
    ] {
        assert!(text.contains(needle), "{needle:?} in\n{text}");
    }
    std::fs::remove_file(running).expect("it was there");
}

#[test]
fn killed_while_the_model_answers_nothing_is_lost() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Bash", json!({ "command": "exit 5", "description": "Fail" })),
        ScriptStep { delay: WAIT_LIMIT, ..text_step("Too late.") },
    ]));

    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    talk.send_prompt("Fail, then think");
    wait_until("the model is thinking", || model.received_requests().len() == 2);
    let killed = talk.kill();

    scratch.read_journal(&session_id(&killed)).assert_in_order(&[
        json!({ "event": "prompt", "text": "Fail, then think" }),
        json!({ "tool": "Bash", "ok": false, "command": "exit 5", "exit": 5 }),
    ]);
    scratch.assert_healthy();
}

fn session_id(killed: &EndedProcess) -> String {
    let id = killed.lines.iter().find_map(|line| line.json["session_id"].as_str());
    id.expect("it said which session it was").to_owned()
}

/// Returns whether any transcript of this project contains `words`. All transcripts are searched, because the harness
/// reports the session's id only when it exits.
fn any_transcript_contains(scratch: &ScratchProject, words: &str) -> bool {
    transcript_paths(scratch)
        .iter()
        .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(words)))
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + WAIT_LIMIT;
    while !is_so() {
        assert!(Instant::now() < until, "not within {WAIT_LIMIT:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
