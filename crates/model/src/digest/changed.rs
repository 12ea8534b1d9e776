//! Determines from a session's calls which files have changed since a certain record.

use super::{Digest, FileUse, is_generated_or_vendored_file};
use crate::declared::may_declare_names;
use crate::event::FileAction;
use crate::journal::{JournalRecord, RecordedFile};
use crate::run;

/// The files that changed since a certain record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles<'d> {
    pub paths: Vec<&'d str>,
    /// Whether the session ran a command that may have changed other files.
    pub may_be_more: bool,
}

impl Digest {
    /// Returns the files that a tool edited or a command wrote after the record with this number.
    pub fn files_changed_since(&self, record: u64) -> ChangedFiles<'_> {
        let changed = self.files.iter().filter(|file| file.edited_at.max(file.written_at) > record);
        ChangedFiles {
            paths: changed.map(|file| file.path.as_str()).collect(),
            may_be_more: self.unnamed_change_at > record,
        }
    }

    /// Returns the files that were changed after the record with this number and that may affect the result of a
    /// check. These are files that tools edited, and program code that commands wrote. A log that a command writes
    /// affects no result. The most recently changed file comes first.
    pub fn files_changed_after_check(&self, record: u64) -> Vec<&str> {
        let changed_at = |file: &FileUse| match may_declare_names(&file.path) {
            true => file.edited_at.max(file.written_at),
            false => file.edited_at,
        };
        let mut changed: Vec<&FileUse> = self.files.iter().filter(|file| changed_at(file) > record).collect();
        changed.sort_by_key(|file| std::cmp::Reverse(changed_at(file)));
        changed.iter().map(|file| file.path.as_str()).collect()
    }

    /// Returns the most recently edited file that is not documentation, if it was edited after this record.
    pub fn last_code_file_edited_after(&self, record: u64) -> Option<&str> {
        let edited = self.files.iter().filter(|file| file.edits > 0 && file.edited_at > record);
        let code = edited.filter(|file| !is_documentation(&file.path));
        code.max_by_key(|file| file.edited_at).map(|file| file.path.as_str())
    }

    /// Records that a command may have changed files not mentioned in its text.
    pub(super) fn add_unnamed_change(&mut self, record: &JournalRecord) {
        if !record.command.is_empty() && run::may_change_unnamed_files(&record.command) {
            self.unnamed_change_at = self.record_count;
        }
    }
}

/// Returns whether a file is documentation, that is, whether its text affects no check of the project. Some `.txt`
/// files do not count, because build tools read them.
pub fn is_documentation(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_read_by_tool = name == "CMakeLists.txt" || name.contains("requirements");
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "md" | "mdx" | "rst" | "adoc") || ending == "txt" && !is_read_by_tool
}

/// Returns whether an untracked file that a command wrote looks like a text that a person would commit, rather than like
/// a log, a download or a build output.
pub(super) fn looks_like_committable_text(path: &str) -> bool {
    const WRITTEN_TEXT_EXTENSIONS: &[&str] =
        &["md", "mdx", "rst", "adoc", "toml", "yaml", "yml", "html", "css", "scss"];
    const EXTENSIONS_OF_OUTPUT_FILES: &[&str] = &[
        "out", "err", "tmp", "bak", "orig", "rej", "pid", "gz", "tgz", "xz", "tar", "zip", "png", "jpg",
        "gif", "pdf", "o", "a", "so", "bin", "db", "sqlite", "pyc", "class", "map", "prof", "trace", "dat",
        "tap",
    ];
    let ending = path.rsplit('/').next().unwrap_or(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_text = WRITTEN_TEXT_EXTENSIONS.contains(&ending)
        || may_declare_names(path) && !EXTENSIONS_OF_OUTPUT_FILES.contains(&ending);
    is_text
        && !is_generated_or_vendored_file(path)
        && !path.split('/').any(|folder| matches!(folder, "tmp" | "temp" | "venv"))
}

/// Returns whether a command wrote or deleted a file that is mentioned in its text.
pub(super) fn is_written_by_command(file: &RecordedFile, record: &JournalRecord) -> bool {
    let writes = matches!(file.action, FileAction::Create | FileAction::Edit | FileAction::Delete);
    file.guess && writes && !file.outside && record.ok != Some(false)
}

#[cfg(test)]
#[path = "changed_tests.rs"]
mod tests;
