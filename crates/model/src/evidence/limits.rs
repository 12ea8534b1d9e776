//! How much evidence a task may have. Over a limit a write is refused with the figure; entries beyond their number go to the
//! archive, and nothing is lost.

use super::{Bundle, Entry};

pub const BUNDLE_BYTES: usize = 500 * 1024;
pub const PATCH_BYTES: usize = 5 * 1024 * 1024;
pub const TASK_BYTES: usize = 20 * 1024 * 1024;
pub const MOST_ENTRIES: usize = 100;

/// A bundle within its limits, and what has to go to the archive, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Trimmed {
    pub bundle: Bundle,
    pub archived: Vec<Entry>,
}

/// Takes the oldest entries out until `most` are left.
pub fn trim(mut bundle: Bundle, most: usize) -> Trimmed {
    let over = bundle.entries.len().saturating_sub(most);
    let archived = bundle.entries.drain(..over).collect();
    Trimmed { bundle, archived }
}

/// The same by size: at most [`MOST_ENTRIES`], and as many as fit into [`BUNDLE_BYTES`].
pub fn trim_to_size(bundle: Bundle) -> Trimmed {
    let Trimmed { mut bundle, mut archived } = trim(bundle, MOST_ENTRIES);
    let mut size = bundle.bytes().len();
    while size > BUNDLE_BYTES && bundle.entries.len() > 1 {
        // Each takes a little more in the file than by itself.
        let over = size - BUNDLE_BYTES;
        let mut freed = 0;
        let sizes =
            bundle.entries.iter().map(|entry| serde_json::to_vec(entry).map_or(0, |bytes| bytes.len()));
        let count = sizes
            .take_while(|size| {
                let more = freed < over;
                freed += size;
                more
            })
            .count();
        archived.extend(bundle.entries.drain(..count.clamp(1, bundle.entries.len() - 1)));
        size = bundle.bytes().len();
    }
    Trimmed { bundle, archived }
}
