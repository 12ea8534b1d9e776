//! Compares a packet's claims with the current state. The result for each claim is verified, changed or unverified.

use jiff::Timestamp;
use serde::Serialize;

use super::{Packet, RecordedCheck, choose};
use crate::digest::{self, FileTime};
use crate::render::format_path_or_code;
use crate::text::count_with_noun;
use crate::time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimVerification {
    Verified,
    Changed,
    /// The claim cannot be checked, because nothing was recorded or the current state is unknown.
    Unverified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimSubject {
    Project,
    Head,
    Branch,
    Dirty,
    File,
    Check,
    Age,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    #[serde(rename = "about")]
    pub subject_kind: ClaimSubject,
    /// What the claim is about, such as a file, a command or a commit.
    pub subject: String,
    pub state: ClaimVerification,
    /// The result as text, such as `its content differs` or `ahead by 3 commits`.
    pub note: String,
    /// Whether the subject is a file that can be opened in this project.
    #[serde(skip)]
    pub can_open_file: bool,
}

#[derive(Clone, Debug, Default)]
pub struct CurrentState<'a> {
    /// The id of the current project, if it has one.
    pub project: Option<&'a str>,
    /// The state of git, or `None` outside a git repository.
    pub git: Option<CurrentGitState>,
    /// The state of each file, in the order of [`Packet::confirmed_and_suggested_files`].
    pub files: &'a [CurrentFileState],
    /// Whether the session continued and edited files after writing the packet.
    pub has_session_edited_since: bool,
    /// When the files that may affect a check were last changed.
    pub file_times: &'a [FileTime],
    /// Whether the packet's session worked in another worktree that no longer exists. If so, the packet is compared
    /// with this checkout instead. A difference may then be older than the packet.
    pub is_worktree_gone: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurrentGitState {
    pub head: String,
    pub branch: String,
    /// The files that differ from HEAD, including untracked ones, or `None` if they are unknown.
    pub uncommitted_files: Option<Vec<String>>,
    /// A fingerprint of all files that differ from the packet's commit, or `None` if it is unknown.
    pub fingerprint_of_changes: Option<String>,
    /// The distance between HEAD and the packet's commit, or `None` if that commit does not exist in this repository.
    pub distance_to_packet_commit: Option<CommitDistance>,
}

/// The number of commits that only HEAD contains, and the number that only the packet's commit contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitDistance {
    pub ahead: u64,
    pub behind: u64,
}

/// The value recorded instead of a fingerprint for a file that did not exist.
pub const FINGERPRINT_OF_MISSING_FILE: &str = "gone";

/// The subject of the claim that no branch was checked out. It cannot be a branch name, because it contains a space.
pub(super) const NO_BRANCH_CLAIM_SUBJECT: &str = "no branch";

/// The note for a checkout that was clean when the packet was written and is clean now.
const CLEAN_AS_THEN_TEXT: &str = "still nothing uncommitted";

/// The note for a checkout that is clean now, if the packet does not say whether it was clean.
const CLEAN_NOW_UNKNOWN_THEN_TEXT: &str = "0 now; the packet does not record how many there were";

/// The end of the note for a checkout that had uncommitted files when the packet was written and is clean now.
const CLEAN_NOW_TEXT: &str = " uncommitted then, 0 now";

/// The beginning of the note for a file that is on another branch but not here. If that branch no longer exists, the
/// note names a commit instead and begins with `IN_COMMIT_TEXT`.
const ON_BRANCH_TEXT: &str = "on branch ";
const IN_COMMIT_TEXT: &str = "in commit ";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CurrentFileState {
    Here {
        fingerprint: Option<String>,
    },
    Gone,
    /// The file is not here but in a commit that HEAD does not contain: on the packet's branch or, if there is no such
    /// branch, in the packet's commit.
    OnOtherBranch {
        has_branch: bool,
    },
    /// The path leads outside the root, so the file is never opened.
    Outside,
}

