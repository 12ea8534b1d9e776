//! Finds the other sessions that were active recently.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use model::activity::scan;
use model::id::Id;
use model::time;
use store::{Store, layout};

use crate::Result;

/// How many bytes are read from the end of the session list, and also from the end of the receipts. In either file,
/// this is about 200 lines.
pub(super) const RECENT_SESSIONS_LOG_TAIL_BYTES: u64 = 32 * 1024;

/// Returns the other sessions that recorded something since `from`, most recently active first. Searches the end of
/// the session list and of the receipts. The receipts also show prompts and stops of sessions that started long ago.
pub fn sessions_active_since(store: &Store, own: &Id, now: Timestamp, from: &str) -> Result<Vec<Id>> {
    let Some(window) = time::parse_time(from).map(|from| now.duration_since(from)) else {
        return Ok(Vec::new());
    };
    let [list, receipts] = [layout::SESSIONS_INDEX, layout::RECEIPTS_LOG]
        .map(|log| store.dir().read_recent_lines(log, RECENT_SESSIONS_LOG_TAIL_BYTES).unwrap_or_default());
    let mut others: BTreeSet<&[u8]> = BTreeSet::new();
    for log in [&list, &receipts] {
        others.extend(scan::string_values_of_key(log, br#""session":""#));
    }
    others.remove(own.as_str().as_bytes());
    // A session that continued under a new id must not also be listed under its old id.
    scan::string_values_of_key(&list, br#""previous":""#).for_each(|previous| {
        others.remove(previous);
    });
    sessions_changed_within(store, own, window, others)
}

/// Returns the sessions whose journal was written at most `window` earlier than this session's journal. Both times come
/// from the file system, because the clocks of two processes can differ.
fn sessions_changed_within(
    store: &Store,
    own: &Id,
    window: SignedDuration,
    others: BTreeSet<&[u8]>,
) -> Result<Vec<Id>> {
    let journal = layout::journal_path(own);
    let (Some((folder, name)), false) = (journal.rsplit_once('/'), others.is_empty()) else {
        return Ok(Vec::new());
    };
    let folder = match store.dir().open_subfolder(folder) {
        Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
        folder => folder?,
    };
    let Some(this) = folder.file_info(name)? else { return Ok(Vec::new()) };
    let mut near = Vec::new();
    for other in others {
        let Some(session) = std::str::from_utf8(other).ok().and_then(|id| Id::new(id).ok()) else { continue };
        let journal = layout::journal_path(&session);
        let Some(look) = folder.file_info(journal.rsplit('/').next().unwrap_or(&journal))? else { continue };
        if this.modified_at.duration_since(look.modified_at) <= window {
            near.push((look.modified_at, session));
        }
    }
    near.sort_by(|a, b| b.cmp(a));
    Ok(near.into_iter().map(|(_, session)| session).collect())
}
