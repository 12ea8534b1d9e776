//! Compares text by content. Quotation marks, markup, white space and letter case are ignored, and shortened quotations
//! are recognised.

use std::collections::BTreeSet;

/// Normalised text that can be searched for other text.
#[derive(Debug)]
pub struct SearchableText {
    /// The text in lower case with single spaces, without quotation marks, brackets or markup.
    text: String,
    words: BTreeSet<String>,
}

/// The minimum percentage of meaningful words that must match for [`SearchableText::contains_text`].
const MIN_PERCENT_OF_MATCHING_WORDS: usize = 80;

/// [`SearchableText::percent_of_words_shared_with`] returns 0 for text with fewer meaningful words than this, because other text might
/// contain them by chance.
const MIN_COMPARED_WORDS: usize = 8;

/// A quotation is recognised by this many words from the start of the quoted text.
const QUOTED_WORDS: usize = 8;

impl SearchableText {
    pub fn from_text(text: &str) -> SearchableText {
        let text = normalise_text(text);
        let words = meaningful_words(&text).map(str::to_owned).collect();
        SearchableText { text, words }
    }

    /// Returns whether this text contains all of `text`, its first `QUOTED_WORDS` words, or most of its meaningful
    /// words.
    pub fn contains_text(&self, text: &str) -> bool {
        let wanted = normalise_text(text);
        if wanted.is_empty() || self.has_phrase(&wanted) {
            return true;
        }
        let beginning: Vec<&str> = wanted.split(' ').take(QUOTED_WORDS).collect();
        if beginning.len() == QUOTED_WORDS
            && self.has_phrase(beginning.join(" ").trim_end_matches(['.', ',', ':', ';']))
        {
            return true;
        }
        let words: BTreeSet<&str> = meaningful_words(&wanted).collect();
        let held = words.iter().filter(|word| self.words.contains(**word)).count();
        words.len() >= 4 && held * 100 >= words.len() * MIN_PERCENT_OF_MATCHING_WORDS
    }

    /// Returns the percentage of the meaningful words in `text` that also occur in `self`. Returns 0 if `text`
    /// has too few meaningful words.
    pub fn percent_of_words_shared_with(&self, text: &str) -> usize {
        let wanted = normalise_text(text);
        let words: BTreeSet<&str> = meaningful_words(&wanted).collect();
        let held = words.iter().filter(|word| self.words.contains(**word)).count();
        if words.len() < MIN_COMPARED_WORDS { 0 } else { held * 100 / words.len() }
    }

    /// Like [`SearchableText::percent_of_words_shared_with`], but for short text too. Returns 0 if `text` has no meaningful
    /// words.
    pub fn percent_of_words_found(&self, text: &str) -> usize {
        let wanted = normalise_text(text);
        let words: BTreeSet<&str> = meaningful_words(&wanted).collect();
        let held = words.iter().filter(|word| self.words.contains(**word)).count();
        (held * 100).checked_div(words.len()).unwrap_or(0)
    }

    /// Adds the words of `text` to those that are compared by [`SearchableText::percent_of_words_shared_with`].
    pub fn add_words(&mut self, text: &str) {
        self.words.extend(meaningful_words(&normalise_text(text)).map(str::to_owned));
    }

    /// Returns whether this text contains `wanted` as whole words. For example, `a.rs` does not match in `data.rs`.
    /// `wanted` must be in lower case.
    pub fn has_phrase(&self, wanted: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        self.text.match_indices(wanted).any(|(at, _)| {
            let before = self.text[..at].chars().next_back();
            let after = self.text[at + wanted.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    }
}

/// Returns the text in lower case, without quotation marks and markup, with white space collapsed.
pub(crate) fn normalise_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '`' | '*' | '“' | '”' | '‘' | '’' | '…' | '(' | ')' | '[' | ']' | '#' => {}
            c if c.is_whitespace() => {
                if !out.ends_with(' ') && !out.is_empty() {
                    out.push(' ');
                }
            }
            c => out.extend(c.to_lowercase()),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns the meaningful words: those longer than three bytes.
pub(crate) fn meaningful_words(plain: &str) -> impl Iterator<Item = &str> {
    let words = plain.split([' ', '/', ':', ',', ';']);
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).filter(|word| word.len() > 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_other_spelling_and_markup() {
        let summary = SearchableText::from_text(
            "The user said: \"please don't amend commits - it messes with the workflows\". Edited `src/data.rs` and ran\n\
             **make check**. Then: \"Also rename the folder to cache and move...\". The reader loses comments in nested arrays.",
        );
        let cases = [
            ("Please don’t amend  commits - it messes with the workflows", true),
            ("make check", true),
            ("data.rs", true),
            ("a.rs", false),
            ("Comments are lost by the reader in nested arrays", true),
            ("Comments are lost by the writer of the other format", false),
            ("Also rename the folder to cache and move all of its readers there", true),
            ("Also rename the file to cache and delete all of its readers there", false),
            ("", true),
        ];
        for (text, expected) in cases {
            assert_eq!(summary.contains_text(text), expected, "{text:?}");
        }
    }
}
