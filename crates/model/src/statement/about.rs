//! Picks the part of the agent's words that a question or a request is about.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{ends_in_number, first_sentences};

/// Words with fewer characters than this are in every text, so they are not compared.
const SHORTEST_WORD: usize = 4;

/// Returns the sentences and items that share most words with `topic`, as many as fit into `max` characters, in their
/// order. If none shares a word, returns the first sentences.
pub fn sentences_about<'t>(text: &'t str, max: usize, topic: &str) -> Cow<'t, str> {
    if text.chars().count() <= max {
        return Cow::Borrowed(text);
    }
    let topic = words(topic);
    let pieces = pieces(text);
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let shared = words(piece).intersection(&topic).count();
        order.push((shared, i));
    }
    let best = order.iter().map(|(shared, _)| *shared).max().unwrap_or(0);
    // The first sentences are about the topic as much as any other.
    if best == 0 || order.first().is_some_and(|(shared, _)| *shared == best) {
        return first_sentences(text, max);
    }
    order.sort_by_key(|(shared, i)| (std::cmp::Reverse(*shared), *i));
    let mut room = max;
    let mut kept: Vec<usize> = Vec::new();
    for (_, i) in order.into_iter().filter(|(shared, _)| *shared > 0) {
        let cost = pieces[i].chars().count() + 3;
        if cost <= room {
            room -= cost;
            kept.push(i);
        }
    }
    if kept.is_empty() {
        return first_sentences(text, max);
    }
    kept.sort_unstable();
    let mut out = String::new();
    let mut next = 0;
    for i in kept {
        out.push_str(if i > next { "… " } else { "" });
        out.push_str(pieces[i]);
        out.push(' ');
        next = i + 1;
    }
    out.push_str(if next < pieces.len() { "…" } else { "" });
    Cow::Owned(out.trim_end().to_owned())
}

/// Splits a text into sentences and list items, each with its mark at the end.
fn pieces(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let ends = text.match_indices(['.', ';', '!', '?']).map(|(at, mark)| at + mark.len());
    for end in ends.filter(|end| text[*end..].starts_with(' ')).chain([text.len()]) {
        let piece = text[start..end].trim();
        if !piece.is_empty() && !ends_in_number(&text[start..end]) {
            found.push(piece);
            start = end;
        }
    }
    found
}

/// Returns the words without their endings, so that "checkpoints" is about a "checkpoint".
fn words(text: &str) -> BTreeSet<String> {
    const COMMON_WORDS: [&str; 16] = [
        "that", "this", "with", "from", "have", "what", "when", "which", "should", "would", "could", "there",
        "them", "then", "into", "just",
    ];
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words =
        words.filter(|word| word.chars().count() >= SHORTEST_WORD && !COMMON_WORDS.contains(&word.as_str()));
    words.map(|word| word.trim_end_matches('s').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_question_is_about_is_kept() {
        let text = "View mode: sessions come first; Press `t` to toggle. Removed the lanes. Fixed diff stats for uncommitted \
                    checkpoints: they counted everything. Kept: the colors.";
        let told = sentences_about(text, 100, "couldn't we diff against the commit of the checkpoint?");
        assert_eq!(told, "… Fixed diff stats for uncommitted checkpoints: they counted everything. …");
        assert_eq!(sentences_about(text, 60, "what about lunch?"), first_sentences(text, 60));
        assert_eq!(sentences_about(text, 60, "the view mode is wrong"), first_sentences(text, 60));
        assert_eq!(sentences_about(text, 1_000, "diff"), text);
        let numbered = "All of it: 1. The reader. 2. The writer keeps comments now. 3. The rest.";
        assert_eq!(
            sentences_about(numbered, 50, "does the writer?"),
            "… 2. The writer keeps comments now. …"
        );
    }
}
