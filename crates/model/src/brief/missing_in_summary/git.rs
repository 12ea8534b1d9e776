//! Facts about git and the outside world that a summary lacks or gets wrong: contradictions, uncommitted work, and
//! effects that it does not mention.

use super::super::BriefOccasion;
use super::super::candidate::{Candidate, FactClass};
use super::super::effects::{
    self, commit_id_or_subject, describe_other_branch, effect_candidate, find_contradictions,
    format_clock_time, without_duplicates,
};
use super::super::paths::list_by_folder;
use super::claims::SummaryClaims;
use super::ids::{is_push_of_branch, missing_ids};
use crate::checkout_path::is_in_temporary_folder;
use crate::digest::{Digest, FileUse, GitState, RecordedEffect};
use crate::effect::EffectKind;
use crate::render::{format_path_or_code, in_quotation_marks, inline_for_model};
use crate::text::cut_to_bytes;

/// Default branches. Feature work is rarely meant to be committed to them directly.
const DEFAULT_BRANCHES: [&str; 4] = ["main", "master", "trunk", "develop"];

/// Introduces a list of uncommitted files that the summary does not mention.
const NOT_NAMED_PHRASE: &str = "that the summary does not name";

/// Hidden folders whose files belong to the project's work. Other hidden folders belong to tools.
const PROJECT_HIDDEN_FOLDERS: [&str; 5] = [".github", ".gitlab", ".circleci", ".cargo", ".config"];

/// Returns the facts about git and the outside world that the summary lacks. Facts that it gets wrong come first.
pub(in crate::brief) fn facts_about_git(digest: &Digest, claims: &SummaryClaims) -> Vec<Candidate> {
    let git = digest.git_state();
    let mut wrong = find_contradictions(claims.text, digest);
    wrong.extend(commits_called_unfinished(digest, claims));
    let wrong = wrong.into_iter().enumerate();
    let wrong = wrong.map(|(place, text)| {
        effect_candidate(FactClass::Risk, &format!("risk:contradiction-{place}"), vec![text])
    });
    let names_branch = |facts: &[Candidate]| facts.iter().any(|fact| fact.forms[0].contains(git.branch));
    let mut acts = effects_missing_in_summary(digest, claims);
    let branch = match names_branch(&acts) || !is_branch_name_missing_in_summary(digest, &git, claims) {
        true => "",
        false => git.branch,
    };
    let risk = uncommitted_work(digest, &git, claims, branch);
    let mut all: Vec<Candidate> = wrong.chain(risk).collect();
    let ids =
        missing_ids(digest, claims, |id| all.iter().chain(&acts).any(|fact| fact.forms[0].contains(id)));
    acts.extend(ids);
    let branch = if names_branch(&all) || names_branch(&acts) { "" } else { branch };
    let state = git_state(digest, &git, claims, branch);
    let has = |words: &[&str]| words.iter().any(|word| claims.content.has_phrase(word));
    all.extend(effects::stashed_work_candidate(&git).filter(|_| !has(&["stash", "stashed", "git stash"])));
    all.extend(effects::unpushed_work_candidate(&git).filter(|_| !claims.says_unpushed()));
    // A commit that a reset removed is told only to a reader whose summary says that it was made.
    let removed = digest.commits_removed_by_reset();
    let names_removed = removed.iter().any(|used| claims.mentions_effect(&used.effect, false));
    all.extend(
        effects::commits_removed_by_reset(digest).filter(|_| names_removed && !has(&["reset", "git reset"])),
    );
    all.extend(state);
    let noted = ["stash", "stashed", "reset", "discarded", "restored", "reverted", "restore", "checkout"];
    all.extend(effects::stashes_and_resets_candidate(&git).filter(|_| !has(&noted)));
    all.extend(acts);
    all
}

