use serde_json::{Value, json};

use crate::droid::{Droid, hook_runs};
use crate::hooks;
use crate::model::{Kind, Model};
use crate::scratch::Scratch;
use crate::script::{Script, Step, call, say};

/// A process handles one prompt. In this mode Droid fires no event for the prompt and none for a tool that failed.
/// Both are read from the transcript when Droid stops.
#[test]
fn one_prompt_is_in_the_journal() {
    let Some(droid) = Droid::find() else { return };
    let scratch = Scratch::new();
    Droid::init(&scratch);
    let file = scratch.project.join("src/greeting.txt");
    let model = Model::start(Script::main([
        call("Create", json!({ "file_path": file, "content": "hello\n" })),
        call("Edit", json!({ "file_path": file, "old_str": "hello", "new_str": "goodbye" })),
        execute("cat src/greeting.txt"),
        execute("exit 3"),
        call("Read", json!({ "file_path": scratch.project.join("README.md") })),
        say("All done."),
    ]));

    let ended = droid.ask(&scratch, &model, "Please GREET-THE-WORLD");
    ended.assert_success();

    model.assert_played();
    assert!(model.sent_to_model("Please GREET-THE-WORLD"));
    assert!(model.sent_to_model("exit code: 3"), "the failure reaches the model");
    let sid = ended.lines[0].json["session_id"].as_str().expect("a session");
    let journal = scratch.shown(sid);
    journal.in_order(&[
        json!({ "event": "session-start", "name": "startup", "harness": "droid", "session": sid }),
        json!({
            "event": "tool-done", "tool": "Create", "ok": true,
            "files": [{ "path": "src/greeting.txt", "action": "create" }],
        }),
        json!({
            "event": "tool-done", "tool": "Edit", "ok": true,
            "files": [{ "path": "src/greeting.txt", "action": "edit" }],
        }),
        json!({
            "event": "tool-done", "tool": "Execute", "ok": true, "exit": 0, "command": "cat src/greeting.txt",
        }),
        json!({
            "event": "tool-done", "tool": "Read", "ok": true,
            "files": [{ "path": "README.md", "action": "read" }],
        }),
        json!({ "event": "stop" }),
        json!({ "event": "session-end", "name": "other" }),
    ]);
    journal.once(&json!({ "event": "prompt", "text": "Please GREET-THE-WORLD", "from": "transcript" }));
    journal.once(&json!({
        "event": "tool-done", "tool": "Execute", "ok": false, "exit": 3, "command": "exit 3", "from": "transcript",
    }));
    // A call that a hook reported is not recorded again.
    scratch.shown(sid).once(&json!({ "tool": "Create" }));
    scratch.shown(sid).once(&json!({ "command": "cat src/greeting.txt" }));
    scratch.receipts().never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
}

