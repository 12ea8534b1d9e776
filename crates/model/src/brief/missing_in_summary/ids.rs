//! Effects that a summary mentions without their ids. Each line says what kind of effect an id belongs to and where the
//! effect is. It also says what the effect is about, unless it is a commit whose work the summary describes.

use super::super::candidate::{Candidate, FactClass};
use super::super::effects::effect_candidate;
use super::claims::SummaryClaims;
use super::git::{
    is_commit_assumed_settled, is_effect_newer_than_last_brief, is_in_scratch_repository, is_standing,
};
use crate::digest::{Digest, RecordedEffect};
use crate::effect::EffectKind;
use crate::render::{in_quotation_marks, inline_for_model};
use crate::text::count_with_noun;

/// The maximum number of effects in one line.
const MAX_EFFECTS_PER_LINE: usize = 12;

/// The maximum length of a description in a list, in characters.
const MAX_LISTED_EFFECT_CHARS: usize = 60;

/// The kinds of effects whose ids an agent needs later.
const KINDS_WITH_IDS: [EffectKind; 6] = [
    EffectKind::Commit,
    EffectKind::Amend,
    EffectKind::Comment,
    EffectKind::Review,
    EffectKind::Issue,
    EffectKind::Message,
];

/// Returns one line for each group of effects whose ids the summary lacks. Ids for which `is_listed` is true are left
/// out, because another line of the brief contains them.
pub(super) fn missing_ids(
    digest: &Digest,
    claims: &SummaryClaims,
    is_listed: impl Fn(&str) -> bool,
) -> Vec<Candidate> {
    let standing: Vec<u64> = digest.standing_commits().into_iter().map(|used| used.record).collect();
    let branch = digest.git_state().branch;
    let is_candidate = |used: &RecordedEffect| {
        is_effect_newer_than_last_brief(digest, used)
            && !used.effect.id.is_empty()
            && KINDS_WITH_IDS.contains(&used.effect.kind)
    };
    let acts = || digest.effects.iter().filter(|used| is_candidate(used));
    // An amended or rebased commit has another id, but the same subject.
    let is_replaced = |used: &RecordedEffect| {
        let is_same =
            |other: &RecordedEffect| other.effect.what == used.effect.what && is_same_group(other, used);
        is_commit(used) && acts().any(|other| other.record > used.record && is_same(other))
    };
    let is_lacking = |used: &&RecordedEffect| {
        let alone = acts().filter(|other| other.effect.kind == used.effect.kind).count() == 1;
        let is_told = claims.mentions_effect(&used.effect, alone);
        (is_told || is_commit(used) && is_commit_assumed_settled(used, branch, claims))
            && !is_replaced(used)
            && !claims.text.contains(used.effect.id.as_str())
            && !is_listed(&used.effect.id)
            && (!is_commit(used) || is_standing(used, digest, &standing))
            && !is_in_scratch_repository(used, digest)
    };
    let mut groups: Vec<Vec<&RecordedEffect>> = Vec::new();
    for used in acts().filter(is_lacking) {
        match groups.iter_mut().find(|group| is_same_group(group[0], used)) {
            Some(group) => group.push(used),
            None => groups.push(vec![used]),
        }
    }
    let candidate = |group: &Vec<&RecordedEffect>| {
        let id = format!("effect:ids:{}", group[0].record);
        effect_candidate(FactClass::Outside, &id, vec![describe_group(group, digest, claims)])
    };
    groups.iter().map(candidate).collect()
}

fn is_commit(used: &RecordedEffect) -> bool {
    matches!(used.effect.kind, EffectKind::Commit | EffectKind::Amend)
}

fn is_same_group(a: &RecordedEffect, b: &RecordedEffect) -> bool {
    let is_same_kind = a.effect.kind == b.effect.kind || is_commit(a) && is_commit(b);
    is_same_kind && a.effect.place == b.effect.place && a.effect.folder == b.effect.folder
}

