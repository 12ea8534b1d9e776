use serde_json::{Value, json};

use super::*;
use crate::event::TouchedFile;

fn test_policy() -> RecordPolicy<'static> {
    let now = time::parse_time("2026-11-15T19:22:00Z").unwrap();
    RecordPolicy {
        harness: "claude-code",
        checkout: "/p",
        redact_options: redact::RedactOptions::default(),
        now,
    }
}

fn event_of_kind(kind: EventKind<'_>) -> Event<'_> {
    Event {
        session: "s1".into(),
        harness_event_id: None,
        is_payload_truncated: false,
        previous_session: None,
        cwd: Some("/p".into()),
        transcript: None,
        subagent: None,
        kind,
    }
}

fn tool_event(done: ToolDone<'_>) -> EventKind<'_> {
    EventKind::ToolDone(Box::new(done))
}

fn record_as_json(event: &Event) -> Value {
    serde_json::from_slice(&record_of_event(event, &test_policy()).to_json_line()).unwrap()
}

/// Returns a GitHub token, assembled here so that the source code contains none.
fn github_token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

#[test]
fn a_tool_call_has_everything_a_reader_needs() {
    let mut event = event_of_kind(tool_event(ToolDone {
        tool: "Edit".into(),
        call_id: Some("toolu_1".into()),
        files: vec![
            TouchedFile::new("/p/src/../src/a.rs".into(), FileAction::Edit),
            TouchedFile::new("/etc/hosts".into(), FileAction::Read),
        ],
        duration_ms: Some(11),
        ..ToolDone::default()
    }));
    event.cwd = Some("/p/sub".into());
    event.subagent = Some(EventSubagent { id: "a1".into(), agent_type: "explorer".into() });
    assert_eq!(
        record_as_json(&event),
        json!({"v": 1, "ts": "2026-11-15T19:22:00Z", "harness": "claude-code", "event": "tool-done", "session": "s1",
            "worktree": "/p", "cwd": "sub", "agent": {"id": "a1", "type": "explorer"}, "id": "toolu_1", "tool": "Edit",
            "ok": true, "ms": 11, "files": [{"path": "src/a.rs", "action": "edit"},
                {"path": "/etc/hosts", "action": "read", "outside": true}]})
    );
}

#[test]
fn secrets_do_not_reach_any_field() {
    let secret = github_token();
    let events = [
        event_of_kind(EventKind::Prompt { text: format!("use {secret} for it").into() }),
        event_of_kind(tool_event(ToolDone {
            tool: "Bash".into(),
            call_id: Some(secret.clone().into()),
            command: Some(format!("curl -H 'Authorization: Bearer {secret}' x").into()),
            error: Some(format!("bad token {secret}").into()),
            files: vec![TouchedFile::new(format!("/p/{secret}/x").into(), FileAction::Read)],
            failed: true,
            ..ToolDone::default()
        })),
        event_of_kind(EventKind::Other { name: secret.clone().into() }),
    ];
    for event in events {
        let text = String::from_utf8(record_of_event(&event, &test_policy()).to_json_line()).unwrap();
        assert!(!text.contains(&secret) && text.contains("[REDACTED:"), "{text}");
    }
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let event = event_of_kind(EventKind::Prompt { text: "é".repeat(100_000).into() });
    let text = record_as_json(&event)["text"].as_str().unwrap().to_owned();
    assert!(text.len() < MAX_PROMPT_BYTES + 100 && text.ends_with("of 200000 bytes]"), "{}", text.len());
}

#[test]
fn a_secret_across_the_cut_is_gone_too() {
    let secret = github_token();
    for shift in 0..secret.len() {
        let text =
            format!("{}{secret} tail{}", "x ".repeat((MAX_COMMAND_BYTES - shift) / 2), "y ".repeat(20_000));
        let policy = test_policy();
        let kept = policy.redact_and_cut(&text, MAX_COMMAND_BYTES);
        assert!(!kept.contains(&secret[..12]), "{shift}");
    }
}

#[test]
fn what_is_written_reads_back() {
    let mut event = event_of_kind(tool_event(ToolDone {
        tool: "Bash".into(),
        command: Some("cat \"a b.rs\" > /tmp/x.log\u{1b}[0m".into()),
        error: Some("Exit code 1\nerror: \"quoted\"".into()),
        exit_code: Some(1),
        failed: true,
        todo_change: Some(TodoChange::OneEntry {
            id: "1".into(),
            text: None,
            status: Some(TodoStatus::Completed),
        }),
        ..ToolDone::default()
    }));
    event.previous_session = Some("s0".into());
    let policy = test_policy();
    let record = record_of_event(&event, &policy);
    assert_eq!(serde_json::from_slice::<JournalRecord>(&record.to_json_line()).unwrap(), record);
    let old: JournalRecord = serde_json::from_str(r#"{"v":1,"event":"stop","newer":{"x":1}}"#).unwrap();
    assert_eq!(old.event, "stop", "fields we do not know and fields that are missing are fine");
}

#[test]
fn a_command_tells_its_files_from_where_it_ran() {
    let mut event = event_of_kind(tool_event(ToolDone {
        tool: "Bash".into(),
        command: Some("cat ../a.rs; cat x.rs > /tmp/out.txt".into()),
        ..ToolDone::default()
    }));
    event.cwd = Some("/p/sub".into());
    assert_eq!(
        record_as_json(&event)["files"],
        json!([{"path": "a.rs", "action": "read", "guess": true}, {"path": "sub/x.rs", "action": "read", "guess": true},
            {"path": "/tmp/out.txt", "action": "edit", "outside": true, "guess": true}])
    );
}

#[test]
fn of_an_error_only_the_telling_lines_are_kept() {
    let output = format!("Exit code 2\n{}error: it broke\n", "noise\n".repeat(500));
    let event = event_of_kind(tool_event(ToolDone {
        error: Some(output.into()),
        failed: true,
        ..ToolDone::default()
    }));
    assert_eq!(record_as_json(&event)["error"], "error: it broke");
}

#[test]
fn names_that_an_edit_changes_are_kept_unless_they_look_like_secrets() {
    let mut file = TouchedFile::new("/p/a.go".into(), FileAction::Edit);
    file.changed_names.added = vec!["Parse".to_owned(), github_token()];
    file.changed_names.removed = vec!["parseOld".to_owned()];
    let done = ToolDone { tool: "Edit".into(), files: vec![file], ..ToolDone::default() };
    assert_eq!(
        record_as_json(&event_of_kind(tool_event(done)))["files"],
        json!([{"path": "a.go", "action": "edit", "names": {"added": ["Parse"], "removed": ["parseOld"]}}])
    );
}

/// The error lines alone would say the opposite in both cases.
#[test]
fn whether_a_call_was_refused_is_decided_from_its_whole_output() {
    for (error, expected) in [
        (
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nFirst \
             mend this:\nerror[E0308]: mismatched types",
            true,
        ),
        ("Uploading 3 files\nerror: the request was blocked by the proxy", false),
    ] {
        let event = event_of_kind(tool_event(ToolDone {
            tool: "Bash".into(),
            command: Some("make test".into()),
            error: Some(error.into()),
            failed: true,
            ..ToolDone::default()
        }));
        let line = record_of_event(&event, &test_policy()).to_json_line();
        let record = JournalRecord::parse_line(&line).unwrap();
        assert_eq!(record.is_refused(), expected, "{error}");
        let mut digest = crate::digest::Digest::new("s1");
        digest.fold_record(&record);
        assert_eq!(digest.checks.is_empty(), expected, "{error}");
        assert_eq!(digest.open_failures().count(), usize::from(!expected), "{error}");
    }
}
