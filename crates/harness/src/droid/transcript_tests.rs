use model::event::{FileAction, TodoChange, TodoStatus};
use model::transcript::{CallSubject, ToolCall, UserQuestion};

use super::*;

fn items_of_line(line: &str) -> Vec<TranscriptItem<'_>> {
    read_line(line.as_bytes()).items
}

fn message_line(role: &str, content: &str, fields: &str) -> String {
    format!(r#"{{"type":"message","id":"m","message":{{"role":"{role}","content":{content}{fields}}}}}"#)
}

fn tool_call_line(fields: &str) -> String {
    message_line("assistant", &format!(r#"[{{"type":"tool_use","id":"t",{fields}}}]"#), "")
}

#[test]
fn the_author_of_a_line_is_recognised() {
    let text = r#"[{"type":"text","text":"hi"}]"#;
    let prompt =
        |text: &'static str, typed| vec![TranscriptItem::Prompt { text: text.into(), origin: typed }];
    let cases = [
        (message_line("user", text, ""), prompt("hi", PromptOrigin::PlainText)),
        (message_line("user", r#""hi""#, ""), prompt("hi", PromptOrigin::PlainText)),
        (
            message_line("user", r#"[{"type":"text","text":"/review all"}]"#, ""),
            prompt("/review all", PromptOrigin::Slash),
        ),
        (message_line("user", r#"[{"type":"text","text":"<system-reminder>x"}]"#, ""), vec![]),
        (message_line("user", text, r#","visibility":"user_only""#), vec![]),
        (message_line("user", text, "").replace(r#""id":"m""#, r#""id":"context-m""#), vec![]),
        (
            message_line("assistant", text, ""),
            vec![TranscriptItem::AgentMessage { message_id: Some("m".into()), text: "hi".into() }],
        ),
        (message_line("system", text, ""), vec![]),
    ];
    for (line, expected) in cases {
        assert_eq!(items_of_line(&line), expected, "{line}");
    }
}

#[test]
fn a_hook_that_kept_the_agent_going() {
    let stop = |results: &str| {
        message_line(
            "user",
            "[]",
            &format!(r#","visibility":"user_only","hookEventName":"Stop","hookResults":[{results}]"#),
        )
    };
    let feedback = |text: &'static str| vec![TranscriptItem::StopHookFeedback { text: text.into() }];
    for (results, expected) in [
        (r#"{"exitCode":0,"stdout":"{\"decision\":\"block\",\"reason\":\"go on\"}\n"}"#, feedback("go on")),
        (r#"{"exitCode":2,"stderr":"go on\n"}"#, feedback("go on")),
        (r#"{"exitCode":0,"stdout":"{\"reason\":\"fine\"}"}"#, vec![]),
        (r#"{"exitCode":0,"stdout":"words"}"#, vec![]),
        ("7", vec![]),
    ] {
        assert_eq!(items_of_line(&stop(results)), expected, "{results}");
    }
}

#[test]
fn calls_and_their_files() {
    let cases = [
        (r#""name":"Create","input":{"file_path":"/p","content":"x"}"#, vec![("/p", FileAction::Create)]),
        (r#""name":"Edit","input":{"file_path":"/p"}"#, vec![("/p", FileAction::Edit)]),
        (r#""name":"Read","input":{"file_path":"/p"}"#, vec![("/p", FileAction::Read)]),
        (
            r#""name":"ApplyPatch","input":{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b c\n*** Move to: e\n*** Delete File: d\n*** End Patch"}"#,
            vec![
                ("a", FileAction::Create),
                ("b c", FileAction::Edit),
                ("e", FileAction::Create),
                ("d", FileAction::Delete),
            ],
        ),
        (r#""name":"Execute","input":{"command":"ls","file_path":"/p"}"#, vec![]),
        (r#""name":"Edit","input":7"#, vec![]),
    ];
    for (fields, expected) in cases {
        let line = tool_call_line(fields);
        let found = items_of_line(&line);
        let [TranscriptItem::Call(call)] = &found[..] else { panic!("{found:?}") };
        let files: Vec<_> = call.files.iter().map(|file| (file.path.as_ref(), file.action)).collect();
        assert_eq!(files, expected, "{fields}");
    }
}

#[test]
fn calls_that_are_more_than_work() {
    let line = tool_call_line(
        r#""name":"AskUser","input":{"questionnaire":"1. [question] Which?\n[topic] T\n[option] A\n[option] B"}"#,
    );
    let found = items_of_line(&line);
    let [TranscriptItem::Call(ToolCall { subject: CallSubject::Questions(questions), .. })] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!(questions[0], UserQuestion { text: "Which?".into(), options: vec!["A".into(), "B".into()] });
    let line = tool_call_line(r#""name":"TodoWrite","input":{"todos":"1. [completed] a\n2. [pending] b"}"#);
    let found = items_of_line(&line);
    let [_, TranscriptItem::Todos(TodoChange::WholeList(todos))] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        todos.iter().map(|todo| todo.status).collect::<Vec<_>>(),
        [TodoStatus::Completed, TodoStatus::Pending]
    );
    for list in
        [r#"{"todos":"1. [completed] a"}"#, r#""1. [completed] a""#, r#"[{"content":"a","status":"x"}]"#]
    {
        let line = format!(r#"{{"type":"todo_state","id":"x","todos":{list},"messageIndex":3}}"#);
        let state = items_of_line(&line);
        assert!(
            matches!(&state[..], [TranscriptItem::Todos(TodoChange::WholeList(todos))] if todos.len() == 1),
            "{list}"
        );
    }
}

#[test]
fn how_a_command_ended() {
    let ended = |content: &str, is_error: bool| {
        let block = format!(
            r#"[{{"type":"tool_result","tool_use_id":"t","is_error":{is_error},"content":{content}}}]"#
        );
        let line = message_line("user", &block, "");
        let found = items_of_line(&line);
        let [TranscriptItem::Result(result)] = &found[..] else { panic!("{found:?}") };
        (result.failed, result.exit_code, result.text.read().into_owned())
    };
    assert_eq!(
        ended(r#""hi\n\n\n[Process exited with code 0]""#, false),
        (false, Some(0), "hi\n\n\n[Process exited with code 0]".to_owned())
    );
    let (failed, exit, text) = ended(r#""error: no\n\n[Process exited with code 3]""#, false);
    assert_eq!((failed, exit, text.as_str()), (true, Some(3), "error: no\n\n[Process exited with code 3]"));
    assert_eq!(ended(r#""Error: gone""#, true), (true, None, "Error: gone".to_owned()));
    let once = "it said [Process exited with code 1] once";
    assert_eq!(ended(&format!("\"{once}\""), false), (false, None, once.to_owned()));
}

#[test]
fn a_session_started_by_another_is_a_sub_agents() {
    let line = read_line(br#"{"type":"session_start","id":"s","callingSessionId":"p"}"#);
    assert_eq!(line.author, TranscriptLineAuthor::SubAgent { agent: Some("p".into()) });
    assert!(read_line(br#"{"type":"session_start","id":"s"}"#).is_of_main_agent());
}
