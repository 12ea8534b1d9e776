//! The small file that says which workstream a session was working on when it was compacted.

use std::collections::BTreeSet;

use model::id::Id;
use model::manifest::is_workstream;
use model::workstream::{LARGEST_STATE, State};
use store::{SessionState, Store, layout};

use crate::hook::context::HookContext;

/// Reads a state file, if it exists. The error says what is wrong with it.
pub fn state_of(store: &Store, rel: &str) -> Option<Result<State, String>> {
    match store.dir().read(rel, LARGEST_STATE * 4) {
        Ok(bytes) => Some(State::parse(&bytes)),
        Err(store::Error::Absent { .. }) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Returns the session's own state: the workstream it was working on when it was compacted.
pub fn own_state(store: &Store, session: &str) -> Option<Result<State, String>> {
    let id = Id::new(session).ok()?;
    let state = match store.session(&id).get::<State>() {
        Ok(state) => Ok(state?),
        Err(store::Error::Damaged { why, .. }) => Err(why),
        Err(error) => Err(error.to_string()),
    };
    Some(state.and_then(|state| match state.session_id.as_deref().filter(|of| *of != session) {
        Some(other) => Err(format!("it belongs to another session, {other}")),
        None => Ok(state),
    }))
}

/// The workstream that somebody chose for a session with `thru resume use`. It takes precedence over any detection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    pub id: String,
}

impl SessionState for Used {
    const FOLDER: &'static str = layout::WORKSTREAM_USED;
    const LARGEST: usize = 1024;

    fn parse(bytes: &[u8]) -> Result<Used, String> {
        let id = String::from_utf8_lossy(bytes).trim().to_owned();
        if is_workstream(&id) { Ok(Used { id }) } else { Err("it does not name a workstream".to_owned()) }
    }

    fn bytes(&self) -> Vec<u8> {
        format!("{}\n", self.id).into_bytes()
    }
}

/// The entries of a session's own list whose boxes were ticked. Each line contains the id of a workstream and the
/// fingerprint of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticked {
    pub marks: BTreeSet<String>,
}

impl SessionState for Ticked {
    const FOLDER: &'static str = layout::TICKED;
    const LARGEST: usize = 64 * 1024;

    fn parse(bytes: &[u8]) -> Result<Ticked, String> {
        Ok(Ticked { marks: lines(bytes).collect() })
    }

    fn bytes(&self) -> Vec<u8> {
        self.marks.iter().map(|mark| format!("{mark}\n")).collect::<String>().into_bytes()
    }
}

/// The sets of unread files that a session was reminded of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reminded {
    pub sets: Vec<String>,
}

impl SessionState for Reminded {
    const FOLDER: &'static str = layout::REMINDED;
    const LARGEST: usize = 64 * 1024;

    fn parse(bytes: &[u8]) -> Result<Reminded, String> {
        Ok(Reminded { sets: lines(bytes).collect() })
    }

    fn bytes(&self) -> Vec<u8> {
        self.sets.iter().map(|set| format!("{set}\n")).collect::<String>().into_bytes()
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = String> {
    String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Lets a session that continues under another id keep its workstream, its ticked boxes and its reminders.
pub fn continue_as(context: &HookContext, previous: &Id) -> crate::Result<()> {
    let store = context.project.store;
    let session = store.session(context.session);
    // A damaged state is treated as missing: the next compaction writes it again.
    if let Ok(Some(state)) = store.session(previous).get::<State>() {
        session.put(&State { session_id: Some(context.session.to_string()), ..state })?;
    }
    session.inherit::<Used>(previous)?;
    session.inherit::<Ticked>(previous)?;
    Ok(session.inherit::<Reminded>(previous)?)
}
