//! Earlier requests that still matter: those that the agent has not answered yet, and the request that opened the
//! session. At the start of a new session, the brief also lists the requests that were answered, if there is room.

use crate::brief::candidate::FactClass;
use crate::brief::gather::GatheredCandidates;
use crate::digest::{Digest, Prompt};
use crate::prompt::{self, PromptKind};
use crate::render::quote_part;
use crate::statement;
use crate::text::split_into_sentences;

const MAX_EARLIER_REQUESTS_LISTED: usize = 4;

/// The request that opened the session is listed only if at most this many requests followed it.
const MAX_REQUESTS_AFTER_OPENING: usize = 3;

/// The maximum number of answered requests that are listed.
const MAX_ANSWERED_REQUESTS: usize = 6;

/// This many of the newest prompts are listed even if they are only questions.
const RECENT_REQUESTS: usize = 4;

/// An answered request with more characters is shortened.
const MAX_ANSWERED_REQUEST_CHARS: usize = 160;

/// If the first sentences have fewer characters, they do not say enough, so the next one is quoted in part.
const MIN_BEGINNING_CHARS: usize = 62;

/// A request of at most this many characters is quoted in full. Only the first sentence of a longer request is quoted.
const MAX_REQUEST_CHARS_QUOTED_IN_FULL: usize = 160;

/// If an approval has more words than this, it also says what is approved. An example is "yes, write up the
/// design".
const MAX_BARE_APPROVAL_WORDS: usize = 4;

pub fn add_earlier_requests(digest: &Digest, told: &[&Prompt], all: &mut GatheredCandidates) {
    // A resumed session can contain a prompt twice, so keep track of the prompts that were added.
    let mut known: Vec<&str> = told.iter().map(|prompt| prompt.text.as_str()).collect();
    for prompt in digest.prompts.iter().rev().filter(|prompt| digest.is_unanswered(prompt)) {
        let text = prompt.text.as_str();
        let id = format!("prompt:{}", prompt.record);
        // The prompt may already be part of the goal or listed among the user's words.
        if is_empty_request(prompt) || all.has_fact(&id) || known.contains(&text) {
            continue;
        }
        if known.len() == told.len() + MAX_EARLIER_REQUESTS_LISTED {
            break;
        }
        known.push(text);
        let words = words_of_request(text);
        let form =
            format!("not answered yet: {}", quote_part(words, text, MAX_REQUEST_CHARS_QUOTED_IN_FULL + 2));
        all.add_fact(FactClass::Earlier, id, vec![form]).strings_stating_fact = vec![text.to_owned()];
    }
    add_opening_request(digest, all);
    add_answered_requests(digest, &known, all);
}

/// Returns whether a prompt contains no request of its own. Examples are "yes" and "go on".
fn is_empty_request(prompt: &Prompt) -> bool {
    let is_yes = prompt.prompt_kind() == PromptKind::Approval
        && prompt.text.split_whitespace().count() <= MAX_BARE_APPROVAL_WORDS;
    is_yes || prompt::only_says_continue(&prompt.text) || prompt::is_uninformative_once_answered(&prompt.text)
}

/// Adds the beginnings of the newest requests that were answered. Of the older ones, only those that opened a piece
/// of work are added, because questions, pasted output and orders to commit say nothing about what the session did.
fn add_answered_requests(digest: &Digest, known: &[&str], all: &mut GatheredCandidates) {
    let mut known: Vec<String> = known.iter().map(|text| beginning(text)).collect();
    let opens_work = |prompt: &Prompt| {
        prompt::may_state_session_goal(&prompt.text) && prompt::words_above_paste(&prompt.text).is_some()
    };
    let first_recent = digest.prompts.len().saturating_sub(RECENT_REQUESTS);
    let most = known.len() + MAX_ANSWERED_REQUESTS;
    for (i, prompt) in digest.prompts.iter().enumerate().rev() {
        if known.len() == most {
            break;
        }
        if i < first_recent && !opens_work(prompt) {
            continue;
        }
        let id = format!("prompt:{}", prompt.record);
        let words = beginning(&prompt.text);
        let is_told = all.has_fact(&id) || digest.is_in_goal(prompt) || known.contains(&words);
        if is_told || is_empty_request(prompt) {
            continue;
        }
        let form = quote_part(&words, &prompt.text, MAX_ANSWERED_REQUEST_CHARS + 4);
        all.add_fact(FactClass::Answered, id, vec![form]).strings_stating_fact = vec![prompt.text.clone()];
        known.push(words);
    }
}

/// Returns a short request in full, and the first sentences of a longer one. If not even one sentence fits, or if those
/// that fit are too short to say enough, cuts the request between two words instead.
fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = statement::first_sentences(&line, MAX_ANSWERED_REQUEST_CHARS);
    if told.len() == line.len() || told.chars().count() >= MIN_BEGINNING_CHARS {
        return told.into_owned();
    }
    let end = line.char_indices().nth(MAX_ANSWERED_REQUEST_CHARS).map_or(line.len(), |(at, _)| at);
    let end = line[..end].rfind(' ').unwrap_or(end);
    format!("{}…", line[..end].trim_end_matches([',', ';', ':']))
}

/// Adds the request that opened the session, if the newest prompt is unclear without context. If many requests followed
/// it, the work has moved on.
fn add_opening_request(digest: &Digest, all: &mut GatheredCandidates) {
    let Some(first) = digest.opening_request().filter(|first| !digest.is_in_goal(first)) else { return };
    let id = format!("prompt:{}", first.record);
    let later =
        digest.prompts.iter().filter(|prompt| prompt.record > first.record && !is_empty_request(prompt));
    // If the opening request has been answered, the message before the newest prompt explains that prompt better
    // than the opening request does.
    let is_explained = digest.message_explaining_newest_prompt().is_some() && !digest.is_unanswered(first);
    if digest.is_newest_prompt_clear_alone()
        || is_explained
        || all.has_fact(&id)
        || later.count() > MAX_REQUESTS_AFTER_OPENING
    {
        return;
    }
    let form = |most: usize| {
        let title = prompt::shorten_request(&prompt::title_of_message(&first.text), most);
        let label = digest.label_of_opening_request().to_lowercase();
        format!("{label} {}", quote_part(&title, &first.text, title.len().max(most)))
    };
    let mut forms = vec![form(90), form(180)];
    forms.dedup();
    all.add_fact(FactClass::Earlier, id, forms).strings_stating_fact = vec![first.text.clone()];
}

/// Returns a short request in full, and only the first sentence of a longer one.
fn words_of_request(text: &str) -> &str {
    match text.chars().count() <= MAX_REQUEST_CHARS_QUOTED_IN_FULL {
        true => text,
        false => split_into_sentences(text).next().unwrap_or(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answered_request_is_told_in_whole_sentences() {
        let long =
            "and then write all of the comments that the reader kept into a file of their own ".repeat(2);
        for (text, expected) in [
            ("keep the\ncomments", "keep the comments".to_owned()),
            (
                &format!("Can the reader of this old format keep the comments where they are? {long}"),
                "Can the reader of this old format keep the comments where they are? …".to_owned(),
            ),
            (
                &format!("Low Severity\n\n{long}"),
                format!(
                    "Low Severity {}…",
                    long.split(" file of").take(2).collect::<Vec<_>>().join(" file of")
                ),
            ),
        ] {
            assert_eq!(beginning(text), expected, "{text}");
        }
    }
}
