//! Whether a session's harness still runs: told by its process, which a session start writes down.

use std::path::Path;

use rustix::process::getppid;

/// What only starts other programs, and is gone when they are.
const STARTERS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "env", "timeout", "thru"];

/// How far up the harness is looked for.
const STEPS: usize = 6;

/// The harness that called us: the nearest process above that is no shell, with when it began and in which container.
pub fn harness() -> Option<String> {
    let mut pid = getppid()?.as_raw_nonzero().get();
    for _ in 0..STEPS {
        let process = look(pid).ok()??;
        if !STARTERS.contains(&process.name.as_str()) {
            return Some(format!("{pid}:{}:{}", process.started, container()?));
        }
        pid = process.parent;
    }
    None
}

/// A process of ours, so that it can be told from another that has its number later.
pub fn stamp(pid: u32) -> Option<String> {
    let process = look(i32::try_from(pid).ok()?).ok()??;
    Some(format!("{pid}:{}:{}", process.started, container()?))
}

/// Whether the group of a stamped process is still its own: the process is there, or nobody has its number, which is not
/// given away while a group goes by it.
pub fn leads(stamp: &str) -> bool {
    let mut parts = stamp.splitn(3, ':');
    let (pid, started, place) = (parts.next().and_then(|pid| pid.parse().ok()), parts.next(), parts.next());
    let (Some(pid), Some(started), Some(place)) = (pid, started, place) else { return false };
    container().as_deref() == Some(place)
        && look(pid).is_ok_and(|process| process.is_none_or(|process| process.started == started))
}

/// None where it cannot be told: no `/proc`, another container, or nothing was written down.
pub fn is_alive(stamp: &str) -> Option<bool> {
    let mut parts = stamp.splitn(3, ':');
    let (pid, started, place) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    if place != container()? {
        return None;
    }
    match look(pid) {
        Ok(Some(process)) => Some(process.started == started && !process.is_dead),
        Ok(None) => Some(false),
        // It cannot be looked at: that says nothing about it.
        Err(_) => None,
    }
}

/// One line, with a name of at most 16 bytes in it.
const LARGEST_STAT: usize = 4096;

struct Process {
    name: String,
    parent: i32,
    started: String,
    is_dead: bool,
}

/// `/proc/<pid>/stat`: number, (name), state, parent, …, and as the 22nd word when it began.
fn look(pid: i32) -> store::Result<Option<Process>> {
    let stat = match store::read_own(Path::new(&format!("/proc/{pid}/stat")), LARGEST_STAT) {
        // Gone, or gone while it was read (ESRCH).
        Err(store::Error::Absent { .. }) => return Ok(None),
        stat => String::from_utf8_lossy(&stat?).into_owned(),
    };
    let parse = || {
        let (head, rest) = stat.rsplit_once(')')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        Some(Process {
            name: head.split_once('(')?.1.to_owned(),
            parent: words.get(1)?.parse().ok()?,
            started: (*words.get(19)?).to_owned(),
            is_dead: matches!(*words.first()?, "Z" | "X"),
        })
    };
    Ok(parse())
}

/// Process numbers mean something within one container only.
fn container() -> Option<String> {
    let link = std::fs::read_link(Path::new("/proc/self/ns/pid")).ok()?;
    Some(link.to_string_lossy().trim_matches(|c: char| !c.is_ascii_digit()).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_and_the_dead() {
        let own = std::process::id();
        let me = look(i32::try_from(own).unwrap()).unwrap().unwrap();
        let place = container().unwrap();
        assert_eq!(is_alive(&format!("{own}:{}:{place}", me.started)), Some(true));
        assert_eq!(
            is_alive(&format!("{own}:1:{place}")),
            Some(false),
            "the number was given to another since"
        );
        assert_eq!(is_alive(&format!("{own}:{}:7", me.started)), None, "another container");
        assert_eq!(is_alive("nonsense"), None);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let stamp = format!("{}:{}:{place}", child.id(), look(child.id() as i32).unwrap().unwrap().started);
        child.wait().unwrap();
        assert_eq!(is_alive(&stamp), Some(false));
    }
}
