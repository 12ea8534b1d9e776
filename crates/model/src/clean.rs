//! Removes what a reader cannot see: escape sequences, control characters and invisible characters.
//!
//! All text that is printed for a person or sent to a model goes through this module. Redaction skips the same
//! characters. Otherwise, a secret with an escape sequence in its middle would not be recognised, and removing the
//! sequence later would make the secret readable.

use std::borrow::Cow;
use std::ops::Range;

/// Returns the text without escape sequences, control characters (except line feed and tab), direction controls and
/// invisible characters. A carriage return becomes a line feed. The text is borrowed if nothing is removed.
pub fn clean_text(text: &str) -> Cow<'_, str> {
    let mut spans = hidden_spans(text).peekable();
    if spans.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (span, instead) in spans {
        out.push_str(&text[from..span.start]);
        out.push_str(instead);
        from = span.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Like [`clean_text`], but also turns line feeds and tabs into spaces, so that the result is one line.
pub fn clean_line(text: &str) -> Cow<'_, str> {
    let text = clean_text(text);
    if !text.contains(['\n', '\t']) {
        return text;
    }
    Cow::Owned(text.replace(['\n', '\t'], " "))
}

/// Removes colours and similar escape sequences from a line. This function is simpler and faster than [`clean_text`].
/// It is meant for lines that are only searched.
pub fn without_escapes(line: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('\u{1b}') {
        text.push_str(before);
        let end = behind.find(|c: char| c.is_ascii_alphabetic()).map_or(behind.len(), |at| at + 1);
        rest = &behind[end..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Returns the spans that [`clean_text`] removes, in order. Each span comes with its replacement, which is empty or a
/// line feed.
pub fn hidden_spans(text: &str) -> impl Iterator<Item = (Range<usize>, &'static str)> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let (start, c) = first_hidden_char(text, from)?;
        let after = start + c.len_utf8();
        let (end, instead) = match c {
            '\r' if text[after..].starts_with('\n') => (after, ""),
            // A lone carriage return, as in progress bars, becomes a line break, because a terminal would overwrite
            // the line.
            '\r' | '\u{2028}' | '\u{2029}' => (after, "\n"),
            '\u{1b}' | '\u{80}'..='\u{9f}' => (after + escape_sequence_length(c, &text[after..]), ""),
            _ => (after, ""),
        };
        from = end;
        Some((start..end, instead))
    })
}

/// Returns whether [`clean_text`] removes the character, either alone or with the escape sequence that it starts.
pub fn is_hidden_char(c: char) -> bool {
    match c {
        '\n' | '\t' | ' '..='~' => false,
        // ASCII control characters, DEL and C1.
        '\0'..='\u{9f}' => true,
        // Line and paragraph separators, the Braille blank, interlinear annotation marks and noncharacters. All of
        // these are invisible, but `DEFAULT_IGNORABLE` does not contain them.
        '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}' => true,
        _ if u32::from(c) & 0xfffe == 0xfffe => true,
        // `DEFAULT_IGNORABLE` starts at U+00AD.
        '\u{a0}'..='\u{ac}' => false,
        _ => {
            let at = DEFAULT_IGNORABLE.partition_point(|(_, last)| *last < c);
            DEFAULT_IGNORABLE.get(at).is_some_and(|(first, _)| *first <= c)
        }
    }
}

/// Every code point with the Unicode property `Default_Ignorable_Code_Point`: variation selectors, zero-width and
/// direction characters, tags and fillers. A test compares this table with the one in `regex-syntax` and prints the
/// correct table if they differ.
const DEFAULT_IGNORABLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

fn first_hidden_char(text: &str, from: usize) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += plain_ascii_length(&bytes[at..]);
        let c = text[at..].chars().next()?;
        if is_hidden_char(c) {
            return Some((at, c));
        }
        at += c.len_utf8();
    }
}

/// Returns the length of the leading run of printable ASCII, line feeds and tabs. Most text consists only of these, so
/// 16 bytes are tested at a time.
fn plain_ascii_length(bytes: &[u8]) -> usize {
    // Without `||` and early exits, the compiler can test many bytes at once.
    let is_plain = |byte: &u8| (byte.wrapping_sub(b' ') < 95) | (*byte == b'\n') | (*byte == b'\t');
    let blocks = bytes.as_chunks::<16>().0;
    let is_plain_block = |block: &&[u8; 16]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let whole = blocks.iter().take_while(is_plain_block).count() * 16;
    whole + bytes[whole..].iter().take_while(|byte| is_plain(byte)).count()
}

/// Returns how many bytes after the introducer belong to its escape sequence. The introducer is `ESC` or a C1
/// character. A C1 character is equivalent to `ESC` followed by one other character. The grammar is that of
/// ECMA-48, which terminals implement.
fn escape_sequence_length(introducer: char, rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (kind, head) = match introducer {
        '\u{1b}' => match bytes.first() {
            Some(first) => (*first, 1),
            None => return 0,
        },
        // A C1 character minus 0x40 is the letter after `ESC`. For example, U+009B means `ESC [`.
        c1 => (u8::try_from(u32::from(c1) - 0x40).unwrap_or(0), 0),
    };
    match kind {
        b'[' => {
            let middle = count_leading_in_range(&bytes[head..], b' '..=b'?');
            head + middle + final_byte_length(&bytes[head + middle..], b'@'..=b'~')
        }
        // OSC, DCS, SOS, PM and APC are followed by a string and a terminator. If the line contains no terminator, the
        // string is kept.
        b']' | b'P' | b'X' | b'^' | b'_' => head + text_sequence_length(&rest[head..]),
        // This matches sequences such as `ESC ( B`.
        b' '..=b'/' if head == 1 => {
            let middle = count_leading_in_range(bytes, b' '..=b'/');
            middle + final_byte_length(&bytes[middle..], b'0'..=b'~')
        }
        b'0'..=b'~' => head,
        _ => 0,
    }
}

/// Returns the length of a control string up to and including its terminator. Like a terminal, this function ends the
/// string at any control character. Every `ESC` is therefore examined only once, and the time stays linear.
fn text_sequence_length(text: &str) -> usize {
    let Some((end, c)) = text.char_indices().find(|(_, c)| c.is_control() && *c != '\t') else { return 0 };
    match c {
        '\n' | '\r' => 0,
        '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => end + c.len_utf8(),
        '\u{1b}' if text[end..].starts_with("\u{1b}\\") => end + 2,
        _ => end,
    }
}

fn count_leading_in_range(bytes: &[u8], range: std::ops::RangeInclusive<u8>) -> usize {
    bytes.iter().take_while(|byte| range.contains(byte)).count()
}

/// Returns 1 if the next byte completes the sequence, otherwise 0.
fn final_byte_length(bytes: &[u8], range: std::ops::RangeInclusive<u8>) -> usize {
    usize::from(bytes.first().is_some_and(|byte| range.contains(byte)))
}

#[cfg(test)]
#[path = "clean_tests.rs"]
mod tests;
