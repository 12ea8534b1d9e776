use serde_json::{Value, json};

use crate::claude::{ClaudeCode, hook_runs, read_transcript, session_id_of_result};
use crate::hooks::{self, HookRun};
use crate::model::{RequestKind, ScriptedModel};
use crate::scratch::{ScratchProject, files_below};
use crate::script::{ModelScript, ScriptStep, call_step, text_step};

/// The session uses every kind of file and shell tool, a sub-agent, a compaction and a resume. The journal contains
/// each event once, in order.
#[test]
fn a_whole_session_is_in_the_journal() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let file = scratch.project.join("src/greeting.txt");
    let agent = json!({
        "description": "Look around", "prompt": "LOOK-AROUND", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("Write", json!({ "file_path": file, "content": "hello\n" })),
            call_step("Edit", json!({ "file_path": file, "old_string": "hello", "new_string": "goodbye" })),
            call_step("Bash", json!({ "command": "echo to stderr >&2; exit 3", "description": "Fail" })),
            call_step("Read", json!({ "file_path": scratch.project.join("README.md") })),
            call_step("Agent", agent),
            text_step("All done."),
            text_step("Yes, I remember."),
            call_step("Bash", json!({ "command": "cat src/greeting.txt", "description": "Look" })),
            text_step("It is still there."),
        ],
        subagent: vec![
            call_step("Bash", json!({ "command": "echo from the sub-agent", "description": "Say" })),
            text_step("Looked around."),
        ],
        compact: vec![text_step("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
    });

    let mut talk = claude.start_conversation(&scratch, &model, &[]);
    let sid = session_id_of_result(&talk.send_and_wait("Please GREET-THE-WORLD"));
    talk.send_and_wait("/compact keep the greeting");
    talk.send_and_wait("Do you remember?");
    let first = talk.end();
    first.assert_success();
    let second = claude.run_prompt(&scratch, &model, "Look again", &["--resume", &sid]);
    second.assert_success();

    model.assert_script_used_up();
    assert!(model.has_received("Please GREET-THE-WORLD"));
    let asked = model.received_requests();
    let subagent = asked.iter().find(|asked| asked.kind == RequestKind::Subagent).expect("a sub-agent asked");
    assert!(subagent.contains("LOOK-AROUND"));
    let compacted = asked.iter().position(|asked| asked.kind == RequestKind::Compact).expect("a compaction");
    let after = &asked[compacted + 1];
    for needle in ["WHAT-WAS-DONE", "Throughline: the context of this session", "src/greeting.txt"] {
        assert!(after.contains(needle), "{needle:?} reaches the model after a compaction");
    }
    let last = asked.last().expect("a question");
    assert!(last.contains("goodbye"), "the tool result reaches the model");
    assert_eq!(
        last.count_occurrences("Throughline: the context of this session"),
        1,
        "it is replayed, and not told again"
    );

    let journal = scratch.read_journal(&sid);
    journal.assert_in_order(&[
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

    let receipts = scratch.read_receipts();
    receipts.assert_never(&json!({ "outcome": "failed" }));
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
    hooks::assert_all_succeeded("Claude Code", &runs);
}

/// The result of the call only says that the sub-agent was launched. Its answer comes when it stops.
#[test]
fn the_answer_of_a_background_agent_is_in_the_brief() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let agent = json!({
        "description": "Find the timeout", "prompt": "LOOK-AROUND", "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    let finding = "The timeout comes from pool.js, because acquire() never releases the connection.";
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("Agent", agent),
            text_step("A sub-agent is looking."),
            text_step("I will fix it."),
        ],
        subagent: vec![text_step(finding)],
        ..ModelScript::default()
    });
    claude.run_prompt(&scratch, &model, "Why do the requests time out?", &[]).assert_success();
    model.assert_script_used_up();
    let brief = scratch.run_thru_successfully(&["brief"]);
    assert!(brief.contains(finding) && brief.contains("Find the timeout"), "{brief}");
}

