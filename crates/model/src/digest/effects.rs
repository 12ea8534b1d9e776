//! The session's effects on the outside world, and the observed state of its checkout.

use serde::{Deserialize, Serialize};

use super::staged::StagedNames;
use super::{Digest, EffectOnDisk, FateOnDisk, FileUse, OtherBranch, changed, keep_last};
use crate::checkout_path::is_in_store;
use crate::effect::{Effect, EffectKind};
use crate::journal::JournalRecord;
use crate::packet::words;
use crate::shell;

/// If at least this many commits left out a changed file, the file is assumed to be uncommitted on purpose.
const MIN_COMMITS_WITHOUT_FILE: u32 = 2;

const MAX_EFFECTS_KEPT: usize = 200;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedEffect {
    #[serde(flatten)]
    pub effect: Effect,
    pub at: String,
    pub record: u64,
    /// Whether the effect was in a repository other than the session's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "elsewhere")]
    pub is_in_other_repository: bool,
    /// What git's own files say about the effect. It is read when a brief or a packet is composed and is never stored.
    #[serde(skip)]
    pub disk: EffectOnDisk,
}

/// The branch, commits and files of the checkout, read from git's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitOnDisk {
    /// The branch that is checked out, or empty if there is none.
    pub branch: String,
    /// The commit at HEAD, or empty before the first commit.
    pub commit: String,
    pub has_remote: bool,
    /// The commit of the remote branch as of the last fetch or push.
    pub remote_commit: Option<String>,
    /// Changed files that now match git's index because somebody committed, restored or staged them.
    pub files_equal_to_index: Vec<String>,
    /// Changed files that git tracks and that differ from its index.
    pub files_changed_in_index: Vec<String>,
    /// Changed files that exist and that git does not track.
    pub untracked_files: Vec<String>,
    /// The branch with the session's last commit, if another branch is checked out now.
    pub other_branch: Option<OtherBranch>,
}

/// The state of the checkout, derived from observed commands and git's own files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GitState<'d> {
    /// The current branch, or empty if unknown.
    pub branch: &'d str,
    /// The last observed commit.
    pub commit: Option<&'d RecordedEffect>,
    /// Whether a remote branch contains the last observed commit, according to git's own files. If these files
    /// cannot be read, an observed push is enough.
    pub is_commit_pushed: bool,
    /// Observed commits that no observed push contains, oldest first. Empty if no remote is known.
    pub unpushed: Vec<&'d RecordedEffect>,
    /// Files that tools edited or commands wrote and that no observed commit contains, most recently changed first.
    pub uncommitted: Vec<&'d FileUse>,
    /// Files whose changes are in a stash.
    pub stashed: Vec<&'d FileUse>,
    /// The pull request of this branch that was worked on last.
    pub pull_request: Option<&'d RecordedEffect>,
    /// Stashes, discards and resets since the last commit. Each of them changed the checkout.
    pub checkout_changes_since_commit: Vec<&'d RecordedEffect>,
    /// The branch with the session's last commit, if another branch is checked out now.
    pub other_branch: Option<&'d OtherBranch>,
    /// The commit at HEAD if somebody else has moved HEAD away from where the session left it.
    pub head_moved_by_others: Option<&'d str>,
}

impl Digest {
    /// Returns the last of the effects that the newest message asks for, if the message asks for nothing else and all
    /// of these effects occurred after it.
    pub fn effect_of_newest_message(&self) -> Option<&RecordedEffect> {
        let goal = self.current_goal();
        let newest = goal.newest_prompt.filter(|newest| newest.refused_call.is_empty())?;
        let later: Vec<&RecordedEffect> =
            self.effects.iter().filter(|used| used.record > newest.record).collect();
        let kinds: Vec<EffectKind> = later.iter().map(|used| used.effect.kind).collect();
        let is_done = self.last_file_edited_after(newest.record).is_none()
            && words::is_fulfilled_by_effects(&newest.text, &kinds);
        later.into_iter().rfind(|used| is_done && used.effect.kind.is_external())
    }

