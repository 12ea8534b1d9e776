//! The lines of a session's journal: their fields, how they are cut and redacted, and how they are parsed.

use std::borrow::Cow;
use std::ops::Range;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::checkout_path::{self, CheckoutPath};
use crate::declared::ChangedNames;
use crate::edit_text::ChangedLine;
use crate::effect::{self, Effect};
use crate::event::{
    Event, EventKind, EventName, EventSubagent, FileAction, LineRange, StartSource, StopEvent, TodoChange,
    TodoStatus, ToolDone,
};
use crate::failure::error_lines;
use crate::redact::{self, Redacted};
use crate::run::{self, PartVerdict, RunResult, TestCounts};
use crate::shell;
use crate::time;

/// The event name for an agent's message between two prompts. This event comes from the transcript, never from a hook.
pub const AGENT_MESSAGE_EVENT: &str = "said";

/// The event name for a run of a loop's validator. This event comes from `thru` itself, never from a hook.
pub const VALIDATOR_RUN_EVENT: &str = "validator";

/// The name of the event that records what the newest edits changed. This event comes from the transcript, never from a
/// hook.
pub const EDIT_TEXTS_EVENT: &str = "edits";

/// The tool name for a call whose text is a plan that the user approved.
pub const APPROVED_PLAN_TOOL: &str = "plan";

/// The maximum length of each field, in bytes. A line must be small enough for a single write, and the transcript
/// contains the full text.
const MAX_PROMPT_BYTES: usize = 64 * 1024;
const MAX_SUMMARY_BYTES: usize = 32 * 1024;
const MAX_COMMAND_BYTES: usize = 8 * 1024;
const MAX_MESSAGE_BYTES: usize = 4 * 1024;
/// In real sessions, approved plans are up to 18 KB long. The digest uses the same limit, so that the whole plan can be
/// imported.
pub(crate) const MAX_APPROVED_PLAN_BYTES: usize = 32 * 1024;
const MAX_PATH_BYTES: usize = 4 * 1024;
const MAX_SHORT_TEXT_BYTES: usize = 512;
/// How many bytes at the start of an output are searched for the command of a package script.
const MAX_SCRIPT_HEAD_BYTES: usize = 2 * 1024;
/// How many bytes at the end of an output are searched for error lines.
const MAX_ERROR_TAIL_BYTES_SEARCHED: usize = 16 * 1024;
/// How many bytes at the end of a validator's output are searched for error lines. The limit is higher for validators,
/// because a hook that runs a validator has more time, and a whole test suite prints more.
pub const MAX_VALIDATOR_OUTPUT_BYTES_SEARCHED: usize = 128 * 1024;
const MAX_NAME_BYTES: usize = 256;

/// How many bytes of an output are searched for effects.
const MAX_OUTPUT_BYTES_SEARCHED: usize = 16 * 1024;

const MAX_TODOS_RECORDED: usize = 100;

/// The checkout and the settings that determine how records are made.
#[derive(Clone, Copy, Debug)]
pub struct RecordPolicy<'a> {
    pub harness: &'a str,
    /// The top folder of the checkout in which the event occurred: the root or one of its git worktrees.
    pub checkout: &'a str,
    pub redact_options: redact::RedactOptions,
    pub now: Timestamp,
}