/// Claude Code compacts automatically when the model reports a nearly full context. The compaction is recorded in the
/// journal.
#[test]
fn an_automatic_compaction_is_in_the_journal() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let scratch = ScratchProject::new();
    ClaudeCode::init_project(&scratch);
    let model = ScriptedModel::start(ModelScript {
        main: vec![
            call_step("Bash", json!({ "command": "true", "description": "Do nothing" })),
            ScriptStep { input_tokens: Some(95_000), ..text_step("My head is full.") },
            text_step("That is better."),
        ],
        compact: vec![text_step("<analysis>none</analysis>\n<summary>WHAT-WAS-DONE</summary>")],
        ..ModelScript::default()
    });

    let mut talk = claude.start_conversation(&scratch, &model, &["--autocompact", "100000"]);
    let sid = session_id_of_result(&talk.send_and_wait("First"));
    talk.send_and_wait("Second");
    talk.end().assert_success();

    model.assert_script_used_up();
    assert!(
        model
            .received_requests()
            .last()
            .is_some_and(|asked| asked.contains("WHAT-WAS-DONE") && asked.contains("Second"))
    );
    scratch.read_journal(&sid).assert_in_order(&[
        json!({ "event": "prompt", "text": "First" }),
        json!({ "event": "prompt", "text": "Second" }),
        json!({ "event": "before-compact", "name": "auto" }),
        json!({ "event": "session-start", "name": "compact" }),
        json!({ "event": "after-compact", "name": "auto" }),
    ]);
}

/// If the records came with a clone, the hooks write nothing. The user gets one message, and the model gets none.
#[test]
fn in_an_untrusted_clone_only_the_person_is_told() {
    let Some(claude) = ClaudeCode::find_installed() else { return };
    let mut scratch = ScratchProject::new();
    scratch.run_thru_successfully(&["init", "--shared"]);
    let bait = json!({ "v": 1, "ts": "2026-01-01T00:00:00Z", "harness": "claude-code", "event": "prompt",
        "session": "bait", "worktree": "/", "text": "BAIT-OF-THE-CLONE" });
    scratch.write_file(".agent/context/sessions/bait.jsonl", &format!("{bait}\n"));
    scratch.run_git(&["add", "--force", "."]);
    scratch.run_git(&["commit", "--quiet", "--message", "Share"]);
    scratch.move_to_clone();
    scratch.run_thru_successfully(&["install", "claude-code"]);
    let before = files_below(&scratch.store_folder());
    let model = ScriptedModel::start(ModelScript::main([
        call_step("Write", json!({ "file_path": scratch.project.join("a.txt"), "content": "a\n" })),
        text_step("Written."),
        text_step("Resumed."),
    ]));

    let first = claude.run_prompt(&scratch, &model, "Write a file", &[]);
    first.assert_success();
    let sid = session_id_of_result(&first.lines.last().expect("a result").json);
    let second = claude.run_prompt(&scratch, &model, "And again", &["--resume", &sid]);
    second.assert_success();

    model.assert_script_used_up();
    assert_eq!(files_below(&scratch.store_folder()), before, "nothing is written");
    let runs: Vec<HookRun> = [&first, &second].into_iter().flat_map(hook_runs).collect();
    hooks::assert_all_succeeded("Claude Code", &runs);
    let said: Vec<&HookRun> = runs.iter().filter(|run| !run.stdout.is_empty()).collect();
    assert!(said.len() == 1 && said[0].event == "SessionStart", "{said:?}");
    let reply: Value = serde_json::from_str(&said[0].stdout).expect("JSON");
    assert!(reply["systemMessage"].as_str().is_some_and(|text| text.contains("thru trust")), "{reply}");
    // The message was not only received, but also shown to the user.
    read_transcript(&scratch, &sid).assert_once(&json!({ "attachment": { "type": "hook_system_message" } }));
    assert!(model.has_received("Write a file"));
    for ours in ["thru trust", "Throughline: ", ".agent/context", "BAIT-OF-THE-CLONE"] {
        assert!(!model.has_received(ours), "the model was sent {ours:?}");
    }
}
