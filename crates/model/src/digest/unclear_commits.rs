//! Commits that may have been made: the output of their command does not show whether they were. For example,
//! this is the case if the push in `git commit -qm x && git push` fails. HEAD's reflog shows later whether the
//! commit was made.

use serde::{Deserialize, Serialize};

use super::effects::{is_outside_checkout, makes_commit, moves_head};
use super::parsed::LazyValue;
use super::{BranchMove, Digest, EffectOnDisk, RecordedEffect, keep_last};
use crate::effect::{Effect, EffectKind, TypedCommit, git_commands_of_line};
use crate::journal::JournalRecord;
use crate::run;
use crate::text::cut_to_bytes;
use crate::time::parse_time;

const MAX_UNCLEAR_COMMITS_KEPT: usize = 20;

/// The length of the ids that git prints.
const SHORT_ID_LENGTH: usize = 7;

/// A command line that may have made commits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct UnclearCommit {
    record: u64,
    at: String,
    worktree: String,
    /// The first and the last second in which the commits may have been made. `None` if the times are unknown.
    seconds: Option<(i64, i64)>,
    commits: Vec<TypedCommit>,
}

impl UnclearCommit {
    /// Increases the record number by `shift`. This is needed when the session is appended to an earlier one.
    pub(super) fn with_record_shifted_by(self, shift: u64) -> UnclearCommit {
        UnclearCommit { record: self.record + shift, ..self }
    }
}

/// A commit that was made.
struct MadeCommit {
    kind: EffectKind,
    id: String,
    subject: String,
    folder: String,
}

/// Whether a command line made commits, according to HEAD's reflog.
enum Verdict {
    Made(Vec<MadeCommit>),
    NotMade,
    Unknown,
}

impl Digest {
    /// Records that a command line may have moved HEAD, if its output does not show whether it did.
    pub(super) fn add_unclear_git_commands(&mut self, record: &JournalRecord) {
        if record.is_refused() || !record.command.contains("git") {
            return;
        }
        let found = git_commands_of_line(&record.command);
        let is_here = |folder: &str| !is_outside_checkout(folder, &record.worktree, &record.cwd);
        let has = |is_kind: fn(EffectKind) -> bool| {
            record.effect.iter().any(|effect| is_kind(effect.kind) && is_here(&effect.folder))
        };
        let explains = |kind: EffectKind| moves_head(kind) || kind == EffectKind::Discard;
        if found.may_move_head_otherwise && !has(explains) {
            self.head_unclear_at = self.record_count;
        }
        let mut commits = found.commits;
        let is_unclear =
            |commit: &TypedCommit| commit.is_quiet && !(commit.is_last_of_line && record.ok == Some(false));
        commits.retain(|commit| is_here(&commit.folder) && is_unclear(commit));
        if commits.is_empty() || has(makes_commit) {
            return;
        }
        let began = self.time_of_last_event_before(self.record_count);
        let seconds = began.zip(parse_time(&record.ts)).map(|(from, to)| (from.as_second(), to.as_second()));
        self.unclear_commits.push(UnclearCommit {
            record: self.record_count,
            at: record.ts.to_string(),
            worktree: record.worktree.to_string(),
            seconds,
            commits,
        });
        keep_last(&mut self.unclear_commits, MAX_UNCLEAR_COMMITS_KEPT);
    }

    /// Returns the worktrees in which command lines may have made commits.
    pub fn worktrees_with_unclear_commits(&self) -> Vec<String> {
        let mut worktrees: Vec<String> =
            self.unclear_commits.iter().map(|unclear| unclear.worktree.clone()).collect();
        worktrees.sort();
        worktrees.dedup();
        worktrees
    }

    /// For each command line in a worktree that may have made commits, decides whether it made them. If this
    /// stays unknown, the command line is kept for a later decision. `head` is the commit at the worktree's HEAD
    /// now, or empty if it is unknown. `moves` are the moves of that HEAD, oldest first.
    pub fn settle_unclear_commits(&mut self, worktree: &str, head: &str, moves: &[BranchMove]) {
        for unclear in std::mem::take(&mut self.unclear_commits) {
            let verdict = match unclear.worktree == worktree {
                true => self.judge(&unclear, head, moves),
                false => Verdict::Unknown,
            };
            match verdict {
                Verdict::Made(made) => self.add_commits_made(&unclear, made),
                Verdict::NotMade => {}
                Verdict::Unknown => self.unclear_commits.push(unclear),
            }
        }
    }