/// One line of a journal. Empty strings are not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalRecord<'a> {
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
    /// `transcript` if no hook reported the event and it was found in the transcript later, otherwise empty.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub from: Cow<'a, str>,
    /// The working directory relative to the checkout, or empty if it is the checkout itself.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub cwd: Cow<'a, str>,
    /// The current branch, if known.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub branch: Cow<'a, str>,
    /// The commit at HEAD, if it was read.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub head: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<RecordedAgent>,
    /// The source, trigger or reason of the event.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub name: Cow<'a, str>,
    /// The session that this one continues.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    #[serde(rename = "previous")]
    pub previous_session: Cow<'a, str>,
    /// A prompt, a summary, or the agent's last message.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub text: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub id: Cow<'a, str>,
    /// The id of the call that followed this message from the agent. It shows where the message belongs, because calls
    /// are recorded before messages.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub next_call: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub tool: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<RecordedFile>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub command: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub error: Cow<'a, str>,
    /// The result of a command (see [`crate::run`]): `passed`, `failed`, empty if unknown, or `ran` if the exit code
    /// reports success but the output casts doubt on it.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub ended: Cow<'a, str>,
    /// Whether a failed command never ran (see [`JournalRecord::is_refused`]). It is set only if there is no exit code,
    /// because an exit code would prove that the command ran. Older records lack this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
    /// The index of the failed check in a command line with several checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// How the checks in the command line ended (`passed` or `ran`), if a command after them failed.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub checks_ended: Cow<'a, str>,
    /// The command of the package script that failed, if the script's runner printed it.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub script: Cow<'a, str>,
    /// How each check in a command line with several checks ended. Older records lack this field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<RecordedCheckOutcome>,
    /// The line that sums up the check's output.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub result: Cow<'a, str>,
    /// The number of passed and failed tests.
    #[serde(skip_serializing_if = "TestCounts::is_none")]
    pub counts: TestCounts,
    /// The result that older versions wrote instead of `ended`.
    #[serde(skip_serializing)]
    pub passed: Option<bool>,
    /// The call's effects on the outside world, such as commits, pushes and comments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effect: Vec<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todos: Option<Vec<RecordedTodo>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<RecordedAnswer>,
    /// A changed line from each edit, in records of the event [`EDIT_TEXTS_EVENT`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<RecordedEditText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// A sub-agent's task. The sub-agent's answer is in `text`. If the sub-agent works in the background, the record of
    /// its stop has the answer in `text` and the task in `name`.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub asked: Cow<'a, str>,
    /// The file that a sub-agent had to write.
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub output: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "str::is_empty")]
    pub verdict: Cow<'a, str>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedAgent {
    pub id: String,
    #[serde(rename = "type", default)]
    pub kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFile {
    pub path: String,
    pub action: FileAction,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// Whether the file was only found in the text of a shell command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guess: bool,
    /// The declarations that the call changed in the file.
    #[serde(default, skip_serializing_if = "ChangedNames::is_empty")]
    pub names: ChangedNames,
    /// The lines that the call read, if it read only a part of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
}

impl RecordedFile {
    pub fn new(path: String, action: FileAction) -> RecordedFile {
        RecordedFile {
            path,
            action,
            outside: false,
            guess: false,
            names: ChangedNames::default(),
            lines: None,
        }
    }
}

/// The result of one of the checks in a command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedCheckOutcome {
    /// Either `passed` or `failed`. If the check ran but its result is unknown, this is `ran`. If the check may
    /// not have run, this is empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ended: String,
    /// The exit code of the command line, if this check determined it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    /// The line of the output that shows this result.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub result: String,
}

/// A todo entry. If it has an id, it changes the entry with that id. Entries without ids form the complete list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedTodo {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TodoStatus>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    pub question: String,
    pub answer: String,
}

/// What one edit changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedEditText {
    /// The id of the call that made the edit.
    pub call: String,
    #[serde(flatten)]
    pub line: ChangedLine,
}

