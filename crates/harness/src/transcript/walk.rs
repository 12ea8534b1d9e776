//! Walks through a line of JSON once, forwards. Values that are not needed are skipped, not parsed.
//!
//! Transcripts and payloads can be megabytes long, and only a few of their fields are needed. Skipping a string takes
//! one search for its closing quote, whereas `serde_json` would decode every escape in it. Nothing recurses, so deep
//! nesting is safe. Nothing fails: if the text is torn, the walk ends, and everything before the tear is kept.

use std::borrow::Cow;

use model::text::find_byte;

use crate::fields::JsonFields;

#[derive(Clone, Debug)]
pub struct JsonWalk<'a> {
    bytes: &'a [u8],
    at: usize,
    torn: bool,
}

/// The maximum number of bytes that [`RawJson::end_of_string`] returns.
const ENDING_BYTES: usize = 64;

/// One undecoded value.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawJson<'a>(&'a [u8]);

impl<'a> JsonWalk<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        JsonWalk { bytes, at: 0, torn: false }
    }

    /// Returns the bytes that the walk has not reached yet.
    pub fn unread_bytes(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Returns whether the text was cut off or is not JSON. If so, nothing more can be read.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// Enters an object. Skips any other value and returns false.
    pub fn enter_object(&mut self) -> bool {
        self.enter(b'{')
    }

    /// Enters an array. Skips any other value and returns false.
    pub fn enter_array(&mut self) -> bool {
        self.enter(b'[')
    }

    /// Returns the next key of the current object, undecoded; `None` at the end of the object. The key's value must be
    /// read or skipped before the next call.
    pub fn next_key(&mut self) -> Option<&'a [u8]> {
        match self.skip_blanks_and_commas() {
            Some(b'"') => {}
            Some(b'}') => {
                self.at += 1;
                return None;
            }
            _ => return self.mark_torn(),
        }
        let start = self.at + 1;
        self.skip_string();
        let end = self.at.saturating_sub(1);
        if self.skip_blanks() != Some(b':') {
            return self.mark_torn();
        }
        self.at += 1;
        self.bytes.get(start..end)
    }

    /// Returns whether the current array has another element. If so, the element must be read or skipped.
    pub fn next_element(&mut self) -> bool {
        match self.skip_blanks_and_commas() {
            Some(b']') => {
                self.at += 1;
                false
            }
            Some(b'}' | b':') | None => self.mark_torn::<()>().is_some(),
            Some(_) => true,
        }
    }

    /// Reads a value without decoding it.
    pub fn take_raw(&mut self) -> RawJson<'a> {
        self.skip_blanks();
        let start = self.at;
        self.skip_value();
        RawJson(if self.torn { &[] } else { &self.bytes[start..self.at] })
    }

    /// Reads a string. Skips any other value and returns `None`.
    pub fn take_text(&mut self, max: usize) -> Option<Cow<'a, str>> {
        self.take_raw().text(max)
    }

    pub fn skip_value(&mut self) {
        match self.skip_blanks() {
            Some(b'"') => self.skip_string(),
            Some(b'{' | b'[') => self.skip_nested(),
            Some(b'}' | b']' | b':' | b',') | None => drop(self.mark_torn::<()>()),
            Some(_) => {
                let end = self.unread_bytes().iter().position(|b| is_value_end(*b));
                self.at = end.map_or(self.bytes.len(), |end| self.at + end);
            }
        }
    }

    fn enter(&mut self, open: u8) -> bool {
        if self.skip_blanks() == Some(open) {
            self.at += 1;
            return true;
        }
        self.skip_value();
        false
    }

    /// Skips a string, starting at its first quote.
    fn skip_string(&mut self) {
        let start = self.at + 1;
        let mut from = start;
        while let Some(found) = find_byte(b'"', &self.bytes[from..]) {
            let quote = from + found;
            let slashes = self.bytes[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
            if slashes % 2 == 0 {
                self.at = quote + 1;
                return;
            }
            from = quote + 1;
        }
        self.mark_torn::<()>();
    }

    /// Skips an object or an array with all its content.
    fn skip_nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.skip_string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
        self.mark_torn::<()>();
    }

    fn skip_blanks(&mut self) -> Option<u8> {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
    }

    fn skip_blanks_and_commas(&mut self) -> Option<u8> {
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b','))
    }

    fn skip_while(&mut self, blank: fn(u8) -> bool) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !blank(*byte) {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn mark_torn<T>(&mut self) -> Option<T> {
        self.at = self.bytes.len();
        self.torn = true;
        None
    }
}

impl<'a> RawJson<'a> {
    /// Creates a value from `bytes`, which must be one JSON value without blanks around it.
    pub fn new(json: &'a [u8]) -> Self {
        RawJson(json)
    }

