//! Lines, with their ends. LF, CR LF and a lone CR all end one, as in CommonMark and in YAML: were a lone CR text, other
//! readers would see headings and keys in our records that we do not.

use std::ops::Range;

/// One line: where it is, and where its text stops and its end begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Counted from 1 at the start of the file.
    pub number: usize,
    pub start: usize,
    /// End of the text, before the line end.
    pub stop: usize,
    /// Start of the next line. Equal to `stop` on a last line without a line end.
    pub end: usize,
}

impl Line {
    pub fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        slice(bytes, self.start..self.stop)
    }

    /// The line with its end.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// How this line ends, `None` on a last line that does not.
    pub(super) fn ending(&self, bytes: &[u8]) -> Option<&'static str> {
        match slice(bytes, self.stop..self.end) {
            b"\r\n" => Some("\r\n"),
            b"\r" => Some("\r"),
            b"\n" => Some("\n"),
            _ => None,
        }
    }
}

/// The lines of `bytes` from the offset `at` on, the first of them numbered `number`. `at` is the start of a line.
pub(super) fn lines(bytes: &[u8], at: usize, number: usize) -> impl Iterator<Item = Line> {
    let mut next = Line { number, start: at, stop: at, end: at };
    std::iter::from_fn(move || {
        let rest = bytes.get(next.start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let ending = match slice(rest, length..rest.len()) {
            [b'\r', b'\n', ..] => 2,
            [] => 0,
            _ => 1,
        };
        next.stop = next.start + length;
        next.end = next.stop + ending;
        let line = next;
        next = Line { number: line.number + 1, start: line.end, stop: line.end, end: line.end };
        Some(line)
    })
}

/// A slice that is empty where a range does not fit: nothing in this module may panic, whatever a caller hands in.
pub(super) fn slice(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes.get(range).unwrap_or_default()
}

/// Space and tab: what may surround a value or follow a fence.
pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

pub(super) fn all_blank(text: &[u8]) -> bool {
    text.iter().copied().all(is_blank)
}

/// How many leading bytes of `text` satisfy `wanted`.
pub(super) fn run(text: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| wanted(**byte)).count()
}

/// The range of `text` without the blanks around it, relative to `text`.
pub(super) fn trimmed(text: &[u8]) -> Range<usize> {
    let end = text.iter().rposition(|byte| !is_blank(*byte)).map_or(0, |last| last + 1);
    run(slice(text, 0..end), is_blank)..end
}

/// The range of `text` without the blank lines around it and without the end of its last line, relative to `text`.
pub(super) fn content(text: &[u8]) -> Range<usize> {
    let edge = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let Some(first) = text.iter().position(edge) else { return 0..0 };
    let start =
        slice(text, 0..first).iter().rposition(|byte| matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
    let last = text.iter().rposition(edge).map_or(first, |at| at + 1);
    let end = memchr::memchr2(b'\n', b'\r', slice(text, last..text.len()))
        .map_or(text.len(), |length| last + length);
    start..end
}
