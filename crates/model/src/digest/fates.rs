//! What git's own files say about the commits and stashes of a session. Git's own files are trusted more than
//! the recorded commands, because commits and stashes may have been replaced, removed or applied since.

use jiff::{SignedDuration, Timestamp};

use super::commit_history::{CommitHistory, Containment};
use super::staged::StagedNames;
use super::stashes::outstanding_stashes;
use super::{BranchMove, Digest, RecordedEffect};
use crate::effect::{Effect, EffectKind};
use crate::redact::{self, RedactOptions};
use crate::time::parse_time;

/// What became of a commit or a stash, according to git's own files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FateOnDisk {
    #[default]
    Unknown,
    /// HEAD contains the commit.
    InHead,
    /// HEAD is not known to contain the commit, but another branch, a tag or the remote does.
    OnOtherRef,
    RemovedByReset,
    /// The commit was replaced or dropped, or the stash was applied or dropped.
    Gone,
}

/// What git's own files say about one effect. It is never stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectOnDisk {
    pub fate: FateOnDisk,
    /// The id of the commit that the session made, if the effect's commit has replaced it.
    pub replaced_id: String,
    /// Whether a remote branch contains the commit as of the last fetch or push, or `None` if it is unknown.
    pub is_pushed: Option<bool>,
}

/// The history of a checkout, read from git's own files.
#[derive(Clone, Debug, Default)]
pub struct HistoryOnDisk {
    /// The commit at HEAD.
    pub head: String,
    /// The newest moves of HEAD, oldest first.
    pub moves_of_head: Vec<BranchMove>,
    /// The commits of the checked-out branch on the remotes, as of the last fetch or push.
    pub remote_commits: Vec<String>,
}

/// The commits to which branches, tags and remote branches point.
#[derive(Clone, Debug, Default)]
pub struct RefsOnDisk {
    /// Those that HEAD's reflog names.
    pub commits: Vec<String>,
    /// True if some references point to other commits or could not be read.
    pub has_others: bool,
}

/// An entry of git's list of stashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StashOnDisk {
    /// The description that `git stash list` prints, such as `WIP on main: 1a2b3c4 One`.
    pub description: String,
    pub at: Timestamp,
}

/// What became of a commit, and the commit that replaced it, if any.
type CommitFate<'m> = (FateOnDisk, Option<&'m str>);

impl Digest {
    /// Returns whether the session made a commit whose id is known.
    pub fn has_known_commits(&self) -> bool {
        self.effects.iter().any(has_known_commit)
    }

    /// Returns whether the session stashed changes.
    pub fn has_stashes(&self) -> bool {
        self.files.iter().any(|file| file.stashed)
            || self.effects.iter().any(|used| used.effect.kind == EffectKind::Stash)
    }

    /// Adds what became of the session's commits. A commit that was rebased or amended gets its new id. `read_refs` is
    /// called only if HEAD does not contain all commits. It is given the commits that the reflog names.
    pub fn add_fates_of_commits(
        &mut self,
        disk: &HistoryOnDisk,
        read_refs: impl FnOnce(&CommitHistory) -> RefsOnDisk,
        redact: RedactOptions,
    ) {
        let history = CommitHistory::from_moves(&disk.moves_of_head);
        let is_in_head = |used: &RecordedEffect| {
            let found = history.find_commit(&used.effect.id);
            let known = found.and_then(|id| fate_in_head(&history, &disk.head, id));
            known.is_some() || disk.head.starts_with(&used.effect.id)
        };
        let mut refs = RefsOnDisk { has_others: true, ..RefsOnDisk::default() };
        if !self.effects.iter().filter(|used| has_known_commit(used)).all(is_in_head) {
            refs = read_refs(&history);
        }
        let mut pushes = self.effects.iter().rev().filter(|used| used.effect.kind == EffectKind::Push);
        let last_push = pushes.find(|used| !used.is_in_other_repository).map_or(0, |used| used.record);
        for used in self.effects.iter_mut().filter(|used| has_known_commit(used)) {
            let head = disk.head.as_str();
            let found = history.find_commit(&used.effect.id);
            let (mut fate, successor) = match found {
                Some(id) => fate_of_commit(&history, head, &refs, id),
                None if head.starts_with(&used.effect.id) => (FateOnDisk::InHead, None),
                None => (FateOnDisk::Unknown, None),
            };
            // The remote may still have a commit that was pushed.
            if fate == FateOnDisk::RemovedByReset && refs.has_others && used.record < last_push {
                fate = FateOnDisk::Unknown;
            }
            let mut replaced_id = String::new();
            if let Some(id) = successor {
                replaced_id.clone_from(&used.effect.id);
                use_successor(&mut used.effect, found.unwrap_or_default(), id, &history, redact);
            }
            let is_pushed = successor.or(found).or_else(|| head.starts_with(&used.effect.id).then_some(head));
            let is_pushed = is_pushed.and_then(|id| is_pushed_to(&history, &disk.remote_commits, id));
            used.disk = EffectOnDisk { fate, replaced_id, is_pushed };
        }
        self.drop_repeated_successors();
        let is_removed = |used: &RecordedEffect| used.disk.fate == FateOnDisk::RemovedByReset;
        let is_recorded = |id: &str| {
            self.effects.iter().any(|used| has_known_commit(used) && id.starts_with(&used.effect.id))
        };
        // Somebody else may have committed what a soft reset had staged.
        if self.effects.iter().any(is_removed)
            && !history.commits_made_since_removal().iter().all(|id| is_recorded(id))
        {
            self.staged = StagedNames::default();
        }
    }