    pub(super) fn add_effects(&mut self, record: &JournalRecord) {
        let commands = match record.ok != Some(false) || !record.effect.is_empty() {
            true => shell::simple_commands(&record.command),
            false => commands_that_may_have_succeeded(&record.command),
        };
        self.staged.add_commands(&commands, self.record_count);
        self.add_unclear_git_commands(record);
        for effect in &record.effect {
            let elsewhere = is_outside_checkout(&effect.folder, &record.worktree, &record.cwd);
            if effect.kind == EffectKind::Status {
                if !elsewhere {
                    self.mark_unlisted_files_as_saved(&effect.what);
                }
                continue;
            }
            let mut recorded = effect.clone();
            // A command that was started in another repository says nothing about the folder, but the record does.
            if elsewhere && recorded.folder.is_empty() {
                recorded.folder = record.cwd.to_string();
            }
            self.effects.push(RecordedEffect {
                effect: recorded,
                at: record.ts.to_string(),
                record: self.record_count,
                is_in_other_repository: elsewhere,
                disk: EffectOnDisk::default(),
            });
            if !elsewhere {
                self.update_files_after_effect(effect, &record.command);
            }
        }
        keep_last(&mut self.effects, MAX_EFFECTS_KEPT);
    }

    /// Marks as saved all files that `git status` does not list, because they are committed, restored or ignored.
    fn mark_unlisted_files_as_saved(&mut self, listed: &str) {
        let now = self.record_count;
        let names: Vec<&str> = listed.split(' ').filter(|name| !name.is_empty()).collect();
        let is_listed = |file: &FileUse| names.iter().any(|name| is_file_or_folder_of(name, &file.path));
        for file in self.files.iter_mut().filter(|file| file.has_uncommitted_change() && !is_listed(file)) {
            file.saved_at = now;
        }
    }

    fn update_files_after_effect(&mut self, effect: &Effect, command: &str) {
        let now = self.record_count;
        let all = |files: &mut [FileUse], change: fn(&mut FileUse, u64)| {
            files.iter_mut().filter(|file| !file.is_outside_checkout).for_each(|file| change(file, now));
        };
        match effect.kind {
            EffectKind::Commit | EffectKind::Amend => {
                let staged = std::mem::take(&mut self.staged);
                // Nothing was staged, and the flag `--allow-empty` permits an empty commit, so the commit is assumed
                // to be empty.
                if command.contains("--allow-empty") && staged == StagedNames::default() {
                    return;
                }
                let held = |file: &FileUse| {
                    !file.is_outside_checkout && !file.stashed && staged.would_commit_contain_file(&file.path)
                };
                for file in &mut self.files {
                    if held(file) {
                        file.saved_at = now;
                    } else if effect.kind == EffectKind::Commit {
                        file.commits_without_file += 1;
                    }
                }
            }
            EffectKind::Discard if effect.what == "untracked files" => {}
            EffectKind::Discard => {
                let names: Vec<&str> = effect.what.split(' ').collect();
                self.discard_changes(|path| names.iter().any(|name| is_file_or_folder_of(name, path)));
            }
            EffectKind::Reset if effect.what.starts_with("--hard") => self.discard_changes(|_| true),
            EffectKind::Reset if command.contains("--soft") => {
                // The files of the removed commits are staged now. It is unknown which files these are, but staging a
                // committed file changes nothing.
                let is_saved = |file: &&FileUse| file.saved_at > 0 && !file.has_uncommitted_change();
                for file in self.files.iter().filter(is_saved) {
                    self.staged.add_name(&file.path, now);
                }
            }
            EffectKind::Stash => {
                self.add_stash(effect);
                let is_index_kept = command.contains("--keep-index") || command.contains(" -k");
                if !effect.is_stash_of_named_files() && !is_index_kept {
                    self.staged = StagedNames::default();
                }
            }
            // A rebase ends only with a clean tree, so its commits contain all changes.
            EffectKind::Rebase => all(&mut self.files, |file, now| file.saved_at = now),
            EffectKind::Unstash | EffectKind::StashDrop => self.end_stash(effect),
            _ => {}
        }
        let branch = match effect.kind {
            EffectKind::Commit | EffectKind::Amend if effect.place != "detached HEAD" => &effect.place,
            EffectKind::Branch if command.contains("checkout") || command.contains("switch") => &effect.what,
            EffectKind::Switch => &effect.what,
            EffectKind::Rebase => &effect.place,
            _ => return,
        };
        if !branch.is_empty() && !branch.starts_with("deleted ") && !branch.starts_with("renamed ") {
            self.branch.clone_from(branch);
        }
    }

