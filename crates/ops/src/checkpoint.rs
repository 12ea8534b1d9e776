//! Bringing a session's records up to date: the journal from the transcript, the digest and the index from the journal.

use std::time::Duration;

use model::id::Id;
use model::journal::Record;
use model::suggest;
use store::{Result, Store, layout};

/// Folds what is new in the journal into the digest and the index of files. Idempotent: what is folded stays folded.
pub fn fold(store: &Store, session: &Id, limit: u64, wait: Duration) -> Result<()> {
    let _lock = store.lock_session(session, wait)?;
    let mut suggestions = Vec::new();
    let digest = store.digest(session, |record: &Record| suggestions.extend(suggest::lines(record)))?;
    if !suggestions.is_empty() {
        store.dir().append_all(layout::RELEVANT_FILES, &suggestions, limit)?;
    }
    store.write_digest(session, &digest)
}

/// Lets a session go on from another: it begins with all that is known of that one.
pub fn inherit(store: &Store, session: &Id, previous: &Id, wait: Duration) -> Result<()> {
    let _lock = store.lock_session(session, wait)?;
    let mut digest = store.digest(previous, |_| {})?;
    digest.session = session.to_string();
    (digest.parts, digest.offset) = (0, 0);
    store.write_digest(session, &digest)
}
