//! Chooses the files that the next agent should open first.

use super::PacketFacts;
use super::next::CALLS_SINCE_ANNOUNCEMENT_INTRO;
use crate::digest::{self, FileUse};
use crate::failure;
use crate::render::in_backticks;

/// The maximum number of files to open first, unless the user chose more.
const MAX_FIRST_FILES: usize = 5;

/// The maximum number of files that a failure names but that the session has not used. In real sessions, most of these
/// files are opened next.
const MAX_UNOPENED_FILES: usize = 4;

/// A file is rarely opened next if it was last used more than this many records ago. One in ten of these files is
/// opened next, compared with one in three of the others.
const MAX_RECORDS_SINCE_RECENT_USE: u64 = 25;

/// The maximum age, in records, of a file that was used after the agent's last message. If an error names a file, the
/// limit also applies to files with the reasons `Edited`, `Used` and `Uncommitted`. The agent is done with older files.
const MAX_RECORDS_SINCE_FILE_USE: u64 = 5;

/// If all files are too old, this many of the most recently used ones are named anyway.
const MAX_RECENT_FILES_NAMED_INSTEAD: usize = 2;

/// If a failure names a folder, at most this many of the folder's files are opened first.
const MAX_FILES_OF_FOLDER: usize = 2;

/// Why a file should be opened first. The variants are ordered from the best reason to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OpenReason {
    /// The first step names the file.
    Step,
    /// The error message of a failure that is still open mentions the file.
    Error,
    /// The error message of a failure that is still open mentions the file, but the file was edited after the
    /// failure.
    EditedForError,
    /// The error message of a failure that is still open mentions the file's folder.
    FailingFolder,
    /// The file was used after the agent's last message.
    LastUsed,
    /// The request names the file, and the file has not been edited yet.
    NotEdited,
    /// The file was edited for the newest prompt and is not committed.
    Edited,
    /// The file was used for the newest prompt.
    Used,
    /// The file was edited before the newest prompt and is not committed.
    Uncommitted,
}

impl OpenReason {
    /// Returns whether the reason alone shows that the file is needed, no matter how long ago the file was used.
    fn is_certain(self) -> bool {
        matches!(
            self,
            OpenReason::Step
                | OpenReason::Error
                | OpenReason::EditedForError
                | OpenReason::FailingFolder
                | OpenReason::NotEdited
        )
    }
}

/// A file that may be worth opening first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileToOpen<'p> {
    reason: OpenReason,
    /// How many records ago the file was last used.
    age: u64,
    path: &'p str,
}

impl PacketFacts<'_> {
    pub(super) fn files_confirmed_by_user(&self) -> Vec<String> {
        self.material.confirmed.iter().map(|path| in_backticks(path, 120)).collect()
    }

    /// Returns the files to open first: those that the user chose, then the best of the others. Files that are
    /// left out here are listed elsewhere in the packet. If the first step is only to run a check, the other files
    /// are limited to those that the step names.
    pub(super) fn first_files(&self, step: &str, is_check: bool) -> Vec<String> {
        let digest = self.material.digest;
        let is_only = |name: &str| {
            digest.files.iter().filter(|file| file_name_of_path(&file.path) == name).count() == 1
        };
        // The text from `CALLS_SINCE_ANNOUNCEMENT_INTRO` onwards describes what was done after the announcement, so it is cut off.
        let planned = step.split(CALLS_SINCE_ANNOUNCEMENT_INTRO).next().unwrap_or(step);
        let in_step = |file: &FileUse| {
            let name = file_name_of_path(&file.path);
            planned.contains(&file.path) || is_only(name) && planned.contains(name)
        };
        let errors = || self.failing.iter().map(|failure| failure.error.as_str());
        let names_unedited = |file: &FileUse| {
            self.failing.iter().any(|failure| {
                failure::names_file(&failure.error, &file.path) && file.edited_at <= failure.record
            })
        };
        let left = self.files_not_yet_edited_for_request();
        let asked = self.goal.newest_prompt.map_or(0, |newest| newest.record);
        let git = digest.git_state();
        // Only edits after the last commit count. A file that was edited earlier and left out of that commit does not
        // belong to the work.
        let committed = git.commit.map_or(0, |used| used.record);
        let is_uncommitted = |file: &FileUse| {
            file.edited_at > committed && git.uncommitted.iter().any(|other| other.path == file.path)
        };
        let last_said = digest.last_message_record.max(asked);
        let texts =
            [self.goal.newest_prompt, self.goal.task_prompt].map(|prompt| prompt.map(|it| it.text.as_str()));
        let is_example = |file: &FileUse| {
            let mut texts = texts.into_iter().flatten();
            file.edited_at <= asked
                && texts.any(|text| digest::is_only_reference(text, file_name_of_path(&file.path)))
        };
        let reason = |file: &FileUse| match file {
            _ if in_step(file) => Some(OpenReason::Step),
            _ if names_unedited(file) => Some(OpenReason::Error),
            _ if errors().any(|error| failure::names_file(error, &file.path)) => {
                Some(OpenReason::EditedForError)
            }
            _ if errors().any(|error| names_folder_of(error, &file.path)) => Some(OpenReason::FailingFolder),
            _ if is_example(file) => None,
            _ if file.last_use_record > last_said => Some(OpenReason::LastUsed),
            _ if left.iter().any(|name| name == file_name_of_path(&file.path)) => Some(OpenReason::NotEdited),
            _ if file.edited_at > asked && is_uncommitted(file) => Some(OpenReason::Edited),
            _ if file.last_use_record > asked => Some(OpenReason::Used),
            _ if is_uncommitted(file) => Some(OpenReason::Uncommitted),
            _ => None,
        };
        let is_open = |file: &&FileUse| {
            digest.record_count > 0
                && !file.is_outside_checkout
                && !self.is_file_gone(file)
                && (file.is_edited() || file.reads > 0)
        };
        let used = self.suggested.iter().copied().filter(is_open);
        let used = used.filter_map(|file| {
            let age = digest.record_count.saturating_sub(file.last_use_record);
            Some(FileToOpen { reason: reason(file)?, age, path: &file.path })
        });
        // Also include files that the session has not opened, because a compiler error may name such files.
        let is_used = |path: &str| digest.files.iter().any(|file| file.path == path);
        let unopened = errors().flat_map(failure::files_located_by_error).filter(|path| !is_used(path));
        let unopened = unopened.take(MAX_UNOPENED_FILES).map(|path| FileToOpen {
            reason: OpenReason::Error,
            age: 0,
            path,
        });
        let mut paths: Vec<&str> = self.material.confirmed.iter().map(String::as_str).collect();
        let most = MAX_FIRST_FILES.max(paths.len());
        let found = unopened.chain(used).filter(|file| !is_check || file.reason == OpenReason::Step);
        for path in paths_by_reason(found.collect()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths.into_iter().take(most).map(|path| in_backticks(path, 120)).collect()
    }
}

