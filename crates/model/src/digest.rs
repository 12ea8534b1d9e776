//! The digest of a session: its important facts, accumulated from the journal line by line. A deleted digest can be
//! rebuilt from the journal.

mod agents;
mod changed;
mod changes;
mod effects;
mod failures;
mod handed_off;
mod ids;
mod left;
mod names;
mod parsed;
mod prompts;
mod statements;
mod todos;
mod worth;

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::event::{EventName, EventSet, FileAction, TodoStatus};
use crate::journal::{self, JournalRecord, RecordedAnswer, RecordedFile, RecordedTodo};
use crate::place;
use crate::text::fnv_fingerprint;
use crate::time;
use crate::window::ContextUse;

pub use agents::{AgentUse, ApprovedPlan};
pub use changed::ChangedFiles;
pub use changes::FileEdit;
pub use effects::{EffectUse, GitOnDisk, GitState};
pub use failures::{CheckUse, CommandUse, Failure, Trap};
pub use left::NamedFileEdits;
pub use prompts::{Goal, Prompt};
pub use statements::{AgentStatement, CallStep, StepAction, Turn, names_more_than_a_tool};
pub use worth::is_generated;

/// A digest with another version is rebuilt from the journal.
pub const SCHEMA_VERSION: u32 = 13;

const WORK_OR_START: EventSet =
    EventSet::from_names(&[EventName::Prompt, EventName::ToolDone, EventName::SessionStart]);

/// The maximum number of files. A digest is read at every session start, so it must stay small.
const MAX_FILES: usize = 400;

const MAX_ANSWERS: usize = 50;

/// How many call ids or call shapes (see `hash_shape`) are kept to recognise repeated reports.
const MAX_CALL_IDS: usize = 2_048;

/// How many events without an id are kept to recognise repeated reports.
const MAX_RECENT_EVENTS: usize = 16;

