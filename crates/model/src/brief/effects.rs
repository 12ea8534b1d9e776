//! Work at risk, and effects on the outside world. They come first in a brief. An incomplete list ends with the
//! number of omitted items.

mod refs;

use std::collections::BTreeSet;

use super::BriefOccasion;
use super::candidate::{Candidate, FactClass};
use super::paths::list_by_folder;
use crate::digest::{Digest, FileUse, GitState, OtherBranch, RecordedEffect};
use crate::effect::{DescriptionDetail, Effect, EffectKind, describe_effect};
use crate::render::{format_path_or_code, in_quotation_marks, inline_for_model};
use crate::text::{count_with_noun, cut_to_bytes};

use refs::RefFate;

/// Up to this many uncommitted files are always listed by name.
const FILES_ALWAYS_NAMED: usize = 3;

/// A short list of uncommitted files names at most this many files. Then it says how many other files there are.
const MAX_UNCOMMITTED_FILES_NAMED: usize = 5;

/// Returns all facts about git and the outside world, for a reader without a summary. Work at risk comes first.
pub(super) fn effect_candidates(digest: &Digest, occasion: BriefOccasion) -> Vec<Candidate> {
    let git = digest.git_state();
    let mut all: Vec<Candidate> = uncommitted_work(digest, &git, occasion).into_iter().collect();
    all.extend(uncommitted_work_of_others(digest, &git));
    all.extend(stashed_work_candidate(&git));
    all.extend(unpushed_work_candidate(&git));
    all.extend(git_state_candidates(digest, &git));
    all.extend(external_effect_candidates(digest, |_| true));
    all
}

pub(super) fn effect_candidate(class: FactClass, id: &str, forms: Vec<String>) -> Candidate {
    Candidate::of_class(class, id.to_owned(), forms)
}

/// Returns whether the session is known to be in a checkout.
pub(super) fn is_session_known_to_be_in_checkout(digest: &Digest, git: &GitState) -> bool {
    !git.branch.is_empty() || digest.git_on_disk.is_some() || !digest.effects.is_empty()
}

/// Returns a phrase that says whose edits are counted, such as `2 files edited by this session`. The count excludes
/// other people's uncommitted files. The phrase mentions the session, so that the agent does not take the count for
/// all uncommitted files of the checkout.
pub(super) fn describe_files_edited_by_session(n: usize, occasion: BriefOccasion) -> String {
    let session = match occasion {
        BriefOccasion::Started => "that session",
        // This text may be read outside the session, for example in a packet, so it does not say "this session".
        BriefOccasion::Asked => "the session",
        BriefOccasion::Compacted | BriefOccasion::Resumed | BriefOccasion::Replayed => "this session",
    };
    format!("{} edited by {session}", count_with_noun(n, "file"))
}

/// Returns whether an item of a packet is about uncommitted work of the packet's session or of earlier ones. Older packets
/// say `1 edited file not committed`.
pub fn is_uncommitted_work(item: &str) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "files edited by the session,",
        "file edited by the session,",
        "files edited by earlier sessions,",
        "file edited by earlier sessions,",
        "edited files",
        "edited file",
    ];
    let Some((count, rest)) = item.split_once(' ') else { return false };
    let rest = rest.strip_prefix("more ").unwrap_or(rest);
    let rest = BEGINNINGS.iter().find_map(|words| rest.strip_prefix(words));
    let rest = rest.map(|rest| rest.trim_start_matches([',', ' ']));
    count.parse::<u32>().is_ok()
        && rest.is_some_and(|rest| {
            rest.starts_with("not committed") || rest.starts_with("not in any commit seen")
        })
}

