//! Describes an effect in words, for a brief, a packet and a list.

use super::{Effect, Kind};
use crate::render::{inline, quoted};

/// How much a description says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What was done, where, and the id.
    Short,
    /// The same with the link and more of the text.
    Long,
}

/// Describes an effect in one line. The text is rendered, so that nothing in it can be taken for markup.
pub fn describe(effect: &Effect, detail: Detail) -> String {
    let Effect { kind, what, place, id, link, .. } = effect;
    let is_long = detail == Detail::Long;
    let most = if is_long { 160 } else { 70 };
    let quote = || if what.is_empty() { String::new() } else { format!(" {}", quoted(what, most)) };
    let plain = || if what.is_empty() { String::new() } else { format!(" {}", inline(what, most)) };
    let at =
        |word: &str| if place.is_empty() { String::new() } else { format!(" {word} {}", inline(place, 80)) };
    let known = |word: &str| if id.is_empty() { String::new() } else { format!("{word}{}", inline(id, 110)) };
    let mut line = match kind {
        Kind::Commit => format!("commit{}{}{}", known(" "), at("on"), quote()),
        Kind::Amend => format!("commit amended, now{}{}{}", known(" "), at("on"), quote()),
        Kind::Push => format!("pushed{}{}{}", plain(), at("to"), known(", ")),
        Kind::UpToDate => format!("pushed already:{}{}", plain(), at("to")),
        Kind::Branch => {
            let is_new = !["deleted ", "renamed ", "POST ", "DELETE ", "PATCH "]
                .iter()
                .any(|word| what.starts_with(word));
            format!("branch{}{}{}", plain(), if is_new { " created" } else { "" }, known(", was "))
        }
        Kind::Tag => format!("tag{}", plain()),
        Kind::Merge => format!("merged{}{}{}", plain(), at("on"), known(", now ")),
        Kind::PullRequest => format!("pull request{}{}{}", known(" #"), at("in"), verb_and_text(what, most)),
        Kind::Comment => format!("comment{}{}{}", known(" "), at("on"), verb_and_text(what, most)),
        Kind::Review => format!("review{}{}{}", known(" "), at("on"), verb_and_text(what, most)),
        Kind::Issue => format!(
            "issue{}{}{}",
            known(if id.bytes().all(|b| b.is_ascii_digit()) { " #" } else { " " }),
            at("in"),
            verb_and_text(what, most)
        ),
        Kind::Release => format!("release{}{}{}", known(" "), at("in"), verb_and_text(what, most)),
        Kind::Message => format!("message{}{}{}", verb_and_text(what, most), at("by"), known(" ")),
        Kind::Deployment | Kind::Migration | Kind::Package | Kind::Request | Kind::Other => {
            let word = match kind {
                Kind::Deployment => "deployment:",
                Kind::Migration => "migration:",
                Kind::Package => "published:",
                _ => "request:",
            };
            format!("{word}{}{}{}", plain(), at("in"), known(" → "))
        }
        Kind::Switch => format!("checked out{}{}", plain(), known(" ")),
        Kind::Pull => format!("pulled{}{}", plain(), known(", now ")),
        Kind::Rebase => format!(
            "rebased{}{}",
            at(""),
            if what.is_empty() { String::new() } else { format!(" on {}", inline(what, most)) }
        ),
        Kind::Reset => format!("git reset{}{}", plain(), known(", now ")),
        Kind::Discard => format!("changes thrown away: {}", file_names(what, most)),
        Kind::Stash => format!("stashed{}", quote()),
        Kind::Unstash => format!("stash{}", plain()),
        Kind::StashDrop => format!("stash{}, thrown away", plain()),
        Kind::Worktree => format!("worktree{}", plain()),
    };
    if !link.is_empty() && (is_long || id.is_empty()) {
        line.push(' ');
        line.push_str(&inline(link, 200));
    }
    line
}

/// Returns the names of files that are separated by spaces, without their folders. A path that is cut in the middle
/// would name another file.
fn file_names(what: &str, most: usize) -> String {
    const NAMES: usize = 4;
    if !what.contains(['/', '.']) {
        return inline(what, most);
    }
    let names: Vec<&str> = what.split(' ').map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
    let more = names.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" +{more} more") } else { String::new() };
    let shown: Vec<String> = names.iter().take(NAMES).map(|name| inline(name, 80)).collect();
    format!("{}{more}", shown.join(", "))
}

/// Describes a text such as `created: Title`, with the verb as it is and the user's text in quotes.
fn verb_and_text(what: &str, most: usize) -> String {
    match what.split_once(": ") {
        _ if what.is_empty() => String::new(),
        Some((done, title)) => format!(" {} {}", inline(done, 40), quoted(title, most)),
        None => format!(" {}", inline(what, most)),
    }
}
