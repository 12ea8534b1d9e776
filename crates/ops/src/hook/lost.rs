//! Records that hooks could not write: told by the next hook that can, and by `status` and `doctor` until then and after.

use jiff::{SignedDuration, Timestamp};
use model::marker::ProjectId;
use model::receipt::{LOST, Outcome, Receipt};
use model::time;
use store::{LostNote, Store, layout};

use crate::World;
use crate::hook::deadline::Deadline;

/// How long a loss is worth telling.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How much of the receipts is looked through for one.
const TAIL: u64 = 256 * 1024;

fn note_of<'s>(world: &World, store: &'s Store, project: &ProjectId) -> LostNote<'s> {
    LostNote::new(store, world.state().as_deref(), project)
}

/// Counts a record that could not be written, where neither journal nor receipts took it.
pub(crate) fn note(world: &World, store: &Store, project: &ProjectId, why: &str, deadline: Deadline) {
    let now = time::rfc3339(world.now);
    // The last resort: where even this fails there is nobody left to tell.
    let _ = note_of(world, store, project).add(&now, why, deadline.wait());
}

/// Leaves a receipt for what was lost, and forgets it. Called by every hook but a tool call's, before anything is told.
pub(crate) fn tell(world: &World, store: &Store, project: &ProjectId, told: &LossNotice) {
    let leave = |lost: &store::Lost| {
        let receipt = Receipt {
            ts: time::rfc3339(world.now),
            harness: told.harness.to_owned(),
            event: LOST.to_owned(),
            session: told.session.to_owned(),
            ms: 0.0,
            outcome: Outcome::Failed,
            error: Some(lost.to_string()),
            warning: None,
        };
        store.append_receipt(&receipt.line(), told.limit)
    };
    // As long as nothing can be written, the note stays.
    let _ = note_of(world, store, project).take(told.deadline.wait(), leave);
    if told.reserve {
        let _ = store.reserve_lost_note();
    }
}

/// Who tells of a loss.
pub(crate) struct LossNotice<'a> {
    pub harness: &'a str,
    pub session: &'a str,
    /// When receipts are rotated.
    pub limit: u64,
    pub deadline: Deadline,
    /// Whether to make the file for the next loss, where it is missing: stores of older versions have none.
    pub reserve: bool,
}

/// What was lost lately: as noted, or as a receipt says.
pub fn recent(world: &World, store: &Store, project: &ProjectId) -> Option<String> {
    let noted = note_of(world, store, project).read();
    noted.map(|lost| lost.to_string()).or_else(|| newest_receipt(store, world.now))
}

/// What was lost and could not be told by any hook yet.
pub(crate) fn untold(world: &World, store: &Store, project: &ProjectId) -> Option<String> {
    note_of(world, store, project).read().map(|lost| lost.to_string())
}

fn newest_receipt(store: &Store, now: Timestamp) -> Option<String> {
    let tail = store.dir().recent(layout::RECEIPTS, TAIL).ok()?;
    let lines = tail.split(|byte| *byte == b'\n').rev();
    let mut receipts = lines.filter_map(|line| serde_json::from_slice::<Receipt>(line).ok());
    let receipt = receipts.find(|receipt| receipt.event == LOST)?;
    let is_recent = receipt.at().is_some_and(|at| now.duration_since(at) < RECENT);
    receipt.error.filter(|_| is_recent)
}

/// Whether records can be written: writes a file to the folder for scratch files and removes it, and asks for the folders
/// that hooks write to. Returns what failed.
pub(crate) fn try_writing(store: &Store) -> Vec<store::Error> {
    let dir = store.dir();
    let written = match dir.sub(layout::SCRATCH) {
        Err(store::Error::Absent { .. }) => dir.try_write(),
        scratch => scratch.and_then(|scratch| scratch.try_write()),
    };
    let asked = WRITTEN.iter().map(|rel| dir.may_write(rel));
    std::iter::once(written).chain(asked).filter_map(Result::err).collect()
}

/// The folders that hooks and commands write to, seen from the store.
const WRITTEN: &[&str] = &[".", layout::JOURNALS, "indexes", "state"];
