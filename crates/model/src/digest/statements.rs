//! The agent's findings, decisions and results in its own words, and its calls after its last message.

use serde::{Deserialize, Serialize};

use super::repeated::hash_call_id;
use super::{Digest, Prompt, keep_last};
use crate::event::{FileAction, LineRange, TodoStatus};
use crate::journal::{JournalRecord, RecordedTodo};
use crate::prompt::{self, PromptKind};
use crate::run::{self, RunResult};
use crate::statement;
use crate::text::{cut_to_bytes, mark_missing_text, shorten_to_bytes};
use crate::time;

const MAX_STATEMENTS: usize = 60;
/// How many of the newest statements are kept at full length. Older ones are shortened.
const FULL_LENGTH_STATEMENTS: usize = 12;
const MAX_STATEMENT_BYTES: usize = 1_600;
const MAX_OLD_STATEMENT_BYTES: usize = 360;
const MAX_KEPT_FINDING_BYTES: usize = 800;
const MAX_QUESTION_BYTES: usize = 400;
const MAX_CALL_STEPS_IN_DIGEST: usize = 32;
const MAX_STEP_BYTES: usize = 160;

/// A statement by the agent that may be useful later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentStatement {
    pub record: u64,
    /// The condensed text, on one line and without markup.
    pub text: String,
    /// Whether the statement ended a turn. If so, it is a summary, an answer or a proposal. Other statements were made
    /// between two calls.
    #[serde(rename = "closing")]
    pub ended_turn: bool,
    /// The question or offer at the end of the statement, or empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "asks")]
    pub closing_question: String,
    /// Whether the statement retracts an earlier statement.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retracts: bool,
}

