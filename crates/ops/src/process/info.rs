//! What the system says about a process: its parent, its name, its start time.
//!
//! This is the only module that asks: `/proc` on Linux, `proc_pidinfo` on macOS. No process is started for an answer,
//! so a hook may ask too.

#[cfg_attr(target_os = "linux", path = "info/linux.rs")]
#[cfg_attr(target_os = "macos", path = "info/macos.rs")]
mod platform;

use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    pub parent: i32,
    /// The name of its program, without a folder. The system cuts it: at 15 bytes on Linux, at 16 on macOS.
    pub name: String,
    /// When it began, in a form that only this module reads. `None` if another user's process does not say (macOS).
    pub started: Option<String>,
    /// It has ended, and its parent has not collected its status. macOS reports such a process as absent.
    pub is_dead: bool,
}

/// `Ok(None)` means that there is no such process. An error means that there may be one, but it cannot be examined.
pub fn look(pid: i32) -> std::io::Result<Option<ProcessInfo>> {
    platform::look(pid)
}

pub fn parent(pid: i32) -> Option<i32> {
    Some(look(pid).ok()??.parent)
}

pub fn name(pid: i32) -> Option<String> {
    Some(look(pid).ok()??.name)
}

/// Returns the file of its program. `None` for another user's process, and on macOS, where no safe call returns it.
pub fn exe(pid: i32) -> Option<PathBuf> {
    platform::exe(pid)
}

/// Returns its command line; empty if the system does not say (another user's process, macOS).
pub fn arguments(pid: i32) -> Vec<String> {
    platform::arguments(pid)
}

/// Identifies one process for good: `<pid>:<start>:<namespace>`. A later process with the same number has another
/// stamp.
pub fn start_stamp(pid: i32) -> Option<String> {
    stamp_of(pid, &look(pid).ok()??)
}

/// Returns the stamp of a process that was already examined.
pub fn stamp_of(pid: i32, process: &ProcessInfo) -> Option<String> {
    Some(format!("{pid}:{}:{}", process.started.as_deref()?, namespace()?))
}

/// The namespace in which process numbers are valid: a container has its own. macOS has only one.
pub fn namespace() -> Option<String> {
    platform::namespace()
}

#[cfg(test)]
#[path = "info_tests.rs"]
mod tests;
