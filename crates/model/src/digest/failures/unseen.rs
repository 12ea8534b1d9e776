//! The runs of a failed check after its failure whose result the records do not show.

use super::{ChangesAfterRun, Digest, Failure};
use crate::render::in_backticks;
use crate::run::{self, RunResult};

/// A run of a failed check after the failure. Its result is unknown, so the failure may be mended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnseenRun {
    /// The filter that may have hidden the result, such as `| tail -5`. Empty if the result is unknown for another
    /// reason.
    filter: String,
    /// Whether a file was or may have been changed between the failure and now. If not, the check would fail again.
    pub is_after_changes: bool,
    /// The files that changed after the run.
    pub changes_since: ChangesAfterRun,
}

impl Digest {
    /// Returns the newest run of a failed check if it came after the failure and its result is unknown. A run of
    /// fewer checks or fewer tests does not count.
    pub fn unseen_run_after(&self, failure: &Failure) -> Option<UnseenRun> {
        let known = failure.checks_of_command("");
        let mut newest = 0;
        for at in &failure.checks_not_passed_since {
            let failed = known.get(*at)?;
            let is_run_of = |used: &&super::NewestRunOfCheck| {
                used.last_run_record > failure.record
                    && used.last_result == RunResult::Unknown
                    && used.parsed_check().is_some_and(|check| run::proves_fixed(&check, failed))
            };
            newest = newest.max(self.checks.iter().filter(is_run_of).map(|used| used.last_run_record).max()?);
        }
        let changes_since = self.changes_after_check(newest);
        let is_after_changes = !self.is_check_current(failure.record);
        let filter = self.filter_of_run(newest).unwrap_or_default();
        (newest > 0).then_some(UnseenRun { filter, is_after_changes, changes_since })
    }

    /// Returns the filter, such as `| tail -5`, that may have hidden the result of the run with this record.
    pub fn filter_of_run(&self, record: u64) -> Option<String> {
        let used = self.commands.iter().find(|used| used.last_run_record == record)?;
        run::filter_after_checks(&used.command)
    }
}

impl UnseenRun {
    /// Describes the run. `since` says which files changed after the run, as in `before the last edit to a.rs`.
    pub fn describe(&self, since: &str) -> String {
        let result = match self.filter.as_str() {
            "" => "its result is not known".to_owned(),
            filter => format!("its result was not visible ({})", in_backticks(filter, 60)),
        };
        let is_unchanged = self.changes_since == ChangesAfterRun::default();
        match (is_unchanged, self.is_after_changes) {
            (true, true) => format!("ran again after the last edit; {result}"),
            (true, false) => format!("ran again; {result}"),
            (false, _) => format!("{since}, ran again before that; {result}"),
        }
    }
}
