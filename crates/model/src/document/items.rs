//! List items: steps, bullets and checkboxes. An item is one line. Text indented below an item is ignored unless it is
//! itself an item.

use std::ops::Range;

use super::line::{count_leading_bytes, is_space_or_tab, lines_from_offset, slice_or_empty, trimmed_range};
use super::outline::{LineKind, OutlineScanner, indentation_width, is_horizontal_rule, parse_list_marker};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The range of the line without its line ending.
    pub span: Range<usize>,
    /// The column of the marker. An item with a larger column than the item above is nested in that item.
    pub indent: usize,
    /// The number in `3.` or `3)`. It is `None` for a bullet.
    pub number: Option<u32>,
    /// Whether the checkbox is ticked (`[x]`) or not (`[ ]`). It is `None` for an item without a checkbox.
    pub checked: Option<bool>,
    /// The text after the list marker and the checkbox.
    pub text: String,
    /// The position of the byte between the brackets of the checkbox.
    pub(super) box_mark_position: usize,
}

/// Returns the list items within `range`, except those in fences, comments and indented code. `number` is the line
/// number at the start of `range`.
pub(super) fn list_items(bytes: &[u8], range: Range<usize>, number: usize) -> Vec<ListItem> {
    let mut scanner = OutlineScanner::default();
    let mut found = Vec::new();
    for line in lines_from_offset(slice_or_empty(bytes, 0..range.end), range.start, number) {
        let text = line.text(bytes);
        if scanner.scan_line(text, line.number) == LineKind::Text
            && (indentation_width(text) < 4 || scanner.is_in_list())
        {
            found.extend(parse_list_item(text, line.start, line.number));
        }
    }
    found
}

fn parse_list_item(text: &[u8], start: usize, line: usize) -> Option<ListItem> {
    let indent = count_leading_bytes(text, is_space_or_tab);
    let rest = slice_or_empty(text, indent..text.len());
    let (number, marker) = parse_list_marker(rest).filter(|_| !is_horizontal_rule(rest))?;
    let behind = slice_or_empty(rest, marker..rest.len());
    if behind.first().is_some_and(|byte| !is_space_or_tab(*byte)) {
        return None;
    }
    let body = trimmed_range(behind);
    let label = slice_or_empty(behind, body.clone());
    let checked = match label {
        [b'[', mark @ (b' ' | b'x' | b'X'), b']', rest @ ..]
            if rest.first().copied().is_none_or(is_space_or_tab) =>
        {
            Some(*mark != b' ')
        }
        _ => None,
    };
    let label = if checked.is_some() { slice_or_empty(label, 3..label.len()) } else { label };
    Some(ListItem {
        line,
        span: start..start + text.len(),
        indent: indentation_width(text),
        number,
        checked,
        text: String::from_utf8_lossy(slice_or_empty(label, trimmed_range(label))).into_owned(),
        box_mark_position: start + indent + marker + body.start + 1,
    })
}