/// Two identical hook reports within this time describe the same event.
const MAX_SAME_EVENT_GAP: SignedDuration = SignedDuration::from_secs(2);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    pub schema_version: u32,
    pub session: String,
    pub harness: String,
    pub worktree: String,
    /// The first worktree of the session. Paths are relative to it. For a file in another worktree, the path includes
    /// that worktree.
    pub home: String,
    /// The session that this one continues. Some harnesses report it after a compaction.
    pub previous: String,
    /// Whether hooks saw the session from its start. If so, they have reported everything in the transcript.
    pub from_start: bool,
    /// How many bytes of an overlong transcript were skipped at first contact.
    pub unread: u64,
    /// How many bytes of the journal a hook skipped to save time. Commands do read these bytes.
    pub journal_unread: u64,
    /// How many rotated parts of the journal have been folded.
    pub parts: usize,
    /// How many bytes of the journal's current part have been folded.
    pub offset: u64,
    /// The number of records so far. Record numbers serve as this session's clock.
    pub records: u64,
    /// The number of tool calls so far.
    pub called: u64,
    pub first_at: String,
    pub last_at: String,
    /// The number of prompts so far, including those that were dropped from `prompts`.
    pub asked: u64,
    pub prompts: Vec<Prompt>,
    pub files: Vec<FileUse>,
    pub commands: Vec<CommandUse>,
    /// The newest run of each test, build, lint or similar command.
    pub checks: Vec<CheckUse>,
    /// All failures, oldest first.
    pub failures: Vec<Failure>,
    pub todos: Vec<RecordedTodo>,
    /// The number of the record in which the todo list last changed.
    pub todos_at: u64,
    pub answers: Vec<RecordedAnswer>,
    /// Effects on the outside world and on the checkout, oldest first.
    pub effects: Vec<EffectUse>,
    /// The branch last seen checked out.
    pub branch: String,
    /// The commit at HEAD when a hook last read it.
    pub head: String,
    /// The number of the record in which a hook last read HEAD.
    pub head_at: u64,
    /// The names of files that were staged but not yet committed.
    staged: effects::StagedNames,
    /// The state in git's own files. It is read when a brief or a packet is composed and is never stored.
    #[serde(skip)]
    pub disk: Option<GitOnDisk>,
    /// Whether one of the session's files changed after the last record. It is determined together with `disk` and
    /// never stored.
    #[serde(skip)]
    pub is_changed_since: bool,
    /// Quotations of the agent's findings, decisions and results, oldest first.
    pub statements: Vec<AgentStatement>,
    /// Tasks given to sub-agents, oldest first.
    pub agents: Vec<AgentUse>,
    /// The plan that the user approved last.
    pub plan: Option<ApprovedPlan>,
    /// The newest edits, oldest first, with the reasons that the agent gave.
    pub changes: Vec<FileEdit>,
    /// The change that the agent announced last, or empty once the change is made.
    purpose: String,
    /// The record number of the last command that may have changed files that its text does not name.
    unnamed_change_at: u64,
    /// The newest calls, oldest first.
    pub steps: Vec<CallStep>,
    /// The agent's last message.
    pub said: String,
    /// The record number of the agent's last message.
    pub said_last: u64,
    /// The harness's summary from the last compaction.
    pub summary: String,
    pub compactions: u32,
    /// How full the context window is, according to the transcript.
    pub context: ContextUse,
    /// The record number of the last compaction after which work was done.
    pub epoch: u64,
    /// The record number of the last compaction if no work has followed it yet.
    compacted: Option<u64>,
    /// What the user typed after `/compact`, until work follows that compaction. It is usually an instruction for the
    /// summary, so it is not a prompt.
    pub compact_words: String,
    /// The record number of the last prompt or call.
    pub worked: u64,
    /// The time of the last stop at which a hook reported the agent's last message.
    stopped_at: String,
    handoff: handed_off::Handoff,
    /// The number of records at the time when the active workstream was last detected.
    pub detected: u64,
    pub begun: Vec<u64>,
    /// The reason the session ended, or empty while it may continue.
    pub ended: String,
    /// Counts of transcript line types that this version does not support.
    pub unknown: BTreeMap<String, u64>,
    /// Hashed ids of the calls that are already counted, oldest first.
    #[serde(with = "ids")]
    calls: Vec<u64>,
    /// Shapes of calls that hooks reported without an id and that have not appeared in the transcript yet.
    #[serde(with = "ids")]
    nameless: Vec<u64>,
    /// Shapes of calls that appeared in the transcript but that no hook has reported yet.
    #[serde(with = "ids")]
    retold: Vec<u64>,
    /// The newest events that hooks reported without an id.
    heard: Vec<RecentEvent>,
    #[serde(skip)]
    known: ids::IdSet,
    /// The calls that were still running when the records ended, each given as its command or file.
    #[serde(skip)]
    pub unfinished: Vec<String>,
    /// The number of transcript lines or database rows that could not be read.
    #[serde(skip)]
    pub torn: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileUse {
    pub path: String,
    #[serde(skip_serializing_if = "is_default")]
    pub outside: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub edits: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub reads: u32,
    /// How often the file was only found in the text of a shell command.
    #[serde(skip_serializing_if = "is_default")]
    pub guesses: u32,
    /// How many of the file's uses were by sub-agents.
    #[serde(skip_serializing_if = "is_default")]
    pub by_agents: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub deleted: bool,
    /// The record number of the last use of the file.
    #[serde(skip_serializing_if = "is_default")]
    pub last: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub edited_at: u64,
    /// The record number of the last command whose text says that it writes or deletes the file.
    #[serde(skip_serializing_if = "is_default")]
    pub written_at: u64,
    /// The record number of the commit that contains the last changes, or of the command that discarded them.
    #[serde(skip_serializing_if = "is_default")]
    pub saved_at: u64,
    /// How many commits since the last edit did not contain the file.
    #[serde(skip_serializing_if = "is_default")]
    pub passed_by: u32,
    /// Whether the file's changes are in a stash.
    #[serde(skip_serializing_if = "is_default")]
    pub stashed: bool,
}

/// Returns whether a field has its default value. Such fields are omitted from the JSON, because a digest contains
/// hundreds of files and is read at every session start.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct RecentEvent {
    at: String,
    print: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldOutcome {
    Counted,
    /// The event was already counted. Two hooks reported it, or a hook and the transcript did.
    Repeated,
}

/// Describes the part of a journal that a hook had no time to read.
pub fn describe_unread_journal(bytes: u64) -> String {
    let megabytes = bytes.div_ceil(1024 * 1024);
    format!(
        "{megabytes} MB of the journal were not read: it is too long for a hook; `thru brief` reads all of it"
    )
}

