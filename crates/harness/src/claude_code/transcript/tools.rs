//! The results of Claude Code's tools, with the details from the field `toolUseResult`.

use std::borrow::Cow;

use model::event::{FileAction, TodoChange, TodoStatus, TouchedFile};
use model::transcript::{CallResult, MAX_NAME_BYTES, MAX_NOTE_BYTES, TranscriptItem};

use super::words;
use crate::tools::exit_code_at_start;
use crate::transcript::message::RawResult;
use crate::transcript::walk::{JsonWalk, decode_string};

type Text<'a> = Cow<'a, str>;

/// The field `toolUseResult`. It repeats the result for the harness's own screen, with some extra details.
#[derive(Debug, Default)]
pub struct ToolReport<'a> {
    /// Whether the command finished. If so, its exit code is zero, unless the result contains another code.
    is_finished: bool,
    /// True if the result is the content of a file, or says that a file was changed or found. Its text is not needed.
    is_file_result: bool,
    files: Vec<TouchedFile<'a>>,
    todo: Option<TodoChange<'a>>,
    answers: Vec<(Text<'a>, Text<'a>)>,
}

impl<'a> ToolReport<'a> {
    /// Reads the first fields and stops at the first field that is not needed, because the rest can be megabytes long.
    pub fn read_first_fields(walk: &mut JsonWalk<'a>) -> ToolReport<'a> {
        let mut report = ToolReport::default();
        let mut made = None;
        if !walk.enter_object() {
            return report;
        }
        while let Some(key) = walk.next_key() {
            match key {
                b"stdout" => {
                    walk.skip_value();
                    report.is_finished = true;
                }
                b"stderr" | b"isImage" | b"noOutputExpected" | b"questions" => walk.skip_value(),
                b"interrupted" => report.is_finished &= !walk.take_raw().is_true(),
                // An interpretation such as "No matches found" means that the exit code is not zero. The exact code is
                // unknown.
                b"returnCodeInterpretation" | b"backgroundTaskId" => {
                    walk.skip_value();
                    report.is_finished = false;
                }
                b"type" => {
                    made = match walk.take_text(MAX_NAME_BYTES).as_deref() {
                        Some("create") => Some(FileAction::Create),
                        Some("update") => Some(FileAction::Edit),
                        Some("text") => None,
                        _ => break,
                    }
                }
                b"file" | b"filenames" | b"mode" => {
                    report.is_file_result = true;
                    break;
                }
                b"filePath" => {
                    report.is_file_result = true;
                    let path = walk.take_text(MAX_NOTE_BYTES);
                    report.files.extend(path.zip(made).map(|(path, action)| TouchedFile { path, action }));
                    break;
                }
                b"task" => {
                    report.todo = new_todo_entry(walk);
                    break;
                }
                b"answers" => {
                    report.answers = question_answers(walk);
                    break;
                }
                _ => break,
            }
        }
        report
    }
}

/// Converts a result to the neutral form, with the details from the report. A line has one report, which the caller
/// passes with the first result only.
pub fn push_result<'a>(raw: &RawResult<'a>, report: ToolReport<'a>, items: &mut Vec<TranscriptItem<'a>>) {
    let mut result = match report.is_file_result && !raw.failed {
        true => raw.to_result_without_text(),
        false => raw.to_call_result(),
    };
    result.files = report.files;
    if result.failed {
        mark_failed(&mut result, items);
    } else if report.is_finished {
        result.exit_code = Some(0);
    }
    let call = result.call_id.clone();
    items.push(TranscriptItem::Result(result));
    items.extend(report.todo.map(TranscriptItem::Todos));
    items.extend(report.answers.into_iter().map(|(question, text)| TranscriptItem::Answer {
        call_id: call.clone(),
        question: Some(question),
        text,
    }));
}

fn mark_failed<'a>(result: &mut CallResult<'a>, items: &mut Vec<TranscriptItem<'a>>) {
    if let Some(said) = words::refusal_reason(&result.text) {
        result.refused = true;
        if let Some(said) = said {
            let text = said.to_owned().into();
            items.push(TranscriptItem::Answer { call_id: result.call_id.clone(), question: None, text });
        }
        return;
    }
    let inner = result.text.strip_prefix("<tool_use_error>");
    if let Some(inner) = inner.map(|inner| inner.strip_suffix("</tool_use_error>").unwrap_or(inner)) {
        result.text = inner.to_owned().into();
    }
    if let Some((code, output)) = exit_code_at_start(&result.text) {
        result.exit_code = Some(code);
        result.text = output.to_owned().into();
    }
}

/// Returns the new todo entry from the result, because the call does not contain the entry's id.
fn new_todo_entry<'a>(walk: &mut JsonWalk<'a>) -> Option<TodoChange<'a>> {
    let task = walk.take_raw().fields();
    Some(TodoChange::OneEntry {
        id: task.text("id")?,
        text: task.text("subject"),
        status: Some(TodoStatus::Pending),
    })
}

/// Returns each question with the user's answer.
fn question_answers<'a>(walk: &mut JsonWalk<'a>) -> Vec<(Text<'a>, Text<'a>)> {
    let mut answers = Vec::new();
    if walk.enter_object() {
        while let Some(key) = walk.next_key() {
            let question = decode_string(key);
            answers.extend(walk.take_text(MAX_NOTE_BYTES).map(|answer| (question, answer)));
        }
    }
    answers
}
