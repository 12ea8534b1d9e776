//! The list of sessions: which of the project's sessions are running, which have ended, and which was last active.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use model::activity::scan;
use model::checkout_path;
use model::digest::{Digest, FileUse, Prompt};
use model::id::Id;
use model::packet::words;
use model::run;
use model::text::fnv_fingerprint;
use model::time;
use serde::{Deserialize, Serialize};
use store::{Store, layout};

use crate::Result;
use crate::features::ProjectContext;
use crate::process::alive;
use crate::session::{facts, last_turn};

/// How many bytes are read from the end of the list, where the most recent sessions are.
pub const ROSTER_TAIL_BYTES: u64 = 32 * 1024;

/// How many sessions are examined to find one with a request or some work.
const MAX_SESSIONS_SEARCHED: usize = 8;

/// Of the sessions that have not ended, only this many are examined, newest first.
const MAX_UNENDED_SESSIONS_EXAMINED: usize = 32;

/// How many bytes are read from the end of a journal to find its last lines.
const LAST_LINES_TAIL_BYTES: u64 = 4 * 1024;
/// How many bytes are read if the journal's last line is longer than [`LAST_LINES_TAIL_BYTES`].
const LONG_LINE_TAIL_BYTES: u64 = 128 * 1024;

/// A session whose process is unknown counts as running until it has been silent for this long.
const MAX_RUNNING_SILENCE: SignedDuration = SignedDuration::from_mins(5);

/// A session whose process is unknown counts as crashed after this long without an event.
const MAX_HOURS_OF_SESSION_SILENCE: SignedDuration = SignedDuration::from_hours(12);

/// A session, as described by its lines in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterEntry {
    pub session: Id,
    pub harness: String,
    pub worktree: String,
    pub transcript: Option<String>,
    /// A stamp that identifies the harness's process.
    pub process_stamp: Option<String>,
    /// When the session last started, was resumed or ended.
    pub last_listed_at: String,
    pub ended: bool,
    /// Whether the session continues under a new id.
    pub has_continued_under_new_id: bool,
    /// Whether `thru gate run` launched the session.
    pub is_launched_by_gate_run: bool,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct RosterLine<'a> {
    #[serde(borrow)]
    ts: Cow<'a, str>,
    #[serde(borrow)]
    session: Cow<'a, str>,
    #[serde(borrow)]
    harness: Cow<'a, str>,
    #[serde(borrow)]
    worktree: Cow<'a, str>,
    #[serde(borrow)]
    transcript: Option<Cow<'a, str>>,
    #[serde(borrow)]
    process: Option<Cow<'a, str>>,
    #[serde(borrow)]
    previous: Option<Cow<'a, str>>,
    #[serde(borrow)]
    ended: Option<Cow<'a, str>>,
    launched: bool,
}

/// The sessions at the end of the list. The list is read only once, when it is first needed.
#[derive(Debug)]
pub struct Roster<'a> {
    store: &'a Store,
    entries: OnceCell<Vec<RosterEntry>>,
}

