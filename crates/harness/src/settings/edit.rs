//! Text edits. Every change to a file is a list of edits. Bytes outside the edited ranges do not change.

use std::ops::Range;

/// Replaces the bytes in `range` with `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    pub range: Range<usize>,
    pub text: String,
}

impl TextEdit {
    pub fn insertion(at: usize, text: impl Into<String>) -> Self {
        TextEdit { range: at..at, text: text.into() }
    }

    pub fn deletion(range: Range<usize>) -> Self {
        TextEdit { range, text: String::new() }
    }

    pub fn replacement(range: Range<usize>, text: impl Into<String>) -> Self {
        TextEdit { range, text: text.into() }
    }
}

/// Applies the edits, which must not overlap. Edits at the same position keep their order.
pub fn apply_edits(text: &str, mut edits: Vec<TextEdit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut result =
        String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut at = 0;
    for TextEdit { range, text: new } in edits {
        result.push_str(&text[at..range.start]);
        result.push_str(&new);
        at = range.end;
    }
    result.push_str(&text[at..]);
    result
}
