//! `Authorization` headers: the scheme stays, the credential is replaced.

use super::chance::profile;
use super::classes::{ALNUM, ANY_HEX, BASE64, BASE64_URL, DASH, DOT, TILDE, blanks, byte, is, run};
use super::names::Says;
use super::values::{self, Joint, Value};
use super::{Hit, shape};

const SCHEMES: &str = "bearer basic token apikey api-key key ssws oauth bot digest negotiate geniekey deepl-auth-key \
    klaviyo-api-key jwt pat splunk sso-key x-api-key authtoken zoho-oauthtoken private-token credential";

/// Returns the credential of an `Authorization` header whose value starts at `at`.
pub fn credential(text: &[u8], at: usize) -> Option<Hit> {
    let start = values::quote_at(text, at).map_or(at, |(start, _)| start);
    let scheme = run(&text[start..], ALNUM | DASH, 24);
    if text[start..start + scheme].starts_with(b"AWS4-") {
        return None;
    }
    if text[start..start + scheme].eq_ignore_ascii_case(b"digest") {
        return digest(text, start);
    }
    let known = is_scheme(&text[start..start + scheme]);
    let gap = blanks(&text[start + scheme..], 4);
    // A shell escapes the blank: `Authorization:\ Bearer\ x`.
    if text[start..].starts_with(b"\\ ") {
        return credential(text, start + 2);
    }
    if known && text[start + scheme..].starts_with(b"\\ ") {
        return bearer(text, start + scheme + 1);
    }
    if text[start + scheme + gap..].starts_with(b"\\\n") && known {
        return bearer(text, start + scheme);
    }
    let from = if gap > 0 { start + scheme + gap } else { start };
    if gap == 0 && known {
        return None;
    }
    let value =
        Value { start: from, end: from + run_of_credential(&text[from..]), quoted: true, wrapped: false };
    let content = &text[value.start..value.end];
    let looks = profile(content);
    let words = looks.digits == 0 && looks.changes * 5 < looks.len && !looks.is_random();
    // A long word in lower case is not the name of a variable either.
    let words = words && !(known && looks.len >= 16 && looks.lower == looks.len);
    let pair = known && starts_basic(&text[start..]) && looks.len >= 8;
    if content.len() < 6
        || byte(text, value.end) == b'('
        || (words && !pair)
        || values::is_constant(content)
        || !values::is_secret(text, value, Says::Authorization, Joint::default())
    {
        return None;
    }
    let kind = shape::find(text, from, from)
        .filter(|hit| hit.end == value.end)
        .map_or("authorization", |hit| hit.kind);
    Some(Hit { start: value.start, end: value.end, kind })
}

/// Finds the proof of the password in a header such as `Digest username="bob", …, response="6629fa…"`.
fn digest(text: &[u8], at: usize) -> Option<Hit> {
    const PROOF: &[u8] = b"response=\"";
    let line = &text[at..text.len().min(at + 2048)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let start = at + memchr::memmem::find(line, PROOF)? + PROOF.len();
    let length = run(&text[start..], ANY_HEX, 128);
    (length >= 16).then_some(Hit { start, end: start + length, kind: "authorization" })
}

/// Finds the token in `Bearer x` outside a header. `at` is after the word `Bearer`. In prose almost any word can
/// follow, so the token must look random.
pub fn bearer(text: &[u8], at: usize) -> Option<Hit> {
    let from = at + blanks(&text[at..], 2);
    // A backslash continues the line.
    let from = match text[from..].strip_prefix(b"\\\n") {
        Some(rest) => from + 2 + blanks(rest, 16),
        None => from,
    };
    let value =
        Value { start: from, end: from + run_of_credential(&text[from..]), quoted: true, wrapped: false };
    let looks = profile(&text[value.start..value.end]);
    let called = matches!(byte(text, value.end), b'(' | b'[' | b'{');
    let secret = looks.len >= 12
        && looks.is_random()
        && !called
        && values::is_secret(text, value, Says::Secret, Joint::default());
    secret.then_some(Hit { start: value.start, end: value.end, kind: "authorization" })
}

fn run_of_credential(text: &[u8]) -> usize {
    let mut length = run(text, BASE64 | BASE64_URL | DOT | TILDE, 8 * 1024);
    // `id:key` pairs and similar continue after a colon or another separator.
    while matches!(byte(text, length), b':' | b'|' | b'!' | b'$' | b'*' | b'@' | b'#')
        && is(byte(text, length + 1), ALNUM)
    {
        length += 1;
        length += run(&text[length..], BASE64 | BASE64_URL | DOT | TILDE, 8 * 1024);
    }
    while length > 0 && matches!(text[length - 1], b'.') {
        length -= 1;
    }
    length
}

fn is_scheme(word: &[u8]) -> bool {
    SCHEMES.split_ascii_whitespace().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

fn starts_basic(text: &[u8]) -> bool {
    super::classes::starts_with_ignore_case(text, "basic ")
}
