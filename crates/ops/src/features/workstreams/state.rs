//! The small file that says which workstream a session was at work on when it was compacted.

use model::id::Id;
use model::workstream::{LARGEST_STATE, State};
use store::{Durability, Result, Store, layout};

use super::follow::LARGEST_TICKED;

/// A state file, if there is one, and what is wrong with it.
pub fn state_of(store: &Store, rel: &str) -> Option<std::result::Result<State, String>> {
    match store.dir().read(rel, LARGEST_STATE * 4) {
        Ok(bytes) => Some(State::parse(&bytes)),
        Err(store::Error::Absent { .. }) => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// The session's own state: the workstream it was at work on when it was compacted.
pub fn own_state(store: &Store, session: &str) -> Option<std::result::Result<State, String>> {
    let id = Id::new(session).ok()?;
    let state = state_of(store, &layout::precompact(&id))?;
    Some(state.and_then(|state| match state.session_id.as_deref().filter(|of| *of != session) {
        Some(other) => Err(format!("it is of another session, {other}")),
        None => Ok(state),
    }))
}

/// A session that goes on under another id keeps its state, and what its list has ticked.
pub fn move_state(store: &Store, from: &Id, to: &Id) -> Result<()> {
    if let Some(bytes) = kept(store, &layout::precompact(from), LARGEST_STATE)?
        && let Ok(state) = State::parse(&bytes)
    {
        let bytes = State { session_id: Some(to.to_string()), ..state }.bytes();
        store.dir().put(&layout::precompact(to), &bytes, Durability::Relaxed)?;
    }
    match kept(store, &format!("{}/{from}", layout::TICKED), LARGEST_TICKED)? {
        Some(bytes) => store.dir().put(&format!("{}/{to}", layout::TICKED), &bytes, Durability::Relaxed),
        None => Ok(()),
    }
}

fn kept(store: &Store, path: &str, most: usize) -> Result<Option<Vec<u8>>> {
    match store.dir().read(path, most) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(store::Error::Absent { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