    /// Drops effects that repeat the commit of another effect. This happens if several commits were squashed
    /// into one, or if the session recorded the new commit as well.
    fn drop_repeated_successors(&mut self) {
        for place in 0..self.effects.len() {
            let Effect { id, .. } = &self.effects[place].effect;
            let is_same = |other: &RecordedEffect| {
                has_known_commit(other)
                    && (other.effect.id.starts_with(id) || id.starts_with(&other.effect.id))
            };
            let is_recorded = |other: &RecordedEffect| is_same(other) && !other.disk.is_successor();
            if self.effects[place].disk.is_successor()
                && (self.effects.iter().any(is_recorded) || self.effects[place + 1..].iter().any(is_same))
            {
                self.effects[place].disk.fate = FateOnDisk::Gone;
            }
        }
    }

    /// Counts the files of removed commits as uncommitted again, unless another commit may contain them too. A hard reset
    /// also removed the files' changes, and the digest already knows that.
    pub fn mark_files_of_removed_commits_as_unsaved(&mut self) {
        let records = |commits: Vec<&RecordedEffect>| -> Vec<u64> {
            commits.into_iter().map(|used| used.record).collect()
        };
        let removed = records(self.commits_removed_by_reset());
        if removed.is_empty() {
            return;
        }
        let standing = records(self.standing_commits());
        for file in self.files.iter_mut().filter(|file| removed.contains(&file.saved_at)) {
            let may_contain = |record: &u64| *record > file.changed_at() && *record <= file.saved_at;
            if !standing.iter().any(may_contain) {
                file.saved_at = 0;
            }
        }
    }

    /// Returns whether a remote branch contains a commit. If git's own files can be read, they must show it. Otherwise, an
    /// observed push is enough.
    pub fn is_pushed(&self, commit: &RecordedEffect, is_push_observed: bool) -> bool {
        let Some(disk) = &self.git_on_disk else { return is_push_observed };
        let remote = disk.remote_commit.as_deref();
        match commit.effect.id.as_str() {
            // The commit at HEAD is probably this one.
            "" => is_push_observed && remote == Some(disk.commit.as_str()),
            id => commit.disk.is_pushed == Some(true) || remote.is_some_and(|remote| remote.starts_with(id)),
        }
    }

    /// Records which of the session's stashes still exist. `stashes` is git's own list of stashes.
    pub fn add_fates_of_stashes(&mut self, stashes: &[StashOnDisk]) {
        let is_stash = |used: &&mut RecordedEffect| {
            used.effect.kind == EffectKind::Stash && !used.is_in_other_repository
        };
        for used in self.effects.iter_mut().filter(is_stash) {
            if !stashes.iter().any(|found| made_stash(used, found)) {
                used.disk.fate = FateOnDisk::Gone;
            }
        }
        let outstanding = outstanding_stashes(&self.effects);
        for file in self.files.iter_mut().filter(|file| file.stashed) {
            let mut of_file =
                outstanding.iter().filter(|used| used.effect.stash_may_contain(&file.path)).peekable();
            file.stashed = match of_file.peek() {
                None => !stashes.is_empty(),
                Some(_) => {
                    let is_gone = |used: &&RecordedEffect| used.disk.fate == FateOnDisk::Gone;
                    let all: Vec<&RecordedEffect> = of_file.copied().collect();
                    !all.iter().any(is_gone)
                        || all.iter().any(|used| !is_gone(used) && used.record > file.changed_at())
                }
            };
        }
    }
}

