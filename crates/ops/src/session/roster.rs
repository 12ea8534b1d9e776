//! The list of sessions: which sessions are running here, which have ended, and which one was last active.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use model::digest::{Digest, FileUse};
use model::id::Id;
use model::packet::words;
use model::time;
use serde::Deserialize;
use store::{Store, layout};

use crate::Result;
use crate::process::alive;
use crate::session::past;

/// How many bytes of the end of the list are read. The last sessions are in this part.
pub const TAIL: u64 = 32 * 1024;

/// How many sessions are examined to find one in which something was asked or done.
const LOOKED_INTO: usize = 8;

/// How many sessions that have not ended are examined.
const OPEN: usize = 32;

/// How many bytes of the end of a journal are read for its last lines.
const JOURNAL_END: u64 = 4 * 1024;
/// How many bytes of the end of a journal are read if its last line is longer than [`JOURNAL_END`].
const LONG_LINE: u64 = 128 * 1024;

/// A session whose process is unknown counts as running for this long after its last record.
const LATELY: SignedDuration = SignedDuration::from_mins(5);

/// A session, as its last lines in the list describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub session: Id,
    pub harness: String,
    pub worktree: String,
    pub transcript: Option<String>,
    /// The process of the harness.
    pub process: Option<String>,
    /// When the session last started, was resumed or ended.
    pub at: String,
    pub ended: bool,
    /// Whether the session continues under another id.
    pub continued: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    ts: String,
    session: String,
    harness: String,
    worktree: String,
    transcript: Option<String>,
    process: Option<String>,
    previous: Option<String>,
    ended: Option<String>,
}

/// Returns the sessions at the end of the list. The session with the newest line comes last.
pub fn read(store: &Store, window: u64) -> Result<Vec<Entry>> {
    match store.dir().recent(layout::SESSIONS, window) {
        Err(store::Error::Absent { .. }) => Ok(Vec::new()),
        tail => Ok(parse(&tail?)),
    }
}

pub fn parse(text: &[u8]) -> Vec<Entry> {
    let mut entries: BTreeMap<String, (usize, Entry)> = BTreeMap::new();
    let lines = text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    for (place, line) in lines.enumerate() {
        if let Some((_, previous)) = line.previous.as_deref().and_then(|id| entries.get_mut(id)) {
            previous.continued = true;
        }
        let Ok(session) = Id::new(&line.session) else { continue };
        let Line { ts: at, harness, worktree, transcript, process, ended, .. } = line;
        let entry = match (ended, entries.remove(session.as_str())) {
            // The line of a session end contains only the time, so the rest is taken from the earlier lines.
            (Some(_), Some((_, known))) => Entry { at, ended: true, ..known },
            (ended, known) => {
                let transcript = transcript.or_else(|| known.and_then(|(_, known)| known.transcript));
                let ended = ended.is_some();
                Entry { session, harness, worktree, transcript, process, at, ended, continued: false }
            }
        };
        entries.insert(entry.session.to_string(), (place, entry));
    }
    let mut entries: Vec<(usize, Entry)> = entries.into_values().collect();
    entries.sort_by_key(|(place, _)| *place);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

impl Entry {
    /// Whether the session has started, and has neither ended nor continued under another id. It may be running or
    /// dead.
    pub fn is_open(&self) -> bool {
        !self.ended && !self.continued
    }

    /// Returns whether the session is running in another process. `own` is the caller's process. If this session
    /// ran in the same process, that process has gone on to another session, so this session is not running.
    pub fn is_running(&self, store: &Store, own: Option<&str>, now: Timestamp) -> bool {
        if !self.is_open() || self.process.is_some() && self.process.as_deref() == own {
            return false;
        }
        let is_alive = self.process.as_deref().and_then(alive::is_alive);
        is_alive.unwrap_or_else(|| {
            let last = time::parse(&self.active_at(store));
            last.is_some_and(|last| now.duration_since(last) < LATELY)
        })
    }

    /// Returns when the session last did something.
    pub fn active_at(&self, store: &Store) -> String {
        if self.ended {
            return self.at.clone();
        }
        let journal = layout::journal(&self.session);
        let last = [JOURNAL_END, LONG_LINE].into_iter().find_map(|window| last_at(store, &journal, window));
        last.unwrap_or_default().max(self.at.clone())
    }
}

/// Returns the newest time at the end of a journal. Records from a transcript have the time of the event.
fn last_at(store: &Store, journal: &str, window: u64) -> Option<String> {
    #[derive(Deserialize)]
    struct Line {
        ts: String,
    }
    let tail = store.dir().recent(journal, window).ok()?;
    let lines = tail.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    lines.map(|line| line.ts).max()
}

/// A session with this many calls counts as work, even if it changed no file.
const MANY_CALLS: u64 = 8;

/// Returns the sessions that are running in other processes. The session with the newest line comes first.
pub fn running<'e>(
    entries: &'e [Entry],
    store: &Store,
    except: Option<&Id>,
    now: Timestamp,
) -> impl Iterator<Item = &'e Entry> {
    let own = alive::harness();
    let open = entries.iter().rev().filter(move |entry| entry.is_open() && Some(&entry.session) != except);
    open.take(OPEN).filter(move |entry| entry.is_running(store, own.as_deref(), now))
}

