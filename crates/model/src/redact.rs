//! Secrets out, placeholders in: `redact(text)` runs before anything captured is written or injected.
//!
//! One pass over the bytes, no regular expressions and nothing to build at start-up: this runs in processes that live
//! half a millisecond. A byte table says what to do at each byte; almost all bytes belong to a word that is skipped
//! after three of them were looked up. Provider tokens come from the table in `rules`, everything else has a scanner:
//!
//! - `shape`    one rule of the table          - `infix`    tokens without a prefix
//! - `named`    `name = value`                 - `names`    what a name says     - `values`  what a value is
//! - `headers`  `Authorization:`               - `urls`     `scheme://user:password@host`
//! - `flags`    command lines                  - `keys`     private keys, web tokens
//! - `stated`   `the password is value`        - `calls`    `f("name", "value")`, `<name>value</name>`
//! - `context`  what a name does not tell: cookies, codes in an address, a value on the line below
//!
//! Every scanner looks back and ahead a bounded distance, so time is linear in the text.

mod calls;
mod chance;
mod classes;
mod context;
mod flags;
mod headers;
mod infix;
mod keys;
mod named;
mod names;
mod rules;
mod scan;
mod shape;
mod stated;
mod urls;
mod values;

use std::borrow::Cow;

/// What to redact beyond secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// E-mail addresses too.
    pub emails: bool,
}

/// Replaces each secret in `text` by a typed placeholder such as `[REDACTED:github-token]`.
/// Borrowed when there is none. Idempotent.
pub fn redact(text: &str, options: Options) -> Cow<'_, str> {
    match redact_bytes(text.as_bytes(), options) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        // Scanners cut at ASCII bytes, so the text stays valid and the lossy way is never taken.
        Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
    }
}

/// As [`redact`], for bytes that need not be UTF-8; bytes outside secrets stay as they are.
pub fn redact_bytes(text: &[u8], options: Options) -> Cow<'_, [u8]> {
    let Some(mut redacted) = pass(text, options) else {
        return Cow::Borrowed(text);
    };
    // A placeholder can complete what its secret had kept from matching (`password = ` before a line too long to be
    // one), so passes repeat until nothing is found: that makes the result a fixed point. In practice the second pass
    // finds nothing; the bound only keeps a hostile text from buying more than linear time.
    for _ in 0..MOST_PASSES {
        match pass(&redacted, options) {
            Some(again) => redacted = again,
            None => break,
        }
    }
    Cow::Owned(redacted)
}

const MOST_PASSES: usize = 32;
const MARK: &[u8] = b"[REDACTED:";

/// A secret: where it stands and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hit {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// One pass; `None` when nothing was found, and then nothing was allocated.
fn pass(text: &[u8], options: Options) -> Option<Vec<u8>> {
    let mut hit = scan::next(text, 0, options)?;
    let mut redacted = Vec::with_capacity(text.len() + 64);
    let mut copied = 0;
    loop {
        redacted.extend_from_slice(&text[copied..hit.start]);
        redacted.extend_from_slice(MARK);
        redacted.extend_from_slice(hit.kind.as_bytes());
        redacted.push(b']');
        copied = hit.end;
        match scan::next(text, copied, options) {
            Some(next) => hit = next,
            None => break,
        }
    }
    redacted.extend_from_slice(&text[copied..]);
    Some(redacted)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
