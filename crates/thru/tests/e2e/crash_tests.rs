//! If a harness dies, only the call that was running is lost.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::claude::{ClaudeCode, transcripts};
use crate::model::Model;
use crate::process::{Ended, LIMIT};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

#[test]
fn killed_during_a_call_at_most_that_call_is_lost() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let file = scratch.project.join("a.txt");
    // The command survives the harness and ends by itself once the folder of this test is gone. `exec` replaces the
    // harness's shell, because that shell would write into the folder while it is being removed.
    let endless = "touch in-flight; exec sh -c 'while [ -e in-flight ]; do sleep 0.1; done'";
    let model = Model::start(Script::main([
        call("Write", json!({ "file_path": file, "content": "a\n" })),
        call("Bash", json!({ "command": "exit 4", "description": "Fail" })),
        call("Read", json!({ "file_path": file })),
        Step {
            text: "LAST-WORDS: the suite takes long, so it goes last.".to_owned(),
            ..call("Bash", json!({ "command": endless, "description": "Never end" }))
        },
    ]));

    let mut talk = claude.converse(&scratch, &model, &[]);
    talk.start_saying("Begin and do not end");
    let running = scratch.project.join("in-flight");
    wait_until("the last call is running", || running.exists());
    // Claude Code writes its transcript shortly after it has acted on a reply.
    wait_until("the transcript names the last call", || a_transcript_holds(&scratch, "touch in-flight"));
    let killed = talk.kill();
    assert!(!killed.status.success());

    let journal = scratch.journal(&session(&killed));
    journal.in_order(&[
        json!({ "event": "session-start", "name": "startup" }),
        json!({ "event": "prompt", "text": "Begin and do not end" }),
        json!({ "tool": "Write", "ok": true, "files": [{ "path": "a.txt", "action": "create" }] }),
        json!({ "tool": "Bash", "ok": false, "command": "exit 4", "exit": 4 }),
        json!({ "tool": "Read", "ok": true, "files": [{ "path": "a.txt", "action": "read" }] }),
    ]);
    journal.never(&json!({ "event": "stop" }));
    let shown = scratch.thru_ok(&["journal"]);
    assert!(shown.contains("Begin and do not end") && shown.contains("exit 4"), "{shown}");
    let files = scratch.thru_ok(&["files"]);
    assert!(files.contains("a.txt"), "{files}");
    scratch.assert_healthy();
    // The packet contains what no hook reported: the last words, and the call that was running.
    let swept = scratch.thru_json(&["sweep"]);
    let packet = swept[0]["packet"].as_str().expect("a packet");
    let text = scratch.thru_ok(&["packet", "show", packet]);
    for needle in ["LAST-WORDS: the suite takes long", "Begun and not finished", "touch in-flight"] {
        assert!(text.contains(needle), "{needle:?} in\n{text}");
    }
    std::fs::remove_file(running).expect("it was there");
}

#[test]
fn killed_while_the_model_answers_nothing_is_lost() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script::main([
        call("Bash", json!({ "command": "exit 5", "description": "Fail" })),
        Step { delay: LIMIT, ..say("Too late.") },
    ]));

    let mut talk = claude.converse(&scratch, &model, &[]);
    talk.start_saying("Fail, then think");
    wait_until("the model is thinking", || model.asked().len() == 2);
    let killed = talk.kill();

    scratch.journal(&session(&killed)).in_order(&[
        json!({ "event": "prompt", "text": "Fail, then think" }),
        json!({ "tool": "Bash", "ok": false, "command": "exit 5", "exit": 5 }),
    ]);
    scratch.assert_healthy();
}

fn session(killed: &Ended) -> String {
    let id = killed.lines.iter().find_map(|line| line.json["session_id"].as_str());
    id.expect("it said which session it was").to_owned()
}

/// Returns whether any transcript of this project contains the words. The harness reports the session's id only at its
/// end.
fn a_transcript_holds(scratch: &Scratch, words: &str) -> bool {
    transcripts(scratch)
        .iter()
        .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(words)))
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < until, "not within {LIMIT:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
