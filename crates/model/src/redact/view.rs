//! The text as a reader sees it. Escape sequences and invisible characters are removed, and encoded characters are
//! decoded.
//!
//! A secret can be hidden from a scanner that examines only the bytes. It may contain escape sequences as in
//! `ghp_…ESC[1m…` (from `grep --color`) or zero-width characters, or it may be encoded as in `password%3Dhunter2`,
//! `&#103;hp_…` and `\u0067hp_…`, or in UTF-16. Anybody who prints, pastes or decodes the text gets the secret back. So
//! both the bytes and this view are scanned, and the hits in the view are mapped back to the text.

use std::ops::Range;

use super::classes::{ANY_HEX, class_run_length};
use crate::clean::{hidden_spans, is_hidden_char};

/// How many bytes on each side of a hidden or encoded character are scanned again in decoded form. Most secrets are
/// shorter than this.
const VIEW_MARGIN: usize = 1024;

/// Like [`VIEW_MARGIN`], but used if the text mentions a private key. The margin is larger than a key, so a key with a
/// coloured word in its middle is still found as a whole.
const KEY_VIEW_MARGIN: usize = 10 * 1024;
/// By how many bytes a region may be extended to reach the ends of its lines.
const MAX_BYTES_TO_REACH_LINE_ENDS: usize = 1024;

#[derive(Debug)]
pub struct DecodedView {
    pub bytes: Vec<u8>,
    steps: Vec<ViewStep>,
}

/// A position in the decoded view, and the matching position in the original text. The first byte of the view at this
/// position represents `width` bytes of the text. Each following byte, up to the next step, represents one byte.
#[derive(Debug, Clone, Copy)]
struct ViewStep {
    view_at: usize,
    text_at: usize,
    /// How many bytes of the text are represented by the byte at `view_at`.
    width: usize,
}

impl DecodedView {
    /// Builds the view of `text[part]`. Positions are relative to the whole text.
    pub fn build(text: &[u8], part: Range<usize>) -> DecodedView {
        let mut view = DecodedView { bytes: Vec::with_capacity(part.len()), steps: Vec::new() };
        let mut at = part.start;
        for chunk in text[part].utf8_chunks() {
            let mut from = 0;
            for (span, instead) in hidden_spans(chunk.valid()) {
                view.decode_range(text, at + from..at + span.start);
                if !instead.is_empty() {
                    view.push_byte(b'\n', at + span.start, span.len());
                }
                from = span.end;
            }
            view.decode_range(text, at + from..at + chunk.valid().len());
            at += chunk.valid().len();
            view.copy_bytes(text, at..at + chunk.invalid().len());
            at += chunk.invalid().len();
        }
        view
    }

    /// Maps the range `start..end` of the decoded view back to the original text.
    pub fn range_in_original_text(&self, start: usize, end: usize) -> Range<usize> {
        let last = self.text_position(end - 1);
        self.text_position(start).start..last.end
    }

    fn text_position(&self, at: usize) -> Range<usize> {
        let index = self.steps.partition_point(|step| step.view_at <= at);
        let Some(step) = index.checked_sub(1).and_then(|index| self.steps.get(index)) else {
            return at..at + 1;
        };
        match at - step.view_at {
            0 => step.text_at..step.text_at + step.width,
            further => {
                let at = step.text_at + step.width + further - 1;
                at..at + 1
            }
        }
    }

    fn copy_bytes(&mut self, text: &[u8], part: Range<usize>) {
        if part.is_empty() {
            return;
        }
        self.steps.push(ViewStep { view_at: self.bytes.len(), text_at: part.start, width: 1 });
        self.bytes.extend_from_slice(&text[part]);
    }

    fn push_byte(&mut self, byte: u8, text_at: usize, width: usize) {
        self.steps.push(ViewStep { view_at: self.bytes.len(), text_at, width });
        self.bytes.push(byte);
    }

    /// Adds a character that occupies `width` bytes of the text. In the view, the first byte of the character
    /// represents all of these bytes.
    fn push_char(&mut self, character: char, text_at: usize, width: usize) {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        self.push_byte(bytes[0], text_at, width);
        for byte in &bytes[1..] {
            self.push_byte(*byte, text_at + width, 0);
        }
    }

