use serde_json::{Value, json};

use crate::droid::{Droid, hook_runs};
use crate::hooks;
use crate::model::{RequestKind, ScriptedModel};
use crate::scratch::ScratchProject;
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

/// If Droid is started with a single prompt, it fires no event for the prompt and none for a failed tool call. When
/// Droid stops, thru reads both from the transcript.
#[test]
fn one_prompt_is_in_the_journal() {
    let Some(droid) = Droid::find_installed() else { return };
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    let file = scratch.project.join("src/greeting.txt");
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Create", json!({ "file_path": file, "content": "hello\n" })),
        call_step("Edit", json!({ "file_path": file, "old_str": "hello", "new_str": "goodbye" })),
        execute_step("cat src/greeting.txt"),
        execute_step("exit 3"),
        call_step("Read", json!({ "file_path": scratch.project.join("README.md") })),
        text_step("All done."),
    ]));

    let ended = droid.run_prompt(&scratch, &model, "Please GREET-THE-WORLD");
    ended.assert_success();

    model.assert_script_used_up();
    assert!(model.has_received("Please GREET-THE-WORLD"));
    assert!(model.has_received("exit code: 3"), "the failure reaches the model");
    let sid = ended.lines[0].json["session_id"].as_str().expect("a session");
    let journal = scratch.shown_journal(sid);
    journal.assert_in_order(&[
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
    journal
        .assert_once(&json!({ "event": "prompt", "text": "Please GREET-THE-WORLD", "from": "transcript" }));
    journal.assert_once(&json!({
        "event": "tool-done", "tool": "Execute", "ok": false, "exit": 3, "command": "exit 3", "from": "transcript",
    }));
    // A call that a hook reported is not recorded again.
    scratch.shown_journal(sid).assert_once(&json!({ "tool": "Create" }));
    scratch.shown_journal(sid).assert_once(&json!({ "command": "cat src/greeting.txt" }));
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
}

/// The journal contains the whole conversation, although Droid gives the session a new id after the compaction.
#[test]
fn a_conversation_is_in_the_journal() {
    let Some(droid) = Droid::find_installed() else { return };
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("Create", json!({ "file_path": scratch.project.join("a.txt"), "content": "hello\n" })),
            text_step("First."),
            text_step("Second."),
            text_step("Third."),
        ],
        compact: vec![text_step("<summary>WHAT-WAS-DONE</summary>")],
        ..ModelScript::default()
    });

    let (mut talk, old) = droid.start_conversation(&scratch, &model);
    talk.send_and_wait("FIRST-PROMPT");
    talk.send_and_wait("SECOND-PROMPT");
    let new = talk.compact("keep the bits");
    talk.send_and_wait("THIRD-PROMPT");
    let ended = talk.end();
    ended.assert_success();

    model.assert_script_used_up();
    assert!(model.has_received("FIRST-PROMPT"));
    let asked = model.received_requests();
    let last = asked.last().expect("a question");
    assert_eq!(last.kind, RequestKind::Main);
    for needle in ["WHAT-WAS-DONE", "THIRD-PROMPT", "Throughline: the context of this session", "a.txt"] {
        assert!(last.contains(needle), "{needle:?} reaches the model after a compaction");
    }
    assert_ne!(old, new);
    scratch.shown_journal(&old).assert_in_order(&[
        json!({ "event": "session-start", "name": "startup", "harness": "droid" }),
        json!({ "event": "prompt", "text": "FIRST-PROMPT" }),
        json!({ "tool": "Create", "ok": true, "files": [{ "path": "a.txt", "action": "create" }] }),
        json!({ "event": "prompt", "text": "SECOND-PROMPT" }),
        json!({ "event": "before-compact", "name": "manual" }),
    ]);
    scratch.shown_journal(&new).assert_in_order(&[
        json!({ "event": "session-start", "name": "compact" }),
        json!({ "event": "prompt", "text": "THIRD-PROMPT" }),
        json!({ "event": "stop" }),
        json!({ "event": "session-end", "name": "prompt_input_exit" }),
    ]);
    let receipts = scratch.read_receipts();
    receipts.assert_never(&json!({ "outcome": "failed" }));
    for event in ["session-start", "prompt", "stop", "before-compact", "session-end"] {
        let pattern: Value = json!({ "event": event, "harness": "droid", "outcome": "ok" });
        assert!(!receipts.matching(&pattern).is_empty(), "no receipt of {event} in\n{receipts}");
    }
    scratch.assert_healthy();
    hooks::assert_all_succeeded("Droid", &hook_runs(&ended));
}

