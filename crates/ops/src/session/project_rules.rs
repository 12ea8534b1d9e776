//! Keeps the user's rules for the whole project. Only the digests of the last few sessions are read at a session start, so
//! the rules have a log of their own.

use model::digest::Digest;
use model::project_rules::ProjectRules;
use store::{Store, layout};

/// How many bytes are read from the end of the log. A rule is one sentence, so this is enough for hundreds of rules.
const LOG_TAIL_BYTES: u64 = 128 * 1024;

pub fn read_rules(store: &Store) -> store::Result<ProjectRules> {
    Ok(ProjectRules::parse_log(&store.dir().read_recent_lines(layout::PROJECT_RULES_LOG, LOG_TAIL_BYTES)?))
}

/// Adds the rules that the user stated or lifted in a session since the time `since`. This can safely be repeated.
pub fn record_rules(store: &Store, digest: &Digest, since: &str, limit: u64) -> store::Result<()> {
    // A log that git tracks reads as empty, so every rule would be added to it again at each checkpoint.
    if store.tracked_files().treats_as_absent(layout::PROJECT_RULES_LOG) {
        return Ok(());
    }
    let lines = read_rules(store)?.lines_for_session(digest, since);
    if lines.is_empty() {
        return Ok(());
    }
    store.dir().append_lines(layout::PROJECT_RULES_LOG, &lines, limit)
}