    /// Decodes a string. If it is longer than `max` bytes, returns its first `max` bytes, or slightly more.
    pub fn text(self, max: usize) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        // `max` is a number of decoded bytes. If raw bytes were counted, escapes could use up the margin that redaction
        // must still see after a cut. An escape is never shorter than the character that it encodes, so a string of at
        // most `max` raw bytes need not be measured.
        let length = if inner.len() <= max { inner.len() } else { raw_length_for(inner, max) };
        Some(decode_string(&inner[..length]))
    }

    /// Returns the last bytes of a string, undecoded. The caller searches them for a mark that contains no escapes.
    pub fn end_of_string(self) -> Option<&'a str> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let mut start = inner.len().saturating_sub(ENDING_BYTES);
        while inner.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
            start += 1;
        }
        std::str::from_utf8(&inner[start..]).ok()
    }

    /// Returns the last lines of a string, at most `max` undecoded bytes. Returns the whole string if it is shorter
    /// than `max`.
    pub fn last_lines(self, max: usize) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let Some(start) = inner.len().checked_sub(max) else { return Some(decode_string(inner)) };
        // Start at the next line, so that no character and no escape is split.
        let line = memchr::memmem::find_iter(&inner[start..], b"\\n")
            .find(|at| *at > 0 && inner[start + at - 1] != b'\\')?;
        Some(decode_string(&inner[start + line + 2..]))
    }

    /// Returns the bytes between the quotes of a string, undecoded.
    pub fn string_bytes(self) -> Option<&'a [u8]> {
        self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")
    }

    pub fn as_json_bytes(self) -> &'a [u8] {
        self.0
    }

    pub fn as_written(self) -> Option<&'a str> {
        std::str::from_utf8(self.0).ok()
    }

    pub fn number(self) -> Option<u64> {
        let number: f64 = std::str::from_utf8(self.0).ok()?.parse().ok()?;
        (number >= 0.0).then_some(number as u64)
    }

    pub fn is_true(self) -> bool {
        self.0 == b"true"
    }

    pub fn is_false(self) -> bool {
        self.0 == b"false"
    }

    pub fn fields(self) -> JsonFields<'a> {
        JsonFields::parse(self.0).0
    }

    pub fn walk(self) -> JsonWalk<'a> {
        JsonWalk::new(self.0)
    }
}

fn is_value_end(byte: u8) -> bool {
    matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' | b'"' | b':' | b'{' | b'[')
}

/// Returns how many raw bytes of a string decode to `max` bytes of text. The result is slightly larger if a character
/// or an escape would be split.
fn raw_length_for(inner: &[u8], max: usize) -> usize {
    let (mut end, mut decoded) = (0, 0);
    while decoded < max && end < inner.len() {
        let plain = memchr::memchr(b'\\', &inner[end..]).unwrap_or(inner.len() - end);
        if decoded + plain >= max {
            end += max - decoded;
            while inner.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
                end += 1;
            }
            return end;
        }
        end += plain;
        decoded += plain;
        if end < inner.len() {
            let (character, length) = decode_escape(&inner[end..]);
            end += length;
            decoded += character.len_utf8();
        }
    }
    end
}

/// Decodes the text between two quotes. Invalid UTF-8 becomes U+FFFD, and so does half of a surrogate pair, which
/// JavaScript can write. An invalid escape is left unchanged.
pub fn decode_string(inner: &[u8]) -> Cow<'_, str> {
    let Some(first) = find_byte(b'\\', inner) else {
        // Almost all text is valid, so try `from_utf8` first, which is much faster than `from_utf8_lossy`.
        return std::str::from_utf8(inner).map_or_else(|_| String::from_utf8_lossy(inner), Cow::Borrowed);
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let (mut copied, mut slash) = (0, Some(first));
    while let Some(at) = slash {
        bytes.extend_from_slice(&inner[copied..at]);
        let (character, length) = decode_escape(&inner[at..]);
        match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() => bytes.push(byte),
            _ => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        copied = at + length;
        slash = memchr::memchr(b'\\', &inner[copied..]).map(|found| copied + found);
    }
    bytes.extend_from_slice(&inner[copied..]);
    match String::from_utf8(bytes) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Decodes the escape at the beginning of `bytes` and returns its length.
fn decode_escape(bytes: &[u8]) -> (char, usize) {
    match bytes.get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(quoted @ (b'"' | b'\\' | b'/')) => (char::from(*quoted), 2),
        Some(b'u') => match (parse_hex(bytes), bytes.get(6..).and_then(parse_hex)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                let both = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
            }
            (Some(unit), _) => (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            (None, _) => ('\\', 1),
        },
        _ => ('\\', 1),
    }
}

/// Reads the number in an escape such as `\u12ab`.
fn parse_hex(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