    /// Returns the effects on the outside world since the last compaction that was followed by work.
    pub fn effects_since_compaction(&self) -> impl Iterator<Item = &RecordedEffect> {
        self.effects
            .iter()
            .filter(|used| used.record > self.last_compaction_before_work && used.effect.kind.is_external())
    }

    /// Returns the files that may have uncommitted changes, judging by the commits that were observed.
    pub fn files_without_observed_commit(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|file| file.may_have_uncommitted_change()).map(|file| file.path.as_str())
    }

    /// Returns whether a file's changes are uncommitted: no observed commit contains them, and git's own files do not
    /// show that they were committed or restored. A command may write a log or a build output as well as a source file.
    /// A file that only commands wrote therefore counts only if git tracks it or if it looks like source text.
    fn is_uncommitted(&self, file: &FileUse) -> bool {
        let is_in = |list: &[String]| list.contains(&file.path);
        let disk = self.git_on_disk.as_ref();
        let is_untracked = || disk.is_some_and(|disk| is_in(&disk.untracked_files));
        if !file.has_uncommitted_change() {
            // Only git's own files show whether anything was changed after the commit, the discard or the stash.
            let is_changed = disk.is_some_and(|disk| is_in(&disk.files_changed_in_index));
            let is_work = file.edits > 0 || changed::looks_like_committable_text(&file.path);
            return (file.stashed || file.is_changed_by_line_that_settled_it()) && is_changed
                || file.may_have_uncommitted_change() && is_untracked() && is_work;
        }
        let is_equal = disk.is_some_and(|disk| is_in(&disk.files_equal_to_index));
        let is_maybe_committed = self.has_unclear_commit_since(file.changed_at());
        if is_equal && (is_maybe_committed || !self.staged.names_file(&file.path)) {
            return false;
        }
        if disk.is_none() && is_maybe_committed {
            return false;
        }
        file.has_unsaved_edit()
            || is_equal
            || disk.is_some_and(|disk| {
                is_in(&disk.files_changed_in_index)
                    || is_in(&disk.untracked_files) && changed::looks_like_committable_text(&file.path)
            })
    }

    /// Returns whether a file has changes that are only in a stash. Changes in the checkout are assumed to be
    /// the stashed ones, unless the session made them after its last stash.
    fn is_only_in_stash(&self, file: &FileUse) -> bool {
        let stash = self.effects.iter().rfind(|used| used.effect.kind == EffectKind::Stash);
        let is_edited_since = stash.is_some_and(|used| used.record < file.changed_at());
        let is_untracked =
            self.git_on_disk.as_ref().is_some_and(|disk| disk.untracked_files.contains(&file.path));
        file.stashed && (is_edited_since && !is_untracked || !self.is_uncommitted(file))
    }

    /// Returns whether the session staged a file that nobody can have committed, because HEAD has not moved since. `head`
    /// is the commit at HEAD now, or empty before the first commit.
    pub fn has_staged_uncommitted(&self, path: &str, head: &str) -> bool {
        let is_same = |known: &str| head.starts_with(known);
        self.staged.names_file(path) && (head.is_empty() || self.last_known_head().is_some_and(is_same))
    }

    /// Returns the commit at HEAD, or the beginning of its id, from the last hook that read it or from the last commit,
    /// whichever is newer. After any other command that moves or may have moved HEAD, its position is unknown.
    fn last_known_head(&self) -> Option<&str> {
        let (record, head) = self.last_observed_head()?;
        (self.last_unclear_move_of_head() <= record).then_some(head)
    }

    /// Like `last_known_head`, but ignores commands that may have moved HEAD. Also returns the number of the record.
    pub(super) fn last_observed_head(&self) -> Option<(u64, &str)> {
        let here = self.effects.iter().filter(|used| !used.is_in_other_repository);
        let (record, head) = match here.rev().find(|used| moves_head(used.effect.kind)) {
            Some(used) if used.record > self.head_read_at => match makes_commit(used.effect.kind) {
                true => (used.record, used.effect.id.as_str()),
                false => return None,
            },
            _ => (self.head_read_at, self.head.as_str()),
        };
        (!head.is_empty()).then_some((record, head))
    }

    /// Marks all edits as saved. Used for a deleted checkout, because its edits no longer exist.
    pub fn mark_all_edits_as_saved(&mut self) {
        let now = self.record_count;
        self.files.iter_mut().for_each(|file| file.saved_at = now);
    }

    /// Marks the edits of a file as saved if somebody deleted the file outside the session. In that case, no
    /// content is left to commit.
    pub fn mark_edits_of_missing_files_as_saved(&mut self, is_missing: impl Fn(&str) -> bool) {
        let now = self.record_count;
        let is_gone =
            |file: &&mut FileUse| file.has_uncommitted_change() && !file.deleted && is_missing(&file.path);
        self.files.iter_mut().filter(is_gone).for_each(|file| file.saved_at = now);
    }

    pub fn git_state(&self) -> GitState<'_> {
        let here = || self.effects.iter().filter(|used| !used.is_in_other_repository);
        let is_commit = |used: &&RecordedEffect| makes_commit(used.effect.kind);
        let branch =
            self.git_on_disk.as_ref().map(|disk| disk.branch.as_str()).filter(|branch| !branch.is_empty());
        let branch = branch.unwrap_or(&self.branch);
        // Ignore commits on other branches, because they say nothing about the current one.
        let is_on_branch = |used: &&RecordedEffect| {
            let place = used.effect.place.as_str();
            used.effect.kind == EffectKind::Merge
                || branch.is_empty()
                || matches!(place, "" | "detached HEAD")
                || place == branch
        };
        let other_branch = self.git_on_disk.as_ref().and_then(|disk| disk.other_branch.as_ref());
        let is_here = |used: &&RecordedEffect| !other_branch.is_some_and(|other| other.has_commit(used));
        let (_, reset) = self.standing_and_reset_commits();
        let is_last = |used: &&RecordedEffect| {
            !used.disk.fate.is_over()
                && used.disk.fate != FateOnDisk::OnOtherRef
                && !reset.iter().any(|removed| std::ptr::eq(*removed, *used))
        };
        let commits = || here().filter(is_commit).filter(is_on_branch).filter(is_here).filter(is_last);
        // A merge without an id is known only by the name of its branch.
        let is_named = |used: &&RecordedEffect| used.effect.kind != EffectKind::Merge;
        let commit = commits().rfind(|used| !used.effect.id.is_empty()).or_else(|| commits().rfind(is_named));
        // A pull request from before the last branch switch belongs to another branch.
        let switched =
            here().rfind(|used| used.effect.kind == EffectKind::Switch).map_or(0, |used| used.record);
        let last_push = here()
            .rfind(|used| matches!(used.effect.kind, EffectKind::Push | EffectKind::UpToDate))
            .map(|used| used.record);
        let knows_remote = last_push.is_some()
            || self.effects.iter().any(|used| used.effect.kind == EffectKind::PullRequest)
            || self.git_on_disk.as_ref().is_some_and(|disk| disk.has_remote);
        let is_on_remote = self.git_on_disk.as_ref().is_some_and(|disk| match &disk.other_branch {
            Some(other) if !other.is_merged => other.may_be_on_remote,
            _ => !disk.commit.is_empty() && disk.remote_commit.as_deref() == Some(disk.commit.as_str()),
        });
        let unpushed = match knows_remote && !is_on_remote {
            true => self
                .standing_commits()
                .into_iter()
                .filter(|used| match used.disk.is_pushed {
                    Some(true) => false,
                    // The commit that was pushed was replaced by this one.
                    Some(false) if used.disk.is_successor() => true,
                    _ => last_push.is_none_or(|push| used.record > push),
                })
                .collect(),
            false => Vec::new(),
        };
        let is_work = |file: &&FileUse| {
            file.commits_without_file < MIN_COMMITS_WITHOUT_FILE
                && !is_in_store(&file.path)
                && self.is_uncommitted(file)
        };
        let mut uncommitted: Vec<&FileUse> = self.files.iter().filter(is_work).collect();
        uncommitted.sort_by_key(|file| std::cmp::Reverse(file.changed_at()));
        let since = commit.map_or(0, |used| used.record);
        let is_note = |used: &&RecordedEffect| {
            matches!(
                used.effect.kind,
                EffectKind::Reset
                    | EffectKind::Discard
                    | EffectKind::Stash
                    | EffectKind::Unstash
                    | EffectKind::StashDrop
            )
        };
        let disk_commit =
            self.git_on_disk.as_ref().map(|disk| disk.commit.as_str()).filter(|id| !id.is_empty());
        let known = self.last_known_head();
        let moved = disk_commit.filter(|id| known.is_some_and(|known| !id.starts_with(known)));
        let is_push_observed = |used: &RecordedEffect| last_push.is_some_and(|push| push >= used.record);
        let is_commit_pushed = commit.is_some_and(|used| self.is_pushed(used, is_push_observed(used)));
        GitState {
            branch,
            commit,
            is_commit_pushed,
            unpushed,
            uncommitted,
            stashed: self.files.iter().filter(|file| self.is_only_in_stash(file)).collect(),
            pull_request: self
                .effects
                .iter()
                .rfind(|used| used.effect.kind == EffectKind::PullRequest && !used.effect.id.is_empty())
                .filter(|used| used.record > switched && self.belongs_to_branch(used, branch)),
            checkout_changes_since_commit: self
                .keep_notes_still_true(here().filter(|used| used.record > since).filter(is_note).collect()),
            other_branch,
            head_moved_by_others: moved,
        }
    }

    /// Returns whether a pull request may belong to this branch, that is, whether the last observed push before the
    /// pull request was to this branch.
    fn belongs_to_branch(&self, pull_request: &RecordedEffect, branch: &str) -> bool {
        let before = |used: &&RecordedEffect| {
            used.effect.kind == EffectKind::Push && used.record <= pull_request.record
        };
        let pushed =
            self.effects.iter().rfind(before).map(|used| used.effect.what.trim_end_matches(" (forced)"));
        branch.is_empty() || pushed.is_none_or(|pushed| pushed.is_empty() || pushed == branch)
    }

    /// Drops notes that are no longer true: notes about a stash that was reapplied, or about discarded changes to a
    /// file that was changed again.
    fn keep_notes_still_true<'d>(&self, notes: Vec<&'d RecordedEffect>) -> Vec<&'d RecordedEffect> {
        let mut kept: Vec<&RecordedEffect> = Vec::new();
        for used in notes {
            match used.effect.kind {
                EffectKind::Unstash => {
                    match kept.iter().rposition(|known| known.effect.kind == EffectKind::Stash) {
                        Some(place) => drop(kept.remove(place)),
                        None => kept.push(used),
                    }
                }
                EffectKind::Stash if used.disk.fate.is_over() => {}
                _ => kept.push(used),
            }
        }
        let changed_since = |used: &RecordedEffect| {
            let names: Vec<&str> = used.effect.what.split(' ').collect();
            let is_of = |file: &&FileUse| names.iter().any(|name| is_file_or_folder_of(name, &file.path));
            let is_changed = |file: &FileUse| {
                file.changed_at() > used.record
                    || file.is_changed_by_line_that_settled_it() && self.is_uncommitted(file)
            };
            self.files.iter().filter(is_of).any(is_changed)
        };
        kept.retain(|used| used.effect.kind != EffectKind::Discard || !changed_since(used));
        // Several notes about the same discarded changes are reduced to the last one.
        let is_again = |later: &[&RecordedEffect], used: &RecordedEffect| {
            later
                .iter()
                .any(|other| (other.effect.kind, &other.effect.what) == (used.effect.kind, &used.effect.what))
        };
        let last: Vec<&RecordedEffect> = kept
            .iter()
            .enumerate()
            .filter(|(i, used)| used.effect.kind != EffectKind::Discard || !is_again(&kept[i + 1..], used))
            .map(|(_, used)| *used)
            .collect();
        last
    }
}

