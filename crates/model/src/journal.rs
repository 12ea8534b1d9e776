//! Lines of a session's journal: what they hold, how they are cut to size and cleaned, and how they are read back.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::checks;
use crate::effect::{self, Effect};
use crate::event::{Action, Agent, Event, EventName, Kind, Source, Stop, TodoChange, TodoStatus, ToolDone};
use crate::failure::error_lines;
use crate::place::{self, CheckoutPath};
use crate::redact::{self, Redacted};
use crate::shell;
use crate::time;

/// What the agent said between two prompts, as the transcript has it. A record of the journal that no hook tells.
pub const SAID: &str = "said";

/// Longest texts kept, in bytes. A line must stay one small write; the transcript has the rest.
const PROMPT_BYTES: usize = 64 * 1024;
const SUMMARY_BYTES: usize = 32 * 1024;
const COMMAND_BYTES: usize = 8 * 1024;
const MESSAGE_BYTES: usize = 4 * 1024;
const PATH_BYTES: usize = 4 * 1024;
const ENTRY_BYTES: usize = 512;
const NAME_BYTES: usize = 256;

/// How much of what a command printed is looked through for what it did outside.
const OUTPUT_BYTES: usize = 16 * 1024;

/// Most entries of a list of things to do that are written down.
const MOST_TODOS: usize = 100;

/// Where and under what settings an event is written down.
#[derive(Clone, Copy, Debug)]
pub struct RecordPolicy<'a> {
    pub harness: &'a str,
    /// Top folder of the checkout the event came from: the root, or one of its git worktrees.
    pub checkout: &'a str,
    pub redact: redact::Options,
    pub now: Timestamp,
}

/// One line. Empty texts are not written, and read back as empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record<'a> {
    pub v: u8,
    #[serde(borrow)]
    pub ts: Cow<'a, str>,
    #[serde(borrow)]
    pub harness: Cow<'a, str>,
    #[serde(borrow)]
    pub event: Cow<'a, str>,
    #[serde(borrow)]
    pub session: Cow<'a, str>,
    #[serde(borrow)]
    pub worktree: Cow<'a, str>,
    /// `transcript` when no hook told of it and it was found there afterwards.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub from: Cow<'a, str>,
    /// The working directory below the checkout, when it is not the checkout itself.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub cwd: Cow<'a, str>,
    /// The branch that is checked out, where it is known.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub branch: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentField>,
    /// Source, trigger, reason: the small word that goes with some events.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub name: Cow<'a, str>,
    /// The session this one goes on from.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub previous: Cow<'a, str>,
    /// A prompt, a summary, the last thing an agent said.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub text: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub id: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub tool: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileField>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub command: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub error: Cow<'a, str>,
    /// Of a test run: the line in which it summed up, and whether it passed by that line. A pipe hides the exit code.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub result: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// What the call did to the world outside: commits, pushes, comments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effect: Vec<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<TodoField>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// The file that a sub-agent had to leave, and how it stood when the sub-agent was done.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub output: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub verdict: Cow<'a, str>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentField {
    pub id: String,
    #[serde(rename = "type", default)]
    pub kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileField {
    pub path: String,
    pub action: Action,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// True when only the text of a shell command names it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guess: bool,
}

/// An entry of the list of things to do. With an id it is one change, without one it is part of the whole list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TodoField {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TodoStatus>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerField {
    pub question: String,
    pub answer: String,
}

