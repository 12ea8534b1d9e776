use super::*;

fn decode_tool_done(payload: &str) -> ToolDone<'_> {
    match decode(payload.as_bytes(), "").map(|event| event.kind) {
        Ok(EventKind::ToolDone(done)) => *done,
        other => panic!("not a tool call: {other:?}"),
    }
}

#[test]
fn tools_and_their_files() {
    let cases = [
        (r#""tool_name":"Edit","tool_input":{"file_path":"/p/a"}"#, Some(("/p/a", FileAction::Edit))),
        (r#""tool_name":"Read","tool_input":{"file_path":"/p/a"}"#, Some(("/p/a", FileAction::Read))),
        (
            r#""tool_name":"Write","tool_input":{"file_path":"/p/a"},"tool_response":{"type":"create"}"#,
            Some(("/p/a", FileAction::Create)),
        ),
        (
            r#""tool_name":"Write","tool_input":{"file_path":"/p/a"},"tool_response":{"type":"update"}"#,
            Some(("/p/a", FileAction::Edit)),
        ),
        (
            r#""tool_name":"NotebookEdit","tool_input":{"notebook_path":"/p/n"}"#,
            Some(("/p/n", FileAction::Edit)),
        ),
        (r#""tool_name":"Edit","tool_input":{"file_path":7}"#, None),
        (r#""tool_name":"Edit","tool_input":"x""#, None),
        (r#""tool_name":"Bash","tool_input":{"command":"ls","file_path":"/p/a"}"#, None),
    ];
    for (fields, expected) in cases {
        let payload = format!(r#"{{"session_id":"s","hook_event_name":"PostToolUse",{fields}}}"#);
        let done = decode_tool_done(&payload);
        let files: Vec<_> = done.files.iter().map(|f| (f.path.as_ref(), f.action)).collect();
        assert_eq!(files, expected.into_iter().collect::<Vec<_>>(), "{fields}");
    }
}

#[test]
fn how_a_command_ended() {
    let ok = r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    assert_eq!((decode_tool_done(ok).exit_code, decode_tool_done(ok).failed), (Some(0), false));
    let failed = |error: &str| {
        format!(
            r#"{{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":"{error}"}}"#
        )
    };
    for (error, exit) in
        [("Exit code 3", Some(3)), ("Exit code 101\\nboom", Some(101)), ("no", None), ("Exit code x", None)]
    {
        let payload = failed(error);
        let done = decode_tool_done(&payload);
        assert_eq!((done.exit_code, done.failed), (exit, true), "{error}");
    }
}

#[test]
fn the_word_on_the_command_line_helps_out() {
    let event = decode(br#"{"session_id":"s","reason":"other"}"#, "SessionEnd").map(|e| e.kind);
    assert_eq!(event, Ok(EventKind::SessionEnd { reason: Some("other".into()) }));
    assert_eq!(decode(b"{}", "Stop"), Err(UndecodablePayload::NotAnObject("it has no fields".into())));
    assert_eq!(decode(br#"{"session_id":""}"#, "Stop"), Err(UndecodablePayload::NoSession));
    assert!(matches!(decode(b"nonsense", "Stop"), Err(UndecodablePayload::NotAnObject(_))));
}

#[test]
fn the_summariser_is_told_from_a_sub_agent() {
    let stop = |kind: &str| {
        let payload = format!(
            r#"{{"session_id":"s","hook_event_name":"SubagentStop","agent_id":"a","agent_type":"{kind}","last_assistant_message":"m"}}"#
        );
        decode(payload.as_bytes(), "").unwrap().kind.name().to_owned()
    };
    assert_eq!((stop(""), stop("explorer")), ("summary".to_owned(), "subagent-stop".to_owned()));
}

#[test]
fn the_stop_of_a_background_agent_names_its_task() {
    let task = |tasks: &str| {
        let payload = format!(
            r#"{{"session_id":"s","hook_event_name":"SubagentStop","agent_id":"a","agent_type":"x","background_tasks":{tasks}}}"#
        );
        match decode(payload.as_bytes(), "").unwrap().kind {
            EventKind::SubagentStop { task, .. } => task.map(|task| task.into_owned()),
            other => panic!("{other:?}"),
        }
    };
    let (own, other) = (r#"{"id":"a","description":"find it"}"#, r#"{"id":"b","description":"serve"}"#);
    assert_eq!(task(&format!("[{other},{own}]")).as_deref(), Some("find it"));
    assert_eq!((task(&format!("[{other}]")), task("[]"), task("7")), (None, None, None));
}

#[test]
fn a_notice_is_no_prompt() {
    let name = |prompt: &str| {
        let payload =
            format!(r#"{{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"{prompt}"}}"#);
        decode(payload.as_bytes(), "").unwrap().kind.name().to_owned()
    };
    assert_eq!((name("do it"), name("<task-notification>x")), ("prompt".to_owned(), "other".to_owned()));
}

#[test]
fn replies_only_where_they_are_understood() {
    let (start, stop) =
        (EventKind::SessionStart { source: StartSource::Compact }, EventKind::Stop(StopEvent::default()));
    let compact = EventKind::BeforeCompact { trigger: None, instructions: None };
    let text = |reply: &Reply, kind: &EventKind| String::from_utf8(encode(reply, kind)).unwrap();
    let context = Reply::ContextForAgent("a \"b\"".into());
    assert_eq!(
        text(&context, &start),
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a \"b\""}}"#
    );
    assert_eq!(text(&context, &stop), "");
    assert_eq!(text(&context, &compact), "");
    assert_eq!(text(&Reply::GuideSummariser("keep".into()), &compact), "keep");
    assert_eq!(text(&Reply::GuideSummariser("keep".into()), &start), "");
    assert_eq!(text(&Reply::Silent, &start), "");
}

#[test]
fn names_that_an_edit_changes() {
    let names = |fields: &str| {
        let payload = format!(r#"{{"session_id":"s","hook_event_name":"PostToolUse",{fields}}}"#);
        decode_tool_done(&payload).files[0].changed_names.describe(9, str::to_owned)
    };
    let edit = r#""tool_name":"Edit","tool_input":{"file_path":"/p/a.go","old_string":"\tone()","new_string":"\ttwo()"}"#;
    let file = r#""tool_response":{"filePath":"/p/a.go","oldString":"\tone()","newString":"\ttwo()","originalFile":"package a\n\nfunc Old() {\n\tzero()\n}\n\nfunc (s *Set) Run() error {\n\tif x {\n\t\ty()\n\t}\n\tone()\n}\n"}"#;
    let cases = [
        (format!("{edit},{file}"), "changed Run"),
        (edit.to_owned(), ""),
        (
            r#""tool_name":"Write","tool_input":{"file_path":"/p/a.py","content":"def a():\n    pass\n"},"tool_response":{"type":"create"}"#
                .to_owned(),
            "added a",
        ),
        (
            r#""tool_name":"Write","tool_input":{"file_path":"/p/a.py","content":"def a():\n    pass\n"},"tool_response":{"type":"update"}"#
                .to_owned(),
            "",
        ),
        (
            r#""tool_name":"Write","tool_input":{"file_path":"/p/a.py","content":"def a():\n    pass\n\ndef b():\n    pass\n"},"tool_response":{"type":"update","originalFile":"def a():\n    pass\n","structuredPatch":[]}"#
                .to_owned(),
            "added b",
        ),
        (
            r#""tool_name":"MultiEdit","tool_input":{"file_path":"/p/a.rs","edits":[{"old_string":"","new_string":"fn a() {}"},{"old_string":"fn b() {}","new_string":""}]}"#
                .to_owned(),
            "added a; removed b",
        ),
        (
            r#""tool_name":"Write","tool_input":{"file_path":"/p/a.md","content":"def a():"},"tool_response":{"type":"create"}"#
                .to_owned(),
            "",
        ),
    ];
    for (fields, expected) in cases {
        assert_eq!(names(&fields), expected, "{fields}");
    }
}
