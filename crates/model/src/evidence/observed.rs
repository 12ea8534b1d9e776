//! Turns a test run that a hook saw into evidence for the task in progress.

use super::{EntryType, EvidenceEntry, EvidenceOrigin, EvidenceVerdict};
use crate::digest::NewestRunOfCheck;
use crate::plan::{Plan, Task, TaskStatus};
use crate::run::{self, CommandKind, RunResult};
use crate::text::fnv_fingerprint;

/// Returns the task that was in progress when tests were run, at the time `at`. The task belongs to this session, or no
/// other session is working on it. `now` is the time of this checkpoint. If a task's start or end is recorded as
/// `now`, the real time is earlier. The real time is unknown, because the todo list is read only at checkpoints.
pub fn task_of_run<'p>(plan: &'p Plan, session: &str, at: &str, now: &str) -> Option<&'p Task> {
    let is_on = |task: &&Task| {
        let begun = task.started_at.as_deref().is_none_or(|begun| begun <= at || begun == now);
        let over = task.done_at.as_deref() == Some(now);
        begun && (task.status == TaskStatus::InProgress || task.status == TaskStatus::Completed && over)
    };
    let newest = |is_whose: &dyn Fn(&Option<String>) -> bool| {
        let tasks = plan.tasks().filter(is_on).filter(|task| is_whose(&task.claimed_by));
        tasks.max_by(|a, b| a.started_at.cmp(&b.started_at))
    };
    newest(&|by| by.as_deref() == Some(session))
        .or_else(|| newest(&|by| by.as_deref().is_none_or(|by| by == "user")))
}

/// Returns the entry for a run, or `None` if it is not a test run or its result is unknown.
pub fn entry_of_run(
    check: &NewestRunOfCheck,
    task: &str,
    session: &str,
    harness: &str,
) -> Option<EvidenceEntry> {
    if check.check_kind != CommandKind::Test || check.last_result == RunResult::Unknown {
        return None;
    }
    let NewestRunOfCheck { run, folder, result_line: result, at, exit, .. } = check;
    // Records of older versions contain the summary line but no counts.
    let counts = match check.counts.is_none() {
        true => run::counts_in_output(result).unwrap_or_default(),
        false => check.counts,
    };
    // Two runs can end within one second, so the time alone does not identify a run.
    let mark = fnv_fingerprint([session, at, run, folder, check.last_result.name(), &check.runs.to_string()]);
    let mut entry = EvidenceEntry {
        id: format!("o-{mark:016x}"),
        task_id: task.to_owned(),
        entry_type: EntryType::Test.name().to_owned(),
        kind: EvidenceOrigin::Observed.name().to_owned(),
        timestamp: at.clone(),
        agent: harness.to_owned(),
        verdict: verdict_of_run(check.last_result, counts).name().to_owned(),
        summary: result.clone(),
        tests_passed: counts.passed,
        tests_failed: counts.failed,
        command: Some(run.clone()),
        folder: folder.clone(),
        exit_code: *exit,
        ..EvidenceEntry::default()
    };
    entry.metadata.insert("session".to_owned(), session.into());
    Some(entry)
}

/// Returns the verdict on a run. A successful run without any test proves nothing.
pub fn verdict_of_run(ended: RunResult, counts: run::TestCounts) -> EvidenceVerdict {
    match ended {
        RunResult::Failed => EvidenceVerdict::Fail,
        RunResult::Passed if counts.tests_run() == Some(0) => EvidenceVerdict::Warn,
        RunResult::Passed => EvidenceVerdict::Pass,
        RunResult::Unknown => EvidenceVerdict::Warn,
    }
}
