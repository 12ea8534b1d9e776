//! Replaces secrets with placeholders. `redact_text` runs before captured text is written or sent to a model.
//!
//! The scan is one pass over the bytes, without regular expressions and without tables built at start-up, because it
//! runs in processes that live for only half a millisecond. A table maps each byte to the scanner that handles it.
//! Almost all bytes belong to words that the scan skips after three lookups. The table in `rules` describes provider
//! tokens. All other secrets are found by scanners in these modules:
//!
//! - `shape`: matches one rule of the table; `infix`: tokens without a prefix
//! - `named`: `name = value`; `name_spans`: where the name is; `names`: whether the name suggests a secret; `values`:
//!   whether the value is a secret; `literals`: where the value starts and ends
//! - `headers`: `Authorization:`; `urls`: `scheme://user:password@host`
//! - `flags`: command lines; `pipes`: input piped into a command; `keys`: private keys and web tokens
//! - `stated`: `the password is value`; `directives`: SQL, router configurations and Lisp, where no separator comes
//!   before the value; `placed`: a value recognised by its line; `calls`: `f("name", "value")` and `<name>value</name>`
//! - `context`: secrets that are recognised by what surrounds them, such as cookies, codes in a URL and a value on the
//!   line below its name
//! - `commands`: positional arguments of commands; `languages`: languages other than English
//! - `tables`: CSV and similar formats, by the header of a column; `telling_lines`: random values that no other rule
//!   finds
//! - `passwords`: whether the value after a password's name is a password; `pairs`: `credentials: user / password`
//! - `file_names`: names of files and branches
//! - `mentions`: a password anywhere in a line that mentions a password; `nouns` and `words`: how such a line is
//!   parsed; `answers`: the lines after such a line; `grades`: how much a word looks like a password
//! - `made_up`: passwords made of words; `lexicon`: lists of words; `sentences`: passwords stated in sentences
//! - `view`: the decoded text without invisible characters
//! - `capture`: redacts captured text before any part of it is kept
//!
//! Every scanner looks back and ahead a bounded distance, so the time is linear in the length of the text.

mod answers;
mod calls;
mod capture;
mod chance;
mod classes;
mod commands;
mod context;
mod directives;
mod file_names;
mod flags;
mod grades;
mod headers;
mod infix;
mod keys;
mod languages;
mod lexicon;
mod lines_about_secrets;
mod literals;
mod made_up;
mod mentions;
mod name_spans;
mod named;
mod names;
mod nouns;
mod pairs;
mod passwords;
mod pipes;
mod placed;
mod rules;
mod scan;
mod sentences;
mod shape;
mod stated;
mod tables;
mod urls;
mod values;
mod view;
mod words;

pub use capture::{REDACTION_MARGIN_BYTES, Redacted};

use std::borrow::Cow;
use std::ops::Range;

use view::DecodedView;

#[derive(Clone, Copy, Debug, Default)]
pub struct RedactOptions {
    pub emails: bool,
}

/// Replaces each secret in `text` with a typed placeholder such as `[REDACTED:github-token]`. Text without secrets is
/// borrowed and not copied. The function is idempotent.
pub fn redact_text(text: &str, options: RedactOptions) -> Cow<'_, str> {
    match redact_bytes(text.as_bytes(), options) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(bytes_to_text(bytes)),
    }
}

/// Converts redacted bytes to text. Scanners cut only at ASCII bytes, so the bytes are valid UTF-8.
fn bytes_to_text(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}

/// Redacts text that may contain invalid UTF-8. Bytes outside secrets are unchanged.
pub fn redact_bytes(text: &[u8], options: RedactOptions) -> Cow<'_, [u8]> {
    redact_range(text, 0..text.len(), options)
}

/// Redacts `text` and returns the result for `text[part]`. A secret that crosses an edge of `part` is replaced
/// completely.
fn redact_range(text: &[u8], part: Range<usize>, options: RedactOptions) -> Cow<'_, [u8]> {
    let hits = find_secrets(text, options);
    if hits.is_empty() {
        return Cow::Borrowed(&text[part]);
    }
    let mut redacted = replace_found_secrets(text, part, &hits);
    // A placeholder can make the text around it match a rule, so the passes repeat until one finds nothing. This makes
    // redaction idempotent. The second pass rarely finds anything. `MAX_REDACTION_PASSES` keeps the time linear for
    // hostile text.
    for _ in 0..MAX_REDACTION_PASSES {
        let hits = find_secrets(&redacted, options);
        if hits.is_empty() {
            break;
        }
        redacted = replace_found_secrets(&redacted, 0..redacted.len(), &hits);
    }
    Cow::Owned(redacted)
}

