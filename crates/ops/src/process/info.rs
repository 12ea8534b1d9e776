//! Reads the properties of a process: its parent, its name and its start time.
//!
//! This is the only module that queries the system about processes: it uses `/proc` on Linux and `proc_pidinfo` on
//! macOS. It starts no process, so hooks can use it.

#[cfg_attr(target_os = "linux", path = "info/linux.rs")]
#[cfg_attr(target_os = "macos", path = "info/macos.rs")]
mod platform;

use std::path::PathBuf;
use std::sync::OnceLock;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    pub parent_pid: i32,
    /// The name of the program, without its folder. The system cuts the name to 15 bytes on Linux and to 16 bytes on
    /// macOS.
    pub name: String,
    /// When the process started, in a format that only this module understands. `None` for another user's process on
    /// macOS.
    pub started: Option<String>,
    /// Whether the process is a zombie. On macOS, a zombie is reported as a process that does not exist.
    pub is_zombie: bool,
}

/// Examines a process. Returns `Ok(None)` if the process does not exist, and an error if it may exist but cannot be
/// examined.
pub fn read_process_info(pid: i32) -> std::io::Result<Option<ProcessInfo>> {
    platform::read_info(pid)
}

pub fn parent_pid(pid: i32) -> Option<i32> {
    Some(read_process_info(pid).ok()??.parent_pid)
}

pub fn process_name(pid: i32) -> Option<String> {
    Some(read_process_info(pid).ok()??.name)
}

/// Returns the path of a process's program. Returns `None` for another user's process. Always returns `None` on
/// macOS, where no safe call provides the path.
pub fn executable_path(pid: i32) -> Option<PathBuf> {
    platform::executable_path(pid)
}

/// Returns a process's command line. It is empty for another user's process, and always empty on macOS.
pub fn command_line_arguments(pid: i32) -> Vec<String> {
    platform::command_line_arguments(pid)
}

/// Returns a stamp that identifies a process: `<pid>:<start>:<namespace>`. A later process with the same process id
/// has a different stamp.
pub fn read_process_stamp(pid: i32) -> Option<String> {
    stamp_from_info(pid, &read_process_info(pid).ok()??)
}

pub fn stamp_from_info(pid: i32, process: &ProcessInfo) -> Option<String> {
    Some(format!("{pid}:{}:{}", process.started.as_deref()?, pid_namespace()?))
}

/// Returns the namespace in which process ids are valid. On Linux, each container has its own namespace. macOS has
/// only one.
pub fn pid_namespace() -> Option<String> {
    // A process cannot leave its namespace, so one query is enough.
    static NAMESPACE: OnceLock<Option<String>> = OnceLock::new();
    NAMESPACE.get_or_init(platform::pid_namespace).clone()
}

#[cfg(test)]
#[path = "info_tests.rs"]
mod tests;
