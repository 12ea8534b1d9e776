//! Code that the adapters of Claude-style harnesses share: fields of events, todo lists, questions, replies.

use std::borrow::Cow;

use model::declared::{
    ChangedNames, SourceText, compare_declarations, compare_file_versions, may_declare_names,
    old_and_new_texts_in_patch,
};
use model::edit_text::may_hold_secrets;
use model::event::{
    DelegatedWork, Event, EventKind, EventSubagent, FileAction, LineRange, QuestionAnswer, Todo, TodoChange,
    TodoStatus, TouchedFile,
};
use model::reply::Reply;
use model::transcript::{DeferredText, TextReplacement};
use model::{effect, run};

use crate::UndecodablePayload;
use crate::fields::JsonFields;
use crate::transcript::walk::decode_string;

/// Builds an event from the fields that every payload has. `kind` reads the remaining fields.
pub fn build_event<'a>(
    payload: &'a [u8],
    word: &'a str,
    kind: fn(&JsonFields<'a>, Cow<'a, str>) -> EventKind<'a>,
) -> Result<Event<'a>, UndecodablePayload> {
    let (fields, problem) = JsonFields::parse(payload);
    if fields.is_empty() {
        let why = problem.unwrap_or("it has no fields").to_owned();
        return Err(UndecodablePayload::NotAnObject(why));
    }
    let session =
        fields.text("session_id").filter(|id| !id.is_empty()).ok_or(UndecodablePayload::NoSession)?;
    let name = fields.text("hook_event_name").unwrap_or(Cow::Borrowed(word));
    let kind = kind(&fields, name);
    let id = match kind {
        EventKind::Prompt { .. } => fields.text("prompt_id"),
        EventKind::Summary { .. } => fields.text("agent_id"),
        _ => None,
    };
    Ok(Event {
        session,
        harness_event_id: id.filter(|id| !id.is_empty()),
        is_payload_truncated: problem.is_some(),
        previous_session: fields.text("previous_session_id").filter(|id| !id.is_empty()),
        cwd: fields.text("cwd"),
        transcript: fields.text("transcript_path"),
        subagent: fields
            .text("agent_id")
            .map(|id| EventSubagent { id, agent_type: fields.text("agent_type").unwrap_or_default() }),
        kind,
    })
}

/// Encodes a message for the user, context for the model, or a loop's prompt. Each is encoded only at events where both
/// Claude Code and Droid accept it. Otherwise, the reply is empty.
pub fn encode_common_reply(reply: &Reply, kind: &EventKind) -> Vec<u8> {
    match (reply, event_accepting_context(kind)) {
        (Reply::MessageForUser(text), _) => {
            serde_json::json!({ "systemMessage": text }).to_string().into_bytes()
        }
        (Reply::ContextForAgent(text), Some(event)) => {
            serde_json::json!({ "hookSpecificOutput": context_reply(event, text) }).to_string().into_bytes()
        }
        (Reply::ContextAndUser { context, user }, Some(event)) => {
            let output = context_reply(event, context);
            serde_json::json!({ "systemMessage": user, "hookSpecificOutput": output })
                .to_string()
                .into_bytes()
        }
        // `block` is sent only at a stop. At any other event, it would prevent what the agent or the user does.
        (Reply::BlockStop(text), None) if matches!(kind, EventKind::Stop(_)) => {
            serde_json::json!({ "decision": "block", "reason": text }).to_string().into_bytes()
        }
        _ => Vec::new(),
    }
}

fn context_reply(event: &str, text: &str) -> serde_json::Value {
    serde_json::json!({ "hookEventName": event, "additionalContext": text })
}

/// Returns the harness's name for an event if context may be added at that event.
fn event_accepting_context(kind: &EventKind) -> Option<&'static str> {
    match kind {
        EventKind::SessionStart { .. } => Some("SessionStart"),
        EventKind::Prompt { .. } => Some("UserPromptSubmit"),
        EventKind::SubagentStart => Some("SubagentStart"),
        EventKind::ToolDone(_)
        | EventKind::BeforeCompact { .. }
        | EventKind::Summary { .. }
        | EventKind::AfterCompact { .. }
        | EventKind::SubagentStop { .. }
        | EventKind::Stop(_)
        | EventKind::SessionEnd { .. }
        | EventKind::Other { .. } => None,
    }
}

