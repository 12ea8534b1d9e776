//! `Authorization` headers. The scheme is kept, and the credential is replaced.

use super::chance::profile_value;
use super::classes::{
    ANY_HEX, BASE64, BASE64_URL, DASH, DOT, LETTER_OR_DIGIT, TILDE, byte_or_newline, class_run_length,
    count_blanks, is_byte_in_class,
};
use super::names::NameStrength;
use super::values::{self, LiteralValue, ValueContext};
use super::{FoundSecret, shape};

const AUTH_SCHEMES: &str = "bearer basic token apikey api-key key ssws oauth bot digest negotiate geniekey deepl-auth-key \
    klaviyo-api-key jwt pat splunk sso-key x-api-key authtoken zoho-oauthtoken private-token credential";

/// Finds the credential in an `Authorization` header whose value starts at `at`.
pub fn credential_in_header(text: &[u8], at: usize) -> Option<FoundSecret> {
    let start = values::opening_quote_at(text, at).map_or(at, |(start, _)| start);
    let scheme = class_run_length(&text[start..], LETTER_OR_DIGIT | DASH, 24);
    if text[start..start + scheme].starts_with(b"AWS4-") {
        return None;
    }
    if text[start..start + scheme].eq_ignore_ascii_case(b"digest") {
        return secret_in_digest_header(text, start);
    }
    let known = is_auth_scheme(&text[start..start + scheme]);
    let gap = count_blanks(&text[start + scheme..], 4);
    // In a shell command, the space may be escaped, as in `Authorization:\ Bearer\ x`.
    if text[start..].starts_with(b"\\ ") {
        return credential_in_header(text, start + 2);
    }
    if known && text[start + scheme..].starts_with(b"\\ ") {
        return token_after_bearer(text, start + scheme + 1);
    }
    if text[start + scheme + gap..].starts_with(b"\\\n") && known {
        return token_after_bearer(text, start + scheme);
    }
    let from = if gap > 0 { start + scheme + gap } else { start };
    if gap == 0 && known {
        return None;
    }
    let value = LiteralValue {
        start: from,
        end: from + credential_length(&text[from..]),
        is_quoted: true,
        is_in_call: false,
    };
    if value.end > value.start
        && let Some(token) = shape::token_starting_at(text, from, from).filter(|hit| hit.end == value.end)
    {
        return Some(FoundSecret { start: value.start, ..token });
    }
    let content = &text[value.start..value.end];
    let looks = profile_value(content);
    let words = looks.digits == 0 && looks.class_changes * 5 < looks.len && !looks.looks_random();
    // After a known scheme, a long word in lower case is a credential and not the name of a variable.
    let words = words && !(known && looks.len >= 16 && looks.lower == looks.len);
    let pair = known && begins_like_basic_pair(&text[start..]) && looks.len >= 8;
    if content.len() < 6
        || byte_or_newline(text, value.end) == b'('
        || (words && !pair)
        || values::is_constant_name(content)
        || !values::is_secret_value(text, value, NameStrength::Authorization, ValueContext::default())
    {
        return None;
    }
    Some(FoundSecret { start: value.start, end: value.end, kind: "authorization" })
}

/// Finds the response in a header such as `Digest username="bob", …, response="6629fa…"`. The response is computed from
/// the password.
fn secret_in_digest_header(text: &[u8], at: usize) -> Option<FoundSecret> {
    const DIGEST_RESPONSE_START: &[u8] = b"response=\"";
    let line = &text[at..text.len().min(at + 2048)];
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
    let start = at + memchr::memmem::find(line, DIGEST_RESPONSE_START)? + DIGEST_RESPONSE_START.len();
    let length = class_run_length(&text[start..], ANY_HEX, 128);
    (length >= 16).then_some(FoundSecret { start, end: start + length, kind: "authorization" })
}

/// Finds the token in `Bearer x` outside a header. `at` is just after the word `Bearer`. In prose almost any word can
/// follow, so the token must look random.
pub fn token_after_bearer(text: &[u8], at: usize) -> Option<FoundSecret> {
    let from = at + count_blanks(&text[at..], 2);
    // A backslash continues the line.
    let from = match text[from..].strip_prefix(b"\\\n") {
        Some(rest) => from + 2 + count_blanks(rest, 16),
        None => from,
    };
    let value = LiteralValue {
        start: from,
        end: from + credential_length(&text[from..]),
        is_quoted: true,
        is_in_call: false,
    };
    let looks = profile_value(&text[value.start..value.end]);
    let called = matches!(byte_or_newline(text, value.end), b'(' | b'[' | b'{');
    let secret = looks.len >= 12
        && looks.looks_random()
        && !called
        && values::is_secret_value(text, value, NameStrength::Secret, ValueContext::default());
    secret.then_some(FoundSecret { start: value.start, end: value.end, kind: "authorization" })
}

fn credential_length(text: &[u8]) -> usize {
    let mut length = class_run_length(text, BASE64 | BASE64_URL | DOT | TILDE, 8 * 1024);
    // A credential such as `id:key` continues after its separator.
    while matches!(byte_or_newline(text, length), b':' | b'|' | b'!' | b'$' | b'*' | b'@' | b'#')
        && (is_byte_in_class(byte_or_newline(text, length + 1), LETTER_OR_DIGIT)
            || text[length..].starts_with(b"::"))
    {
        length += 1 + usize::from(text[length..].starts_with(b"::"));
        length += class_run_length(&text[length..], BASE64 | BASE64_URL | DOT | TILDE, 8 * 1024);
    }
    while length > 0 && matches!(text[length - 1], b'.') {
        length -= 1;
    }
    length
}

fn is_auth_scheme(word: &[u8]) -> bool {
    AUTH_SCHEMES.split_ascii_whitespace().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

fn begins_like_basic_pair(text: &[u8]) -> bool {
    super::classes::starts_with_ignore_case(text, "basic ")
}
