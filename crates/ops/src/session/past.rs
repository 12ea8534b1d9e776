//! What went before, gathered for a brief: the digest of the right session, hook problems, files that are gone.

use std::path::Path;

use model::digest::Digest;
use model::event::EventName;
use model::id::Id;
use model::receipt::{LOST, Outcome, Receipt};
use serde::Deserialize;
use store::{Root, Store, layout};

/// Enough of a log to hold what is recent.
const TAIL: u64 = 32 * 1024;

/// How many files are looked for on disk, and how many problems are told.
const LOOKED_FOR: usize = 60;
const PROBLEMS: usize = 3;

/// How many sessions back a continued one is followed.
pub const GENERATIONS: usize = 8;

/// Everything a brief needs of one session, owned.
#[derive(Debug)]
pub struct Gathered {
    pub digest: Digest,
    pub problems: Vec<String>,
    pub gone: Vec<String>,
}

/// What there is to tell of one session, without what features add.
pub fn of_session(store: &Store, root: &Root, session: &Id) -> store::Result<Gathered> {
    let mut digest = whole(store, session, GENERATIONS)?;
    bring_back(&mut digest, &root.checkout);
    let gone = gone_files(&digest, &root.checkout, LOOKED_FOR);
    let problems = digest.unread_words().into_iter().chain(problems(store)).collect();
    Ok(Gathered { problems, gone, digest })
}

/// What hooks could not do, where no session was recorded: on a full disk, perhaps because of that.
pub fn only_problems(store: &Store) -> Option<Gathered> {
    let problems = problems(store);
    let digest = Digest::default();
    (!problems.is_empty()).then_some(Gathered { digest, problems, gone: Vec::new() })
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
pub fn last_other_session(store: &Store, this: Option<&Id>) -> Option<Id> {
    #[derive(Deserialize)]
    struct Line {
        session: String,
        source: Option<String>,
    }
    let tail = store.dir().recent(layout::SESSIONS, TAIL).ok()?;
    let lines = tail.split(|b| *b == b'\n').rev();
    let mut sessions = lines
        .filter_map(|line| serde_json::from_slice::<Line>(line).ok().filter(|line| line.source.is_some()));
    Id::new(&sessions.find(|line| this.is_none_or(|this| line.session != this.as_str()))?.session).ok()
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
            error.map(|error| match event.as_str() {
                LOST => error,
                _ => format!("the hook for {event} of {harness} failed at {ts}: {error}"),
            })
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
