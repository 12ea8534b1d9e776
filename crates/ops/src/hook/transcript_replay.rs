//! Converts a transcript to events: calls with their results, prompts, the agent's messages and compactions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::edit_text::{MAX_EDIT_TEXT_BYTES, first_changed_line};
use model::effect;
use model::event::{
    DelegatedWork, Event, EventKind, EventSubagent, FileAction, QuestionAnswer, StopEvent, Todo, TodoChange,
    ToolDone, TouchedFile,
};
use model::failure::error_lines;
use model::journal::{self, JournalRecord, RecordPolicy, RecordedEditText};
use model::redact::{self, REDACTION_MARGIN_BYTES, Redacted};
use model::run;
use model::statement;
use model::text::{cut_to_bytes, fnv_fingerprint};
use model::time;
use model::transcript::{
    CallResult, CallSubject, DeferredText, ItemDedup, MAX_CALL_RESULT_BYTES, ToolCall, TranscriptItem,
    TranscriptLine, TranscriptLineAuthor, TranscriptLineKind,
};
use model::window::WindowFacts;

/// How many bytes of a failed call's output are searched for error lines.
const MAX_ERROR_BYTES_SEARCHED: usize = 64 * 1024;
const MAX_CALL_ID_BYTES: usize = 256;
/// The old and the new text are kept for at most this many edits. The oldest edits are dropped first.
const MAX_EDIT_TEXTS: usize = 12;
const MAX_REFUSAL_BYTES: usize = 512;

#[derive(Debug)]
pub struct TranscriptRecord {
    /// The id by which duplicates are recognised: the harness's id for the call or message. If there is none, the id
    /// is made from the record's time and text.
    pub id: String,
    pub at: Option<String>,
    pub kind: EventKind<'static>,
    /// Whether the record is a message from the agent. No hook reports these messages, so the journal has a separate
    /// kind of line for them.
    pub is_agent_message: bool,
    /// For a message from the agent, the id of the call that follows it, if there is one.
    pub next_call: String,
    /// Whether the transcript ends before the call's result.
    pub is_unfinished: bool,
    /// The branch that was checked out at that time, if the harness records it.
    pub branch: String,
    /// For a prompt, the call that the user refused with this text.
    pub refused_call: Option<Cow<'static, str>>,
    /// The sub-agent that made the call, if it was not the main agent.
    pub agent: Option<String>,
}

impl TranscriptRecord {
    /// Converts the record to an event in the same session as `around`.
    pub fn to_event<'a>(&self, around: &Event<'a>) -> Event<'a> {
        let agent =
            self.agent.clone().map(|id| EventSubagent { id: id.into(), agent_type: Cow::Borrowed("") });
        Event {
            kind: self.kind.clone(),
            subagent: agent,
            previous_session: None,
            harness_event_id: None,
            ..around.clone()
        }
    }

    pub fn fingerprint(&self) -> u64 {
        fnv_fingerprint([&self.id])
    }

    pub fn to_journal_record<'a>(
        &'a self,
        event: &'a Event<'_>,
        policy: &RecordPolicy<'a>,
    ) -> JournalRecord<'a> {
        let mut record = journal::record_of_event(event, policy);
        record.from = "transcript".into();
        record.id = Cow::Borrowed(&self.id);
        if let Some(at) = &self.at {
            record.ts = Cow::Borrowed(at);
        }
        if self.is_agent_message {
            record.event = journal::AGENT_MESSAGE_EVENT.into();
            record.next_call = Cow::Borrowed(&self.next_call);
        }
        if self.is_unfinished {
            record.ok = None;
        }
        record.branch = Cow::Borrowed(&self.branch);
        if let Some(refused) = &self.refused_call {
            record.command = policy.redact_and_cut(refused, MAX_REFUSAL_BYTES);
        }
        record
    }
}