impl Digest {
    pub fn new(session: &str) -> Digest {
        Digest { schema_version: SCHEMA_VERSION, session: session.to_owned(), ..Digest::default() }
    }

    /// Returns an empty digest for rebuilding from the whole journal. It keeps only fields that the journal cannot
    /// restore.
    pub fn emptied_for_rebuild(self) -> Digest {
        let Digest { session, unread, unknown, context, .. } = self;
        Digest { unread, unknown, context, ..Digest::new(&session) }
    }

    /// Describes how much of the journal this digest lacks.
    pub fn describe_missing_journal(&self) -> Option<String> {
        (self.journal_unread > 0).then(|| describe_unread_journal(self.journal_unread))
    }

    /// Describes how much of the transcript this digest lacks. A part is missing if hooks were installed after the
    /// session started and the transcript was too long to read in full.
    pub fn describe_missing_transcript(&self) -> Option<String> {
        let megabytes = self.unread.div_ceil(1024 * 1024);
        (self.unread > 0).then(|| {
            format!("{megabytes} MB at the beginning of the transcript were not read; `thru brief --transcript FILE` reads all of it")
        })
    }

    pub fn fold_record(&mut self, record: &JournalRecord) -> FoldOutcome {
        if self.is_repeated(record) {
            return FoldOutcome::Repeated;
        }
        self.records += 1;
        if self.first_at.is_empty() {
            self.first_at = record.ts.to_string();
        }
        if *self.last_at < *record.ts {
            self.last_at = record.ts.to_string();
        }
        self.harness = record.harness.to_string();
        self.worktree = record.worktree.to_string();
        if !record.branch.is_empty() && record.agent.is_none() {
            self.branch = record.branch.to_string();
        }
        if !record.head.is_empty() {
            (self.head, self.head_at) = (record.head.to_string(), self.records);
        }
        if self.home.is_empty() {
            self.home.clone_from(&self.worktree);
        }
        let main = record.agent.is_none();
        let event = record.event_name();
        let at_work = self.has_work_after_last_message();
        // A prompt that refuses a call does not close a turn, because the agent was still working.
        if event == Some(EventName::Prompt) && main && !at_work && record.command.is_empty() {
            self.mark_turn_closed();
        }
        if event == Some(EventName::Stop) && main && record.from.is_empty() && !record.text.is_empty() {
            self.stopped_at = record.ts.to_string();
        }
        if matches!(event, Some(EventName::Prompt | EventName::ToolDone)) {
            self.update_handoff(record);
            // A call that appears only in the transcript is recorded late, after the stop that followed the call.
            let is_late = !record.from.is_empty() && *record.ts <= *self.stopped_at;
            if !is_late && !self.is_part_of_handoff(record) {
                self.worked = self.records;
            }
            if let Some(compacted) = self.compacted.take() {
                self.epoch = compacted;
                self.compact_words.clear();
            }
        }
        match event {
            Some(EventName::Prompt) if main => {
                self.purpose.clear();
                self.add_prompt(record, at_work);
            }
            Some(EventName::BeforeCompact) if main => self.compact_words = record.text.trim().to_owned(),
            Some(EventName::ToolDone) => {
                self.called += 1;
                self.add_call(record);
            }
            Some(EventName::Stop) if main => self.add_statement(record, true),
            None if main && record.event == journal::AGENT_MESSAGE_EVENT => self.add_statement(record, false),
            None if main && record.event == journal::VALIDATOR_RUN_EVENT => self.add_validator_run(record),
            Some(EventName::Summary) => {
                self.summary = record.text.to_string();
                self.compactions += 1;
                self.compacted = Some(self.records);
            }
            Some(EventName::SessionEnd) => {
                self.ended =
                    if record.name.is_empty() { "ended".to_owned() } else { record.name.to_string() };
            }
            Some(EventName::SessionStart) if main => {
                self.ended.clear();
                // A session that continues under a new id counts as seen from its start, because hooks saw it under
                // its old id.
                self.from_start |= match record.name.as_ref() {
                    "resume" | "fork" => false,
                    "compact" => !record.previous_session.is_empty(),
                    _ => true,
                };
                // If the harness reports no summary, this event is the only sign of a compaction.
                if record.name == "compact" && self.compacted.is_none() {
                    self.compacted = Some(self.records);
                }
                if !record.previous_session.is_empty() {
                    self.previous = record.previous_session.to_string();
                }
            }
            Some(
                EventName::Prompt
                | EventName::BeforeCompact
                | EventName::AfterCompact
                | EventName::SubagentStart
                | EventName::SubagentStop
                | EventName::Stop
                | EventName::SessionStart
                | EventName::Other,
            )
            | None => {}
        }
        FoldOutcome::Counted
    }