fn uncommitted_work(digest: &Digest, git: &GitState, occasion: BriefOccasion) -> Option<Candidate> {
    // A deleted file has no content that could be lost.
    let files: Vec<&FileUse> = git.uncommitted.iter().copied().filter(|file| !file.deleted).collect();
    if !is_session_known_to_be_in_checkout(digest, git) || files.is_empty() {
        return None;
    }
    let n = files.len();
    let edited = describe_files_edited_by_session(n, occasion);
    let seen =
        digest.effects.iter().any(|used| matches!(used.effect.kind, EffectKind::Commit | EffectKind::Amend));
    let head = match git.commit {
        // HEAD moved, the branch changed, or git's own files were not read. The edited files may therefore be in a
        // commit that no hook saw.
        None if git.head_moved_by_others.is_some() || seen || digest.git_on_disk.is_none() => {
            format!("{edited}, not in any commit seen here: ")
        }
        // Staged files also count as uncommitted.
        None => format!("{edited}, not committed: "),
        Some(used) => format!("{edited}, not committed since {}: ", commit_id_or_subject(used)),
    };
    // If all edited files are at risk, a few of them are enough here even if there is more room, because the brief
    // lists the edited files further down.
    let is_edited = |file: &&FileUse| file.is_edited() && !file.is_outside_checkout && !file.deleted;
    let lengths: &[usize] = match digest.files.iter().filter(is_edited).count() == n {
        true if n > FILES_ALWAYS_NAMED => &[0, MAX_UNCOMMITTED_FILES_NAMED],
        true => &[MAX_UNCOMMITTED_FILES_NAMED],
        false => &[MAX_UNCOMMITTED_FILES_NAMED, 14, usize::MAX],
    };
    // A bare number tells the reader nothing, so a short form says where the names are.
    let form = |most: usize| match most {
        0 => format!("{} (named below)", head.trim_end_matches(": ")),
        most => format!("{head}{}", list_by_folder(files.iter().map(|file| file.path.as_str()), most)),
    };
    let forms = lengths.iter().copied().map(form).collect();
    let mut risk = effect_candidate(FactClass::Risk, "risk:uncommitted", without_duplicates(forms));
    if n > FILES_ALWAYS_NAMED {
        risk.add_terse_form(head.trim_end_matches(": ").to_owned());
    }
    Some(risk)
}

/// Returns the uncommitted files of other sessions. If the brief named only the last session's files, the agent
/// would believe that no other files are uncommitted.
fn uncommitted_work_of_others(digest: &Digest, git: &GitState) -> Option<Candidate> {
    let files = &digest.uncommitted_by_others;
    if files.is_empty() {
        return None;
    }
    let noun = match (files.len(), git.uncommitted.iter().any(|file| !file.deleted)) {
        (1, true) => "more file",
        (_, true) => "more files",
        (1, false) => "file",
        (_, false) => "files",
    };
    let head = format!("{} {noun} edited by earlier sessions, not committed", files.len());
    let form = |most: usize| format!("{head}: {}", list_by_folder(files.iter().map(String::as_str), most));
    let forms = without_duplicates(vec![form(MAX_UNCOMMITTED_FILES_NAMED), form(usize::MAX)]);
    let mut risk = effect_candidate(FactClass::Risk, "risk:earlier", forms);
    risk.add_terse_form(head);
    Some(risk)
}

pub(super) fn stashed_work_candidate(git: &GitState) -> Option<Candidate> {
    let files = git.stashed.iter().map(|file: &&FileUse| format_path_or_code(&file.path, 120));
    let files = list_first_items(files, 14);
    let n = count_with_noun(git.stashed.len(), "file");
    let text = format!("{n} in a stash, not in any commit: {files}");
    (!git.stashed.is_empty()).then(|| effect_candidate(FactClass::Risk, "risk:stash", vec![text]))
}

