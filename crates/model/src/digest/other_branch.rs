//! The branch with the session's last commit, if another branch is checked out now. Git's reflogs prove which branch a
//! commit was made on, also if the command printed nothing.

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

/// Another branch than the checked-out one, with the session's last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherBranch {
    pub name: String,
    /// The session's commits that were made on this branch, as numbers of records, oldest first.
    pub records: Vec<u64>,
    /// The session's last commit.
    pub commit: String,
    /// When that commit was made.
    pub committed_at: Timestamp,
    /// Whether the commit at HEAD is older than the session's commits, so that it cannot contain them. If false, HEAD may
    /// contain them or not.
    pub is_head_older: bool,
    /// Whether the branch was merged into the checked-out one since.
    pub is_merged: bool,
    /// Whether the remote branch is at the same commit as of the last fetch or push, or may have been removed by a fetch
    /// since the session's last commit.
    pub may_be_on_remote: bool,
}

impl Digest {
    /// Returns the branches on which the session's last commit may be, without the one that is checked out now.
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

    /// Returns the other branch if the session's last commit was made there and never came to the branch that is checked
    /// out now by a move of that branch. `head` is the commit at HEAD. The moves are listed oldest first.
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
        // A commit that existed before another one was made cannot contain it.
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
/// commit's subject. Earlier commits may have the same subject, so the session must have begun before the move. A reflog
/// contains whole seconds.
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
