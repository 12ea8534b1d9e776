//! Uses `proc_pidinfo`. The short form of its result exists for the processes of every user, but has no start time.
//! The long form exists only for our own processes. The parents of a shell in Terminal are `login`, which belongs
//! to root, and Terminal, so both forms are needed.

use std::path::PathBuf;

use proc_pidinfo::{Pid, ProcBSDInfo, ProcBSDShortInfo, proc_pidinfo};
use rustix::io::Errno;

use super::ProcessInfo;

/// `SZOMB` of `sys/proc.h`.
const ZOMBIE_STATUS: u32 = 5;

pub fn read_info(pid: i32) -> std::io::Result<Option<ProcessInfo>> {
    let (Ok(number), Some(raw)) = (u32::try_from(pid), rustix::process::Pid::from_raw(pid)) else {
        return Ok(None);
    };
    let Some(short) = proc_pidinfo::<ProcBSDShortInfo>(Pid(number))? else {
        // The call does not say why it returned nothing. Signal 0 shows whether there is a process. A zombie accepts a
        // signal too, and counts as gone.
        return match rustix::process::test_kill_process(raw) {
            Ok(()) | Err(Errno::SRCH) => Ok(None),
            Err(e) => Err(e.into()),
        };
    };
    let long = proc_pidinfo::<ProcBSDInfo>(Pid(number)).unwrap_or_default();
    Ok(Some(ProcessInfo {
        parent: i32::try_from(short.pbsi_ppid.0).unwrap_or(0),
        name: short.comm().unwrap_or_default().to_owned(),
        // Microseconds since 1970. Unlike the start time on Linux, this does not depend on when the system was booted.
        started: long.map(|long| format!("{}.{:06}", long.pbi_start_tvsec, long.pbi_start_tvusec)),
        is_dead: short.pbsi_status == ZOMBIE_STATUS,
    }))
}

pub fn executable_path(_: i32) -> Option<PathBuf> {
    None
}

pub fn command_line_arguments(_: i32) -> Vec<String> {
    Vec::new()
}

pub fn pid_namespace() -> Option<String> {
    Some("macos".to_owned())
}