pub(super) fn unpushed_work_candidate(git: &GitState) -> Option<Candidate> {
    let ids: Vec<String> = git.unpushed.iter().map(|used| commit_id_or_subject(used)).collect();
    let (noun, verb) = if ids.len() == 1 { ("commit", "is") } else { ("commits", "are") };
    let is_there = |other: &&OtherBranch| git.unpushed.iter().all(|used| other.has_commit(used));
    let branch = git.other_branch.filter(|other| !other.is_merged).filter(is_there);
    let branch =
        branch.map_or(String::new(), |other| format!(" on branch {}", format_path_or_code(&other.name, 100)));
    let forms = [6, usize::MAX].map(|most| {
        format!("{noun} {}{branch} {verb} not pushed", list_first_items(ids.iter().cloned(), most))
    });
    let forms = without_duplicates(forms.to_vec());
    (!ids.is_empty()).then(|| effect_candidate(FactClass::Risk, "risk:unpushed", forms))
}

/// Returns whether `text` contains a file name as a whole word.
pub(super) fn contains_file_name(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices(name).any(|(at, _)| {
        let after = &text[at + name.len()..];
        // A full stop after the name may end a sentence. It is part of a longer name only if the name continues.
        let goes_on = after.trim_start_matches('.').starts_with(is_part) && !after.starts_with(". ");
        !text[..at].ends_with(is_part) && !goes_on
    })
}

/// Returns the branch, the last commit, the pull request and later changes to the checkout.
fn git_state_candidates(digest: &Digest, git: &GitState) -> Vec<Candidate> {
    let (mut parts, mut short) = (Vec::new(), Vec::new());
    if !git.branch.is_empty() {
        short.push(format!("branch {}", format_path_or_code(git.branch, 100)));
        parts.push(format!("branch {}", format_path_or_code(git.branch, 100)));
    }
    let disk =
        digest.git_on_disk.as_ref().map(|disk| disk.commit.as_str()).filter(|commit| !commit.is_empty());
    // A later merge or pull may have moved HEAD away from the session's last commit.
    let is_at_head = |used: &&RecordedEffect| {
        used.effect.id.is_empty() || disk.is_none_or(|commit| commit.starts_with(&used.effect.id))
    };
    match (git.commit.filter(is_at_head).filter(|_| git.other_branch.is_none()), disk) {
        _ if git.head_moved_by_others.is_some() && git.other_branch.is_none() => {
            let head = format!(
                "HEAD is now {} because it was moved outside the session",
                cut_to_bytes(git.head_moved_by_others.unwrap_or_default(), 10)
            );
            let seen =
                git.commit.map(|used| format!(" (the last commit seen is {})", commit_id_or_subject(used)));
            parts.push(format!("{head}{}", seen.unwrap_or_default()));
            short.push(head);
        }
        (Some(used), _) => {
            let pushed = if git.is_commit_pushed { ", pushed" } else { "" };
            let name = commit_id_or_subject(used);
            let subject = if used.effect.what.is_empty() {
                String::new()
            } else {
                in_quotation_marks(&used.effect.what, 70)
            };
            if used.effect.id.is_empty() {
                // `git commit -q` prints no id. HEAD on disk is most likely this commit, but that is not certain.
                let head =
                    disk.map(|commit| format!("; HEAD {}", cut_to_bytes(commit, 10))).unwrap_or_default();
                let long = if subject.is_empty() { &name } else { &subject };
                parts.push(format!("last commit by the session {long}{pushed}{head}"));
                short.push(format!("last commit by the session {name}{pushed}{head}"));
            } else {
                // The commit's title and link are left out here, because they are listed among the effects on the
                // outside world.
                parts.push(format!("last commit {name}{pushed}"));
                short.push(format!("last commit {name}{pushed}"));
            }
        }
        (_, Some(commit)) => {
            short.push(format!("HEAD {}", cut_to_bytes(commit, 10)));
            parts.push(format!("HEAD {}", cut_to_bytes(commit, 10)));
        }
        _ => {}
    }
    if let Some(other) = git.other_branch {
        short.push(describe_other_branch(other, git.branch));
        parts.push(describe_other_branch(other, git.branch));
    }
    if let Some(used) = git.pull_request {
        // Leave out the link here, because it is listed among the effects on the outside world.
        let name = format!("pull request #{}", inline_for_model(&used.effect.id, 40));
        short.push(name.clone());
        parts.push(name);
    }
    let mut all: Vec<Candidate> = commits_removed_by_reset(digest).into_iter().collect();
    if !parts.is_empty() {
        let head = if digest.is_of_other_worktree { "Git in that worktree" } else { "Git" };
        let forms = [short, parts].map(|parts| format!("{head}: {}", parts.join("; "))).to_vec();
        all.push(effect_candidate(FactClass::State, "git:state", without_duplicates(forms)));
    }
    all.extend(stashes_and_resets_candidate(git));
    all
}