/// Converts an event to a record, which is redacted and cut to the field limits.
pub fn record_of_event<'a>(event: &'a Event<'_>, policy: &RecordPolicy<'a>) -> JournalRecord<'a> {
    let mut record = JournalRecord {
        v: 1,
        ts: time::to_rfc3339(policy.now).into(),
        harness: policy.harness.into(),
        event: event.kind.name().into(),
        session: Cow::Borrowed(&event.session),
        worktree: policy.checkout.into(),
        cwd: event.cwd.as_deref().map_or(Cow::Borrowed(""), |cwd| cwd_below_checkout(cwd, policy)),
        id: policy.redact_and_cut_optional(event.harness_event_id.as_deref(), MAX_NAME_BYTES),
        previous_session: event
            .previous_session
            .as_deref()
            .map_or(Cow::Borrowed(""), |id| policy.redact_and_cut(id, MAX_NAME_BYTES)),
        agent: event.subagent.as_ref().map(|EventSubagent { id, agent_type: kind }| RecordedAgent {
            id: policy.redact_and_cut(id, MAX_NAME_BYTES).into_owned(),
            kind: policy.redact_and_cut(kind, MAX_NAME_BYTES).into_owned(),
        }),
        ..JournalRecord::default()
    };
    match &event.kind {
        EventKind::Prompt { text } => record.text = policy.redact_and_cut(text, MAX_PROMPT_BYTES),
        EventKind::Summary { text } => record.text = policy.redact_and_cut(text, MAX_SUMMARY_BYTES),
        EventKind::ToolDone(done) => set_tool_fields(&mut record, done, event.cwd.as_deref(), policy),
        EventKind::SessionStart { source } => record.name = source.name().into(),
        EventKind::BeforeCompact { trigger, instructions } => {
            record.name = policy.redact_and_cut_optional(trigger.as_deref(), MAX_NAME_BYTES);
            record.text = policy.redact_and_cut_optional(instructions.as_deref(), MAX_MESSAGE_BYTES);
        }
        EventKind::AfterCompact { trigger: name } | EventKind::SessionEnd { reason: name } => {
            record.name = policy.redact_and_cut_optional(name.as_deref(), MAX_NAME_BYTES);
        }
        EventKind::Other { name } => record.name = policy.redact_and_cut(name, MAX_NAME_BYTES),
        EventKind::SubagentStop { message, task } => {
            record.name = policy.redact_and_cut_optional(task.as_deref(), MAX_NAME_BYTES);
            record.text = policy.redact_and_cut_optional(message.as_deref(), MAX_MESSAGE_BYTES);
        }
        EventKind::Stop(StopEvent { message, .. }) => {
            record.text = policy.redact_and_cut_optional(message.as_deref(), MAX_MESSAGE_BYTES);
        }
        EventKind::SubagentStart => {}
    }
    record
}

/// A run of a loop's validator.
#[derive(Clone, Copy, Debug)]
pub struct ValidatorRun<'a> {
    pub command: &'a str,
    /// The exit code, or `None` if the command was killed or could not be started.
    pub exit_code: Option<i64>,
    pub output: &'a str,
    pub ms: u64,
}

/// Returns the journal line for a validator's run. Only the exit code decides whether the run passed.
pub fn validator_run_line(session: &str, run: &ValidatorRun, policy: &RecordPolicy) -> Vec<u8> {
    let failed = run.exit_code != Some(0);
    let done = ToolDone {
        command: Some(run.command.into()),
        output: Some(run.output.into()),
        error: failed.then(|| run.output.into()),
        exit_code: run.exit_code,
        failed,
        ..ToolDone::default()
    };
    let mut record = JournalRecord {
        v: 1,
        ts: time::to_rfc3339(policy.now).into(),
        harness: policy.harness.into(),
        event: VALIDATOR_RUN_EVENT.into(),
        session: session.into(),
        worktree: policy.checkout.into(),
        ok: Some(!failed),
        exit: run.exit_code,
        // Nobody can refuse a validator.
        refused: run.exit_code.is_none().then_some(false),
        ms: Some(run.ms),
        command: policy.redact_and_cut(run.command, MAX_COMMAND_BYTES),
        ..JournalRecord::default()
    };
    set_result_fields(&mut record, &done, policy);
    record.ended = if failed { RunResult::Failed } else { RunResult::Passed }.name().into();
    record.error = match failed {
        true => Cow::Owned(error_lines(&Redacted::redact_tail(
            run.output,
            MAX_VALIDATOR_OUTPUT_BYTES_SEARCHED,
            policy.redact_options,
        ))),
        false => Cow::Borrowed(""),
    };
    record.to_json_line()
}

