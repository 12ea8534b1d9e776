//! Limits on the evidence of a task. A write that exceeds a limit is refused with a message that names the limit.
//! Surplus entries are moved to the archive, so nothing is lost.

use super::standing::entries_in_effect;
use super::{EvidenceBundle, EvidenceEntry};

pub const MAX_BUNDLE_BYTES: usize = 500 * 1024;
pub const MAX_PATCH_BYTES: usize = 5 * 1024 * 1024;
pub const MAX_EVIDENCE_BYTES_PER_TASK: usize = 20 * 1024 * 1024;
pub const MAX_ENTRIES_PER_BUNDLE: usize = 100;

/// A bundle within its limits, and the entries to archive, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct TrimmedBundle {
    pub bundle: EvidenceBundle,
    pub archived: Vec<EvidenceEntry>,
}

/// Archives entries until at most `max_entries` are left. Entries are archived first if a later entry has settled
/// them. Entries that passed come next. Within each group, the oldest is archived first. Unsettled failures are archived only if there
/// are more than [`MAX_ENTRIES_PER_BUNDLE`] entries, because without these failures the task would pass.
pub fn trim_to_count(bundle: EvidenceBundle, max_entries: usize) -> TrimmedBundle {
    let over = |count: usize, most: usize| count.saturating_sub(most);
    let leaving = ArchiveOrder::order_entries_for_archiving(&bundle.entries);
    let count = bundle.entries.len();
    let taken = over(count, max_entries)
        .min(leaving.entry_indexes.len() - leaving.unsettled_failures)
        .max(over(count, MAX_ENTRIES_PER_BUNDLE));
    archive_entries(bundle, &leaving.entry_indexes[..taken])
}

/// Archives entries until at most [`MAX_ENTRIES_PER_BUNDLE`] are left and they fit into [`MAX_BUNDLE_BYTES`]. An entry
/// that exceeds this size on its own is archived first.
pub fn archive_entries_over_limits(bundle: EvidenceBundle) -> TrimmedBundle {
    let sizes: Vec<usize> = bundle.entries.iter().map(entry_size_in_bundle).collect();
    let mut order = ArchiveOrder::order_entries_for_archiving(&bundle.entries).entry_indexes;
    order.sort_by_key(|at| sizes[*at] <= MAX_BUNDLE_BYTES);
    let (mut count, mut size) = (bundle.entries.len(), bundle.to_bytes().len());
    let taken = order.iter().take_while(|at| {
        let is_over = count > MAX_ENTRIES_PER_BUNDLE || size > MAX_BUNDLE_BYTES;
        (count, size) = (count - 1, size.saturating_sub(sizes[**at]));
        is_over
    });
    let taken = taken.count();
    archive_entries(bundle, &order[..taken])
}

/// Returns how many old entries a bundle may keep so that the new entries also fit. Returns `None` if the new entries
/// are too large for any bundle.
pub fn max_old_entries_beside_new_ones(bundle: &EvidenceBundle, new: &[EvidenceEntry]) -> Option<usize> {
    let room = MAX_BUNDLE_BYTES.checked_sub(new.iter().map(entry_size_in_bundle).sum())?;
    let fits = |most: &usize| trim_to_count(bundle.clone(), *most).bundle.to_bytes().len() <= room;
    (0..=bundle.entries.len()).rev().find(fits)
}

/// The order in which entries are archived.
struct ArchiveOrder {
    /// The positions of all entries, in the order in which they are archived.
    entry_indexes: Vec<usize>,
    /// How many entries at the end of `entry_indexes` are failures that no later entry has settled.
    unsettled_failures: usize,
}

impl ArchiveOrder {
    fn order_entries_for_archiving(entries: &[EvidenceEntry]) -> ArchiveOrder {
        let counting = entries_in_effect(entries);
        let rank = |at: &usize| match counting.contains(at) {
            false => 0,
            true if !entries[*at].verdict().is_negative_verdict() => 1,
            true => 2,
        };
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|at| (rank(at), *at));
        let unsettled_failures = order.iter().filter(|at| rank(at) == 2).count();
        ArchiveOrder { entry_indexes: order, unsettled_failures }
    }
}

/// Splits a bundle into the entries to keep and the entries at `places`, which are archived. Both parts keep their
/// order.
fn archive_entries(mut bundle: EvidenceBundle, places: &[usize]) -> TrimmedBundle {
    let entries = std::mem::take(&mut bundle.entries);
    let mut archived = Vec::new();
    for (at, entry) in entries.into_iter().enumerate() {
        if places.contains(&at) { archived.push(entry) } else { bundle.entries.push(entry) }
    }
    TrimmedBundle { bundle, archived }
}

/// Returns the size of an entry in the file, including the indentation of each line and the comma and line ending after
/// the entry.
fn entry_size_in_bundle(entry: &EvidenceEntry) -> usize {
    let bytes = serde_json::to_vec_pretty(entry).unwrap_or_default();
    bytes.len() + 4 * (1 + bytes.iter().filter(|b| **b == b'\n').count()) + 2
}
