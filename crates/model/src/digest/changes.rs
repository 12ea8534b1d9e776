//! What edits were for, in the agent's words. It says "now update `parse` to keep comments" and then edits a file.

use serde::{Deserialize, Serialize};

use super::{Digest, keep_last};
use crate::event::Action;
use crate::journal::{FileField, Record};
use crate::run;
use crate::statement;
use crate::text::cut;

const MOST_CHANGES: usize = 80;
const WHY_BYTES: usize = 220;

/// One edit of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Change {
    pub record: u64,
    pub at: String,
    pub path: String,
    /// What the agent said the edit was for; empty if it did not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// True if a hook reported the edit. The agent's words before it come later, with the transcript.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) live: bool,
}

impl Digest {
    pub(super) fn add_change(&mut self, file: &FileField, record: &Record) {
        let is_edit = matches!(file.action, Action::Create | Action::Edit) && !file.guess;
        if !is_edit || record.ok == Some(false) {
            return;
        }
        let live = record.from.is_empty();
        self.changes.push(Change {
            record: self.records,
            at: record.ts.to_string(),
            path: file.path.clone(),
            why: if live { String::new() } else { self.purpose.clone() },
            live,
        });
        keep_last(&mut self.changes, MOST_CHANGES);
    }

    /// Forgets the announced change once the agent checks its work.
    pub(super) fn end_purpose(&mut self, record: &Record) {
        if !self.purpose.is_empty() && !run::checks(&record.command, &record.cwd).is_empty() {
            self.purpose.clear();
        }
    }

    /// Records what the agent says that it is about to change. Edits that hooks reported are already known; their times
    /// say which of them came after these words.
    pub(super) fn add_purpose(&mut self, record: &Record) {
        self.purpose = cut(&statement::purpose(&record.text), WHY_BYTES).to_owned();
        let told_late = !record.from.is_empty() && !record.ts.is_empty();
        let later = |change: &&mut Change| change.live && change.at.as_str() >= &*record.ts;
        for change in self.changes.iter_mut().filter(later).filter(|_| told_late) {
            self.purpose.clone_into(&mut change.why);
        }
    }

    /// Returns the paths of the files that were changed after a record, each with its distinct reasons, oldest first.
    /// The file that was changed last comes first.
    pub fn changes_since(&self, record: u64) -> Vec<(&str, Vec<&str>)> {
        let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
        for change in self.changes.iter().rev().filter(|change| change.record > record) {
            let place = found.iter().position(|(path, _)| *path == change.path);
            let place = place.unwrap_or_else(|| {
                found.push((&change.path, Vec::new()));
                found.len() - 1
            });
            let why = &mut found[place].1;
            if !change.why.is_empty() && !why.contains(&change.why.as_str()) {
                why.insert(0, &change.why);
            }
        }
        found
    }
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
