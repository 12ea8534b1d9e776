//! Reads a call in a transcript. The names of the tool and of an input field determine what the field means. Harnesses
//! that use the same names mean the same thing, so one table is enough.

use model::event::{FileAction, TouchedFile};
use model::transcript::{
    CallSubject, MAX_DECODED_COMMAND_BYTES, MAX_DECODED_NOTE_BYTES, MAX_DECODED_TEXT_BYTES, MAX_NAME_BYTES,
    ToolCall, TranscriptItem, UserQuestion,
};

use super::message::RawCall;
use super::walk::JsonWalk;
use crate::fields::JsonFields;
use crate::tools::{
    files_in_patch, lines_read, names_changed_by_edit, replacement_of_edit, subject_of_external_call,
    todo_change,
};

/// Adds a call to `items`. If the call changes the todo list, the change is added as well.
pub fn push_call<'a>(raw: RawCall<'a>, items: &mut Vec<TranscriptItem<'a>>) {
    let RawCall { id, tool, input } = raw;
    let mut call = ToolCall { id, ..ToolCall::default() };
    let mut change = None;
    match tool.as_ref() {
        "TodoWrite" | "TaskUpdate" => change = todo_change(&tool, &input.fields(), JsonFields::default),
        "AskUserQuestion" => call.subject = CallSubject::Questions(read_questions(&input.fields())),
        _ => {
            read_tool_input(&tool, input.walk(), &mut call);
            if let ("Read", [file]) = (tool.as_ref(), call.files.as_mut_slice()) {
                file.lines = lines_read(&input.fields());
            }
            if let (true, [file]) = (is_edit_tool(&tool), call.files.as_mut_slice()) {
                // Only the result shows whether the file is new. Until the result is read, the file is treated as new.
                let fields = input.fields();
                file.changed_names = names_changed_by_edit(&file.path, &fields, true);
                call.replacement = replacement_of_edit(&file.path, &fields);
            }
        }
    }
    if tool.starts_with("mcp__") {
        call.input_text = subject_of_external_call(&tool, &input.fields());
    }
    call.tool = tool;
    items.push(TranscriptItem::Call(call));
    items.extend(change.map(TranscriptItem::Todos));
}

/// Returns whether the tool's input contains the changed text and the path of one file.
fn is_edit_tool(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "Write" | "Create")
}

fn read_tool_input<'a>(tool: &str, mut walk: JsonWalk<'a>, call: &mut ToolCall<'a>) {
    let (mut kind, mut what) = (None, None);
    if !walk.enter_object() {
        return;
    }
    while let Some(key) = walk.next_key() {
        match (tool, key) {
            ("Read" | "Edit" | "MultiEdit" | "Write" | "Create", b"file_path")
            | ("NotebookEdit", b"notebook_path") => {
                let action = match tool {
                    "Read" => FileAction::Read,
                    "Create" => FileAction::Create,
                    // A Write counts as an edit for now. Only its result shows whether it created the file.
                    _ => FileAction::Edit,
                };
                call.files.extend(
                    walk.take_text(MAX_DECODED_NOTE_BYTES).map(|path| TouchedFile::new(path, action)),
                );
                // The next field is the file's content, which is not needed.
                break;
            }
            ("ApplyPatch", b"input" | b"patch") => {
                call.files = files_in_patch(&walk.take_text(MAX_DECODED_TEXT_BYTES).unwrap_or_default());
            }
            (_, b"command") => call.command = walk.take_text(MAX_DECODED_COMMAND_BYTES),
            ("Task" | "Agent", b"description") => what = walk.take_text(MAX_DECODED_NOTE_BYTES),
            ("Task" | "Agent", b"subagent_type") => kind = walk.take_text(MAX_NAME_BYTES),
            ("ExitPlanMode" | "ExitSpecMode", b"plan") => {
                call.subject = CallSubject::Plan(walk.take_text(MAX_DECODED_TEXT_BYTES).unwrap_or_default());
            }
            ("AskUser", b"questionnaire") => {
                call.subject = CallSubject::Questions(parse_questionnaire(
                    &walk.take_text(MAX_DECODED_TEXT_BYTES).unwrap_or_default(),
                ));
            }
            _ => walk.skip_value(),
        }
    }
    if let Some(what) = what {
        call.subject = CallSubject::Delegated { kind, task: what };
    }
}

fn read_questions<'a>(input: &JsonFields<'a>) -> Vec<UserQuestion<'a>> {
    let question = |fields: &JsonFields<'a>| UserQuestion {
        text: fields.text("question").unwrap_or_default(),
        options: fields.objects("options").iter().filter_map(|option| option.text("label")).collect(),
    };
    input.objects("questions").iter().map(question).collect()
}

/// Reads questions in the form `1. [question] …`, each followed by `[option] …` lines.
fn parse_questionnaire(text: &str) -> Vec<UserQuestion<'static>> {
    let mut questions: Vec<UserQuestion> = Vec::new();
    for line in text.lines() {
        if let Some((_, question)) = line.split_once("[question]") {
            questions.push(UserQuestion { text: question.trim().to_owned().into(), options: Vec::new() });
        } else if let (Some((_, option)), Some(question)) =
            (line.split_once("[option]"), questions.last_mut())
        {
            question.options.push(option.trim().to_owned().into());
        }
    }
    questions
}
