//! Converts a transcript to events: calls with their results, prompts, the agent's words, compactions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::effect;
use model::event::{
    Action, Agent, Answer, Delegated, Event, Kind, Stop, Todo, TodoChange, ToolDone, Touched,
};
use model::failure::error_lines;
use model::journal::{self, Record, RecordPolicy};
use model::redact::{self, Redacted};
use model::run;
use model::statement;
use model::text::fingerprint;
use model::time;
use model::transcript::{About, Call, CallResult, Chain, Dedup, GIVEN_BYTES, Item, Kind as LineKind, Line};
use model::window::Seen;

/// How many bytes of a failed call's output are searched for the lines that say why it failed.
const ERROR_BYTES: usize = 64 * 1024;
const ID_BYTES: usize = 256;
const REFUSED_BYTES: usize = 512;

/// One event from a transcript.
#[derive(Debug)]
pub struct TranscriptRecord {
    /// An id to recognise repetitions: the harness's id of the call or message, or its time.
    pub id: String,
    pub at: Option<String>,
    pub kind: Kind<'static>,
    /// Whether the record contains words of the agent. No event reports these, so the journal has a separate kind
    /// of line for them.
    pub said: bool,
    /// True if the transcript ends before the end of the call.
    pub begun: bool,
    /// The branch that was checked out at that time, if the harness records it.
    pub branch: String,
    /// For a prompt: the call that the user refused with these words.
    pub refused: Option<Cow<'static, str>>,
    /// The sub-agent that made the call.
    pub agent: Option<String>,
}

impl TranscriptRecord {
    /// Returns the record as an event of the session that `around` belongs to.
    pub fn event<'a>(&self, around: &Event<'a>) -> Event<'a> {
        let agent = self.agent.clone().map(|id| Agent { id: id.into(), kind: Cow::Borrowed("") });
        Event { kind: self.kind.clone(), agent, previous: None, id: None, ..around.clone() }
    }

    /// Returns a value that identifies the record.
    pub fn mark(&self) -> u64 {
        fingerprint([&self.id])
    }

    /// Returns the record as a line of the session's journal.
    pub fn record<'a>(&'a self, event: &'a Event<'_>, policy: &RecordPolicy<'a>) -> Record<'a> {
        let mut record = journal::record(event, policy);
        record.from = "transcript".into();
        record.id = Cow::Borrowed(&self.id);
        if let Some(at) = &self.at {
            record.ts = Cow::Borrowed(at);
        }
        if self.said {
            record.event = journal::SAID.into();
        }
        if self.begun {
            record.ok = None;
        }
        record.branch = Cow::Borrowed(&self.branch);
        if let Some(refused) = &self.refused {
            record.command = policy.clean(refused, REFUSED_BYTES);
        }
        record
    }
}