/// A conversation has prompts and a compaction. After the compaction the session has a new id.
#[test]
fn a_conversation_is_in_the_journal() {
    let Some(droid) = Droid::find() else { return };
    let scratch = Scratch::new();
    Droid::init(&scratch);
    let model = Model::start(Script {
        main: vec![
            call("Create", json!({ "file_path": scratch.project.join("a.txt"), "content": "hello\n" })),
            say("First."),
            say("Second."),
            say("Third."),
        ],
        compact: vec![say("<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });

    let (mut talk, old) = droid.converse(&scratch, &model);
    talk.say("FIRST-PROMPT");
    talk.say("SECOND-PROMPT");
    let new = talk.compact("keep the bits");
    talk.say("THIRD-PROMPT");
    let ended = talk.end();
    ended.assert_success();

    model.assert_played();
    assert!(model.sent_to_model("FIRST-PROMPT"));
    let asked = model.asked();
    let last = asked.last().expect("a question");
    assert_eq!(last.kind, Kind::Main);
    for needle in ["WHAT-WAS-DONE", "THIRD-PROMPT", "Throughline: the context of this session", "a.txt"] {
        assert!(last.holds(needle), "{needle:?} reaches the model after a compaction");
    }
    assert_ne!(old, new);
    scratch.shown(&old).in_order(&[
        json!({ "event": "session-start", "name": "startup", "harness": "droid" }),
        json!({ "event": "prompt", "text": "FIRST-PROMPT" }),
        json!({ "tool": "Create", "ok": true, "files": [{ "path": "a.txt", "action": "create" }] }),
        json!({ "event": "prompt", "text": "SECOND-PROMPT" }),
        json!({ "event": "before-compact", "name": "manual" }),
    ]);
    scratch.shown(&new).in_order(&[
        json!({ "event": "session-start", "name": "compact" }),
        json!({ "event": "prompt", "text": "THIRD-PROMPT" }),
        json!({ "event": "stop" }),
        json!({ "event": "session-end", "name": "prompt_input_exit" }),
    ]);
    let receipts = scratch.receipts();
    receipts.never(&json!({ "outcome": "failed" }));
    for event in ["session-start", "prompt", "stop", "before-compact", "session-end"] {
        let pattern: Value = json!({ "event": event, "harness": "droid", "outcome": "ok" });
        assert!(!receipts.matching(&pattern).is_empty(), "no receipt of {event} in\n{receipts}");
    }
    scratch.assert_healthy();
    hooks::assert_well("Droid", &hook_runs(&ended));
}

/// No event reports a compaction that Droid makes by itself. The transcript shows the compaction, and the agent
/// gets the brief once, with the next prompt.
#[test]
fn after_an_automatic_compaction_the_next_prompt_brings_the_brief() {
    let Some(droid) = Droid::find() else { return };
    let droid = droid.compacting_at(5_000);
    let scratch = Scratch::new();
    Droid::init(&scratch);
    let model = Model::start(Script {
        main: vec![
            call("Create", json!({ "file_path": scratch.project.join("a.txt"), "content": "hello\n" })),
            Step { input_tokens: Some(6_000), ..say("First.") },
            say("Second."),
            say("Third."),
        ],
        compact: vec![say("<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });

    let (mut talk, sid) = droid.converse(&scratch, &model);
    talk.say("FIRST-PROMPT");
    talk.say("SECOND-PROMPT");
    talk.say("THIRD-PROMPT");
    let ended = talk.end();
    ended.assert_success();

    model.assert_played();
    let asked = model.asked();
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    const BRIEF: &str = "Throughline: the context of this session";
    for needle in ["WHAT-WAS-DONE", "SECOND-PROMPT", BRIEF, "a.txt"] {
        assert!(after.holds(needle), "{needle:?} reaches the model after a compaction");
    }
    let last = asked.last().expect("a question");
    assert!(last.holds("THIRD-PROMPT"));
    assert_eq!(last.count(BRIEF), 1, "the brief comes once");
    let journal = scratch.shown(&sid);
    journal.once(&json!({ "event": "summary", "text": "WHAT-WAS-DONE", "from": "transcript" }));
    journal.in_order(&[
        json!({ "event": "prompt", "text": "FIRST-PROMPT" }),
        json!({ "tool": "Create", "ok": true }),
        json!({ "event": "prompt", "text": "SECOND-PROMPT" }),
        json!({ "event": "prompt", "text": "THIRD-PROMPT" }),
    ]);
    scratch.receipts().never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
    hooks::assert_well("Droid", &hook_runs(&ended));
}

pub fn execute(command: &str) -> Step {
    let input = json!({
        "command": command, "summary": "Run it", "riskLevel": "low", "riskLevelReason": "harmless", "timeout": 10,
    });
    call("Execute", input)
}

/// Droid resumes a session with its whole conversation, so the brief is not repeated.
#[test]
fn a_session_that_is_resumed_has_its_conversation() {
    let Some(droid) = Droid::find() else { return };
    let scratch = Scratch::new();
    Droid::init(&scratch);
    let file = scratch.project.join("src/greeting.txt");
    let model = Model::start(Script::main([
        call("Create", json!({ "file_path": file, "content": "hello\n" })),
        say("All done."),
        say("Yes."),
    ]));
    let (mut talk, sid) = droid.converse(&scratch, &model);
    talk.say("Please GREET-THE-WORLD");
    talk.end().assert_success();
    let mut talk = droid.resume(&scratch, &model, &sid);
    talk.say("Do you remember?");
    talk.end().assert_success();

    model.assert_played();
    let asked = model.asked();
    let last = asked.last().expect("a question");
    assert!(last.holds("Do you remember?") && last.holds("GREET-THE-WORLD"), "the conversation is replayed");
    scratch.shown(&sid).once(&json!({ "event": "session-start", "name": "resume" }));
    assert!(!last.holds("Throughline: this session"), "nothing has changed since");
}
