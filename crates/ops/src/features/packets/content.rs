//! A fingerprint of the uncommitted files of a checkout. It shows whether the files are the same as when a packet was
//! written, even if they have been committed since.

use std::path::Path;

use model::checkout_path;
use model::text::fnv_fingerprint;

use super::handoff::fingerprint_or_mark_of_missing_file;
use crate::project::git;

/// If more files than this differ from the commit, there is no fingerprint.
const MAX_FILES: usize = 500;

/// If the files are larger than this in total, there is no fingerprint.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Returns a fingerprint of the files that differ from `commit`, with their content. The project's records are left
/// out. Returns `None` if one of the files cannot be read or is too large.
pub(crate) fn fingerprint_of_changes(checkout: &Path, head: &str, commit: &str) -> Option<String> {
    let mut differing = git::files_differing_from_commit(checkout, head, commit)?;
    differing.paths.retain(|path| !checkout_path::is_in_store(path));
    let (top, paths) = (&differing.top_folder, &differing.paths);
    let size = |path: &String| top.join(path).symlink_metadata().map_or(0, |meta| meta.len());
    if paths.len() > MAX_FILES || paths.iter().map(size).sum::<u64>() > MAX_BYTES {
        return None;
    }
    let mut parts = Vec::new();
    for path in paths {
        parts.extend([path.clone(), fingerprint_or_mark_of_missing_file(top, path)?]);
    }
    Some(format!("{}-{:016x}", paths.len(), fnv_fingerprint(parts)))
}