/// Returns whether the effect shows that a branch was pushed, or was already up to date at the remote.
pub(super) fn is_push_of_branch(used: &RecordedEffect, branch: &str) -> bool {
    matches!(used.effect.kind, EffectKind::Push | EffectKind::UpToDate)
        && used.effect.what.trim_end_matches(" (forced)") == branch
}

/// Returns the number of the comment that a reply answers.
fn answered_comment(used: &RecordedEffect) -> Option<&str> {
    used.effect.what.strip_prefix("reply to ").filter(|_| used.effect.kind == EffectKind::Comment)
}

fn describe_group(group: &[&RecordedEffect], digest: &Digest, claims: &SummaryClaims) -> String {
    let first = group[0];
    let place = inline_for_model(&first.effect.place, 80);
    let more = match group.len().saturating_sub(MAX_EFFECTS_PER_LINE) {
        0 => String::new(),
        more => format!(", +{more} more"),
    };
    let list = |tell: &dyn Fn(&RecordedEffect) -> String| {
        let told: Vec<String> = group.iter().take(MAX_EFFECTS_PER_LINE).map(|used| tell(used)).collect();
        format!("{}{more}", told.join(", "))
    };
    let at = |word: &str| if place.is_empty() { String::new() } else { format!(" {word} {place}") };
    let n = group.len();
    if group.iter().all(|used| answered_comment(used).is_some()) {
        let tell = |used: &RecordedEffect| {
            let comment = inline_for_model(answered_comment(used).unwrap_or_default(), 40);
            format!("{comment} (reply {})", inline_for_model(&used.effect.id, 40))
        };
        // The list is complete only if it contains every comment that the session wrote at this place.
        let is_here = |used: &&RecordedEffect| {
            used.effect.kind == EffectKind::Comment && used.effect.place == first.effect.place
        };
        let is_complete = n <= MAX_EFFECTS_PER_LINE && digest.effects.iter().filter(is_here).count() == n;
        if let [only] = group {
            let (comment, reply) = (answered_comment(only).unwrap_or_default(), &only.effect.id);
            let (comment, reply) = (inline_for_model(comment, 40), inline_for_model(reply, 40));
            return format!(
                "answered comment {comment}{} with reply {reply}; the summary gives no id",
                at("on")
            );
        }
        let only = if is_complete { "; this session answered no other comments there" } else { "" };
        let noun = count_with_noun(n, "comment");
        return format!("answered {noun}{}: {}{only}", at("on"), list(&tell));
    }
    let tell = |used: &RecordedEffect| {
        let about = match used.effect.what.as_str() {
            "" => String::new(),
            _ if is_commit(used) && claims.mentions_effect(&used.effect, false) => String::new(),
            what => format!(" {}", in_quotation_marks(what, MAX_LISTED_EFFECT_CHARS)),
        };
        format!("{}{about}", inline_for_model(&used.effect.id, 40))
    };
    let noun = match first.effect.kind {
        EffectKind::Commit | EffectKind::Amend => "commit",
        EffectKind::Review => "review",
        EffectKind::Issue => "issue",
        EffectKind::Message => "message",
        _ => "comment",
    };
    let pushed = if is_commit(first) { note_that_commits_were_pushed(group, digest) } else { "" };
    match group {
        [only] => format!("{noun} {}{}{pushed}; the summary gives no id", tell(only), at("on")),
        _ => {
            let noun = count_with_noun(n, noun);
            format!("{noun}{}{pushed}; the summary gives no ids: {}", at("on"), list(&tell))
        }
    }
}

/// Returns a note that all commits of the group were pushed, if the records show this.
fn note_that_commits_were_pushed(group: &[&RecordedEffect], digest: &Digest) -> &'static str {
    let is_pushed = |commit: &&RecordedEffect| {
        let is_later = |used: &RecordedEffect| used.record >= commit.record;
        let is_push = |used: &RecordedEffect| is_later(used) && is_push_of_branch(used, &commit.effect.place);
        digest.is_pushed(commit, digest.effects.iter().any(is_push))
    };
    match group {
        [commit] if is_pushed(commit) => ", pushed",
        group if group.iter().all(is_pushed) => ", all pushed",
        _ => "",
    }
}
