//! The failures that earlier sessions left open.

use super::{ChangesAfterRun, Digest, Failure, NewestRunOfCheck, ProjectCheck};
use crate::run::{CommandPurpose, RunResult};

/// How many of these failures are reported. Older ones are likely to be known or out of date.
const MAX_INHERITED_FAILURES: usize = 3;

/// An open failure of a check, and when it occurred.
struct FailureWithTime<'d> {
    session: &'d Digest,
    failure: Failure,
    failed_at: &'d str,
    keys: Vec<String>,
}

impl Digest {
    /// Returns whether a check failed and has not passed since in this session.
    pub fn has_open_failure_of_check(&self) -> bool {
        self.failures.iter().any(is_open_check)
    }

    /// Returns the checks that failed in earlier sessions, newest first. A check is left out if it has been run since,
    /// in any session. Sessions may overlap, so the runs are compared by their own times. `ended` and `running` contain
    /// other sessions. Failures of running sessions are not returned, but the runs of these sessions count.
    pub fn failures_left_by(&self, ended: &[Digest], running: &[Digest]) -> Vec<Failure> {
        let others = || running.iter().chain(ended);
        let mut open: Vec<FailureWithTime> =
            others().rev().flat_map(Digest::open_failures_of_checks).collect();
        open.sort_by_key(|failed| failed.failed_at);
        for at in 0..open.len() {
            let (earlier, rest) = open.split_at_mut(at);
            earlier.iter_mut().for_each(|older| older.failure.is_open &= !rest[0].is_run_again_of(older));
        }
        let is_earlier = |session: &Digest| {
            session.last_at <= self.last_at && ended.iter().any(|other| std::ptr::eq(other, session))
        };
        open.retain(|failed| failed.failure.is_open && is_earlier(failed.session));
        if open.is_empty() {
            return Vec::new();
        }
        for session in others().chain([self]) {
            for passed in session.checks.iter().filter(|used| used.last_result == RunResult::Passed) {
                let Some(check) = passed.parsed_check() else { continue };
                let errand = CommandPurpose::Checks(Vec::new());
                // Skip the session's own failures. Those that its runs fixed are already closed.
                for failed in open
                    .iter_mut()
                    .filter(|failed| !std::ptr::eq(failed.session, session) && failed.is_not_after(passed))
                {
                    failed.failure.close_if_solved(&[&check], &errand, true, "");
                }
            }
        }
        let is_run_here = |failed: &FailureWithTime| {
            let mut since = self.checks.iter().filter(|used| failed.is_not_after(used));
            since.any(|used| used.check_key().is_some_and(|key| failed.keys.iter().any(|known| known == key)))
        };
        let left = open.into_iter().rev().filter(|failed| failed.failure.is_open && !is_run_here(failed));
        let with_edits = |FailureWithTime { session, failure, failed_at, .. }| {
            // The sessions may have overlapped. In that case, some of the edits here may have come before the failure.
            let mut since = match *failed_at < *self.first_at {
                true => self.changes_after_check(0),
                false => ChangesAfterRun::default(),
            };
            let unseen_run = session.unseen_run_after(&failure).map(|mut run| {
                run.changes_since.add(since.clone());
                run
            });
            since.add(session.changes_after_check(failure.record));
            Failure { changes_since: since, unseen_run, ..failure }
        };
        left.take(MAX_INHERITED_FAILURES).map(with_edits).collect()
    }

    fn open_failures_of_checks(&self) -> impl Iterator<Item = FailureWithTime<'_>> {
        let open = self.failures.iter().filter(|failure| is_open_check(failure));
        open.map(|failure| {
            let keys = failure.checks_of_command("").iter().map(ProjectCheck::identity_key).collect();
            let failed_at = self.time_of_failure(failure);
            FailureWithTime { session: self, failure: failure.clone(), failed_at, keys }
        })
    }

    /// Returns the time of the run that failed. If that run has been forgotten, returns the session's last time.
    pub(in crate::digest) fn time_of_failure(&self, failure: &Failure) -> &str {
        let mut checks = self.checks.iter().filter(|used| used.last_run_record == failure.record);
        let mut commands = self.commands.iter().filter(|used| used.command == failure.command_or_file);
        let at = checks.next().map(|used| &used.at).or_else(|| commands.next().map(|used| &used.at));
        at.unwrap_or(&self.last_at)
    }
}

impl FailureWithTime<'_> {
    fn is_run_again_of(&self, older: &FailureWithTime) -> bool {
        self.failure.command_or_file == older.failure.command_or_file
            || self.keys.iter().any(|key| older.keys.contains(key))
    }

    /// Times are in whole seconds. If the two times are equal, `run` counts as the later one.
    fn is_not_after(&self, run: &NewestRunOfCheck) -> bool {
        *self.failed_at <= *run.at
    }
}

fn is_open_check(failure: &Failure) -> bool {
    failure.is_open && !failure.checks_of_command("").is_empty()
}
