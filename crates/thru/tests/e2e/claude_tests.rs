use serde_json::{Value, json};

use crate::claude::{ClaudeCode, hook_runs, session, transcript};
use crate::hooks::{self, HookRun};
use crate::model::{Kind, Model};
use crate::scratch::{Scratch, snapshot};
use crate::script::{Script, Step, call, say};

/// A session uses every kind of tool on files and in a shell, a sub-agent, a compaction and a resume. Everything is
/// in the journal once, in order.
#[test]
fn a_whole_session_is_in_the_journal() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let file = scratch.project.join("src/greeting.txt");
    let agent = json!({
        "description": "Look around", "prompt": "LOOK-AROUND", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let model = Model::start(Script {
        main: vec![
            call("Write", json!({ "file_path": file, "content": "hello\n" })),
            call("Edit", json!({ "file_path": file, "old_string": "hello", "new_string": "goodbye" })),
            call("Bash", json!({ "command": "echo to stderr >&2; exit 3", "description": "Fail" })),
            call("Read", json!({ "file_path": scratch.project.join("README.md") })),
            call("Agent", agent),
            say("All done."),
            say("Yes, I remember."),
            call("Bash", json!({ "command": "cat src/greeting.txt", "description": "Look" })),
            say("It is still there."),
        ],
        subagent: vec![
            call("Bash", json!({ "command": "echo from the sub-agent", "description": "Say" })),
            say("Looked around."),
        ],
        compact: vec![say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
    });

    let mut talk = claude.converse(&scratch, &model, &[]);
    let sid = session(&talk.say("Please GREET-THE-WORLD"));
    talk.say("/compact keep the greeting");
    talk.say("Do you remember?");
    let first = talk.end();
    first.assert_success();
    let second = claude.ask(&scratch, &model, "Look again", &["--resume", &sid]);
    second.assert_success();

    model.assert_played();
    assert!(model.sent_to_model("Please GREET-THE-WORLD"));
    let asked = model.asked();
    let subagent = asked.iter().find(|asked| asked.kind == Kind::Subagent).expect("a sub-agent asked");
    assert!(subagent.holds("LOOK-AROUND"));
    let compacted = asked.iter().position(|asked| asked.kind == Kind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in ["WHAT-WAS-DONE", "Throughline: the context of this session", "src/greeting.txt"] {
        assert!(after.holds(needle), "{needle:?} reaches the model after a compaction");
    }
    let last = asked.last().expect("a question");
    assert!(last.holds("goodbye"), "the tool result reaches the model");
    assert_eq!(
        last.count("Throughline: the context of this session"),
        1,
        "it is replayed, and not told again"
    );

    let journal = scratch.journal(&sid);
    journal.in_order(&[
        json!({ "event": "session-start", "name": "startup", "harness": "claude-code", "session": sid }),
        json!({ "event": "prompt", "text": "Please GREET-THE-WORLD" }),
        json!({
            "event": "tool-done", "tool": "Write", "ok": true,
            "files": [{ "path": "src/greeting.txt", "action": "create" }],
        }),
        json!({
            "event": "tool-done", "tool": "Edit", "ok": true,
            "files": [{ "path": "src/greeting.txt", "action": "edit" }],
        }),
        json!({
            "event": "tool-done", "tool": "Bash", "ok": false, "exit": 3,
            "command": "echo to stderr >&2; exit 3", "error": "to stderr",
        }),
        json!({
            "event": "tool-done", "tool": "Read", "ok": true,
            "files": [{ "path": "README.md", "action": "read" }],
        }),
        json!({ "event": "subagent-start", "agent": { "type": "general-purpose" } }),
        json!({
            "event": "tool-done", "tool": "Bash", "ok": true, "exit": 0, "command": "echo from the sub-agent",
            "agent": { "type": "general-purpose" },
        }),
        json!({ "event": "subagent-stop", "agent": { "type": "general-purpose" } }),
        json!({ "event": "tool-done", "tool": "Agent", "ok": true }),
        json!({ "event": "before-compact", "name": "manual" }),
        json!({ "event": "session-start", "name": "compact" }),
        json!({ "event": "after-compact", "name": "manual" }),
        json!({ "event": "prompt", "text": "Do you remember?" }),
        json!({ "event": "session-start", "name": "resume" }),
        json!({ "event": "prompt", "text": "Look again" }),
        json!({
            "event": "tool-done", "tool": "Bash", "ok": true, "exit": 0, "command": "cat src/greeting.txt",
        }),
    ]);
    assert_eq!(journal.matching(&json!({ "event": "stop" })).len(), 3, "one a turn in\n{journal}");
    assert_eq!(journal.matching(&json!({ "event": "session-end" })).len(), 2, "one a process in\n{journal}");

    let receipts = scratch.receipts();
    receipts.never(&json!({ "outcome": "failed" }));
    for event in [
        "session-start",
        "prompt",
        "subagent-start",
        "subagent-stop",
        "before-compact",
        "after-compact",
        "stop",
        "session-end",
    ] {
        let found = receipts.matching(&json!({ "event": event, "session": sid, "outcome": "ok" })).len();
        assert!(found > 0, "no receipt of {event} in\n{receipts}");
    }
    scratch.assert_healthy();

    let runs: Vec<HookRun> = [first, second].iter().flat_map(hook_runs).collect();
    hooks::assert_well("Claude Code", &runs);
}

/// Claude Code compacts by itself when the model reports that the context is nearly full.
#[test]
fn an_automatic_compaction_is_in_the_journal() {
    let Some(claude) = ClaudeCode::find() else { return };
    let scratch = Scratch::new();
    ClaudeCode::init(&scratch);
    let model = Model::start(Script {
        main: vec![
            call("Bash", json!({ "command": "true", "description": "Do nothing" })),
            Step { input_tokens: Some(95_000), ..say("My head is full.") },
            say("That is better."),
        ],
        compact: vec![say("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..Script::default()
    });

    let mut talk = claude.converse(&scratch, &model, &["--autocompact", "100000"]);
    let sid = session(&talk.say("First"));
    talk.say("Second");
    talk.end().assert_success();

    model.assert_played();
    assert!(model.asked().last().is_some_and(|asked| asked.holds("WHAT-WAS-DONE") && asked.holds("Second")));
    scratch.journal(&sid).in_order(&[
        json!({ "event": "prompt", "text": "First" }),
        json!({ "event": "prompt", "text": "Second" }),
        json!({ "event": "before-compact", "name": "auto" }),
        json!({ "event": "session-start", "name": "compact" }),
        json!({ "event": "after-compact", "name": "auto" }),
    ]);
}

/// If records came with a clone, nothing is written, the user is told once, and the model is told nothing.
#[test]
fn in_an_untrusted_clone_only_the_person_is_told() {
    let Some(claude) = ClaudeCode::find() else { return };
    let mut scratch = Scratch::new();
    scratch.thru_ok(&["init", "--shared"]);
    let bait = json!({ "v": 1, "ts": "2026-01-01T00:00:00Z", "harness": "claude-code", "event": "prompt",
        "session": "bait", "worktree": "/", "text": "BAIT-OF-THE-CLONE" });
    scratch.write(".agent/context/sessions/bait.jsonl", &format!("{bait}\n"));
    scratch.git(&["add", "--force", "."]);
    scratch.git(&["commit", "--quiet", "--message", "Share"]);
    scratch.move_to_clone();
    scratch.thru_ok(&["install", "claude-code"]);
    let before = snapshot(&scratch.store());
    let model = Model::start(Script::main([
        call("Write", json!({ "file_path": scratch.project.join("a.txt"), "content": "a\n" })),
        say("Written."),
        say("Resumed."),
    ]));

    let first = claude.ask(&scratch, &model, "Write a file", &[]);
    first.assert_success();
    let sid = session(&first.lines.last().expect("a result").json);
    let second = claude.ask(&scratch, &model, "And again", &["--resume", &sid]);
    second.assert_success();

    model.assert_played();
    assert_eq!(snapshot(&scratch.store()), before, "nothing is written");
    let runs: Vec<HookRun> = [&first, &second].into_iter().flat_map(hook_runs).collect();
    hooks::assert_well("Claude Code", &runs);
    let said: Vec<&HookRun> = runs.iter().filter(|run| !run.stdout.is_empty()).collect();
    assert!(said.len() == 1 && said[0].event == "SessionStart", "{said:?}");
    let reply: Value = serde_json::from_str(&said[0].stdout).expect("JSON");
    assert!(reply["systemMessage"].as_str().is_some_and(|text| text.contains("thru trust")), "{reply}");
    // The message was shown to the user, not only received.
    transcript(&scratch, &sid).once(&json!({ "attachment": { "type": "hook_system_message" } }));
    assert!(model.sent_to_model("Write a file"));
    for ours in ["thru trust", "Throughline: ", ".agent/context", "BAIT-OF-THE-CLONE"] {
        assert!(!model.sent_to_model(ours), "the model was sent {ours:?}");
    }
}