    fn judge(&self, unclear: &UnclearCommit, head: &str, moves: &[BranchMove]) -> Verdict {
        let is_unmoved = self
            .last_observed_head()
            .is_some_and(|(record, known)| record <= unclear.record && head.starts_with(known));
        if is_unmoved {
            return Verdict::NotMade;
        }
        let Some((from, to)) = unclear.seconds else { return Verdict::Unknown };
        let seconds = from..=to;
        // Only the end of a long record is read, and git removes old entries.
        if moves.iter().all(|found| found.at.as_second() > to) {
            return Verdict::Unknown;
        }
        let is_known = |found: &BranchMove| {
            let mut ids = self.effects.iter().map(|used| used.effect.id.as_str());
            ids.any(|id| !id.is_empty() && found.commit.starts_with(id))
        };
        let candidates: Vec<&BranchMove> = moves
            .iter()
            .filter(|found| seconds.contains(&found.at.as_second()) && is_commit(found) && !is_known(found))
            .collect();
        let mut made = Vec::new();
        let mut rest = candidates.iter();
        for typed in &unclear.commits {
            let found = rest.clone().position(|found| is_made_by(found, typed));
            made.extend(found.and_then(|at| rest.nth(at)).map(|found| MadeCommit {
                kind: if typed.is_amend { EffectKind::Amend } else { EffectKind::Commit },
                id: cut_to_bytes(&found.commit, SHORT_ID_LENGTH).to_owned(),
                subject: subject_of(found).to_owned(),
                folder: typed.folder.clone(),
            }));
        }
        match (made.is_empty(), candidates.is_empty()) {
            (false, _) => Verdict::Made(made),
            (true, true) => Verdict::NotMade,
            // Somebody committed at that time, but with a different subject. A git hook of the repository may
            // have changed the subject.
            (true, false) => Verdict::Unknown,
        }
    }

    /// Records these commits as if the command's output had shown them.
    fn add_commits_made(&mut self, unclear: &UnclearCommit, made: Vec<MadeCommit>) {
        let record = unclear.record;
        let staged = self.staged.take_up_to(record);
        let stages_all = unclear.commits.iter().any(|typed| typed.stages_all);
        for file in self.files.iter_mut().filter(|file| !file.is_outside_checkout && !file.stashed) {
            if file.changed_at() > record {
                continue;
            }
            if stages_all || staged.would_commit_contain_file(&file.path) {
                file.saved_at = file.saved_at.max(record);
            } else if file.saved_at < record {
                file.commits_without_file += 1;
            }
        }
        let place = self.effects.partition_point(|used| used.record <= record);
        let to_effect = |commit: MadeCommit| RecordedEffect {
            effect: Effect {
                kind: commit.kind,
                what: commit.subject,
                place: String::new(),
                id: commit.id,
                link: String::new(),
                folder: commit.folder,
            },
            at: unclear.at.clone(),
            record,
            is_in_other_repository: false,
            disk: EffectOnDisk::default(),
        };
        let effects: Vec<RecordedEffect> = made.into_iter().map(to_effect).collect();
        // If one of several commits was not made, it is unknown where the line failed.
        let is_complete = effects.len() == unclear.commits.len();
        self.effects.splice(place..place, effects);
        if is_complete {
            self.leave_out_committed_parts(record);
        }
    }

    /// Shortens a failed command line to the parts after its commit, because the earlier parts succeeded.
    fn leave_out_committed_parts(&mut self, record: u64) {
        for failure in
            self.failures.iter_mut().filter(|failure| failure.is_command && failure.record == record)
        {
            if let Some(rest) = run::line_after_commit(&failure.command_or_file) {
                // The failure of a lookup or of a call to `thru` does not matter.
                failure.is_open &=
                    !matches!(run::command_purpose(&rest, &failure.folder), run::CommandPurpose::ReadOnly);
                failure.command_or_file = rest;
                failure.parsed_checks = LazyValue::default();
                failure.command_purpose = LazyValue::default();
            }
        }
        for used in self.commands.iter_mut().filter(|used| used.last_run_record == record) {
            if let Some(rest) = run::line_after_commit(&used.command) {
                used.command = rest;
            }
        }
    }

    /// Returns whether a command line after this record may have made a commit.
    pub(super) fn has_unclear_commit_since(&self, record: u64) -> bool {
        self.unclear_commits.iter().any(|unclear| unclear.record >= record)
    }

    /// Returns the number of the last record that may have moved HEAD, or 0 if there is none.
    pub(super) fn last_unclear_move_of_head(&self) -> u64 {
        self.unclear_commits.iter().map(|unclear| unclear.record).fold(self.head_unclear_at, u64::max)
    }
}

fn is_commit(found: &BranchMove) -> bool {
    found.what.starts_with("commit")
}

fn subject_of(found: &BranchMove) -> &str {
    found.what.split_once(": ").map_or("", |(_, subject)| subject.trim())
}

fn is_made_by(found: &BranchMove, typed: &TypedCommit) -> bool {
    found.what.starts_with("commit (amend)") == typed.is_amend
        && (typed.subject.is_empty() || typed.subject == subject_of(found))
}

#[cfg(test)]
#[path = "unclear_commits_tests.rs"]
mod tests;
