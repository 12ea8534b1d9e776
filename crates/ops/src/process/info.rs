//! Reads the properties of a process: its parent, its name and its start time.
//!
//! This is the only module that asks the system about processes: `/proc` on Linux, `proc_pidinfo` on macOS. It starts
//! no process, so hooks may use it too.

#[cfg_attr(target_os = "linux", path = "info/linux.rs")]
#[cfg_attr(target_os = "macos", path = "info/macos.rs")]
mod platform;

use std::path::PathBuf;
use std::sync::OnceLock;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    pub parent_pid: i32,
    /// The name of the process's program, without its folder. The system cuts the name to 15 bytes on Linux and to 16
    /// on macOS.
    pub name: String,
    /// When the process started, in a format that only this module reads. `None` for another user's process on macOS.
    pub started: Option<String>,
    /// Whether the process is a zombie. macOS reports a zombie as absent.
    pub is_zombie: bool,
}

/// Examines a process. `Ok(None)` means that the process does not exist. An error means that it may exist, but cannot
/// be examined.
pub fn read_process_info(pid: i32) -> std::io::Result<Option<ProcessInfo>> {
    platform::read_info(pid)
}

pub fn parent_pid(pid: i32) -> Option<i32> {
    Some(read_process_info(pid).ok()??.parent_pid)
}

pub fn process_name(pid: i32) -> Option<String> {
    Some(read_process_info(pid).ok()??.name)
}

/// Returns the path of a process's program. Returns `None` for another user's process, and on macOS, where no safe
/// call returns the path.
pub fn executable_path(pid: i32) -> Option<PathBuf> {
    platform::executable_path(pid)
}

/// Returns the command line of a process. It is empty if the system does not reveal it: on macOS, and for another
/// user's process.
pub fn command_line_arguments(pid: i32) -> Vec<String> {
    platform::command_line_arguments(pid)
}

/// Returns a stamp that identifies one process: `<pid>:<start>:<namespace>`. A later process with the same process id
/// has another stamp.
pub fn start_stamp(pid: i32) -> Option<String> {
    stamp_from_info(pid, &read_process_info(pid).ok()??)
}

pub fn stamp_from_info(pid: i32, process: &ProcessInfo) -> Option<String> {
    Some(format!("{pid}:{}:{}", process.started.as_deref()?, pid_namespace()?))
}

/// Returns the namespace in which process ids are valid. A container has its own namespace. macOS has only one
/// namespace.
pub fn pid_namespace() -> Option<String> {
    // A process cannot leave its namespace, so one query is enough.
    static NAMESPACE: OnceLock<Option<String>> = OnceLock::new();
    NAMESPACE.get_or_init(platform::pid_namespace).clone()
}

#[cfg(test)]
#[path = "info_tests.rs"]
mod tests;
