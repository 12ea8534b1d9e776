//! Runs of files that no longer exist, such as a test that the agent wrote to try something. Nobody can repeat such a
//! run, so it is neither open nor a check.

use super::{Digest, ProjectCheck};
use crate::run;

impl Digest {
    /// Returns the session's files that are named in its runs. Only the deletion of such a file can make a run
    /// obsolete.
    pub fn files_named_by_runs(&self) -> Vec<&str> {
        let of_failures = self.failures.iter().flat_map(|failure| failure.checks_of_command("").into_owned());
        let of_checks = self.checks.iter().filter_map(|used| used.parsed_check());
        let named: Vec<String> = of_failures
            .chain(of_checks)
            .flat_map(|check| run::files_named_by_check(&check, &self.first_worktree))
            .flatten()
            .collect();
        let is_named = |path: &&str| named.iter().any(|name| name == path);
        let own = self.files.iter().filter(|file| !file.is_outside_checkout);
        own.map(|file| file.path.as_str()).filter(is_named).collect()
    }

    /// Drops the runs that name only files that are `missing`.
    pub fn drop_runs_of_missing_files(&mut self, missing: &[String]) {
        let checkout = self.first_worktree.clone();
        let is_obsolete = |check: &ProjectCheck| {
            let named = run::files_named_by_check(check, &checkout);
            !named.is_empty() && named.iter().all(|paths| paths.iter().any(|path| missing.contains(path)))
        };
        self.checks.retain(|used| !used.parsed_check().is_some_and(|check| is_obsolete(&check)));
        self.failures.retain(|failure| {
            let checks = failure.checks_of_command("");
            checks.is_empty() || !checks.iter().all(is_obsolete)
        });
    }
}
