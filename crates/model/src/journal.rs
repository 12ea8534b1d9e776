//! Lines of a session's journal: their fields, how they are shortened and redacted, and how they are read back.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::effect::{self, Effect};
use crate::event::{Action, Agent, Event, EventName, Kind, Source, Stop, TodoChange, TodoStatus, ToolDone};
use crate::failure::error_lines;
use crate::place::{self, CheckoutPath};
use crate::redact::{self, Redacted};
use crate::run::{self, Counts, Ended};
use crate::shell;
use crate::time;

/// The event name of what the agent said between two prompts. It comes from the transcript; no hook reports it.
pub const SAID: &str = "said";

/// The tool name of a call whose text is a plan that the user approved.
pub const PLAN: &str = "plan";

/// The longest text of each field, in bytes. A line must stay one small write, and the transcript has the rest.
const PROMPT_BYTES: usize = 64 * 1024;
const SUMMARY_BYTES: usize = 32 * 1024;
const COMMAND_BYTES: usize = 8 * 1024;
const MESSAGE_BYTES: usize = 4 * 1024;
/// In real sessions, approved plans were up to 18 KB long. The digest has the same limit, so that the whole plan can be
/// imported.
pub(crate) const PLAN_BYTES: usize = 32 * 1024;
const PATH_BYTES: usize = 4 * 1024;
const ENTRY_BYTES: usize = 512;
/// How many bytes of the end of an output are searched for error lines.
const ERROR_BYTES: usize = 16 * 1024;
const NAME_BYTES: usize = 256;

/// How many bytes of a command's output are searched for effects.
const OUTPUT_BYTES: usize = 16 * 1024;

/// The most entries of a todo list that are recorded.
const MOST_TODOS: usize = 100;

/// Where an event is recorded, and under which settings.
#[derive(Clone, Copy, Debug)]
pub struct RecordPolicy<'a> {
    pub harness: &'a str,
    /// The top folder of the checkout the event came from: the root, or one of its git worktrees.
    pub checkout: &'a str,
    pub redact: redact::Options,
    pub now: Timestamp,
}

/// One line of a journal. Empty texts are not written, and are read back as empty texts.
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
    /// `transcript` if no hook reported the event and it was found in the transcript later.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub from: Cow<'a, str>,
    /// The working directory relative to the checkout, if it is not the checkout itself.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub cwd: Cow<'a, str>,
    /// The branch that is checked out, if known.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub branch: Cow<'a, str>,
    /// The commit that is checked out, if it was read.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub head: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentField>,
    /// The source, the trigger or the reason for an event, if it has one.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub name: Cow<'a, str>,
    /// The session that this one continues.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub previous: Cow<'a, str>,
    /// A prompt, a summary, or the agent's last words.
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
    /// How a command ended, `passed` or `failed` ([`crate::run`]); empty if unknown, `ran` if the exit code may be that
    /// of another command.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub ended: Cow<'a, str>,
    /// Which check failed, if a command line has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The line of the output with the check's summary.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub result: Cow<'a, str>,
    /// How many tests a test run counted.
    #[serde(skip_serializing_if = "Counts::is_none")]
    pub counts: Counts,
    /// What older versions wrote instead of `ended`.
    #[serde(skip_serializing)]
    pub passed: Option<bool>,
    /// What the call did to the outside world: commits, pushes, comments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effect: Vec<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<TodoField>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// What a sub-agent was asked; its answer is in `text`.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub asked: Cow<'a, str>,
    /// The file that a sub-agent had to write.
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
    /// True if the file is only named in the text of a shell command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guess: bool,
}

/// An entry of the todo list. With an id it is one change, without one it is part of the whole list.
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

/// Converts the event to a record, redacted and shortened.
pub fn record<'a>(event: &'a Event<'_>, policy: &RecordPolicy<'a>) -> Record<'a> {
    let mut record = Record {
        v: 1,
        ts: time::rfc3339(policy.now).into(),
        harness: policy.harness.into(),
        event: event.kind.name().into(),
        session: Cow::Borrowed(&event.session),
        worktree: policy.checkout.into(),
        cwd: event.cwd.as_deref().map_or(Cow::Borrowed(""), |cwd| folder_below(cwd, policy)),
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
        Kind::SubagentStop { message, asked } => {
            record.name = policy.clean_some(asked.as_deref(), NAME_BYTES);
            record.text = policy.clean_some(message.as_deref(), MESSAGE_BYTES);
        }
        Kind::Stop(Stop { message, .. }) => {
            record.text = policy.clean_some(message.as_deref(), MESSAGE_BYTES);
        }
        Kind::SubagentStart => {}
    }
    record
}

