//! Determines from the times of files which of them changed after a run. A command can change files that its text does
//! not mention, so the journal alone does not show every change.

use jiff::Timestamp;

use super::{BranchMove, CommandUse, Digest, Failure, FileUse, changed};
use crate::checkout_path::is_in_store;
use crate::{run, time};

/// A file, and when its content was last changed according to the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTime {
    pub path: String,
    pub modified_at: Timestamp,
}

/// A file that was changed on disk after one of the session's runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeOnDisk {
    pub path: String,
    /// The number of the first record that may have made the change. It comes directly after the last run that ended
    /// before the change.
    pub record: u64,
    /// Whether a command of the session may have made the change.
    pub is_by_session: bool,
}

/// Returns whether a file was changed after a run that ended at `run_at`. Times in the journal are whole seconds, so a
/// change in the same second proves nothing. A time in the future comes from another clock, so it proves nothing either.
pub fn is_changed_after(modified_at: Timestamp, run_at: Timestamp, now: Timestamp) -> bool {
    modified_at.as_second() > run_at.as_second() && modified_at <= now
}

/// Drops the times that come from git rather than from an edit: those in the same second as a checkout.
pub fn drop_times_of_checkouts(times: &mut Vec<FileTime>, checkouts: &[Timestamp]) {
    times.retain(|file| checkouts.iter().all(|at| at.as_second() != file.modified_at.as_second()));
}

/// Returns when the last commit or merge was made in a checkout, according to the moves of its HEAD. Other moves, such
/// as checkouts, stashes, pulls and fast-forwards, save nothing of the checkout's own work. If HEAD was reset to another commit later,
/// the commit may have been taken back, so no time is returned.
pub fn time_of_last_commit(moves_of_head: &[BranchMove]) -> Option<Timestamp> {
    let is_taken_back =
        |found: &&BranchMove| found.what.starts_with("reset:") && found.commit != found.commit_before;
    let is_commit = |found: &&BranchMove| {
        let is_merge = found.what.starts_with("merge ") && !found.what.ends_with(": Fast-forward");
        found.what.starts_with("commit") || is_merge
    };
    let last = moves_of_head.iter().rev().find(|found| is_commit(found) || is_taken_back(found));
    last.filter(is_commit).map(|found| found.at)
}

impl Digest {
    /// Returns the files whose times are compared with the times of runs, most important first. A file that
    /// tools read or edited is included unless it is an output. A file that is known only from commands or from
    /// git is included if it looks like source text.
    pub fn files_to_compare_with_runs<'f>(&'f self, listed_by_git: &'f [String]) -> Vec<&'f str> {
        let is_source = |file: &&FileUse| match file.edits + file.reads {
            0 => changed::looks_like_committable_text(&file.path),
            _ => !changed::looks_like_output(&file.path),
        };
        let own = self.ranked_files().into_iter().filter(|file| !file.is_outside_checkout).filter(is_source);
        let mut paths: Vec<&str> = own.map(|file| file.path.as_str()).collect();
        let listed = listed_by_git.iter().filter(|path| changed::looks_like_committable_text(path));
        for path in listed {
            if !self.files.iter().any(|file| file.path == *path) {
                paths.push(path);
            }
        }
        paths.retain(|path| !is_in_store(path));
        paths
    }