impl AgentStatement {
    /// Returns whether the question at the end can be understood without the text before it. "OK?" cannot.
    pub fn has_clear_question(&self) -> bool {
        const MIN_CLEAR_QUESTION_CHARS: usize = 24;
        self.closing_question.chars().count() >= MIN_CLEAR_QUESTION_CHARS
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallStep {
    pub record: u64,
    pub at: String,
    #[serde(rename = "did")]
    pub action: ToolCallAction,
    /// The path or the command.
    #[serde(rename = "what")]
    pub path_or_command: String,
    /// The lines that the call read, if it read only a part of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether the call is a check that passed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub passed: bool,
    /// Whether a hook reported the call when it happened. The agent's messages are read from the transcript later, so
    /// a message may have to be placed before the call (see `record_after_which_message_belongs`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "live")]
    pub is_reported_by_hook: bool,
    /// The hash of the call's id, or zero if the id is unknown. The record of a message contains the id of the
    /// next call.
    #[serde(skip_serializing_if = "has_no_call_id")]
    #[serde(rename = "call")]
    pub call_hash: u64,
}

fn has_no_call_id(call_hash: &u64) -> bool {
    *call_hash == 0
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolCallAction {
    #[default]
    Ran,
    Edited,
    Read,
    /// A tool call whose input contains neither a file nor a command.
    Called,
}

/// A prompt or a slash command, and the closing message that answers it, if any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestWithOutcome<'d> {
    pub prompt: &'d Prompt,
    pub outcome: Option<&'d AgentStatement>,
}

impl Digest {
    pub(super) fn add_statement(&mut self, record: &JournalRecord, closing: bool) {
        if record.text.is_empty() || self.is_about_records(record) {
            return;
        }
        if !record.from.is_empty() && !record.ts.is_empty() && *record.ts <= *self.stopped_at {
            self.add_earlier_statement(record);
            return;
        }
        self.last_message_record = self.record_after_which_message_belongs(record);
        self.last_message = record.text.to_string();
        self.open_call = self.hash_of_call_id_if_open(&record.next_call);
        self.add_announced_change(record);
        // If this statement is a mere announcement, `drop_uninformative_statement` drops it when the next statement
        // follows.
        let condensed = match statement::keeps_content_when_condensed(&record.text) {
            false if closing => record.text.trim().to_owned(),
            false => String::new(),
            true => condense_and_mark(&record.text),
        };
        let text = first_sentences_within(&condensed, MAX_STATEMENT_BYTES);
        // The stop hook and the transcript both report this message, so look for an earlier copy.
        let known = self.statements.iter().rposition(|known| known.text == text);
        let closing = closing || known.is_some_and(|place| self.statements[place].ended_turn);
        if let Some(place) = known.filter(|place| place + 8 >= self.statements.len()) {
            self.statements.remove(place);
        }
        if text.is_empty() {
            return;
        }
        self.drop_uninformative_statement();
        let asks =
            shorten_to_bytes(&statement::question_at_end(&record.text), MAX_QUESTION_BYTES).into_owned();
        let retracts = statement::retracts_statement(&record.text);
        self.statements.push(AgentStatement {
            record: self.last_message_record,
            text,
            ended_turn: closing,
            closing_question: asks,
            retracts,
        });
        if let Some(older) = self.statements.len().checked_sub(FULL_LENGTH_STATEMENTS + 1) {
            let text = &mut self.statements[older].text;
            *text = first_sentences_within(text, MAX_OLD_STATEMENT_BYTES);
        }
        if self.statements.len() > MAX_STATEMENTS {
            let oldest = self.statements.iter().position(|said| !said.ended_turn).unwrap_or(0);
            self.statements.remove(oldest);
        }
    }

    /// Adds a message from the transcript after a stop hook has reported the turn's last message. The transcript
    /// repeats that message and also contains earlier ones.
    fn add_earlier_statement(&mut self, record: &JournalRecord) {
        let text = first_sentences_within(&condense_and_mark(&record.text), MAX_STATEMENT_BYTES);
        let is_known = self.last_message == *record.text
            || self.statements.iter().any(|known| known.text == text || known.text == record.text.trim());
        let text = shorten_to_finding(&text);
        if is_known || text.is_empty() {
            return;
        }
        let record_before =
            self.record_after_which_message_belongs(record).min(self.last_message_record.saturating_sub(1));
        let place = self.statements.partition_point(|known| known.record <= record_before);
        let retracts = statement::retracts_statement(&record.text);
        let said = AgentStatement {
            record: record_before,
            text,
            ended_turn: false,
            closing_question: String::new(),
            retracts,
        };
        self.statements.insert(place, said);
        if self.statements.len() > MAX_STATEMENTS {
            self.statements.remove(0);
        }
    }

    /// Drops the last statement if it was made between two calls and is not informative. This is done only when
    /// another statement follows.
    fn drop_uninformative_statement(&mut self) {
        let Some(last) = self.statements.last_mut().filter(|last| !last.ended_turn) else { return };
        last.text = shorten_to_finding(&last.text);
        if last.text.is_empty() {
            self.statements.pop();
        }
    }

    /// Marks the last statement as the end of its turn. Called when a prompt arrives while the agent is not working.
    pub(super) fn mark_turn_closed(&mut self) {
        if let Some(last) = self.statements.last_mut() {
            last.ended_turn = true;
        }
    }

    pub(super) fn add_step(&mut self, record: &JournalRecord) {
        // The call was still running when the transcript ended (see `Digest::unfinished_call_texts`).
        if record.ok.is_none() && !record.from.is_empty() {
            return;
        }
        let given = record.files.iter().find(|file| !file.guess);
        let (did, what) = match (given, record.command.is_empty()) {
            (_, false) => (ToolCallAction::Ran, record.command.as_ref()),
            (Some(file), true) if matches!(file.action, FileAction::Read | FileAction::Mention) => {
                (ToolCallAction::Read, file.path.as_str())
            }
            (Some(file), true) => (ToolCallAction::Edited, file.path.as_str()),
            (None, true) if record.todos.is_none() && record.asked.is_empty() => {
                (ToolCallAction::Called, record.tool.as_ref())
            }
            (None, true) => return,
        };
        let ended = super::failures::result_of_record(record);
        // A failed call may appear only in the transcript. It is placed before the calls that hooks reported in the
        // same second or later, because those are most likely the next attempt.
        let told_late = !record.from.is_empty() && !record.ts.is_empty();
        let asked = self.prompts.last().map_or(0, |prompt| prompt.record);
        let later = |step: &CallStep| {
            step.is_reported_by_hook && step.record > asked && step.at.as_str() >= &*record.ts
        };
        let place = self.steps.iter().position(later).filter(|_| told_late).unwrap_or(self.steps.len());
        let step = CallStep {
            record: self.steps.get(place).map_or(self.record_count, |next| next.record),
            at: record.ts.to_string(),
            action: did,
            path_or_command: cut_to_bytes(what, MAX_STEP_BYTES).to_owned(),
            lines: given.filter(|_| did == ToolCallAction::Read).and_then(|file| file.lines),
            failed: record.ok == Some(false) || ended == RunResult::Failed,
            passed: ended == RunResult::Passed
                && !run::checks_of_command(&record.command, &record.cwd).is_empty(),
            is_reported_by_hook: record.from.is_empty(),
            call_hash: hash_call_id(&record.id),
        };
        self.steps.insert(place, step);
        keep_last(&mut self.steps, MAX_CALL_STEPS_IN_DIGEST);
    }

    /// Returns the number of the record after which a message belongs. Messages are read from the transcript after
    /// hooks have reported later calls, so the message belongs before the call that it names as the next one. If that
    /// call has not been reported, the message's time decides.
    fn record_after_which_message_belongs(&self, record: &JournalRecord) -> u64 {
        let told_late = !record.from.is_empty() && !record.ts.is_empty();
        let asked = self.prompts.last().map_or(0, |prompt| prompt.record);
        let is_not_before = |step: &&CallStep| {
            step.is_reported_by_hook && step.record > asked && step.at.as_str() >= &*record.ts
        };
        let mut candidates = self.steps.iter().filter(is_not_before);
        let next_call = hash_call_id(&record.next_call);
        let is_next = |step: &&CallStep| next_call != 0 && step.call_hash == next_call;
        // A call in the same second as the message usually counts as later than the message. It counts as earlier
        // if the call that the message names as the next one has not been reported yet.
        let is_open = self.hash_of_call_id_if_open(&record.next_call) != 0;
        let is_later = |step: &&CallStep| !is_open || step.at.as_str() > &*record.ts;
        let after = candidates.clone().find(is_next).or_else(|| candidates.find(is_later));
        let after = after.filter(|_| told_late);
        after.map_or(self.record_count, |step| step.record - 1)
    }

    pub fn has_work_after_last_message(&self) -> bool {
        self.last_work_record > self.last_message_record
    }

    /// Returns whether the agent began a call whose end was never recorded, for example because the session was
    /// killed. Calls to `thru` are left out, because a session may be described while it runs `thru handoff`.
    pub fn has_open_call(&self) -> bool {
        self.open_call != 0 || self.unfinished_call_texts.iter().any(|call| !run::only_calls_thru(call))
    }

    /// Returns whether the agent's last message announces a change, and no call after it is recorded. The call may have been
    /// lost, because a transcript may end between a call and its record. After a message that ended the turn, no call was
    /// made.
    pub fn is_last_announced_change_unrecorded(&self) -> bool {
        let is_last = |said: &&AgentStatement| said.record == self.last_message_record;
        let ended_turn = self.statements.iter().find(is_last).is_some_and(|said| said.ended_turn);
        !ended_turn
            && statement::announces_next_step(&self.last_message)
            && !statement::ends_by_announcing_look(&self.last_message)
            && self.steps_since_last_message().is_empty()
            && !self.has_open_call()
    }

    /// Returns whether the agent has ended its turn and is waiting: its last message does not announce a next step, and no
    /// work followed. A transcript may end between an announcement and the announced call. If a loop continued the
    /// session at its last stop, the agent got the loop's prompt and went on.
    pub fn has_finished(&self) -> bool {
        let in_progress = |todo: &RecordedTodo| todo.status == Some(TodoStatus::InProgress);
        let said_all = !statement::announces_next_step(&self.last_message);
        let is_working = self.has_work_after_last_message() || self.has_open_call();
        let has_open_todo = self.todos.iter().any(in_progress) && self.are_todos_current();
        said_all && !is_working && !has_open_todo && !self.has_loop_continued_turn
    }

    /// Returns whether the newest prompt is a question, and a hook reported that the agent then ended its turn with a message
    /// that announces a next step. The question is answered, but what was announced is not done.
    pub fn has_stopped_with_announcement(&self) -> bool {
        let is_working = self.has_work_after_last_message() || self.has_open_call();
        let is_reply = |newest: &Prompt| {
            newest.prompt_kind() == PromptKind::Question
                && newest.record < self.last_message_record
                && self.was_stopped_after(&newest.at)
        };
        statement::announces_next_step(&self.last_message)
            && !is_working
            && !self.has_loop_continued_turn
            && self.prompts.last().is_some_and(is_reply)
    }

    /// Returns whether the last stop that a hook reported was at or after this time.
    fn was_stopped_after(&self, at: &str) -> bool {
        let to_second = |at: &str| time::parse_time(at).map(|at| at.as_second());
        to_second(&self.stopped_at).is_some() && to_second(&self.stopped_at) >= to_second(at)
    }

    /// Returns whether no hook has reported the end of the turn that the newest prompt began. If the session is over, the
    /// transcript may then show what the agent was doing.
    pub fn may_be_in_turn(&self) -> bool {
        !self.has_finished() || self.prompts.last().is_some_and(|newest| *newest.at > *self.stopped_at)
    }

    /// Returns whether the last stop that a hook reported was at or before this time. The time may contain
    /// milliseconds, so only whole seconds are compared.
    pub fn was_last_stopped_by(&self, at: &str) -> bool {
        let to_second = |at: &str| time::parse_time(at).map(|at| at.as_second());
        to_second(&self.stopped_at).is_some() && to_second(&self.stopped_at) <= to_second(at)
    }

    /// Returns whether it is known that the agent has begun nothing since the newest prompt.
    pub fn is_newest_prompt_untouched(&self) -> bool {
        !self.has_work_since_newest_prompt() && !self.has_open_call() && !self.may_have_unseen_work
    }

    pub fn steps_since_last_message(&self) -> &[CallStep] {
        let since = self.last_message_record.max(self.prompts.last().map_or(0, |prompt| prompt.record));
        let first = self.steps.iter().position(|step| step.record > since).unwrap_or(self.steps.len());
        &self.steps[first..]
    }

    /// Returns the calls that were still running when the records ended, each given as its command or file. Calls to
    /// `thru` are left out.
    pub fn unfinished_calls(&self) -> impl Iterator<Item = &str> {
        let calls = self.unfinished_call_texts.iter().map(String::as_str);
        calls.filter(|call| names_more_than_a_tool(call) && !run::only_calls_thru(call))
    }

    /// Returns the user's prompts and the slash commands that the agent may answer, oldest first. The outcome
    /// of each is the last closing statement before the next one.
    pub fn requests_with_outcomes(&self) -> Vec<RequestWithOutcome<'_>> {
        let mut requests: Vec<&Prompt> = self.prompts.iter().chain(&self.commands_for_agent).collect();
        requests.sort_by_key(|request| request.record);
        let outcome = |(i, request): (usize, &&Prompt)| {
            let end = self.end_of_replies(request.record, requests.get(i + 1).copied());
            let mut said = self.statements.iter().rev();
            said.find(|said| said.ended_turn && said.record > request.record && said.record < end)
        };
        let outcomes: Vec<Option<&AgentStatement>> = requests.iter().enumerate().map(outcome).collect();
        let turns = requests.into_iter().zip(outcomes);
        turns.map(|(prompt, outcome)| RequestWithOutcome { prompt, outcome }).collect()
    }

    /// Returns whether a statement is no longer valid. This is the case if the agent's next statement, or a later one
    /// on the same subject, retracts it, or if the user objected.
    pub fn is_statement_retracted(&self, said: &AgentStatement) -> bool {
        let mut later = self.statements.iter().filter(|later| later.record > said.record);
        let next = later.clone().next();
        let objection = self.prompts.iter().find(|prompt| prompt.record > said.record);
        next.is_some_and(|next| next.retracts)
            || later.any(|later| later.retracts && is_about_the_same(&said.text, &later.text))
            || objection.is_some_and(|prompt| prompt::contradicts_agent(&prompt.text))
    }
}

/// Returns whether a call's description is more than the name of one of the harness's own tools, such as `Grep`.
/// Commands such as `make` and the names of MCP tools are informative.
pub fn names_more_than_a_tool(call: &str) -> bool {
    const HARNESS_TOOL_NAMES: [&str; 6] = ["grep", "glob", "list", "read", "bash", "webfetch"];
    let is_one_word = call.chars().all(char::is_alphanumeric);
    !is_one_word || !call.starts_with(char::is_uppercase) && !HARNESS_TOOL_NAMES.contains(&call)
}

/// Condenses a message, and shows where text was left out.
fn condense_and_mark(message: &str) -> String {
    mark_missing_text(&statement::condense_closing_message(message), message).into_owned()
}

/// Shortens a statement to the part that stays useful after the next call. Returns an empty string if no part
/// does.
fn shorten_to_finding(text: &str) -> String {
    let finding = statement::finding_between_calls(text);
    first_sentences_within(&mark_missing_text(&finding, text), MAX_KEPT_FINDING_BYTES)
}

/// Returns the first sentences of `text`, up to `most` bytes.
pub(super) fn first_sentences_within(text: &str, most: usize) -> String {
    match text.len() > most {
        true => {
            statement::first_sentences(cut_to_bytes(text, most), cut_to_bytes(text, most).chars().count() - 1)
                .into_owned()
        }
        false => text.to_owned(),
    }
}

/// Returns whether both messages contain the same function, file or command name in backticks.
fn is_about_the_same(one: &str, other: &str) -> bool {
    const MIN_NAME_BYTES: usize = 6;
    let names = |text: &str| -> Vec<String> {
        let quoted = text.split('`').skip(1).step_by(2);
        let bare = quoted.map(|name| name.split('(').next().unwrap_or(name).to_owned());
        bare.filter(|name| name.len() >= MIN_NAME_BYTES).collect()
    };
    let known = names(one);
    names(other).iter().any(|name| known.contains(name))
}
