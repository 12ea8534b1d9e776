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
pub const REDACTION_MARGIN: usize = 10 * 1024;

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
        let from = text.floor_char_boundary(start.saturating_sub(REDACTION_MARGIN));
        let to = text.floor_char_boundary(end.saturating_add(REDACTION_MARGIN).min(text.len()));
        let window = &text.as_bytes()[from..to];
        Redacted(match redact_range(window, start - from..end.max(start) - from, options) {
            Cow::Borrowed(_) => Cow::Borrowed(&text[start..end.max(start)]),
            Cow::Owned(bytes) => Cow::Owned(super::bytes_to_text(bytes)),
        })
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
