//! The results of Claude Code's tools, with the details from the field `toolUseResult`.

use std::borrow::Cow;

use memchr::memmem;
use model::declared::declared_name;
use model::event::{FileAction, TodoChange, TodoStatus, TouchedFile};
use model::transcript::{CallResult, DeferredText, MAX_DECODED_NOTE_BYTES, MAX_NAME_BYTES, TranscriptItem};

use super::words;
use crate::tools::split_leading_exit_code;
use crate::transcript::message::UndecodedToolResult;
use crate::transcript::walk::{JsonWalk, decode_string};

type Text<'a> = Cow<'a, str>;

/// The field `toolUseResult`. It repeats the result for the harness's own screen, with some extra details.
#[derive(Debug, Default)]
pub struct ToolReport<'a> {
    /// Whether the command finished. If so, its exit code is zero, unless the result contains another code.
    is_finished: bool,
    /// True if the result is the content of a file, or if it reports that a file was changed or found. The text of
    /// such a result is not needed.
    is_file_result: bool,
    files: Vec<TouchedFile<'a>>,
    /// The declaration that contains the beginning of an edit.
    enclosing: Option<String>,
    todo: Option<TodoChange<'a>>,
    answers: Vec<(Text<'a>, Text<'a>)>,
}

impl<'a> ToolReport<'a> {
    /// Reads fields up to the first one that is not needed, because the remaining fields can be megabytes long.
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
                    let path = walk.take_text(MAX_DECODED_NOTE_BYTES);
                    if made.is_none() {
                        report.enclosing = declaration_around_edit(walk.clone());
                    }
                    report.files.extend(path.zip(made).map(|(path, action)| TouchedFile::new(path, action)));
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

/// How many lines before an edit are searched for the declaration that contains it.
const MAX_LINES_BEFORE_EDIT: usize = 600;

/// Finds, in the result of the tool `Edit`, the declaration that contains the beginning of the edit. The result
/// contains the whole file as it was before the edit. The file may be large, so it is searched without decoding. `walk`
/// is inside the result, before its field `oldString`.
pub fn declaration_around_edit(mut walk: JsonWalk<'_>) -> Option<String> {
    let mut old: &[u8] = &[];
    while let Some(key) = walk.next_key() {
        match key {
            b"oldString" => old = walk.take_raw().string_bytes()?,
            b"originalFile" => break,
            _ => walk.skip_value(),
        }
    }
    let file = walk.unread_bytes().strip_prefix(b"\"").filter(|_| !old.is_empty())?;
    let at = memmem::find(file, old)?;
    let start = line_break_before(&file[..at]).map_or(0, |end| end + LINE_BREAK.len());
    let mut first = &file[start..];
    while let Some(rest) = first.strip_prefix(LINE_BREAK) {
        first = rest;
    }
    let (indentation, _) = split_indentation(first);
    let mut before = file[..start].strip_suffix(LINE_BREAK).filter(|_| indentation > 0)?;
    for _ in 0..MAX_LINES_BEFORE_EDIT {
        let end = line_break_before(before);
        let line = &before[end.map_or(0, |end| end + LINE_BREAK.len())..];
        let (width, text) = split_indentation(line);
        if width < indentation && text.first().is_some_and(u8::is_ascii_alphabetic) {
            let line = decode_string(line);
            if let Some(name) = declared_name(&line) {
                return Some(name.to_owned());
            }
        }
        before = &before[..end?];
    }
    None
}

/// A line break in an undecoded JSON string.
const LINE_BREAK: &[u8] = b"\\n";

fn line_break_before(text: &[u8]) -> Option<usize> {
    // If a backslash precedes `\n`, the text is an escaped backslash followed by the letter n, not a line break.
    memmem::rfind_iter(text, LINE_BREAK).find(|at| *at == 0 || text[at - 1] != b'\\')
}

/// Returns the width of an undecoded line's indentation, and the text after it.
fn split_indentation(mut line: &[u8]) -> (usize, &[u8]) {
    let mut width = 0;
    loop {
        if let Some(rest) = line.strip_prefix(b"\\t") {
            (width, line) = (width + 4, rest);
        } else if let Some(rest) = line.strip_prefix(b" ") {
            (width, line) = (width + 1, rest);
        } else {
            return (width, line);
        }
    }
}

/// Converts a result to the form that all harnesses share, with the details from the report. A line has only one
/// report, so the caller passes the report with the line's first result.
pub fn push_converted_tool_result<'a>(
    raw: &UndecodedToolResult<'a>,
    report: ToolReport<'a>,
    items: &mut Vec<TranscriptItem<'a>>,
) {
    let mut result = match report.is_file_result && !raw.failed {
        true => raw.to_result_without_text(),
        false => raw.to_call_result(),
    };
    result.files = report.files;
    result.enclosing_declaration = report.enclosing;
    if result.failed {
        mark_failed(&mut result, items);
    } else if report.is_finished {
        result.exit_code = Some(0);
    }
    let call = result.call_id.clone();
    items.push(TranscriptItem::Result(result));
    items.extend(report.todo.map(TranscriptItem::Todos));
    items.extend(report.answers.into_iter().map(|(question, text)| TranscriptItem::AnswerToQuestion {
        call_id: call.clone(),
        question: Some(question),
        text,
    }));
}

fn mark_failed<'a>(result: &mut CallResult<'a>, items: &mut Vec<TranscriptItem<'a>>) {
    let text = result.text.read();
    if let Some(said) = words::refusal_reason(&text) {
        if let Some(said) = said {
            let text = said.to_owned().into();
            items.push(TranscriptItem::AnswerToQuestion {
                call_id: result.call_id.clone(),
                question: None,
                text,
            });
        }
        result.is_refused_by_user = true;
        return;
    }
    let inner = text.strip_prefix("<tool_use_error>");
    let output = inner.map_or(&*text, |inner| inner.strip_suffix("</tool_use_error>").unwrap_or(inner));
    let (code, output) =
        split_leading_exit_code(output).map_or((None, output), |(code, rest)| (Some(code), rest));
    let changed = (output.len() < text.len()).then(|| output.to_owned());
    result.exit_code = code.or(result.exit_code);
    if let Some(output) = changed {
        result.text = DeferredText::Decoded(output.into());
    }
}

/// Returns the new todo entry. It is read from the result, because the call does not contain the entry's id.
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
            answers.extend(walk.take_text(MAX_DECODED_NOTE_BYTES).map(|answer| (question, answer)));
        }
    }
    answers
}
