//! How the command of a journal record ended, and how each check in it ended.

use crate::effect::{Effect, EffectKind, git_commands_of_line};
use crate::journal::{JournalRecord, RecordedCheckOutcome};
use crate::run::{self, ProjectCheck, RunResult, TestCounts};

/// Returns how a record's command ended. Older records lack the field `ended` and have `passed` or only an exit code.
pub(in crate::digest) fn result_of_record(record: &JournalRecord) -> RunResult {
    if record.is_refused() {
        return RunResult::Unknown;
    }
    match (record.ended.as_ref(), record.passed) {
        ("", Some(true)) => RunResult::Passed,
        ("", Some(false)) => RunResult::Failed,
        // The output is not stored, so only the command's own exit code can be used.
        ("", None) => run::decide_result(&record.command, record.exit, record.ok == Some(false), "?").result,
        (name, _) => RunResult::parse(name),
    }
}

/// Returns how each check in a command line ended. The result is `None` for a check that did not run. If one of
/// several checks failed and it is unknown which, every result is `None`.
pub(in crate::digest) fn result_of_each_check(
    checks: &[ProjectCheck],
    ended: RunResult,
    record: &JournalRecord,
) -> Vec<Option<RunResult>> {
    let step = record.step;
    if !record.parts.is_empty() {
        let parsed =
            |part: &RecordedCheckOutcome| (!part.ended.is_empty()).then(|| RunResult::parse(&part.ended));
        return (0..checks.len()).map(|at| record.parts.get(at).and_then(parsed)).collect();
    }
    let one = |at: usize| match (ended, step) {
        (RunResult::Failed, Some(step)) if at < step => Some(RunResult::Passed),
        (RunResult::Failed, Some(step)) if at > step => None,
        (RunResult::Failed, None) if checks.len() > 1 => None,
        _ => Some(ended),
    };
    (0..checks.len()).map(one).collect()
}

/// A failed call that is divided into its checks and the failed commands after them.
pub(in crate::digest) struct DividedRecord<'a> {
    pub checks: JournalRecord<'a>,
    pub rest: JournalRecord<'a>,
    /// Whether each failed command is a trial run of a program that the project builds.
    pub is_try_out: bool,
}

/// Divides a record into its checks and the failed commands after them. Returns `None` if the record does not report
/// the checks' own result, or if its command line cannot be divided.
pub(in crate::digest) fn divide_record_of_failed_line<'a>(
    record: &JournalRecord<'a>,
) -> Option<DividedRecord<'a>> {
    if record.checks_ended.is_empty() {
        return None;
    }
    let parts = run::divide_failed_line(record.command.trim())?;
    let before = RunResult::parse(&record.checks_ended);
    let checks = JournalRecord {
        command: parts.line_up_to_checks.into(),
        ok: Some(before == RunResult::Passed),
        exit: None,
        error: "".into(),
        ended: record.checks_ended.clone(),
        checks_ended: "".into(),
        ..record.clone()
    };
    let rest = JournalRecord {
        command: parts.line_after_checks.into(),
        result: "".into(),
        counts: TestCounts::default(),
        checks_ended: "".into(),
        parts: Vec::new(),
        ..record.clone()
    };
    Some(DividedRecord { checks, rest, is_try_out: parts.is_try_out })
}

/// Shortens a failed command line to the parts after its commit, if the output shows that the commit was made.
/// Otherwise, the whole line would look like a command to run again. Returns `None` if there is nothing to
/// leave out.
pub(in crate::digest) fn record_after_commit<'a>(record: &JournalRecord<'a>) -> Option<JournalRecord<'a>> {
    let is_commit = |effect: &Effect| matches!(effect.kind, EffectKind::Commit | EffectKind::Amend);
    let made = record.effect.iter().filter(|effect| is_commit(effect)).count();
    // If one of several commits was not made, it is unknown where the line failed.
    if record.ok != Some(false) || made == 0 || made < git_commands_of_line(&record.command).commits.len() {
        return None;
    }
    let rest = run::line_after_commit(&record.command)?;
    Some(JournalRecord { command: rest.into(), ..record.clone() })
}

/// Returns whether the error lines of a command line can only be those of a single check.
pub(in crate::digest) fn do_error_lines_belong_to_one_check(record: &JournalRecord) -> bool {
    let other = |part: &&RecordedCheckOutcome| matches!(part.ended.as_str(), "failed" | "ran");
    record.parts.iter().filter(other).count() == 1
}

pub(super) fn error_of_record<'a>(record: &'a JournalRecord) -> &'a str {
    if record.error.is_empty() { &record.result } else { &record.error }
}
