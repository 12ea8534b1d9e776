//! The digest of a session: its important facts, accumulated from the journal line by line. A deleted digest can be
//! rebuilt from the journal.

mod agents;
mod changed;
mod changes;
mod commit_history;
mod continued;
mod current_task;
mod disk;
mod effects;
mod failures;
mod fates;
mod ids;
mod instructions;
mod likely_needed;
mod names;
mod other_branch;
mod parsed;
mod prompts;
mod remaining_request;
mod repeated;
mod staged;
mod standing;
mod stashes;
mod statements;
mod thrown_away;
mod thru_commands;
mod todos;
mod unclear_commits;

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::checkout_path;
use crate::event::{EventName, EventSet, FileAction, TodoStatus};
use crate::journal::{self, JournalRecord, RecordedAnswer, RecordedFile, RecordedTodo};
use crate::window::ContextWindowUse;

use unclear_commits::UnclearCommit;

pub use agents::{ApprovedPlan, DelegatedTask};
pub use changed::{ChangedFiles, ChangesAfterRun, is_documentation};
pub use changes::FileEdit;
pub use commit_history::CommitHistory;
pub use disk::{ChangeOnDisk, FileTime, drop_times_of_checkouts, is_changed_after, time_of_last_commit};
pub(crate) use effects::is_file_or_folder_of;
pub use effects::{GitOnDisk, GitState, RecordedEffect};
pub use failures::{CommandUse, Failure, NewestRunOfCheck, Trap, UnseenRun};
pub use fates::{EffectOnDisk, FateOnDisk, HistoryOnDisk, RefsOnDisk, StashOnDisk};
pub use instructions::{InstructionEnd, InstructionOfEarlierSession};
pub use likely_needed::is_generated_or_vendored_file;
pub use names::{is_only_reference, paths_in};
pub use other_branch::{BranchMove, OtherBranch};
pub use prompts::{Goal, OPENING_REQUEST_LABELS, Prompt};
pub use remaining_request::NamedFileEdits;
pub use statements::{AgentStatement, CallStep, RequestWithOutcome, ToolCallAction, names_more_than_a_tool};

/// A digest with another version is rebuilt from the journal.
pub const SCHEMA_VERSION: u32 = 19;

const WORK_OR_START: EventSet =
    EventSet::from_names(&[EventName::Prompt, EventName::ToolDone, EventName::SessionStart]);

/// The maximum number of files. A digest is read at every session start, so it must stay small.
const MAX_FILES: usize = 400;

const MAX_USER_ANSWERS_KEPT: usize = 50;

