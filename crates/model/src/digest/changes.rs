//! The agent's stated reasons for its edits. For example, the agent says "now update `parse` to keep comments" and
//! then edits a file.

use serde::{Deserialize, Serialize};

use super::repeated::hash_call_id;
use super::{Digest, ToolCallAction, is_default, keep_last};
use crate::declared::ChangedNames;
use crate::edit_text::ChangedLine;
use crate::event::FileAction;
use crate::journal::{JournalRecord, RecordedFile};
use crate::run;
use crate::statement;
use crate::text::shorten_to_bytes;

const MAX_CHANGES: usize = 80;
const MAX_ANNOUNCED_CHANGE_BYTES: usize = 220;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEdit {
    pub record: u64,
    pub at: String,
    pub path: String,
    /// The reason that the agent gave, or empty if it gave none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The declarations that the edit changed.
    #[serde(skip_serializing_if = "ChangedNames::is_empty")]
    #[serde(rename = "names")]
    pub changed_names: ChangedNames,
    /// The hash of the call's id, or zero if the id is unknown.
    #[serde(skip_serializing_if = "is_default")]
    #[serde(rename = "call")]
    pub(super) call_hash: u64,
    /// What the edit changed, according to the transcript.
    #[serde(skip_serializing_if = "ChangedLine::is_empty")]
    pub line: ChangedLine,
    /// Whether a later command threw the edit away before it was committed (see [`Digest::is_thrown_away`]).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "thrown_away")]
    pub(super) is_discarded: bool,
    /// Whether a hook reported the edit. In that case, the agent's text before the edit is read from the transcript
    /// later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "live")]
    pub(super) is_reported_by_hook: bool,
}

impl Digest {
    pub(super) fn add_file_edit(&mut self, file: &RecordedFile, record: &JournalRecord) {
        let is_edit = matches!(file.action, FileAction::Create | FileAction::Edit) && !file.guess;
        if !is_edit || record.ok == Some(false) {
            return;
        }
        let live = record.from.is_empty();
        self.changes.push(FileEdit {
            record: self.record_count,
            at: record.ts.to_string(),
            path: file.path.clone(),
            why: if live { String::new() } else { self.purpose.clone() },
            changed_names: file.names.clone(),
            call_hash: hash_call_id(&record.id),
            line: ChangedLine::default(),
            is_discarded: false,
            is_reported_by_hook: live,
        });
        keep_last(&mut self.changes, MAX_CHANGES);
    }

    /// Records, for edits that are already known, what each of them changed.
    pub(super) fn add_edit_texts(&mut self, record: &JournalRecord) {
        for edit in &record.edits {
            let call = hash_call_id(&edit.call);
            let of_call = |change: &&mut FileEdit| call != 0 && change.call_hash == call;
            if let Some(change) = self.changes.iter_mut().rev().find(of_call) {
                change.line = edit.line.clone();
            }
        }
    }

    /// Returns whether the digest knows what this edit call changed.
    pub fn has_edit_text(&self, call_id: &str) -> bool {
        let call = hash_call_id(call_id);
        self.changes.iter().any(|change| change.call_hash == call && !change.line.is_empty())
    }

    /// Returns the edits after the last commit, the last check that passed and the last message that ended a turn,
    /// oldest first. Returns nothing if the agent had finished, because the change is then complete.
    pub fn edits_in_progress(&self) -> Vec<&FileEdit> {
        if self.has_finished() {
            return Vec::new();
        }
        let checked = self.steps.iter().rfind(|step| step.passed).map_or(0, |step| step.record);
        let closed = self.statements.iter().rfind(|said| said.ended_turn).map_or(0, |said| said.record);
        let since = checked.max(closed);
        let saved =
            |path: &str| self.files.iter().find(|file| file.path == path).map_or(0, |file| file.saved_at);
        let is_open =
            |edit: &&FileEdit| edit.record > since.max(saved(&edit.path)) && !self.is_thrown_away(edit);
        self.changes.iter().filter(is_open).collect()
    }

