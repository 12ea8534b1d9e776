//! Text from a harness or a program on its way to disk or into a reply: redacted completely, then cut.
//!
//! The order matters. A private key without its first line, or half a token, would no longer be recognised. So
//! functions that pick lines (`failure::error_lines`) take a [`Redacted`], and parts of a text are taken with the
//! functions here.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use super::{Options, redact_part};

/// How far beyond a cut a text is examined, so that a secret across the cut is seen completely. Longer than any
/// secret that is not recognised by its beginning alone.
pub const MARGIN: usize = 10 * 1024;

/// Text without secrets. Only this module creates one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a>(Cow<'a, str>);

impl<'a> Redacted<'a> {
    pub fn whole(text: &'a str, options: Options) -> Redacted<'a> {
        Redacted(super::redact(text, options))
    }

    /// Returns the first `max` bytes.
    pub fn head(text: &'a str, max: usize, options: Options) -> Redacted<'a> {
        let mut head = Redacted::part(text, 0..text.len().min(max), options);
        // A placeholder can be longer than its secret.
        head.0 = match head.0 {
            Cow::Borrowed(head) => Cow::Borrowed(crate::text::cut(head, max)),
            Cow::Owned(head) => Cow::Owned(crate::text::cut(&head, max).to_owned()),
        };
        head
    }

    /// Returns the last `max` bytes.
    pub fn tail(text: &'a str, max: usize, options: Options) -> Redacted<'a> {
        Redacted::part(text, text.len().saturating_sub(max)..text.len(), options)
    }

    /// Returns `text[part]`, adjusted to whole characters. Only its surroundings are examined, not the whole text.
    pub fn part(text: &'a str, part: Range<usize>, options: Options) -> Redacted<'a> {
        let (start, end) = (text.ceil_char_boundary(part.start), text.floor_char_boundary(part.end));
        let from = text.floor_char_boundary(start.saturating_sub(MARGIN));
        let to = text.floor_char_boundary(end.saturating_add(MARGIN).min(text.len()));
        let window = &text.as_bytes()[from..to];
        Redacted(match redact_part(window, start - from..end.max(start) - from, options) {
            Cow::Borrowed(_) => Cow::Borrowed(&text[start..end.max(start)]),
            Cow::Owned(bytes) => Cow::Owned(super::to_text(bytes)),
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