/// Distinguishes the user's own prompts from the harness's notices, which arrive with the same event.
pub fn prompt_or_notice(text: Cow<'_, str>) -> EventKind<'_> {
    match text.trim_start().starts_with("<task-notification>") {
        true => EventKind::Other { name: "task-notification".into() },
        false => EventKind::Prompt { text },
    }
}

/// Lists the files that a patch names in lines such as `*** Update File: path`.
pub fn files_in_patch<'a>(patch: &str) -> Vec<TouchedFile<'a>> {
    let marks = [
        ("*** Add File: ", FileAction::Create),
        ("*** Update File: ", FileAction::Edit),
        ("*** Delete File: ", FileAction::Delete),
        ("*** Move to: ", FileAction::Create),
    ];
    let named = |line: &str| {
        let (mark, action) = marks.iter().find(|(mark, _)| line.starts_with(mark))?;
        Some(TouchedFile::new(Cow::Owned(line[mark.len()..].trim().to_owned()), *action))
    };
    let mut files: Vec<TouchedFile> = patch.lines().filter_map(named).collect();
    for (path, old, new) in old_and_new_texts_in_patch(patch) {
        if let Some(file) = files.iter_mut().find(|file| file.path == path && may_declare_names(path)) {
            file.changed_names = compare_declarations(SourceText::plain(&old), SourceText::plain(&new));
        }
    }
    files
}

/// Returns the range of lines that the input of a reading tool requests, or `None` if the tool read the whole file.
pub fn lines_read(input: &JsonFields<'_>) -> Option<LineRange> {
    let count = input.number("limit").filter(|count| *count > 0)?;
    let first = input.number("offset").unwrap_or(1).max(1);
    Some(LineRange { first, last: first.saturating_add(count - 1) })
}

/// Returns the declarations that an editing tool changed. `input` is the tool's input. It contains either the whole
/// content of the file, or one or more replacements.
pub fn names_changed_by_edit(path: &str, input: &JsonFields<'_>, is_new: bool) -> ChangedNames {
    if !may_declare_names(path) {
        return ChangedNames::default();
    }
    let nothing = SourceText::plain("");
    if let Some(content) = source_text(input, &["content"]) {
        return compare_declarations(nothing, content).keep_only_if_file_is_new(is_new);
    }
    let compare = |edit: &JsonFields| {
        let old = source_text(edit, &OLD_TEXT_FIELDS);
        let new = source_text(edit, &NEW_TEXT_FIELDS);
        compare_declarations(old.unwrap_or(nothing), new.unwrap_or(nothing))
    };
    let mut names = compare(input);
    let several = ["edits", "changes"].iter().flat_map(|name| input.objects(name));
    several.for_each(|edit| names.add_later_edit(&compare(&edit)));
    names
}

/// Returns the declarations that changed in a file that was written as a whole. `original` is the file's content before
/// the call. If it is unknown, no names are returned.
pub fn names_changed_by_rewrite(path: &str, input: &JsonFields<'_>, original: Option<&[u8]>) -> ChangedNames {
    match (original, input.string_bytes("content")) {
        (Some(old), Some(new)) if may_declare_names(path) => compare_file_versions(old, new, decode_string),
        _ => ChangedNames::default(),
    }
}

/// The names of the fields that contain the text before and after an edit.
const OLD_TEXT_FIELDS: [&str; 3] = ["old_string", "old_str", "oldString"];
const NEW_TEXT_FIELDS: [&str; 3] = ["new_string", "new_str", "newString"];

/// Returns the text that an edit replaced and its replacement. If the input contains several edits, returns the last
/// one. A file that was written as a whole has none.
pub fn replacement_of_edit<'a>(path: &str, input: &JsonFields<'a>) -> Option<TextReplacement<'a>> {
    let of_fields = |edit: &JsonFields<'a>| {
        let text = |names: &[&str]| names.iter().find_map(|name| edit.string_bytes(name));
        let defer = |bytes| DeferredText::Encoded(bytes, decode_string);
        Some(TextReplacement { old: defer(text(&OLD_TEXT_FIELDS)?), new: defer(text(&NEW_TEXT_FIELDS)?) })
    };
    if may_hold_secrets(path) {
        return None;
    }
    of_fields(input).or_else(|| {
        let several = ["edits", "changes"].iter().flat_map(|name| input.objects(name));
        several.rev().find_map(|edit| of_fields(&edit))
    })
}

/// Returns the first of these fields that is a string.
fn source_text<'a>(fields: &JsonFields<'a>, names: &[&str]) -> Option<SourceText<'a>> {
    names
        .iter()
        .find_map(|name| Some(SourceText::from_json_string(fields.string_bytes(name)?, decode_string)))
}

