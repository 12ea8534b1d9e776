//! The last runs and results of the commands in a packet.

use super::PacketFacts;
use crate::packet::RecordedCheck;
use crate::packet::choose::{self, CheckRunForPacket};
use crate::run::RunResult;

impl<'a> PacketFacts<'a> {
    /// Returns the last result of a validator. The user can choose any command as a loop's validator, so runs of
    /// commands that are not checks count too. A failure in an earlier session also counts.
    pub(super) fn last_result_of(&self, command: &str) -> Option<RecordedCheck> {
        if let Some(run) = self.last_run_of(command) {
            return Some(RecordedCheck { command: command.to_owned(), ..run.to_recorded_check() });
        }
        let digest = self.material.digest;
        let changed = |record: u64| {
            digest.are_files_changed_since || !digest.files_changed_after_check(record).is_empty()
        };
        let is_it = |known: &str| choose::is_same_command(known, command);
        if let Some(run) = digest.commands.iter().rfind(|run| is_it(&run.command)) {
            return Some(RecordedCheck {
                command: command.to_owned(),
                ok: run.last_result == RunResult::Passed,
                unknown: run.last_result == RunResult::Unknown,
                edited_since: changed(run.last_run_record),
                at: run.at.clone(),
            });
        }
        let failure = digest
            .failures_of_earlier_sessions
            .iter()
            .find(|failure| failure.folder.is_empty() && is_it(&failure.command_to_repeat()))?;
        let since = &failure.changes_since;
        Some(RecordedCheck {
            command: command.to_owned(),
            ok: false,
            unknown: false,
            edited_since: !since.edited.is_empty() || !since.maybe_changed.is_empty(),
            at: failure.error_at.clone(),
        })
    }

    /// Returns the last run of a command. If the command line consists of several checks that ran separately, returns
    /// the worst of their runs.
    pub(super) fn last_run_of(&self, command: &str) -> Option<&CheckRunForPacket<'a>> {
        let same = self.check_runs.iter().find(|run| choose::is_same_command(&run.command, command));
        same.or_else(|| choose::worst_run_of_parts(&self.check_runs, command))
    }
}
