//! The results of Claude Code's tools, with what the field `toolUseResult` adds to each of them.

use std::borrow::Cow;

use model::event::{Action, TodoChange, TodoStatus, Touched};
use model::transcript::{CallResult, Item, NAME_BYTES, NOTE_BYTES};

use super::words;
use crate::tools::exit_code_before;
use crate::transcript::message::RawResult;
use crate::transcript::walk::{Walk, unquote};

type Text<'a> = Cow<'a, str>;

/// The field `toolUseResult`: the same result again, for the harness's own screen, with some details stated more
/// clearly.
#[derive(Debug, Default)]
pub struct ToolReport<'a> {
    /// True if the command ran to its end. Its exit code is then zero, unless the result contains another one.
    ended: bool,
    files: Vec<Touched<'a>>,
    todo: Option<TodoChange<'a>>,
    answers: Vec<(Text<'a>, Text<'a>)>,
}

impl<'a> ToolReport<'a> {
    /// Reads the first few fields and stops at the first useless one, because the rest can be megabytes long.
    pub fn read(walk: &mut Walk<'a>) -> ToolReport<'a> {
        let mut report = ToolReport::default();
        let mut made = None;
        if !walk.object() {
            return report;
        }
        while let Some(key) = walk.key() {
            match key {
                b"stdout" => {
                    walk.skip();
                    report.ended = true;
                }
                b"stderr" | b"isImage" | b"noOutputExpected" | b"questions" => walk.skip(),
                b"interrupted" => report.ended &= !walk.raw().is_true(),
                // "No matches found" means that the exit code is not zero, but does not say which code it is.
                b"returnCodeInterpretation" | b"backgroundTaskId" => {
                    walk.skip();
                    report.ended = false;
                }
                b"type" => {
                    made = match walk.text(NAME_BYTES).as_deref() {
                        Some("create") => Some(Action::Create),
                        Some("update") => Some(Action::Edit),
                        _ => break,
                    }
                }
                b"filePath" => {
                    let path = walk.text(NOTE_BYTES);
                    report.files.extend(path.zip(made).map(|(path, action)| Touched { path, action }));
                    break;
                }
                b"task" => {
                    report.todo = task(walk);
                    break;
                }
                b"answers" => {
                    report.answers = answers(walk);
                    break;
                }
                _ => break,
            }
        }
        report
    }
}

/// Converts a result to the neutral form, with what the report adds. A line has one report; the caller passes it with
/// the first result only.
pub fn result<'a>(raw: &RawResult<'a>, report: ToolReport<'a>, items: &mut Vec<Item<'a>>) {
    let mut result = raw.read();
    result.files = report.files;
    if result.failed {
        fail(&mut result, items);
    } else if report.ended {
        result.exit = Some(0);
    }
    let call = result.call.clone();
    items.push(Item::Result(result));
    items.extend(report.todo.map(Item::Todos));
    items.extend(report.answers.into_iter().map(|(question, text)| Item::Answer {
        call: call.clone(),
        question: Some(question),
        text,
    }));
}

fn fail<'a>(result: &mut CallResult<'a>, items: &mut Vec<Item<'a>>) {
    if let Some(said) = words::refusal(&result.text) {
        result.refused = true;
        if let Some(said) = said {
            let text = said.to_owned().into();
            items.push(Item::Answer { call: result.call.clone(), question: None, text });
        }
        return;
    }
    let inner = result.text.strip_prefix("<tool_use_error>");
    if let Some(inner) = inner.map(|inner| inner.strip_suffix("</tool_use_error>").unwrap_or(inner)) {
        result.text = inner.to_owned().into();
    }
    if let Some((code, output)) = exit_code_before(&result.text) {
        result.exit = Some(code);
        result.text = output.to_owned().into();
    }
}

/// Returns the new todo entry from the result, because the call did not contain its number yet.
fn task<'a>(walk: &mut Walk<'a>) -> Option<TodoChange<'a>> {
    let task = walk.raw().fields();
    Some(TodoChange::One {
        id: task.text("id")?,
        text: task.text("subject"),
        status: Some(TodoStatus::Pending),
    })
}

/// Returns each question with the user's answer.
fn answers<'a>(walk: &mut Walk<'a>) -> Vec<(Text<'a>, Text<'a>)> {
    let mut answers = Vec::new();
    if walk.object() {
        while let Some(key) = walk.key() {
            let question = unquote(key);
            answers.extend(walk.text(NOTE_BYTES).map(|answer| (question, answer)));
        }
    }
    answers
}