impl<'a> Roster<'a> {
    pub fn of_store(store: &'a Store) -> Roster<'a> {
        Roster { store, entries: OnceCell::new() }
    }

    /// Returns the sessions, sorted by their last line in the list, newest last.
    pub fn entries(&self) -> Result<&[RosterEntry]> {
        if let Some(entries) = self.entries.get() {
            return Ok(entries);
        }
        let entries = read_roster(self.store, ROSTER_TAIL_BYTES)?;
        Ok(self.entries.get_or_init(|| entries))
    }
}

/// Reads the last `window` bytes of the list of sessions. Returns the sessions in the order of their newest lines.
pub fn read_roster(store: &Store, window: u64) -> Result<Vec<RosterEntry>> {
    match store.dir().read_recent_lines(layout::SESSIONS_INDEX, window) {
        Err(store::Error::Absent { .. }) => Ok(Vec::new()),
        tail => Ok(parse_roster(&tail?)),
    }
}

pub fn parse_roster(text: &[u8]) -> Vec<RosterEntry> {
    // The list has several lines for a session that was resumed or has ended. The newest line replaces the earlier
    // entry.
    let mut entries: Vec<Option<RosterEntry>> = Vec::new();
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    for line in text.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice::<RosterLine>(line).ok())
    {
        if let Some(previous) = line.previous.as_deref()
            && let Some(place) = places.get(&fnv_fingerprint([previous]))
            && let Some(previous) = &mut entries[*place]
        {
            previous.has_continued_under_new_id = true;
        }
        let Ok(session) = Id::new(&line.session) else { continue };
        let known = places.insert(fnv_fingerprint([&*line.session]), entries.len());
        let known = known.and_then(|place| entries[place].take_if(|known| known.session == session));
        let at = line.ts.into_owned();
        entries.push(Some(match (line.ended.is_some(), known) {
            // The line that ends a session lacks the other fields, so keep their values from the earlier entry.
            (true, Some(known)) => RosterEntry { last_listed_at: at, ended: true, ..known },
            (ended, known) => {
                let transcript = line.transcript.map(Cow::into_owned);
                let launched =
                    line.launched || known.as_ref().is_some_and(|known| known.is_launched_by_gate_run);
                RosterEntry {
                    session,
                    harness: line.harness.into_owned(),
                    worktree: line.worktree.into_owned(),
                    transcript: transcript.or_else(|| known.and_then(|known| known.transcript)),
                    process_stamp: line.process.map(Cow::into_owned),
                    last_listed_at: at,
                    ended,
                    has_continued_under_new_id: false,
                    is_launched_by_gate_run: launched,
                }
            }
        }));
    }
    entries.into_iter().flatten().collect()
}

/// Whether a session ended normally or crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionEnd {
    Ended,
    Crashed,
}

impl SessionEnd {
    /// Returns the words that follow the session's name in a message.
    pub fn describe(self) -> &'static str {
        match self {
            SessionEnd::Ended => "has ended",
            SessionEnd::Crashed => "has crashed",
        }
    }
}

/// Returns whether a session ended normally or crashed. Returns `None` if it may be running or is not in the list.
pub fn how_session_ended(
    entries: &[RosterEntry],
    store: &Store,
    session: &str,
    now: Timestamp,
) -> Option<SessionEnd> {
    entries.iter().find(|entry| entry.session.as_str() == session)?.end(store, now)
}

/// Returns whether a session has ended or crashed.
pub fn is_over(entries: &[RosterEntry], store: &Store, session: &str, now: Timestamp) -> bool {
    how_session_ended(entries, store, session, now).is_some()
}

impl RosterEntry {
    /// Returns whether the session has neither ended nor continued under a new id. An open session may be running or
    /// may have crashed.
    pub fn is_open(&self) -> bool {
        !self.ended && !self.has_continued_under_new_id
    }

    /// Returns whether the session crashed: it has not ended, but its process is gone. If the process is unknown, the
    /// session counts as crashed after a long silence. The process is examined first, because this does not require
    /// reading any of the session's files.
    pub fn has_crashed(&self, store: &Store, now: Timestamp) -> bool {
        if !self.is_open() {
            return false;
        }
        if let Some(is_alive) = self.process_stamp.as_deref().and_then(alive::is_alive) {
            return !is_alive;
        }
        let Ok(digest) = store.current_digest(&self.session, |_| {}) else { return false };
        let last = time::parse_time(&digest.last_at).or_else(|| time::parse_time(&self.last_listed_at));
        digest.end_reason.is_empty()
            && last.is_some_and(|last| now.duration_since(last) > MAX_HOURS_OF_SESSION_SILENCE)
    }