/// Describes commits whose work the summary calls unfinished.
fn commits_called_unfinished<'a>(
    digest: &'a Digest,
    claims: &'a SummaryClaims,
) -> impl Iterator<Item = String> + 'a {
    let commits = digest.standing_commits().into_iter();
    commits
        .filter(|used| is_effect_newer_than_last_brief(digest, used) && !used.effect.what.is_empty())
        .filter_map(|used| {
            let is_named = claims.mentions_effect(&used.effect, false);
            let phrase = claims.pending_phrase_about(&used.effect.what).filter(|_| !is_named)?;
            Some(format!(
                "the summary says “{phrase}”; commit {} {} was made{}",
                commit_id_or_subject(used),
                in_quotation_marks(&used.effect.what, 100),
                format_clock_time(&used.at)
            ))
        })
}

/// Returns the effects since the last compaction that the summary does not mention.
fn effects_missing_in_summary(digest: &Digest, claims: &SummaryClaims) -> Vec<Candidate> {
    let acts = || digest.effects.iter().filter(|used| is_effect_newer_than_last_brief(digest, used));
    let is_commit =
        |used: &RecordedEffect| matches!(used.effect.kind, EffectKind::Commit | EffectKind::Amend);
    let is_told = |used: &RecordedEffect| {
        let alone = acts().filter(|other| other.effect.kind == used.effect.kind).count() == 1;
        claims.mentions_effect(&used.effect, alone)
    };
    // If a later commit has the same subject, it is the same commit under a new id, as after a rebase.
    let is_again = |used: &RecordedEffect| {
        acts().any(|other| {
            is_commit(other) && other.record > used.record && other.effect.what == used.effect.what
        })
    };
    let standing: Vec<u64> = digest.standing_commits().into_iter().map(|used| used.record).collect();
    let branch = digest.git_state().branch;
    let is_over = |used: &RecordedEffect| is_commit_assumed_settled(used, branch, claims);
    let is_new_commit = |used: &RecordedEffect| {
        is_commit(used)
            && !is_told(used)
            && !is_over(used)
            && is_standing(used, digest, &standing)
            && !is_again(used)
            && claims.pending_phrase_about(&used.effect.what).is_none()
    };
    let has_new_commit = acts().any(is_new_commit);
    effects::external_effect_candidates(digest, |used| {
        is_effect_newer_than_last_brief(digest, used)
            && !is_in_scratch_repository(used, digest)
            && match used.effect.kind {
                EffectKind::Commit | EffectKind::Amend => is_new_commit(used),
                // Report the push of a new commit even if the summary mentions a push, because the summary may mean an
                // earlier push.
                EffectKind::Push => has_new_commit || !is_told(used),
                // A new branch is left out here, because it is reported as the current branch. Only deleted and
                // renamed branches are reported here.
                EffectKind::Branch => used.effect.what.contains(' ') && !is_told(used),
                _ => !is_told(used),
            }
    })
}

/// Returns whether a commit is assumed to be settled: it is on a branch other than the current one, and the summary
/// says that something was pushed or merged.
pub(super) fn is_commit_assumed_settled(used: &RecordedEffect, branch: &str, claims: &SummaryClaims) -> bool {
    used.effect.place != branch && !branch.is_empty() && claims.says_published()
}

/// Returns whether a commit still exists. `standing` lists the commits of the session's own repository that do. In another
/// repository, an amendment or a reset that comes next replaces or removes the commit.
pub(super) fn is_standing(used: &RecordedEffect, digest: &Digest, standing: &[u64]) -> bool {
    let is_next = |other: &&RecordedEffect| {
        other.record > used.record
            && other.is_in_other_repository
            && other.effect.folder == used.effect.folder
            && matches!(
                other.effect.kind,
                EffectKind::Commit | EffectKind::Amend | EffectKind::Push | EffectKind::Reset
            )
    };
    match used.is_in_other_repository {
        false => standing.contains(&used.record),
        true => digest.effects.iter().find(is_next).is_none_or(|next| match next.effect.kind {
            EffectKind::Amend => false,
            EffectKind::Reset => !next.effect.what.contains(['~', '^']),
            _ => true,
        }),
    }
}