/// The event as a record, redacted and cut.
pub fn record<'a>(event: &'a Event<'_>, policy: &RecordPolicy<'a>) -> Record<'a> {
    let mut record = Record {
        v: 1,
        ts: time::rfc3339(policy.now).into(),
        harness: policy.harness.into(),
        event: event.kind.name().into(),
        session: Cow::Borrowed(&event.session),
        worktree: policy.checkout.into(),
        cwd: event.cwd.as_deref().map_or(Cow::Borrowed(""), |cwd| below(cwd, policy)),
        id: policy.clean_some(event.id.as_deref(), NAME_BYTES),
        previous: event.previous.as_deref().map_or(Cow::Borrowed(""), |id| policy.clean(id, NAME_BYTES)),
        agent: event.agent.as_ref().map(|Agent { id, kind }| AgentField {
            id: policy.clean(id, NAME_BYTES).into_owned(),
            kind: policy.clean(kind, NAME_BYTES).into_owned(),
        }),
        ..Record::default()
    };
    match &event.kind {
        Kind::Prompt { text } => record.text = policy.clean(text, PROMPT_BYTES),
        Kind::Summary { text } => record.text = policy.clean(text, SUMMARY_BYTES),
        Kind::ToolDone(done) => fill_tool(&mut record, done, event.cwd.as_deref(), policy),
        Kind::SessionStart { source } => record.name = source.name().into(),
        Kind::BeforeCompact { trigger, instructions } => {
            record.name = policy.clean_some(trigger.as_deref(), NAME_BYTES);
            record.text = policy.clean_some(instructions.as_deref(), MESSAGE_BYTES);
        }
        Kind::AfterCompact { trigger: name } | Kind::SessionEnd { reason: name } => {
            record.name = policy.clean_some(name.as_deref(), NAME_BYTES);
        }
        Kind::Other { name } => record.name = policy.clean(name, NAME_BYTES),
        Kind::SubagentStop { message } | Kind::Stop(Stop { message, .. }) => {
            record.text = policy.clean_some(message.as_deref(), MESSAGE_BYTES);
        }
        Kind::SubagentStart => {}
    }
    record
}