impl FileUse {
    /// Returns whether the file was changed in the checkout, by a tool or a command, and no later commit contains the
    /// change.
    pub fn has_uncommitted_change(&self) -> bool {
        !self.is_outside_checkout && !self.stashed && self.changed_at() > self.settled_at()
    }

    /// Returns whether the file may have an uncommitted change. Also returns true if the records cannot tell. For
    /// example, one command line may have both changed and committed the file. Or the file may be untracked, and
    /// then a discard or a stash did not affect it.
    pub fn may_have_uncommitted_change(&self) -> bool {
        self.has_uncommitted_change()
            || !self.is_outside_checkout
                && self.changed_at() > 0
                && (self.stashed
                    || self.discarded_at > self.saved_at
                    || self.is_changed_by_line_that_settled_it())
    }

    /// Returns whether the command line that committed or discarded the file's changes also changed the file.
    fn is_changed_by_line_that_settled_it(&self) -> bool {
        !self.stashed && self.changed_at() > 0 && self.changed_at() == self.settled_at()
    }

    /// Returns the number of the last record that committed or discarded the file's changes, or 0 if none did.
    fn settled_at(&self) -> u64 {
        self.saved_at.max(self.discarded_at)
    }

    /// Returns whether the session edited the file with a tool or with a command.
    pub fn is_edited(&self) -> bool {
        self.edits > 0 || self.is_edited_by_command()
    }

