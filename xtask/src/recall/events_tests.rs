use super::*;

fn kinds_of_events(text: &str) -> Vec<EventKind> {
    let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    read_events(&lines).into_iter().map(|event| event.kind).collect()
}

fn user_line(text: &str) -> String {
    serde_json::json!({ "type": "user", "message": { "role": "user", "content": text } }).to_string()
}

#[test]
fn only_what_a_person_typed_is_a_prompt() {
    for (text, expected) in [
        ("fix the parser", Some("fix the parser")),
        ("/exit", None),
        ("<local-command-stdout>ok</local-command-stdout>", None),
        ("<command-name>/model</command-name><command-args></command-args>", None),
        (
            "<command-message>review</command-message><command-name>/review</command-name><command-args>the parser</command-args>",
            Some("/review the parser"),
        ),
        ("[Request interrupted by user]", None),
        (r#"{"task_id":"a1"}"#, None),
        ("/tmp/a.log says no", Some("/tmp/a.log says no")),
    ] {
        let expected: Vec<EventKind> =
            expected.map(|text| EventKind::Prompt(text.to_owned())).into_iter().collect();
        assert_eq!(kinds_of_events(&user_line(text)), expected, "{text}");
    }
}

#[test]
fn a_queued_prompt_counts_once_and_side_chains_not_at_all() {
    let queued = r#"{"type":"queue-operation","operation":"enqueue","content":"and the  docs"}"#;
    let side = r#"{"type":"user","isSidechain":true,"message":{"role":"user","content":"look around"}}"#;
    let text = [queued, &user_line("and the docs"), side, &user_line("and the docs")].join("\n");
    let prompt = |words: &str| EventKind::Prompt(words.to_owned());
    assert_eq!(kinds_of_events(&text), [prompt("and the  docs"), prompt("and the docs")]);
}

#[test]
fn calls_and_how_they_ended() {
    let call = |id: &str, tool: &str, input: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]}}}}"#
        )
    };
    let result = |id: &str, text: &str, failed: bool| {
        let block = serde_json::json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed });
        serde_json::json!({ "type": "user", "message": { "role": "user", "content": [block] } }).to_string()
    };
    let refusal = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nask first";
    let text = [
        call("c1", "Edit", r#"{"file_path":"/p/a.rs"}"#),
        result("c1", "ok", false),
        call("c2", "Bash", r#"{"command":"make test"}"#),
        result("c2", "Exit code 2", true),
        call("c2", "Bash", r#"{"command":"make test"}"#),
        call("c3", "Bash", r#"{"command":"git push"}"#),
        result("c3", refusal, true),
    ]
    .join("\n");
    let all = kinds_of_events(&text);
    let calls: Vec<&ToolCall> = all
        .iter()
        .filter_map(|what| if let EventKind::Call(call) = what { Some(call) } else { None })
        .collect();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[0].files, [FileInToolCall { path: "/p/a.rs".into(), edited: true }]);
    assert_eq!(calls[1].command.as_deref(), Some("make test"));
    let ends: Vec<CallOutcome> = all
        .iter()
        .filter_map(|what| if let EventKind::Result { end, .. } = what { Some(*end) } else { None })
        .collect();
    assert_eq!(ends, [CallOutcome::Done, CallOutcome::Failed, CallOutcome::NotRun]);
    assert_eq!(all.last(), Some(&EventKind::Prompt("ask first".into())));
}
