//! How much evidence a task may have. A write over a limit is refused with the figure; surplus entries go to the
//! archive, and nothing is lost.

use super::standing::in_effect;
use super::{Bundle, Entry};

pub const BUNDLE_BYTES: usize = 500 * 1024;
pub const PATCH_BYTES: usize = 5 * 1024 * 1024;
pub const TASK_BYTES: usize = 20 * 1024 * 1024;
pub const MOST_ENTRIES: usize = 100;

/// A bundle within its limits, and what must go to the archive, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Trimmed {
    pub bundle: Bundle,
    pub archived: Vec<Entry>,
}

/// Archives entries until `most` are left, the oldest first: those that a later entry settled, then those that passed.
/// A failure that nothing settled stays, or its task would pass without it; only over [`MOST_ENTRIES`] may it leave.
pub fn trim(bundle: Bundle, most: usize) -> Trimmed {
    let over = |count: usize, most: usize| count.saturating_sub(most);
    let leaving = Leaving::of(&bundle.entries);
    let count = bundle.entries.len();
    let taken = over(count, most).min(leaving.order.len() - leaving.open).max(over(count, MOST_ENTRIES));
    take(bundle, &leaving.order[..taken])
}

/// Does the same by size: at most [`MOST_ENTRIES`], and as many as fit into [`BUNDLE_BYTES`]. An entry that is too large by
/// itself leaves first.
pub fn trim_to_size(bundle: Bundle) -> Trimmed {
    let sizes: Vec<usize> = bundle.entries.iter().map(size_in_bundle).collect();
    let mut order = Leaving::of(&bundle.entries).order;
    order.sort_by_key(|at| sizes[*at] <= BUNDLE_BYTES);
    let (mut count, mut size) = (bundle.entries.len(), bundle.bytes().len());
    let taken = order.iter().take_while(|at| {
        let is_over = count > MOST_ENTRIES || size > BUNDLE_BYTES;
        (count, size) = (count - 1, size.saturating_sub(sizes[**at]));
        is_over
    });
    let taken = taken.count();
    take(bundle, &order[..taken])
}

/// Returns how many entries a bundle may keep so that new ones fit, for a hint; `None` if they fit into no bundle.
pub fn fitting(bundle: &Bundle, new: &[Entry]) -> Option<usize> {
    let room = BUNDLE_BYTES.checked_sub(new.iter().map(size_in_bundle).sum())?;
    let fits = |most: &usize| trim(bundle.clone(), *most).bundle.bytes().len() <= room;
    (0..=bundle.entries.len()).rev().find(fits)
}

/// The order in which entries leave a bundle.
struct Leaving {
    /// Places of all entries.
    order: Vec<usize>,
    /// How many at the end of it are failures that nothing settled.
    open: usize,
}

impl Leaving {
    fn of(entries: &[Entry]) -> Leaving {
        let counting = in_effect(entries);
        let rank = |at: &usize| match counting.contains(at) {
            false => 0,
            true if !entries[*at].verdict().is_bad() => 1,
            true => 2,
        };
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|at| (rank(at), *at));
        let open = order.iter().filter(|at| rank(at) == 2).count();
        Leaving { order, open }
    }
}

/// Splits a bundle. Both parts keep their order.
fn take(mut bundle: Bundle, places: &[usize]) -> Trimmed {
    let entries = std::mem::take(&mut bundle.entries);
    let mut archived = Vec::new();
    for (at, entry) in entries.into_iter().enumerate() {
        if places.contains(&at) { archived.push(entry) } else { bundle.entries.push(entry) }
    }
    Trimmed { bundle, archived }
}

/// What an entry takes in the file: each of its lines is indented, and a comma and a line end follow.
fn size_in_bundle(entry: &Entry) -> usize {
    let bytes = serde_json::to_vec_pretty(entry).unwrap_or_default();
    bytes.len() + 4 * (1 + bytes.iter().filter(|b| **b == b'\n').count()) + 2
}