/// Returns whether an effect is in a repository below a folder for temporary files, in which the session tried
/// something out. A worktree that the session made there belongs to the project, and so does a repository that it
/// pushed from.
pub(super) fn is_in_scratch_repository(used: &RecordedEffect, digest: &Digest) -> bool {
    let folder = used.effect.folder.as_str();
    let is_kept = |other: &RecordedEffect| match other.effect.kind {
        EffectKind::Worktree => {
            let made = other.effect.what.trim_end_matches('/');
            folder.strip_prefix(made).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
        EffectKind::Push | EffectKind::PullRequest => other.effect.folder == folder,
        _ => false,
    };
    used.is_in_other_repository && is_in_temporary_folder(folder) && !digest.effects.iter().any(is_kept)
}

/// Returns whether the effect is too recent for an earlier brief to have reported it.
pub(super) fn is_effect_newer_than_last_brief(digest: &Digest, used: &RecordedEffect) -> bool {
    used.record > digest.last_compaction_before_work
}

/// Returns whether the agent needs the name of the branch and the summary lacks it.
fn is_branch_name_missing_in_summary(digest: &Digest, git: &GitState, claims: &SummaryClaims) -> bool {
    let branch = git.branch;
    if branch.is_empty() || claims.content.has_phrase(&branch.to_lowercase()) {
        return false;
    }
    let is_other = |used: &&RecordedEffect| {
        matches!(used.effect.kind, EffectKind::Switch | EffectKind::Branch)
            && !used.is_in_other_repository
            && used.effect.what != branch
            && !DEFAULT_BRANCHES.contains(&used.effect.what.as_str())
    };
    let is_default = DEFAULT_BRANCHES.contains(&branch) && !git.uncommitted.is_empty();
    let is_published = |used: &&RecordedEffect| {
        is_effect_newer_than_last_brief(digest, used) && is_push_of_branch(used, branch)
    };
    // The folder of a worktree is often named after a branch, and the summary contains that folder's name. That name
    // misleads if another branch is checked out.
    let folder = digest.worktree.rsplit('/').next().unwrap_or_default();
    let misleads = digest.worktree.contains("worktree") && !branch.ends_with(folder);
    is_default || misleads || digest.effects.iter().any(|used| is_other(&used) || is_published(&used))
}

/// Returns the uncommitted edited files. If the summary says that the work is not committed, only the files that it
/// does not mention are returned.
fn uncommitted_work(
    digest: &Digest,
    git: &GitState,
    claims: &SummaryClaims,
    branch: &str,
) -> Option<Candidate> {
    let files: Vec<&FileUse> =
        git.uncommitted.iter().copied().filter(|file| is_at_risk(digest, git, file)).collect();
    if !effects::is_session_known_to_be_in_checkout(digest, git) || files.is_empty() {
        return None;
    }
    let new: Vec<&FileUse> = files.iter().copied().filter(|file| !claims.names_file(&file.path)).collect();
    // A summary that names the last commit and the files does not yet say that the files are not in that commit.
    let is_told = claims.says_uncommitted();
    if is_told && new.is_empty() {
        return None;
    }
    let edited = |n: usize| effects::describe_files_edited_by_session(n, BriefOccasion::Compacted);
    let n = edited(files.len());
    let state = match (git.commit, digest.git_on_disk.is_some() && git.head_moved_by_others.is_none()) {
        (Some(used), true) => format!("not committed since {}", commit_id_or_subject(used)),
        (Some(used), false) => format!("not in any commit seen after {}", commit_id_or_subject(used)),
        (None, true) => "not committed".to_owned(),
        (None, false) => "not in any commit seen here".to_owned(),
    };
    let silent = if claims.may_say_uncommitted() { "" } else { "; the summary does not say so" };
    let head = format!("{n}, {state}{silent}");
    // The number of files alone does not help. If the summary mentions all files, all of them are listed again,
    // because the summary does not say that they are uncommitted.
    let lists_all = git.commit.is_some() || new.is_empty() || new.len() == files.len();
    let (head, listed) = match (is_told, lists_all) {
        (true, _) => (format!("{} {NOT_NAMED_PHRASE}, {state}", edited(new.len())), &new),
        (false, true) => (head, &files),
        (false, false) => (format!("{head}; {} {NOT_NAMED_PHRASE}", new.len()), &new),
    };
    let on = if branch.is_empty() {
        String::new()
    } else {
        format!("branch {}: ", format_path_or_code(branch, 100))
    };
    let forms = [6, 14].map(|most| {
        format!("{on}{head}: {}", list_by_folder(listed.iter().map(|file| file.path.as_str()), most))
    });
    Some(effect_candidate(FactClass::Risk, "risk:uncommitted", without_duplicates(forms.to_vec())))
}

fn is_document(file: &FileUse) -> bool {
    file.path.ends_with(".md") || file.path.ends_with(".txt")
}

/// Returns whether an uncommitted file is work that could be lost.
fn is_at_risk(digest: &Digest, git: &GitState, file: &FileUse) -> bool {
    let is_of_tool = file.path.split('/').rev().skip(1).any(|folder| {
        folder.starts_with('.') && folder.len() > 1 && !PROJECT_HIDDEN_FOLDERS.contains(&folder)
    });
    // A document that a later commit left out is probably meant to stay local. A source file may simply have been
    // forgotten.
    let is_left_out = is_document(file) && git.commit.is_some_and(|used| used.record > file.changed_at());
    // An edit made before the last branch switch may belong to the earlier branch, so it is left out unless git's
    // files were read.
    let left =
        |used: &&RecordedEffect| used.effect.kind == EffectKind::Switch && !used.is_in_other_repository;
    let left = digest.effects.iter().rfind(left).map_or(0, |used| used.record);
    let is_elsewhere = digest.git_on_disk.is_none() && file.changed_at() < left;
    !file.deleted && !is_of_tool && !is_left_out && !is_elsewhere
}

/// Returns the branch if it is needed, HEAD if somebody else moved it, and the pull request.
fn git_state(digest: &Digest, git: &GitState, claims: &SummaryClaims, branch: &str) -> Option<Candidate> {
    let mut parts = Vec::new();
    if !branch.is_empty() {
        let is_pushed = |used: &RecordedEffect| {
            is_effect_newer_than_last_brief(digest, used) && is_push_of_branch(used, branch)
        };
        let is_on_remote = match git.commit {
            Some(commit) => digest.is_pushed(commit, true),
            None => digest.git_on_disk.as_ref().is_none_or(|disk| disk.remote_commit.is_some()),
        };
        let pushed = if is_on_remote && digest.effects.iter().any(is_pushed) { ", pushed" } else { "" };
        let branch = format_path_or_code(branch, 100);
        parts.push(format!("the work is on branch {branch}{pushed}; the summary does not name it"));
    }
    if let Some(other) = git.other_branch {
        parts.push(describe_other_branch(other, git.branch));
    } else if let Some(head) =
        git.head_moved_by_others.filter(|head| !claims.text.contains(cut_to_bytes(head, 7)))
    {
        parts
            .push(format!("HEAD is now {} because it was moved outside the session", cut_to_bytes(head, 10)));
    }
    // Leave out a new pull request, because it is listed with the other effects.
    if let Some(used) = git.pull_request.filter(|used| {
        !is_effect_newer_than_last_brief(digest, used) && !claims.mentions_effect(&used.effect, false)
    }) {
        parts.push(format!("pull request #{}", inline_for_model(&used.effect.id, 40)));
    }
    let text = format!("Git: {}", parts.join("; "));
    (!parts.is_empty()).then(|| effect_candidate(FactClass::State, "git:state", vec![text]))
}
