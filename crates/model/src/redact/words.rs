use super::FoundSecret;
use super::classes::{LETTER, byte_or_newline, is_byte_in_class};
use super::context;

/// How many bytes of a line are read on each side of a noun such as `password`.
pub const MAX_BYTES_READ_AROUND_SECRET_NOUN: usize = 160;

/// A word of a line, without the punctuation around it.
#[derive(Clone, Copy, Default)]
pub struct LineWord {
    pub start: usize,
    pub end: usize,
    /// Whether a colon follows the word.
    pub has_colon: bool,
    /// Whether the word ends a sentence.
    pub ends_sentence: bool,
}

impl LineWord {
    pub fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        &text[self.start..self.end]
    }

    pub fn to_found_secret(self) -> FoundSecret {
        FoundSecret { start: self.start, end: self.end, kind: "password" }
    }

    /// Returns whether the byte after the word shows that the word is part of code. In prose, this byte does not follow
    /// a word.
    pub fn is_part_of_code(&self, text: &[u8]) -> bool {
        matches!(byte_or_newline(text, self.end), b'(' | b'[' | b'{' | b'=' | b'/' | b'\\')
            && !text[self.end..].starts_with(b"\\n")
            && !text[self.end..].starts_with(b"\\\"")
            && !text[self.end..].starts_with(b"\\r")
            || byte_or_newline(text, self.end) == b':'
                && !matches!(byte_or_newline(text, self.end + 1), b' ' | b'\n' | b'\r')
    }
}

/// Iterates over the words of `text[at..end]`, without the punctuation around them. HTML tags are skipped.
pub fn words_between(text: &[u8], at: usize, end: usize) -> impl Iterator<Item = LineWord> + '_ {
    let mut at = at;
    std::iter::from_fn(move || {
        loop {
            while at < end && (text[at] <= b' ' || opening_mark_length(text, at) > 0) {
                at += opening_mark_length(text, at).max(1);
            }
            if at >= end {
                return None;
            }
            if text[at] == b'<' {
                let tag = text[at..end].iter().take(60).position(|byte| *byte == b'>');
                if let Some(tag) = tag.filter(|_| {
                    is_byte_in_class(byte_or_newline(text, at + 1), LETTER)
                        || byte_or_newline(text, at + 1) == b'/'
                }) {
                    at += tag + 1;
                    continue;
                }
            }
            let start = at;
            while at < end
                && text[at] > b' '
                && !matches!(text[at], b'"' | b'`' | b'<')
                && non_ascii_mark_length(&text[at..]) == 0
            {
                at += 1;
            }
            // The bracket may belong to an arrow, as in `x <- the password`.
            if at == start {
                at += 1;
                while at < end && text[at] > b' ' && matches!(text[at], b'-' | b'<') {
                    at += 1;
                }
            }
            return Some(word_without_marks(text, start, at));
        }
    })
}

fn word_without_marks(text: &[u8], start: usize, at: usize) -> LineWord {
    let mut end = at;
    let (mut has_colon, mut ends_sentence) = (false, false);
    while end > start + 1 {
        let mark = text[end - 1];
        // The exclamation mark in `Herbst2024!` belongs to the password.
        let owned =
            mark == b'!' && text[start..end].iter().any(u8::is_ascii_digit) && !matches!(text[end - 2], b'!');
        if owned || !b"'.,;:!?)]}*\\".contains(&mark) {
            break;
        }
        has_colon |= mark == b':';
        ends_sentence |= matches!(mark, b'.' | b'!' | b'?' | b';');
        end -= 1;
    }
    LineWord { start, end, has_colon, ends_sentence }
}

/// Returns the length of the mark at `at` that can come before a word, such as a quote, a bracket or an asterisk.
fn opening_mark_length(text: &[u8], at: usize) -> usize {
    match text[at] {
        b'"' | b'\'' | b'`' | b'(' | b'[' | b'{' | b'*' | b',' | b';' => 1,
        b'\\' if matches!(byte_or_newline(text, at + 1), b'"' | b'\'' | b'`') => 2,
        _ => non_ascii_mark_length(&text[at..]),
    }
}

fn non_ascii_mark_length(text: &[u8]) -> usize {
    // The marks listed below are not ASCII, but almost every byte of the text is ASCII, so this test comes first.
    if text.first().is_none_or(u8::is_ascii) {
        return 0;
    }
    ["«", "»", "“", "”", "„", "‘", "’", "\u{a0}", "\u{202f}", "│", "║", "┃", "：", "。"]
        .iter()
        .find(|mark| text.starts_with(mark.as_bytes()))
        .map_or(0, |mark| mark.len())
}

/// Returns the end of the line that contains `at`. The line ends at a real or escaped line break or, if none is within
/// reach, at the last white space within `MAX_BYTES_READ_AROUND_SECRET_NOUN`.
pub fn end_of_line_within_reach(text: &[u8], at: usize) -> usize {
    let window = &text[at..text.len().min(at + MAX_BYTES_READ_AROUND_SECRET_NOUN)];
    let broken = memchr::memchr2_iter(b'\n', b'\\', window)
        .find(|at| window[*at] == b'\n' || matches!(window.get(at + 1), Some(b'n' | b'r')));
    match broken {
        Some(length) => at + length,
        None if at + window.len() == text.len() => text.len(),
        // The line is cut at white space, so that no word is split.
        None => at + window.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0),
    }
}

/// Returns the start of the line that contains `at`. The line starts after a line break or, if none is within reach, at
/// the first white space within `MAX_BYTES_READ_AROUND_SECRET_NOUN`.
pub fn start_of_line_within_reach(text: &[u8], at: usize, floor: usize) -> usize {
    let from = floor.max(at.saturating_sub(MAX_BYTES_READ_AROUND_SECRET_NOUN));
    let line = at - context::text_after_last_break(&text[from..at]).len();
    if line > from || from == floor {
        return line;
    }
    line + text[line..at].iter().position(u8::is_ascii_whitespace).unwrap_or(at - line)
}
