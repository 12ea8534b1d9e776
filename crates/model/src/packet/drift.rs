//! Compares a packet's claims with the current state: each is verified, changed or unverified.

use jiff::Timestamp;
use serde::Serialize;

use super::{Check, Packet};
use crate::text::count;
use crate::time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Verified,
    Changed,
    /// The claim cannot be checked, because nothing was recorded or it cannot be determined any more.
    Unverified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    Project,
    Head,
    Branch,
    Dirty,
    File,
    Check,
    Age,
}

/// One fact of a packet, and whether it is still true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    pub about: About,
    /// What the claim is about: a file, a command or a commit.
    pub subject: String,
    pub state: State,
    /// The result in words: `its content differs`, `ahead by 3 commits`.
    pub note: String,
    /// Whether the subject is a file that can be opened here.
    #[serde(skip)]
    pub opens: bool,
}

/// The current state.
#[derive(Clone, Debug, Default)]
pub struct Now<'a> {
    /// The project that contains the packet, if it has a name.
    pub project: Option<&'a str>,
    /// The state of git; `None` outside git.
    pub git: Option<GitNow>,
    /// The state of each file of [`Packet::files`].
    pub files: &'a [FileNow],
    /// Whether the session continued and edited files after the packet was written.
    pub edited: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitNow {
    pub head: String,
    pub branch: String,
    pub dirty: Option<i64>,
    /// The distance between HEAD and the packet's commit; `None` if that commit is unknown here.
    pub way: Option<Way>,
}

/// The number of commits that only HEAD has, and that only the packet's commit has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    pub ahead: u64,
    pub behind: u64,
}

/// Recorded in place of a fingerprint if the file did not exist.
pub const GONE: &str = "gone";

/// The subject if no branch was checked out. No branch can have this name, because it contains a space.
pub(super) const NO_BRANCH: &str = "no branch";

/// The note if nothing was uncommitted, and nothing is now.
const CLEAN: &str = "nothing uncommitted, as then";

/// The end of the note if nothing is uncommitted any more.
const CLEAN_NOW: &str = " uncommitted then, 0 now";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileNow {
    Here {
        fingerprint: Option<String>,
    },
    Gone,
    /// The file is not below the root, so it is never opened.
    Outside,
}

/// Returns every claim that can be checked: git first, then files as listed, checks, and the packet's age.
pub fn verify(packet: &Packet, now: &Now, at: Timestamp) -> Vec<Claim> {
    let mut claims = Vec::from_iter(project_claim(packet, now.project));
    claims.extend(git_claims(packet, now.git.as_ref()));
    let files = packet.files();
    claims.extend(files.iter().zip(now.files).map(|(path, now)| file_claim(packet, path, now)));
    let moved = now.edited || claims.iter().any(|claim| claim.state == State::Changed);
    claims.extend(packet.checks_seen.iter().map(|check| check_claim(check, moved)));
    claims.extend(time::parse(&packet.created_at).map(|created| Claim {
        about: About::Age,
        subject: packet.created_at.clone(),
        state: State::Verified,
        note: format!("written {}", time::ago(created, at)),
        opens: false,
    }));
    claims
}

/// Checks a run. It is about the current files only if nothing was edited after it.
fn check_claim(check: &Check, moved: bool) -> Claim {
    let how = if check.ok { "passed" } else { "failed" };
    let (state, note) = match check {
        Check { unknown: true, at, .. } => {
            (State::Unverified, format!("ran at {at}; its result was not seen"))
        }
        Check { edited_since: true, at, .. } => {
            (State::Unverified, format!("{how} at {at}, before the last edits"))
        }
        Check { at, .. } if moved => (State::Unverified, format!("{how} at {at}, before later changes")),
        Check { at, .. } => (State::Verified, format!("{how} at {at}; nothing changed since")),
    };
    Claim { about: About::Check, subject: check.command.clone(), state, note, opens: false }
}

/// Returns whether nothing is uncommitted now.
pub(super) fn is_clean(claims: &[Claim]) -> bool {
    let ends = |note: &str| note == CLEAN || note.ends_with(CLEAN_NOW);
    claims.iter().any(|claim| claim.about == About::Dirty && ends(&claim.note))
}

/// Returns whether HEAD is not the packet's commit any more.
pub(super) fn is_moved(claims: &[Claim]) -> bool {
    claims.iter().any(|claim| claim.about == About::Head && claim.state == State::Changed)
}

/// Returns the claims that are no longer true.
pub fn drift(claims: &[Claim]) -> Vec<&Claim> {
    claims.iter().filter(|claim| claim.state == State::Changed).collect()
}

