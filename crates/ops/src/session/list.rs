//! Determines which session a command is about, and lists the sessions.

use harness::HARNESSES;
use jiff::Timestamp;
use model::id::Id;
use serde::{Deserialize, Serialize};
use store::{Store, layout};

use crate::process::alive;
use crate::session::roster::{self, RosterEntry, SessionEnd};
use crate::{Error, Result, World};

/// How many bytes are read from the end of the session list, where the most recent sessions are.
pub(super) const SESSION_LIST_TAIL_BYTES: u64 = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastSession {
    pub session: String,
    pub at: String,
    pub harness: String,
    /// The worktree of the session, if it is not this checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// How a session was determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionChoiceReason {
    /// The user named the session.
    Named,
    /// An environment variable of the calling harness named the session.
    Harness,
    /// Nobody named the session. It was chosen because it was last active in the project.
    Guess,
}

/// Returns the session that the user named, or else the session in the harness's variable, or else the session that
/// was last active in the project. The last one is only a guess, and the caller must tell the user so.
pub fn choose_session(
    world: &World,
    store: &Store,
    named: Option<&str>,
) -> Result<(Id, SessionChoiceReason)> {
    let id = |text: &str| {
        Id::new(text).map_err(|bad| Error::Usage {
            what: bad.to_string(),
            hint: "`thru journal --list` shows the sessions".into(),
        })
    };
    if let Some(named) = named {
        return Ok((resolve_session_id(store, named, &id(named)?)?, SessionChoiceReason::Named));
    }
    let variables = HARNESSES.iter().filter_map(|harness| harness.session_variable);
    if let Some(session) =
        variables.filter_map(|name| (world.read_variable)(name)).find_map(|id| id.into_string().ok())
    {
        return Ok((id(&session)?, SessionChoiceReason::Harness));
    }
    let newest = match last_active_session(store)? {
        Some(session) => Some(session),
        None => session_with_newest_record(store)?,
    };
    match newest {
        Some(session) => Ok((session, SessionChoiceReason::Guess)),
        None => Err(Error::Absent {
            what: "no session has been captured in this project yet".into(),
            hint: "once hooks are installed, every session is recorded from its next prompt on, even one that is already running; if none is recorded, `thru doctor` says what is missing"
                .into(),
        }),
    }
}

/// Like [`choose_session`], but never returns an ended session. If the session must be guessed, returns the last
/// active session that has neither ended nor crashed. If there is none, or if the user or the harness named an ended
/// session, returns the error from `refusal`, which receives the reason as a clause.
pub fn choose_open_session(
    world: &World,
    store: &Store,
    named: Option<&str>,
    refusal: impl FnOnce(&str) -> Error,
) -> Result<(Id, SessionChoiceReason)> {
    let (session, chosen) = choose_session(world, store, named)?;
    let entries = roster::read_roster(store, u64::MAX)?;
    // The calling harness is running this session, even if the list says that it has ended.
    let is_calling = session_of_current_harness(world).as_ref() == Some(&session);
    let end = roster::how_session_ended(&entries, store, session.as_str(), world.now);
    let Some(end) = end.filter(|_| !is_calling) else { return Ok((session, chosen)) };
    match (chosen, end) {
        (SessionChoiceReason::Named | SessionChoiceReason::Harness, SessionEnd::Ended) => {
            return Err(refusal(&format!("session {session} {}", end.describe())));
        }
        // A session that crashed can be resumed.
        (SessionChoiceReason::Named | SessionChoiceReason::Harness, SessionEnd::Crashed) => {
            return Ok((session, chosen));
        }
        (SessionChoiceReason::Guess, _) => {}
    }
    match last_running_session(&entries, store, world.now, |_| true) {
        Some(session) => Ok((session, SessionChoiceReason::Guess)),
        None => Err(refusal(&format!("no session is running here (session {session} {})", end.describe()))),
    }
}

/// Returns the session that was last active among those that `fits` accepts and that may be running.
pub fn last_running_session(
    entries: &[RosterEntry],
    store: &Store,
    now: Timestamp,
    fits: impl Fn(&RosterEntry) -> bool,
) -> Option<Id> {
    let open =
        roster::sort_by_activity(entries, store, |entry| fits(entry) && entry.may_be_running(store, now));
    open.first().map(|entry| entry.session.clone())
}

