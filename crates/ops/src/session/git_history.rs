//! Compares a session's commits and stashes with git's own files.

use std::cell::OnceCell;
use std::path::Path;

use model::digest::{CommitHistory, Digest, HistoryOnDisk, StashOnDisk};
use model::redact::RedactOptions;
use store::git::{self, GitHead};

/// The history of a checkout. Each of git's files is read once, and only if a session needs it.
pub struct CheckoutHistory<'f> {
    folder: &'f Path,
    head: Option<GitHead>,
    history: OnceCell<HistoryOnDisk>,
    stashes: OnceCell<Option<Vec<StashOnDisk>>>,
    redact: RedactOptions,
}

impl<'f> CheckoutHistory<'f> {
    pub fn new(folder: &'f Path, redact: RedactOptions) -> CheckoutHistory<'f> {
        let head = git::read_head(folder);
        CheckoutHistory { folder, head, history: OnceCell::new(), stashes: OnceCell::new(), redact }
    }

    /// Adds what became of a session's commits and stashes. Files are uncommitted again if a reset removed their commit or
    /// if their stash was applied.
    pub fn add_fates(&self, digest: &mut Digest) {
        if let Some(head) = &self.head {
            if digest.has_known_commits() {
                let history = self.history.get_or_init(|| git::read_history(self.folder, head));
                let read_refs =
                    |known: &CommitHistory| git::read_refs(self.folder, |id| known.has_commit(id));
                digest.add_fates_of_commits(history, read_refs, self.redact);
            }
            if digest.has_stashes()
                && let Some(stashes) = self.stashes.get_or_init(|| git::read_stashes(self.folder))
            {
                digest.add_fates_of_stashes(stashes);
            }
        }
        digest.mark_files_of_removed_commits_as_unsaved();
    }
}
