//! Reads information about processes with `proc_pidinfo`. Its short result is available for every user's processes,
//! but lacks the start time. Its long result is available only for the user's own processes. The search for a harness
//! passes through `login`, which belongs to root, so both results are needed.

use std::path::PathBuf;

use proc_pidinfo::{Pid, ProcBSDInfo, ProcBSDShortInfo, proc_pidinfo};
use rustix::io::Errno;

use super::ProcessInfo;

/// `SZOMB` in `sys/proc.h`.
const ZOMBIE_STATUS: u32 = 5;

pub fn read_info(pid: i32) -> std::io::Result<Option<ProcessInfo>> {
    let (Ok(number), Some(raw)) = (u32::try_from(pid), rustix::process::Pid::from_raw(pid)) else {
        return Ok(None);
    };
    let Some(short) = proc_pidinfo::<ProcBSDShortInfo>(Pid(number))? else {
        // The call does not say why it failed. Signal 0 shows whether the process exists. A zombie also accepts that
        // signal, but counts as absent.
        return match rustix::process::test_kill_process(raw) {
            Ok(()) | Err(Errno::SRCH) => Ok(None),
            Err(e) => Err(e.into()),
        };
    };
    let long = proc_pidinfo::<ProcBSDInfo>(Pid(number)).unwrap_or_default();
    Ok(Some(ProcessInfo {
        parent_pid: i32::try_from(short.pbsi_ppid.0).unwrap_or(0),
        name: short.comm().unwrap_or_default().to_owned(),
        // Seconds since 1970, with microseconds. Unlike the start time on Linux, this does not depend on the boot
        // time.
        started: long.map(|long| format!("{}.{:06}", long.pbi_start_tvsec, long.pbi_start_tvusec)),
        is_zombie: short.pbsi_status == ZOMBIE_STATUS,
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
