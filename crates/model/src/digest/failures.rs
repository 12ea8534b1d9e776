//! The session's commands and their results, open failures, and failures that will recur.

mod continued;
mod inherited;
mod missing_files;
mod problems;
mod results;
mod traps;
mod unseen;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::parsed::LazyValue;
use super::{ChangesAfterRun, Digest, keep_last};
use crate::failure;
use crate::journal::{JournalRecord, RecordedCheckOutcome};
use crate::run::{self, CommandKind, CommandPurpose, GitCommandFamily, ProjectCheck, RunResult, TestCounts};
use crate::text::cut_to_bytes;

use problems::{has_failed_tests, is_problem_to_solve, is_program_crash, is_usage_message};
pub(super) use results::result_of_record;
use results::{
    DividedRecord, divide_record_of_failed_line, do_error_lines_belong_to_one_check, error_of_record,
    record_after_commit, result_of_each_check,
};
pub use traps::Trap;
pub use unseen::UnseenRun;

pub(super) const MAX_COMMANDS_IN_DIGEST: usize = 200;
const MAX_KEPT_COMMAND_BYTES: usize = 1_000;
const MAX_CHECKS_IN_DIGEST: usize = 60;
const MAX_FAILURES_KEPT: usize = 60;
const MAX_KEPT_ERROR_TEXT_BYTES: usize = 1_200;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandUse {
    pub command: String,
    /// The folder in which the command was started, relative to the checkout.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    #[serde(rename = "sort")]
    pub check_kind: Option<CommandKind>,
    pub runs: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: u32,
    #[serde(rename = "ended")]
    pub last_result: RunResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
    /// The line of the output that sums up the result.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "result")]
    pub result_line: String,
    /// The time of the last run.
    pub at: String,
    #[serde(rename = "last")]
    pub last_run_record: u64,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The newest run of a project check. Different command lines can run the same check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewestRunOfCheck {
    /// The command that repeats the check when run in `folder`.
    pub run: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    #[serde(rename = "sort")]
    pub check_kind: CommandKind,
    #[serde(rename = "ended")]
    pub last_result: RunResult,
    /// The line of the output that sums up the result or gives the reason for the failure.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[serde(rename = "result")]
    pub result_line: String,
    /// The test counts, added up over all summaries in the output.
    #[serde(default, skip_serializing_if = "TestCounts::is_none")]
    pub counts: TestCounts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i64>,
    pub at: String,
    #[serde(rename = "last")]
    pub last_run_record: u64,
    pub runs: u32,
    /// The cached identity key of [`NewestRunOfCheck::parsed_check`]. Every check that runs is compared with it.
    #[serde(skip)]
    key: LazyValue<Option<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    pub tool: String,
    /// The command, or the file that the tool was called on.
    #[serde(rename = "what")]
    pub command_or_file: String,
    /// The folder in which the command was started, relative to the checkout.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub folder: String,
    pub is_command: bool,
    pub exit: Option<i64>,
    pub error: String,
    /// The time of the run that `error` comes from.
    pub(crate) error_at: String,
    /// This run's own error, if `error` comes from an earlier run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) own_error: Option<String>,
    /// Whether the command itself failed, rather than only a later command in its pipeline.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_failed: bool,
    /// Whether the command ran tests and some of them failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_failed_tests: bool,
    /// Whether the call was refused, so that it never ran.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "refused")]
    pub is_refused: bool,
    /// Whether the command only tried out a program that was built. It may be meant to fail.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "try")]
    pub is_try_out: bool,
    /// Whether the failure is still open. A later run can show that it is fixed.
    #[serde(rename = "open")]
    pub is_open: bool,
    /// The indexes of those checks in the command line that have not passed since the failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "left")]
    pub checks_not_passed_since: Vec<usize>,
    /// The failed tests that have not passed since the failure. Empty if some of the failed tests are unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "tests")]
    pub tests_not_passed_since: Vec<String>,
    /// The command of the package script that failed, if it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub script: String,
    /// How often the same failure occurred.
    #[serde(rename = "times")]
    pub occurrences: u32,
    /// The command or tool that worked instead within the next few calls, or empty if there was none.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "worked")]
    pub working_alternative: String,
    /// The 1-based number of the call in the session.
    #[serde(rename = "call")]
    pub call_number: u64,
    pub record: u64,
    /// For a failure in an earlier session, the files that were changed after it, in that session and in this one. The
    /// list is determined when a brief or a packet is composed and never stored.
    #[serde(skip)]
    pub changes_since: ChangesAfterRun,
    /// For a failure in an earlier session, the run of the same check after it in that session (see
    /// [`Digest::unseen_run_after`]). It is determined together with `changes_since`.
    #[serde(skip)]
    pub unseen_run: Option<UnseenRun>,
    /// The cached checks in `command_or_file`. Every command that runs is compared with every open failure, so the
    /// checks are parsed only once.
    #[serde(skip)]
    pub(crate) parsed_checks: LazyValue<Vec<ProjectCheck>>,
    #[serde(skip)]
    pub(crate) command_purpose: LazyValue<CommandPurpose>,
}

impl Failure {
    /// Returns the command as it was typed, for display.
    pub fn command_as_typed(&self) -> String {
        if self.is_command {
            run::command_as_typed(&self.command_or_file)
        } else {
            self.command_or_file.clone()
        }
    }

    /// Returns the command in a form that can be run again. Commands are compared in this form.
    pub fn command_to_repeat(&self) -> String {
        if self.is_command {
            run::command_to_repeat(&self.command_or_file)
        } else {
            self.command_or_file.clone()
        }
    }
}

impl NewestRunOfCheck {
    fn parsed_check(&self) -> Option<ProjectCheck> {
        run::checks_of_command(&self.run, &self.folder).into_iter().next()
    }

    fn check_key(&self) -> Option<&str> {
        self.key.get_or_parse(|| self.parsed_check().map(|check| check.identity_key())).as_deref()
    }
}

impl Digest {
    /// Returns the open failures, newest first. A failure is open until the same check or a wider one passes. The
    /// last attempt also counts as open if it failed, regardless of the kind of command. All code that needs open
    /// failures calls this function.
    pub fn open_failures(&self) -> impl Iterator<Item = &Failure> {
        let last = self.last_attempt().map_or(0, |failure| failure.record);
        self.failures.iter().rev().filter(move |failure| failure.is_open || failure.record == last)
    }

    /// Returns the last attempt since the newest prompt if it failed. Examples of attempts are requests,
    /// deployments and runs of scripts. Earlier attempts are ignored, because no later run can show that they
    /// are fixed.
    fn last_attempt(&self) -> Option<&Failure> {
        let asked = self.prompts.last().map_or(0, |prompt| prompt.record);
        let is_tried = |what: &str, folder: &str| run::is_attempt_with_result(what, folder);
        let has_run = |failure: &&Failure| failure.is_command && !failure.is_refused;
        let mut commands =
            self.failures.iter().rev().filter(has_run).filter(|failure| failure.record > asked);
        let last = commands.find(|failure| is_tried(&failure.command_or_file, &failure.folder))?;
        let mut later = self.commands.iter().rev().take_while(|used| used.last_run_record > last.record);
        // The agent's last message says whether a program that it tried out was meant to fail.
        let is_explained = last.is_try_out && self.has_finished();
        let counts = last.has_failed
            && !is_explained
            && !last.error.trim().is_empty()
            && !run::is_only_answer_of_thru(&last.command_or_file, &last.error)
            && (last.has_failed_tests
                || !run::is_mistyped_or_interrupted_command_error(&last.error)
                    && !is_usage_message(&last.error))
            && !later.any(|used| is_tried(&used.command, &used.folder));
        counts.then_some(last)
    }

    /// Returns the folder in which a command ran, relative to the checkout. It is empty for the checkout itself.
    pub fn folder_of_command(&self, command: &str, cwd: &str) -> String {
        let folder = run::folder_of_command(command, cwd);
        match folder.strip_prefix(self.first_worktree.as_str()).filter(|_| !self.first_worktree.is_empty()) {
            Some(inside) if inside.is_empty() || inside.starts_with('/') => {
                inside.trim_start_matches('/').to_owned()
            }
            _ => folder,
        }
    }

    /// Returns the newest run of each check: tests, then builds and lints, then other checks. Within each group, the
    /// newest run comes first. A check is left out if a later, wider check covers it.
    pub fn check_runs(&self) -> Vec<&NewestRunOfCheck> {
        let all: Vec<(&NewestRunOfCheck, Option<ProjectCheck>)> =
            self.checks.iter().map(|used| (used, used.parsed_check())).collect();
        let is_part = |used: &NewestRunOfCheck, check: &ProjectCheck| {
            all.iter().any(|(other, wider)| {
                other.last_run_record > used.last_run_record
                    && other.last_result != RunResult::Unknown
                    && wider.as_ref().is_some_and(|wider| {
                        wider.program_and_arguments != check.program_and_arguments
                            && run::proves_fixed(wider, check)
                    })
            })
        };
        let kept =
            all.iter().filter(|(used, check)| check.as_ref().is_some_and(|check| !is_part(used, check)));
        let mut kept: Vec<&NewestRunOfCheck> = kept.map(|(used, _)| *used).collect();
        kept.sort_by_key(|used| (used.check_kind, std::cmp::Reverse(used.last_run_record)));
        kept
    }

    /// Returns the most recently edited file, if it was edited after this record.
    pub fn last_file_edited_after(&self, record: u64) -> Option<&str> {
        let edited = self.files.iter().filter(|file| file.edits > 0 && file.edited_at > record);
        edited.max_by_key(|file| file.edited_at).map(|file| file.path.as_str())
    }

    /// Returns the files that still have to be fixed: those that the error names and that have not changed since
    /// the failure. If no file that the error names has been edited since the failure, the list is empty.
    pub fn files_left_to_fix<'f>(&self, open: &'f Failure) -> Vec<&'f str> {
        let ChangesAfterRun { edited, maybe_changed } = self.changes_after_check(open.record);
        let has = |list: &[String], path: &str| list.iter().any(|changed| changed == path);
        let (fixed, mut left): (Vec<&str>, Vec<&str>) =
            failure::files_located_by_error(&open.error).into_iter().partition(|path| has(&edited, path));
        left.retain(|path| !has(&maybe_changed, path));
        if fixed.is_empty() { Vec::new() } else { left }
    }

    /// Describes a change made outside the session that may make its check results obsolete. Empty if no such change
    /// is known.
    pub fn describe_change_outside_session(&self) -> &'static str {
        if self.are_files_changed_since {
            "before later changes"
        } else if self.git_state().head_moved_by_others.is_some() {
            "before HEAD moved"
        } else {
            ""
        }
    }

    /// Adds a call and its failure. If the checks in a command line did not fail, but a command after them did, the two
    /// parts are added as if they were two calls.
    pub(super) fn add_run(&mut self, record: &JournalRecord) {
        if let Some(DividedRecord { checks, rest, is_try_out }) = divide_record_of_failed_line(record) {
            let rest = record_after_commit(&rest).unwrap_or(rest);
            self.add_command(&checks);
            self.add_command(&rest);
            self.add_failure(&rest);
            if let Some(last) =
                self.failures.last_mut().filter(|last| is_try_out && !is_program_crash(&last.error))
            {
                last.is_try_out = true;
                last.is_open = false;
            }
            return;
        }
        let after_commit = record_after_commit(record);
        let record = after_commit.as_ref().unwrap_or(record);
        if !record.command.is_empty() && !record.is_refused() {
            self.add_command(record);
        }
        self.add_failure(record);
    }

    fn add_command(&mut self, record: &JournalRecord) {
        let command = cut_to_bytes(record.command.trim(), MAX_KEPT_COMMAND_BYTES).to_owned();
        let folder = record.cwd.to_string();
        let ended = result_of_record(record);
        let checks = checks_of_record(&command, record);
        let mut entry = match self.commands.iter().position(|known| known.command == command) {
            Some(place) => self.commands.remove(place),
            None => CommandUse { command, ..CommandUse::default() },
        };
        entry.folder = folder;
        entry.check_kind = checks.iter().map(|check| check.check_kind).min();
        entry.runs += 1;
        entry.failures += u32::from(ended == RunResult::Failed);
        entry.last_result = ended;
        entry.exit = record.exit.filter(|exit| ended == RunResult::Failed && *exit != 0);
        entry.error = match (ended, record.error.is_empty()) {
            (RunResult::Failed, false) => record.error.to_string(),
            (RunResult::Failed, true) => record.result.to_string(),
            _ => String::new(),
        };
        entry.result_line = record.result.to_string();
        entry.at = record.ts.to_string();
        entry.last_run_record = self.record_count;
        self.commands.push(entry);
        if self.commands.len() > MAX_COMMANDS_IN_DIGEST {
            let oldest = self
                .commands
                .iter()
                .position(|command| command.last_result != RunResult::Failed)
                .unwrap_or(0);
            self.commands.remove(oldest);
        }
        self.update_failures_and_checks(record, ended, &checks);
    }

    /// Adds a run of a loop's validator. The user chose this command to judge the work. Its failure is therefore a
    /// problem to solve, whatever kind of command it is, and its success solves the problem.
    pub(super) fn add_validator_run(&mut self, record: &JournalRecord) {
        self.add_command(record);
        self.add_failure(record);
        let failed = result_of_record(record) == RunResult::Failed;
        let what = cut_to_bytes(record.command.trim(), MAX_KEPT_COMMAND_BYTES);
        match self.failures.last_mut() {
            Some(last) if failed => last.is_open = true,
            _ => {
                let same = self
                    .failures
                    .iter_mut()
                    .filter(|known| known.is_command && known.command_or_file == what);
                same.for_each(|known| known.is_open = false);
            }
        }
    }

    fn update_failures_and_checks(
        &mut self,
        record: &JournalRecord,
        ended: RunResult,
        checks: &[ProjectCheck],
    ) {
        let each = result_of_each_check(checks, ended, record);
        for (at, (check, ended)) in checks.iter().zip(&each).enumerate() {
            if let Some(ended) = ended {
                self.add_check(check, *ended, record, record.parts.get(at));
            }
        }
        let done: Vec<&ProjectCheck> = checks
            .iter()
            .zip(&each)
            .filter(|(_, ended)| **ended == Some(RunResult::Passed))
            .map(|(check, _)| check)
            .collect();
        let went_well = ended == RunResult::Passed
            || ended == RunResult::Unknown && record.ok != Some(false) && record.exit != Some(1);
        let mut open =
            self.failures.iter_mut().filter(|failure| failure.is_open && failure.is_command).peekable();
        if open.peek().is_some() {
            let errand = run::command_purpose(&record.command, &record.cwd);
            open.for_each(|failure| failure.close_if_solved(&done, &errand, went_well, &record.worktree));
        }
        if went_well {
            self.add_workaround(record);
        }
    }

    /// Adds a run of a check. `part` is the check's own part in a line with several checks. The other fields of the
    /// record are about the whole line.
    fn add_check(
        &mut self,
        check: &ProjectCheck,
        ended: RunResult,
        record: &JournalRecord,
        part: Option<&RecordedCheckOutcome>,
    ) {
        let key = check.identity_key();
        let place = self.checks.iter().position(|known| known.check_key() == Some(&key));
        let runs = place.map_or(0, |place| self.checks.remove(place).runs);
        let result = match ended {
            RunResult::Failed
                if part.is_some_and(|part| part.result.is_empty())
                    && do_error_lines_belong_to_one_check(record) =>
            {
                failure::first_nonblank_line(&record.error)
            }
            _ if part.is_some() => part.and_then(|part| failure::first_nonblank_line(&part.result)),
            RunResult::Failed => failure::first_nonblank_line(&record.error)
                .or_else(|| failure::first_nonblank_line(&record.result)),
            _ => failure::first_nonblank_line(&record.result),
        };
        // The counts of two tests in one line are added up, so the sum is not the count of either test.
        let is_counted = check.check_kind == CommandKind::Test
            && (part.is_none() || run::command_runs_tests_once(&record.command));
        self.checks.push(NewestRunOfCheck {
            run: cut_to_bytes(&check.command_to_repeat, MAX_KEPT_COMMAND_BYTES).to_owned(),
            folder: check.folder.clone(),
            check_kind: check.check_kind,
            last_result: ended,
            result_line: result.unwrap_or_default().to_owned(),
            counts: if is_counted { record.counts } else { TestCounts::default() },
            exit: part
                .map_or(record.exit, |part| part.exit)
                .filter(|exit| *exit != 0 && ended == RunResult::Failed),
            at: record.ts.to_string(),
            last_run_record: self.record_count,
            runs: runs + 1,
            key: LazyValue::default(),
        });
        keep_last(&mut self.checks, MAX_CHECKS_IN_DIGEST);
    }

    /// Adds a failed call, even if a pipeline hid the failure from the harness.
    pub(super) fn add_failure(&mut self, record: &JournalRecord) {
        let is_command = !record.command.is_empty();
        let ended = if is_command { result_of_record(record) } else { RunResult::Unknown };
        let failed = if is_command { ended == RunResult::Failed } else { record.ok == Some(false) };
        if !failed && record.ok != Some(false) {
            return;
        }
        let given = record.files.iter().find(|file| !file.guess).map_or("", |file| &file.path);
        let what =
            if is_command { cut_to_bytes(record.command.trim(), MAX_KEPT_COMMAND_BYTES) } else { given };
        let error = error_of_record(record);
        let checks = checks_of_record(what, record);
        let each = result_of_each_check(&checks, ended, record);
        let mut left: Vec<usize> =
            (0..checks.len()).filter(|at| each[*at] == Some(RunResult::Failed)).collect();
        let is_failed_part_known = !left.is_empty();
        if left.is_empty() {
            // It is unknown which check failed, so all of them must pass.
            left = (0..checks.len()).filter(|at| checks[*at].check_kind != CommandKind::Format).collect();
        }
        // If it is unknown which part failed, the program that was tried out may have failed.
        let is_program = |at: &usize| run::runs_built_program(&checks[*at]);
        let has_only_program_failed = match is_failed_part_known {
            true => left.iter().all(is_program),
            false => left.iter().any(is_program),
        };
        let is_try_out = is_command && has_only_program_failed && !is_program_crash(error);
        let is_open = failed && is_command && !is_try_out && is_problem_to_solve(&checks, what, record);
        // Only the newest failure of a check stays open. A run whose result is unknown replaces no failure.
        let mut earlier: Option<(u64, String, String)> = None;
        let replaced = self.failures.iter_mut().filter(|older| is_open && older.is_open && older.is_command);
        for older in replaced {
            let known = older.checks_of_command(&record.worktree).into_owned();
            older.checks_not_passed_since.retain(|at| {
                !known.get(*at).is_some_and(|known| {
                    left.iter().any(|new| checks[*new].identity_key() == known.identity_key())
                })
            });
            let is_same = !known.is_empty() && older.checks_not_passed_since.is_empty()
                || known.is_empty() && older.command_or_file == what;
            older.is_open &= !is_same;
            if is_same {
                earlier = Some((older.record, older.error_at.clone(), older.error.clone()));
            }
        }
        // A filter such as `tail` may have cut the output. In that case, the earlier run of the same check says
        // what failed.
        let earlier = earlier
            .filter(|(at, _, known)| self.is_unchanged_since(*at) && failure::says_less_than(error, known));
        let own_error = earlier.is_some().then(|| cut_to_bytes(error, MAX_KEPT_ERROR_TEXT_BYTES).to_owned());
        let (error_at, error) = match &earlier {
            Some((_, at, known)) => (at.as_str(), known.as_str()),
            None => (&*record.ts, error),
        };
        let told = |known: &Failure| {
            known.tool == record.tool && known.command_or_file == what && known.error == error
        };
        let same = self.failures.iter().position(told).map(|place| self.failures.remove(place));
        let (times, worked) =
            same.map_or((0, String::new()), |same| (same.occurrences, same.working_alternative));
        let tests = run::failed_test_names(error).unwrap_or_default();
        self.failures.push(Failure {
            tool: record.tool.to_string(),
            command_or_file: what.to_owned(),
            folder: record.cwd.to_string(),
            is_command,
            exit: record.exit,
            error: cut_to_bytes(error, MAX_KEPT_ERROR_TEXT_BYTES).to_owned(),
            error_at: error_at.to_owned(),
            own_error,
            has_failed: failed && is_command,
            has_failed_tests: failed && is_command && has_failed_tests(record),
            is_refused: record.is_refused(),
            is_try_out,
            is_open,
            checks_not_passed_since: left,
            tests_not_passed_since: tests,
            script: cut_to_bytes(&record.script, MAX_KEPT_COMMAND_BYTES).to_owned(),
            working_alternative: worked,
            occurrences: times + 1,
            call_number: self.call_count,
            record: self.record_count,
            ..Failure::default()
        });
        if self.failures.len() > MAX_FAILURES_KEPT {
            let oldest = self.failures.iter().position(|failure| !failure.is_open).unwrap_or(0);
            self.failures.remove(oldest);
        }
    }
}

