use serde_json::{Value, json};

use super::*;
use crate::event::Touched;

fn scene() -> Scene<'static> {
    let now = time::parse("2026-11-15T19:22:00Z").unwrap();
    Scene { harness: "claude-code", checkout: "/p", redact: redact::Options::default(), now }
}

fn event(kind: Kind<'_>) -> Event<'_> {
    Event { session: "s1".into(), cwd: Some("/p".into()), transcript: None, agent: None, kind }
}

fn read(event: &Event) -> Value {
    serde_json::from_slice(&line(event, &scene())).unwrap()
}

/// A GitHub token, put together here so that the source holds none.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

#[test]
fn a_tool_call_has_everything_a_reader_needs() {
    let mut event = event(Kind::ToolDone(ToolDone {
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
        event(Kind::ToolDone(ToolDone {
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
        let text = String::from_utf8(line(&event, &scene())).unwrap();
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
        let scene = scene();
        let kept = scene.clean(&text, COMMAND_BYTES);
        assert!(!kept.contains(&secret[..12]), "{shift}");
    }
}
