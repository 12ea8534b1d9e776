//! Edits of a text. Every change to a file is a list of edits, and bytes outside the ranges of these edits cannot
//! change.

use std::ops::Range;

/// Replaces `range` with `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

impl Edit {
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Edit { range: at..at, text: text.into() }
    }

    pub fn cut(range: Range<usize>) -> Self {
        Edit { range, text: String::new() }
    }

    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Edit { range, text: text.into() }
    }
}

/// Applies the edits, which must not overlap. Edits at the same position keep their order.
pub fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut result =
        String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut at = 0;
    for Edit { range, text: new } in edits {
        result.push_str(&text[at..range.start]);
        result.push_str(&new);
        at = range.end;
    }
    result.push_str(&text[at..]);
    result
}