/// Returns a claim if the packet is of another project, because its other claims cannot be checked here.
fn project_claim(packet: &Packet, now: Option<&str>) -> Option<Claim> {
    let is_foreign = !packet.project_id.is_empty() && now.is_some_and(|now| packet.project_id != now);
    is_foreign.then(|| Claim {
        about: About::Project,
        subject: packet.project_id.clone(),
        state: State::Unverified,
        note: "the packet was written in that project, not in this one".to_owned(),
        opens: false,
    })
}

fn git_claims(packet: &Packet, now: Option<&GitNow>) -> Vec<Claim> {
    let mut claims = Vec::new();
    if packet.head.is_empty() && packet.branch.is_empty() {
        return claims;
    }
    let claim = |about, subject: &str, state, note: String| {
        let subject = subject.to_owned();
        Claim { about, subject, state, note, opens: false }
    };
    let Some(now) = now else {
        claims.push(claim(
            About::Head,
            &packet.head,
            State::Unverified,
            "this is not a git checkout now".into(),
        ));
        return claims;
    };
    if !packet.head.is_empty() {
        let (state, note) = match (now.head == packet.head, now.way) {
            (true, _) => (State::Verified, "HEAD is where it was".to_owned()),
            (false, None) => (
                State::Changed,
                format!("HEAD is {}; the packet's commit is not in this repository", short_commit(&now.head)),
            ),
            (false, Some(way)) => {
                (State::Changed, format!("HEAD is {}, {}", short_commit(&now.head), way_words(way)))
            }
        };
        claims.push(claim(About::Head, &packet.head, state, note));
    }
    let branch = |name: &str| if name.is_empty() { NO_BRANCH.to_owned() } else { name.to_owned() };
    let (state, note) = if now.branch == packet.branch {
        let note = if now.branch.is_empty() { "still none checked out" } else { "still checked out" };
        (State::Verified, note.to_owned())
    } else {
        (State::Changed, format!("{} is checked out now", branch(&now.branch)))
    };
    claims.push(claim(About::Branch, &branch(&packet.branch), state, note));
    if let (Some(then), Some(now)) = (packet.dirty, now.dirty) {
        let files = |n: i64| count(usize::try_from(n).unwrap_or(0), "file");
        let (state, note) = match then == now {
            true if now == 0 => (State::Verified, CLEAN.to_owned()),
            true => (State::Unverified, format!("{} uncommitted, as many as then", files(now))),
            false if now == 0 => (State::Changed, format!("{}{CLEAN_NOW}", files(then))),
            false => (State::Changed, format!("{} uncommitted then, {now} now", files(then))),
        };
        claims.push(claim(About::Dirty, &then.to_string(), state, note));
    }
    claims
}

fn way_words(way: Way) -> String {
    match way {
        Way { ahead, behind: 0 } => format!("ahead by {}", count(ahead as usize, "commit")),
        Way { ahead: 0, behind } => format!("behind by {}", count(behind as usize, "commit")),
        Way { ahead, behind } => format!("diverged: {ahead} here, {behind} there"),
    }
}

fn file_claim(packet: &Packet, path: &str, now: &FileNow) -> Claim {
    let then = packet.files_seen.iter().find(|(known, _)| known == path).map(|(_, digest)| digest.as_str());
    let (state, note) = match (now, then) {
        (FileNow::Outside, _) => (State::Unverified, "outside the project, not opened"),
        (FileNow::Gone, Some(GONE)) => (State::Verified, "gone, as then"),
        (FileNow::Gone, Some(_)) => (State::Changed, "gone"),
        // The file may never have existed here, because the packet can come from another checkout.
        (FileNow::Gone, None) => (State::Unverified, "not here; whether it existed then is not recorded"),
        (FileNow::Here { .. }, Some(GONE)) => (State::Changed, "exists again; it did not exist then"),
        (FileNow::Here { fingerprint: Some(now) }, Some(then)) if now == then => {
            (State::Verified, "as it was")
        }
        (FileNow::Here { fingerprint: Some(_) }, Some(_)) => (State::Changed, "its content differs"),
        (FileNow::Here { .. }, _) => (State::Unverified, "exists; its content then was not recorded"),
    };
    let opens = matches!(now, FileNow::Here { .. });
    Claim { about: About::File, subject: path.to_owned(), state, note: note.to_owned(), opens }
}

fn short_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

#[cfg(test)]
#[path = "drift_tests.rs"]
mod tests;
