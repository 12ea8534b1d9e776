//! A session folded into what matters of it. Made from the journal, line by line; deleting it loses nothing.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::event::{Action, TodoStatus};
use crate::journal::{AnswerField, FileField, Record, TodoField};
use crate::text::{cut, fingerprint};

pub const SCHEMA_VERSION: u32 = 1;

/// How much of each kind is kept. A digest is read at every session start, so it has to stay small.
const PROMPTS: usize = 40;
const PROMPT_BYTES: usize = 2_000;
const FILES: usize = 400;
const COMMANDS: usize = 200;
const ANSWERS: usize = 50;
const CALLS: usize = 2_048;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Digest {
    pub schema_version: u32,
    pub session: String,
    pub harness: String,
    pub worktree: String,
    /// The session this one goes on from, as some harnesses have it after a compaction.
    pub previous: String,
    /// Bytes of transcript that lay before the first contact, or too far back, and were never read.
    pub unread: u64,
    /// How far the journal has been folded: parts that were rotated away, and bytes of the one being written.
    pub parts: usize,
    pub offset: u64,
    /// Records counted so far. Serves as the clock of this session: it never goes back.
    pub records: u64,
    /// Tool calls counted so far.
    pub called: u64,
    pub first_at: String,
    pub last_at: String,
    pub prompts: Vec<Prompt>,
    pub files: Vec<FileUse>,
    pub commands: Vec<CommandUse>,
    pub todos: Vec<TodoField>,
    pub answers: Vec<AnswerField>,
    /// The last thing the agent said.
    pub said: String,
    /// The record in which it did.
    pub said_last: u64,
    /// The harness's own summary, of the last compaction.
    pub summary: String,
    pub compactions: u32,
    /// Why the session ended; empty while it may go on.
    pub ended: String,
    /// Types of transcript lines that this build does not know, and how often they came.
    pub unknown: BTreeMap<String, u64>,
    /// Digests of the ids of calls already counted, oldest first.
    calls: Vec<u64>,
    /// What hooks told without an id, and what the transcript told, while the other has not told it yet.
    nameless: Vec<u64>,
    retold: Vec<u64>,
    #[serde(skip)]
    known: HashSet<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    pub at: String,
    pub record: u64,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileUse {
    pub path: String,
    pub outside: bool,
    pub edits: u32,
    pub reads: u32,
    /// Times that only the text of a command named it.
    pub guesses: u32,
    pub deleted: bool,
    /// The record that touched it last.
    pub last: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandUse {
    pub command: String,
    pub runs: u32,
    pub failures: u32,
    /// How the last run ended.
    pub ok: bool,
    pub exit: Option<i64>,
    pub error: String,
    /// Of a test run: how it summed up, and whether it passed by that.
    pub result: String,
    pub passed: Option<bool>,
    /// When it ran last.
    pub at: String,
    pub last: u64,
}

/// What folding a record came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    Counted,
    /// The same call again: a hook that fired twice, or the transcript telling what a hook had told.
    Repeated,
}

impl Digest {
    pub fn new(session: &str) -> Digest {
        Digest { schema_version: SCHEMA_VERSION, session: session.to_owned(), ..Digest::default() }
    }

    /// Takes one record in.
    pub fn fold(&mut self, record: &Record) -> Folded {
        if self.is_repeated(record) {
            return Folded::Repeated;
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
        let main = record.agent.is_none();
        match record.event.as_ref() {
            "prompt" if main => self.add_prompt(record),
            "tool-done" => {
                self.called += 1;
                self.add_call(record);
            }
            "stop" | "said" if main && !record.text.is_empty() => {
                self.said = record.text.to_string();
                self.said_last = self.records;
            }
            "summary" => {
                self.summary = record.text.to_string();
                self.compactions += 1;
            }
            "session-end" => {
                self.ended =
                    if record.name.is_empty() { "ended".to_owned() } else { record.name.to_string() };
            }
            "session-start" if main => {
                self.ended.clear();
                if !record.previous.is_empty() {
                    self.previous = record.previous.to_string();
                }
            }
            _ => {}
        }
        Folded::Counted
    }

    /// What was told before, by the same voice or another. With an id that is certain. A hook without one and the
    /// transcript's telling of the same thing are matched by their shape, whichever came first.
    fn is_repeated(&mut self, record: &Record) -> bool {
        let shape = shape_of(record);
        let told_by_both = record.event == "tool-done" || record.event == "prompt";
        if !record.id.is_empty() && !self.is_new_id(record) {
            return true;
        }
        if !told_by_both {
            return false;
        }
        let (mine, other) = match (record.from.as_ref(), record.id.is_empty()) {
            ("transcript", _) => (&mut self.retold, &mut self.nameless),
            (_, true) => (&mut self.nameless, &mut self.retold),
            // A hook that gives ids needs no matching.
            (_, false) => return false,
        };
        if let Some(place) = other.iter().position(|known| *known == shape) {
            other.remove(place);
            return true;
        }
        mine.push(shape);
        keep_last(mine, CALLS);
        false
    }

    /// Whether a record with this id has been folded.
    pub fn knows(&self, record: &Record) -> bool {
        self.calls.contains(&id_of(record))
    }

    fn is_new_id(&mut self, record: &Record) -> bool {
        if self.known.len() < self.calls.len() {
            self.known = self.calls.iter().copied().collect();
        }
        let id = id_of(record);
        if !self.known.insert(id) {
            return false;
        }
        self.calls.push(id);
        keep_last(&mut self.calls, CALLS);
        true
    }

    fn add_prompt(&mut self, record: &Record) {
        let prompt = Prompt {
            at: record.ts.to_string(),
            record: self.records,
            text: cut(&record.text, PROMPT_BYTES).to_owned(),
        };
        if prompt.text.trim().is_empty() {
            return;
        }
        self.prompts.push(prompt);
        // The first one stays: it is what the session is about.
        if self.prompts.len() > PROMPTS {
            self.prompts.remove(1);
        }
    }

    fn add_call(&mut self, record: &Record) {
        for file in &record.files {
            self.add_file(file);
        }
        // A sub-agent's files matter to the session; how its commands ended is its own business.
        if !record.command.is_empty() && record.agent.is_none() {
            self.add_command(record);
        }
        if let Some(todos) = record.todos.as_ref().filter(|_| record.agent.is_none()) {
            self.change_todos(todos);
        }
        self.answers.extend(record.answers.iter().cloned());
        keep_last(&mut self.answers, ANSWERS);
    }

    fn add_file(&mut self, file: &FileField) {
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
        known.deleted = file.action == Action::Delete;
        match file.action {
            _ if file.guess => known.guesses += 1,
            Action::Create | Action::Edit | Action::Delete => known.edits += 1,
            Action::Read | Action::Mention => known.reads += 1,
        }
        if self.files.len() > FILES {
            // What was never edited and is longest ago goes first.
            let oldest =
                (0..self.files.len()).min_by_key(|i| (self.files[*i].edits > 0, self.files[*i].last));
            self.files.remove(oldest.unwrap_or(0));
        }
    }

    fn add_command(&mut self, record: &Record) {
        let command = record.command.trim().to_owned();
        let mut entry = match self.commands.iter().position(|known| known.command == command) {
            Some(place) => self.commands.remove(place),
            None => CommandUse { command, ..CommandUse::default() },
        };
        // Piped into `tail`, a failing test run ends well; what it printed knows better.
        let told_to_fail = record.passed == Some(false);
        let ok = record.ok.unwrap_or(true) && !told_to_fail;
        entry.runs += 1;
        entry.failures += u32::from(!ok);
        entry.ok = ok;
        entry.exit = record.exit.filter(|exit| ok || *exit != 0);
        entry.error = match (ok, record.error.is_empty()) {
            (true, _) => String::new(),
            (false, false) => record.error.to_string(),
            (false, true) => record.result.to_string(),
        };
        entry.result = record.result.to_string();
        entry.passed = record.passed;
        entry.at = record.ts.to_string();
        entry.last = self.records;
        self.commands.push(entry);
        if self.commands.len() > COMMANDS {
            let oldest = self.commands.iter().position(|command| command.ok).unwrap_or(0);
            self.commands.remove(oldest);
        }
    }

    /// The list as the harness has it now, not its history.
    fn change_todos(&mut self, changes: &[TodoField]) {
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

    /// This session seen as the continuation of `earlier`: what was known then, and what has come since.
    pub fn after(self, earlier: Digest) -> Digest {
        let shift = earlier.records;
        let mut whole = Digest { session: self.session, last_at: self.last_at, ended: self.ended, ..earlier };
        whole.records += self.records;
        whole.compactions += self.compactions;
        whole.prompts.extend(
            self.prompts.into_iter().map(|prompt| Prompt { record: prompt.record + shift, ..prompt }),
        );
        for file in self.files {
            match whole.files.iter_mut().find(|known| known.path == file.path) {
                Some(known) => {
                    known.edits += file.edits;
                    known.reads += file.reads;
                    known.guesses += file.guesses;
                    (known.deleted, known.last) = (file.deleted, file.last + shift);
                }
                None => whole.files.push(FileUse { last: file.last + shift, ..file }),
            }
        }
        for command in self.commands {
            whole.commands.retain(|known| known.command != command.command);
            whole.commands.push(CommandUse { last: command.last + shift, ..command });
        }
        whole.answers.extend(self.answers);
        if !self.todos.is_empty() {
            whole.todos = self.todos;
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

    /// Commands whose last run failed, newest first.
    pub fn open_failures(&self) -> impl Iterator<Item = &CommandUse> {
        self.commands.iter().rev().filter(|command| !command.ok)
    }

    pub fn open_todos(&self) -> impl Iterator<Item = &TodoField> {
        self.todos.iter().filter(|todo| todo.status.is_none_or(TodoStatus::is_open))
    }

    /// Files, those most likely to be needed again first: edits before reads, recent before old, often before once,
    /// and what an open failure names before all.
    pub fn ranked_files(&self) -> Vec<&FileUse> {
        let mut ranked: Vec<(f64, &FileUse)> =
            self.files.iter().map(|file| (self.worth(file), file)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
        ranked.into_iter().map(|(_, file)| file).collect()
    }

    fn worth(&self, file: &FileUse) -> f64 {
        let age = self.records.saturating_sub(file.last) as f64;
        let recency = 0.3 + 0.7 * (-age / 60.0).exp2();
        let kind = if file.edits > 0 {
            3.0
        } else if file.reads > 0 {
            1.5
        } else {
            0.5
        };
        let often = 1.0 + f64::from(file.edits + file.reads + file.guesses).ln_1p() / 2.0;
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let blamed = self.open_failures().take(5).any(|failure| failure.error.contains(name));
        let down = if file.outside || is_generated(&file.path) { 0.3 } else { 1.0 };
        down * (kind * often * recency + if blamed { 3.0 } else { 0.0 })
    }
}

/// Built, vendored or locked: rarely what somebody works on.
pub fn is_generated(path: &str) -> bool {
    const FOLDERS: &[&str] =
        &["target", "node_modules", "dist", "build", "vendor", ".git", "__pycache__", ".next", "coverage"];
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| FOLDERS.contains(&part)) || name.ends_with(".lock") || name.contains(".min.")
}

/// A prompt's id can come again with other words: what a stop hook said, for one.
fn id_of(record: &Record) -> u64 {
    let words = if record.event == "prompt" { record.text.as_ref() } else { "" };
    fingerprint([record.id.as_ref(), words])
}

/// What makes two tellings of one thing alike: the tool, its command, its files and its end, or the words of a prompt.
fn shape_of(record: &Record) -> u64 {
    let end = if record.ok == Some(false) { "failed" } else { "" };
    let files = record.files.iter().filter(|file| !file.guess).map(|file| file.path.as_str());
    fingerprint(
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
