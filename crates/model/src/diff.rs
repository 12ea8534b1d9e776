//! Renders the changes to a file as a diff.

use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;

/// The number of unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// Returns the hunks of a unified diff, or an empty string if nothing changed. The caller prints the file names.
pub fn unified_diff(old: &str, new: &str) -> String {
    // `from_lines` would also split at a carriage return that is not followed by a line feed.
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::from_slices(&old, &new);
    let mut out = String::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT_LINES).iter_hunks() {
        let _ = writeln!(out, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let _ = write!(out, "{sign}{}", change.value());
            if !change.value().ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}
