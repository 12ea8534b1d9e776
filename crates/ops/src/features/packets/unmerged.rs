//! Finds a packet's commits if the checked-out commit does not contain them.

use std::path::Path;

use model::checkout_path::path_within_checkout;
use model::consent::quote_command;
use model::packet::Packet;
use model::redact::RedactOptions;

use crate::project::git;

/// A packet's commits that the checked-out commit does not contain, whether they were made before or after the handoff.
pub(super) struct UnmergedWork {
    /// The branch that is checked out here, or empty if there is none.
    pub branch_now: String,
    /// A `cd` or `git switch` command that takes the user to the packet's branch, or `None` if that branch no longer
    /// exists.
    pub command: Option<String>,
    /// What git is asked about: the full name of the packet's branch or, if that branch no longer exists, the packet's
    /// commit.
    reference: String,
    /// The packet's commit if HEAD contains it. A file of this commit that is missing here was deleted here.
    commit_in_head: Option<String>,
}

impl UnmergedWork {
    /// Returns `None` if the packet's branch is checked out, or if HEAD contains its commits.
    pub fn find(checkout: &Path, packet: &Packet, redact: RedactOptions) -> Option<UnmergedWork> {
        let head = git::read_head(checkout)?;
        let branch_now = git::redacted_branch(&head, redact);
        if packet.head.is_empty() || head.commit.is_empty() || branch_now == packet.branch {
            return None;
        }
        let is_missing_here = |commit: &str| {
            let counts = git::count_diverging_commits(checkout, &head.commit, commit);
            counts.is_some_and(|(_, only_there)| only_there > 0)
        };
        let is_packet_missing_here = is_missing_here(&packet.head);
        let commit_in_head = (!is_packet_missing_here).then(|| packet.head.clone());
        let work =
            |reference: String, command| UnmergedWork { branch_now, command, reference, commit_in_head };
        match store::git::read_branch_commit(checkout, &packet.branch) {
            Some(tip) if is_missing_here(&tip) => {
                let name = format!("refs/heads/{}", packet.branch);
                let tree = git::worktree_with_reference(checkout, &name);
                let command = match tree {
                    Some(tree) => vec!["cd".to_owned(), tree.to_string_lossy().into_owned()],
                    None => ["git", "switch", &packet.branch].map(str::to_owned).to_vec(),
                };
                let found = work(name, Some(quote_command(&command)));
                // HEAD may contain the packet's commit but lack later commits of the packet's branch. These commits
                // matter only if they contain a file of the packet that is missing here.
                (is_packet_missing_here || found.has_packet_file_missing_here(checkout, packet))
                    .then_some(found)
            }
            None if is_packet_missing_here => Some(work(packet.head.clone(), None)),
            _ => None,
        }
    }

    /// Returns those of `files` that the commits contain. All of `files` are missing here.
    pub fn files_there(&self, checkout: &Path, files: &[&str]) -> Vec<String> {
        let mut there = git::paths_in_commit(checkout, &self.reference, files);
        if let Some(commit) = &self.commit_in_head {
            let deleted_here = git::paths_in_commit(checkout, commit, files);
            there.retain(|path| !deleted_here.contains(path));
        }
        there
    }

    fn has_packet_file_missing_here(&self, checkout: &Path, packet: &Packet) -> bool {
        let base = checkout.to_string_lossy();
        let is_missing = |path: &&str| {
            !path_within_checkout(&base, path).is_outside && checkout.join(path).symlink_metadata().is_err()
        };
        let mut missing = packet.confirmed_and_suggested_files();
        missing.retain(is_missing);
        !self.files_there(checkout, &missing).is_empty()
    }
}