/// Verifies every claim. The result is in this order: project, git, files, checks, age of the packet.
pub fn verify_claims(packet: &Packet, now: &CurrentState, at: Timestamp) -> Vec<Claim> {
    let mut claims = Vec::from_iter(claim_of_other_project(packet, now.project));
    claims.extend(git_claims(packet, now.git.as_ref()));
    let files = packet.confirmed_and_suggested_files();
    let branch_now = now.git.as_ref().map_or("", |git| git.branch.as_str());
    claims.extend(files.iter().zip(now.files).map(|(path, now)| file_claim(packet, path, now, branch_now)));
    let are_same = are_files_same(packet, now.git.as_ref());
    verify_uncommitted_files(&mut claims, now.git.as_ref(), are_same);
    let is_changed = |subjects: &[ClaimSubject]| {
        let is_such = |claim: &Claim| subjects.contains(&claim.subject_kind);
        claims.iter().any(|claim| is_such(claim) && claim.state == ClaimVerification::Changed)
    };
    // A file whose earlier content was not recorded may have changed, so "nothing has changed since" cannot be said.
    let is_unknown = |claim: &Claim| {
        claim.subject_kind == ClaimSubject::File
            && claim.state == ClaimVerification::Unverified
            && claim.can_open_file
    };
    let is_head_moved = is_changed(&[ClaimSubject::Head, ClaimSubject::Branch]);
    let since = match () {
        () if now.has_session_edited_since || is_changed(&[ClaimSubject::File]) => ChangesSinceCheck::Some,
        () if is_head_moved && are_same => ChangesSinceCheck::SameFiles,
        () if is_head_moved => ChangesSinceCheck::HeadMoved,
        () if is_changed(&[ClaimSubject::Dirty]) => ChangesSinceCheck::Some,
        () if claims.iter().any(is_unknown) => ChangesSinceCheck::Unknown,
        () => ChangesSinceCheck::None,
    };
    claims.extend(packet.checks_seen.iter().map(|check| {
        // Switching to another branch and back gives files new times but leaves their content the same.
        let is_changed = !are_same && has_file_changed_after(check, now.file_times, at);
        let since = if is_changed { ChangesSinceCheck::Some } else { since };
        check_claim(check, since, now.is_worktree_gone)
    }));
    claims.extend(time::parse_time(&packet.created_at).map(|created| Claim {
        subject_kind: ClaimSubject::Age,
        subject: packet.created_at.clone(),
        state: ClaimVerification::Verified,
        note: format!("written {}", time::describe_age(created, at)),
        can_open_file: false,
    }));
    if now.is_worktree_gone {
        let differs = |claim: &&mut Claim| claim.state == ClaimVerification::Changed;
        claims.iter_mut().filter(differs).for_each(|claim| claim.state = ClaimVerification::Unverified);
    }
    claims
}

/// Whether the project has changed since the packet was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangesSinceCheck {
    None,
    /// HEAD has moved, but every file has the same content, as after a commit of the tested files.
    SameFiles,
    /// HEAD has moved, and it is unknown whether the files have changed.
    HeadMoved,
    Some,
    /// The packet does not say what its files contained.
    Unknown,
}

/// Returns whether a file was changed after the recorded run of a check, judging by the file's time. A command can
/// change files without naming them, so the packet might not record that they changed.
fn has_file_changed_after(check: &RecordedCheck, times: &[FileTime], now: Timestamp) -> bool {
    let Some(run_at) = time::parse_time(&check.at) else { return false };
    times.iter().any(|file| digest::is_changed_after(file.modified_at, run_at, now))
}

/// Verifies a recorded check. Its result applies only in the checkout where it ran, and only if nothing has changed
/// since.
fn check_claim(check: &RecordedCheck, since: ChangesSinceCheck, is_worktree_gone: bool) -> Claim {
    let how = if check.ok { "passed" } else { "failed" };
    let again = "; run it again";
    let (state, note) = match check {
        RecordedCheck { unknown: true, at, .. } => {
            (ClaimVerification::Unverified, format!("ran at {at}; its result was not seen"))
        }
        RecordedCheck { at, .. } if is_worktree_gone => {
            (ClaimVerification::Unverified, format!("{how} at {at}, in another worktree"))
        }
        RecordedCheck { edited_since: true, at, .. } => {
            (ClaimVerification::Unverified, format!("{how} at {at}, before the last edits{again}"))
        }
        RecordedCheck { at, .. } => match since {
            ChangesSinceCheck::Some => {
                (ClaimVerification::Unverified, format!("{how} at {at}, before later changes{again}"))
            }
            ChangesSinceCheck::HeadMoved => {
                (ClaimVerification::Unverified, format!("{how} at {at}, before HEAD moved{again}"))
            }
            ChangesSinceCheck::SameFiles => {
                (ClaimVerification::Verified, format!("{how} at {at}; the files have not changed since"))
            }
            ChangesSinceCheck::Unknown => (
                ClaimVerification::Unverified,
                format!("{how} at {at}; it is unknown whether the files have changed since{again}"),
            ),
            ChangesSinceCheck::None => {
                (ClaimVerification::Verified, format!("{how} at {at}; nothing has changed since"))
            }
        },
    };
    Claim {
        subject_kind: ClaimSubject::Check,
        subject: check.command.clone(),
        state,
        note,
        can_open_file: false,
    }
}

/// Returns whether the checkout has no uncommitted files now.
pub(super) fn is_clean(claims: &[Claim]) -> bool {
    let ends = |note: &str| {
        [CLEAN_AS_THEN_TEXT, CLEAN_NOW_UNKNOWN_THEN_TEXT].contains(&note) || note.ends_with(CLEAN_NOW_TEXT)
    };
    claims.iter().any(|claim| claim.subject_kind == ClaimSubject::Dirty && ends(&claim.note))
}