impl Failure {
    fn checks_of_command(&self, worktree: &str) -> Cow<'_, [ProjectCheck]> {
        if !self.is_command {
            return Cow::Borrowed(&[]);
        }
        let checks = self
            .parsed_checks
            .get_or_parse(|| run::checks_of_command(&self.command_or_file, &self.folder))
            .as_slice();
        match checks.iter().any(|check| folder_below_checkout(check, worktree).is_some()) {
            true => Cow::Owned(make_folders_relative(checks.to_vec(), worktree)),
            false => Cow::Borrowed(checks),
        }
    }

    /// Closes the failure if this run shows that it is fixed.
    fn close_if_solved(
        &mut self,
        done: &[&ProjectCheck],
        errand: &CommandPurpose,
        went_well: bool,
        worktree: &str,
    ) {
        if self.checks_of_command("").is_empty() {
            let failed = self
                .command_purpose
                .get_or_parse(|| run::command_purpose(&self.command_or_file, &self.folder));
            let solved = match (failed, errand) {
                (CommandPurpose::Git(failed), CommandPurpose::Git(done)) => {
                    let failed = failed_git_family(failed, &self.error);
                    done.iter().any(|family| family.makes_up_for(failed))
                }
                (CommandPurpose::Other(failed), CommandPurpose::Other(done)) => {
                    failed.iter().all(|name| done.contains(name))
                }
                _ => false,
            };
            self.is_open &= !(went_well && solved);
            return;
        }
        if done.is_empty() {
            return;
        }
        let known = self.checks_of_command(worktree).into_owned();
        for check in done {
            self.checks_not_passed_since
                .retain(|at| !known.get(*at).is_some_and(|known| run::proves_fixed(check, known)));
            let had_tests = !self.tests_not_passed_since.is_empty();
            self.tests_not_passed_since.retain(|test| !check.selects_test(test));
            self.is_open &= !(self.checks_not_passed_since.is_empty()
                || had_tests && self.tests_not_passed_since.is_empty());
        }
        self.is_open &= !self.is_script_fixed(done, &known);
    }

    /// Returns whether a failed package script is fixed: every check in the script's command has since passed.
    /// `done` contains the checks that passed. `known` contains the checks in the command line that ran the
    /// script.
    fn is_script_fixed(&self, done: &[&ProjectCheck], known: &[ProjectCheck]) -> bool {
        let [runner] = known else { return false };
        let parts = run::checks_of_command(&self.script, &runner.folder);
        let is_fixed = |part: &ProjectCheck| done.iter().any(|check| run::proves_fixed(check, part));
        !self.script.is_empty() && !parts.is_empty() && parts.iter().all(is_fixed)
    }
}