    /// Adds the files that were changed after a run, or by a command that does not name them, judging by their times.
    pub fn add_changes_on_disk(&mut self, times: &[FileTime], now: Timestamp) {
        let checks = self.checks.iter().map(|used| (used.last_run_record, used.at.as_str()));
        let commands = self.commands.iter().map(|used| (used.last_run_record, used.at.as_str()));
        let runs: Vec<(u64, Timestamp)> =
            checks.chain(commands).filter_map(|(record, at)| Some((record, time::parse_time(at)?))).collect();
        let ended_at = time::parse_time(&self.last_at);
        let may_write = if times.is_empty() { Vec::new() } else { self.commands_with_unnamed_changes() };
        let during_commands = self.files_changed_during_commands(times);
        let mut found = Vec::new();
        for FileTime { path, modified_at } in times {
            // Within one second, only the order of the records shows whether a later command may have changed the file.
            let is_before = |(record, at): &&(u64, Timestamp)| {
                is_changed_after(*modified_at, *at, now)
                    || at.as_second() == modified_at.as_second() && self.unnamed_change_at > *record
            };
            let Some(last) = runs.iter().filter(is_before).map(|(record, _)| *record).max() else {
                // No run is older than the change. A command of the session may still have changed the file.
                let made = during_commands.iter().find(|file| file.path == *path);
                found.extend(made.map(|file| ChangeOnDisk {
                    path: path.clone(),
                    record: file.written_at,
                    is_by_session: true,
                }));
                continue;
            };
            let is_during = ended_at.is_some_and(|ended| modified_at.as_second() <= ended.as_second());
            // If the file was changed before the prompt that led to the command, the user may have changed it.
            let may_make = |(record, asked_at): &(u64, Option<Timestamp>)| {
                let is_asked = asked_at.is_none_or(|asked| modified_at.as_second() >= asked.as_second());
                *record > last && is_asked
            };
            found.push(ChangeOnDisk {
                path: path.clone(),
                record: last + 1,
                is_by_session: is_during && may_write.iter().any(may_make),
            });
        }
        self.changes_on_disk = found;
        self.use_own_errors_after_changes(times);
    }

    /// Returns the record numbers of the commands that may have changed files not mentioned in their text. Each
    /// number comes with the time of the newest prompt before the command. If no such prompt is known, it comes
    /// with the time of the session's start.
    fn commands_with_unnamed_changes(&self) -> Vec<(u64, Option<Timestamp>)> {
        let may_write = |used: &&CommandUse| run::may_change_unnamed_files(&used.command);
        let earlier = self.commands.iter().filter(|used| used.last_run_record < self.unnamed_change_at);
        let mut records: Vec<u64> = earlier.filter(may_write).map(|used| used.last_run_record).collect();
        if self.unnamed_change_at > 0 {
            records.push(self.unnamed_change_at);
        }
        let asked_at = |record: u64| {
            let prompt = self.prompts.iter().rev().find(|prompt| prompt.record < record);
            time::parse_time(prompt.map_or(&self.first_at, |prompt| &prompt.at))
        };
        records.into_iter().map(|record| (record, asked_at(record))).collect()
    }

    /// Returns whether a file's last change by this session must be in a commit: a commit was made after the session's
    /// last record, and git's index has what was written to the file at or after the session's last edit. Hooks do not run git,
    /// so they do not know which files a commit contains, but a commit contains what is in the index. `last_record_at` comes
    /// from the file system, and `committed_at` from HEAD's reflog. `index_second` is the time of the file in the index. If
    /// it is not known when the session changed the file, the answer is false.
    pub fn is_change_in_commit(
        &self,
        path: &str,
        (last_record_at, committed_at): (Timestamp, Timestamp),
        index_second: i64,
    ) -> bool {
        /// A hook reports an edit after the file has been written, perhaps in a later second.
        const MAX_SECONDS_UNTIL_REPORTED: i64 = 2;
        let changed_at = self.time_of_last_change(path);
        committed_at.as_second() >= last_record_at.as_second()
            && changed_at
                .is_some_and(|changed| index_second + MAX_SECONDS_UNTIL_REPORTED >= changed.as_second())
    }

    /// Returns when this session last edited a file or wrote it with a command. Returns `None` if that is not known.
    fn time_of_last_change(&self, path: &str) -> Option<Timestamp> {
        let edit = self.changes.iter().rev().find(|edit| edit.path == path);
        let written_at = self.files.iter().find(|file| file.path == path).map_or(0, |file| file.written_at);
        let at = match edit.filter(|edit| edit.record >= written_at) {
            Some(edit) => &edit.at,
            None => &self.commands.iter().find(|used| used.last_run_record == written_at)?.at,
        };
        time::parse_time(at)
    }

    /// Returns whether a command of the session may have changed files without naming them.
    pub fn may_have_changed_unnamed_files(&self) -> bool {
        self.unnamed_change_at > 0
    }