/// Reads a transcript line by line. Of a sub-agent's calls only those that change something are kept, because a
/// sub-agent has its own context.
#[derive(Debug)]
pub struct TranscriptReplay {
    /// Whether to include prompts and compactions, not only calls and words.
    whole: bool,
    redact: redact::Options,
    dedup: Dedup,
    /// Unfinished calls, each with the offset of its line.
    open: Vec<(ToolDone<'static>, u64)>,
    /// Unfinished calls of sub-agents that may change something, each with its sub-agent.
    open_side: Vec<(ToolDone<'static>, String)>,
    /// The offset of the current line.
    line_at: u64,
    pub told: Vec<TranscriptRecord>,
    pub compacted: bool,
    pub unknown: BTreeMap<String, u64>,
    /// The number of lines that are cut off or unreadable.
    pub torn: u64,
    /// The index of the agent's last words. Words before them are kept only if they are informative.
    said: Option<usize>,
    /// The index of the call that ended on the current line.
    ended: Option<usize>,
    /// The branch of the current line.
    branch: String,
    /// What the lines say about the context window.
    pub window: Seen,
}

impl TranscriptReplay {
    pub fn new(whole: bool, redact: redact::Options) -> TranscriptReplay {
        TranscriptReplay {
            whole,
            redact,
            dedup: Dedup::default(),
            open: Vec::new(),
            open_side: Vec::new(),
            line_at: 0,
            told: Vec::new(),
            compacted: false,
            unknown: BTreeMap::new(),
            torn: 0,
            said: None,
            ended: None,
            branch: String::new(),
            window: Seen::default(),
        }
    }

    /// Returns the calls that have begun but not ended.
    pub fn begun(&self) -> Vec<TranscriptRecord> {
        let told = |call: ToolDone<'static>| TranscriptRecord {
            id: call.id.as_deref().unwrap_or_default().to_owned(),
            at: None,
            kind: Kind::ToolDone(Box::new(call)),
            said: false,
            begun: true,
            branch: String::new(),
            refused: None,
            agent: None,
        };
        self.open.iter().map(|(call, _)| told(call.clone())).collect()
    }

    /// Returns the offset of the line of the first unfinished call.
    pub fn first_open(&self) -> Option<u64> {
        self.open.first().map(|(_, line_at)| *line_at)
    }

    pub fn hear_at(&mut self, line: Line, line_at: u64) {
        self.line_at = line_at;
        self.hear(line);
    }

    pub fn hear(&mut self, line: Line) {
        if let LineKind::Unknown(kind) = &line.kind {
            let kind = Redacted::head(kind, 64, self.redact).to_string();
            *self.unknown.entry(kind).or_default() += 1;
        }
        self.torn += u64::from(line.kind == LineKind::Torn);
        if let Chain::Side { agent } = &line.chain {
            let agent = agent.as_deref().unwrap_or("side").to_owned();
            return self.hear_side(line, &agent);
        }
        self.ended = None;
        // Most lines are bookkeeping and have no items.
        if line.items.is_empty() {
            return;
        }
        if let Some(branch) = line.branch.as_deref().filter(|branch| *branch != self.branch) {
            self.branch = Redacted::head(branch, ID_BYTES, self.redact).to_string();
        }
        let at = line.time().map(time::rfc3339);
        for item in line.items {
            if let Some(item) = self.dedup.keep(item) {
                self.take(&item, at.as_deref());
            }
        }
    }

    /// Reads a sub-agent's line. What a sub-agent changes belongs to the session: its edits are in the same
    /// checkout, and its commits are on the same branch.
    fn hear_side(&mut self, line: Line, agent: &str) {
        let at = line.at.clone();
        for item in line.items {
            match self.dedup.keep(item) {
                Some(Item::Call(call)) if may_change(&call) => {
                    let agent = Redacted::head(agent, ID_BYTES, self.redact).to_string();
                    self.open_side.push((begun(&call), agent));
                }
                // Most results belong to calls that changed nothing.
                Some(Item::Result(result)) if !self.open_side.is_empty() => {
                    let at = at.as_deref().and_then(time::parse).map(time::rfc3339);
                    self.end_side(&result, at.as_deref());
                }
                _ => {}
            }
        }
    }

    fn end_side(&mut self, result: &CallResult, at: Option<&str>) {
        let is_it = |(call, _): &(ToolDone, String)| {
            call.id.is_some() && call.id.as_deref() == result.call.as_deref()
        };
        let Some(place) = self.open_side.iter().position(is_it) else { return };
        let (call, agent) = self.open_side.remove(place);
        let told = self.told.len();
        self.ended_as(call, result, at);
        // Mark the call as the sub-agent's, because its failures are not failures of the session.
        if let Some(told) = self.told.get_mut(told) {
            told.agent = Some(agent);
        }
        self.ended = None;
    }

    /// Ends the reading. Of a call that has not ended, only the files are known.
    pub fn finish(&mut self) {
        let at = self.told.last().and_then(|told| told.at.clone());
        for (call, _) in std::mem::take(&mut self.open) {
            let mention = |file: Touched<'static>| Touched { action: Action::Mention, ..file };
            let files = call.files.into_iter().map(mention).collect();
            let id = call.id.as_deref().unwrap_or_default().to_owned();
            let delegated = call.delegated;
            let begun = ToolDone { id: call.id, tool: call.tool, files, delegated, ..ToolDone::default() };
            self.tell(at.as_deref(), &id, Kind::ToolDone(Box::new(begun)), false);
            self.told.last_mut().into_iter().for_each(|told| told.begun = true);
        }
    }

    fn take(&mut self, item: &Item, at: Option<&str>) {
        match item {
            Item::Usage(usage) => self.window.add_usage(usage),
            Item::Compaction { .. } => self.window.add_compaction(self.line_at),
            Item::Call(call) => self.open.push((begun(call), self.line_at)),
            Item::Todos(change) => {
                // A change that follows a result belongs to the call that just ended. The number of a new item is
                // known only after the call.
                let change = Some(owned_change(change));
                match self.ended_call() {
                    Some(call) => call.todos = change,
                    None => {
                        self.open.last_mut().into_iter().for_each(|(call, _)| call.todos.clone_from(&change));
                    }
                }
            }
            Item::Answer { question: Some(question), text, .. } => {
                let answer = Answer { question: owned(question), answer: owned(text) };
                if let Some(call) = self.ended_call() {
                    call.answers.push(answer);
                }
            }
            // What the user said when refusing a call. No hook reports this. Readers return it before the refusal
            // itself.
            Item::Answer { question: None, call, text } => {
                let call =
                    self.open.iter().map(|(open, _)| open).find(|open| call.is_some() && open.id == *call);
                let what = call.map(|call| call.command.clone().unwrap_or_else(|| call.tool.clone()));
                self.said = None;
                let kind = Kind::Prompt { text: owned(text) };
                self.tell(at, &named("refused", at, text), kind, false);
                if let Some(told) = self.told.last_mut() {
                    told.refused = Some(what.unwrap_or_default());
                }
            }
            Item::Result(result) => self.end(result, at),
            Item::Prompt { text, .. } | Item::Queued { text, .. } if self.whole => {
                let kind = Kind::Prompt { text: owned(text) };
                self.said = None;
                self.tell(at, &named("prompt", at, text), kind, false);
            }
            Item::Prompt { .. } | Item::Queued { .. } => self.said = None,
            Item::Said { message, text } => {
                if let Some(earlier) = self.said.take().filter(|earlier| !self.is_finding(*earlier)) {
                    self.told.remove(earlier);
                }
                self.said = Some(self.told.len());
                let id = message.as_deref().unwrap_or(at.unwrap_or_default());
                self.tell(
                    at,
                    &format!("said-{id}-{:016x}", fingerprint([text.as_ref()])),
                    Kind::Stop(Stop { message: Some(owned(text)), ..Stop::default() }),
                    true,
                );
            }
            Item::Shown { path } if self.whole => {
                let file = Touched { path: owned(path), action: Action::Read };
                let shown = ToolDone { tool: "@".into(), files: vec![file], ..ToolDone::default() };
                self.tell(at, &named("shown", at, path), Kind::ToolDone(Box::new(shown)), false);
            }
            Item::Summary { text } if self.whole => {
                self.compacted = true;
                let kind = Kind::Summary { text: owned(text) };
                self.tell(at, &named("summary", at, text), kind, false);
            }
            _ => {}
        }
    }

    fn end(&mut self, result: &CallResult, at: Option<&str>) {
        let Some(id) = result.call.as_deref() else { return };
        let Some(place) = self.open.iter().position(|(call, _)| call.id.as_deref() == Some(id)) else {
            return;
        };
        let (call, _) = self.open.remove(place);
        self.ended_as(call, result, at);
    }

    fn ended_as(&mut self, mut call: ToolDone<'static>, result: &CallResult, at: Option<&str>) {
        if result.refused {
            return; // the call was never run
        }
        let id = call.id.as_deref().unwrap_or_default().to_owned();
        call.failed = result.failed;
        call.exit = result.exit;
        if result.failed {
            // The error lines are picked here, because the output of a call can be several megabytes.
            let said = Redacted::head(&result.text, ERROR_BYTES, self.redact);
            call.error = Some(Cow::Owned(error_lines(&said)));
        }
        let wanted = match call.command.as_deref() {
            Some(command) => effect::may_act(command) || run::may_tell(command),
            None => effect::tool_acts(&call.tool),
        };
        if wanted {
            // The beginning of the output says what was created, and its end says what was done last and how it
            // ended.
            call.output = Some(match result.failed || result.text.len() < GIVEN_BYTES {
                true => owned(&result.text),
                false => Cow::Owned(format!(
                    "{}
{}",
                    result.text, result.tail
                )),
            });
        }
        if !result.files.is_empty() {
            call.files = result.files.iter().map(owned_file).collect();
        }
        if let Some(delegated) = &mut call.delegated {
            delegated.answer = owned(&result.text);
        }
        self.ended = Some(self.told.len());
        self.tell(at, &id, Kind::ToolDone(Box::new(call)), false);
    }

    /// Returns whether the agent's words between two calls say what was found, or what the next edits are for.
    fn is_finding(&self, place: usize) -> bool {
        match &self.told[place].kind {
            Kind::Stop(Stop { message: Some(text), .. }) => {
                !statement::finding(text).is_empty() || !statement::purpose(text).is_empty()
            }
            _ => false,
        }
    }

    /// Returns the call that ended on the current line.
    fn ended_call(&mut self) -> Option<&mut ToolDone<'static>> {
        match &mut self.told.get_mut(self.ended?)?.kind {
            Kind::ToolDone(call) => Some(call),
            _ => None,
        }
    }