pub fn session_of_current_harness(world: &World) -> Option<Id> {
    let variables = HARNESSES.iter().filter_map(|harness| harness.session_variable);
    variables
        .filter_map(|name| (world.read_variable)(name)?.into_string().ok())
        .find_map(|id| Id::new(&id).ok())
}

/// Returns the open session that runs in the process of the calling harness. Not every harness names its session in a
/// variable.
pub fn session_of_calling_process(store: &Store) -> Option<Id> {
    let own = alive::calling_harness_stamp()?;
    let entries = roster::read_roster(store, SESSION_LIST_TAIL_BYTES).ok()?;
    let is_own =
        |entry: &RosterEntry| entry.is_open() && entry.process_stamp.as_deref() == Some(own.as_str());
    entries.into_iter().rfind(is_own).map(|entry| entry.session)
}

/// Finds a session by its whole id, or by the beginning of its id if only one session matches.
fn resolve_session_id(store: &Store, named: &str, id: &Id) -> Result<Id> {
    let all = all_session_ids(store)?;
    if all.contains(id) {
        return Ok(id.clone());
    }
    let matching: Vec<&Id> = all.iter().filter(|known| known.as_str().starts_with(named)).collect();
    match matching.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Error::Absent {
            what: format!("there is no session `{named}` in this project"),
            hint: "`thru journal --list` shows the sessions".into(),
        }),
        many => Err(Error::Refused {
            what: format!("{} sessions have ids that begin with `{named}`", many.len()),
            hint: many.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}

pub fn all_session_ids(store: &Store) -> Result<Vec<Id>> {
    let dir = match store.dir().open_subfolder(layout::JOURNALS_FOLDER) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        dir => dir?,
    };
    let names = dir.entries()?.into_iter().map(|entry| entry.name);
    // The names of rotated parts contain `~`, which is not allowed in an id, so they are left out.
    Ok(names.filter_map(|name| Id::new(name.strip_suffix(".jsonl")?).ok()).collect())
}

/// Returns the session with the newest record. This is used if the session list is empty.
fn session_with_newest_record(store: &Store) -> Result<Option<Id>> {
    let last = |id: &Id| store.current_digest(id, |_| {}).map(|digest| digest.last_at).unwrap_or_default();
    Ok(all_session_ids(store)?.into_iter().max_by_key(last))
}

/// Returns the most recently active session that has a request or some work. If there is none, returns the most
/// recently active session.
pub(super) fn last_active_session(store: &Store) -> Result<Option<Id>> {
    let entries = roster::read_roster(store, SESSION_LIST_TAIL_BYTES)?;
    let active =
        || roster::sort_by_activity(&entries, store, |_| true).first().map(|entry| entry.session.clone());
    Ok(roster::last_active_session(&entries, store, |_| true).or_else(active))
}

/// Returns the session that was last active, with the time of its last activity.
pub fn last_active_session_with_time(store: &Store) -> Result<Option<LastSession>> {
    let session = last_active_session(store)?;
    session.map_or(Ok(None), |session| describe_session(store, &session))
}

/// Returns a session's harness and the time of its last activity, or `None` if the session is not listed.
pub fn describe_session(store: &Store, session: &Id) -> Result<Option<LastSession>> {
    let entries = roster::read_roster(store, SESSION_LIST_TAIL_BYTES)?;
    let entry = entries.into_iter().find(|entry| entry.session == *session);
    Ok(entry.map(|entry| LastSession {
        at: entry.time_of_last_activity(store),
        session: session.to_string(),
        harness: entry.harness,
        worktree: None,
    }))
}

/// Returns the path of a session's transcript, as recorded when the session started.
pub fn transcript_path(store: &Store, session: &Id) -> Option<String> {
    #[derive(Deserialize)]
    struct SessionLine {
        session: String,
        transcript: Option<String>,
    }
    let tail = store.dir().read_recent_lines(layout::SESSIONS_INDEX, SESSION_LIST_TAIL_BYTES).ok()?;
    let lines =
        tail.split(|b| *b == b'\n').rev().filter_map(|line| serde_json::from_slice::<SessionLine>(line).ok());
    lines.filter(|line| line.session == session.as_str()).find_map(|line| line.transcript)
}