/// Says on which branch the session's last commit is, and what is known about a merge.
pub(super) fn describe_other_branch(other: &OtherBranch, branch_now: &str) -> String {
    let commit = cut_to_bytes(&other.commit, 7);
    let merged = match (other.is_merged, other.is_head_older) {
        (true, _) => ", which has been merged since".to_owned(),
        (false, true) => format!(", not on {}", format_path_or_code(branch_now, 100)),
        (false, false) => String::new(),
    };
    format!(
        "the session's last commit {commit} is on branch {}{merged}",
        format_path_or_code(&other.name, 100)
    )
}

/// Returns the commits that a reset removed.
pub(super) fn commits_removed_by_reset(digest: &Digest) -> Option<Candidate> {
    let reset: Vec<String> =
        digest.commits_removed_by_reset().into_iter().map(commit_id_or_subject).collect();
    let text = format!("Git: commits since removed by a reset: {}", reset.join(", "));
    (!reset.is_empty()).then(|| effect_candidate(FactClass::State, "git:reset", vec![text]))
}

/// Returns the stashes, discarded changes and resets since the last commit.
pub(super) fn stashes_and_resets_candidate(git: &GitState) -> Option<Candidate> {
    let notes: Vec<String> = git
        .checkout_changes_since_commit
        .iter()
        .map(|used| describe_effect(&used.effect, DescriptionDetail::Short))
        .collect();
    let text = format!("Git since then: {}", list_last_items(&notes, 6));
    (!notes.is_empty()).then(|| effect_candidate(FactClass::State, "git:notes", vec![text]))
}

/// Returns one candidate for each group of related effects, so that their ids share one line. Effects for which
/// `is_wanted` is false are left out.
pub(super) fn external_effect_candidates(
    digest: &Digest,
    is_wanted: impl Fn(&RecordedEffect) -> bool,
) -> Vec<Candidate> {
    let mut groups: Vec<EffectGroup> = Vec::new();
    let other_branch = digest.git_state().other_branch;
    for (place, used) in digest.effects.iter().enumerate() {
        let fate = refs::fate_of_ref(&digest.effects, place);
        if !used.effect.kind.is_external() || fate == RefFate::Undone || !is_wanted(used) {
            continue;
        }
        let is_new = used.record > digest.last_compaction_before_work;
        let key = EffectGroupKey { fate, ..EffectGroupKey::of_effect(used, is_new, other_branch) };
        match groups.iter_mut().find(|group| group.key == key) {
            Some(group) => group.members.push(used),
            None => groups.push(EffectGroup { key, members: vec![used] }),
        }
    }
    // Groups that an earlier brief contained come after all new groups.
    groups.sort_by_key(|group| {
        (!group.key.is_new, std::cmp::Reverse(group.members.last().map_or(0, |used| used.record)))
    });
    // Commits that a reset removed are listed in the git state instead.
    let there = digest.standing_commits();
    groups.iter_mut().for_each(|group| group.drop_amended_commits(&there));
    groups.iter().filter(|group| !group.members.is_empty()).map(EffectGroup::to_candidate).collect()
}

