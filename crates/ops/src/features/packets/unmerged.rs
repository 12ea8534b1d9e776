//! Finds a packet's commits if the checked-out commit does not contain them.

use std::path::Path;

use model::consent::quote_command;
use model::packet::Packet;
use model::redact::RedactOptions;

use crate::project::git;

/// A packet's commits that the checked-out commit does not contain.
pub(super) struct UnmergedWork {
    /// The branch that is checked out here, or empty if there is none.
    pub branch_now: String,
    /// The command that leads to the packet's branch, or `None` if that branch no longer exists.
    pub command: Option<String>,
    /// The name of the branch for git, or the packet's commit.
    reference: String,
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
        let work = |reference: String, command| UnmergedWork { branch_now, command, reference };
        match store::git::read_branch_commit(checkout, &packet.branch) {
            Some(tip) if is_missing_here(&tip) => {
                let name = format!("refs/heads/{}", packet.branch);
                let tree = git::worktree_with_reference(checkout, &name);
                let command = match tree {
                    Some(tree) => vec!["cd".to_owned(), tree.to_string_lossy().into_owned()],
                    None => ["git", "switch", &packet.branch].map(str::to_owned).to_vec(),
                };
                Some(work(name, Some(quote_command(&command))))
            }
            None if is_missing_here(&packet.head) => Some(work(packet.head.clone(), None)),
            _ => None,
        }
    }

    /// Returns those of the files that the commits contain.
    pub fn files_there(&self, checkout: &Path, files: &[&str]) -> Vec<String> {
        git::paths_in_commit(checkout, &self.reference, files)
    }
}