    pub fn is_edited_by_command(&self) -> bool {
        self.edits_by_commands > 0
    }

    /// Returns whether a tool edited the file and no later commit contains the edit.
    fn has_unsaved_edit(&self) -> bool {
        self.edits > 0 && self.edited_at > self.settled_at()
    }

    /// Returns the number of the last record that changed the file, or 0 if none did.
    pub fn changed_at(&self) -> u64 {
        self.edited_at.max(self.written_at)
    }
}

pub(super) fn makes_commit(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Commit | EffectKind::Amend | EffectKind::Merge)
}

pub(super) fn moves_head(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Commit
            | EffectKind::Amend
            | EffectKind::Merge
            | EffectKind::Switch
            | EffectKind::Pull
            | EffectKind::Rebase
            | EffectKind::Reset
            | EffectKind::Branch
    )
}

pub(super) fn is_outside_checkout(folder: &str, checkout: &str, cwd: &str) -> bool {
    if folder.is_empty() {
        return cwd.starts_with('/') || cwd.starts_with("..");
    }
    if let Some(rest) = folder.strip_prefix('/') {
        let below = rest.strip_prefix(checkout.trim_matches('/'));
        let below = below.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        // A worktree inside the checkout is a separate checkout.
        return below.is_none_or(|below| below.contains("worktrees/"));
    }
    folder.starts_with('~') || folder.starts_with("..") && cwd.is_empty() || folder.starts_with('$')
}

/// Returns the commands of a failed line that may have succeeded, such as `git add -A` in `git add -A && git commit`. A
/// commit that did not succeed is not among them.
fn commands_that_may_have_succeeded(command: &str) -> Vec<Vec<String>> {
    let mut commands = shell::simple_commands(command);
    commands.pop();
    commands.retain(|words| !words.iter().any(|word| word == "commit"));
    commands
}

/// Returns whether a name in a command line or a message denotes this file or a folder that contains it.
pub(crate) fn is_file_or_folder_of(name: &str, path: &str) -> bool {
    let name = name.trim_start_matches("./").trim_end_matches('/');
    // `:/` is git's name for the top of the checkout.
    if matches!(name, "" | "." | ":") {
        return true;
    }
    let begins = path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    // The two paths may be relative to different folders, so one may be a suffix of the other.
    let ends = |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|before| before.ends_with('/'));
    begins || ends(path, name) || ends(name, path)
}

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;