    /// Returns whether the record is a repeated report. Records with an id are compared by id. Hook reports without an
    /// id are matched with transcript records by shape, and vice versa.
    fn is_repeated(&mut self, record: &JournalRecord) -> bool {
        let shape = hash_shape(record);
        let told_by_both = matches!(record.event_name(), Some(EventName::ToolDone | EventName::Prompt));
        if !record.id.is_empty() && !self.is_new_id(record) {
            return true;
        }
        if self.was_just_reported(record) {
            return true;
        }
        self.remember_event(record);
        if !told_by_both {
            return false;
        }
        let (mine, other) = match (record.from.as_ref(), record.id.is_empty()) {
            ("transcript", _) => (&mut self.retold, &mut self.nameless),
            (_, true) => (&mut self.nameless, &mut self.retold),
            // A hook report with an id was already compared by id.
            (_, false) => return false,
        };
        if let Some(place) = other.iter().position(|known| *known == shape) {
            other.remove(place);
            return true;
        }
        mine.push(shape);
        keep_last(mine, MAX_CALL_IDS);
        false
    }

    /// Returns whether a hook reported the same event a moment ago. This happens if hooks are installed in two
    /// places.
    pub fn was_just_reported(&self, record: &JournalRecord) -> bool {
        if !has_no_id(record) || self.heard.is_empty() {
            return false;
        }
        let print = hash_record(record);
        let together = |at: &str| {
            let (Some(one), Some(other)) = (time::parse_time(at), time::parse_time(&record.ts)) else {
                return false;
            };
            other.duration_since(one).abs() <= MAX_SAME_EVENT_GAP
        };
        self.heard.iter().any(|heard| heard.print == print && together(&heard.at))
    }

    fn remember_event(&mut self, record: &JournalRecord) {
        if record.event_name().is_some_and(|event| WORK_OR_START.contains(event)) {
            // An identical report after new work is a new event.
            self.heard.clear();
        }
        if has_no_id(record) {
            self.heard.push(RecentEvent { at: record.ts.to_string(), print: hash_record(record) });
            keep_last(&mut self.heard, MAX_RECENT_EVENTS);
        }
    }

    pub fn knows_record(&self, record: &JournalRecord) -> bool {
        self.calls.contains(&hash_record_id(record))
    }

    fn is_new_id(&mut self, record: &JournalRecord) -> bool {
        if self.known.len() < self.calls.len() {
            self.known = self.calls.iter().copied().collect();
        }
        let id = hash_record_id(record);
        if !self.known.insert(id) {
            return false;
        }
        self.calls.push(id);
        keep_last(&mut self.calls, MAX_CALL_IDS);
        true
    }

    fn add_call(&mut self, record: &JournalRecord) {
        if record.agent.is_none() {
            self.end_purpose(record);
        }
        for file in &record.files {
            let mut file = self.locate_file(file, record);
            // A failed edit changed nothing. A failed command line may have changed files before it failed.
            if record.ok == Some(false) && record.command.is_empty() && file.action != FileAction::Read {
                file.to_mut().action = FileAction::Mention;
            }
            self.add_file(&file, record);
            if record.agent.is_none() {
                self.add_change(&file, record);
            }
        }
        self.add_unnamed_change(record);
        // The session needs to know which files its sub-agents used, but not how their commands ended.
        if record.agent.is_none() {
            self.add_run(record);
            if !self.is_part_of_handoff(record) {
                self.add_step(record);
            }
            self.add_agent(record);
            self.add_plan(record);
        }
        if let Some(todos) = record.todos.as_ref().filter(|_| record.agent.is_none()) {
            self.todos_at = self.records;
            self.change_todos(todos);
        }
        self.add_effects(record);
        self.answers.extend(record.answers.iter().cloned());
        keep_last(&mut self.answers, MAX_ANSWERS);
    }

