//! The branch with the session's last commit, if another branch is checked out now. Git's reflogs prove which branch a
//! commit was made on, even if the command printed nothing.

use jiff::Timestamp;

use super::{Digest, RecordedEffect};
use crate::effect::EffectKind;
use crate::time::parse_time;

/// A move of a branch, as the branch's reflog records it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchMove {
    pub commit_before: String,
    pub commit: String,
    pub at: Timestamp,
    /// What moved the branch, such as `commit: Round to five cents`.
    pub what: String,
}

/// The branch on which the session's last commit was made, if another branch is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherBranch {
    pub name: String,
    /// The session's commits that were made on this branch, as numbers of records, oldest first.
    pub records: Vec<u64>,
    /// The session's last commit.
    pub commit: String,
    /// When that commit was made.
    pub committed_at: Timestamp,
    /// Whether the commit at HEAD is older than the session's commits, so that it cannot contain them. If false, it is
    /// unknown whether HEAD contains them.
    pub is_head_older: bool,
    /// Whether the branch has since been merged into the branch that is checked out.
    pub is_merged: bool,
    /// Whether the remote branch was at the same commit as this branch at the last fetch or push. Also true if no
    /// remote branch is known, but a fetch after the session's last commit may have removed it.
    pub may_be_on_remote: bool,
}

impl Digest {
    /// Returns the branches that may contain the session's last commit, except the one that is checked out now.
    pub fn branches_possibly_left(&self, branch_now: &str) -> Vec<&str> {
        let Some(commit) = self.last_standing_commit() else { return Vec::new() };
        let switches = self.effects.iter().rev().filter(|used| {
            matches!(used.effect.kind, EffectKind::Switch | EffectKind::Branch)
                && !used.is_in_other_repository
        });
        let named = [commit.effect.place.as_str(), &self.branch].into_iter();
        let mut names: Vec<&str> = Vec::new();
        for name in named.chain(switches.map(|used| used.effect.what.as_str())) {
            if !name.is_empty() && name != branch_now && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the branch `name` if the session's last commit was made on it and the checked-out branch was never moved
    /// to that commit. `head` is the commit at HEAD. `moves_here` are the moves of the checked-out branch and
    /// `moves_there` those of `name`, both oldest first.
    pub fn other_branch_with_commits(
        &self,
        name: &str,
        head: &str,
        moves_here: &[BranchMove],
        moves_there: &[BranchMove],
    ) -> Option<OtherBranch> {
        let last = self.last_standing_commit()?;
        let began = parse_time(&self.first_at);
        let makes = |found: &BranchMove, used: &RecordedEffect| makes(found, used, began);
        let made = moves_there.iter().rposition(|found| makes(found, last))?;
        if moves_here.iter().any(|found| makes(found, last) || found.commit == moves_there[made].commit) {
            return None;
        }
        let is_there = |used: &&RecordedEffect| moves_there.iter().any(|found| makes(found, used));
        // If the branch pointed to `head` before the commit was made, `head` is older than the commit and cannot
        // contain it.
        let is_known_before = |found: &BranchMove| found.commit_before == head;
        Some(OtherBranch {
            name: name.to_owned(),
            records: self.standing_commits().into_iter().filter(is_there).map(|used| used.record).collect(),
            commit: moves_there[made].commit.clone(),
            committed_at: moves_there[made].at,
            is_head_older: !head.is_empty() && moves_there[..=made].iter().any(is_known_before),
            is_merged: false,
            may_be_on_remote: false,
        })
    }

    fn last_standing_commit(&self) -> Option<&RecordedEffect> {
        self.standing_commits().pop()
    }
}

impl OtherBranch {
    pub fn has_commit(&self, used: &RecordedEffect) -> bool {
        self.records.contains(&used.record)
    }
}

/// Returns whether this move made the session's commit: it has the commit's id or, if the command printed no id, the
/// commit's subject. Earlier commits may have the same subject, so the session must have begun before the move. The
/// times in a reflog are whole seconds.
fn makes(found: &BranchMove, used: &RecordedEffect, began: Option<Timestamp>) -> bool {
    let Some((how, subject)) = found.what.split_once(": ") else { return false };
    let is_same = match used.effect.id.as_str() {
        "" => {
            !used.effect.what.is_empty()
                && subject.trim() == used.effect.what
                && began.is_none_or(|began| found.at.as_second() >= began.as_second())
        }
        id => found.commit.starts_with(id),
    };
    how.starts_with("commit") && is_same
}

#[cfg(test)]
#[path = "other_branch_tests.rs"]
mod tests;