#[derive(PartialEq, Eq)]
struct EffectGroupKey<'d> {
    is_new: bool,
    kind: EffectKind,
    fate: RefFate,
    place: &'d str,
    folder: &'d str,
    /// The record number of an effect that is never grouped, or 0 if the effect can be grouped.
    ungrouped_record: u64,
}

struct EffectGroup<'d> {
    key: EffectGroupKey<'d>,
    members: Vec<&'d RecordedEffect>,
}

impl<'d> EffectGroupKey<'d> {
    /// If the output of a commit did not name its branch, but `other_branch` has the commit, that branch is used.
    fn of_effect(
        used: &'d RecordedEffect,
        is_new: bool,
        other_branch: Option<&'d OtherBranch>,
    ) -> EffectGroupKey<'d> {
        let Effect { kind, place, folder, .. } = &used.effect;
        let (kind, place) = match kind {
            EffectKind::Commit | EffectKind::Amend => {
                let other = other_branch.filter(|other| place.is_empty() && other.has_commit(used));
                (EffectKind::Commit, other.map_or(place.as_str(), |other| other.name.as_str()))
            }
            EffectKind::Push | EffectKind::Tag | EffectKind::Branch => (*kind, ""),
            kind => (*kind, place.as_str()),
        };
        let groups = matches!(
            kind,
            EffectKind::Commit
                | EffectKind::Push
                | EffectKind::Tag
                | EffectKind::Branch
                | EffectKind::Comment
                | EffectKind::Review
                | EffectKind::Issue
                | EffectKind::Merge
        );
        let alone = if groups { 0 } else { used.record };
        let folder = if used.is_in_other_repository { folder.as_str() } else { "" };
        EffectGroupKey { is_new, kind, fate: RefFate::Kept, place, folder, ungrouped_record: alone }
    }
}

