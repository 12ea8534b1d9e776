//! What became of the branches and tags that a session created or deleted.

use crate::digest::RecordedEffect;
use crate::effect::{DescriptionDetail, Effect, EffectKind, describe_effect};
use crate::render::inline_for_model;

/// The beginning of the description of a deleted branch or tag.
const DELETED_PREFIX: &str = "deleted ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefFate {
    /// The branch or tag exists, or the effect is not about a branch or a tag.
    Kept,
    Deleted,
    /// The session created it, and this effect is its deletion.
    CreatedAndDeleted,
    /// A later effect undid this one, so this one is not listed.
    Undone,
}

/// Returns what became of the branch or tag in the effect at `place`. A branch that was created and deleted again is
/// listed only once.
pub(super) fn fate_of_ref(effects: &[RecordedEffect], place: usize) -> RefFate {
    let used = &effects[place];
    let Effect { kind, what, folder, .. } = &used.effect;
    if !matches!(kind, EffectKind::Branch | EffectKind::Tag) {
        return RefFate::Kept;
    }
    let is_alike = |other: &&RecordedEffect| {
        let is_same_repository = used.is_in_other_repository == other.is_in_other_repository
            && (!used.is_in_other_repository || *folder == other.effect.folder);
        *kind == other.effect.kind && is_same_repository
    };
    let mut earlier = effects[..place].iter().filter(is_alike);
    let mut later = effects[place + 1..].iter().filter(is_alike);
    let Some(names) = what.strip_prefix(DELETED_PREFIX) else {
        let deletes = |other: &RecordedEffect| {
            let names = other.effect.what.strip_prefix(DELETED_PREFIX);
            names.is_some_and(|names| names.split(' ').any(|name| name == what))
        };
        return if later.any(deletes) { RefFate::Undone } else { RefFate::Kept };
    };
    let creates = |other: &RecordedEffect| names == other.effect.what;
    match (later.any(creates), earlier.any(creates)) {
        (true, _) => RefFate::Undone,
        (false, true) => RefFate::CreatedAndDeleted,
        (false, false) => RefFate::Deleted,
    }
}

/// Describes deleted branches or tags, such as `branch topic created and since deleted, was 1a2b3c4`.
pub(super) fn describe_deleted_refs(members: &[&RecordedEffect], fate: RefFate) -> String {
    let done = if fate == RefFate::CreatedAndDeleted { "created and since deleted" } else { "deleted" };
    let name_and_commit = |used: &RecordedEffect| {
        let Effect { what, id, .. } = &used.effect;
        let name = inline_for_model(what.strip_prefix(DELETED_PREFIX).unwrap_or(what), 100);
        let was = if id.is_empty() { String::new() } else { format!("was {}", inline_for_model(id, 40)) };
        (name, was)
    };
    let is_tag = members[0].effect.kind == EffectKind::Tag;
    if let [used] = members {
        if fate == RefFate::Deleted {
            return describe_effect(&used.effect, DescriptionDetail::Short);
        }
        let (name, was) = name_and_commit(used);
        let was = if was.is_empty() { was } else { format!(", {was}") };
        return format!("{} {name} {done}{was}", if is_tag { "tag" } else { "branch" });
    }
    let list: Vec<String> = members
        .iter()
        .map(|used| match name_and_commit(used) {
            (name, was) if was.is_empty() => name,
            (name, was) => format!("{name} ({was})"),
        })
        .collect();
    format!("{} {} {done}: {}", list.len(), if is_tag { "tags" } else { "branches" }, list.join(", "))
}
