//! A line of JSON walked once, forwards. What nobody asks for is stepped over, not parsed.
//!
//! Of a transcript, and of a payload too, we want a few fields out of megabytes: a string that is not wanted costs a
//! search for its quote. `serde_json` would decode every escape of it to say that it is one.
//! Nothing recurses, so depth is no danger, and nothing fails: at a tear the walk ends, with all that came before it.

use std::borrow::Cow;

use crate::fields::Fields;

#[derive(Clone, Debug)]
pub struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    torn: bool,
}

/// How much of a string [`Raw::ending`] gives.
const ENDING: usize = 64;

/// One value, undecoded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw<'a>(&'a [u8]);

impl<'a> Walk<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Walk { bytes, at: 0, torn: false }
    }

    /// What was not walked over yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The text broke off or was no JSON; nothing more is to be had.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// Steps into an object. Any other value is stepped over, and the answer is no.
    pub fn object(&mut self) -> bool {
        self.enter(b'{')
    }

    /// Steps into an array. Any other value is stepped over, and the answer is no.
    pub fn array(&mut self) -> bool {
        self.enter(b'[')
    }

    /// The next key of the object stepped into last, as it is written; none at its end. Its value must be taken or
    /// skipped before the next key is asked for.
    pub fn key(&mut self) -> Option<&'a [u8]> {
        match self.past_commas() {
            Some(b'"') => {}
            Some(b'}') => {
                self.at += 1;
                return None;
            }
            _ => return self.tear(),
        }
        let start = self.at + 1;
        self.string();
        let end = self.at.saturating_sub(1);
        if self.past_blanks() != Some(b':') {
            return self.tear();
        }
        self.at += 1;
        self.bytes.get(start..end)
    }

    /// Whether the array stepped into last has another element, which must then be taken or skipped.
    pub fn element(&mut self) -> bool {
        match self.past_commas() {
            Some(b']') => {
                self.at += 1;
                false
            }
            Some(b'}' | b':') | None => self.tear::<()>().is_some(),
            Some(_) => true,
        }
    }

    /// Takes a value without looking into it.
    pub fn raw(&mut self) -> Raw<'a> {
        self.past_blanks();
        let start = self.at;
        self.skip();
        Raw(if self.torn { &[] } else { &self.bytes[start..self.at] })
    }

    /// Takes a string. None, with the value stepped over, where it is something else.
    pub fn text(&mut self, max: usize) -> Option<Cow<'a, str>> {
        self.raw().text(max)
    }

    pub fn skip(&mut self) {
        match self.past_blanks() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.nest(),
            Some(b'}' | b']' | b':' | b',') | None => drop(self.tear::<()>()),
            Some(_) => {
                let end = self.rest().iter().position(|b| is_end(*b));
                self.at = end.map_or(self.bytes.len(), |end| self.at + end);
            }
        }
    }

    fn enter(&mut self, open: u8) -> bool {
        if self.past_blanks() == Some(open) {
            self.at += 1;
            return true;
        }
        self.skip();
        false
    }

    /// Over a string, from its first quote.
    fn string(&mut self) {
        let start = self.at + 1;
        let mut from = start;
        while let Some(found) = memchr::memchr(b'"', &self.bytes[from..]) {
            let quote = from + found;
            let slashes = self.bytes[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
            if slashes % 2 == 0 {
                self.at = quote + 1;
                return;
            }
            from = quote + 1;
        }
        self.tear::<()>();
    }

    /// Over an object or array and all within.
    fn nest(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.string();
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
        self.tear::<()>();
    }

    fn past_blanks(&mut self) -> Option<u8> {
        self.past(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
    }

    fn past_commas(&mut self) -> Option<u8> {
        self.past(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b','))
    }

    fn past(&mut self, blank: fn(u8) -> bool) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !blank(*byte) {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn tear<T>(&mut self) -> Option<T> {
        self.at = self.bytes.len();
        self.torn = true;
        None
    }
}

impl<'a> Raw<'a> {
    /// A string. Of a longer one, at least the first `max` bytes and little more.
    pub fn text(self, max: usize) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        // Escapes are longer than what they stand for. Whoever gets a text that was cut must get all of the margin
        // behind what is kept: redaction looks at it.
        Some(unquote(&inner[..decoded_cut(inner, max)]))
    }

    /// The end of a string as it is written, escapes and all: enough to find a plain mark in it.
    pub fn ending(self) -> Option<&'a str> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let mut start = inner.len().saturating_sub(ENDING);
        while inner.get(start).is_some_and(|byte| byte & 0xC0 == 0x80) {
            start += 1;
        }
        std::str::from_utf8(&inner[start..]).ok()
    }

    /// The last lines of a string, at most `max` bytes as it is written; all of it where it is shorter.
    pub fn tail(self, max: usize) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let Some(start) = inner.len().checked_sub(max) else { return Some(unquote(inner)) };
        // From the next line on: a cut just there cannot split a character or an escape.
        let line = memchr::memmem::find_iter(&inner[start..], b"\\n")
            .find(|at| *at > 0 && inner[start + at - 1] != b'\\')?;
        Some(unquote(&inner[start + line + 2..]))
    }

    /// The value as it stands there.
    pub fn written(self) -> Option<&'a str> {
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

    /// An object of which all is wanted.
    pub fn fields(self) -> Fields<'a> {
        Fields::parse(self.0).0
    }

    /// To look into it after all.
    pub fn walk(self) -> Walk<'a> {
        Walk::new(self.0)
    }
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' | b'"' | b':' | b'{' | b'[')
}

/// How far into a string `max` bytes of its text reach, or a little further: it ends inside no character and no escape.
fn decoded_cut(inner: &[u8], max: usize) -> usize {
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
            let (character, length) = unescape(&inner[end..]);
            end += length;
            decoded += character.len_utf8();
        }
    }
    end
}

/// The text between two quotes. What is no Unicode, and half a surrogate pair, which JavaScript writes, becomes U+FFFD;
/// an escape that is none stays as it is.
pub fn unquote(inner: &[u8]) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', inner) else { return String::from_utf8_lossy(inner) };
    let mut bytes = Vec::with_capacity(inner.len());
    let (mut copied, mut slash) = (0, Some(first));
    while let Some(at) = slash {
        bytes.extend_from_slice(&inner[copied..at]);
        let (character, length) = unescape(&inner[at..]);
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

/// What the escape at the beginning of `bytes` stands for, and how long it is.
fn unescape(bytes: &[u8]) -> (char, usize) {
    match bytes.get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(quoted @ (b'"' | b'\\' | b'/')) => (char::from(*quoted), 2),
        Some(b'u') => match (hex(bytes), bytes.get(6..).and_then(hex)) {
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

/// The number of `\u12ab`.
fn hex(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
