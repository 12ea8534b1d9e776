//! Describes effects in words, for briefs, packets and lists.

use super::{Effect, EffectKind};
use crate::render::{in_quotation_marks, inline_for_model};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionDetail {
    /// The action, the place and the id.
    Short,
    /// Like `Short`, but with the link and more of the text.
    Long,
}

/// Describes an effect in one line. The text is escaped, so nothing in it is read as markup.
pub fn describe_effect(effect: &Effect, detail: DescriptionDetail) -> String {
    let Effect { kind, what, place, id, link, .. } = effect;
    let is_long = detail == DescriptionDetail::Long;
    let most = if is_long { 160 } else { 70 };
    let quote =
        || if what.is_empty() { String::new() } else { format!(" {}", in_quotation_marks(what, most)) };
    let plain = || if what.is_empty() { String::new() } else { format!(" {}", inline_for_model(what, most)) };
    let at = |word: &str| {
        if place.is_empty() { String::new() } else { format!(" {word} {}", inline_for_model(place, 80)) }
    };
    let known = |word: &str| {
        if id.is_empty() { String::new() } else { format!("{word}{}", inline_for_model(id, 110)) }
    };
    let mut line = match kind {
        EffectKind::Commit => format!("commit{}{}{}", known(" "), at("on"), quote()),
        EffectKind::Amend => format!("commit amended, now{}{}{}", known(" "), at("on"), quote()),
        EffectKind::Push => format!("pushed{}{}{}", plain(), at("to"), known(", ")),
        EffectKind::UpToDate => format!("pushed already:{}{}", plain(), at("to")),
        EffectKind::Branch => {
            let is_new = !["deleted ", "renamed ", "POST ", "DELETE ", "PATCH "]
                .iter()
                .any(|word| what.starts_with(word));
            format!("branch{}{}{}", plain(), if is_new { " created" } else { "" }, known(", was "))
        }
        EffectKind::Tag => format!("tag{}", plain()),
        EffectKind::Merge => format!("merged{}{}{}", plain(), at("on"), known(", now ")),
        EffectKind::PullRequest => {
            format!("pull request{}{}{}", known(" #"), at("in"), describe_action(what, most))
        }
        EffectKind::Comment => format!("comment{}{}{}", known(" "), at("on"), describe_action(what, most)),
        EffectKind::Review => format!("review{}{}{}", known(" "), at("on"), describe_action(what, most)),
        EffectKind::Issue => format!(
            "issue{}{}{}",
            known(if id.bytes().all(|b| b.is_ascii_digit()) { " #" } else { " " }),
            at("in"),
            describe_action(what, most)
        ),
        EffectKind::Release => format!("release{}{}{}", known(" "), at("in"), describe_action(what, most)),
        EffectKind::Message => format!("message{}{}{}", describe_action(what, most), at("by"), known(" ")),
        EffectKind::Deployment
        | EffectKind::Migration
        | EffectKind::Package
        | EffectKind::Request
        | EffectKind::Other => {
            let word = match kind {
                EffectKind::Deployment => "deployment:",
                EffectKind::Migration => "migration:",
                EffectKind::Package => "published:",
                _ => "request:",
            };
            format!("{word}{}{}{}", plain(), at("in"), known(" → "))
        }
        EffectKind::Switch => format!("checked out{}{}", plain(), known(" ")),
        EffectKind::Pull => format!("pulled{}{}", plain(), known(", now ")),
        EffectKind::Rebase => format!(
            "rebased{}{}",
            at(""),
            if what.is_empty() { String::new() } else { format!(" on {}", inline_for_model(what, most)) }
        ),
        EffectKind::Reset => format!("git reset{}{}", plain(), known(", now ")),
        EffectKind::Discard => format!("changes thrown away: {}", shorten_file_names(what, most)),
        EffectKind::Stash if place.is_empty() => format!("stashed{}", quote()),
        EffectKind::Stash => format!("stashed {}{}", shorten_file_names(place, most), quote()),
        EffectKind::Unstash => format!("stash{}", plain()),
        EffectKind::StashDrop => format!("stash{}, thrown away", plain()),
        EffectKind::Worktree => format!("worktree{}", plain()),
        EffectKind::Status => format!("git status: {}", shorten_file_names(what, most)),
    };
    if !link.is_empty() && (is_long || id.is_empty()) {
        line.push(' ');
        line.push_str(&inline_for_model(link, 200));
    }
    line
}

/// Lists space-separated paths. A long path is replaced by its file name, because a path that is cut short could denote
/// another file.
fn shorten_file_names(what: &str, most: usize) -> String {
    const MAX_FILE_NAMES: usize = 4;
    const MAX_PATH_BYTES: usize = 60;
    if !what.contains(['/', '.']) {
        return inline_for_model(what, most);
    }
    let shorten = |path: &str| match path.len() <= MAX_PATH_BYTES {
        true => inline_for_model(path, MAX_PATH_BYTES),
        false => inline_for_model(path.rsplit('/').next().unwrap_or(path), 80),
    };
    let names: Vec<String> = what.split(' ').map(shorten).collect();
    let more = names.len().saturating_sub(MAX_FILE_NAMES);
    let more = if more > 0 { format!(" +{more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(MAX_FILE_NAMES)].join(", "))
}

/// Describes an action such as `created: Title`. The verb is kept unchanged, and the title is quoted.
fn describe_action(what: &str, most: usize) -> String {
    match what.split_once(": ") {
        _ if what.is_empty() => String::new(),
        Some((done, title)) => format!(" {} {}", inline_for_model(done, 40), in_quotation_marks(title, most)),
        None => format!(" {}", inline_for_model(what, most)),
    }
}
