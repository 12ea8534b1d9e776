//! Redacts text captured from a harness or a program before the text is cut, stored or sent in a reply.
//!
//! Redaction must come before cutting, because a private key without its first line, or half a token, would not be
//! recognised. So functions that pick lines, such as `failure::error_lines`, require a [`Redacted`], and text is cut
//! with the functions of this module.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use super::{RedactOptions, redact_range};

/// How many bytes beyond each cut are examined, so that a secret that crosses the cut is recognised. The margin is
/// longer than any secret that cannot be recognised by its first bytes.
pub const REDACTION_MARGIN_BYTES: usize = 10 * 1024;

/// The words in the summary lines of test runners, compilers and linters.
const COUNT_WORDS: &[&str] = &[
    "test", "tests", "Test", "Tests", "TESTS", "result", "results", "ok", "OK", "FAILED", "FAIL", "PASS",
    "passed", "failed", "ignored", "measured", "filtered", "out", "finished", "Finished", "in", "run", "Ran",
    "skipped", "warning", "warnings", "error", "errors", "failure", "failures", "Failures", "Errors",
    "Skipped", "total", "Suites", "Files", "passing", "failing", "pending", "problems", "Summary", "s", "ms",
];

/// The maximum number of digits in a count. A longer number could be a code.
const MAX_COUNT_DIGITS: usize = 5;

/// Text without secrets. Only this module creates values of this type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a>(Cow<'a, str>);

impl<'a> Redacted<'a> {
    pub fn redact_whole(text: &'a str, options: RedactOptions) -> Redacted<'a> {
        Redacted(super::redact_text(text, options))
    }

    /// Returns the first `max` bytes, redacted.
    pub fn redact_head(text: &'a str, max: usize, options: RedactOptions) -> Redacted<'a> {
        let mut head = Redacted::redact_range(text, 0..text.len().min(max), options);
        // A placeholder can be longer than its secret, so the redacted head may have to be cut again.
        head.0 = match head.0 {
            Cow::Borrowed(head) => Cow::Borrowed(crate::text::cut_to_bytes(head, max)),
            Cow::Owned(head) => Cow::Owned(crate::text::cut_to_bytes(&head, max).to_owned()),
        };
        head
    }

    /// Returns the last `max` bytes, redacted.
    pub fn redact_tail(text: &'a str, max: usize, options: RedactOptions) -> Redacted<'a> {
        Redacted::redact_range(text, text.len().saturating_sub(max)..text.len(), options)
    }

    /// Returns `text[part]`, redacted and narrowed to whole characters. Only the part and its surroundings are
    /// examined.
    pub fn redact_range(text: &'a str, part: Range<usize>, options: RedactOptions) -> Redacted<'a> {
        let (start, end) = (text.ceil_char_boundary(part.start), text.floor_char_boundary(part.end));
        let from = text.floor_char_boundary(start.saturating_sub(REDACTION_MARGIN_BYTES));
        let to = text.floor_char_boundary(end.saturating_add(REDACTION_MARGIN_BYTES).min(text.len()));
        let window = &text.as_bytes()[from..to];
        Redacted(match redact_range(window, start - from..end.max(start) - from, options) {
            Cow::Borrowed(_) => Cow::Borrowed(&text[start..end.max(start)]),
            Cow::Owned(bytes) => Cow::Owned(super::bytes_to_text(bytes)),
        })
    }

    /// Returns the line `text[line]` of a program's output, redacted. A line of counts, such as `12 passed; 0 failed`,
    /// cannot contain a secret, so the text around it is not examined.
    pub fn redact_result_line(text: &'a str, line: Range<usize>, options: RedactOptions) -> Redacted<'a> {
        match text.get(line.clone()).filter(|line| is_line_of_counts(line)) {
            Some(line) => Redacted(Cow::Borrowed(line)),
            None => Redacted::redact_range(text, line, options),
        }
    }

    pub fn into_text(self) -> Cow<'a, str> {
        self.0
    }
}

impl Deref for Redacted<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Returns whether a line consists only of words about results, short numbers and punctuation.
fn is_line_of_counts(line: &str) -> bool {
    let mut rest = line.as_bytes();
    while let Some(byte) = rest.first() {
        let length = |is_part: fn(&u8) -> bool| rest.iter().take_while(|byte| is_part(byte)).count();
        let taken = match byte {
            b' ' | b'.' | b',' | b';' | b':' | b'=' | b'(' | b')' | b'|' => 1,
            b'0'..=b'9' => {
                Some(length(u8::is_ascii_digit)).filter(|digits| *digits <= MAX_COUNT_DIGITS).unwrap_or(0)
            }
            _ => Some(length(u8::is_ascii_alphabetic))
                .filter(|letters| COUNT_WORDS.iter().any(|word| word.as_bytes() == &rest[..*letters]))
                .unwrap_or(0),
        };
        if taken == 0 {
            return false;
        }
        rest = &rest[taken..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_counts_has_no_room_for_a_secret() {
        let cases = [
            ("test result: ok. 12 passed; 0 failed; 3 ignored; finished in 0.52s", true),
            ("===== 2 failed, 10 passed in 1.20s =====", true),
            ("Tests run: 5, Failures: 1, Errors: 0", true),
            ("test parser::reads ... ok", false),
            ("12 passed for hunter2", false),
            ("123456 passed", false),
            ("12 passed\u{e9}", false),
        ];
        for (line, expected) in cases {
            assert_eq!(is_line_of_counts(line), expected, "{line}");
            assert_eq!(&*Redacted::redact_whole(line, RedactOptions::default()), line, "{line}");
        }
        let text = format!("password: {}\n", "x9-Ku2".repeat(3));
        let redacted = Redacted::redact_result_line(&text, 0..text.len() - 1, RedactOptions::default());
        assert_eq!(&*redacted, "password: [REDACTED:password]");
    }
}