    /// Returns the files that were last changed while the session ran a command that may change files not
    /// mentioned in its text. The user may change a file at any time. A change therefore counts only if it was
    /// made between the last event before the command (a prompt or a call) and the end of the command.
    pub fn files_changed_during_commands(&self, times: &[FileTime]) -> Vec<FileUse> {
        let may_write = |used: &&CommandUse| run::may_change_unnamed_files(&used.command);
        let spans: Vec<(u64, Timestamp, Timestamp)> = self
            .commands
            .iter()
            .filter(may_write)
            .filter_map(|used| {
                let record = used.last_run_record;
                Some((record, self.time_of_last_event_before(record)?, time::parse_time(&used.at)?))
            })
            .collect();
        let change = |file: &FileTime| {
            let second = file.modified_at.as_second();
            let is_during = |(_, from, to): &&(u64, Timestamp, Timestamp)| {
                (from.as_second()..=to.as_second()).contains(&second)
            };
            let (record, ..) = spans.iter().rfind(is_during)?;
            let path = file.path.clone();
            Some(FileUse { path, written_at: *record, last_use_record: *record, ..FileUse::default() })
        };
        times.iter().filter_map(change).collect()
    }

    /// Returns the time of the last prompt or call before the record with this number. If none is known, returns the
    /// session's start.
    pub(super) fn time_of_last_event_before(&self, record: u64) -> Option<Timestamp> {
        let prompts = self.prompts.iter().map(|prompt| (prompt.record, prompt.at.as_str()));
        let commands = self.commands.iter().map(|used| (used.last_run_record, used.at.as_str()));
        let steps = self.steps.iter().map(|step| (step.record, step.at.as_str()));
        let all = prompts.chain(commands).chain(steps).filter(|(at, _)| *at < record);
        time::parse_time(all.max_by_key(|(at, _)| *at).map_or(&self.first_at, |(_, at)| at))
    }

    /// The `error` of a failure may come from an earlier run. If a file was changed between the two runs,
    /// replaces `error` with the failure's own error.
    fn use_own_errors_after_changes(&mut self, times: &[FileTime]) {
        let second = |at: &str| time::parse_time(at).map(Timestamp::as_second);
        let is_overtaken = |failure: &Failure| {
            let (from, to) = (second(&failure.error_at), second(self.time_of_failure(failure)));
            let is_between = |at: i64| from.is_some_and(|from| at > from) && to.is_some_and(|to| at <= to);
            failure.own_error.is_some() && times.iter().any(|file| is_between(file.modified_at.as_second()))
        };
        let overtaken: Vec<bool> = self.failures.iter().map(is_overtaken).collect();
        for (failure, _) in self.failures.iter_mut().zip(overtaken).filter(|(_, overtaken)| *overtaken) {
            failure.error = failure.own_error.take().unwrap_or_default();
            failure.tests_not_passed_since = run::failed_test_names(&failure.error).unwrap_or_default();
        }
    }

    /// Returns the session's files that one of its commands may have changed without naming them.
    pub fn files_maybe_written_by_commands(&self) -> impl Iterator<Item = &str> {
        let is_unknown = |change: &&ChangeOnDisk| {
            let mut files = self.files.iter().filter(|file| file.path == change.path);
            change.is_by_session && files.any(|file| file.changed_at() < change.record)
        };
        self.changes_on_disk.iter().filter(is_unknown).map(|change| change.path.as_str())
    }

    /// If a command of the session may have changed a file and the file differs from git's index, marks the
    /// file as written by the session. Without git, it is unknown whether the content changed, so nothing is
    /// marked.
    pub fn mark_files_written_by_commands(&mut self) {
        let Some(disk) = &self.git_on_disk else { return };
        let written: Vec<String> = self
            .files_maybe_written_by_commands()
            .filter(|path| disk.files_changed_in_index.iter().any(|changed| changed == path))
            .map(str::to_owned)
            .collect();
        for change in self.changes_on_disk.iter().filter(|change| written.contains(&change.path)) {
            for file in self.files.iter_mut().filter(|file| file.path == change.path) {
                (file.written_at, file.commits_without_file) = (change.record, 0);
                file.edits_by_commands += 1;
            }
        }
    }
}

#[cfg(test)]
#[path = "disk_tests.rs"]
mod tests;
