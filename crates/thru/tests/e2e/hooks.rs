//! Reconstructs the runs of our hooks from the starts and ends that the harness reports.

use std::time::Duration;

use crate::available::print_to_stderr;
use crate::process::{EndedProcess, TimedLine};

#[derive(Debug, Default)]
pub struct HookRun {
    pub event: String,
    pub exit: Option<i64>,
    pub stdout: String,
    pub stderr: String,
    /// How long the process took, including the shell and the harness's report.
    pub took: Duration,
}

/// Matches the starts and ends of hooks by their ids. `read` recognises the reports among the lines.
pub fn pair_hook_runs(ended: &EndedProcess, read: impl Fn(&TimedLine) -> Option<HookReport>) -> Vec<HookRun> {
    let reports: Vec<(&TimedLine, HookReport)> =
        ended.lines.iter().filter_map(|line| Some((line, read(line)?))).collect();
    let run = |(start, report): &(&TimedLine, HookReport)| {
        let HookReport::Started { id } = report else { return None };
        reports.iter().find_map(|(end, report)| match report {
            HookReport::Ended { id: ended, event, exit, stdout, stderr } if ended == id => Some(HookRun {
                event: event.clone(),
                exit: *exit,
                stdout: stdout.clone(),
                stderr: stderr.clone(),
                took: end.at.duration_since(start.at),
            }),
            _ => None,
        })
    };
    reports.iter().filter_map(run).collect()
}

#[derive(Debug)]
pub enum HookReport {
    Started { id: String },
    Ended { id: String, event: String, exit: Option<i64>, stdout: String, stderr: String },
}

/// Asserts that all hooks exited with 0 and wrote nothing to stderr. Also prints how long they took.
pub fn assert_all_succeeded(harness: &str, runs: &[HookRun]) {
    assert!(runs.iter().all(|run| run.exit == Some(0) && run.stderr.is_empty()), "{runs:#?}");
    let mut times: Vec<(Duration, &str)> = runs.iter().map(|run| (run.took, run.event.as_str())).collect();
    times.sort();
    let (slowest, event) = times.last().expect("hooks ran");
    let middle = times[times.len() / 2].0;
    let count = times.len();
    print_to_stderr(&format!(
        "hook latency seen by {harness}: {count} hooks, p50 {middle:.1?}, slowest {slowest:.1?} ({event})"
    ));
}