/// How many call ids or call shapes (see `hash_event_content`) are kept to recognise repeated reports.
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
    #[serde(rename = "home")]
    pub first_worktree: String,
    /// The session that this one continues. Some harnesses report it after a compaction.
    #[serde(rename = "previous")]
    pub continued_session: String,
    /// Whether hooks saw the session from its start. If so, they have reported everything in the transcript.
    #[serde(rename = "from_start")]
    pub did_hooks_see_start: bool,
    /// How many bytes of an overlong transcript were skipped when it was read for the first time.
    #[serde(rename = "unread")]
    pub unread_transcript_bytes: u64,
    /// How many bytes of the journal a hook skipped to save time. Commands do read these bytes.
    #[serde(rename = "journal_unread")]
    pub unread_journal_bytes: u64,
    /// How many rotated parts of the journal the digest already includes.
    #[serde(rename = "parts")]
    pub folded_journal_parts: usize,
    /// How many bytes of the journal's current part the digest already includes.
    #[serde(rename = "offset")]
    pub folded_journal_offset: u64,
    /// The number of records so far. Record numbers serve as this session's clock.
    #[serde(rename = "records")]
    pub record_count: u64,
    /// The number of tool calls so far.
    #[serde(rename = "called")]
    pub call_count: u64,
    pub first_at: String,
    pub last_at: String,
    /// The number of prompts so far, including those that were dropped from `prompts`.
    #[serde(rename = "asked")]
    pub prompt_count: u64,
    pub prompts: Vec<Prompt>,
    pub files: Vec<FileUse>,
    pub commands: Vec<CommandUse>,
    /// The newest run of each test, build, lint or similar command.
    pub checks: Vec<NewestRunOfCheck>,
    /// All failures, oldest first.
    pub failures: Vec<Failure>,
    pub todos: Vec<RecordedTodo>,
    /// The number of the record in which the todo list last changed.
    #[serde(rename = "todos_at")]
    pub todos_changed_at: u64,
    pub answers: Vec<RecordedAnswer>,
    /// Effects on the outside world and on the checkout, oldest first.
    pub effects: Vec<RecordedEffect>,
    /// The last branch that is known to have been checked out.
    pub branch: String,
    /// The commit at HEAD when a hook last read it.
    pub head: String,
    /// The number of the record in which a hook last read HEAD.
    #[serde(rename = "head_at")]
    pub head_read_at: u64,
    /// The number of the record of the last command that may have moved HEAD and whose result is unknown.
    #[serde(skip_serializing_if = "is_default")]
    head_unclear_at: u64,
    /// The command lines that may have made commits, oldest first. The output does not show whether they did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unclear_commits: Vec<UnclearCommit>,
    /// The names of files that were staged but not yet committed.
    staged: staged::StagedNames,
    /// The state in git's own files. It is read when a brief or a packet is composed and is never stored.
    #[serde(skip)]
    pub git_on_disk: Option<GitOnDisk>,
    /// Whether one of the session's files changed after the last record. This is determined together with
    /// `git_on_disk` and never stored.
    #[serde(skip)]
    pub are_files_changed_since: bool,
    /// The files that were changed on disk after a run. They are determined together with `git_on_disk` and never stored.
    #[serde(skip)]
    pub changes_on_disk: Vec<ChangeOnDisk>,
    /// Uncommitted files that only other recent sessions in this checkout edited. They are collected when a session
    /// starts and are never stored.
    #[serde(skip)]
    pub uncommitted_by_others: Vec<String>,
    /// Checks that failed in earlier sessions in this checkout and have not been run since, newest first. They are
    /// collected when a brief or a packet is composed and are never stored.
    #[serde(skip)]
    pub failures_of_earlier_sessions: Vec<Failure>,
    /// The user's lasting instructions in earlier sessions that edited the same files, newest first. They are collected
    /// when a brief or a packet is composed and are never stored.
    #[serde(skip)]
    pub instructions_of_earlier_sessions: Vec<InstructionOfEarlierSession>,
    /// A time in RFC 3339 format. The user's messages up to this time are about a packet that is now done. If
    /// there is no such packet, this field is empty. It is set when a brief or a packet is composed and is
    /// never stored.
    #[serde(skip)]
    pub closed_work_until: String,
    /// Whether `thru gate run` launched the session. Its prompts are then not the user's own words, so they neither give
    /// instructions nor lift them. It is set when the digest is read together with the list of sessions, and is never
    /// stored.
    #[serde(skip)]
    pub is_launched_by_gate_run: bool,
    /// Quotations of the agent's findings, decisions and results, oldest first.
    pub statements: Vec<AgentStatement>,
    /// Tasks given to sub-agents, oldest first.
    pub agents: Vec<DelegatedTask>,
    /// The plan that the user approved last.
    pub plan: Option<ApprovedPlan>,
    /// The newest edits, oldest first, with the reasons that the agent gave.
    pub changes: Vec<FileEdit>,
    /// The change that the agent announced last, or empty once the change is made.
    purpose: String,
    /// The record number of the last command that may have changed files not mentioned in its text.
    unnamed_change_at: u64,
    /// The newest calls, oldest first.
    pub steps: Vec<CallStep>,
    /// The agent's last message.
    #[serde(rename = "said")]
    pub last_message: String,
    /// The record number of the agent's last message.
    #[serde(rename = "said_last")]
    pub last_message_record: u64,
    /// The hashed id of the call that the agent began with its last message, or zero if there is none or the call has
    /// ended. If the session was killed during that call, nothing else shows that the agent was still at work.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "open_call")]
    open_call: u64,
    /// The harness's summary from the last compaction.
    pub summary: String,
    pub compactions: u32,
    /// How full the context window is, according to the transcript.
    pub context: ContextWindowUse,
    /// The record number of the last compaction after which work was done.
    #[serde(rename = "epoch")]
    pub last_compaction_before_work: u64,
    /// The record number of the last compaction if no work has followed it yet.
    #[serde(rename = "compacted")]
    compaction_without_work: Option<u64>,
    /// What the user typed after `/compact`. It is kept only until work follows that compaction. It is usually an
    /// instruction for the summary, so it is not a prompt.
    #[serde(rename = "compact_words")]
    pub words_after_compact_command: String,
    /// The record number of the last prompt or call.
    #[serde(rename = "worked")]
    pub last_work_record: u64,
    /// The time of the last stop at which a hook reported the agent's last message.
    stopped_at: String,
    command_about_records: thru_commands::CommandAboutRecords,
    /// The record numbers of the slash commands for `thru` that the user typed. Commands that count as prompts
    /// are not included.
    thru_commands: Vec<u64>,
    /// The newest slash commands that are not prompts but that the agent may answer, such as `/pickup`, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands_for_agent: Vec<Prompt>,
    /// The number of records at the time when the active workstream was last detected.
    #[serde(rename = "detected")]
    pub records_at_last_detection: u64,
    pub begun: Vec<u64>,
    /// The reason the session ended, or empty while it may continue.
    #[serde(rename = "ended")]
    pub end_reason: String,
    /// Counts of transcript line types that this version does not support.
    #[serde(rename = "unknown")]
    pub unknown_line_types: BTreeMap<String, u64>,
    /// Hashed ids of the calls that are already counted, oldest first.
    #[serde(with = "ids")]
    #[serde(rename = "calls")]
    counted_call_ids: Vec<u64>,
    /// Hashes of the content of calls that hooks reported without an id and that have not appeared in the transcript
    /// yet.
    #[serde(with = "ids")]
    #[serde(rename = "nameless")]
    shapes_reported_without_id: Vec<u64>,
    /// Hashes of the content of calls that appeared in the transcript but that no hook has reported yet.
    #[serde(with = "ids")]
    #[serde(rename = "retold")]
    shapes_only_in_transcript: Vec<u64>,
    /// The newest events that hooks reported without an id.
    #[serde(rename = "heard")]
    recent_events_without_id: Vec<RecentEvent>,
    #[serde(skip)]
    known: ids::IdSet,
    /// The calls that were still running when the records ended, each given as its command or file.
    #[serde(skip)]
    pub unfinished_call_texts: Vec<String>,
    /// Whether a loop continued the session's work after its last stop. This is determined when a brief or a packet is
    /// composed and is never stored.
    #[serde(skip)]
    pub has_loop_continued_turn: bool,
    /// Whether these records may lack work that the agent did after the newest prompt, because the end of the
    /// transcript was not read. This is determined when a brief or a packet is composed and is never stored.
    #[serde(skip)]
    pub may_have_unseen_work: bool,
    /// The number of transcript lines or database rows that could not be read.
    #[serde(skip)]
    pub unreadable_lines: u64,
    /// Whether the session worked in a worktree other than the reader's.
    #[serde(skip)]
    pub is_of_other_worktree: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileUse {
    pub path: String,
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "outside")]
    pub is_outside_checkout: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub edits: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub reads: u32,
    /// How often the file was only mentioned in the text of a shell command.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "guesses")]
    pub mentions_in_commands: u32,
    /// How many of the file's uses were by sub-agents.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "by_agents")]
    pub uses_by_subagents: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub deleted: bool,
    /// The record number of the last use of the file.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "last")]
    pub last_use_record: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub edited_at: u64,
    /// The record number of the last command whose text says that it writes or deletes the file.
    #[serde(skip_serializing_if = "is_default")]
    pub written_at: u64,
    /// How many commands edited the file. A command counts if its text names the file or if git shows the
    /// change. Writes to files that look like logs or build outputs do not count.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "by_commands")]
    pub edits_by_commands: u32,
    /// The record number of the commit that contains the last changes.
    #[serde(skip_serializing_if = "is_default")]
    pub saved_at: u64,
    /// The record number of the last command that threw changes away. Git throws away only changes to files that it
    /// tracks.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "thrown_away")]
    pub discarded_at: u64,
    /// How many commits since the last edit did not contain the file.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "passed_by")]
    pub commits_without_file: u32,
    /// Whether the file's changes are in a stash.
    #[serde(skip_serializing_if = "is_default")]
    pub stashed: bool,
    /// Whether the last call that named the file tried to read it and found that it did not exist.
    #[serde(skip_serializing_if = "is_default")]
    pub was_missing: bool,
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
    #[serde(rename = "print")]
    fingerprint: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldOutcome {
    Counted,
    /// The event was already counted. Two hooks reported it, or a hook and the transcript did.
    Repeated,
}