impl EffectGroup<'_> {
    /// Drops commits that were amended or that a reset removed. The commits that replaced amended ones are kept.
    fn drop_amended_commits(&mut self, there: &[&RecordedEffect]) {
        if self.key.kind == EffectKind::Commit && self.key.folder.is_empty() {
            let is_there = |used: &RecordedEffect| there.iter().any(|known| std::ptr::eq(*known, used));
            self.members.retain(|used| used.is_in_other_repository || is_there(used));
        }
    }

    fn to_candidate(&self) -> Candidate {
        let first = self.members[0];
        let last = self.members[self.members.len() - 1];
        let id = format!("outside:{}:{}", first.record, effect_kind_name(self.key.kind));
        let at = format_time_of_day(&last.at);
        let there = if self.key.folder.is_empty() {
            String::new()
        } else {
            format!(" in {}", format_path_or_code(self.key.folder, 100))
        };
        let forms = match self.members.as_slice() {
            members if self.key.fate != RefFate::Kept => {
                vec![format!("{}{there}{at}", refs::describe_deleted_refs(members, self.key.fate))]
            }
            [used] if self.key.kind != EffectKind::Push => {
                let mut effect = used.effect.clone();
                if self.key.kind == EffectKind::Commit {
                    effect.place = self.key.place.to_owned();
                }
                [DescriptionDetail::Short, DescriptionDetail::Long]
                    .map(|tense| format!("{}{there}{at}", describe_effect(&effect, tense)))
                    .to_vec()
            }
            _ if self.key.kind == EffectKind::Push => {
                vec![format!("{}{there}{at}", self.branches_with_commits())]
            }
            members => {
                let members = self.distinct_members(members);
                let ids: Vec<String> = members.iter().map(|used| id_or_text(used)).collect();
                let named: Vec<String> = members.iter().map(|used| id_with_text(used, 50)).collect();
                let long: Vec<String> = members.iter().map(|used| id_with_text(used, 100)).collect();
                let head = self.text_before_ids();
                [ids, named, long].map(|list| format!("{head}{there}: {}{at}", list.join(", "))).to_vec()
            }
        };
        effect_candidate(FactClass::Outside, &id, without_duplicates(forms))
    }

    /// Returns the members, but names each branch and each issue only once. A branch may have been created twice,
    /// and an issue may have been changed after it was created.
    fn distinct_members<'m, 'd>(&self, members: &'m [&'d RecordedEffect]) -> Vec<&'m &'d RecordedEffect> {
        let mut seen = BTreeSet::new();
        let name = |used: &RecordedEffect| match self.key.kind {
            EffectKind::Branch => Some(id_with_text(used, 100)),
            EffectKind::Issue => Some(used.effect.id.clone()).filter(|id| !id.is_empty()),
            _ => None,
        };
        members.iter().filter(|used| name(used).is_none_or(|name| seen.insert(name))).collect()
    }

    /// Returns the text before the ids, such as `4 comments on owner/name#133` or `3 commits on main`.
    fn text_before_ids(&self) -> String {
        let noun = match self.key.kind {
            EffectKind::Commit => "commit",
            EffectKind::Comment => "comment",
            EffectKind::Review => "review",
            EffectKind::Issue => "issue",
            EffectKind::Merge => "merge",
            EffectKind::Tag => "tag",
            _ => "branch",
        };
        let n = self.distinct_members(&self.members).len();
        let noun = if noun == "branch" && n > 1 { format!("{n} branches") } else { count_with_noun(n, noun) };
        let word = if self.key.kind == EffectKind::Issue { "in" } else { "on" };
        if self.key.place.is_empty() {
            noun
        } else {
            format!("{noun} {word} {}", inline_for_model(self.key.place, 80))
        }
    }

    /// Lists each pushed branch with the commit of its last push.
    fn branches_with_commits(&self) -> String {
        let mut last: Vec<(&str, &RecordedEffect, usize)> = Vec::new();
        for used in &self.members {
            let name = used.effect.what.trim_end_matches(" (forced)");
            match last.iter_mut().find(|(known, ..)| *known == name) {
                Some(entry) => (entry.1, entry.2) = (used, entry.2 + 1),
                None => last.push((name, used, 1)),
            }
        }
        let tell = |(_, used, n): &(&str, &RecordedEffect, usize)| {
            let times = if *n > 1 { format!(" ({n} pushes)") } else { String::new() };
            format!("{}{times}", describe_effect(&used.effect, DescriptionDetail::Short))
        };
        last.iter().map(tell).collect::<Vec<_>>().join("; ")
    }
}

fn effect_kind_name(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::Commit | EffectKind::Amend => "commit",
        EffectKind::Push => "push",
        EffectKind::Comment => "comment",
        EffectKind::PullRequest => "pull-request",
        EffectKind::Issue => "issue",
        _ => "effect",
    }
}

/// Returns the effect's id or, if it has none, its link or description.
fn id_or_text(used: &RecordedEffect) -> String {
    let Effect { id, link, what, .. } = &used.effect;
    match (id.is_empty(), link.is_empty()) {
        (false, _) => inline_for_model(id, 110),
        (true, false) => inline_for_model(link, 200),
        (true, true) => inline_for_model(what, 60),
    }
}

fn id_with_text(used: &RecordedEffect, most: usize) -> String {
    let Effect { id, what, kind, .. } = &used.effect;
    let is_quote = matches!(kind, EffectKind::Commit | EffectKind::Amend);
    match (id.is_empty(), what.is_empty()) {
        (_, true) | (true, _) => id_or_text(used),
        (false, false) if is_quote => {
            format!("{} {}", inline_for_model(id, 110), in_quotation_marks(what, most))
        }
        (false, false) => format!("{} ({})", inline_for_model(id, 110), inline_for_model(what, most)),
    }
}

