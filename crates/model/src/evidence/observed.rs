//! Turns a test run that a hook saw into evidence for the task that was in progress.

use super::{Entry, EntryType, Kind, Verdict};
use crate::digest::CheckUse;
use crate::plan::{Plan, Task, TaskStatus};
use crate::run::{self, Ended, Sort};
use crate::text::fingerprint;

/// Returns the task that a run at `at` belongs to: one that the session works on, or else one that no other session
/// works on. `now` is when the records are read. If a task has that time, the todo list started or finished it at this
/// checkpoint, so the real time is unknown and earlier.
pub fn task_of<'p>(plan: &'p Plan, session: &str, at: &str, now: &str) -> Option<&'p Task> {
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

/// Returns the entry for a run; `None` if it is not a test, or its result is unknown.
pub fn observed(check: &CheckUse, task: &str, session: &str, harness: &str) -> Option<Entry> {
    if check.sort != Sort::Test || check.ended == Ended::Unknown {
        return None;
    }
    let CheckUse { run, folder, result, at, exit, .. } = check;
    // Records of older versions have only the summary line.
    let counts = match check.counts.is_none() {
        true => run::counts(result).unwrap_or_default(),
        false => check.counts,
    };
    // Two runs can end within one second, so the time alone does not identify a run.
    let mark = fingerprint([session, at, run, folder, check.ended.name(), &check.runs.to_string()]);
    let mut entry = Entry {
        id: format!("o-{mark:016x}"),
        task_id: task.to_owned(),
        entry_type: EntryType::Test.name().to_owned(),
        kind: Kind::Observed.name().to_owned(),
        timestamp: at.clone(),
        agent: harness.to_owned(),
        verdict: verdict(check.ended, counts).name().to_owned(),
        summary: result.clone(),
        tests_passed: counts.passed,
        tests_failed: counts.failed,
        command: Some(run.clone()),
        folder: folder.clone(),
        exit_code: *exit,
        ..Entry::default()
    };
    entry.metadata.insert("session".to_owned(), session.into());
    Some(entry)
}

/// Returns the verdict on a run. A run without any test proves nothing.
pub fn verdict(ended: Ended, counts: run::Counts) -> Verdict {
    match ended {
        Ended::Failed => Verdict::Fail,
        Ended::Passed if counts.ran() == Some(0) => Verdict::Warn,
        Ended::Passed => Verdict::Pass,
        Ended::Unknown => Verdict::Warn,
    }
}
