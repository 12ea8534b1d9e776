//! Decides whether a failed command is a problem to solve.

use super::results::error_of_record;
use crate::journal::JournalRecord;
use crate::run::{self, CommandPurpose, ProjectCheck};

/// Returns whether a failed command is a problem to solve, rather than a lookup, a typo or an experiment.
pub(super) fn is_problem_to_solve(checks: &[ProjectCheck], command: &str, record: &JournalRecord) -> bool {
    let error = error_of_record(record);
    let has_failed_tests = has_failed_tests(record);
    if !has_failed_tests && run::is_mistyped_or_interrupted_command_error(error) {
        return false;
    }
    if run::is_only_answer_of_thru(command, error) {
        return false;
    }
    let is_only_run = !checks.is_empty() && !checks.iter().any(|check| check.check_kind.is_check());
    if !has_failed_tests && is_only_run && (is_usage_message(error) || is_missing_program(record.exit, error))
    {
        return false;
    }
    run::failure_lasts(command, &record.cwd, &record.worktree)
        || is_program_crash(error)
            && (is_only_run
                || !matches!(run::command_purpose(command, &record.cwd), CommandPurpose::ReadOnly))
}

/// Returns whether a command ran tests and some of them failed. The output of such a run may contain any error message,
/// because the tested program may have printed it. So the message says nothing about the command.
pub(super) fn has_failed_tests(record: &JournalRecord) -> bool {
    record.counts.has_failed_tests()
        || run::reports_failed_tests(&record.error)
        || run::reports_failed_tests(&record.result)
}

/// Returns whether a script was not found, which means that its name or the folder was wrong.
fn is_missing_program(exit: Option<i64>, error: &str) -> bool {
    let first = error.trim_start().lines().next().unwrap_or_default();
    exit == Some(127) || first.contains("can't open file") || first.contains("not found:")
}

pub(super) fn is_usage_message(error: &str) -> bool {
    error.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("usage:"))
}

pub(super) fn is_program_crash(error: &str) -> bool {
    [
        "Traceback (most recent",
        "panic:",
        "panicked at",
        "Segmentation fault",
        "SyntaxError",
        "Cannot find module",
        "core dumped",
    ]
    .iter()
    .any(|sign| error.contains(sign))
}