/// Splits an error that begins with `Exit code 3`, as Claude Code writes it, into the code and the output after it.
pub fn split_leading_exit_code(text: &str) -> Option<(i64, &str)> {
    let rest = text.strip_prefix("Exit code ")?;
    let (code, output) = rest.split_once('\n').unwrap_or((rest, ""));
    Some((code.trim().parse().ok()?, output))
}

/// Reads the code in `[Process exited with code 3]` at the end of a command's output. Droid writes this line.
pub fn exit_code_at_end(text: &str) -> Option<i64> {
    let (_, code) = text.trim_end().strip_suffix(']')?.rsplit_once("[Process exited with code ")?;
    code.parse().ok()
}

/// Returns what a call to one of the todo tools changed.
pub fn todo_change<'a>(
    tool: &str,
    input: &JsonFields<'a>,
    response: impl FnOnce() -> JsonFields<'a>,
) -> Option<TodoChange<'a>> {
    match tool {
        "TodoWrite" => Some(TodoChange::WholeList(read_todo_list(input))),
        "TaskCreate" => {
            let id = response().object("task").text("id")?;
            Some(TodoChange::OneEntry { id, text: input.text("subject"), status: Some(TodoStatus::Pending) })
        }
        "TaskUpdate" => Some(TodoChange::OneEntry {
            id: input.text("taskId")?,
            text: input.text("subject"),
            status: input.text("status").map(|status| TodoStatus::parse(&status)),
        }),
        _ => None,
    }
}

/// Reads a todo list. It is an array of objects or, in Droid, a string with one line like `1. [completed] …` per entry.
fn read_todo_list<'a>(input: &JsonFields<'a>) -> Vec<Todo<'a>> {
    let listed: Vec<Todo> = input
        .objects("todos")
        .iter()
        .filter_map(|todo| {
            let status = TodoStatus::parse(&todo.text("status").unwrap_or_default());
            Some(Todo { text: todo.text("content").or_else(|| todo.text("description"))?, status })
        })
        .collect();
    match (listed.is_empty(), input.text("todos")) {
        (true, Some(text)) => text.lines().filter_map(parse_todo_line).collect(),
        _ => listed,
    }
}

fn parse_todo_line<'a>(line: &str) -> Option<Todo<'a>> {
    let (before, rest) = line.split_once('[')?;
    let (status, text) = rest.split_once(']')?;
    let numbered = before.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ')' | '-' | '*' | ' '));
    let text = text.trim();
    (numbered && !text.is_empty())
        .then(|| Todo { text: Cow::Owned(text.to_owned()), status: TodoStatus::parse(status.trim()) })
}

/// Returns the subject of a call to a tool that acts on the outside world. The subject is the text of the first
/// descriptive field.
pub fn subject_of_external_call<'a>(tool: &str, input: &JsonFields<'a>) -> Option<Cow<'a, str>> {
    let telling =
        ["title", "subject", "name", "summary", "body", "text", "message", "content", "description"];
    let asked = |name: &&str| input.text(name).filter(|text| !text.trim().is_empty());
    effect::tool_acts(tool).then(|| telling.iter().find_map(asked))?
}

/// Returns whether a command's output is needed, that is, whether it may report test results or an effect on the
/// outside world.
pub fn is_command_output_needed(command: &str) -> bool {
    run::may_report_result(command) || effect::may_have_effect(command)
}

/// Returns the questions to the user with their answers, from `{"answers": {"question": "answer"}}`.
pub fn question_answers<'a>(
    tool: &str,
    response: impl FnOnce() -> JsonFields<'a>,
) -> Vec<QuestionAnswer<'a>> {
    if tool != "AskUserQuestion" && tool != "AskUser" {
        return Vec::new();
    }
    let pairs = response().object("answers").text_fields();
    pairs.into_iter().map(|(question, answer)| QuestionAnswer { question, answer }).collect()
}

/// Returns the task and the answer of a sub-agent, for a call that delegates work.
pub fn delegated_work<'a>(
    tool: &str,
    input: &JsonFields<'a>,
    response: impl FnOnce() -> JsonFields<'a>,
) -> Option<DelegatedWork<'a>> {
    if tool != "Task" && tool != "Agent" {
        return None;
    }
    let task = input.text("description")?;
    let parts = response().objects("content");
    let texts: Vec<Cow<str>> = parts.iter().filter_map(|part| part.text("text")).collect();
    // Skip a note to the model that the harness puts before the answer, such as the list of tools that the sub-agent
    // used.
    let answer = texts.iter().find(|text| !is_single_element(text)).or(texts.first()).cloned();
    Some(DelegatedWork { task, answer: answer.unwrap_or_default() })
}