const MAX_REDACTION_PASSES: usize = 32;
const PLACEHOLDER_START: &[u8] = b"[REDACTED:";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FoundSecret {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// Finds all secrets in the raw bytes and in the decoded [`view`]. The hits are in order and do not overlap.
fn find_secrets(text: &[u8], options: RedactOptions) -> Vec<FoundSecret> {
    let (mut hits, tables) = find_secrets_in_bytes(text, options);
    let regions = view::regions_to_decode(text);
    if regions.is_empty() && !tables {
        return hits;
    }
    for region in regions {
        let view = DecodedView::build(text, region);
        hits.extend(find_secrets_in_bytes(&view.bytes, options).0.iter().map(|hit| {
            let span = view.range_in_original_text(hit.start, hit.end);
            FoundSecret { start: span.start, end: span.end, kind: hit.kind }
        }));
    }
    // Overlapping hits are merged. The merged hit gets the kind of the first one, or of the longer one if both start at
    // the same byte.
    hits.sort_by_key(|hit| (hit.start, usize::MAX - hit.end));
    let mut apart: Vec<FoundSecret> = Vec::with_capacity(hits.len());
    for hit in hits {
        match apart.last_mut() {
            Some(last) if hit.start < last.end => last.end = last.end.max(hit.end),
            _ => apart.push(hit),
        }
    }
    apart
}

/// Returns the secrets in `text`, and whether some of them were found in tables. In that case the hits are not sorted
/// by position.
fn find_secrets_in_bytes(text: &[u8], options: RedactOptions) -> (Vec<FoundSecret>, bool) {
    let (mut hits, mut heads) = (Vec::new(), Vec::new());
    let mut floor = 0;
    while let Some(hit) = scan::next_secret(text, floor, options, &mut heads) {
        floor = hit.end;
        hits.push(hit);
        while let Some(rest) = values::continuation_of_split_token(text, floor) {
            floor = rest.end;
            hits.push(rest);
        }
    }
    let found = hits.len();
    // Several table heads can cover the same rows, so the number of heads examined is limited.
    heads.truncate(MAX_TABLE_HEADS);
    for head in heads {
        match head {
            TableHead::Column(at) => tables::secrets_below_head(text, at, &mut hits),
            TableHead::Values(at) => tables::secrets_in_insert(text, at, &mut hits),
            TableHead::List(at) => sentences::secrets_in_list(text, at, &mut hits),
            TableHead::Manifest(at) => tables::secrets_in_kubernetes_manifest(text, at, &mut hits),
        }
    }
    let tables = hits.len() > found;
    (hits, tables)
}

#[derive(Debug, Clone, Copy)]
enum TableHead {
    /// The position of a keyword that may be the header of a column.
    Column(usize),
    /// The position after `VALUES` in an `INSERT` statement.
    Values(usize),
    /// The position after the bracket that opens a list of passwords.
    List(usize),
    /// The position of `Secret` in the line `kind: Secret` of a Kubernetes manifest.
    Manifest(usize),
}

/// The maximum number of [`TableHead`]s that one call examines.
const MAX_TABLE_HEADS: usize = 256;

/// Returns `text[part]` with a placeholder for each hit.
fn replace_found_secrets(text: &[u8], part: Range<usize>, hits: &[FoundSecret]) -> Vec<u8> {
    let mut redacted = Vec::with_capacity(part.len() + 64);
    let mut copied = part.start;
    for hit in hits.iter().filter(|hit| hit.end > part.start && hit.start < part.end) {
        redacted.extend_from_slice(&text[copied..hit.start.max(copied)]);
        let secret = &text[hit.start..hit.end];
        let placeholder = [PLACEHOLDER_START, hit.kind.as_bytes(), b"]"].concat();
        // If every second byte is zero, the secret is ASCII text in UTF-16, so the placeholder is written in UTF-16
        // too.
        if secret.len() >= 3
            && secret.len() % 2 == 1
            && secret.iter().skip(1).step_by(2).all(|byte| *byte == 0)
        {
            let last = placeholder.len() - 1;
            redacted.extend(placeholder[..last].iter().flat_map(|byte| [*byte, 0]));
            redacted.push(placeholder[last]);
        } else {
            redacted.extend_from_slice(&placeholder);
        }
        keep_color_codes(secret, &mut redacted);
        copied = hit.end;
    }
    redacted.extend_from_slice(&text[copied.min(part.end)..part.end]);
    redacted
}

/// Keeps the colour codes found inside a secret, because one of them may end a colour that started before the secret.
fn keep_color_codes(secret: &[u8], out: &mut Vec<u8>) {
    for at in memchr::memchr_iter(0x1b, secret) {
        let rest = &secret[at + 1..];
        let length =
            rest.iter().take(24).take_while(|byte| matches!(byte, b'[' | b'0'..=b'9' | b';')).count();
        if rest.first() == Some(&b'[') && rest.get(length) == Some(&b'm') {
            out.extend_from_slice(&secret[at..at + length + 2]);
        }
    }
}

fn contains_bytes(text: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else { return true };
    memchr::memchr_iter(*first, text).any(|at| text[at + 1..].starts_with(rest))
}