    /// Returns whether the session ended normally or crashed, or `None` if it may be running.
    pub fn end(&self, store: &Store, now: Timestamp) -> Option<SessionEnd> {
        match self.ended {
            true => Some(SessionEnd::Ended),
            false => self.has_crashed(store, now).then_some(SessionEnd::Crashed),
        }
    }

    /// Returns whether the session is open and has not crashed. If so, a message can still reach it. Use
    /// [`RosterEntry::is_running`] to find the sessions that are certainly at work.
    pub fn may_be_running(&self, store: &Store, now: Timestamp) -> bool {
        self.is_open() && !self.has_crashed(store, now)
    }

    /// Returns whether the session is still running. `own` is the stamp of the harness process that called thru. A
    /// session with this stamp counts as no longer running, because that process now runs another session.
    pub fn is_running(&self, store: &Store, own: Option<&str>, now: Timestamp) -> bool {
        if !self.is_open() || self.process_stamp.is_some() && self.process_stamp.as_deref() == own {
            return false;
        }
        let is_alive = self.process_stamp.as_deref().and_then(alive::is_alive);
        is_alive.unwrap_or_else(|| {
            let last = time::parse_time(&self.time_of_last_activity(store));
            last.is_some_and(|last| now.duration_since(last) < MAX_RUNNING_SILENCE)
        })
    }

    /// Returns when the session was last active.
    pub fn time_of_last_activity(&self, store: &Store) -> String {
        if self.ended {
            return self.last_listed_at.clone();
        }
        let journal = layout::journal_path(&self.session);
        let last = match store.dir().file_info(&journal) {
            Ok(Some(_)) => [LAST_LINES_TAIL_BYTES, LONG_LINE_TAIL_BYTES]
                .into_iter()
                .find_map(|window| newest_record_time(store, &journal, window)),
            _ => None,
        };
        last.unwrap_or_default().max(self.last_listed_at.clone())
    }
}

/// Returns the newest time at the end of a journal. The last line need not be the newest, because records from a
/// transcript have the time of their event.
fn newest_record_time(store: &Store, journal: &str, window: u64) -> Option<String> {
    let tail = store.dir().read_tail(journal, window).ok()?;
    tail.split(|b| *b == b'\n').filter_map(scan::time_of_line).max().map(str::to_owned)
}

/// A session with this many requests is a discussion, such as one about a plan, even if the agent called no tool.
const MIN_PROMPTS_FOR_WORK: usize = 2;

/// Returns the sessions that are running in other processes. They are ordered by their latest lines in the list of
/// sessions, newest first.
pub fn running_sessions<'e>(
    entries: &'e [RosterEntry],
    store: &Store,
    except: Option<&Id>,
    now: Timestamp,
) -> impl Iterator<Item = &'e RosterEntry> {
    let own = alive::calling_harness_stamp();
    let open = entries.iter().rev().filter(move |entry| entry.is_open() && Some(&entry.session) != except);
    open.take(MAX_UNENDED_SESSIONS_EXAMINED).filter(move |entry| entry.is_running(store, own.as_deref(), now))
}

/// Returns the most recently active session that `fits` accepts and that has a request or some work.
pub fn last_active_session(
    entries: &[RosterEntry],
    store: &Store,
    fits: impl Fn(&RosterEntry) -> bool,
) -> Option<Id> {
    digests_by_activity(entries, store, fits)
        .find(|(_, digest)| has_request_or_work(digest))
        .map(|(session, _)| session)
}

/// Returns the digest of the last active session that did any work. A later session does not count if the user only asked a
/// question and the agent answered it without a tool. If no session did any work, returns the digest of the last active
/// session with a request.
pub fn last_session_with_work(
    project: &ProjectContext,
    entries: &[RosterEntry],
    fits: impl Fn(&RosterEntry) -> bool,
) -> Option<Digest> {
    let store = project.store;
    let redact = project.settings.redact_options();
    let mut slight = None;
    for (session, mut digest) in digests_by_activity(entries, store, fits) {
        // A call that was running when the session ended is work, too.
        let entry = entries.iter().find(|entry| entry.session == session);
        last_turn::add_end_of_last_turn(project.world, store, entry, &mut digest, redact);
        if did_session_do_work(&digest) {
            return Some(digest);
        }
        if slight.is_none() && has_request_or_work(&digest) {
            slight = Some(digest);
        }
    }
    slight
}