impl<'a> Record<'a> {
    /// Parses a line of a journal. `None` for a torn line or one that is not our record.
    pub fn read(line: &'a [u8]) -> Option<Record<'a>> {
        serde_json::from_slice(line).ok().filter(|record: &Record| !record.event.is_empty())
    }

    /// Returns `None` for a record that is not one of our events: [`SAID`], or an event of a newer version.
    pub fn event_name(&self) -> Option<EventName> {
        EventName::parse(&self.event)
    }

    /// Returns whether the agent lost its earlier context here. A compaction without a reported summary is known by the
    /// session start that follows it.
    pub fn is_compaction(&self) -> bool {
        match self.event_name() {
            Some(EventName::Summary) => true,
            Some(EventName::SessionStart) => self.name == Source::Compact.name(),
            _ => false,
        }
    }

    /// Returns one line of JSON, without its line end.
    pub fn line(&self) -> Vec<u8> {
        // These are strings, numbers and lists of them, so serialising cannot fail.
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
    if !record.command.is_empty() {
        fill_ended(record, done, policy);
    }
    record.effect = effects(done, &record.command, policy);
    record.files = files(done, &record.command, cwd, policy);
    if let Some(delegated) = &done.delegated {
        record.asked = policy.clean(&delegated.asked, ENTRY_BYTES);
        record.text = policy.clean(&delegated.answer, MESSAGE_BYTES);
    }
    if let Some(plan) = done.plan.as_deref().filter(|_| !done.failed) {
        record.name = PLAN.into();
        record.text = policy.clean(plan, PLAN_BYTES);
    }
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

/// Sets how a command ended, from its exit code or its output.
fn fill_ended<'a>(record: &mut Record<'a>, done: &'a ToolDone<'_>, policy: &RecordPolicy<'a>) {
    let output = done.output.as_deref().or(done.error.as_deref()).unwrap_or("?");
    let verdict = run::ended(&record.command, done.exit, done.failed, output);
    record.ended = match verdict.ended {
        Ended::Unknown if done.exit == Some(0) && verdict.doubt => "ran".into(),
        Ended::Unknown => "".into(),
        ended => ended.name().into(),
    };
    record.step = verdict.step;
    record.counts = verdict.counts;
    if let Some(line) = verdict.line {
        let end = line.end.min(line.start + ENTRY_BYTES);
        record.result = Redacted::part(output, line.start..end, policy.redact).into_text();
    }
    // A pipe hid the failure, so the error is in the output.
    if verdict.ended == Ended::Failed && !done.failed {
        record.error = Cow::Owned(error_lines(&Redacted::tail(output, ERROR_BYTES, policy.redact)));
    }
}

/// Returns the effects of a call. Harnesses pass on the output only of calls that may have effects.
fn effects(done: &ToolDone<'_>, command: &str, policy: &RecordPolicy) -> Vec<Effect> {
    let Some(output) = done.output.as_deref() else { return Vec::new() };
    if !(effect::may_act(command) || effect::tool_acts(&done.tool)) {
        return Vec::new();
    }
    let said = match output.len() > OUTPUT_BYTES {
        // The effects of a line with several commands may be reported at both ends of the output.
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

/// Returns the files of the tool's input, and those that the text of a command names.
fn files(done: &ToolDone<'_>, command: &str, cwd: Option<&str>, policy: &RecordPolicy) -> Vec<FileField> {
    let field = |path: &str, action, guess| {
        // Redact before parsing: `https://user:secret@host` is not a path, but somebody may pass it as one.
        let path = policy.clean(path, PATH_BYTES);
        let CheckoutPath { path, outside } = place::within(policy.checkout, &path);
        FileField { path: path.into_owned(), action, outside, guess }
    };
    let mut files: Vec<FileField> =
        done.files.iter().map(|file| field(&file.path, file.action, false)).collect();
    // The redacted command is used, so that a secret after a flag is not recorded as a file.
    for mention in shell::mentions(command).into_iter().filter(|mention| !mention.path.contains("REDACTED")) {
        // The path is relative to the folder of the command, which need not be the top of the checkout.
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

/// Returns the working directory below the checkout; empty if it is the top of the checkout.
fn folder_below<'a>(cwd: &str, policy: &RecordPolicy) -> Cow<'a, str> {
    match place::within(policy.checkout, &policy.clean(cwd, PATH_BYTES)).path.as_ref() {
        "." => Cow::Borrowed(""),
        path => Cow::Owned(path.to_owned()),
    }
}

impl RecordPolicy<'_> {
    /// Redacts a text, then cuts it. Examines only as much text as can end up in the line.
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