/// Returns whether a claim concerns a file that is not here but on the packet's branch or in its commit.
pub(super) fn is_file_elsewhere(claim: &Claim) -> bool {
    claim.subject_kind == ClaimSubject::File
        && [ON_BRANCH_TEXT, IN_COMMIT_TEXT].iter().any(|start| claim.note.starts_with(start))
}

/// Returns whether HEAD is no longer at the packet's commit.
pub(super) fn is_moved(claims: &[Claim]) -> bool {
    claims
        .iter()
        .any(|claim| claim.subject_kind == ClaimSubject::Head && claim.state == ClaimVerification::Changed)
}

/// Returns the claims that are no longer true.
pub fn drifted_claims(claims: &[Claim]) -> Vec<&Claim> {
    claims.iter().filter(|claim| claim.state == ClaimVerification::Changed).collect()
}

/// Returns a claim if the packet belongs to another project. The packet's other claims cannot be checked in that case.
fn claim_of_other_project(packet: &Packet, now: Option<&str>) -> Option<Claim> {
    let is_foreign = !packet.project_id.is_empty() && now.is_some_and(|now| packet.project_id != now);
    is_foreign.then(|| Claim {
        subject_kind: ClaimSubject::Project,
        subject: packet.project_id.clone(),
        state: ClaimVerification::Unverified,
        note: "the packet was written in that project, not in this one".to_owned(),
        can_open_file: false,
    })
}

fn git_claims(packet: &Packet, now: Option<&CurrentGitState>) -> Vec<Claim> {
    let mut claims = Vec::new();
    if packet.head.is_empty() && packet.branch.is_empty() {
        return claims;
    }
    let claim = |about, subject: &str, state, note: String| {
        let subject = subject.to_owned();
        Claim { subject_kind: about, subject, state, note, can_open_file: false }
    };
    let Some(now) = now else {
        claims.push(claim(
            ClaimSubject::Head,
            &packet.head,
            ClaimVerification::Unverified,
            "this folder is not a git checkout".into(),
        ));
        return claims;
    };
    if !packet.head.is_empty() {
        let (state, note) = match (now.head == packet.head, now.distance_to_packet_commit) {
            (true, _) => (ClaimVerification::Verified, "HEAD is where it was".to_owned()),
            (false, None) => (
                ClaimVerification::Changed,
                format!("HEAD is {}; the packet's commit is not in this repository", short_commit(&now.head)),
            ),
            (false, Some(way)) => (
                ClaimVerification::Changed,
                format!("HEAD is {}, {}", short_commit(&now.head), describe_distance(way)),
            ),
        };
        claims.push(claim(ClaimSubject::Head, &packet.head, state, note));
    }
    let branch =
        |name: &str| if name.is_empty() { NO_BRANCH_CLAIM_SUBJECT.to_owned() } else { name.to_owned() };
    let (state, note) = if now.branch == packet.branch {
        let note = if now.branch.is_empty() { "still none checked out" } else { "still checked out" };
        (ClaimVerification::Verified, note.to_owned())
    } else {
        (ClaimVerification::Changed, format!("{} is checked out now", branch(&now.branch)))
    };
    claims.push(claim(ClaimSubject::Branch, &branch(&packet.branch), state, note));
    if packet.dirty.is_none() && now.uncommitted_files.as_ref().is_some_and(Vec::is_empty) {
        let note = CLEAN_NOW_UNKNOWN_THEN_TEXT.to_owned();
        claims.push(claim(ClaimSubject::Dirty, "unknown", ClaimVerification::Unverified, note));
    }
    if let (Some(then), Some(files)) = (packet.dirty, &now.uncommitted_files) {
        let count_then = usize::try_from(then).unwrap_or(0);
        let (now, names) = (files.len(), choose::name_uncommitted_files(files));
        let text_then = count_with_noun(count_then, "file");
        let (state, note) = match count_then == now {
            true if now == 0 => (ClaimVerification::Verified, CLEAN_AS_THEN_TEXT.to_owned()),
            true => (ClaimVerification::Unverified, format!("{text_then} uncommitted then and now: {names}")),
            false if now == 0 => (ClaimVerification::Changed, format!("{text_then}{CLEAN_NOW_TEXT}")),
            false => {
                (ClaimVerification::Changed, format!("{text_then} uncommitted then, {now} now: {names}"))
            }
        };
        claims.push(claim(ClaimSubject::Dirty, &then.to_string(), state, note));
    }
    claims
}

