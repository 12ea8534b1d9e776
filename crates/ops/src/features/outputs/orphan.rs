//! Finds and ends the process of a launch that outlived its run.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::time;
use rustix::process::Pid;
use store::{Durability, RunFolder, layout};

use crate::process;
use crate::process::alive;

/// How long the last process of a group may take to disappear after the group was killed.
const MAX_GROUP_EXIT_TIME: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(super) struct OrphanedLaunch {
    /// The process id, or `None` if a process has the prompt open but its id is unknown.
    pub process: Option<i32>,
    stamp: String,
    since: Option<Timestamp>,
}

/// Returns whether a process is working on an output. Such a process has the prompt open and keeps it locked.
pub(super) fn is_launch_running(run: &RunFolder, file: &str) -> bool {
    matches!(run.open_with_inherited_lock(&layout::launch_prompt_file_name(file)), Ok(None))
}

/// Records which process is working on an output. If the record cannot be written, the lock still shows that some
/// process is working.
pub(super) fn record_launch_process(run: &RunFolder, file: &str, process: u32, now: Timestamp) {
    let stamp = alive::process_stamp(process).unwrap_or_else(|| process.to_string());
    let text = format!("{stamp} {}\n", time::to_rfc3339(now));
    let _ = run.write_file(&layout::launch_process_file(file), &text, Durability::Relaxed);
}

pub(super) fn remove_launch_record(run: &RunFolder, file: &str) {
    let _ = run.remove_file(&layout::launch_process_file(file));
}

impl OrphanedLaunch {
    pub fn read_record(run: &RunFolder, file: &str) -> Option<OrphanedLaunch> {
        is_launch_running(run, file).then(|| {
            let noted = run.read_small_file(&layout::launch_process_file(file)).unwrap_or_default();
            let (stamp, since) = noted.trim().split_once(' ').unwrap_or_default();
            let process = stamp.split(':').next().and_then(|number| number.parse().ok());
            OrphanedLaunch { process, stamp: stamp.to_owned(), since: time::parse_time(since) }
        })
    }

    pub fn time_left(&self, timeout: Duration, now: Timestamp) -> Duration {
        let used = self.since.and_then(|since| Duration::try_from(now.duration_since(since)).ok());
        timeout.saturating_sub(used.unwrap_or_default())
    }

    /// Returns whether the process may be ended. It must not be ended if its process id now belongs to another
    /// process.
    pub fn can_be_ended(&self) -> bool {
        alive::is_process_id_not_reused(&self.stamp)
    }

    /// Ends the process and all processes that it started. Returns false if the launch is still running afterwards.
    pub fn kill_process_group(&self, run: &RunFolder, file: &str) -> bool {
        if let Some(group) = self.process.and_then(Pid::from_raw).filter(|_| self.can_be_ended()) {
            process::terminate_group(group, || !is_launch_running(run, file));
            let until = Instant::now() + MAX_GROUP_EXIT_TIME;
            while is_launch_running(run, file) && Instant::now() < until {
                std::thread::sleep(super::run::ORPHAN_POLL_INTERVAL);
            }
        }
        !is_launch_running(run, file)
    }

    pub fn remedy(&self) -> String {
        match self.process.filter(|_| self.can_be_ended()) {
            Some(process) => {
                format!(
                    "process {process} is still working on it; `thru gate run` waits for the process, and ends it when its time is up"
                )
            }
            None => {
                "a command that an earlier run launched is still working on it, but its process is unknown; wait until the command ends"
                    .to_owned()
            }
        }
    }
}
