//! The runs of a session that continues another one.

use super::{CommandUse, Failure, MAX_CHECKS_IN_DIGEST, MAX_FAILURES_KEPT, NewestRunOfCheck};
use crate::digest::{Digest, keep_last};
use crate::run::{self, CommandPurpose, ProjectCheck, RunResult};

impl Digest {
    /// Applies the runs of a session that continues this one. They may show that failures in this session are fixed.
    pub(in crate::digest) fn merge_continued_runs(
        &mut self,
        commands: Vec<CommandUse>,
        checks: Vec<NewestRunOfCheck>,
        failures: Vec<Failure>,
        shift: u64,
    ) {
        for used in checks
            .into_iter()
            .map(|used| NewestRunOfCheck { last_run_record: used.last_run_record + shift, ..used })
        {
            let Some(check) = used.parsed_check() else { continue };
            if used.last_result == RunResult::Passed {
                let errand = CommandPurpose::Checks(Vec::new());
                let open = self.failures.iter_mut().filter(|failure| failure.is_open);
                open.for_each(|failure| failure.close_if_solved(&[&check], &errand, true, ""));
            }
            let key = check.identity_key();
            self.checks.retain(|known| known.check_key() != Some(&key));
            self.checks.push(used);
        }
        for command in commands {
            if command.last_result != RunResult::Failed {
                let errand = run::command_purpose(&command.command, &command.folder);
                let open = self.failures.iter_mut().filter(|failure| failure.is_open);
                open.for_each(|failure| failure.close_if_solved(&[], &errand, true, ""));
            }
            self.commands.retain(|known| known.command != command.command);
            self.commands.push(CommandUse { last_run_record: command.last_run_record + shift, ..command });
        }
        for failure in
            failures.into_iter().map(|failure| Failure { record: failure.record + shift, ..failure })
        {
            let keys: Vec<String> =
                failure.checks_of_command("").iter().map(ProjectCheck::identity_key).collect();
            for older in self.failures.iter_mut().filter(|older| older.is_open && failure.is_open) {
                let is_run_again = older.command_or_file == failure.command_or_file
                    || older.checks_of_command("").iter().any(|check| keys.contains(&check.identity_key()));
                older.is_open &= !is_run_again;
            }
            self.failures.push(failure);
        }
        keep_last(&mut self.checks, MAX_CHECKS_IN_DIGEST);
        keep_last(&mut self.failures, MAX_FAILURES_KEPT);
    }
}