/// Returns whether all files are known to have the content that they had when the packet was written. A commit of these
/// files does not matter.
fn are_files_same(packet: &Packet, now: Option<&CurrentGitState>) -> bool {
    let fingerprint = now.and_then(|now| now.fingerprint_of_changes.as_deref());
    !packet.fingerprint_of_changes.is_empty() && fingerprint == Some(&packet.fingerprint_of_changes)
}

/// Marks the claim about uncommitted files as verified if two conditions are met. First, HEAD and the number of these
/// files are the same as when the packet was written. Second, all files have the same content as then, or each
/// uncommitted file has a claim that was verified.
fn verify_uncommitted_files(claims: &mut [Claim], now: Option<&CurrentGitState>, are_files_same: bool) {
    let Some(files) = now.and_then(|now| now.uncommitted_files.as_ref()) else { return };
    let is_verified = |subject_kind, subject: Option<&String>| {
        claims.iter().any(|claim| {
            claim.subject_kind == subject_kind
                && claim.state == ClaimVerification::Verified
                && subject.is_none_or(|subject| claim.subject == *subject)
        })
    };
    let are_same = is_verified(ClaimSubject::Head, None)
        && (are_files_same || files.iter().all(|file| is_verified(ClaimSubject::File, Some(file))));
    let counted = claims.iter_mut().filter(|claim| {
        claim.subject_kind == ClaimSubject::Dirty
            && claim.state == ClaimVerification::Unverified
            && claim.note != CLEAN_NOW_UNKNOWN_THEN_TEXT
    });
    counted.filter(|_| are_same).for_each(|claim| claim.state = ClaimVerification::Verified);
}

fn describe_distance(way: CommitDistance) -> String {
    match way {
        CommitDistance { ahead, behind: 0 } => {
            format!("ahead by {}", count_with_noun(ahead as usize, "commit"))
        }
        CommitDistance { ahead: 0, behind } => {
            format!("behind by {}", count_with_noun(behind as usize, "commit"))
        }
        CommitDistance { ahead, behind } => format!("diverged: {ahead} here, {behind} there"),
    }
}

fn file_claim(packet: &Packet, path: &str, now: &CurrentFileState, branch_now: &str) -> Claim {
    let then = packet.files_seen.iter().find(|(known, _)| known == path).map(|(_, digest)| digest.as_str());
    let place = match now {
        CurrentFileState::OnOtherBranch { has_branch } if then != Some(FINGERPRINT_OF_MISSING_FILE) => {
            let place = match has_branch {
                true => format!("{ON_BRANCH_TEXT}{}", format_path_or_code(&packet.branch, 100)),
                false => format!("{IN_COMMIT_TEXT}{}", short_commit(&packet.head)),
            };
            Some(match branch_now {
                "" => format!("{place}, not here"),
                now => format!("{place}, not on {}", format_path_or_code(now, 100)),
            })
        }
        _ => None,
    };
    if let Some(note) = place {
        let state = ClaimVerification::Unverified;
        return Claim {
            subject_kind: ClaimSubject::File,
            subject: path.to_owned(),
            state,
            note,
            can_open_file: false,
        };
    }
    let (state, note) = match (now, then) {
        (CurrentFileState::Outside, _) => (ClaimVerification::Unverified, "outside the project, not opened"),
        (
            CurrentFileState::Gone | CurrentFileState::OnOtherBranch { .. },
            Some(FINGERPRINT_OF_MISSING_FILE),
        ) => (ClaimVerification::Verified, "still gone"),
        (CurrentFileState::Gone | CurrentFileState::OnOtherBranch { .. }, Some(_)) => {
            (ClaimVerification::Changed, "gone")
        }
        // The packet may come from another checkout, so this checkout may never have had the file.
        (CurrentFileState::Gone | CurrentFileState::OnOtherBranch { .. }, None) => {
            (ClaimVerification::Unverified, "not here; the packet does not record whether it existed")
        }
        (CurrentFileState::Here { .. }, Some(FINGERPRINT_OF_MISSING_FILE)) => {
            (ClaimVerification::Changed, "exists now; it did not exist when the packet was written")
        }
        (CurrentFileState::Here { fingerprint: Some(now) }, Some(then)) if now == then => {
            (ClaimVerification::Verified, "unchanged")
        }
        (CurrentFileState::Here { fingerprint: Some(_) }, Some(_)) => {
            (ClaimVerification::Changed, "its content differs")
        }
        (CurrentFileState::Here { .. }, _) => {
            (ClaimVerification::Unverified, "exists; its earlier content was not recorded")
        }
    };
    let opens = matches!(now, CurrentFileState::Here { .. });
    Claim {
        subject_kind: ClaimSubject::File,
        subject: path.to_owned(),
        state,
        note: note.to_owned(),
        can_open_file: opens,
    }
}

fn short_commit(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

#[cfg(test)]
#[path = "drift_tests.rs"]
mod tests;