/// Reads a transcript line by line. A sub-agent has its own context, so a sub-agent's call is kept only if it may
/// change something.
#[derive(Debug)]
pub struct TranscriptReplay {
    /// Whether to include prompts and compactions in addition to calls and messages.
    includes_prompts: bool,
    redact_options: redact::RedactOptions,
    dedup: ItemDedup,
    /// The unfinished calls, each with the offset of its line.
    open_calls: Vec<(ToolDone<'static>, u64)>,
    /// The unfinished calls of sub-agents that may change something, each with the id of its sub-agent.
    open_subagent_calls: Vec<(ToolDone<'static>, String)>,
    line_offset: u64,
    /// What the newest edits replaced: the id of the call, the old text and the new text. They are not redacted yet.
    replacements: Vec<(String, String, String)>,
    pub records: Vec<TranscriptRecord>,
    pub compacted: bool,
    pub unknown: BTreeMap<String, u64>,
    /// How many lines are cut off or cannot be read.
    pub unreadable_lines: u64,
    /// The index of the agent's last message. The next message replaces this message, unless this message is
    /// informative.
    last_message_index: Option<usize>,
    /// The index of the call whose result was on the current line.
    ended_call_index: Option<usize>,
    /// The branch in the last line that names a branch.
    branch: String,
    /// The number of tokens in the last request, and the position of the last compaction.
    pub window: WindowFacts,
}

impl TranscriptReplay {
    pub fn new(includes_prompts: bool, redact_options: redact::RedactOptions) -> TranscriptReplay {
        TranscriptReplay {
            includes_prompts,
            redact_options,
            dedup: ItemDedup::default(),
            open_calls: Vec::new(),
            open_subagent_calls: Vec::new(),
            line_offset: 0,
            replacements: Vec::new(),
            records: Vec::new(),
            compacted: false,
            unknown: BTreeMap::new(),
            unreadable_lines: 0,
            last_message_index: None,
            ended_call_index: None,
            branch: String::new(),
            window: WindowFacts::default(),
        }
    }

    /// Returns the calls that have started but have no result yet.
    pub fn unfinished_calls(&self) -> Vec<TranscriptRecord> {
        let told = |call: ToolDone<'static>| TranscriptRecord {
            id: call.call_id.as_deref().unwrap_or_default().to_owned(),
            at: None,
            kind: EventKind::ToolDone(Box::new(call)),
            is_agent_message: false,
            next_call: String::new(),
            is_unfinished: true,
            branch: String::new(),
            refused_call: None,
            agent: None,
        };
        self.open_calls.iter().map(|(call, _)| told(call.clone())).collect()
    }

    /// Returns the journal record that says what the newest edits changed, or `None` if nothing new is known about
    /// them. `is_known` takes a call's id and returns whether the journal already says what that call changed.
    pub fn edit_texts_record<'a>(
        &self,
        session: &'a str,
        policy: &RecordPolicy<'a>,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<JournalRecord<'a>> {
        let options = policy.redact_options;
        let edit = |(call, old, new): &(String, String, String)| {
            let line = first_changed_line(
                &Redacted::redact_head(old, MAX_EDIT_TEXT_BYTES, options),
                &Redacted::redact_head(new, MAX_EDIT_TEXT_BYTES, options),
            )?;
            let call = Redacted::redact_head(call, MAX_CALL_ID_BYTES, options);
            Some(RecordedEditText { call: call.to_string(), line })
        };
        let is_open =
            |call: &str| self.open_calls.iter().any(|(open, _)| open.call_id.as_deref() == Some(call));
        let new = self.replacements.iter().filter(|(call, ..)| !is_known(call) && !is_open(call));
        let edits: Vec<RecordedEditText> = new.filter_map(edit).collect();
        (!edits.is_empty()).then(|| JournalRecord {
            v: 1,
            ts: time::to_rfc3339(policy.now).into(),
            harness: policy.harness.into(),
            event: journal::EDIT_TEXTS_EVENT.into(),
            session: session.into(),
            worktree: policy.checkout.into(),
            from: "transcript".into(),
            edits,
            ..JournalRecord::default()
        })
    }

    fn add_replacement(&mut self, call: &ToolCall) {
        let (Some(id), Some(replaced)) = (call.id.as_deref(), &call.replacement) else { return };
        let part = |text: &DeferredText| {
            let text = text.read();
            cut_to_bytes(&text, MAX_EDIT_TEXT_BYTES + REDACTION_MARGIN_BYTES).to_owned()
        };
        if self.replacements.len() >= MAX_EDIT_TEXTS {
            self.replacements.remove(0);
        }
        self.replacements.push((id.to_owned(), part(&replaced.old), part(&replaced.new)));
    }

    /// Returns the offset of the line with the first unfinished call.
    pub fn offset_of_first_unfinished_call(&self) -> Option<u64> {
        self.open_calls.first().map(|(_, line_at)| *line_at)
    }

    pub fn read_line_at(&mut self, line: TranscriptLine, line_at: u64) {
        self.line_offset = line_at;
        self.read_line(line);
    }

    pub fn read_line(&mut self, line: TranscriptLine) {
        if let TranscriptLineKind::Unknown(kind) = &line.kind {
            let kind = Redacted::redact_head(kind, 64, self.redact_options).to_string();
            *self.unknown.entry(kind).or_default() += 1;
        }
        self.unreadable_lines += u64::from(line.kind == TranscriptLineKind::Torn);
        if let TranscriptLineAuthor::SubAgent { agent } = &line.author {
            let agent = agent.as_deref().unwrap_or("side").to_owned();
            return self.read_subagent_line(line, &agent);
        }
        self.ended_call_index = None;
        // Most lines contain only metadata and have no items.
        if line.items.is_empty() {
            return;
        }
        if let Some(branch) = line.branch.as_deref().filter(|branch| *branch != self.branch) {
            self.branch = Redacted::redact_head(branch, MAX_CALL_ID_BYTES, self.redact_options).to_string();
        }
        // Calls and token counts are recorded without a time. If a line contains nothing else, its time need not be
        // parsed.
        let is_timeless =
            |item: &TranscriptItem| matches!(item, TranscriptItem::Call(_) | TranscriptItem::Usage(_));
        let at = match line.items.iter().all(is_timeless) {
            true => None,
            false => line.parsed_time().map(time::to_rfc3339),
        };
        for item in line.items {
            if let Some(item) = self.dedup.keep_if_new(item) {
                self.read_item(&item, at.as_deref());
            }
        }
    }

    /// Reads a sub-agent's line. A sub-agent's changes belong to the session, because its edits are in the same
    /// checkout and its commits are on the same branch.
    fn read_subagent_line(&mut self, line: TranscriptLine, agent: &str) {
        let at = line.time_text.clone();
        for item in line.items {
            match self.dedup.keep_if_new(item) {
                Some(TranscriptItem::Call(call)) if may_call_change_anything(&call) => {
                    let agent =
                        Redacted::redact_head(agent, MAX_CALL_ID_BYTES, self.redact_options).to_string();
                    self.open_subagent_calls.push((unfinished_tool_call(&call), agent));
                }
                // Most results belong to calls that change nothing. Read a result only if a call that may change
                // something has no result yet.
                Some(TranscriptItem::Result(result)) if !self.open_subagent_calls.is_empty() => {
                    let at = at.as_deref().and_then(time::parse_time).map(time::to_rfc3339);
                    self.end_subagent_call(&result, at.as_deref());
                }
                _ => {}
            }
        }
    }

    fn end_subagent_call(&mut self, result: &CallResult, at: Option<&str>) {
        let is_it = |(call, _): &(ToolDone, String)| {
            call.call_id.is_some() && call.call_id.as_deref() == result.call_id.as_deref()
        };
        let Some(place) = self.open_subagent_calls.iter().position(is_it) else { return };
        let (call, agent) = self.open_subagent_calls.remove(place);
        let told = self.records.len();
        self.push_ended_call(call, result, at);
        // Mark the call as a sub-agent's call, because its failure is not a failure of the session.
        if let Some(told) = self.records.get_mut(told) {
            told.agent = Some(agent);
        }
        self.ended_call_index = None;
    }

    /// Ends the replay. Calls without a result become records that contain only their files.
    pub fn finish_reading(&mut self) {
        let at = self.records.last().and_then(|told| told.at.clone());
        for (call, _) in std::mem::take(&mut self.open_calls) {
            let mention = |file: TouchedFile<'static>| TouchedFile { action: FileAction::Mention, ..file };
            let files = call.files.into_iter().map(mention).collect();
            let id = call.call_id.as_deref().unwrap_or_default().to_owned();
            let delegated = call.delegated_work;
            let begun = ToolDone {
                call_id: call.call_id,
                tool: call.tool,
                files,
                delegated_work: delegated,
                ..ToolDone::default()
            };
            self.push_record(at.as_deref(), &id, EventKind::ToolDone(Box::new(begun)), false);
            self.records.last_mut().into_iter().for_each(|told| told.is_unfinished = true);
        }
    }

    fn read_item(&mut self, item: &TranscriptItem, at: Option<&str>) {
        match item {
            TranscriptItem::Usage(usage) => self.window.add_usage(usage, at),
            TranscriptItem::Compaction { .. } => self.window.add_compaction(self.line_offset, at),
            TranscriptItem::Call(call) => {
                let id = Redacted::redact_head(
                    call.id.as_deref().unwrap_or_default(),
                    MAX_CALL_ID_BYTES,
                    self.redact_options,
                );
                let said = self.last_message_index.and_then(|said| self.records.get_mut(said));
                if let Some(said) = said.filter(|said| said.next_call.is_empty()) {
                    said.next_call = id.to_string();
                }
                self.add_replacement(call);
                self.open_calls.push((unfinished_tool_call(call), self.line_offset));
            }
            TranscriptItem::Todos(change) => {
                // If a change to the task list follows a result, the change belongs to the call that has just ended,
                // because the number of a new entry is known only after the call.
                let change = Some(to_owned_change(change));
                match self.ended_call() {
                    Some(call) => call.todo_change = change,
                    None => {
                        self.open_calls
                            .last_mut()
                            .into_iter()
                            .for_each(|(call, _)| call.todo_change.clone_from(&change));
                    }
                }
            }
            TranscriptItem::AnswerToQuestion { question: Some(question), text, .. } => {
                let answer =
                    QuestionAnswer { question: to_owned_text(question), answer: to_owned_text(text) };
                if let Some(call) = self.ended_call() {
                    call.answers.push(answer);
                }
            }
            // The text with which the user refused a call. No hook reports it. Readers return it before the refusal
            // itself.
            TranscriptItem::AnswerToQuestion { question: None, call_id: call, text } => {
                let call = self
                    .open_calls
                    .iter()
                    .map(|(open, _)| open)
                    .find(|open| call.is_some() && open.call_id == *call);
                let what = call.map(|call| call.command.clone().unwrap_or_else(|| call.tool.clone()));
                self.last_message_index = None;
                let kind = EventKind::Prompt { text: to_owned_text(text) };
                self.push_record(at, &id_from_time_and_text("refused", at, text), kind, false);
                if let Some(told) = self.records.last_mut() {
                    told.refused_call = Some(what.unwrap_or_default());
                }
            }
            TranscriptItem::Result(result) => self.end_call(result, at),
            TranscriptItem::Prompt { text, .. } | TranscriptItem::QueuedPrompt { text, .. }
                if self.includes_prompts =>
            {
                let kind = EventKind::Prompt { text: to_owned_text(text) };
                self.last_message_index = None;
                self.push_record(at, &id_from_time_and_text("prompt", at, text), kind, false);
            }
            TranscriptItem::Prompt { .. } | TranscriptItem::QueuedPrompt { .. } => {
                self.last_message_index = None;
            }
            TranscriptItem::AgentMessage { message_id: message, text } => {
                if let Some(earlier) =
                    self.last_message_index.take().filter(|earlier| !self.is_finding_or_purpose(*earlier))
                {
                    self.records.remove(earlier);
                }
                self.last_message_index = Some(self.records.len());
                let id = message.as_deref().unwrap_or(at.unwrap_or_default());
                self.push_record(
                    at,
                    &format!("said-{id}-{:016x}", fnv_fingerprint([text.as_ref()])),
                    EventKind::Stop(StopEvent { message: Some(to_owned_text(text)), ..StopEvent::default() }),
                    true,
                );
            }
            TranscriptItem::ShownFile { path } if self.includes_prompts => {
                let file = TouchedFile::new(to_owned_text(path), FileAction::Read);
                let shown = ToolDone { tool: "@".into(), files: vec![file], ..ToolDone::default() };
                self.push_record(
                    at,
                    &id_from_time_and_text("shown", at, path),
                    EventKind::ToolDone(Box::new(shown)),
                    false,
                );
            }
            TranscriptItem::Summary { text } if self.includes_prompts => {
                self.compacted = true;
                let kind = EventKind::Summary { text: to_owned_text(text) };
                self.push_record(at, &id_from_time_and_text("summary", at, text), kind, false);
            }
            _ => {}
        }
    }

    fn end_call(&mut self, result: &CallResult, at: Option<&str>) {
        let Some(id) = result.call_id.as_deref() else { return };
        let Some(place) = self.open_calls.iter().position(|(call, _)| call.call_id.as_deref() == Some(id))
        else {
            return;
        };
        let (call, _) = self.open_calls.remove(place);
        if result.failed || result.is_refused_by_user {
            self.replacements.retain(|(call, ..)| call != id);
        }
        self.push_ended_call(call, result, at);
    }

    fn push_ended_call(&mut self, mut call: ToolDone<'static>, result: &CallResult, at: Option<&str>) {
        if result.is_refused_by_user {
            return; // the call never ran
        }
        let id = call.call_id.as_deref().unwrap_or_default().to_owned();
        call.failed = result.failed;
        call.exit_code = result.exit_code;
        if result.failed {
            let text = result.text.read();
            // Pick the error lines here, because a call's output can be several megabytes long.
            let said = Redacted::redact_head(&text, MAX_ERROR_BYTES_SEARCHED, self.redact_options);
            call.error = Some(Cow::Owned(error_lines(&said)));
        }
        let wanted = match call.command.as_deref() {
            Some(command) => effect::may_have_effect(command) || run::may_report_result(command),
            None => effect::tool_acts(&call.tool),
        };
        if wanted {
            // Keep both ends of a long output. The beginning shows what was created. The end shows what was done last
            // and how the call ended.
            let text = result.text.read();
            call.output = Some(match result.failed || text.len() < MAX_CALL_RESULT_BYTES {
                true => Cow::Owned(text.into_owned()),
                false => Cow::Owned(format!("{text}\n{}", result.last_lines.read())),
            });
        }
        if !result.files.is_empty() {
            let names = call.files.first().map(|file| file.changed_names.clone()).unwrap_or_default();
            call.files = result.files.iter().map(to_owned_file).collect();
            // Only the result of a write shows whether the file is new.
            if let [file] = call.files.as_mut_slice() {
                file.changed_names = names.keep_only_if_file_is_new(file.action == FileAction::Create);
            }
        }
        if let (Some(name), [file]) = (&result.enclosing_declaration, call.files.as_mut_slice()) {
            file.changed_names.set_enclosing_declaration(Some(name.clone()));
        }
        if let Some(delegated) = &mut call.delegated_work {
            delegated.answer = Cow::Owned(result.text.read().into_owned());
        }
        self.ended_call_index = Some(self.records.len());
        self.push_record(at, &id, EventKind::ToolDone(Box::new(call)), false);
    }

    /// Returns whether a message between two calls states what was found or what the next edits are for.
    fn is_finding_or_purpose(&self, place: usize) -> bool {
        match &self.records[place].kind {
            EventKind::Stop(StopEvent { message: Some(text), .. }) => {
                !statement::finding_between_calls(text).is_empty()
                    || !statement::change_announced_in_message(text).is_empty()
            }
            _ => false,
        }
    }

    fn ended_call(&mut self) -> Option<&mut ToolDone<'static>> {
        match &mut self.records.get_mut(self.ended_call_index?)?.kind {
            EventKind::ToolDone(call) => Some(call),
            _ => None,
        }
    }

