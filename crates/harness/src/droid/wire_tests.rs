use super::*;

fn decode_tool_done(fields: &str) -> (Vec<(String, FileAction)>, Option<i64>, bool) {
    let payload = format!(r#"{{"session_id":"s","hook_event_name":"PostToolUse",{fields}}}"#);
    match decode(payload.as_bytes(), "").map(|event| event.kind) {
        Ok(EventKind::ToolDone(done)) => {
            let files = done.files.iter().map(|file| (file.path.to_string(), file.action)).collect();
            (files, done.exit_code, done.failed)
        }
        other => panic!("not a tool call: {other:?}"),
    }
}

#[test]
fn tools_and_how_they_ended() {
    let file = |path: &str, action| vec![(path.to_owned(), action)];
    assert_eq!(
        decode_tool_done(r#""tool_name":"Create","tool_input":{"file_path":"/p/a"}"#),
        (file("/p/a", FileAction::Create), None, false)
    );
    assert_eq!(
        decode_tool_done(r#""tool_name":"Read","tool_input":{"file_path":"/p/a"}"#).0,
        file("/p/a", FileAction::Read)
    );
    let patch = r#""tool_name":"ApplyPatch","tool_input":{"input":"*** Begin Patch\n*** Update File: a.rs\n*** Delete File: b.rs\n"}"#;
    assert_eq!(
        decode_tool_done(patch).0,
        [("a.rs".to_owned(), FileAction::Edit), ("b.rs".to_owned(), FileAction::Delete)]
    );
    let run = |response: &str| {
        decode_tool_done(&format!(
            r#""tool_name":"Execute","tool_input":{{"command":"x"}},"tool_response":"{response}""#
        ))
    };
    assert_eq!(run("hi\\n\\n[Process exited with code 0]").1, Some(0));
    let failed = run("boom\\n[Process exited with code 2]");
    assert_eq!((failed.1, failed.2), (Some(2), true));
    assert_eq!(run("no such line").1, None);
}

#[test]
fn a_compaction_names_the_session_it_goes_on_from() {
    let payload = r#"{"session_id":"new","previous_session_id":"old","hook_event_name":"SessionStart","source":"compact"}"#;
    let event = decode(payload.as_bytes(), "").unwrap();
    assert_eq!((event.session.as_ref(), event.previous_session.as_deref()), ("new", Some("old")));
    assert_eq!(event.kind, EventKind::SessionStart { source: StartSource::Compact });
}
