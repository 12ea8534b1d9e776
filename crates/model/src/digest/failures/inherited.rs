//! The failures that earlier sessions left open.

use super::{Digest, Failure, ProjectCheck};

/// How many of these failures are told. Older ones are likely to be known or out of date.
const MAX_INHERITED_FAILURES: usize = 3;

impl Digest {
    /// Returns the checks that failed in earlier sessions, newest first. A check is left out if it has been run since,
    /// in a later session or in this one. `others` are the other sessions, the most recently active first.
    pub fn failures_left_by(&self, others: Vec<Digest>) -> Vec<Failure> {
        let mut all = Digest::default();
        for digest in others.into_iter().rev().filter(|other| other.last_at <= self.last_at) {
            all.merge_continued_runs(digest.commands, digest.checks, digest.failures, 0);
            all.failures.retain(is_open_check);
        }
        if all.failures.is_empty() {
            return Vec::new();
        }
        all.merge_continued_runs(self.commands.clone(), self.checks.clone(), Vec::new(), 0);
        let is_run_again = |failure: &Failure| {
            let checks = failure.checks_of_command("");
            let mut keys = checks.iter().map(ProjectCheck::identity_key);
            keys.any(|key| self.checks.iter().any(|used| used.check_key() == Some(&key)))
        };
        let left = all.failures.into_iter().rev().filter(is_open_check);
        left.filter(|failure| !is_run_again(failure)).take(MAX_INHERITED_FAILURES).collect()
    }
}

fn is_open_check(failure: &Failure) -> bool {
    failure.is_open && !failure.checks_of_command("").is_empty()
}
