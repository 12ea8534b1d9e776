//! Reads information about processes from `/proc`.

use std::path::{Path, PathBuf};

use super::ProcessInfo;

/// The size limit of a stat line. Real lines are shorter, because a name has at most 16 bytes.
const MAX_STAT_BYTES: usize = 4096;
/// The size limit of a command line, which is larger than the kernel's own limit.
const MAX_ARGUMENTS_BYTES: usize = 16 * 1024 * 1024;

pub fn read_info(pid: i32) -> std::io::Result<Option<ProcessInfo>> {
    match store::read_outside_store(Path::new(&format!("/proc/{pid}/stat")), MAX_STAT_BYTES) {
        Ok(stat) => Ok(parse_stat_line(&String::from_utf8_lossy(&stat))),
        // The process does not exist, or it ended while its file was being read (ESRCH).
        Err(store::Error::Absent { .. }) => Ok(None),
        Err(error) => Err(std::io::Error::other(error)),
    }
}

pub fn command_line_arguments(pid: i32) -> Vec<String> {
    let line = store::read_outside_store(Path::new(&format!("/proc/{pid}/cmdline")), MAX_ARGUMENTS_BYTES)
        .unwrap_or_default();
    let words = line.split(|b| *b == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Parses a stat line: the process id, the name in parentheses, the state, the parent and more. The 22nd field is the
/// start time. The name can itself contain spaces and parentheses.
pub(super) fn parse_stat_line(stat: &str) -> Option<ProcessInfo> {
    let (head, rest) = stat.rsplit_once(')')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    Some(ProcessInfo {
        name: head.split_once('(')?.1.to_owned(),
        parent_pid: words.get(1)?.parse().ok()?,
        started: Some((*words.get(19)?).to_owned()),
        is_zombie: matches!(*words.first()?, "Z" | "X"),
    })
}

pub fn executable_path(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

pub fn pid_namespace() -> Option<String> {
    let link = std::fs::read_link(Path::new("/proc/self/ns/pid")).ok()?;
    Some(link.to_string_lossy().trim_matches(|c: char| !c.is_ascii_digit()).to_owned())
}
