use model::event::{FileAction, Todo, TodoChange, TodoStatus, TouchedFile};
use model::transcript::{CallSubject, PromptOrigin, UserQuestion};

use super::*;

fn items_of_line(line: &str) -> Vec<TranscriptItem<'_>> {
    read_line(line.as_bytes()).items
}

fn prompt_item(text: &str, typed: PromptOrigin) -> TranscriptItem<'_> {
    TranscriptItem::Prompt { text: text.into(), origin: typed }
}

/// Builds a line of type `user`, with `fields` after its message.
fn user_line(content: &str, fields: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":{content}}}{fields}}}"#
    )
}

fn assistant_line(blocks: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"message":{{"id":"m","role":"assistant","content":[{blocks}]}},"type":"assistant"}}"#
    )
}

#[test]
fn the_author_of_a_line_is_recognised() {
    let words = prompt_item("hi", PromptOrigin::PlainText);
    let cases = [
        (r#""hi""#, "", vec![words.clone()]),
        (r#"[{"type":"text","text":"hi"}]"#, "", vec![words.clone()]),
        (r#"[{"type":"image","source":{"data":"xx"}},{"type":"text","text":"hi"}]"#, "", vec![words.clone()]),
        (r#""hi""#, r#","promptSource":"sdk","origin":{"kind":"human"}"#, vec![words]),
        (r#""hi""#, r#","isMeta":true"#, vec![]),
        (r#""hi""#, r#","promptSource":"system""#, vec![]),
        (r#""hi""#, r#","origin":{"kind":"peer"}"#, vec![]),
        (r#""hi""#, r#","isVisibleInTranscriptOnly":true"#, vec![]),
        (r#""hi""#, r#","isCompactSummary":true"#, vec![TranscriptItem::Summary { text: "hi".into() }]),
        (
            r#""Stop hook feedback:\nGO""#,
            r#","isMeta":true"#,
            vec![TranscriptItem::StopHookFeedback { text: "GO".into() }],
        ),
        (r#""[Request interrupted by user]""#, "", vec![TranscriptItem::Interrupted]),
        ("7", "", vec![]),
        ("[7,null,{}]", "", vec![]),
    ];
    for (content, fields, expected) in cases {
        assert_eq!(items_of_line(&user_line(content, fields)), expected, "{content} {fields}");
    }
    let side =
        user_line(r#""hi""#, "").replace("\"isSidechain\":false", "\"isSidechain\":true,\"agentId\":\"a1\"");
    let line = read_line(side.as_bytes());
    assert_eq!(
        (line.items, line.author),
        (vec![], TranscriptLineAuthor::SubAgent { agent: Some("a1".into()) })
    );
}

#[test]
fn the_agent_and_what_only_looks_like_it() {
    let line = assistant_line(
        r#"{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text","text":" "}"#,
    );
    assert_eq!(
        items_of_line(&line),
        [TranscriptItem::AgentMessage { message_id: Some("m".into()), text: "a".into() }]
    );
    for (from, to) in [
        ("\"type\":\"assistant\"", "\"type\":\"assistant\",\"isApiErrorMessage\":true"),
        ("\"id\":\"m\"", "\"model\":\"<synthetic>\""),
    ] {
        assert_eq!(items_of_line(&line.replace(from, to)), []);
    }
}

#[test]
fn calls_and_their_files() {
    let cases = [
        (r#""name":"Read","input":{"file_path":"/p","offset":3}"#, Some(FileAction::Read)),
        (
            r#""name":"Edit","input":{"replace_all":false,"file_path":"/p","old_string":"x"}"#,
            Some(FileAction::Edit),
        ),
        (r#""name":"Write","input":{"content":"x","file_path":"/p"}"#, Some(FileAction::Edit)),
        (r#""name":"NotebookEdit","input":{"notebook_path":"/p"}"#, Some(FileAction::Edit)),
        (r#""name":"Grep","input":{"path":"/p","file_path":"/p"}"#, None),
        (r#""name":"Edit","input":{"file_path":["/p"]}"#, None),
        (r#""name":"Edit","input":"/p""#, None),
        (r#""name":"Edit""#, None),
    ];
    for (fields, action) in cases {
        let line = assistant_line(&format!(r#"{{"type":"tool_use","id":"t",{fields}}}"#));
        let found = items_of_line(&line);
        let [TranscriptItem::Call(call)] = &found[..] else { panic!("{found:?}") };
        let expected: Vec<_> =
            action.map(|action| TouchedFile::new("/p".into(), action)).into_iter().collect();
        assert_eq!((&call.files, call.id.as_deref()), (&expected, Some("t")), "{fields}");
    }
}

#[test]
fn calls_that_are_more_than_work() {
    let one = |fields: &str| {
        let line = assistant_line(&format!(r#"{{"type":"tool_use","id":"t",{fields}}}"#));
        let found = items_of_line(&line);
        let Some(TranscriptItem::Call(call)) = found.first() else { panic!("{found:?}") };
        format!("{:?} {:?}", call.command, call.subject)
    };
    let say = |command: Option<&str>, about: CallSubject| format!("{command:?} {about:?}");
    assert_eq!(
        one(r#""name":"Bash","input":{"command":"ls\n","timeout":3}"#),
        say(Some("ls\n"), CallSubject::OrdinaryWork)
    );
    assert_eq!(
        one(r#""name":"Agent","input":{"description":"look","prompt":"long","subagent_type":"Explore"}"#),
        say(None, CallSubject::Delegated { kind: Some("Explore".into()), task: "look".into() })
    );
    assert_eq!(
        one(r#""name":"ExitPlanMode","input":{"plan":"P"}"#),
        say(None, CallSubject::Plan("P".into()))
    );
    let question = UserQuestion { text: "Q?".into(), options: vec!["A".into()] };
    assert_eq!(
        one(
            r#""name":"AskUserQuestion","input":{"questions":[{"question":"Q?","options":[{"label":"A"}]}]}"#
        ),
        say(None, CallSubject::Questions(vec![question]))
    );
}

#[test]
fn changes_of_the_todo_list_are_read() {
    let line = assistant_line(
        r#"{"type":"tool_use","name":"TodoWrite","input":{"todos":[{"content":"a","status":"pending"}]}}"#,
    );
    let todo = Todo { text: "a".into(), status: TodoStatus::Pending };
    assert_eq!(items_of_line(&line)[1], TranscriptItem::Todos(TodoChange::WholeList(vec![todo])));
    let one = |text: Option<&'static str>, status| {
        TranscriptItem::Todos(TodoChange::OneEntry {
            id: "1".into(),
            text: text.map(Into::into),
            status: Some(status),
        })
    };
    let line = assistant_line(
        r#"{"type":"tool_use","name":"TaskUpdate","input":{"taskId":"1","status":"completed"}}"#,
    );
    assert_eq!(items_of_line(&line)[1], one(None, TodoStatus::Completed));
    let made = r#","toolUseResult":{"task":{"id":"1","subject":"a"}}"#;
    let line = user_line(r#"[{"type":"tool_result","tool_use_id":"t","content":"Task #1 created"}]"#, made);
    assert_eq!(items_of_line(&line)[1], one(Some("a"), TodoStatus::Pending));
}

#[test]
fn how_a_call_ended() {
    let ended = |content: &str, is_error: bool, report: &str| {
        let block = format!(
            r#"[{{"tool_use_id":"t","type":"tool_result","content":{content},"is_error":{is_error}}}]"#
        );
        let line = user_line(&block, report);
        let found = items_of_line(&line);
        let Some(TranscriptItem::Result(result)) =
            found.iter().find(|item| matches!(item, TranscriptItem::Result(_)))
        else {
            panic!("{found:?}")
        };
        format!(
            "{} {} {:?} {}",
            result.failed,
            result.is_refused_by_user,
            result.exit_code,
            result.text.read()
        )
    };
    let shell =
        |more: &str| format!(r#","toolUseResult":{{"stdout":"x","stderr":"","interrupted":false{more}}}"#);
    assert_eq!(ended(r#""x""#, false, &shell("")), "false false Some(0) x");
    assert_eq!(
        ended(r#""""#, false, &shell(r#","returnCodeInterpretation":"No matches found""#)),
        "false false None "
    );
    assert_eq!(ended(r#""x""#, false, &shell(r#","backgroundTaskId":"b""#)), "false false None x");
    assert_eq!(ended(r#""x""#, false, ""), "false false None x");
    assert_eq!(
        ended(r#""Exit code 3\nok\nerror: no\n""#, true, r#","toolUseResult":"Error: Exit code 3""#),
        "true false Some(3) ok\nerror: no\n"
    );
    assert_eq!(ended(r#""Exit code 3""#, true, ""), "true false Some(3) ");
    assert_eq!(
        ended(r#""<tool_use_error>File does not exist.</tool_use_error>""#, true, ""),
        "true false None File does not exist."
    );
    assert_eq!(ended(r#"[{"type":"image"},{"type":"text","text":"x"}]"#, false, ""), "false false None x");
    assert!(
        ended(r#""The user doesn't want to proceed. the user said:\nno""#, true, "")
            .starts_with("true true None ")
    );
}

#[test]
fn what_the_user_answers() {
    let answer = |question: Option<&'static str>, text: &'static str| TranscriptItem::AnswerToQuestion {
        call_id: Some("t".into()),
        question: question.map(Into::into),
        text: text.into(),
    };
    let block = r#"[{"type":"tool_result","tool_use_id":"t","content":"answered"}]"#;
    let report = r#","toolUseResult":{"questions":[{"question":"Q\"1"}],"answers":{"Q\"1":"A","Q2":["x"],"Q3":"B"},"annotations":{}}"#;
    let line = user_line(block, report);
    assert_eq!(items_of_line(&line)[1..], [answer(Some("Q\"1"), "A"), answer(Some("Q3"), "B")]);
    let refused = r#"[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nnot so"}]"#;
    let line = user_line(refused, "");
    assert_eq!(items_of_line(&line)[0], answer(None, "not so"));
}

#[test]
fn a_result_knows_whether_a_file_was_made() {
    let block = r#"[{"type":"tool_result","tool_use_id":"t","content":"done"}]"#;
    for (report, expected) in [
        (r#"{"type":"create","filePath":"/p","content":"x"}"#, Some(FileAction::Create)),
        (r#"{"type":"update","filePath":"/p","content":"x"}"#, Some(FileAction::Edit)),
        (r#"{"filePath":"/p","oldString":"x"}"#, None),
        (r#"{"type":"text","file":{"filePath":"/p"}}"#, None),
        (r#"["create"]"#, None),
    ] {
        let line = user_line(block, &format!(r#","toolUseResult":{report}"#));
        let found = items_of_line(&line);
        let [TranscriptItem::Result(result)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(result.files.first().map(|file| file.action), expected, "{report}");
    }
}

#[test]
fn prompts_that_wait_and_commands_that_stay_here() {
    let queued = |text: &'static str| {
        vec![TranscriptItem::QueuedPrompt { text: text.into(), origin: PromptOrigin::PlainText }]
    };
    let slash = |text: &'static str| vec![prompt_item(text, PromptOrigin::Slash)];
    for (line, expected) in [
        (r#"{"type":"queue-operation","operation":"enqueue","content":"also this"}"#, queued("also this")),
        (
            r#"{"type":"queue-operation","operation":"enqueue","content":"<task-notification>x</task-notification>"}"#,
            vec![],
        ),
        (r#"{"type":"queue-operation","operation":"remove","content":"also this"}"#, vec![]),
        (r#"{"type":"queue-operation","operation":"dequeue"}"#, vec![]),
        (
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"also this","commandMode":"prompt"}}"#,
            queued("also this"),
        ),
        (
            r#"{"attachment":{"type":"queued_command","prompt":"x","commandMode":"task-notification"},"type":"attachment"}"#,
            vec![],
        ),
        (
            r#"{"attachment":{"type":"queued_command","prompt":"x","origin":{"kind":"peer"}},"type":"attachment"}"#,
            vec![],
        ),
        (
            r#"{"attachment":{"type":"file","filename":"/p"},"type":"attachment"}"#,
            vec![TranscriptItem::ShownFile { path: "/p".into() }],
        ),
        (
            r#"{"type":"system","subtype":"local_command","content":"<command-name>/skills</command-name>"}"#,
            slash("/skills"),
        ),
        (
            r#"{"type":"system","subtype":"local_command","content":"<local-command-stdout>x</local-command-stdout>"}"#,
            vec![],
        ),
        (r#"{"type":"last-prompt","lastPrompt":"not again"}"#, vec![]),
    ] {
        assert_eq!(items_of_line(line), expected, "{line}");
    }
}

#[test]
fn a_sub_agent_as_older_versions_tell_of_it() {
    let line = r#"{"parentUuid":"u","isSidechain":false,"type":"progress","data":{"message":{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/p"}}]}},"type":"agent_progress","prompt":"do","agentId":"a1"},"timestamp":"2026-02-04T21:49:14.486Z"}"#;
    let line = read_line(line.as_bytes());
    assert_eq!(line.kind, TranscriptLineKind::Known("progress/agent_progress"));
    assert_eq!(line.author, TranscriptLineAuthor::SubAgent { agent: Some("a1".into()) });
    assert!(matches!(&line.items[..], [TranscriptItem::Call(call)] if call.files.len() == 1));
    for data in [r#"{"type":"bash_progress","output":"x"}"#, r#"{"output":"x","type":"hook_progress"}"#] {
        let line = format!(r#"{{"data":{data},"type":"progress"}}"#);
        assert!(
            matches!(read_line(line.as_bytes()), TranscriptLine { kind: TranscriptLineKind::Known(_), items, .. } if items.is_empty())
        );
    }
}

#[test]
fn lines_are_known_unknown_torn_or_blank() {
    for (line, expected) in [
        ("", TranscriptLineKind::Blank),
        (" \r\n\0", TranscriptLineKind::Blank),
        ("{}", TranscriptLineKind::Unknown("".into())),
        (r#"{"type":"new-thing","x":1}"#, TranscriptLineKind::Unknown("new-thing".into())),
        (r#"{"type":"system","subtype":"new"}"#, TranscriptLineKind::Unknown("system/new".into())),
        (
            r#"{"type":"attachment","attachment":{"type":"new"}}"#,
            TranscriptLineKind::Unknown("attachment/new".into()),
        ),
        (r#"{"type":"attachment","attachment":7}"#, TranscriptLineKind::Unknown("attachment/".into())),
        (r#"{"type":7}"#, TranscriptLineKind::Unknown("".into())),
        (r#"{"type":"mode","mode":"normal"}"#, TranscriptLineKind::Known("mode")),
        (
            r#"{"type":"system","subtype":"api_error","error":{}}"#,
            TranscriptLineKind::Known("system/api_error"),
        ),
        (r#"{"parentUuid":nul"#, TranscriptLineKind::Torn),
        ("nonsense", TranscriptLineKind::Torn),
        ("[1]", TranscriptLineKind::Torn),
    ] {
        assert_eq!(read_line(line.as_bytes()).kind, expected, "{line}");
    }
}

#[test]
fn a_line_cut_for_its_length_gives_what_stands_before_the_cut() {
    let whole = user_line(r#"[{"type":"text","text":"look"},{"type":"image","source":{"data":"AAAA"}}]"#, "");
    let cut = &whole[..whole.find("AA\"").unwrap()];
    assert_eq!(items_of_line(cut), [prompt_item("look", PromptOrigin::PlainText)]);
}

#[test]
fn two_objects_in_one_line_are_both_read() {
    let result = user_line(
        r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#,
        r#","toolUseResult":{"stdout":"x","list":[{"type":"text"}]}"#,
    );
    let first = user_line(r#""one""#, r#","data2":[{"type":"text"},{"parentUuid":1}]"#);
    let second = user_line(r#""two""#, "");
    let snapshot = r#"{"type":"file-history-snapshot","snapshot":{"a":{"type":"x"}}}"#;
    let read = |line: &str| {
        let mut found = Vec::new();
        crate::transcript::each_object_in_line(read_line, line.as_bytes(), |line| {
            found.extend(line.items.iter().filter_map(|item| match item {
                TranscriptItem::Prompt { text, .. } => Some(text.clone().into_owned()),
                TranscriptItem::Result(_) => Some("result".to_owned()),
                _ => None,
            }));
        });
        found
    };
    assert_eq!(read(&format!("{first}{second}")), ["one", "two"]);
    assert_eq!(read(&format!("\u{feff}{first} {second}\r")), ["one", "two"]);
    assert_eq!(read(&format!("{result}{second}")), ["result", "two"]);
    assert_eq!(read(&format!("{snapshot}{second}")), ["two"]);
    // A crash cut off the first line, and the second line was written directly after it.
    for end in 0..first.len() {
        // If the first line ends with one of these characters, the second object looks like a part of the first.
        if first[..end].ends_with(['[', ',', ':']) {
            continue;
        }
        let found = read(&format!("{}{second}", &first[..end]));
        assert_eq!(found.last().map(String::as_str), Some("two"), "{}", &first[..end]);
    }
    assert_eq!(read(&second.repeat(1000)).len(), 32);
}

#[test]
fn the_content_of_a_file_is_not_decoded_but_an_error_and_an_output_are() {
    let text_of = |report: &str, failed: bool| {
        let block =
            format!(r#"[{{"type":"tool_result","tool_use_id":"t","is_error":{failed},"content":"a\nb"}}]"#);
        let line = user_line(&block, &format!(r#","toolUseResult":{report}"#));
        let items = items_of_line(&line);
        let Some(TranscriptItem::Result(result)) = items.first() else { panic!("{items:?}") };
        assert_eq!(result.call_id.as_deref(), Some("t"));
        result.text.read().into_owned()
    };
    for report in [
        r#"{"type":"text","file":{"filePath":"/a","content":"a\nb"}}"#,
        r#"{"filePath":"/a","oldString":"x"}"#,
        r#"{"type":"update","filePath":"/a"}"#,
        r#"{"mode":"content","filenames":[]}"#,
        r#"{"filenames":["/a"],"durationMs":3}"#,
    ] {
        assert_eq!(text_of(report, false), "", "{report}");
        assert_eq!(text_of(report, true), "a\nb", "{report}");
    }
    for report in [r#"{"stdout":"a\nb","stderr":""}"#, r#"{"status":"completed","content":[]}"#, r#""a""#] {
        assert_eq!(text_of(report, false), "a\nb", "{report}");
    }
}

#[test]
fn a_result_names_the_declaration_around_an_edit() {
    let line = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"toolUseResult":{"filePath":"/p/a.py","oldString":"        return 1","newString":"        return 2","originalFile":"class A:\n    def one(self):\n        x = 1\n        return 1\n","structuredPatch":[]}}"#;
    let found = items_of_line(line);
    let Some(TranscriptItem::Result(result)) = found.first() else { panic!("{found:?}") };
    assert_eq!(result.enclosing_declaration.as_deref(), Some("one"));
}