impl<'a> JournalRecord<'a> {
    /// Parses a journal line. Returns `None` if the line is torn or is not a record.
    pub fn parse_line(line: &'a [u8]) -> Option<JournalRecord<'a>> {
        serde_json::from_slice(line).ok().filter(|record: &JournalRecord| !record.event.is_empty())
    }

    /// Returns the name of the event, or `None` for [`AGENT_MESSAGE_EVENT`], [`VALIDATOR_RUN_EVENT`],
    /// [`EDIT_TEXTS_EVENT`] and events from newer versions.
    pub fn event_name(&self) -> Option<EventName> {
        EventName::parse(&self.event)
    }

    /// Returns whether the harness, a hook or the user refused the call, so that it never ran. This is decided once,
    /// from the whole output, when the call is recorded. In older records, only the error lines can be examined, and
    /// these may lack the refusal, or contain its words although the command ran.
    pub fn is_refused(&self) -> bool {
        let judge_error = || run::is_refused_call(self.exit, &self.error);
        self.ok == Some(false) && self.refused.unwrap_or_else(judge_error)
    }

    /// Returns whether the call failed. For `npm test | tail`, the harness reports success, and only the output of the
    /// tests shows the failure.
    pub fn has_failed(&self) -> bool {
        self.ok == Some(false) || self.ended == RunResult::Failed.name()
    }

    /// Returns whether the agent lost its earlier context at this record. If the harness reports no summary, the
    /// session start after a compaction is the only sign.
    pub fn is_compaction(&self) -> bool {
        match self.event_name() {
            Some(EventName::Summary) => true,
            Some(EventName::SessionStart) => self.name == StartSource::Compact.name(),
            _ => false,
        }
    }

    /// Returns one line of JSON without a trailing newline.
    pub fn to_json_line(&self) -> Vec<u8> {
        // This cannot fail, because a record contains only strings, numbers and lists.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn set_tool_fields<'a>(
    record: &mut JournalRecord<'a>,
    done: &'a ToolDone<'_>,
    cwd: Option<&str>,
    policy: &RecordPolicy<'a>,
) {
    record.tool = policy.redact_and_cut(&done.tool, MAX_NAME_BYTES);
    record.id = policy.redact_and_cut_optional(done.call_id.as_deref(), MAX_NAME_BYTES);
    record.ok = Some(!done.failed);
    record.exit = done.exit_code;
    record.ms = done.duration_ms;
    record.command = policy.redact_and_cut_optional(done.command.as_deref(), MAX_COMMAND_BYTES);
    if let Some(error) = &done.error {
        record.error =
            Cow::Owned(error_lines(&Redacted::redact_head(error, MAX_PROMPT_BYTES, policy.redact_options)));
    }
    if !record.command.is_empty() {
        record.refused = (done.failed && done.exit_code.is_none())
            .then(|| run::is_refused_call(done.exit_code, text_of_result(done)));
        if !record.is_refused() {
            set_result_fields(record, done, policy);
        }
    }
    record.effect = effects_of_call(done, &record.command, policy);
    record.files = files_of_call(done, &record.command, cwd, policy);
    if let Some(delegated) = &done.delegated_work {
        record.asked = policy.redact_and_cut(&delegated.task, MAX_SHORT_TEXT_BYTES);
        record.text = policy.redact_and_cut(&delegated.answer, MAX_MESSAGE_BYTES);
    }
    if let Some(plan) = done.proposed_plan.as_deref().filter(|_| !done.failed) {
        record.name = APPROVED_PLAN_TOOL.into();
        record.text = policy.redact_and_cut(plan, MAX_APPROVED_PLAN_BYTES);
    }
    record.todos = done.todo_change.as_ref().map(|change| todo_fields(change, policy));
    record.answers = done
        .answers
        .iter()
        .map(|answer| RecordedAnswer {
            question: policy.redact_and_cut(&answer.question, MAX_SHORT_TEXT_BYTES).into_owned(),
            answer: policy.redact_and_cut(&answer.answer, MAX_SHORT_TEXT_BYTES).into_owned(),
        })
        .collect();
}

/// Returns the output of a call, or else its error.
fn text_of_result<'a>(done: &'a ToolDone<'_>) -> &'a str {
    done.output.as_deref().or(done.error.as_deref()).unwrap_or("?")
}

/// Sets the fields for a command's result, based on its exit code and output.
fn set_result_fields<'a>(record: &mut JournalRecord<'a>, done: &'a ToolDone<'_>, policy: &RecordPolicy<'a>) {
    let output = text_of_result(done);
    let verdict = run::decide_result(&record.command, done.exit_code, done.failed, output);
    record.ended = match verdict.result {
        RunResult::Unknown if done.exit_code == Some(0) && verdict.is_doubtful => "ran".into(),
        RunResult::Unknown => "".into(),
        ended => ended.name().into(),
    };
    record.step = verdict.failed_check_index;
    record.checks_ended = verdict.checks_result.map_or("", RunResult::name).into();
    record.counts = verdict.counts;
    let redact_line = |line: Range<usize>| {
        let end = line.end.min(line.start + MAX_SHORT_TEXT_BYTES);
        Redacted::redact_result_line(output, line.start..end, policy.redact_options).into_text()
    };
    if let Some(line) = verdict.deciding_line {
        record.result = redact_line(line);
    }
    if verdict.result == RunResult::Failed && run::may_run_package_script(&record.command) {
        let head = Redacted::redact_head(output, MAX_SCRIPT_HEAD_BYTES, policy.redact_options);
        let script = run::printed_script(&head).unwrap_or_default();
        record.script = crate::text::cut_to_bytes(script, MAX_SHORT_TEXT_BYTES).to_owned().into();
    }
    let part = |part: PartVerdict| RecordedCheckOutcome {
        ended: part.result.map_or("", RunResult::name).to_owned(),
        exit: done.exit_code.filter(|_| part.owns_exit_code),
        result: part.deciding_line.map(|line| redact_line(line).into_owned()).unwrap_or_default(),
    };
    record.parts = verdict.parts.into_iter().map(part).collect();
    // A pipe hid the failure, so the error message is in the output.
    if verdict.result == RunResult::Failed && !done.failed {
        record.error = Cow::Owned(error_lines(&Redacted::redact_tail(
            output,
            MAX_ERROR_TAIL_BYTES_SEARCHED,
            policy.redact_options,
        )));
    }
}

/// Returns the effects of a call. Adapters supply the output only for calls that may have effects.
fn effects_of_call(done: &ToolDone<'_>, command: &str, policy: &RecordPolicy) -> Vec<Effect> {
    let Some(output) = done.output.as_deref() else { return Vec::new() };
    if !(effect::may_have_effect(command) || effect::tool_acts(&done.tool)) {
        return Vec::new();
    }
    let said = match output.len() > MAX_OUTPUT_BYTES_SEARCHED {
        // A line with several commands may report effects at both ends of its output, so search both ends.
        true => {
            let head = Redacted::redact_head(output, MAX_OUTPUT_BYTES_SEARCHED / 2, policy.redact_options);
            let tail = Redacted::redact_tail(output, MAX_OUTPUT_BYTES_SEARCHED / 2, policy.redact_options);
            Cow::Owned(format!("{}\n{}", &*head, &*tail))
        }
        false => Redacted::redact_whole(output, policy.redact_options).into_text(),
    };
    let asked = policy.redact_and_cut_optional(done.input_text.as_deref(), MAX_SHORT_TEXT_BYTES);
    effect::effects_of_call(&effect::CompletedCall {
        tool: &done.tool,
        command,
        tool_input: &asked,
        output: &said,
        succeeded: !done.failed,
    })
}

/// Returns the files named in the tool's input and in the text of its command.
fn files_of_call(
    done: &ToolDone<'_>,
    command: &str,
    cwd: Option<&str>,
    policy: &RecordPolicy,
) -> Vec<RecordedFile> {
    let field = |path: &str, action, guess| {
        // The path is redacted before it is parsed, because it may be a URL such as `https://user:secret@host`.
        let path = policy.redact_and_cut(path, MAX_PATH_BYTES);
        let CheckoutPath { path, is_outside } = checkout_path::path_within_checkout(policy.checkout, &path);
        RecordedFile { outside: is_outside, guess, ..RecordedFile::new(path.into_owned(), action) }
    };
    let mut files: Vec<RecordedFile> = done
        .files
        .iter()
        .map(|file| RecordedFile {
            names: redact_names(&file.changed_names, policy),
            lines: file.lines,
            ..field(&file.path, file.action, false)
        })
        .collect();
    // The redacted command is searched, so that a secret after a flag is not recorded as a file.
    for mention in
        shell::paths_in_command(command).into_iter().filter(|mention| !mention.path.contains("REDACTED"))
    {
        // The path is relative to the command's folder, which may be below the top of the checkout.
        let path = match cwd {
            Some(cwd) if !mention.path.starts_with('/') => format!("{cwd}/{}", mention.path),
            _ => mention.path,
        };
        files.push(field(&path, mention.action, true));
    }
    files
}

/// Leaves out names that look like secrets. All names are examined together first, because that is cheaper.
fn redact_names(names: &ChangedNames, policy: &RecordPolicy) -> ChangedNames {
    if names.is_empty() {
        return ChangedNames::default();
    }
    let is_unchanged = |text: &str| *policy.redact_and_cut(text, MAX_SHORT_TEXT_BYTES) == *text;
    let all = [names.added.as_slice(), &names.changed, &names.removed].concat().join(" ");
    match is_unchanged(&all) {
        true => names.clone(),
        false => names.filter_map(|name| is_unchanged(name).then(|| name.to_owned())),
    }
}

fn todo_fields(change: &TodoChange, policy: &RecordPolicy) -> Vec<RecordedTodo> {
    let text = |text: &str| policy.redact_and_cut(text, MAX_SHORT_TEXT_BYTES).into_owned();
    match change {
        TodoChange::WholeList(todos) => todos
            .iter()
            .take(MAX_TODOS_RECORDED)
            .map(|todo| RecordedTodo { id: String::new(), text: text(&todo.text), status: Some(todo.status) })
            .collect(),
        TodoChange::OneEntry { id, text: words, status } => vec![RecordedTodo {
            id: policy.redact_and_cut(id, MAX_NAME_BYTES).into_owned(),
            text: words.as_deref().map(text).unwrap_or_default(),
            status: *status,
        }],
    }
}

/// Returns the working directory relative to the checkout, or an empty string for the top of the checkout.
fn cwd_below_checkout<'a>(cwd: &str, policy: &RecordPolicy) -> Cow<'a, str> {
    match checkout_path::path_within_checkout(policy.checkout, &policy.redact_and_cut(cwd, MAX_PATH_BYTES))
        .path
        .as_ref()
    {
        "." => Cow::Borrowed(""),
        path => Cow::Owned(path.to_owned()),
    }
}

impl RecordPolicy<'_> {
    /// Redacts `text` and then cuts it. Only the part that can end up in the result is examined.
    pub fn redact_and_cut<'t>(&self, text: &'t str, limit: usize) -> Cow<'t, str> {
        let kept = Redacted::redact_range(text, 0..text.len().min(limit), self.redact_options).into_text();
        if text.len() <= limit && kept.len() <= limit {
            return kept;
        }
        let kept = crate::text::cut_to_bytes(&kept, limit);
        Cow::Owned(format!("{kept}… [cut: {} of {} bytes]", kept.len(), text.len()))
    }

    fn redact_and_cut_optional<'t>(&self, text: Option<&'t str>, limit: usize) -> Cow<'t, str> {
        text.map_or(Cow::Borrowed(""), |text| self.redact_and_cut(text, limit))
    }
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