    fn decode_range(&mut self, text: &[u8], part: Range<usize>) {
        let mut from = part.start;
        let mut at = part.start;
        let may_begin = |byte: &u8| matches!(byte, b'%' | b'&' | b'\\' | 0xc2 | 0xe2 | 0xe3 | 0xef);
        while let Some(found) = text[at..part.end].iter().position(may_begin) {
            at += found;
            match encoded_character(&text[at..part.end]) {
                None => at += 1,
                Some((length, character)) => {
                    self.copy_bytes(text, from..at);
                    if let Some(character) = character {
                        // In `comet&lt;orchid` the bracket belongs to a word and not to a tag.
                        let inside = match character {
                            '<' => !opens_tag(&text[at + length..part.end]),
                            '"' => true,
                            _ => false,
                        };
                        let inside = inside
                            && self.bytes.last().is_some_and(u8::is_ascii_alphanumeric)
                            && begins_with_alphanumeric(&text[at + length..part.end]);
                        self.push_char(if inside { '^' } else { character }, at, length);
                    }
                    at += length;
                    from = at;
                }
            }
        }
        self.copy_bytes(text, from..part.end);
    }
}

/// Returns whether the next character, which may be encoded, is a letter or a digit.
fn begins_with_alphanumeric(text: &[u8]) -> bool {
    match text.first() {
        Some(b'&') => encoded_character(text)
            .and_then(|(_, character)| character)
            .is_some_and(|character| character.is_ascii_alphanumeric()),
        Some(byte) => byte.is_ascii_alphanumeric(),
        None => false,
    }
}

/// Returns the parts of `text` that contain hidden or encoded characters, each with a margin. Most text has no such
/// part.
pub fn regions_to_decode(text: &[u8]) -> Vec<Range<usize>> {
    let mut regions: Vec<Range<usize>> = Vec::new();
    let Some(first) = next_difference(text, 0) else { return regions };
    let keys = memchr::memmem::find(text, b"PRIVATE KEY").is_some();
    let margin = if keys { KEY_VIEW_MARGIN } else { VIEW_MARGIN };
    let mut next = Some(first);
    while let Some(found) = next {
        next = next_difference(text, found + 1);
        let end = found.saturating_add(margin).min(text.len());
        match regions.last_mut() {
            Some(last) if found.saturating_sub(margin) <= last.end => last.end = end,
            _ => regions.push(found.saturating_sub(margin)..end),
        }
    }
    for region in &mut regions {
        let before = &text[region.start.saturating_sub(MAX_BYTES_TO_REACH_LINE_ENDS)..region.start];
        region.start -= before.len() - memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        let after = &text[region.end..text.len().min(region.end + MAX_BYTES_TO_REACH_LINE_ENDS)];
        region.end += memchr::memchr(b'\n', after).unwrap_or(after.len());
    }
    regions
}

/// Returns the first position at or after `at` that has a hidden or encoded character.
fn next_difference(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += unencoded_prefix_length(&text[at..]);
        let byte = *text.get(at)?;
        let next = text.get(at + 1).copied().unwrap_or(b' ');
        let (differs, length) =
            if may_begin_hidden_character(byte, next) { view_differs(&text[at..]) } else { (false, 1) };
        if differs {
            return Some(at);
        }
        at += length;
    }
}

/// Counts the leading bytes that cannot start a hidden or encoded character. Most text contains only such bytes, so 16
/// bytes are checked at a time.
fn unencoded_prefix_length(text: &[u8]) -> usize {
    // Without `||` and early exits, the compiler can compare many bytes at once.
    let is_plain = |byte: &u8| {
        let is_mark = (*byte == b'%') | (*byte == b'&') | (*byte == b'\\');
        let is_space = (*byte == b'\n') | (*byte == b'\t') | (*byte == b'\r');
        ((byte.wrapping_sub(b' ') < 95) & !is_mark) | is_space
    };
    let is_plain_block = |block: &&[u8; 16]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let whole = text.as_chunks::<16>().0.iter().take_while(is_plain_block).count() * 16;
    whole + text[whole..].iter().take_while(|byte| is_plain(byte)).count()
}

/// Returns whether a hidden or encoded character may start with these two bytes. The caller has checked that the first
/// byte is not plain.
fn may_begin_hidden_character(byte: u8, next: u8) -> bool {
    match byte {
        b'%' => next.is_ascii_hexdigit(),
        b'&' => matches!(next, b'#' | b'q' | b'a' | b'l' | b'n' | b'c'),
        b'\\' => matches!(next, b'u' | b'x' | b'0' | b'1' | b'e' | b'\\'),
        _ => true,
    }
}