    /// Clears the announced change once it seems finished: the agent has run a check, or has read another file after an
    /// edit.
    pub(super) fn clear_announced_change_if_finished(&mut self, record: &JournalRecord) {
        if self.purpose.is_empty() {
            return;
        }
        let edited = self.changes.last().filter(|change| change.why == self.purpose);
        let moves_on = |edited: &FileEdit| {
            record.files.iter().any(|file| was_file_read_by_agent(file) && file.path != edited.path)
        };
        if edited.is_some_and(moves_on) || !run::checks_of_command(&record.command, &record.cwd).is_empty() {
            self.purpose.clear();
        }
    }

    /// Records the change that the agent announces. If hooks have already reported edits that followed the
    /// announcement, the announcement becomes their reason.
    pub(super) fn add_announced_change(&mut self, record: &JournalRecord) {
        self.purpose = shorten_to_bytes(
            &statement::change_announced_in_message(&record.text),
            MAX_ANNOUNCED_CHANGE_BYTES,
        )
        .into_owned();
        let told_late = !record.from.is_empty() && !record.ts.is_empty();
        let later = |change: &&mut FileEdit| change.is_reported_by_hook && change.at.as_str() >= &*record.ts;
        let mut first: Option<(u64, String)> = None;
        for change in self.changes.iter_mut().filter(later).filter(|_| told_late) {
            let (since, path) = first.get_or_insert_with(|| (change.record, change.path.clone()));
            let moved_on = self.steps.iter().any(|step| {
                step.action == ToolCallAction::Read
                    && step.path_or_command != *path
                    && (*since..change.record).contains(&step.record)
            });
            change.why = if moved_on { String::new() } else { self.purpose.clone() };
        }
    }

    /// For one file, returns the declarations that were changed after a record. Edits that were thrown away do not
    /// count.
    pub fn names_changed_since(&self, path: &str, record: u64) -> ChangedNames {
        let mut names = ChangedNames::default();
        let is_kept = |change: &&FileEdit| {
            change.path == path && change.record > record && !self.is_thrown_away(change)
        };
        let edits = self.changes.iter().filter(is_kept);
        edits.for_each(|change| names.add_later_edit(&change.changed_names));
        names
    }

    /// For one file, returns the declarations whose changes are uncommitted or were made for the newest prompt.
    pub fn names_changed_in_current_work(&self, path: &str) -> ChangedNames {
        let asked = self.prompts.last().map_or(0, |prompt| prompt.record);
        let saved = self.files.iter().find(|file| file.path == path).map_or(0, |file| file.saved_at);
        self.names_changed_since(path, saved.min(asked))
    }

    /// Returns the files that were changed after a record, the most recently changed one first. Each file comes
    /// with the distinct reasons for its changes, oldest first. A reason is left out if it mentions another
    /// file but not this one.
    pub fn changes_since(&self, record: u64) -> Vec<(&str, Vec<&str>)> {
        let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
        let is_kept = |change: &&FileEdit| change.record > record && !self.is_thrown_away(change);
        for change in self.changes.iter().rev().filter(is_kept) {
            let place = found.iter().position(|(path, _)| *path == change.path);
            let place = place.unwrap_or_else(|| {
                found.push((&change.path, Vec::new()));
                found.len() - 1
            });
            let why = &mut found[place].1;
            let is_new = !change.why.is_empty() && !why.contains(&change.why.as_str());
            if is_new && !self.names_another_file(&change.why, &change.path) {
                why.insert(0, &change.why);
            }
        }
        found
    }

    /// Returns whether the text mentions another file of the session but not `path`.
    fn names_another_file(&self, words: &str, path: &str) -> bool {
        let name = |path: &'_ str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
        let words: Vec<&str> =
            words.split(|c| !is_in_word(c)).map(|word| word.trim_end_matches('.')).collect();
        let named = |file: &str| words.iter().any(|word| name(word) == file);
        let mine = name(path);
        !named(&mine)
            && self
                .files
                .iter()
                .map(|file| name(&file.path))
                .any(|other| other.contains('.') && named(&other))
    }
}

/// Returns whether the agent read the file, rather than only mentioning it in a command line.
fn was_file_read_by_agent(file: &RecordedFile) -> bool {
    matches!(file.action, FileAction::Read) && !file.guess
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
