//! List items: steps, bullets, checkboxes. One line each; text indented below an item is ignored unless it is an item
//! itself.

use std::ops::Range;

use super::line::{is_blank, lines, run, slice, trimmed};
use super::outline::{Kind, Scanner, columns, is_rule, marker};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The position of the line without its end.
    pub span: Range<usize>,
    /// Columns before the marker. An item with more columns than the one above is nested in it.
    pub indent: usize,
    /// The number of `3.` or `3)`; `None` for a bullet.
    pub number: Option<u32>,
    /// Whether the box is ticked, `[ ]` or `[x]`; `None` without a box.
    pub checked: Option<bool>,
    /// The text after marker and box.
    pub text: String,
    /// The position of the byte between the brackets.
    pub(super) mark: usize,
}

/// Returns the list items within `range`, but not those in fences, comments and indented code. `number` is the number
/// of the first line of `range`.
pub(super) fn items(bytes: &[u8], range: Range<usize>, number: usize) -> Vec<Item> {
    let mut scanner = Scanner::default();
    let mut found = Vec::new();
    for line in lines(slice(bytes, 0..range.end), range.start, number) {
        let text = line.text(bytes);
        if scanner.feed(text, line.number) == Kind::Text && (columns(text) < 4 || scanner.in_list()) {
            found.extend(item(text, line.start, line.number));
        }
    }
    found
}

fn item(text: &[u8], start: usize, line: usize) -> Option<Item> {
    let indent = run(text, is_blank);
    let rest = slice(text, indent..text.len());
    let (number, marker) = marker(rest).filter(|_| !is_rule(rest))?;
    let behind = slice(rest, marker..rest.len());
    if behind.first().is_some_and(|byte| !is_blank(*byte)) {
        return None;
    }
    let body = trimmed(behind);
    let label = slice(behind, body.clone());
    let checked = match label {
        [b'[', mark @ (b' ' | b'x' | b'X'), b']', rest @ ..]
            if rest.first().copied().is_none_or(is_blank) =>
        {
            Some(*mark != b' ')
        }
        _ => None,
    };
    let label = if checked.is_some() { slice(label, 3..label.len()) } else { label };
    Some(Item {
        line,
        span: start..start + text.len(),
        indent: columns(text),
        number,
        checked,
        text: String::from_utf8_lossy(slice(label, trimmed(label))).into_owned(),
        mark: start + indent + marker + body.start + 1,
    })
}
