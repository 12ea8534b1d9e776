//! Which files a session has changed since a certain record, as far as its calls tell.

use super::Digest;
use crate::event::FileAction;
use crate::journal::{FileField, JournalRecord};
use crate::run;

/// The files that changed since a certain record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles<'d> {
    pub paths: Vec<&'d str>,
    /// Whether a command ran that may have changed other files.
    pub may_be_more: bool,
}

impl Digest {
    /// Returns the files that tools edited and that commands wrote after the record with this number.
    pub fn files_changed_since(&self, record: u64) -> ChangedFiles<'_> {
        let changed = self.files.iter().filter(|file| file.edited_at.max(file.written_at) > record);
        ChangedFiles {
            paths: changed.map(|file| file.path.as_str()).collect(),
            may_be_more: self.unnamed_change_at > record,
        }
    }

    /// Notes that the call may have changed files that neither its input nor its command names.
    pub(super) fn add_unnamed_change(&mut self, record: &JournalRecord) {
        if !record.command.is_empty() && run::may_change_unnamed_files(&record.command) {
            self.unnamed_change_at = self.records;
        }
    }
}

/// Returns whether a command wrote or deleted a file that its text names.
pub(super) fn is_written_by_command(file: &FileField, record: &JournalRecord) -> bool {
    let writes = matches!(file.action, FileAction::Create | FileAction::Edit | FileAction::Delete);
    file.guess && writes && !file.outside && record.ok != Some(false)
}

#[cfg(test)]
#[path = "changed_tests.rs"]
mod tests;