/// Returns the kind of git command that failed. If the error does not show this, returns the last kind in the
/// list.
fn failed_git_family(families: &[GitCommandFamily], error: &str) -> GitCommandFamily {
    let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
    let told = match () {
        () if says(&["[rejected]", "failed to push", "Could not read from remote"]) => {
            Some(GitCommandFamily::Push)
        }
        () if says(&["CONFLICT", "Automatic merge failed", "could not apply", "Could not apply"]) => {
            Some(GitCommandFamily::Join)
        }
        () if says(&[
            "already used by worktree",
            "pathspec",
            "index.lock",
            "would be overwritten by checkout",
        ]) =>
        {
            Some(GitCommandFamily::Other)
        }
        () => None,
    };
    told.filter(|family| families.contains(family))
        .or(families.last().copied())
        .unwrap_or(GitCommandFamily::Other)
}

fn checks_of_record(command: &str, record: &JournalRecord) -> Vec<ProjectCheck> {
    make_folders_relative(run::checks_of_command(command, &record.cwd), &record.worktree)
}

/// Makes the checks' folders relative to the top of the checkout.
fn make_folders_relative(mut checks: Vec<ProjectCheck>, worktree: &str) -> Vec<ProjectCheck> {
    for check in &mut checks {
        if let Some(inside) = folder_below_checkout(check, worktree) {
            check.folder = inside.to_owned();
        }
    }
    checks
}

/// Returns a check's folder relative to its checkout, or `None` if the folder is outside the checkout.
fn folder_below_checkout<'a>(check: &'a ProjectCheck, worktree: &str) -> Option<&'a str> {
    let inside = check.folder.strip_prefix(worktree).filter(|_| !worktree.is_empty())?;
    (inside.is_empty() || inside.starts_with('/')).then(|| inside.trim_start_matches('/'))
}

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;
