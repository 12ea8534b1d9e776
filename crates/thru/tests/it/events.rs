//! Passes every captured payload to the hook, which must write one journal line and a reply that the harness accepts.

use serde_json::{Value, json};

use crate::env::{TEST_TIME, TestEnv, event_of_fixture, fixture_names};

fn event_name_in_journal(event: &str) -> &'static str {
    match event {
        "SessionStart" => "session-start",
        "UserPromptSubmit" => "prompt",
        "PostToolUse" | "PostToolUseFailure" => "tool-done",
        "PreCompact" => "before-compact",
        "PostCompact" => "after-compact",
        "SubagentStart" => "subagent-start",
        "SubagentStop" => "subagent-stop",
        "Stop" => "stop",
        "SessionEnd" => "session-end",
        _ => "other",
    }
}

/// Returns the journal line that one captured payload produces in a new root.
fn journal_line_of_fixture(name: &str) -> Value {
    let env = TestEnv::with_root();
    let payload = env.captured_payload(name);
    env.fire_hook(event_of_fixture(name), &payload).assert_accepted_by_harness(name);
    let mut lines = env.read_journal(payload["session_id"].as_str().unwrap());
    assert_eq!(lines.len(), 1, "{name}");
    lines.remove(0)
}

#[test]
fn every_captured_payload_leaves_one_line_and_says_nothing() {
    let env = TestEnv::with_root();
    for name in fixture_names() {
        let payload = env.captured_payload(&name);
        let session = payload["session_id"].as_str().unwrap();
        let (lines, all) = (env.read_journal(session).len(), env.count_journal_lines());
        env.fire_hook(event_of_fixture(&name), &payload).assert_accepted_by_harness(&name);
        let journal = env.read_journal(session);
        assert_eq!((journal.len(), env.count_journal_lines()), (lines + 1, all + 1), "{name}");
        let line = journal.last().unwrap();
        let expected = match name.as_str() {
            "SubagentStop.first.compaction-fork" => "summary",
            "UserPromptSubmit.task-notification" => "other",
            name => event_name_in_journal(event_of_fixture(name)),
        };
        assert_eq!(line["event"], expected, "{name}");
        assert_eq!(line["v"], 1);
        assert_eq!(line["ts"], TEST_TIME);
        assert_eq!(line["harness"], "claude-code");
        assert_eq!(line["session"], session);
        assert_eq!(line["worktree"], env.project_folder().to_str().unwrap());
        if line["event"] == "other" && !name.starts_with("UserPrompt") {
            assert_eq!(line["name"], event_of_fixture(&name));
        }
        assert_eq!(line["agent"]["id"], payload["agent_id"], "{name}: who did it");
        let kind = payload["agent_id"].is_string().then(|| payload["agent_type"].as_str().unwrap_or(""));
        assert_eq!(line["agent"]["type"].as_str(), kind, "{name}");
    }
}

#[test]
fn files_commands_and_ends_are_told() {
    let cases = [
        (
            "PostToolUse.Edit",
            json!({"tool": "Edit", "ok": true, "files": [{"path": "new.txt", "action": "edit"}]}),
        ),
        (
            "PostToolUse.Write",
            json!({"tool": "Write", "ok": true, "files": [{"path": "new.txt", "action": "create"}]}),
        ),
        (
            "PostToolUse.Read",
            json!({"tool": "Read", "ok": true, "files": [{"path": "README.md", "action": "read"}]}),
        ),
        (
            "PostToolUse.Bash",
            json!({"tool": "Bash", "ok": true, "command": "echo hi-from-bash; pwd", "exit": 0, "ms": 103}),
        ),
        ("PostToolUseFailure.Bash", json!({"tool": "Bash", "ok": false, "command": "exit 3", "exit": 3})),
        (
            "PostToolUse.Bash.subagent",
            json!({"command": "ls", "agent": {"id": "ad28cb30131ba17d0", "type": "general-purpose"}}),
        ),
        ("UserPromptSubmit", json!({"text": "Hello PROMPT-MARK"})),
        ("SessionStart.compact", json!({"name": "compact"})),
        ("PreCompact.auto", json!({"name": "auto"})),
        ("SessionEnd.prompt_input_exit", json!({"name": "prompt_input_exit"})),
    ];
    for (name, expected) in cases {
        let line = journal_line_of_fixture(name);
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&line[field], value, "{name}: {field} of {line}");
        }
    }
}

#[test]
fn a_tool_call_carries_its_id_so_that_it_can_be_counted_once() {
    assert_eq!(journal_line_of_fixture("PostToolUse.Edit")["id"], "toolu_fake0003_0");
}

#[test]
fn files_outside_the_project_are_marked() {
    let env = TestEnv::with_root();
    let mut payload = env.captured_payload("PostToolUse.Read");
    let cases = [
        ("/etc/hosts".to_owned(), "/etc/hosts", true),
        (format!("{}/src/../src/a.rs", env.project_folder().display()), "src/a.rs", false),
        (format!("{}-not/a.rs", env.project_folder().display()), "", true),
    ];
    for (path, shown, outside) in cases {
        payload["tool_input"]["file_path"] = path.clone().into();
        env.fire_hook("PostToolUse", &payload).assert_silent(&path);
        let line = env.read_journal(payload["session_id"].as_str().unwrap()).pop().unwrap();
        let file = &line["files"][0];
        assert_eq!(file["path"], if shown.is_empty() { path.as_str() } else { shown });
        assert_eq!(file["outside"].as_bool().unwrap_or(false), outside, "{path}");
    }
}

#[test]
fn our_own_event_names_work_by_hand() {
    let ours = [
        ("session-start", "session-start"),
        ("prompt", "prompt"),
        ("tool-done", "tool-done"),
        ("before-compact", "before-compact"),
        ("after-compact", "after-compact"),
        ("subagent-start", "subagent-start"),
        ("subagent-stop", "subagent-stop"),
        ("stop", "stop"),
        ("session-end", "session-end"),
        ("Whatever", "other"),
    ];
    let env = TestEnv::with_root();
    for (word, name) in ours {
        env.fire_hook(word, &json!({"session_id": "by-hand", "cwd": env.project_folder()}))
            .assert_accepted_by_harness(word);
        assert_eq!(env.read_journal("by-hand").pop().unwrap()["event"], name);
    }
}

#[test]
fn the_payload_knows_better_than_the_command_line() {
    let env = TestEnv::with_root();
    let payload = env.captured_payload("Stop.first");
    env.fire_hook("PostToolUse", &payload).assert_silent("a settings file with the wrong word");
    assert_eq!(env.read_journal(payload["session_id"].as_str().unwrap())[0]["event"], "stop");
}

#[test]
fn a_session_that_starts_is_listed() {
    let env = TestEnv::with_root();
    for name in ["SessionStart.startup", "SessionStart.resume", "SessionStart.compact"] {
        let payload = env.captured_payload(name);
        env.fire_hook("SessionStart", &payload).assert_silent(name);
        let line = env.read_log("indexes/sessions.jsonl").pop().unwrap();
        assert_eq!(line["session"], payload["session_id"], "{name}");
        assert_eq!(line["source"], payload["source"], "{name}");
        assert_eq!(line["transcript"], payload["transcript_path"], "{name}");
    }
}
