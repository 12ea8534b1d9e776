//! Handles records that hooks could not write. The next hook that can write reports the loss, and so do `thru status`
//! and `thru doctor`.

use jiff::{SignedDuration, Timestamp};
use model::marker::ProjectId;
use model::receipt::{HookOutcome, RECORDS_LOST_EVENT, Receipt};
use model::time;
use store::{LostRecordsNote, Store, layout};

use crate::World;
use crate::hook::deadline::Deadline;

/// A loss that is older than this is no longer reported.
const MAX_AGE_OF_REPORTED_LOSS: SignedDuration = SignedDuration::from_hours(7 * 24);

/// How many bytes at the end of the receipts are searched for a loss.
const RECEIPTS_TAIL_BYTES: u64 = 256 * 1024;

fn open_lost_note<'s>(world: &World, store: &'s Store, project: &ProjectId) -> LostRecordsNote<'s> {
    LostRecordsNote::new(store, world.state_folder().as_deref(), project)
}

/// Counts a record that could be written neither to the journal nor to the receipts.
pub(crate) fn count_lost_record(
    world: &World,
    store: &Store,
    project: &ProjectId,
    why: &str,
    deadline: Deadline,
) {
    let now = time::to_rfc3339(world.now);
    // If this fails too, nothing more can be done.
    let _ = open_lost_note(world, store, project).add_loss(&now, why, deadline.lock_wait());
}

/// Writes a receipt about the loss and clears the note. Every hook does this before it replies, except at a tool
/// call.
pub(crate) fn report_and_clear_lost_records(
    world: &World,
    store: &Store,
    project: &ProjectId,
    told: &LossReportContext,
) {
    let leave = |lost: &store::LostRecords| {
        let receipt = Receipt {
            ts: time::to_rfc3339(world.now),
            harness: told.harness.to_owned(),
            event: RECORDS_LOST_EVENT.to_owned(),
            session: told.session.to_owned(),
            ms: 0.0,
            outcome: HookOutcome::Failed,
            error: Some(lost.to_string()),
            warning: None,
        };
        store.append_receipt(&receipt.to_json_line(), told.limit)
    };
    // If the receipt cannot be written, the note is kept.
    let _ =
        open_lost_note(world, store, project).report_and_clear_lost_records(told.deadline.lock_wait(), leave);
    if told.reserves_space {
        let _ = store.reserve_lost_note();
    }
}

pub(crate) struct LossReportContext<'a> {
    pub harness: &'a str,
    pub session: &'a str,
    /// The size in bytes at which the receipts are rotated.
    pub limit: u64,
    pub deadline: Deadline,
    /// Whether to create the file that reserves space for the next loss, if it is missing. Older versions of thru did
    /// not create it.
    pub reserves_space: bool,
}

/// Describes a recent loss, as recorded in the note or in a receipt.
pub fn describe_recent_loss(world: &World, store: &Store, project: &ProjectId) -> Option<String> {
    let noted = open_lost_note(world, store, project).read_note();
    let lost = noted.map(|lost| lost.to_string()).or_else(|| newest_loss_receipt(store, world.now))?;
    Some(format_times_for_reader(world, &lost))
}

/// Describes a loss that no hook has reported yet.
pub(crate) fn describe_unreported_loss(world: &World, store: &Store, project: &ProjectId) -> Option<String> {
    let lost = open_lost_note(world, store, project).read_note()?;
    Some(format_times_for_reader(world, &lost.to_string()))
}

/// Formats the two times in the description of a loss for the reader. In a note or a receipt, they are in UTC.
pub(crate) fn format_times_for_reader(world: &World, lost: &str) -> String {
    let formatted = || {
        let (what, rest) = lost.split_once(" between ")?;
        let (first, rest) = rest.split_once(" and ")?;
        let last = rest.split(' ').next()?.trim_end_matches(':');
        let [first, shown_last] = [first, last].map(world.time_for_reader);
        Some(format!("{what} between {first} and {shown_last}{}", &rest[last.len()..]))
    };
    formatted().unwrap_or_else(|| lost.to_owned())
}

fn newest_loss_receipt(store: &Store, now: Timestamp) -> Option<String> {
    let tail = store.dir().read_recent_lines(layout::RECEIPTS_LOG, RECEIPTS_TAIL_BYTES).ok()?;
    let lines = tail.split(|byte| *byte == b'\n').rev();
    let mut receipts = lines.filter_map(|line| serde_json::from_slice::<Receipt>(line).ok());
    let receipt = receipts.find(|receipt| receipt.event == RECORDS_LOST_EVENT)?;
    let is_recent = receipt.parsed_time().is_some_and(|at| now.duration_since(at) < MAX_AGE_OF_REPORTED_LOSS);
    receipt.error.filter(|_| is_recent)
}

/// Checks whether records can be written: writes and removes a scratch file, and checks the permissions of the
/// folders that hooks write to. Returns the errors.
pub(crate) fn errors_of_unwritable_folders(store: &Store) -> Vec<store::Error> {
    let dir = store.dir();
    let written = match dir.open_subfolder(layout::SCRATCH_FOLDER) {
        Err(store::Error::Absent { .. }) => dir.check_folder_is_writable(),
        scratch => scratch.and_then(|scratch| scratch.check_folder_is_writable()),
    };
    let asked = WRITTEN_FOLDERS.iter().map(|rel| dir.check_write_permission(rel));
    std::iter::once(written).chain(asked).filter_map(Result::err).collect()
}

/// The folders that hooks and commands write to, relative to the store.
const WRITTEN_FOLDERS: &[&str] = &[".", layout::JOURNALS_FOLDER, "indexes", "state"];
