//! Records that hooks could not write: reported by the next hook that can write, and by `status` and `doctor`.

use jiff::{SignedDuration, Timestamp};
use model::marker::ProjectId;
use model::receipt::{LOST, Outcome, Receipt};
use model::time;
use store::{LostNote, Store, layout};

use crate::World;
use crate::hook::deadline::Deadline;

/// How long a loss keeps being reported.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How many bytes of the receipts are searched for a loss.
const TAIL: u64 = 256 * 1024;

fn note_of<'s>(world: &World, store: &'s Store, project: &ProjectId) -> LostNote<'s> {
    LostNote::new(store, world.state().as_deref(), project)
}

/// Counts a record that could be written neither to the journal nor to the receipts.
pub(crate) fn note(world: &World, store: &Store, project: &ProjectId, why: &str, deadline: Deadline) {
    let now = time::rfc3339(world.now);
    // This is the last resort: if it fails too, nothing more can be done.
    let _ = note_of(world, store, project).add(&now, why, deadline.wait());
}

/// Leaves a receipt for the loss and clears the note. Called by every hook except that of a tool call, before
/// anything is answered.
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
    // If the receipt cannot be written, the note stays.
    let _ = note_of(world, store, project).take(told.deadline.wait(), leave);
    if told.reserve {
        let _ = store.reserve_lost_note();
    }
}

/// How a hook reports a loss.
pub(crate) struct LossNotice<'a> {
    pub harness: &'a str,
    pub session: &'a str,
    /// The size at which receipts are rotated.
    pub limit: u64,
    pub deadline: Deadline,
    /// Whether to create the file for the next loss if it is missing: stores of older versions do not have it.
    pub reserve: bool,
}

/// Returns what was lost recently, from the note or from a receipt.
pub fn recent(world: &World, store: &Store, project: &ProjectId) -> Option<String> {
    let noted = note_of(world, store, project).read();
    noted.map(|lost| lost.to_string()).or_else(|| newest_receipt(store, world.now))
}

/// Returns what was lost and has not been reported by any hook yet.
pub(crate) fn unreported(world: &World, store: &Store, project: &ProjectId) -> Option<String> {
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

/// Checks whether records can be written: writes and removes a scratch file, and checks the folders that hooks write
/// to. Returns what failed.
pub(crate) fn try_writing(store: &Store) -> Vec<store::Error> {
    let dir = store.dir();
    let written = match dir.sub(layout::SCRATCH) {
        Err(store::Error::Absent { .. }) => dir.try_write(),
        scratch => scratch.and_then(|scratch| scratch.try_write()),
    };
    let asked = WRITTEN.iter().map(|rel| dir.may_write(rel));
    std::iter::once(written).chain(asked).filter_map(Result::err).collect()
}

/// The folders that hooks and commands write to, relative to the store.
const WRITTEN: &[&str] = &[".", layout::JOURNALS, "indexes", "state"];