/// Returns a digest as JSON. This function is here because this crate is optimised for speed, and `store` for size.
pub fn to_json_bytes(digest: &Digest) -> Vec<u8> {
    crate::json_buffer::to_json_bytes(digest)
}

/// Describes the part of a journal that a hook had no time to read.
pub fn describe_unread_journal(bytes: u64) -> String {
    let megabytes = bytes.div_ceil(1024 * 1024);
    format!(
        "{megabytes} MB of the journal was not read, because the journal is too long for a hook; `thru brief` reads all of it"
    )
}

impl Digest {
    pub fn new(session: &str) -> Digest {
        Digest { schema_version: SCHEMA_VERSION, session: session.to_owned(), ..Digest::default() }
    }

    /// Returns an empty digest for rebuilding from the whole journal. It keeps only fields that the journal cannot
    /// restore.
    pub fn emptied_for_rebuild(self) -> Digest {
        let Digest { session, unread_transcript_bytes: unread, unknown_line_types: unknown, context, .. } =
            self;
        Digest {
            unread_transcript_bytes: unread,
            unknown_line_types: unknown,
            context,
            ..Digest::new(&session)
        }
    }

    /// Describes how much of the journal this digest lacks.
    pub fn describe_missing_journal(&self) -> Option<String> {
        (self.unread_journal_bytes > 0).then(|| describe_unread_journal(self.unread_journal_bytes))
    }