    fn push_record(&mut self, at: Option<&str>, id: &str, kind: EventKind<'static>, is_agent_message: bool) {
        let id = Redacted::redact_head(id, MAX_CALL_ID_BYTES, self.redact_options).to_string();
        self.records.push(TranscriptRecord {
            id,
            at: at.map(str::to_owned),
            kind,
            is_agent_message,
            next_call: String::new(),
            is_unfinished: false,
            branch: self.branch.clone(),
            refused_call: None,
            agent: None,
        });
    }
}

/// Makes an id from the time and the text, for a record that has no id.
fn id_from_time_and_text(what: &str, at: Option<&str>, text: &str) -> String {
    format!("{what}-{}-{:016x}", at.unwrap_or_default(), fnv_fingerprint([text]))
}

/// Describes an unfinished call in a few words, for example `cargo test` or `Edit src/a.rs`.
pub fn describe_unfinished_call(call: &JournalRecord) -> String {
    match (call.command.as_ref(), call.files.first()) {
        ("", Some(file)) => format!("{} {}", call.tool, file.path),
        ("", None) => call.tool.to_string(),
        (command, _) => command.to_owned(),
    }
}

/// Returns whether a call edits files or may act on the outside world.
fn may_call_change_anything(call: &ToolCall) -> bool {
    let edits = |file: &TouchedFile| file.action.changes_file();
    let acts = match call.command.as_deref() {
        Some(command) => effect::may_have_effect(command),
        None => effect::tool_acts(&call.tool),
    };
    acts || call.files.iter().any(edits)
}

