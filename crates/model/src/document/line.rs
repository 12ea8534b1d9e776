//! Lines with their line endings. LF, CR LF and a lone CR all end a line, as in CommonMark and YAML. If a lone CR were
//! ordinary text here, other readers would find headings and keys in a record that thru does not find.

use std::ops::Range;

/// One line: its start, the end of its text, and its line ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineBounds {
    /// The number of the line, counted from 1 at the start of the file.
    pub number: usize,
    pub start: usize,
    /// The end of the text, before the line ending.
    pub text_end: usize,
    /// The start of the next line. It equals `text_end` for a last line without a line ending.
    pub end: usize,
}

impl LineBounds {
    pub fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        slice_or_empty(bytes, self.start..self.text_end)
    }

    /// Returns the range of the line including its line ending.
    pub fn range_with_end(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the line ending, or `None` for a last line without one.
    pub(super) fn ending(&self, bytes: &[u8]) -> Option<&'static str> {
        match slice_or_empty(bytes, self.text_end..self.end) {
            b"\r\n" => Some("\r\n"),
            b"\r" => Some("\r"),
            b"\n" => Some("\n"),
            _ => None,
        }
    }
}

/// Iterates over the lines of `bytes` from the offset `at`, which must be the start of a line. `number` is the number
/// of that line.
pub(super) fn lines_from_offset(bytes: &[u8], at: usize, number: usize) -> impl Iterator<Item = LineBounds> {
    let mut next = LineBounds { number, start: at, text_end: at, end: at };
    std::iter::from_fn(move || {
        let rest = bytes.get(next.start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let ending = match slice_or_empty(rest, length..rest.len()) {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        next.text_end = next.start + length;
        next.end = next.text_end + ending;
        let line = next;
        next = LineBounds { number: line.number + 1, start: line.end, text_end: line.end, end: line.end };
        Some(line)
    })
}

/// Returns the bytes of a range, or an empty slice if the range is out of bounds, because no function in this module
/// may panic.
pub(super) fn slice_or_empty(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes.get(range).unwrap_or_default()
}

pub(super) fn is_space_or_tab(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

pub(super) fn is_all_blank(text: &[u8]) -> bool {
    text.iter().copied().all(is_space_or_tab)
}

pub(super) fn count_leading_bytes(text: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| wanted(**byte)).count()
}

/// Returns the range of `text` without surrounding blanks, relative to `text`.
pub(super) fn trimmed_range(text: &[u8]) -> Range<usize> {
    let end = text.iter().rposition(|byte| !is_space_or_tab(*byte)).map_or(0, |last| last + 1);
    count_leading_bytes(slice_or_empty(text, 0..end), is_space_or_tab)..end
}

/// Returns the range in `text` from the first to the last line that is not blank, without the line break at the end.
pub(super) fn range_without_blank_lines(text: &[u8]) -> Range<usize> {
    let edge = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let Some(first) = text.iter().position(edge) else { return 0..0 };
    let start = slice_or_empty(text, 0..first)
        .iter()
        .rposition(|byte| matches!(byte, b'\r' | b'\n'))
        .map_or(0, |at| at + 1);
    let last = text.iter().rposition(edge).map_or(first, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', slice_or_empty(text, last..text.len()))
        .map_or(text.len(), |length| last + length);
    start..end
}
