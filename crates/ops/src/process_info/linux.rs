//! `/proc`.

use std::path::{Path, PathBuf};

use super::ProcessInfo;

/// The system says this where a process ended while it was asked about.
const NO_SUCH_PROCESS: i32 = rustix::io::Errno::SRCH.raw_os_error();

pub fn look(pid: i32) -> std::io::Result<Option<ProcessInfo>> {
    let stat = match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound || e.raw_os_error() == Some(NO_SUCH_PROCESS) => {
            return Ok(None);
        }
        stat => stat?,
    };
    Ok(parse(&stat))
}

/// The number, the name in brackets, the state, the parent, …, and as the 22nd word when it began. A name may hold
/// blanks and brackets.
pub(super) fn parse(stat: &str) -> Option<ProcessInfo> {
    let (head, rest) = stat.rsplit_once(')')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    Some(ProcessInfo {
        name: head.split_once('(')?.1.to_owned(),
        parent: words.get(1)?.parse().ok()?,
        started: Some((*words.get(19)?).to_owned()),
        is_dead: matches!(*words.first()?, "Z" | "X"),
    })
}

pub fn exe(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

pub fn namespace() -> Option<String> {
    let link = std::fs::read_link(Path::new("/proc/self/ns/pid")).ok()?;
    Some(link.to_string_lossy().trim_matches(|c: char| !c.is_ascii_digit()).to_owned())
}