    /// Makes a file's path relative to the first worktree. Files with the same name in different worktrees are
    /// different files.
    fn locate_file<'f>(&self, file: &'f RecordedFile, record: &JournalRecord) -> Cow<'f, RecordedFile> {
        if record.worktree == self.home || file.outside {
            return Cow::Borrowed(file);
        }
        let whole = format!("{}/{}", record.worktree, file.path);
        let path = place::path_within_checkout(&self.home, &whole).path.into_owned();
        Cow::Owned(RecordedFile { path, ..file.clone() })
    }

    fn add_file(&mut self, file: &RecordedFile, record: &JournalRecord) {
        let last = self.records;
        let place = match self.files.iter().position(|known| known.path == file.path) {
            Some(place) => place,
            None => {
                let path = file.path.clone();
                self.files.push(FileUse { path, outside: file.outside, ..FileUse::default() });
                self.files.len() - 1
            }
        };
        let known = &mut self.files[place];
        known.last = last;
        known.by_agents += u32::from(record.agent.is_some());
        known.deleted = file.action == FileAction::Delete;
        if changed::is_written_by_command(file, record) {
            known.written_at = last;
        }
        match file.action {
            _ if file.guess => known.guesses += 1,
            FileAction::Create | FileAction::Edit | FileAction::Delete => {
                known.edits += 1;
                (known.edited_at, known.passed_by) = (last, 0);
            }
            FileAction::Read | FileAction::Mention => known.reads += 1,
        }
        if self.files.len() > MAX_FILES {
            // Drop the least recently used file that was not edited. If all files were edited, drop the least
            // recently used one.
            let oldest =
                (0..self.files.len()).min_by_key(|i| (self.files[*i].edits > 0, self.files[*i].last));
            self.files.remove(oldest.unwrap_or(0));
        }
    }

    fn change_todos(&mut self, changes: &[RecordedTodo]) {
        if changes.iter().all(|change| change.id.is_empty()) {
            self.todos = changes.to_vec();
            return;
        }
        for change in changes {
            match self.todos.iter_mut().find(|known| known.id == change.id) {
                Some(known) => {
                    if !change.text.is_empty() {
                        known.text.clone_from(&change.text);
                    }
                    known.status = change.status.or(known.status);
                }
                None => self.todos.push(change.clone()),
            }
        }
        self.todos.retain(|todo| todo.status != Some(TodoStatus::Deleted));
    }

    /// Appends this session to `earlier`, the session that it continues.
    pub fn merge_into(self, earlier: Digest) -> Digest {
        let shift = earlier.records;
        let mut whole = Digest { session: self.session, last_at: self.last_at, ended: self.ended, ..earlier };
        whole.records += self.records;
        whole.asked += self.asked;
        whole.journal_unread += self.journal_unread;
        whole.context = self.context;
        whole.compactions += self.compactions;
        // If the new session contains work, the earlier session's compaction is no longer the last one.
        if !(self.prompts.is_empty() && self.files.is_empty() && self.commands.is_empty()) {
            whole.epoch = shift + self.epoch;
            whole.compacted = None;
            whole.compact_words = self.compact_words;
        }
        if self.unnamed_change_at > 0 {
            whole.unnamed_change_at = self.unnamed_change_at + shift;
        }
        if self.worked > 0 {
            whole.worked = self.worked + shift;
        }
        if !self.stopped_at.is_empty() {
            whole.stopped_at = self.stopped_at;
        }
        whole.handoff = self.handoff;
        let later = |prompt: Prompt| Prompt { record: prompt.record + shift, ..prompt };
        whole.prompts.extend(self.prompts.into_iter().map(later));
        let later = |said: AgentStatement| AgentStatement { record: said.record + shift, ..said };
        whole.statements.extend(self.statements.into_iter().map(later));
        let later = |agent: AgentUse| AgentUse { record: agent.record + shift, ..agent };
        whole.agents.extend(self.agents.into_iter().map(later));
        whole.plan =
            self.plan.map(|plan| ApprovedPlan { record: plan.record + shift, ..plan }).or(whole.plan);
        let later = |change: FileEdit| FileEdit { record: change.record + shift, ..change };
        whole.changes.extend(self.changes.into_iter().map(later));
        let later = |step: CallStep| CallStep { record: step.record + shift, ..step };
        whole.steps.extend(self.steps.into_iter().map(later));
        let later = |record: u64| if record > 0 { record + shift } else { 0 };
        for file in self.files {
            match whole.files.iter_mut().find(|known| known.path == file.path) {
                Some(known) => {
                    known.edits += file.edits;
                    known.reads += file.reads;
                    known.guesses += file.guesses;
                    (known.deleted, known.last) = (file.deleted, file.last + shift);
                    known.passed_by += file.passed_by;
                    if file.edits > 0 {
                        known.edited_at = file.edited_at + shift;
                        known.passed_by = file.passed_by;
                    }
                    if file.written_at > 0 {
                        known.written_at = file.written_at + shift;
                    }
                    if file.saved_at > 0 {
                        known.saved_at = file.saved_at + shift;
                    }
                    known.stashed = file.stashed;
                }
                None => whole.files.push(FileUse {
                    last: file.last + shift,
                    edited_at: later(file.edited_at),
                    written_at: later(file.written_at),
                    saved_at: later(file.saved_at),
                    ..file
                }),
            }
        }
        whole.merge_continued_runs(self.commands, self.checks, self.failures, shift);
        whole.answers.extend(self.answers);
        let later = |used: EffectUse| EffectUse { record: used.record + shift, ..used };
        whole.effects.extend(self.effects.into_iter().map(later));
        if !self.branch.is_empty() {
            whole.branch = self.branch;
        }
        if !self.head.is_empty() {
            (whole.head, whole.head_at) = (self.head, self.head_at + shift);
        }
        whole.disk = self.disk.or(whole.disk);
        if !self.todos.is_empty() {
            whole.todos = self.todos;
            whole.todos_at = self.todos_at + shift;
        }
        if !self.said.is_empty() {
            whole.said_last = self.said_last + shift;
        }
        for (mine, newer) in [(&mut whole.said, self.said), (&mut whole.summary, self.summary)] {
            if !newer.is_empty() {
                *mine = newer;
            }
        }
        whole
    }

    /// Returns the record number of the last compaction. Everything after it is still in the agent's context window.
    pub fn last_compaction(&self) -> u64 {
        self.compacted.unwrap_or(self.epoch)
    }

    /// Returns the harness's summary if no work has followed the compaction, otherwise an empty string.
    pub fn fresh_summary(&self) -> &str {
        if self.compacted.is_some() { &self.summary } else { "" }
    }

    /// Changes the digest as if the harness had just compacted the session with this summary.
    pub fn simulate_compaction(&mut self, summary: &str) {
        self.summary = summary.to_owned();
        self.compacted = Some(self.records);
    }
}

