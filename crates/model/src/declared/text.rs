//! Splits a text at its declarations. Every edit is searched, so only lines that may declare something are decoded.

use std::borrow::Cow;

use memchr::memchr;

use super::{MAX_DECLARATION_INDENT_BYTES, MAX_EDIT_BYTES_SEARCHED, declared_name};
use crate::summary::source;
use crate::text::find_byte;

/// Decodes a part of a JSON string.
pub type DecodeJson = fn(&[u8]) -> Cow<'_, str>;

/// The beginning of a source text, either as plain text or encoded as a JSON string.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'t> {
    bytes: &'t [u8],
    /// The function that decodes a part of the JSON string. `None` if the text is plain.
    decode: Option<DecodeJson>,
}

/// A declaration and the text up to the next one. The text before the first declaration has an empty name. The blank
/// lines, comments and attributes at the end are left out, because they belong to the next declaration.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourcePart<'t> {
    pub name: String,
    pub text: &'t [u8],
}

impl<'t> SourceText<'t> {
    pub fn plain(text: &'t str) -> Self {
        SourceText {
            bytes: crate::text::cut_to_bytes(text, MAX_EDIT_BYTES_SEARCHED).as_bytes(),
            decode: None,
        }
    }

    /// Creates a text from a JSON string. `inner` is the text between the quotes, and `decode` decodes any part of it.
    pub fn from_json_string(inner: &'t [u8], decode: DecodeJson) -> Self {
        SourceText { bytes: &inner[..inner.len().min(MAX_EDIT_BYTES_SEARCHED)], decode: Some(decode) }
    }

    pub(super) fn split_at_declarations(self) -> Vec<SourcePart<'t>> {
        let mut parts = Vec::new();
        let (mut name, mut start, mut end, mut at) = (String::new(), 0, 0, 0);
        while at < self.bytes.len() {
            let (length, next) = self.measure_line(at);
            let line = self.trim_end(&self.bytes[at..at + length]);
            let (indentation, bare) = self.split_indentation(line);
            if may_declare(indentation, bare)
                && let Some(declared) = declared_name(&self.decode_line(line))
            {
                parts.push(SourcePart { name, text: &self.bytes[start..end] });
                (name, start) = (declared.to_owned(), at);
            }
            if !bare.is_empty() && !is_comment(bare) {
                end = at + line.len();
            }
            at = next;
        }
        parts.push(SourcePart { name, text: &self.bytes[start..end.max(start)] });
        parts
    }

    /// Returns the length of the line at `start`, without its line break, and the position at which the next line
    /// begins.
    fn measure_line(self, start: usize) -> (usize, usize) {
        let rest = &self.bytes[start..];
        if self.decode.is_none() {
            return find_byte(b'\n', rest).map_or((rest.len(), self.bytes.len()), |at| (at, start + at + 1));
        }
        let mut from = 0;
        while let Some(found) = rest.get(from..).and_then(|rest| find_byte(b'\\', rest)) {
            let escape = from + found;
            from = escape + 2;
            if rest.get(escape + 1) == Some(&b'n') {
                return (escape, start + from);
            }
        }
        (rest.len(), self.bytes.len())
    }

    fn split_indentation(self, mut line: &[u8]) -> (usize, &[u8]) {
        let mut width = 0;
        loop {
            line = match line {
                [b' ' | b'\t', rest @ ..] => rest,
                [b'\\', b't', rest @ ..] if self.decode.is_some() => rest,
                _ => return (width, line),
            };
            width += 1;
        }
    }

    fn trim_end(self, mut line: &[u8]) -> &[u8] {
        loop {
            line = match line {
                [rest @ .., b' ' | b'\t' | b'\r'] => rest,
                [rest @ .., b'\\', b't' | b'r'] if self.decode.is_some() => rest,
                _ => return line,
            };
        }
    }

    fn decode_line(self, line: &[u8]) -> Cow<'_, str> {
        self.decode.map_or_else(|| String::from_utf8_lossy(line), |decode| decode(line))
    }
}

/// A line break in an undecoded JSON string.
const LINE_BREAK: &[u8] = b"\\n";

/// Returns the parts in which two JSON strings differ. Each part consists of whole lines. Its first line is the last
/// line that begins with a letter at the left margin and comes before the difference, because that line may name the
/// declaration that contains the difference.
pub(super) fn differing_parts<'t>(old: &'t [u8], new: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let shorter = old.len().min(new.len());
    let same_start = common_prefix(old, new);
    let same_end = common_suffix(&old[same_start..], &new[same_start..]).min(shorter - same_start);
    let start = line_starts_before(old, same_start)
        .find(|at| *at == 0 || old.get(*at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_'))
        .unwrap_or(0);
    // Both strings end with the same text, so the line ends at the same distance from the end of each string.
    let end = old.len() - same_end;
    let kept = (end..old.len()).find(|at| is_line_break(old, *at)).map_or(0, |at| old.len() - at);
    (&old[start..old.len() - kept], &new[start..new.len() - kept])
}

/// Returns the start positions of lines in descending order. The first result is the last line start at or
/// before `from`.
fn line_starts_before(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let breaks = memchr::memmem::rfind_iter(&text[..from], LINE_BREAK);
    breaks.filter(|at| is_line_break(text, *at)).map(|at| at + LINE_BREAK.len()).chain([0])
}

/// Returns whether a line break is at this position. If an odd number of backslashes precedes `\n`, the text is an
/// escaped backslash followed by the letter n, not a line break.
fn is_line_break(text: &[u8], at: usize) -> bool {
    // Count the backslashes only if `\n` is found here. Counting them at every position would be slow in a long
    // run of backslashes.
    let before = || text[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    text[at..].starts_with(LINE_BREAK) && before().is_multiple_of(2)
}

/// How many bytes are compared at once. Every write is compared, so this must be fast.
const CHUNK_BYTES: usize = 16;

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let (ones, _) = one.as_chunks::<CHUNK_BYTES>();
    let (others, _) = other.as_chunks::<CHUNK_BYTES>();
    let chunks = ones.iter().zip(others).take_while(|(one, other)| one == other).count() * CHUNK_BYTES;
    chunks + one[chunks..].iter().zip(&other[chunks..]).take_while(|(one, other)| one == other).count()
}

fn common_suffix(one: &[u8], other: &[u8]) -> usize {
    let (_, ones) = one.as_rchunks::<CHUNK_BYTES>();
    let (_, others) = other.as_rchunks::<CHUNK_BYTES>();
    let same = ones.iter().rev().zip(others.iter().rev()).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[..one.len() - same * CHUNK_BYTES], &other[..other.len() - same * CHUNK_BYTES]);
    same * CHUNK_BYTES
        + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

/// Returns false for most lines that declare nothing. This test is much cheaper than [`declared_name`].
fn may_declare(indentation: usize, bare: &[u8]) -> bool {
    let is_word = bare.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    if !is_word || indentation > MAX_DECLARATION_INDENT_BYTES {
        return false;
    }
    // A backslash also ends a word, because it may begin an escaped tab (`\t`).
    let is_word_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\\');
    let first_word = || &bare[..bare.iter().position(is_word_end).unwrap_or(bare.len())];
    bare.ends_with(b"{")
        || indentation == 0 && memchr(b'=', bare).is_some()
        || source::may_byte_begin_declaration(bare[0]) && source::is_declaration_word(first_word())
}

/// Returns whether a line is a comment or an attribute.
fn is_comment(bare: &[u8]) -> bool {
    matches!(bare, [b'/', b'/' | b'*', ..] | [b'-', b'-', ..] | [b'#' | b'*' | b'@', ..])
}
