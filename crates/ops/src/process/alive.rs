//! Checks whether a session's harness is still running. The harness's process is recorded when the session starts.

use rustix::process::getppid;

use crate::process::info::{pid_namespace, read_process_info, read_process_stamp, stamp_from_info};

/// Programs that only start another program and end when that program ends. None of them is a harness.
const LAUNCHER_PROGRAMS: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "env", "timeout", "thru"];

/// How many ancestor processes are searched for the harness.
const MAX_PARENTS_SEARCHED: usize = 6;

/// Returns the stamp of the harness that called thru: the nearest ancestor process whose name is not in
/// [`LAUNCHER_PROGRAMS`].
pub fn calling_harness_stamp() -> Option<String> {
    let mut pid = getppid()?.as_raw_nonzero().get();
    for _ in 0..MAX_PARENTS_SEARCHED {
        let process = read_process_info(pid).ok()??;
        if !LAUNCHER_PROGRAMS.contains(&process.name.as_str()) {
            return stamp_from_info(pid, &process);
        }
        pid = process.parent_pid;
    }
    None
}

/// Returns a stamp that distinguishes a process from a later process with the same process id.
pub fn process_stamp(pid: u32) -> Option<String> {
    read_process_stamp(i32::try_from(pid).ok()?)
}

/// Returns whether the process id in a stamp can only belong to the stamped process or to its process group. This is
/// the case if the stamped process still exists, or if no process has the id. The system does not reuse an id while a
/// process group has it.
pub fn is_process_id_not_reused(stamp: &str) -> bool {
    let mut parts = stamp.splitn(3, ':');
    let (pid, started, place) = (parts.next().and_then(|pid| pid.parse().ok()), parts.next(), parts.next());
    let (Some(pid), Some(started), Some(place)) = (pid, started, place) else { return false };
    pid_namespace().as_deref() == Some(place)
        && read_process_info(pid)
            .is_ok_and(|process| process.is_none_or(|process| process.started.as_deref() == Some(started)))
}

/// Returns whether a stamped process is running. Returns `None` if that cannot be determined: the stamp is
/// incomplete, the process is in another container, or it cannot be examined.
pub fn is_alive(stamp: &str) -> Option<bool> {
    let mut parts = stamp.splitn(3, ':');
    let (pid, started, place) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    if place != pid_namespace()? {
        return None;
    }
    match read_process_info(pid) {
        Ok(Some(process)) => Some(process.started.as_deref() == Some(started) && !process.is_zombie),
        Ok(None) => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_and_ended_processes_are_distinguished() {
        let own = std::process::id();
        let alive = process_stamp(own).unwrap();
        assert_eq!(is_alive(&alive), Some(true));
        assert!(is_process_id_not_reused(&alive));
        let place = pid_namespace().unwrap();
        let another = format!("{own}:1:{place}");
        assert_eq!(is_alive(&another), Some(false), "the process id now belongs to another process");
        assert!(!is_process_id_not_reused(&another));
        let elsewhere = format!("{}7", alive.strip_suffix(&place).unwrap());
        assert_eq!(is_alive(&elsewhere), None, "another container");
        assert_eq!(is_alive("nonsense"), None);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let stamp = process_stamp(child.id()).unwrap();
        child.wait().unwrap();
        assert_eq!(is_alive(&stamp), Some(false));
    }
}
