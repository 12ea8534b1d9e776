//! Records the content of a session's files when the session ends. If the session is resumed, files that only have a new
//! time are recognised: `git checkout` and `touch` change the time, but not the content.

use std::path::Path;

use model::digest::{Digest, FileUse};
use model::event::EventKind;
use model::evidence::FileListing;
use model::id::Id;
use store::{Checkout, SessionState, Store, layout};

use crate::Result;
use crate::hook::context::HookContext;
use crate::session::facts;

/// How much content a hook reads. The files that do not fit are compared by their times alone.
const MAX_CONTENT_BYTES: u64 = 1024 * 1024;

/// The session's files as they were when the session ended.
struct FilesAtEnd {
    listing: FileListing,
}

/// When a session ends, records the content of its files.
pub fn update_at_checkpoint(context: &HookContext, digest: &Digest) -> Result<Option<String>> {
    if !matches!(context.event.kind, EventKind::SessionEnd { .. }) {
        return Ok(None);
    }
    let folder = facts::folder_of_session(&context.project, digest);
    let Ok(checkout) = Checkout::open(&folder) else { return Ok(None) };
    let files: Vec<FileUse> = facts::files_to_compare(digest);
    let mut listing = checkout.list_files(files.iter().map(|file| file.path.as_str()), MAX_CONTENT_BYTES);
    listing.files.retain(|_, state| !state.hash.is_empty());
    let state = context.project.store.session_state(context.session);
    match listing.files.is_empty() {
        // What an earlier end of the session has left is outdated.
        true => state.remove_state::<FilesAtEnd>()?,
        false => state.write_state(&FilesAtEnd { listing })?,
    }
    Ok(None)
}

/// Drops the files whose content is the same as when the session ended. If the session has worked since that end, it may
/// have changed the files, so none is dropped.
pub fn drop_files_with_same_content(store: &Store, session: &Id, folder: &Path, changed: &mut Vec<String>) {
    if changed.is_empty() {
        return;
    }
    let state = store.session_state(session);
    let ended_at = state.state_file_info::<FilesAtEnd>().ok().flatten().map(|info| info.modified_at);
    let recorded_at = store.dir().file_info(&layout::journal_path(session)).ok().flatten();
    if recorded_at.map(|info| info.modified_at) > ended_at {
        return;
    }
    let Ok(Some(FilesAtEnd { listing: known })) = state.read_state() else { return };
    let Ok(checkout) = Checkout::open(folder) else { return };
    let now = checkout.list_files(changed.iter().map(String::as_str), MAX_CONTENT_BYTES);
    let content = |listing: &FileListing, path: &str| {
        listing.files.get(path).map(|state| state.hash.clone()).filter(|hash| !hash.is_empty())
    };
    changed.retain(|path| {
        let known = content(&known, path);
        known.is_none() || known != content(&now, path)
    });
}

impl SessionState for FilesAtEnd {
    const STATE_FOLDER: &'static str = layout::FILES_AT_END_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64 * 1024;

    fn parse(bytes: &[u8]) -> std::result::Result<FilesAtEnd, String> {
        let listing = FileListing::parse(bytes).map_err(|line| format!("line {line} cannot be read"))?;
        Ok(FilesAtEnd { listing })
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.listing.to_bytes()
    }
}