/// Orders paths by reason and then by last use, newest first. Weaker reasons are dropped if there are stronger ones:
/// - A folder is kept only if the error message names no file.
/// - Files edited for the newest prompt are kept only if every file that the request names has been edited.
/// - Files that were used but not edited are dropped if a file was edited for the newest prompt.
/// - Files that were used long ago are dropped.
/// - Older edits are kept only if nothing else is left.
fn paths_by_reason(mut found: Vec<FileToOpen<'_>>) -> Vec<&str> {
    let has = |reason: OpenReason| found.iter().any(|file| file.reason == reason);
    let [has_unedited, has_edited, has_not_edited] =
        [OpenReason::Error, OpenReason::Edited, OpenReason::NotEdited].map(has);
    let has_error = has_unedited || has(OpenReason::EditedForError);
    let is_all_old = found.iter().all(|file| file.reason == OpenReason::Uncommitted);
    found.sort_by_key(|file| (file.reason, file.age));
    let mut of_folder = 0;
    found.retain(|file| match file.reason {
        OpenReason::FailingFolder => {
            of_folder += 1;
            !has_error && of_folder <= MAX_FILES_OF_FOLDER
        }
        OpenReason::Edited => !has_not_edited,
        OpenReason::Used => !has_edited,
        OpenReason::Uncommitted => is_all_old,
        _ => true,
    });
    let is_recent = |file: &&FileToOpen| {
        let most = match file.reason {
            OpenReason::LastUsed => MAX_RECORDS_SINCE_FILE_USE,
            _ if has_error => MAX_RECORDS_SINCE_FILE_USE,
            _ => MAX_RECORDS_SINCE_RECENT_USE,
        };
        file.reason.is_certain() || file.age <= most
    };
    let recent: Vec<&str> = found.iter().filter(is_recent).map(|file| file.path).collect();
    if recent.is_empty() {
        found.sort_by_key(|file| file.age);
        return found.iter().take(MAX_RECENT_FILES_NAMED_INSTEAD).map(|file| file.path).collect();
    }
    recent
}

/// Returns whether a word of the error ends with the path of a file's folder. For example,
/// `FAIL example.com/shop/cart/store` names the folder of `cart/store/save.go`. A path that consists of a single
/// folder name is too ambiguous and does not count.
fn names_folder_of(error: &str, path: &str) -> bool {
    let Some((folder, _)) = path.rsplit_once('/').filter(|(folder, _)| folder.contains('/')) else {
        return false;
    };
    let is_folder = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        word.strip_suffix(folder).is_some_and(|start| start.is_empty() || start.ends_with('/'))
    };
    error.split_whitespace().any(is_folder)
}

fn file_name_of_path(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
#[path = "first_files_tests.rs"]
mod tests;
