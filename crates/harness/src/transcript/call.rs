//! Reads a call in a transcript. What a field of its input means depends on the names of the tool and of the field. If
//! two harnesses use the same names, they mean the same thing, so one table is enough.

use model::event::{Action, Touched};
use model::transcript::{About, COMMAND_BYTES, Call, Item, NAME_BYTES, NOTE_BYTES, Question, TEXT_BYTES};

use super::message::RawCall;
use super::walk::Walk;
use crate::fields::Fields;
use crate::tools::{asked, patched, todos};

/// Adds a call to `items`, and what it changes in the todo list.
pub fn call<'a>(raw: RawCall<'a>, items: &mut Vec<Item<'a>>) {
    let RawCall { id, tool, input } = raw;
    let mut call = Call { id, ..Call::default() };
    let mut change = None;
    match tool.as_ref() {
        "TodoWrite" | "TaskUpdate" => change = todos(&tool, &input.fields(), Fields::default),
        "AskUserQuestion" => call.about = About::Questions(questions(&input.fields())),
        _ => read_input(&tool, input.walk(), &mut call),
    }
    if tool.starts_with("mcp__") {
        call.asked = asked(&tool, &input.fields());
    }
    call.tool = tool;
    items.push(Item::Call(call));
    items.extend(change.map(Item::Todos));
}

fn read_input<'a>(tool: &str, mut walk: Walk<'a>, call: &mut Call<'a>) {
    let (mut kind, mut what) = (None, None);
    if !walk.object() {
        return;
    }
    while let Some(key) = walk.key() {
        match (tool, key) {
            ("Read" | "Edit" | "MultiEdit" | "Write" | "Create", b"file_path")
            | ("NotebookEdit", b"notebook_path") => {
                let action = match tool {
                    "Read" => Action::Read,
                    "Create" => Action::Create,
                    // Only the result shows whether a Write created the file.
                    _ => Action::Edit,
                };
                call.files.extend(walk.text(NOTE_BYTES).map(|path| Touched { path, action }));
                // The file's content follows and is not needed.
                break;
            }
            ("ApplyPatch", b"input" | b"patch") => {
                call.files = patched(&walk.text(TEXT_BYTES).unwrap_or_default());
            }
            (_, b"command") => call.command = walk.text(COMMAND_BYTES),
            ("Task" | "Agent", b"description") => what = walk.text(NOTE_BYTES),
            ("Task" | "Agent", b"subagent_type") => kind = walk.text(NAME_BYTES),
            ("ExitPlanMode" | "ExitSpecMode", b"plan") => {
                call.about = About::Plan(walk.text(TEXT_BYTES).unwrap_or_default());
            }
            ("AskUser", b"questionnaire") => {
                call.about = About::Questions(questionnaire(&walk.text(TEXT_BYTES).unwrap_or_default()));
            }
            _ => walk.skip(),
        }
    }
    if let Some(what) = what {
        call.about = About::Delegated { kind, what };
    }
}

fn questions<'a>(input: &Fields<'a>) -> Vec<Question<'a>> {
    let question = |fields: &Fields<'a>| Question {
        text: fields.text("question").unwrap_or_default(),
        options: fields.objects("options").iter().filter_map(|option| option.text("label")).collect(),
    };
    input.objects("questions").iter().map(question).collect()
}

/// Reads questions in the form `1. [question] …`, each followed by `[option] …` lines.
fn questionnaire(text: &str) -> Vec<Question<'static>> {
    let mut questions: Vec<Question> = Vec::new();
    for line in text.lines() {
        if let Some((_, question)) = line.split_once("[question]") {
            questions.push(Question { text: question.trim().to_owned().into(), options: Vec::new() });
        } else if let (Some((_, option)), Some(question)) =
            (line.split_once("[option]"), questions.last_mut())
        {
            question.options.push(option.trim().to_owned().into());
        }
    }
    questions
}
