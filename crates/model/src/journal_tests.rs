use serde_json::{Value, json};

use super::*;
use crate::event::Touched;

fn policy() -> RecordPolicy<'static> {
    let now = time::parse("2026-11-15T19:22:00Z").unwrap();
    RecordPolicy { harness: "claude-code", checkout: "/p", redact: redact::Options::default(), now }
}

fn event(kind: Kind<'_>) -> Event<'_> {
    Event {
        session: "s1".into(),
        id: None,
        torn: false,
        previous: None,
        cwd: Some("/p".into()),
        transcript: None,
        agent: None,
        kind,
    }
}

fn tool(done: ToolDone<'_>) -> Kind<'_> {
    Kind::ToolDone(Box::new(done))
}

fn read(event: &Event) -> Value {
    serde_json::from_slice(&record(event, &policy()).line()).unwrap()
}

/// A GitHub token, assembled here so that the source contains none.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

#[test]
fn a_tool_call_has_everything_a_reader_needs() {
    let mut event = event(tool(ToolDone {
        tool: "Edit".into(),
        id: Some("toolu_1".into()),
        files: vec![
            Touched { path: "/p/src/../src/a.rs".into(), action: Action::Edit },
            Touched { path: "/etc/hosts".into(), action: Action::Read },
        ],
        ms: Some(11),
        ..ToolDone::default()
    }));
    event.cwd = Some("/p/sub".into());
    event.agent = Some(Agent { id: "a1".into(), kind: "explorer".into() });
    assert_eq!(
        read(&event),
        json!({"v": 1, "ts": "2026-11-15T19:22:00Z", "harness": "claude-code", "event": "tool-done", "session": "s1",
            "worktree": "/p", "cwd": "sub", "agent": {"id": "a1", "type": "explorer"}, "id": "toolu_1", "tool": "Edit",
            "ok": true, "ms": 11, "files": [{"path": "src/a.rs", "action": "edit"},
                {"path": "/etc/hosts", "action": "read", "outside": true}]})
    );
}

#[test]
fn secrets_do_not_reach_any_field() {
    let secret = token();
    let events = [
        event(Kind::Prompt { text: format!("use {secret} for it").into() }),
        event(tool(ToolDone {
            tool: "Bash".into(),
            id: Some(secret.clone().into()),
            command: Some(format!("curl -H 'Authorization: Bearer {secret}' x").into()),
            error: Some(format!("bad token {secret}").into()),
            files: vec![Touched { path: format!("/p/{secret}/x").into(), action: Action::Read }],
            failed: true,
            ..ToolDone::default()
        })),
        event(Kind::Other { name: secret.clone().into() }),
    ];
    for event in events {
        let text = String::from_utf8(record(&event, &policy()).line()).unwrap();
        assert!(!text.contains(&secret) && text.contains("[REDACTED:"), "{text}");
    }
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let event = event(Kind::Prompt { text: "é".repeat(100_000).into() });
    let text = read(&event)["text"].as_str().unwrap().to_owned();
    assert!(text.len() < PROMPT_BYTES + 100 && text.ends_with("of 200000 bytes]"), "{}", text.len());
}

#[test]
fn a_secret_across_the_cut_is_gone_too() {
    let secret = token();
    for shift in 0..secret.len() {
        let text =
            format!("{}{secret} tail{}", "x ".repeat((COMMAND_BYTES - shift) / 2), "y ".repeat(20_000));
        let policy = policy();
        let kept = policy.clean(&text, COMMAND_BYTES);
        assert!(!kept.contains(&secret[..12]), "{shift}");
    }
}

#[test]
fn what_is_written_reads_back() {
    let mut event = event(tool(ToolDone {
        tool: "Bash".into(),
        command: Some("cat \"a b.rs\" > /tmp/x.log\u{1b}[0m".into()),
        error: Some("Exit code 1\nerror: \"quoted\"".into()),
        exit: Some(1),
        failed: true,
        todos: Some(TodoChange::One { id: "1".into(), text: None, status: Some(TodoStatus::Completed) }),
        ..ToolDone::default()
    }));
    event.previous = Some("s0".into());
    let policy = policy();
    let record = record(&event, &policy);
    assert_eq!(serde_json::from_slice::<Record>(&record.line()).unwrap(), record);
    let old: Record = serde_json::from_str(r#"{"v":1,"event":"stop","newer":{"x":1}}"#).unwrap();
    assert_eq!(old.event, "stop", "fields we do not know and fields that are missing are fine");
}

#[test]
fn a_command_tells_its_files_from_where_it_ran() {
    let mut event = event(tool(ToolDone {
        tool: "Bash".into(),
        command: Some("cat ../a.rs; cat x.rs > /tmp/out.txt".into()),
        ..ToolDone::default()
    }));
    event.cwd = Some("/p/sub".into());
    assert_eq!(
        read(&event)["files"],
        json!([{"path": "a.rs", "action": "read", "guess": true}, {"path": "sub/x.rs", "action": "read", "guess": true},
            {"path": "/tmp/out.txt", "action": "edit", "outside": true, "guess": true}])
    );
}

#[test]
fn of_an_error_only_the_telling_lines_are_kept() {
    let output = format!("Exit code 2\n{}error: it broke\n", "noise\n".repeat(500));
    let event = event(tool(ToolDone { error: Some(output.into()), failed: true, ..ToolDone::default() }));
    assert_eq!(read(&event)["error"], "error: it broke");
}
