//! Which of the session's commits still exist.

use super::{Digest, FateOnDisk, FileEdit, RecordedEffect};
use crate::effect::EffectKind;

impl Digest {
    /// Returns the commits that still exist, here or on the remote, because no later amend or reset removed them.
    pub fn standing_commits(&self) -> Vec<&RecordedEffect> {
        self.standing_and_reset_commits().0
    }

    /// Returns the commits that may contain this edit, oldest first. One of them contains it, and the newest is the
    /// last commit that the file was in. Empty if the edit is not committed or was discarded.
    pub fn commits_one_of_which_contains(&self, edit: &FileEdit) -> Vec<&RecordedEffect> {
        let saved_at = self.files.iter().find(|file| file.path == edit.path).map_or(0, |file| file.saved_at);
        let mut commits = self.standing_commits();
        commits.retain(|commit| commit.record > edit.record && commit.record <= saved_at);
        match commits.last() {
            Some(last) if last.record == saved_at => commits,
            _ => Vec::new(),
        }
    }

    /// Returns the unpushed commits that a reset removed.
    pub fn commits_removed_by_reset(&self) -> Vec<&RecordedEffect> {
        self.standing_and_reset_commits().1
    }

    /// Returns the commits that still exist, then the commits that a reset removed.
    pub(super) fn standing_and_reset_commits(&self) -> (Vec<&RecordedEffect>, Vec<&RecordedEffect>) {
        let mut standing: Vec<&RecordedEffect> = Vec::new();
        let mut reset = Vec::new();
        // A pushed commit still exists on the remote even if a reset removes it locally.
        let mut pushed = 0;
        for used in self.effects.iter().filter(|used| !used.is_in_other_repository) {
            match used.effect.kind {
                EffectKind::Commit => standing.push(used),
                // A fast-forward makes no commit. Its output names the commit, but not the branch.
                EffectKind::Merge if !used.effect.id.is_empty() && !used.effect.place.is_empty() => {
                    standing.push(used);
                }
                EffectKind::Push | EffectKind::UpToDate => pushed = standing.len(),
                EffectKind::Amend => {
                    let kept = pushed.max(standing.len().saturating_sub(1));
                    drop(remove_last_commits(&mut standing, kept));
                    standing.push(used);
                }
                EffectKind::Reset if used.effect.what.contains(['~', '^']) => {
                    let back =
                        used.effect.what.rsplit('~').next().and_then(|n| n.parse().ok()).unwrap_or(1_usize);
                    let kept = pushed.max(standing.len().saturating_sub(back));
                    reset.extend(remove_last_commits(&mut standing, kept));
                }
                _ => {}
            }
        }
        reset.extend(standing.iter().filter(|used| used.disk.fate == FateOnDisk::RemovedByReset));
        reset.retain(|used| used.disk.fate != FateOnDisk::Gone);
        standing.retain(|used| !used.disk.fate.is_over());
        (standing, reset)
    }
}

/// Keeps the first `kept` commits, and removes and returns the others. A commit that still exists according to
/// git's own files is not removed.
fn remove_last_commits<'d>(commits: &mut Vec<&'d RecordedEffect>, kept: usize) -> Vec<&'d RecordedEffect> {
    let last = commits.split_off(kept);
    let (standing, removed) = last.into_iter().partition(|used| used.disk.fate.is_standing());
    commits.extend::<Vec<_>>(standing);
    removed
}