/// Returns whether the decoded view differs from the bytes at the start of `text`, and how many bytes were examined.
fn view_differs(text: &[u8]) -> (bool, usize) {
    match text[0] {
        b'%' | b'&' | b'\\' => (encoded_character(text).is_some(), 1),
        0..=0x7f => (true, 1),
        _ => match text[..text.len().min(4)]
            .utf8_chunks()
            .next()
            .and_then(|chunk| chunk.valid().chars().next())
        {
            Some(character) => (
                is_hidden_char(character) || ascii_form_of_character(character).is_some(),
                character.len_utf8(),
            ),
            None => (false, 1),
        },
    }
}

/// Returns whether an encoded or plain `>` occurs before the next `<` or blank, as in `b&gt;` and `b\u003e`.
fn opens_tag(text: &[u8]) -> bool {
    let rest = &text[..text.len().min(40)];
    let find = |mark: &[u8]| memchr::memmem::find(rest, mark).unwrap_or(usize::MAX);
    let closed = [&b">"[..], b"&gt;", b"\\u003e", b"\\u003E"].iter().map(|mark| find(mark)).min();
    let opened = [&b"<"[..], b"&lt;", b"\\u003c", b"\\u003C", b" "].iter().map(|mark| find(mark)).min();
    closed < opened
}

/// Returns the ASCII form of a special blank or a full-width colon or equals sign.
fn ascii_form_of_character(character: char) -> Option<char> {
    match character {
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{3000}' => Some(' '),
        '：' => Some(':'),
        '＝' => Some('='),
        _ => None,
    }
}

/// Returns the length of the encoded character at the start of `text`, and its value if it is visible.
fn encoded_character(text: &[u8]) -> Option<(usize, Option<char>)> {
    match text[0] {
        b'%' => decode_percent(text),
        b'&' => decode_entity(text),
        0x80.. => {
            let character = text[..text.len().min(4)].utf8_chunks().next()?.valid().chars().next()?;
            Some((character.len_utf8(), Some(ascii_form_of_character(character)?)))
        }
        _ => decode_escape(text),
    }
}

/// Decodes `%5F` and the doubly encoded `%255F`.
fn decode_percent(text: &[u8]) -> Option<(usize, Option<char>)> {
    let mut at = 1;
    while text.get(at..at + 2) == Some(b"25") && class_run_length(&text[at + 2..], ANY_HEX, 2) == 2 {
        at += 2;
    }
    let code = parse_number(text.get(at..at + 2)?, 16)?;
    Some((at + 2, Some(visible_byte(code).filter(char::is_ascii)?)))
}

/// Decodes `&#95;`, `&#x5f;` and `&quot;`.
fn decode_entity(text: &[u8]) -> Option<(usize, Option<char>)> {
    // Accents are dropped, because the words for a password are also recognised without accents.
    const NAMED_ENTITIES: [(&[u8], u8); 21] = [
        (b"nbsp", b' '),
        (b"ntilde", b'n'),
        (b"eacute", b'e'),
        (b"egrave", b'e'),
        (b"dollar", b'$'),
        (b"num", b'#'),
        (b"lpar", b'('),
        (b"amp", b'&'),
        (b"quot", b'"'),
        (b"apos", b'\''),
        (b"lt", b'<'),
        (b"gt", b'>'),
        (b"equals", b'='),
        (b"colon", b':'),
        (b"lowbar", b'_'),
        (b"sol", b'/'),
        (b"plus", b'+'),
        (b"semi", b';'),
        (b"commat", b'@'),
        (b"period", b'.'),
        (b"excl", b'!'),
    ];
    let inner = &text[1..text.len().min(10)];
    let inner = &inner[..memchr::memchr(b';', inner)?];
    let length = inner.len() + 2;
    if let Some(digits) = inner.strip_prefix(b"#") {
        let code = match digits.strip_prefix(b"x").or_else(|| digits.strip_prefix(b"X")) {
            Some(digits) => parse_number(digits, 16)?,
            None => parse_number(digits, 10)?,
        };
        return visible_character(length, code);
    }
    let (_, character) = NAMED_ENTITIES.iter().find(|(name, _)| *name == inner)?;
    Some((length, Some(char::from(*character))))
}

