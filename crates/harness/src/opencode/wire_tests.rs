use model::event::{TodoChange, TodoStatus};

use super::*;

fn decode_event(event: &str, fields: &str) -> Event<'static> {
    let payload = format!(r#"{{"event":"{event}","session_id":"ses_1","cwd":"/p"{fields}}}"#);
    decode(Box::leak(payload.into_boxed_str()).as_bytes(), "").unwrap()
}

fn decode_tool_done(fields: &str) -> ToolDone<'static> {
    match decode_event("tool.execute.after", &format!(",{fields}")).kind {
        EventKind::ToolDone(done) => *done,
        other => panic!("not a tool call: {other:?}"),
    }
}

#[test]
fn the_files_of_each_tool_are_read() {
    let file = |path: &str, action| TouchedFile::new(path.to_owned().into(), action);
    let cases: [(&str, Vec<TouchedFile>); 8] = [
        (r#""tool":"read","input":{"filePath":"/p/a"}"#, vec![file("/p/a", FileAction::Read)]),
        (r#""tool":"edit","input":{"filePath":"/p/a"}"#, vec![file("/p/a", FileAction::Edit)]),
        (
            r#""tool":"write","input":{"filePath":"/p/a"},"result":{"exists":false}"#,
            vec![file("/p/a", FileAction::Create)],
        ),
        (
            r#""tool":"write","input":{"filePath":"/p/a"},"result":{"exists":true}"#,
            vec![file("/p/a", FileAction::Edit)],
        ),
        (
            r#""tool":"apply_patch","input":{"patchText":"*** Add File: no"},"result":{"files":[{"path":"/p/a","type":"add"},{"path":"/p/b","type":"update"},{"path":"/p/c","type":"delete"},{"path":"/p/d","type":"move","to":"/p/e"}]}"#,
            vec![
                file("/p/a", FileAction::Create),
                file("/p/b", FileAction::Edit),
                file("/p/c", FileAction::Delete),
                file("/p/d", FileAction::Delete),
                file("/p/e", FileAction::Create),
            ],
        ),
        (
            r#""tool":"apply_patch","input":{"patchText":"*** Begin Patch\n*** Update File: a.rs\n"},"error":"no"#,
            vec![],
        ),
        (r#""tool":"glob","input":{"path":"/p"}"#, vec![]),
        (r#""tool":"mcp_thing","input":{}"#, vec![]),
    ];
    for (fields, expected) in cases {
        // One payload is torn. Only the files before the tear are expected from it.
        let expected = if fields.ends_with("no") { vec![file("a.rs", FileAction::Edit)] } else { expected };
        assert_eq!(decode_tool_done(fields).files, expected, "{fields}");
    }
}

#[test]
fn how_a_call_ended() {
    let ran = decode_tool_done(
        r#""tool":"bash","call_id":"c1","input":{"command":"cargo test"},"result":{"exit":3,"output":"boom"}"#,
    );
    assert_eq!((ran.call_id.as_deref(), ran.exit_code, ran.failed), (Some("c1"), Some(3), true));
    assert_eq!((ran.error.as_deref(), ran.output.as_deref()), (Some("boom"), Some("boom")));
    let well =
        decode_tool_done(r#""tool":"bash","input":{"command":"ls"},"result":{"exit":0,"output":"a b"}"#);
    assert_eq!((well.exit_code, well.failed, well.error, well.output), (Some(0), false, None, None));
    let failed = decode_tool_done(
        r#""tool":"edit","input":{"filePath":"/p/a"},"error":"Could not find oldString","ms":7"#,
    );
    assert_eq!(
        (failed.failed, failed.error.as_deref(), failed.duration_ms),
        (true, Some("Could not find oldString"), Some(7))
    );
}

#[test]
fn todo_lists_and_answers_are_read() {
    let list = decode_tool_done(
        r#""tool":"todowrite","input":{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress"}]}"#,
    );
    let Some(TodoChange::WholeList(todos)) = list.todo_change else { panic!("no list") };
    let todos: Vec<_> = todos.iter().map(|todo| (todo.text.as_ref(), todo.status)).collect();
    assert_eq!(todos, [("a", TodoStatus::Completed), ("b", TodoStatus::InProgress)]);
    let asked = decode_tool_done(
        r#""tool":"question","input":{"questions":[{"question":"Which?"},{"question":"Why?"},{"question":"None?"}]},"result":{"answers":[["red","blue"],["so"],[]]}"#,
    );
    let answers: Vec<_> = asked.answers.iter().map(|a| (a.question.as_ref(), a.answer.as_ref())).collect();
    assert_eq!(answers, [("Which?", "red, blue"), ("Why?", "so")]);
}

#[test]
fn a_sub_agent_is_named_and_a_stop_says_what_it_can_wait_for() {
    let start = decode_event("subagent.created", r#","agent_id":"ses_2","agent_type":"general""#);
    assert_eq!(start.kind, EventKind::SubagentStart);
    assert_eq!(start.subagent, Some(EventSubagent { id: "ses_2".into(), agent_type: "general".into() }));
    let stop = decode_event(
        "session.idle",
        r#","message":"done","message_id":"msg_1","patient":false,"model":"m","window":9,"steps":[{"input":9,"output":1},{"input":3,"output":1,"cache":{"read":2,"write":1}}]"#,
    );
    assert_eq!(stop.harness_event_id.as_deref(), Some("msg_1"));
    let EventKind::Stop(stop) = stop.kind else { panic!("no stop") };
    assert!(stop.cannot_wait && stop.message.as_deref() == Some("done"));
    assert_eq!(stop.turn_usage.map(|usage| (usage.input, usage.cache_read, usage.output)), Some((12, 2, 2)));
    let window = stop.context_use.expect("the last request");
    assert_eq!((window.tokens, window.model.as_str(), window.window_size), (6, "m", Some(9)));
    let EventKind::Stop(stop) = decode_event("session.idle", "").kind else { panic!("no stop") };
    assert!(!stop.cannot_wait && stop.turn_usage.is_none() && stop.context_use.is_none());
}

#[test]
fn each_report_of_a_start_is_a_new_one() {
    let start = |report: &str| {
        decode_event("session.created", &format!(r#","source":"compact","report_id":"{report}""#))
    };
    assert_eq!(start("r1").harness_event_id.as_deref(), Some("r1"));
    assert_ne!(start("r1").harness_event_id, start("r2").harness_event_id);
}

#[test]
fn answers_stand_under_their_names_and_only_where_they_are_taken() {
    let start = EventKind::SessionStart { source: StartSource::Startup };
    let before = EventKind::BeforeCompact { trigger: None, instructions: None };
    let stop = EventKind::Stop(StopEvent::default());
    let end = EventKind::SessionEnd { reason: None };
    let prompt = EventKind::Prompt { text: "".into() };
    let text = || "x \"y\"".to_owned();
    let brief = || "A reminder.\nThroughline: the context of this session (s) was compacted.".to_owned();
    for (reply, kind, expected) in [
        (Reply::ContextForAgent(text()), &start, r#"{"context":"x \"y\""}"#),
        (
            Reply::ContextAndUser { context: text(), user: "u".into() },
            &start,
            r#"{"context":"x \"y\"","tell":"u"}"#,
        ),
        (Reply::MessageForUser(text()), &start, r#"{"tell":"x \"y\""}"#),
        (Reply::ContextForAgent(text()), &prompt, r#"{"context":"x \"y\""}"#),
        (
            Reply::ContextForAgent(brief()),
            &prompt,
            r#"{"brief":true,"context":"A reminder.\nThroughline: the context of this session (s) was compacted."}"#,
        ),
        (Reply::GuideSummariser(text()), &before, r#"{"guidance":"x \"y\""}"#),
        (Reply::BlockStop(text()), &stop, r#"{"feed":"x \"y\""}"#),
        (Reply::AskToCallAgain, &stop, r#"{"wait":true}"#),
        (Reply::ContextForAgent(text()), &stop, ""),
        (Reply::BlockStop(text()), &end, ""),
        (Reply::Silent, &start, ""),
    ] {
        assert_eq!(String::from_utf8(encode(&reply, kind)).unwrap(), expected);
    }
}

#[test]
fn what_is_no_payload_is_refused() {
    assert!(matches!(decode(b"nonsense", "chat.message"), Err(UndecodablePayload::NotAnObject(_))));
    assert_eq!(decode(br#"{"event":"chat.message"}"#, ""), Err(UndecodablePayload::NoSession));
}