/// No event reports Droid's automatic compaction, but the transcript shows it.
#[test]
fn after_an_automatic_compaction_the_next_prompt_brings_the_brief() {
    let Some(droid) = Droid::find_installed() else { return };
    let droid = droid.compacting_at(5_000);
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("Create", json!({ "file_path": scratch.project.join("a.txt"), "content": "hello\n" })),
            ScriptStep { input_tokens: Some(6_000), ..text_step("First.") },
            text_step("Second."),
            text_step("Third."),
        ],
        compact: vec![text_step("<summary>WHAT-WAS-DONE</summary>")],
        ..ModelScript::default()
    });

    let (mut talk, sid) = droid.start_conversation(&scratch, &model);
    talk.send_and_wait("FIRST-PROMPT");
    talk.send_and_wait("SECOND-PROMPT");
    talk.send_and_wait("THIRD-PROMPT");
    let ended = talk.end();
    ended.assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    const BRIEF_TITLE: &str = "Throughline: the context of this session";
    for needle in ["WHAT-WAS-DONE", "SECOND-PROMPT", BRIEF_TITLE, "a.txt"] {
        assert!(after.contains(needle), "{needle:?} reaches the model after a compaction");
    }
    let last = asked.last().expect("a question");
    assert!(last.contains("THIRD-PROMPT"));
    assert_eq!(last.count_occurrences(BRIEF_TITLE), 1, "the brief comes once");
    let journal = scratch.shown_journal(&sid);
    journal.assert_once(&json!({ "event": "summary", "text": "WHAT-WAS-DONE", "from": "transcript" }));
    journal.assert_in_order(&[
        json!({ "event": "prompt", "text": "FIRST-PROMPT" }),
        json!({ "tool": "Create", "ok": true }),
        json!({ "event": "prompt", "text": "SECOND-PROMPT" }),
        json!({ "event": "prompt", "text": "THIRD-PROMPT" }),
    ]);
    scratch.read_receipts().assert_never(&json!({ "outcome": "failed" }));
    scratch.assert_healthy();
    hooks::assert_all_succeeded("Droid", &hook_runs(&ended));
}

pub fn execute_step(command: &str) -> ScriptStep {
    let input = json!({
        "command": command, "summary": "Run it", "riskLevel": "low", "riskLevelReason": "harmless", "timeout": 10,
    });
    call_step("Execute", input)
}

/// Droid resumes a session with its whole conversation, so the brief is not repeated.
#[test]
fn a_session_that_is_resumed_has_its_conversation() {
    let Some(droid) = Droid::find_installed() else { return };
    let scratch = ScratchProject::new();
    Droid::init_project(&scratch);
    let file = scratch.project.join("src/greeting.txt");
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Create", json!({ "file_path": file, "content": "hello\n" })),
        text_step("All done."),
        text_step("Yes."),
    ]));
    let (mut talk, sid) = droid.start_conversation(&scratch, &model);
    talk.send_and_wait("Please GREET-THE-WORLD");
    talk.end().assert_success();
    let mut talk = droid.resume_conversation(&scratch, &model, &sid);
    talk.send_and_wait("Do you remember?");
    talk.end().assert_success();

    model.assert_script_used_up();
    let asked = model.received_requests();
    let last = asked.last().expect("a question");
    assert!(
        last.contains("Do you remember?") && last.contains("GREET-THE-WORLD"),
        "the conversation is replayed"
    );
    scratch.shown_journal(&sid).assert_once(&json!({ "event": "session-start", "name": "resume" }));
    assert!(!last.contains("Throughline: this session"), "nothing has changed since");
}
