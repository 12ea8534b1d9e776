//! What went before, gathered for a brief: the digest of the right session, hook problems, files that are gone.

use std::path::Path;

use jiff::Timestamp;
use model::brief::Note;
use model::digest::Digest;
use model::event::{Event, EventName, Kind, Source};
use model::id::Id;
use model::receipt::{Outcome, Receipt};
use model::session::Pending;
use serde::Deserialize;
use store::{Root, Store, layout};

use crate::workstreams::{self, Place};
use crate::{World, gate, loops, pickup};

/// Enough of a log to hold what is recent.
const TAIL: u64 = 32 * 1024;

/// How many files are looked for on disk, and how many problems are told.
const LOOKED_FOR: usize = 60;
const PROBLEMS: usize = 3;

/// How many sessions back a continued one is followed.
pub const GENERATIONS: usize = 8;

/// Everything a brief needs, owned.
#[derive(Debug)]
pub struct Gathered {
    pub digest: Digest,
    pub problems: Vec<String>,
    pub gone: Vec<String>,
    pub notes: Vec<Note>,
}

/// What to tell at this event; None at all others.
pub fn gather(world: &World, place: &Place, event: &Event, pending: Option<Pending>) -> Option<Gathered> {
    let Place { root, store, .. } = *place;
    let own = || Id::new(event.previous.as_deref().unwrap_or(&event.session)).ok();
    let session = match &event.kind {
        _ if event.agent.is_some() => return None,
        Kind::SessionStart { source: Source::Startup } => last_other_session(store, &event.session)?,
        Kind::SessionStart { source: Source::Compact | Source::Resume | Source::Fork } => own()?,
        Kind::Prompt { .. } if pending == Some(Pending::Due) => own()?,
        Kind::SessionStart { source: Source::Clear | Source::Unknown }
        | Kind::Prompt { .. }
        | Kind::ToolDone(_)
        | Kind::BeforeCompact { .. }
        | Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Stop(_)
        | Kind::SessionEnd { .. }
        | Kind::Other { .. } => return None,
    };
    let gathered = of_session(store, root, &session).ok()?;
    Some(Gathered { notes: notes(world, place, event), ..gathered })
}

/// What there is to tell of one session, without what other records add.
pub fn of_session(store: &Store, root: &Root, session: &Id) -> store::Result<Gathered> {
    let mut digest = whole(store, session, GENERATIONS)?;
    bring_back(&mut digest, &root.checkout);
    let gone = gone_files(&digest, &root.checkout, LOOKED_FOR);
    Ok(Gathered { problems: problems(store), gone, notes: Vec::new(), digest })
}

/// What other records have to say at this event.
fn notes(world: &World, place: &Place, event: &Event) -> Vec<Note> {
    let Place { root, store, settings } = *place;
    if let Kind::SessionStart { source: Source::Startup } = &event.kind {
        let running = loops::session::note(store, &event.session);
        return running.into_iter().chain(gate::notes(store, root, settings)).collect();
    }
    let sessions: Vec<&str> =
        [Some(event.session.as_ref()), event.previous.as_deref()].into_iter().flatten().collect();
    recorded(place, &sessions, world.now)
}

/// What loop, workstream, packet and outputs have to say to a session, known by one id or by two.
pub fn recorded(place: &Place, sessions: &[&str], now: Timestamp) -> Vec<Note> {
    let Place { root, store, settings } = *place;
    let running = sessions.iter().find_map(|session| loops::session::note(store, session));
    let own = sessions.last().copied().unwrap_or_default();
    let (workstream, packet) = (workstreams::notes(place, own, now), pickup::claimed(store, own));
    running.into_iter().chain(workstream).chain(packet).chain(gate::notes(store, root, settings)).collect()
}

/// A session with those it goes on from. Some harnesses give a new id at every compaction.
pub fn whole(store: &Store, session: &Id, generations: usize) -> store::Result<Digest> {
    let digest = store.digest(session, |_| {})?;
    let earlier = Id::new(&digest.previous).ok().filter(|_| generations > 0);
    Ok(match earlier.and_then(|earlier| whole(store, &earlier, generations - 1).ok()) {
        Some(earlier) => digest.after(earlier),
        None => digest,
    })
}

/// The session before this one, in this root.
fn last_other_session(store: &Store, this: &str) -> Option<Id> {
    #[derive(Deserialize)]
    struct Line {
        session: String,
        source: Option<String>,
    }
    let tail = store.dir().recent(layout::SESSIONS, TAIL).ok()?;
    let lines = tail.split(|b| *b == b'\n').rev();
    let mut sessions = lines
        .filter_map(|line| serde_json::from_slice::<Line>(line).ok().filter(|line| line.source.is_some()));
    Id::new(&sessions.find(|line| line.session != this)?.session).ok()
}

/// Failures since the last session start that went well: each is told once.
fn problems(store: &Store) -> Vec<String> {
    let Ok(tail) = store.dir().recent(layout::RECEIPTS, TAIL) else { return Vec::new() };
    let lines = tail.split(|b| *b == b'\n').rev();
    let receipts = lines.filter_map(|line| serde_json::from_slice::<Receipt>(line).ok());
    receipts
        .take_while(|receipt| {
            receipt.event != EventName::SessionStart.name() || receipt.outcome == Outcome::Failed
        })
        .filter_map(|receipt| {
            let Receipt { event, harness, ts, error, .. } = receipt;
            error.map(|error| format!("the hook for {event} of {harness} failed at {ts}: {error}"))
        })
        .take(PROBLEMS)
        .collect()
}

/// A command that names no file can bring back what another has deleted: what is there is not deleted.
pub fn bring_back(digest: &mut Digest, checkout: &Path) {
    for file in digest.files.iter_mut().filter(|file| file.deleted && !file.outside).take(LOOKED_FOR) {
        file.deleted = checkout.join(&file.path).symlink_metadata().is_err();
    }
}

/// Of the `most` files that matter most, those that are not there any more.
pub fn gone_files(digest: &Digest, checkout: &Path, most: usize) -> Vec<String> {
    let ranked = digest.ranked_files();
    let named = ranked.iter().filter(|file| !file.outside).take(most);
    named
        .filter(|file| checkout.join(&file.path).symlink_metadata().is_err())
        .map(|file| file.path.clone())
        .collect()
}