    /// Describes how much of the transcript this digest lacks. A part is missing if hooks were installed after the
    /// session started and the transcript was too long to read in full.
    pub fn describe_missing_transcript(&self) -> Option<String> {
        let megabytes = self.unread_transcript_bytes.div_ceil(1024 * 1024);
        (self.unread_transcript_bytes > 0).then(|| {
            format!("the first {megabytes} MB of the transcript were not read; `thru brief --transcript FILE` reads all of it")
        })
    }

    pub fn fold_record(&mut self, record: &JournalRecord) -> FoldOutcome {
        // This record only adds details to edits that are already counted, so it is not counted itself.
        if record.event == journal::EDIT_TEXTS_EVENT {
            self.add_edit_texts(record);
            return FoldOutcome::Counted;
        }
        self.end_open_call(record);
        if self.is_repeated_report(record) {
            return FoldOutcome::Repeated;
        }
        self.record_count += 1;
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
            (self.head, self.head_read_at) = (record.head.to_string(), self.record_count);
        }
        if self.first_worktree.is_empty() {
            self.first_worktree.clone_from(&self.worktree);
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
            self.update_thru_commands(record);
            // A call that no hook reported is read from the transcript after the stop that followed it. It is not new
            // work.
            let is_late = !record.from.is_empty() && *record.ts <= *self.stopped_at;
            if !is_late && !self.is_part_of_command_about_records(record) {
                self.last_work_record = self.record_count;
            }
            if let Some(compacted) = self.compaction_without_work.take() {
                self.last_compaction_before_work = compacted;
                self.words_after_compact_command.clear();
            }
        }
        match event {
            Some(EventName::Prompt) if main => {
                self.purpose.clear();
                self.add_prompt(record, at_work);
            }
            Some(EventName::BeforeCompact) if main => {
                self.words_after_compact_command = record.text.trim().to_owned();
            }
            Some(EventName::ToolDone) => {
                self.call_count += 1;
                self.add_call(record);
            }
            Some(EventName::Stop) if main => self.add_statement(record, true),
            Some(EventName::SubagentStop) => self.add_answer_of_stopped_agent(record),
            None if main && record.event == journal::AGENT_MESSAGE_EVENT => self.add_statement(record, false),
            None if main && record.event == journal::VALIDATOR_RUN_EVENT => self.add_validator_run(record),
            Some(EventName::Summary) => {
                self.summary = record.text.to_string();
                self.compactions += 1;
                self.compaction_without_work = Some(self.record_count);
            }
            Some(EventName::SessionEnd) => {
                self.end_reason =
                    if record.name.is_empty() { "ended".to_owned() } else { record.name.to_string() };
            }
            Some(EventName::AfterCompact) if main => self.context.forget_use(),
            Some(EventName::SessionStart) if main => {
                self.end_reason.clear();
                if record.name == "compact" {
                    self.context.forget_use();
                }
                // A session that continues under a new id counts as seen from its start, because hooks saw it under
                // its old id.
                self.did_hooks_see_start |= match record.name.as_ref() {
                    "resume" | "fork" => false,
                    "compact" => !record.previous_session.is_empty(),
                    _ => true,
                };
                // If the harness reports no summary, this event is the only sign of a compaction.
                if record.name == "compact" && self.compaction_without_work.is_none() {
                    self.compaction_without_work = Some(self.record_count);
                }
                if !record.previous_session.is_empty() {
                    self.continued_session = record.previous_session.to_string();
                }
            }
            Some(
                EventName::Prompt
                | EventName::BeforeCompact
                | EventName::AfterCompact
                | EventName::SubagentStart
                | EventName::Stop
                | EventName::SessionStart
                | EventName::Other,
            )
            | None => {}
        }
        FoldOutcome::Counted
    }

    fn add_call(&mut self, record: &JournalRecord) {
        if record.agent.is_none() {
            self.clear_announced_change_if_finished(record);
        }
        let has_failed = record.ok == Some(false);
        let changed = if has_failed { changed::paths_changed_by_failed_call(record) } else { Vec::new() };
        for file in &record.files {
            let is_changed =
                || !has_failed || changed.iter().any(|path| is_file_or_folder_of(path, &file.path));
            let unchanged = file.action.changes_file() && !is_changed();
            let mut file = self.path_from_first_worktree(file, record);
            if unchanged {
                file.to_mut().action = FileAction::Mention;
            }
            self.add_file_of_record(&file, record);
            if record.agent.is_none() {
                self.add_file_edit(&file, record);
            }
        }
        self.add_unnamed_change(record);
        // The session needs to know which files its sub-agents used, but not how their commands ended.
        if record.agent.is_none() {
            self.add_run(record);
            if !self.is_part_of_command_about_records(record) {
                self.add_step(record);
            }
            self.add_agent(record);
            self.add_approved_plan(record);
        }
        if let Some(todos) = record.todos.as_ref().filter(|_| record.agent.is_none()) {
            self.todos_changed_at = self.record_count;
            self.change_todos(todos);
        }
        self.add_effects(record);
        self.answers.extend(record.answers.iter().cloned());
        keep_last(&mut self.answers, MAX_USER_ANSWERS_KEPT);
    }

    /// Makes a file's path relative to the first worktree. Files with the same name in different worktrees are
    /// different files.
    fn path_from_first_worktree<'f>(
        &self,
        file: &'f RecordedFile,
        record: &JournalRecord,
    ) -> Cow<'f, RecordedFile> {
        if record.worktree == self.first_worktree || file.outside {
            return Cow::Borrowed(file);
        }
        let whole = format!("{}/{}", record.worktree, file.path);
        let path = checkout_path::path_within_checkout(&self.first_worktree, &whole).path.into_owned();
        Cow::Owned(RecordedFile { path, ..file.clone() })
    }

    fn add_file_of_record(&mut self, file: &RecordedFile, record: &JournalRecord) {
        let last = self.record_count;
        let place = match self.files.iter().position(|known| known.path == file.path) {
            Some(place) => place,
            None => {
                let path = file.path.clone();
                self.files.push(FileUse { path, is_outside_checkout: file.outside, ..FileUse::default() });
                self.files.len() - 1
            }
        };
        let known = &mut self.files[place];
        known.last_use_record = last;
        known.uses_by_subagents += u32::from(record.agent.is_some());
        known.deleted = file.action == FileAction::Delete;
        known.was_missing = is_read_of_missing_file(file, record);
        if changed::is_written_by_command(file) {
            (known.written_at, known.commits_without_file) = (last, 0);
            known.edits_by_commands += u32::from(known.looks_like_project_file());
        }
        match file.action {
            _ if file.guess => known.mentions_in_commands += 1,
            action if action.changes_file() => {
                known.edits += 1;
                (known.edited_at, known.commits_without_file) = (last, 0);
            }
            _ => known.reads += 1,
        }
        if self.files.len() > MAX_FILES {
            // Drop the least recently used file that was not edited. If all files were edited, drop the least
            // recently used one.
            let oldest = (0..self.files.len())
                .min_by_key(|i| (self.files[*i].edits > 0, self.files[*i].last_use_record));
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

    /// Returns the record number of the last compaction. Everything after it is still in the agent's context window.
    pub fn last_compaction_record_number(&self) -> u64 {
        self.compaction_without_work.unwrap_or(self.last_compaction_before_work)
    }

    /// Returns the harness's summary if no work has followed the compaction, otherwise an empty string.
    pub fn summary_if_no_work_followed(&self) -> &str {
        if self.compaction_without_work.is_some() { &self.summary } else { "" }
    }

    /// Changes the digest as if the harness had just compacted the session with this summary.
    pub fn simulate_compaction(&mut self, summary: &str) {
        self.summary = summary.to_owned();
        self.compaction_without_work = Some(self.record_count);
    }
}

/// Returns whether a tool tried to read a file that does not exist.
fn is_read_of_missing_file(file: &RecordedFile, record: &JournalRecord) -> bool {
    const MISSING_FILE_WORDS: [&str; 4] = ["does not exist", "no such file", "file not found", "enoent"];
    let error = record.error.to_lowercase();
    file.action == FileAction::Read
        && record.ok == Some(false)
        && record.command.is_empty()
        && MISSING_FILE_WORDS.iter().any(|words| error.contains(words))
}

fn keep_last<T>(list: &mut Vec<T>, most: usize) {
    if list.len() > most {
        list.drain(..list.len() - most);
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