impl EffectOnDisk {
    /// Returns whether the effect's commit has replaced the one that the session made.
    pub fn is_successor(&self) -> bool {
        !self.replaced_id.is_empty()
    }
}

impl FateOnDisk {
    /// Returns whether git's own files show that the commit exists.
    pub fn is_standing(self) -> bool {
        matches!(self, FateOnDisk::InHead | FateOnDisk::OnOtherRef)
    }

    /// Returns whether git's own files show that the commit or stash does not exist any more.
    pub fn is_over(self) -> bool {
        matches!(self, FateOnDisk::RemovedByReset | FateOnDisk::Gone)
    }
}

/// Returns whether an effect names a commit of the session's repository.
fn has_known_commit(used: &RecordedEffect) -> bool {
    matches!(used.effect.kind, EffectKind::Commit | EffectKind::Amend | EffectKind::Merge)
        && !used.is_in_other_repository
        && !used.effect.id.is_empty()
}

/// If HEAD contains a commit or a successor of it, returns the commit's fate. Otherwise, returns `None`.
fn fate_in_head<'m>(history: &CommitHistory<'m>, head: &str, id: &str) -> Option<CommitFate<'m>> {
    let is_in_head = |id: &str| history.contains(head, id) == Containment::Yes;
    if is_in_head(id) {
        return Some((FateOnDisk::InHead, None));
    }
    let (_, successors) = history.replacements(id);
    let successor = successors.into_iter().rev().find(|id| is_in_head(id))?;
    Some((FateOnDisk::InHead, Some(successor)))
}

fn fate_of_commit<'m>(
    history: &CommitHistory<'m>,
    head: &str,
    refs: &RefsOnDisk,
    id: &str,
) -> CommitFate<'m> {
    if let Some(fate) = fate_in_head(history, head, id) {
        return fate;
    }
    let is_on_ref =
        |id: &str| refs.commits.iter().any(|commit| history.contains(commit, id) == Containment::Yes);
    if is_on_ref(id) {
        return (FateOnDisk::OnOtherRef, None);
    }
    let (is_replaced, successors) = history.replacements(id);
    if let Some(successor) = successors.iter().rev().find(|id| is_on_ref(id)) {
        return (FateOnDisk::OnOtherRef, Some(successor));
    }
    let last = successors.last().copied().unwrap_or(id);
    if history.is_removed_by_reset(last) {
        return (FateOnDisk::RemovedByReset, None);
    }
    let mut all = refs.commits.iter().map(String::as_str).chain([head]);
    let is_on_none = !refs.has_others && all.all(|commit| history.contains(commit, id) == Containment::No);
    (if is_replaced || is_on_none { FateOnDisk::Gone } else { FateOnDisk::Unknown }, None)
}

fn is_pushed_to(history: &CommitHistory, remote_commits: &[String], id: &str) -> Option<bool> {
    let answers = || remote_commits.iter().map(|commit| history.contains(commit, id));
    if answers().any(|answer| answer == Containment::Yes) {
        return Some(true);
    }
    answers().all(|answer| answer == Containment::No).then_some(false)
}

/// Changes an effect so that it names `successor`, the commit that a rebase or an amend made from `replaced`.
fn use_successor(
    effect: &mut Effect,
    replaced: &str,
    successor: &str,
    history: &CommitHistory,
    redact: RedactOptions,
) {
    if effect.kind != EffectKind::Merge && history.subject(replaced) != history.subject(successor) {
        effect.what = redact::redact_text(history.subject(successor), redact).into_owned();
    }
    effect.id = successor[..effect.id.len().min(successor.len())].to_owned();
}

/// Returns whether this entry of the list of stashes may be the session's stash. Later stashes may have the same
/// description. The times in git's list are whole seconds.
fn made_stash(used: &RecordedEffect, found: &StashOnDisk) -> bool {
    let is_later = parse_time(&used.at).is_some_and(|at| found.at > at + SignedDuration::from_secs(1));
    !is_later && found.description.starts_with(&used.effect.what)
}

#[cfg(test)]
#[path = "fates_tests.rs"]
mod tests;