/// Returns whether the text is nothing but one element, such as `<tools-used>Write</tools-used>`.
fn is_single_element(text: &str) -> bool {
    let parts = text.trim().strip_prefix('<').and_then(|text| text.split_once('>'));
    parts.is_some_and(|(name, rest)| !name.is_empty() && rest.ends_with(&format!("</{name}>")))
}

/// Returns the plan that the harness showed to the user. The response is preferred to the input, because it includes
/// the user's changes. If the harness keeps the plan in a file, only the response contains the plan.
pub fn plan_shown_to_user<'a>(
    tool: &str,
    input: &JsonFields<'a>,
    response: impl FnOnce() -> JsonFields<'a>,
) -> Option<Cow<'a, str>> {
    if !matches!(tool, "ExitPlanMode" | "ExitSpecMode") {
        return None;
    }
    let said = |fields: &JsonFields<'a>| fields.text("plan").filter(|plan| !plan.trim().is_empty());
    said(&response()).or_else(|| said(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_todo_change(tool: &str, input: &str, response: &str) -> String {
        let (input, response) =
            (JsonFields::parse(input.as_bytes()).0, JsonFields::parse(response.as_bytes()).0);
        format!("{:?}", todo_change(tool, &input, || response))
    }

    #[test]
    fn todo_lists_in_every_form_are_read() {
        let array =
            r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"},{"x":1}]}"#;
        assert_eq!(
            describe_todo_change("TodoWrite", array, "{}"),
            r#"Some(WholeList([Todo { text: "a", status: Completed }, Todo { text: "b", status: Pending }]))"#
        );
        let text = r#"{"todos":"1. [completed] a\n2. [in_progress] b\nnot one [x\n"}"#;
        assert_eq!(
            describe_todo_change("TodoWrite", text, "{}"),
            r#"Some(WholeList([Todo { text: "a", status: Completed }, Todo { text: "b", status: InProgress }]))"#
        );
        assert_eq!(
            describe_todo_change("TaskCreate", r#"{"subject":"a"}"#, r#"{"task":{"id":"7"}}"#),
            r#"Some(OneEntry { id: "7", text: Some("a"), status: Some(Pending) })"#
        );
        assert_eq!(
            describe_todo_change("TaskUpdate", r#"{"taskId":"7","status":"completed"}"#, "{}"),
            r#"Some(OneEntry { id: "7", text: None, status: Some(Completed) })"#
        );
        assert_eq!(describe_todo_change("TaskCreate", r#"{"subject":"a"}"#, "{}"), "None");
        assert_eq!(describe_todo_change("Bash", "{}", "{}"), "None");
    }

    #[test]
    fn the_lines_that_were_read() {
        for (input, expected) in [
            (r#"{"file_path":"a.go","offset":475,"limit":20}"#, Some((475, 494))),
            (r#"{"file_path":"a.go","limit":20}"#, Some((1, 20))),
            (r#"{"file_path":"a.go","offset":475}"#, None),
            (r#"{"file_path":"a.go","offset":475,"limit":0}"#, None),
        ] {
            let lines = lines_read(&JsonFields::parse(input.as_bytes()).0);
            assert_eq!(lines.map(|lines| (lines.first, lines.last)), expected, "{input}");
        }
    }

    #[test]
    fn the_answer_of_a_sub_agent_is_not_a_note_of_the_harness() {
        let (input, _) = JsonFields::parse(br#"{"description":"review"}"#);
        let answer = |texts: &[&str]| {
            let parts: Vec<_> =
                texts.iter().map(|text| serde_json::json!({"type": "text", "text": text})).collect();
            let response = serde_json::json!({ "content": parts }).to_string();
            delegated_work("Agent", &input, || JsonFields::parse(response.as_bytes()).0)
                .unwrap()
                .answer
                .into_owned()
        };
        let note = "<tools-used-before-summary>Write</tools-used-before-summary>\n";
        assert_eq!(answer(&[note, "Done."]), "Done.");
        assert_eq!(answer(&["<b>Done</b>."]), "<b>Done</b>.");
        assert_eq!(answer(&["<answer>Done.</answer>"]), "<answer>Done.</answer>");
        assert_eq!(answer(&[]), "");
    }

    #[test]
    fn answers_of_the_user() {
        let (response, _) = JsonFields::parse(br#"{"questions":[],"answers":{"Which?":"red","Odd?":7}}"#);
        let found: Vec<_> = question_answers("AskUserQuestion", || response)
            .into_iter()
            .map(|a| (a.question, a.answer))
            .collect();
        assert_eq!(found, [("Which?".into(), "red".into())]);
    }
}