    fn tell(&mut self, at: Option<&str>, id: &str, kind: Kind<'static>, said: bool) {
        let id = Redacted::head(id, ID_BYTES, self.redact).to_string();
        self.told.push(TranscriptRecord {
            id,
            at: at.map(str::to_owned),
            kind,
            said,
            begun: false,
            branch: self.branch.clone(),
            refused: None,
            agent: None,
        });
    }
}

/// Makes an id from the time and the text, for a record that has none.
fn named(what: &str, at: Option<&str>, text: &str) -> String {
    format!("{what}-{}-{:016x}", at.unwrap_or_default(), fingerprint([text]))
}

/// Describes an unfinished call in a few words: `cargo test`, or `Edit src/a.rs`.
pub fn unfinished_words(call: &Record) -> String {
    match (call.command.as_ref(), call.files.first()) {
        ("", Some(file)) => format!("{} {}", call.tool, file.path),
        ("", None) => call.tool.to_string(),
        (command, _) => command.to_owned(),
    }
}

/// Returns whether a call edits files, or may act on the outside world.
fn may_change(call: &Call) -> bool {
    let edits = |file: &Touched| matches!(file.action, Action::Create | Action::Edit | Action::Delete);
    let acts = match call.command.as_deref() {
        Some(command) => effect::may_act(command),
        None => effect::tool_acts(&call.tool),
    };
    acts || call.files.iter().any(edits)
}

fn begun(call: &Call) -> ToolDone<'static> {
    ToolDone {
        id: call.id.as_deref().map(owned),
        tool: owned(&call.tool),
        files: call.files.iter().map(owned_file).collect(),
        command: call.command.as_deref().map(owned),
        delegated: match &call.about {
            About::Delegated { what, .. } => {
                Some(Delegated { asked: owned(what), answer: Cow::Borrowed("") })
            }
            _ => None,
        },
        plan: match &call.about {
            About::Plan(plan) => Some(owned(plan)),
            _ => None,
        },
        asked: call.asked.as_deref().map(owned),
        ..ToolDone::default()
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}

fn owned_file(file: &Touched) -> Touched<'static> {
    Touched { path: owned(&file.path), action: file.action }
}

fn owned_change(change: &TodoChange) -> TodoChange<'static> {
    match change {
        TodoChange::All(todos) => TodoChange::All(
            todos.iter().map(|todo| Todo { text: owned(&todo.text), status: todo.status }).collect(),
        ),
        TodoChange::One { id, text, status } => {
            TodoChange::One { id: owned(id), text: text.as_deref().map(owned), status: *status }
        }
    }
}