/// Decodes `\u005f`, `\u{5f}` and `\x5f`, and escaped terminal colours such as `\u001b[1m`, `\033[1m` and `\e[1m`.
fn decode_escape(text: &[u8]) -> Option<(usize, Option<char>)> {
    let slashes = text.iter().take(8).take_while(|byte| **byte == b'\\').count();
    let rest = &text[slashes..];
    let (length, code) = match rest.first()? {
        b'u' if rest.get(1) == Some(&b'{') => {
            let digits = class_run_length(&rest[2..], ANY_HEX, 6);
            (rest.get(2 + digits) == Some(&b'}'))
                .then_some((digits + 3, parse_number(&rest[2..2 + digits], 16)?))?
        }
        b'u' => (5, parse_number(rest.get(1..5)?, 16)?),
        b'x' => (3, parse_number(rest.get(1..3)?, 16)?),
        b'0' if rest.starts_with(b"033[") => (3, 0x1b),
        // `printf` decodes octal escapes such as `\147hp_…`.
        b'0' | b'1' if rest.len() >= 3 && rest[..3].iter().all(|byte| (b'0'..b'8').contains(byte)) => {
            (3, parse_number(&rest[..3], 8)?)
        }
        b'e' if rest.starts_with(b"e[") => (1, 0x1b),
        _ => return None,
    };
    if code == 0x1b {
        return Some((slashes + length + escape_sequence_length(&rest[length..]), None));
    }
    visible_character(slashes + length, code)
}

/// Returns the length of an escape sequence such as `ESC [ 1 m` without its `ESC`.
fn escape_sequence_length(text: &[u8]) -> usize {
    let Some(rest) = text.strip_prefix(b"[") else { return 0 };
    let middle = rest.iter().take_while(|byte| (b' '..=b'?').contains(byte)).count();
    1 + middle + usize::from(rest.get(middle).is_some_and(|byte| (b'@'..=b'~').contains(byte)))
}

fn visible_character(length: usize, code: u32) -> Option<(usize, Option<char>)> {
    match visible_byte(code) {
        Some(character) => Some((length, Some(character))),
        None => char::from_u32(code).is_some_and(is_hidden_char).then_some((length, None)),
    }
}

/// Returns the character if it is printable ASCII, a tab, a line feed or an accented letter. No other characters are
/// needed to recognise a secret.
fn visible_byte(code: u32) -> Option<char> {
    if code == 0xa0 {
        return Some(' ');
    }
    char::from_u32(code).filter(|character| matches!(character, ' '..='~' | '\n' | '\t' | 'À'..='ž'))
}

fn parse_number(digits: &[u8], base: u32) -> Option<u32> {
    if digits.is_empty() || digits.len() > 6 {
        return None;
    }
    digits.iter().try_fold(0, |number, digit| Some(number * base + char::from(*digit).to_digit(base)?))
}

#[cfg(test)]
mod tests {
    use super::next_difference;

    #[test]
    fn what_is_hidden_or_encoded_is_found_wherever_it_stands() {
        let rows: [(&[u8], bool); 20] = [
            (b"\x1b[1m", true),
            (b"\0", true),
            (b"\x7f", true),
            ("\u{200b}".as_bytes(), true),
            (b"%5F", true),
            (b"%255F", true),
            (b"&#95;", true),
            (b"&quot;", true),
            (b"\\u005f", true),
            (b"\\\\x5f", true),
            (b"\\e[1m", true),
            (b"\r\n\t", false),
            (b"100% of", false),
            (b"a && b & c", false),
            (b"\\n\\t", false),
            (b"%zz", false),
            (b"&amp", false),
            ("\u{e9}\u{6570}\u{1f600}".as_bytes(), false),
            (b"\xff\xfe", false),
            (b"~ !", false),
        ];
        for (part, differs) in rows {
            for before in 0..40 {
                for after in [0, 1, 15, 16, 40] {
                    let text = [&vec![b' '; before], part, &vec![b'x'; after]].concat();
                    let found = next_difference(&text, 0);
                    assert_eq!(found, differs.then_some(before), "{part:?} at {before} before {after}");
                }
            }
        }
        assert_eq!(next_difference(b"", 0), None);
        assert_eq!(next_difference(b"\0\0", 1), Some(1));
    }
}
