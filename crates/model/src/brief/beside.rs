//! Beside a summary: corrections and additions, nothing else. Compared by content, not by letters.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{Candidate, Class};

/// A summary of fewer characters cannot hold how it stands: the last words and what was done are told beside it too.
const THIN: usize = 1_500;

/// How many of each class are told beside a summary, at most; None for as many as there are.
fn most(class: Class, thin: bool) -> Option<usize> {
    match class {
        Class::First(_) | Class::Last(_) | Class::Problems => None,
        Class::Goal => Some(2),
        Class::Words => Some(3),
        Class::Checks | Class::Commands | Class::Failing => Some(3),
        Class::Traps => Some(2),
        Class::Edited | Class::Read => Some(8),
        Class::State | Class::Done => Some(if thin { 3 } else { 0 }),
        Class::Earlier | Class::Named => Some(0),
    }
}

/// Of the candidates, those that the summary lacks.
pub(super) fn additions(candidates: Vec<Candidate>, summary: &str) -> Vec<Candidate> {
    let thin = summary.len() < THIN;
    let summary = Summary::of(summary);
    let mut told: BTreeMap<Class, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for candidate in candidates {
        let files = matches!(candidate.class, Class::Edited | Class::Read);
        let class = if files { Class::Edited } else { candidate.class };
        let known =
            !candidate.known_by.is_empty() && candidate.known_by.iter().all(|words| summary.holds(words));
        let times = told.entry(class).or_default();
        if known || most(class, thin).is_some_and(|most| *times >= most) {
            continue;
        }
        *times += 1;
        kept.push(candidate);
    }
    kept
}

/// A summary, to be asked whether it holds something.
struct Summary {
    /// Letters, digits and the signs of paths and commands, in small letters.
    text: String,
    words: BTreeSet<String>,
}

/// Of the words of a text, so many in a hundred must be in the summary.
const SHARE: usize = 80;

impl Summary {
    fn of(text: &str) -> Summary {
        let text = plain(text);
        let words = text.split(' ').map(stem).filter(|word| word.len() > 3).map(str::to_owned).collect();
        Summary { text, words }
    }

    /// The same words in a row, or most of the words that carry meaning.
    fn holds(&self, text: &str) -> bool {
        let wanted = plain(text);
        if wanted.is_empty() || self.has_delimited(&wanted) {
            return true;
        }
        let words: BTreeSet<&str> = wanted.split(' ').map(stem).filter(|word| word.len() > 3).collect();
        let held = words.iter().filter(|word| self.words.contains(**word)).count();
        words.len() >= 4 && held * 100 >= words.len() * SHARE
    }

    fn has_delimited(&self, wanted: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        self.text.match_indices(wanted).any(|(at, _)| {
            let before = self.text[..at].chars().next_back();
            let after = self.text[at + wanted.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    }
}

/// In small letters, without quote marks and markup, white space collapsed.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '`' | '*' | '“' | '”' | '‘' | '’' | '…' | '(' | ')' | '[' | ']' => {}
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

fn stem(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}