/// Returns the commit's id or, if it has none, its subject or time.
pub(super) fn commit_id_or_subject(used: &RecordedEffect) -> String {
    let Effect { id, what, .. } = &used.effect;
    match (id.is_empty(), what.is_empty()) {
        (false, _) => inline_for_model(id, 40),
        (true, false) => in_quotation_marks(what, 50),
        (true, true) => format!("(id unknown){}", format_time_of_day(&used.at)),
    }
}

/// Formats the time of day with a leading comma, such as `, 16:20`.
fn format_time_of_day(at: &str) -> String {
    at.get(11..16).map(|time| format!(", {time}")).unwrap_or_default()
}

/// Lists the first `most` items, then the number of omitted items.
fn list_first_items(items: impl Iterator<Item = String>, most: usize) -> String {
    let items: Vec<String> = items.collect();
    let kept = items.len().min(most);
    let more = if kept < items.len() { format!(", +{} more", items.len() - kept) } else { String::new() };
    format!("{}{more}", items[..kept].join(", "))
}

fn list_last_items(items: &[String], most: usize) -> String {
    let from = items.len().saturating_sub(most);
    let before = if from > 0 { format!("+{from} before, ") } else { String::new() };
    format!("{before}{}", items[from..].join("; "))
}

pub(super) fn without_duplicates(mut forms: Vec<String>) -> Vec<String> {
    forms.dedup();
    forms
}

/// Phrases that say that nothing is committed.
const NOTHING_COMMITTED_PHRASES: &[&str] = &[
    "nothing has been committed",
    "nothing is committed",
    "not been committed",
    "not yet committed",
    "not committed yet",
    "remain uncommitted",
    "remains uncommitted",
    "are uncommitted",
    "is uncommitted",
    "still uncommitted",
    "no commits have been made",
    "no commit has been made",
];

/// Phrases that say that nothing is pushed.
const NOTHING_PUSHED_PHRASES: &[&str] = &[
    "not been pushed",
    "not yet pushed",
    "not pushed yet",
    "still unpushed",
    "are unpushed",
    "is unpushed",
    "needs to be pushed",
];

/// Finds wrong statements in the summary: those that call committed work uncommitted, or pushed work unpushed. Ambiguous
/// statements are not reported.
pub fn find_contradictions(summary: &str, digest: &Digest) -> Vec<String> {
    let mut found = Vec::new();
    if summary.is_empty() {
        return found;
    }
    let git = digest.git_state();
    let lower = summary.to_ascii_lowercase();
    let said = |words: &[&'static str]| words.iter().find(|words| lower.contains(**words)).copied();
    let edited = digest
        .files
        .iter()
        .filter(|file| file.is_edited() && !file.is_outside_checkout)
        .map(FileUse::changed_at)
        .max();
    let commit = git.commit.filter(|used| !used.effect.id.is_empty() && git.head_moved_by_others.is_none());
    let all_committed = git.uncommitted.is_empty() && git.stashed.is_empty();
    if let (Some(words), Some(used)) = (said(NOTHING_COMMITTED_PHRASES), commit)
        && all_committed
        && edited.is_some_and(|edited| edited < used.record)
    {
        found.push(format!(
            "the summary says “{words}”; commit {} was made{}, and nothing has been edited since",
            commit_id_or_subject(used),
            format_clock_time(&used.at)
        ));
    }
    let push = digest
        .effects
        .iter()
        .rfind(|used| used.effect.kind == EffectKind::Push && !used.is_in_other_repository);
    if let (Some(words), Some(push)) = (said(NOTHING_PUSHED_PHRASES), push)
        && git.unpushed.is_empty()
        && all_committed
        && (commit.is_none() || git.is_commit_pushed)
    {
        found.push(format!(
            "the summary says “{words}”; {}{}",
            describe_effect(&push.effect, DescriptionDetail::Short),
            format_clock_time(&push.at)
        ));
    }
    found
}

pub(super) fn format_clock_time(at: &str) -> String {
    at.get(11..16).map(|time| format!(" at {time}")).unwrap_or_default()
}

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;
