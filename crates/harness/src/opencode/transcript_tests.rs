use model::event::FileAction;

use super::*;

fn database_row(role: &str, part: &str) -> String {
    format!(
        r#"{{"type":"opencode","at":"2026-11-17T02:47:06.000Z","cwd":"/p","caller":null,"message":"msg_1","role":"{role}","summary":null,"error":null,"part":{part}}}"#
    )
}

fn items_of_line(line: &str) -> String {
    format!("{:?}", read_line(line.as_bytes()).items)
}

#[test]
fn words_by_who_said_them() {
    let text = r#"{"type":"text","text":"hello"}"#;
    assert_eq!(
        items_of_line(&database_row("user", text)),
        r#"[Prompt { text: "hello", origin: PlainText }]"#
    );
    assert_eq!(
        items_of_line(&database_row("assistant", text)),
        r#"[AgentMessage { message_id: Some("msg_1"), text: "hello" }]"#
    );
    let summary = database_row("assistant", text).replace(r#""summary":null"#, r#""summary":1"#);
    assert_eq!(items_of_line(&summary), r#"[Summary { text: "hello" }]"#);
    for (part, expected) in [
        (r#"{"type":"text","text":"Continue if …","synthetic":true}"#, "[]"),
        (r#"{"type":"text","text":"brief","synthetic":true,"metadata":{"throughline":"context"}}"#, "[]"),
        (
            r#"{"type":"text","text":"again","metadata":{"throughline":"loop"}}"#,
            r#"[StopHookFeedback { text: "again" }]"#,
        ),
        (r#"{"type":"text","text":"  "}"#, "[]"),
    ] {
        assert_eq!(items_of_line(&database_row("user", part)), expected, "{part}");
    }
}

#[test]
fn a_call_and_its_end_are_one_row() {
    let ended = database_row(
        "assistant",
        r#"{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"make"},"output":"boom","metadata":{"exit":2}}}"#,
    );
    let line = read_line(ended.as_bytes());
    assert_eq!(
        (line.time_text.as_deref(), line.is_of_main_agent()),
        (Some("2026-11-17T02:47:06.000Z"), true)
    );
    let [TranscriptItem::Call(call), TranscriptItem::Result(result)] = line.items.as_slice() else {
        panic!("{:?}", line.items)
    };
    assert_eq!((call.id.as_deref(), call.command.as_deref()), (Some("c1"), Some("make")));
    assert_eq!((result.failed, result.exit_code, &*result.text.read()), (true, Some(2), "boom"));
    let running = database_row(
        "assistant",
        r#"{"type":"tool","tool":"edit","callID":"c2","state":{"status":"running","input":{"filePath":"/p/a"}}}"#,
    );
    let line = read_line(running.as_bytes());
    let [TranscriptItem::Call(call)] = line.items.as_slice() else { panic!("{:?}", line.items) };
    assert_eq!(call.files[0].action, FileAction::Edit);
    let refused = database_row(
        "assistant",
        r#"{"type":"tool","tool":"edit","callID":"c3","state":{"status":"error","input":{},"error":"The user rejected permission to use this specific tool call."}}"#,
    );
    let line = read_line(refused.as_bytes());
    assert!(
        matches!(&line.items[1], TranscriptItem::Result(result) if result.failed && result.is_refused_by_user)
    );
}

#[test]
fn sub_agents_torn_and_unknown_rows() {
    let side = database_row("user", r#"{"type":"text","text":"x"}"#)
        .replace(r#""caller":null"#, r#""caller":"ses_0""#);
    assert!(!read_line(side.as_bytes()).is_of_main_agent());
    assert_eq!(read_line(&side.as_bytes()[..40]).kind, TranscriptLineKind::Torn);
    assert_eq!(
        read_line(database_row("user", r#"{"type":"novel"}"#).as_bytes()).kind,
        TranscriptLineKind::Unknown("novel".into())
    );
    assert_eq!(read_line(b"").kind, TranscriptLineKind::Blank);
    assert_eq!(
        read_line(br#"{"type":"message","id":"x"}"#).kind,
        TranscriptLineKind::Unknown("message".into())
    );
    for part in ["step-start", "patch", "reasoning"] {
        let line = database_row("assistant", &format!(r#"{{"type":"{part}"}}"#));
        assert_eq!(
            (read_line(line.as_bytes()).kind, items_of_line(&line).as_str()),
            (TranscriptLineKind::Known(ROW_TYPE), "[]")
        );
    }
    let spent = database_row(
        "assistant",
        r#"{"type":"step-finish","reason":"stop","tokens":{"input":5,"output":1,"cache":{"read":2,"write":3}}}"#,
    );
    assert_eq!(
        items_of_line(&spent),
        r#"[Usage(TokenUsage { message_id: Some("msg_1"), model: None, input: 5, cache_read: 2, cache_write: 3, output: 1 })]"#
    );
}