fn digests_by_activity(
    entries: &[RosterEntry],
    store: &Store,
    fits: impl Fn(&RosterEntry) -> bool,
) -> impl Iterator<Item = (Id, Digest)> {
    let mut sorted = sort_by_activity(entries, store, fits);
    // Sessions that `thru gate run` launched are not the user's own work, so move them to the end.
    sorted.sort_by_key(|entry| entry.is_launched_by_gate_run);
    sorted.into_iter().take(MAX_SESSIONS_SEARCHED).filter_map(|entry| {
        let digest =
            facts::digest_with_predecessors(store, &entry.session, facts::MAX_PREDECESSOR_SESSIONS_READ)
                .ok()?;
        Some((entry.session.clone(), digest))
    })
}

/// Returns the sessions that `fits` accepts, most recently active first.
pub fn sort_by_activity<'e>(
    entries: &'e [RosterEntry],
    store: &Store,
    fits: impl Fn(&RosterEntry) -> bool,
) -> Vec<&'e RosterEntry> {
    // Of the sessions that have not ended, only the newest few are examined. Older ones must have crashed long ago.
    let mut open = 0;
    let mut known: Vec<(String, &RosterEntry)> = Vec::new();
    for entry in entries.iter().rev().filter(|entry| !entry.has_continued_under_new_id) {
        open += usize::from(!entry.ended);
        if (entry.ended || open <= MAX_UNENDED_SESSIONS_EXAMINED) && fits(entry) {
            known.push((entry.time_of_last_activity(store), entry));
        }
    }
    // The sort is stable, so if two sessions were active in the same second, the one with the newer line comes first.
    known.sort_by(|(a, _), (b, _)| b.cmp(a));
    known.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns whether the session did any work. It did if the user asked for something and the agent called a tool, if the
/// user asked more than once or answered a question of the agent, if a check was run, or if files or something outside
/// the checkout changed. A single question that the agent answered without a tool does not count, nor does a session
/// that only ran thru. Changes in the store are ignored, because sub-agents of `thru gate run` write their outputs
/// there.
pub fn did_session_do_work(digest: &Digest) -> bool {
    let is_changed =
        |file: &FileUse| (file.edits > 0 || file.written_at > 0) && !checkout_path::is_in_store(&file.path);
    let own_calls: u64 = {
        let own = digest.commands.iter().filter(|used| run::only_calls_thru(&used.command));
        own.map(|used| u64::from(used.runs)).sum()
    };
    let prompts = words::prompts_about_work(&digest.prompts);
    // After such an answer, the question must not be asked again.
    let is_answer = |prompt: &&Prompt| {
        digest.message_answered_by_prompt(prompt).is_some_and(|said| !said.closing_question.is_empty())
    };
    !prompts.is_empty() && digest.call_count > own_calls
        || prompts.len() >= MIN_PROMPTS_FOR_WORK
        || prompts.iter().any(is_answer)
        || !digest.effects.is_empty()
        || digest.files.iter().any(is_changed)
        || digest.checks.iter().any(|used| used.check_kind.is_check())
}

/// Returns whether the session has a request or some work. A session that was only opened and closed has neither.
pub fn has_request_or_work(digest: &Digest) -> bool {
    !words::prompts_about_work(&digest.prompts).is_empty()
        || !digest.files.is_empty()
        || !digest.commands.is_empty()
}

#[cfg(test)]
#[path = "roster_tests.rs"]
mod tests;