/// Hashes a record's id. For a prompt, the text is included, because a stop hook's message can have the same id as a
/// prompt.
fn hash_record_id(record: &JournalRecord) -> u64 {
    let words = if record.event_name() == Some(EventName::Prompt) { record.text.as_ref() } else { "" };
    fnv_fingerprint([record.id.as_ref(), words])
}

/// Returns whether the record is a hook report without an id. Calls are excluded, because the transcript supplies
/// their ids.
fn has_no_id(record: &JournalRecord) -> bool {
    record.id.is_empty() && record.from.is_empty() && record.event_name() != Some(EventName::ToolDone)
}

/// Hashes a record, ignoring its time and duration.
fn hash_record(record: &JournalRecord) -> u64 {
    let timeless = JournalRecord { ts: "".into(), ms: None, ..record.clone() };
    fnv_fingerprint([String::from_utf8_lossy(&timeless.to_json_line()).as_ref()])
}

/// Hashes the content that all reports of an event share: the tool, the command, the text, the files, and whether it
/// failed.
fn hash_shape(record: &JournalRecord) -> u64 {
    let end = if record.ok == Some(false) { "failed" } else { "" };
    let files = record.files.iter().filter(|file| !file.guess).map(|file| file.path.as_str());
    fnv_fingerprint(
        [record.tool.as_ref(), record.command.as_ref(), record.text.trim(), end].into_iter().chain(files),
    )
}

fn keep_last<T>(list: &mut Vec<T>, most: usize) {
    if list.len() > most {
        list.drain(..list.len() - most);
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
