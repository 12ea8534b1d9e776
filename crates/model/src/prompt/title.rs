//! The title of a long request.

use std::borrow::Cow;

use super::{begins_with_prohibition, instruction_sentences, split_clauses};
use crate::render::one_line;
use crate::text::cut_at_clause;

/// Returns only the title if the message is a plan or a long paste. Other messages are returned unchanged.
pub fn title_if_long(text: &str) -> String {
    const MIN_LONG_MESSAGE_LINES: usize = 6;
    match text.lines().filter(|line| !line.trim().is_empty()).count() >= MIN_LONG_MESSAGE_LINES {
        true => title_of_message(text),
        false => text.to_owned(),
    }
}

/// Returns the first line of the text, together with the second line if the first line is only an introduction.
pub fn title_of_message(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_start_matches('#').trim());
    // "You are an experienced developer." does not say what to do, but the rest of the line may.
    let is_text = |line: &&str| line.chars().any(char::is_alphanumeric);
    let mut lines = lines.map(without_role_sentence).filter(is_text).peekable();
    if lines.peek().is_none() {
        return text.trim().lines().next().unwrap_or_default().to_owned();
    }
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(second) if first.ends_with(':') => format!("{first} {second}"),
        Some(_) => format!("{first} …"),
        None => first.to_owned(),
    }
}

/// Shortens a request but keeps its prohibitions, as in "Fix the parser … Do not add any dependency." `most` is
/// the approximate maximum length in characters.
pub fn shorten_request(text: &str, most: usize) -> String {
    const MAX_PROHIBITIONS_BYTES_IN_TITLE: usize = 160;
    let is_lost = |wish: &&str| {
        let end = text.find(wish).map_or(0, |start| start + wish.len());
        begins_with_prohibition(wish) && text[..end].chars().count() > most
    };
    // A prohibition can also be the second half of a sentence, as in "write tests first, and don't push".
    let clauses = |wish| if begins_with_prohibition(wish) { vec![wish] } else { split_clauses(wish) };
    let lost: Vec<&str> = instruction_sentences(text).into_iter().flat_map(clauses).filter(is_lost).collect();
    let kept = lost.join(" … ");
    let before = lost.first().and_then(|wish| text.find(wish)).map_or(text, |start| text[..start].trim_end());
    if before.is_empty() || kept.is_empty() || kept.len() > MAX_PROHIBITIONS_BYTES_IN_TITLE {
        return one_line(&cut_before_instruction(text, most), most);
    }
    let before = one_line(before, most);
    let gap = if before.ends_with(['…', '.', ',', ';', ':']) { "" } else { " …" };
    format!("{before}{gap} {kept}")
}

/// Shortens a text if a cut after `most` characters would split an instruction. The text is then cut before that
/// instruction. If the text begins with that instruction, it is cut between two clauses. Any other text is returned
/// unchanged.
pub fn cut_before_instruction(text: &str, most: usize) -> Cow<'_, str> {
    let cut = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let bounds = instruction_sentences(text).into_iter().filter_map(|wish| {
        let start = text.find(wish)?;
        Some((start, start + wish.len()))
    });
    let cut_in_two = bounds.into_iter().find(|(start, end)| *start < cut && cut < *end);
    match cut_in_two.map(|(start, _)| text[..start].trim_end()) {
        None => Cow::Borrowed(text),
        Some("") => cut_at_clause(text, most).map_or(Cow::Borrowed(text), Cow::Owned),
        Some(before) => Cow::Owned(format!("{before} …")),
    }
}

/// Returns a line without its first sentence if that sentence only says who the agent is.
fn without_role_sentence(line: &str) -> &str {
    match line.starts_with("You are ") {
        true => line.split_once(". ").map_or("", |(_, rest)| rest.trim()),
        false => line,
    }
}
