//! Determines from a session's calls which files have changed since a certain record.

use super::{Digest, FileUse, is_generated_or_vendored_file};
use crate::checkout_path::is_in_store;
use crate::declared::may_declare_names;
use crate::journal::{JournalRecord, RecordedFile};
use crate::run::{self, RunResult};
use crate::unfinished_call::UnfinishedCall;

/// The files that changed since a certain record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles<'d> {
    pub paths: Vec<&'d str>,
    /// Whether the session ran a command that may have changed other files.
    pub may_be_more: bool,
}

/// The files that changed after a run of a check and that may affect its result. The most recently changed file comes
/// first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangesAfterRun {
    /// The files that a tool edited or a command wrote.
    pub edited: Vec<String>,
    /// The files whose modification time is the only sign of a change. Their content may be the same as before.
    pub maybe_changed: Vec<String>,
}

impl ChangesAfterRun {
    /// Adds the changes that are not yet listed.
    pub(super) fn add(&mut self, more: ChangesAfterRun) {
        for (list, added) in [(&mut self.edited, more.edited), (&mut self.maybe_changed, more.maybe_changed)]
        {
            for path in added {
                if !list.contains(&path) {
                    list.push(path);
                }
            }
        }
        self.maybe_changed.retain(|path| !self.edited.contains(path));
    }
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

    /// Returns whether a file was or may have been changed after the record with this number, by the session or on disk.
    pub fn may_have_changed_files_after(&self, record: u64) -> bool {
        let ChangedFiles { paths, may_be_more } = self.files_changed_since(record);
        !paths.is_empty() || may_be_more || !self.is_check_current(record)
    }

    /// Returns the files that were changed after the record with this number and that may affect the result of a
    /// check. These are files that tools edited, and program code that commands wrote. A log that a command writes
    /// affects no result, and neither does a record such as a sub-agent's output. Files that were changed on disk count
    /// too, whoever changed them, and so does a file whose edit was running when the records ended. The most recently
    /// changed file comes first.
    pub fn files_changed_after_check(&self, record: u64) -> Vec<&str> {
        let on_disk = self.changes_on_disk.iter().map(|change| (change.record, change.path.as_str()));
        let changes = self.edits_that_affect_checks().chain(on_disk);
        paths_changed_after(record, changes.chain(self.edits_of_unknown_outcome()))
    }

    /// Returns the files for which an edit was still running when the records ended. The edit may have changed the
    /// file.
    fn edits_of_unknown_outcome(&self) -> impl Iterator<Item = (u64, &str)> {
        let path = |call| match UnfinishedCall::parse(call) {
            UnfinishedCall::Edit(path) => Some((self.record_count + 1, path)),
            UnfinishedCall::Look(_) | UnfinishedCall::Command(_) => None,
        };
        self.unfinished_calls().filter_map(path)
    }

    /// Like `files_changed_after_check`, but lists files separately if a new modification time is the only sign
    /// of a change. A new time does not prove an edit, because switching to another branch and back also
    /// changes the time.
    pub fn changes_after_check(&self, record: u64) -> ChangesAfterRun {
        let edited = paths_changed_after(record, self.edits_that_affect_checks());
        let all = self.files_changed_after_check(record).into_iter();
        let maybe_changed = all.filter(|path| !edited.contains(path)).map(str::to_owned).collect();
        ChangesAfterRun { edited: edited.into_iter().map(str::to_owned).collect(), maybe_changed }
    }

    /// Returns the session's files that may affect a check, each with the record that last edited or wrote it.
    fn edits_that_affect_checks(&self) -> impl Iterator<Item = (u64, &str)> {
        let changed_at = |file: &FileUse| match may_declare_names(&file.path) {
            true => file.edited_at.max(file.written_at),
            false => file.edited_at,
        };
        self.files.iter().map(move |file| (changed_at(file), file.path.as_str()))
    }

    /// Returns whether the result of a check in this record is still current. A later change to a file that may
    /// affect checks makes the result outdated.
    pub fn is_check_current(&self, record: u64) -> bool {
        self.files_changed_after_check(record).is_empty()
    }

    /// Like `is_check_current`, but also returns false if a later command may have changed files that it does not name.
    pub(super) fn is_unchanged_since(&self, record: u64) -> bool {
        self.is_check_current(record) && self.unnamed_change_at <= record
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

/// Returns the files that were changed after the record with this number, newest change first. Agents' records are left
/// out.
fn paths_changed_after<'d>(record: u64, changes: impl Iterator<Item = (u64, &'d str)>) -> Vec<&'d str> {
    let is_later = |(at, path): &(u64, &str)| *at > record && !is_in_store(path);
    let mut changed: Vec<(u64, &str)> = changes.filter(is_later).collect();
    changed.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut paths: Vec<&str> = Vec::new();
    for (_, path) in changed {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns whether a file is documentation, that is, whether its text affects no check of the project. Some `.txt`
/// files do not count, because build tools read them.
pub fn is_documentation(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_read_by_tool = name == "CMakeLists.txt" || name.contains("requirements");
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "md" | "mdx" | "rst" | "adoc") || ending == "txt" && !is_read_by_tool
}

impl FileUse {
    /// Returns whether a file that a command wrote belongs to the project, rather than being a log or a build output:
    /// it looks like source text, or a tool read or edited it before.
    pub(super) fn looks_like_project_file(&self) -> bool {
        let is_known = || self.edits + self.reads > 0 && !looks_like_output(&self.path);
        may_declare_names(&self.path) || looks_like_committable_text(&self.path) || is_known()
    }
}

/// Returns whether an untracked file that a command wrote looks like text that a person would commit. Logs,
/// downloads and build outputs do not.
pub(super) fn looks_like_committable_text(path: &str) -> bool {
    const WRITTEN_TEXT_EXTENSIONS: &[&str] =
        &["md", "mdx", "rst", "adoc", "toml", "yaml", "yml", "html", "css", "scss"];
    let is_text = WRITTEN_TEXT_EXTENSIONS.contains(&extension_of(path)) || may_declare_names(path);
    is_text && !looks_like_output(path)
}

/// Returns whether a file looks like the output of a command, such as a log, a download or a build output.
pub(super) fn looks_like_output(path: &str) -> bool {
    const EXTENSIONS_OF_OUTPUT_FILES: &[&str] = &[
        "out", "err", "tmp", "bak", "orig", "rej", "pid", "gz", "tgz", "xz", "tar", "zip", "png", "jpg",
        "gif", "pdf", "o", "a", "so", "bin", "db", "sqlite", "pyc", "class", "map", "prof", "trace", "dat",
        "tap", "log",
    ];
    EXTENSIONS_OF_OUTPUT_FILES.contains(&extension_of(path))
        || is_generated_or_vendored_file(path)
        || path.split('/').any(|folder| matches!(folder, "tmp" | "temp" | "venv"))
}

fn extension_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Returns whether a command wrote or deleted a file that is mentioned in its text.
pub(super) fn is_written_by_command(file: &RecordedFile) -> bool {
    file.guess && file.action.changes_file() && !file.outside
}

/// Returns the files that a failed call changed nevertheless. A failed edit changed nothing, but the first parts of a
/// command line may have changed files before another part failed.
pub(super) fn paths_changed_by_failed_call(record: &JournalRecord) -> Vec<String> {
    if record.command.is_empty() || record.is_refused() {
        return Vec::new();
    }
    let failed_check = (record.ended == RunResult::Failed.name()).then(|| record.step.unwrap_or(0));
    run::paths_changed_by_failed_line(&record.command, failed_check)
}

#[cfg(test)]
#[path = "changed_tests.rs"]
mod tests;