fn unfinished_tool_call(call: &ToolCall) -> ToolDone<'static> {
    ToolDone {
        call_id: call.id.as_deref().map(to_owned_text),
        tool: to_owned_text(&call.tool),
        files: call.files.iter().map(to_owned_file).collect(),
        command: call.command.as_deref().map(to_owned_text),
        delegated_work: match &call.subject {
            CallSubject::Delegated { task, .. } => {
                Some(DelegatedWork { task: to_owned_text(task), answer: Cow::Borrowed("") })
            }
            _ => None,
        },
        proposed_plan: match &call.subject {
            CallSubject::Plan(plan) => Some(to_owned_text(plan)),
            _ => None,
        },
        input_text: call.input_text.as_deref().map(to_owned_text),
        ..ToolDone::default()
    }
}

fn to_owned_text(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}

fn to_owned_file(file: &TouchedFile) -> TouchedFile<'static> {
    TouchedFile {
        path: to_owned_text(&file.path),
        action: file.action,
        changed_names: file.changed_names.clone(),
        lines: file.lines,
    }
}

fn to_owned_change(change: &TodoChange) -> TodoChange<'static> {
    match change {
        TodoChange::WholeList(todos) => TodoChange::WholeList(
            todos.iter().map(|todo| Todo { text: to_owned_text(&todo.text), status: todo.status }).collect(),
        ),
        TodoChange::OneEntry { id, text, status } => TodoChange::OneEntry {
            id: to_owned_text(id),
            text: text.as_deref().map(to_owned_text),
            status: *status,
        },
    }
}