impl<'a> Record<'a> {
    /// A line of a journal. None for one that is torn, or that is no record of ours.
    pub fn read(line: &'a [u8]) -> Option<Record<'a>> {
        serde_json::from_slice(line).ok().filter(|record: &Record| !record.event.is_empty())
    }

    /// None for a record that is no event of ours: [`SAID`], or one of a newer version.
    pub fn event_name(&self) -> Option<EventName> {
        EventName::parse(&self.event)
    }

    /// What the agent knew before this is gone. Where no summary is told, a compaction shows in the start that follows it.
    pub fn is_compaction(&self) -> bool {
        match self.event_name() {
            Some(EventName::Summary) => true,
            Some(EventName::SessionStart) => self.name == Source::Compact.name(),
            _ => false,
        }
    }

    /// As one line of JSON, without its line end.
    pub fn line(&self) -> Vec<u8> {
        // Strings, numbers and lists of them: serialising them cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn fill_tool<'a>(
    record: &mut Record<'a>,
    done: &'a ToolDone<'_>,
    cwd: Option<&str>,
    policy: &RecordPolicy<'a>,
) {
    record.tool = policy.clean(&done.tool, NAME_BYTES);
    record.id = policy.clean_some(done.id.as_deref(), NAME_BYTES);
    record.ok = Some(!done.failed);
    record.exit = done.exit;
    record.ms = done.ms;
    record.command = policy.clean_some(done.command.as_deref(), COMMAND_BYTES);
    if let Some(error) = &done.error {
        record.error = Cow::Owned(error_lines(&Redacted::head(error, PROMPT_BYTES, policy.redact)));
    }
    if let Some(output) = done.output.as_deref()
        && let Some(ending) = checks::ending(output)
        && checks::sort(&record.command) == Some(checks::Sort::Test)
    {
        let end = ending.line.end.min(ending.line.start + ENTRY_BYTES);
        record.result = Redacted::part(output, ending.line.start..end, policy.redact).into_text();
        record.passed = Some(!ending.failed);
    }
    record.effect = effects(done, &record.command, policy);
    record.files = files(done, &record.command, cwd, policy);
    record.todos = done.todos.as_ref().map(|change| todos(change, policy));
    record.answers = done
        .answers
        .iter()
        .map(|answer| AnswerField {
            question: policy.clean(&answer.question, ENTRY_BYTES).into_owned(),
            answer: policy.clean(&answer.answer, ENTRY_BYTES).into_owned(),
        })
        .collect();
}

/// What a call did outside. Harnesses give the output of those calls only that may have done something.
fn effects(done: &ToolDone<'_>, command: &str, policy: &RecordPolicy) -> Vec<Effect> {
    let Some(output) = done.output.as_deref() else { return Vec::new() };
    if !(effect::may_act(command) || effect::tool_acts(&done.tool)) {
        return Vec::new();
    }
    let said = match output.len() > OUTPUT_BYTES {
        // What a line of several commands did last is said at the end.
        true => {
            let head = Redacted::head(output, OUTPUT_BYTES / 2, policy.redact);
            let tail = Redacted::tail(output, OUTPUT_BYTES / 2, policy.redact);
            Cow::Owned(format!("{}\n{}", &*head, &*tail))
        }
        false => Redacted::whole(output, policy.redact).into_text(),
    };
    let asked = policy.clean_some(done.asked.as_deref(), ENTRY_BYTES);
    effect::of(&effect::Made { tool: &done.tool, command, asked: &asked, output: &said, ok: !done.failed })
}

/// What the tool was given as files, and what the text of a command names.
fn files(done: &ToolDone<'_>, command: &str, cwd: Option<&str>, policy: &RecordPolicy) -> Vec<FileField> {
    let field = |path: &str, action, guess| {
        // Redacted before it is taken apart: `https://user:secret@host` is no path, but somebody passed it as one.
        let path = policy.clean(path, PATH_BYTES);
        let CheckoutPath { path, outside } = place::within(policy.checkout, &path);
        FileField { path: path.into_owned(), action, outside, guess }
    };
    let mut files: Vec<FileField> =
        done.files.iter().map(|file| field(&file.path, file.action, false)).collect();
    // Of the redacted command: what a flag made a secret is not told as a file.
    for mention in shell::mentions(command).into_iter().filter(|mention| !mention.path.contains("REDACTED")) {
        // Relative to where the command ran, which need not be the top of the checkout.
        let path = match cwd {
            Some(cwd) if !mention.path.starts_with('/') => format!("{cwd}/{}", mention.path),
            _ => mention.path,
        };
        files.push(field(&path, mention.action, true));
    }
    files
}

fn todos(change: &TodoChange, policy: &RecordPolicy) -> Vec<TodoField> {
    let text = |text: &str| policy.clean(text, ENTRY_BYTES).into_owned();
    match change {
        TodoChange::All(todos) => todos
            .iter()
            .take(MOST_TODOS)
            .map(|todo| TodoField { id: String::new(), text: text(&todo.text), status: Some(todo.status) })
            .collect(),
        TodoChange::One { id, text: words, status } => vec![TodoField {
            id: policy.clean(id, NAME_BYTES).into_owned(),
            text: words.as_deref().map(text).unwrap_or_default(),
            status: *status,
        }],
    }
}

/// The working directory, empty when it is simply the top of the checkout.
fn below<'a>(cwd: &str, policy: &RecordPolicy) -> Cow<'a, str> {
    match place::within(policy.checkout, &policy.clean(cwd, PATH_BYTES)).path.as_ref() {
        "." => Cow::Borrowed(""),
        path => Cow::Owned(path.to_owned()),
    }
}

impl RecordPolicy<'_> {
    /// Redacted, then cut. Only as much is looked at as can end up in the line.
    pub fn clean<'t>(&self, text: &'t str, limit: usize) -> Cow<'t, str> {
        let kept = Redacted::part(text, 0..text.len().min(limit), self.redact).into_text();
        if text.len() <= limit && kept.len() <= limit {
            return kept;
        }
        let kept = crate::text::cut(&kept, limit);
        Cow::Owned(format!("{kept}… [cut: {} of {} bytes]", kept.len(), text.len()))
    }

    fn clean_some<'t>(&self, text: Option<&'t str>, limit: usize) -> Cow<'t, str> {
        text.map_or(Cow::Borrowed(""), |text| self.clean(text, limit))
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