/// Returns the last active session in which something was asked or done, among those that `fits` accepts.
pub fn last_active(entries: &[Entry], store: &Store, fits: impl Fn(&Entry) -> bool) -> Option<Id> {
    last_digests(entries, store, fits).find(|(_, digest)| says_something(digest)).map(|(session, _)| session)
}

/// Returns the last active session in which work was done. If there is none, returns the last active session. A
/// session with one short question must not hide the work before it.
pub fn last_at_work(entries: &[Entry], store: &Store, fits: impl Fn(&Entry) -> bool) -> Option<Id> {
    let mut slight = None;
    for (session, digest) in last_digests(entries, store, fits) {
        if has_work(&digest) {
            return Some(session);
        }
        if says_something(&digest) {
            slight.get_or_insert(session);
        }
    }
    slight
}

fn last_digests(
    entries: &[Entry],
    store: &Store,
    fits: impl Fn(&Entry) -> bool,
) -> impl Iterator<Item = (Id, Digest)> {
    by_activity(entries, store, fits).into_iter().take(LOOKED_INTO).filter_map(|entry| {
        let digest = past::whole(store, &entry.session, past::GENERATIONS).ok()?;
        Some((entry.session.clone(), digest))
    })
}

/// Returns the sessions, last active first.
pub fn by_activity<'e>(entries: &'e [Entry], store: &Store, fits: impl Fn(&Entry) -> bool) -> Vec<&'e Entry> {
    // Of the sessions that never ended, only the newest can be the last active session. The others crashed long
    // ago.
    let mut open = 0;
    let mut known: Vec<(String, &Entry)> = Vec::new();
    for entry in entries.iter().rev().filter(|entry| !entry.continued) {
        open += usize::from(!entry.ended);
        if (entry.ended || open <= OPEN) && fits(entry) {
            known.push((entry.active_at(store), entry));
        }
    }
    // The sort is stable: of two sessions that were active in the same second, the one with the newer line comes
    // first.
    known.sort_by(|(a, _), (b, _)| b.cmp(a));
    known.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns whether something was changed, or a lot was examined. Files in our own store do not count: a worker that
/// `thru gate run` started writes its output there.
fn has_work(digest: &Digest) -> bool {
    let is_edit = |file: &FileUse| file.edits > 0 && !file.path.starts_with(layout::STORE);
    digest.called >= MANY_CALLS || !digest.effects.is_empty() || digest.files.iter().any(is_edit)
}

/// Returns whether something was asked or done. If a session was only opened and closed again, there is nothing to
/// report.
pub fn says_something(digest: &Digest) -> bool {
    !words::real(&digest.prompts).is_empty() || !digest.files.is_empty() || !digest.commands.is_empty()
}

#[cfg(test)]
#[path = "roster_tests.rs"]
mod tests;
