//! Bringing a session's records up to date: the journal from the transcript, the digest and the index from the journal.

use std::path::Path;
use std::time::Duration;

use harness::Harness;
use harness::transcript::each_line;
use model::digest::{Digest, Folded};
use model::event::Event;
use model::id::Id;
use model::journal::{self, Record, Scene};
use model::session::Pending;
use model::suggest;
use store::feed::{self, Limits};
use store::{Error, Result, Store, layout};

use crate::retell::{Retelling, Told};

/// At most so much of a transcript is read at once, from its end. A hook has no time for more.
const WINDOW: u64 = 5 * 1024 * 1024;

/// What a checkpoint works on.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    pub store: &'a Store,
    pub harness: &'static Harness,
    pub scene: Scene<'a>,
    pub session: &'a Id,
    pub event: &'a Event<'a>,
    pub limit: u64,
    pub wait: Duration,
}

/// Folds what is new in transcript and journal into the digest and the index of files. Idempotent: what is told again
/// is not counted again.
pub fn run(work: &Checkpoint) -> Result<()> {
    let Checkpoint { store, session, limit, .. } = *work;
    let _lock = store.lock_session(session, work.wait)?;
    let mut suggestions = Vec::new();
    let mut digest = store.digest(session, |record| suggestions.extend(suggest::lines(record)))?;
    let caught_up = catch_up(work, &mut digest);
    // What came from the transcript is in the journal now, and is known already: this only moves the place.
    digest = fold_on(store, session, digest, &mut suggestions)?;
    if !suggestions.is_empty() {
        store.dir().append_all(layout::RELEVANT_FILES, &suggestions, limit)?;
    }
    store.write_digest(session, &digest)?;
    caught_up
}

/// Lets a session go on from another: it begins with all that is known of that one.
pub fn inherit(store: &Store, session: &Id, previous: &Id, wait: Duration) -> Result<()> {
    let _lock = store.lock_session(session, wait)?;
    let mut digest = store.digest(previous, |_| {})?;
    digest.session = session.to_string();
    (digest.parts, digest.offset) = (0, 0);
    store.write_digest(session, &digest)
}

/// Journals what the transcript tells and no hook did. The transcript may be absent: some harnesses write it late.
fn catch_up(work: &Checkpoint, digest: &mut Digest) -> Result<()> {
    let Some(path) = work.event.transcript.as_deref() else { return Ok(()) };
    let cursor = work.store.cursor(work.session);
    // Hooks that were not there from the beginning have missed prompts too.
    let whole = !work.harness.tells_all || cursor.is_none() && digest.prompts.is_empty();
    let mut retelling = Retelling::new(whole);
    let limits = Limits { window: WINDOW, ..Limits::default() };
    let read = feed::read_new(Path::new(path), cursor.as_ref(), limits, |line| {
        each_line(work.harness.read_line, line.bytes, |line| retelling.hear(&line));
    });
    let report = match read {
        Err(Error::Absent { .. }) => return Ok(()),
        report => report?,
    };
    let lines = new_lines(work, retelling.told, digest);
    for (kind, times) in retelling.unknown {
        *digest.unknown.entry(kind).or_default() += times;
    }
    if !lines.is_empty() {
        work.store.dir().append_all(&layout::journal(work.session), &lines, work.limit)?;
    }
    if retelling.compacted && !work.harness.tells_all {
        work.store.set_pending(work.session, Some(Pending::Due))?;
    }
    work.store.write_cursor(work.session, &report.cursor)
}

/// The lines of what was not known yet.
fn new_lines(work: &Checkpoint, told: Vec<Told>, digest: &mut Digest) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    for Told { id, at, kind, said } in told {
        let event = Event { kind, agent: None, previous: None, ..work.event.clone() };
        let mut record = journal::record(&event, &work.scene);
        record.from = "transcript".into();
        record.id = id.into();
        if let Some(at) = at {
            record.ts = at.into();
        }
        if said {
            record.event = "said".into();
        }
        if digest.fold(&record) == Folded::Counted {
            lines.push(record.line());
        }
    }
    lines
}

/// Folds what the journal holds beyond the place of `digest`.
fn fold_on(
    store: &Store,
    session: &Id,
    mut digest: Digest,
    suggestions: &mut Vec<Vec<u8>>,
) -> Result<Digest> {
    let place = store::Place { parts: digest.parts, offset: digest.offset };
    let place = store.dir().each_new_line(&layout::journal(session), place, |line| {
        if let Ok(record) = serde_json::from_slice::<Record>(line) {
            let fresh = digest.fold(&record) == Folded::Counted;
            if fresh || record.from == "transcript" {
                suggestions.extend(suggest::lines(&record));
            }
        }
    })?;
    (digest.parts, digest.offset) = (place.parts, place.offset);
    Ok(digest)
}
