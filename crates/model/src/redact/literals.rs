//! Finds the start and the end of the value next to a name. The value may be in quotes, in brackets, bare, or split
//! over several lines.

use super::chance::profile_value;
use super::classes::{
    BASE64, BASE64_URL, DOT, IDENTIFIER_BYTE, byte_or_newline, class_run_length, class_run_length_at_end,
    is_byte_in_class,
};
use super::{made_up, names};

/// The maximum length of a quoted value. A longer string is a document and not a secret.
pub const MAX_QUOTED_BYTES: usize = 8 * 1024;

const MAX_UNQUOTED_VALUE_BYTES: usize = 2 * 1024;

/// The maximum length of a value in an environment file. Such a value may contain characters that a shell would not
/// accept.
const MAX_ENV_VALUE_BYTES: usize = 256;

/// A value in the text, without its quotes.
#[derive(Debug, Clone, Copy)]
pub struct LiteralValue {
    pub start: usize,
    pub end: usize,
    pub is_quoted: bool,
    /// Whether the value is inside a call such as `String::from("…")`.
    pub is_in_call: bool,
}

/// Returns the value that starts at `at`.
pub fn literal_value_at(text: &[u8], at: usize) -> Option<LiteralValue> {
    text.get(at)?;
    let quote = opening_quote_at(text, at).or_else(|| prefixed_quote_at(text, at));
    if let Some((start, slashes)) = quote {
        return quoted_value(text, start, slashes, false);
    }
    let rest = &text[at..];
    if let Some(value) = bracketed_value(text, at) {
        return Some(value);
    }
    let ident = rest
        .iter()
        .take(48)
        .take_while(|byte| is_byte_in_class(**byte, IDENTIFIER_BYTE) || matches!(byte, b':' | b'.'))
        .count();
    if ident > 0
        && byte_or_newline(rest, ident) == b'('
        && let Some((start, slashes)) = opening_quote_at(text, at + ident + 1)
    {
        return quoted_value(text, start, slashes, true);
    }
    // Swift names the argument, as in `Data(base64Encoded: "x")`.
    if ident > 0 && byte_or_newline(rest, ident) == b'(' {
        let label = class_run_length(&rest[ident + 1..], IDENTIFIER_BYTE, 24);
        if label > 0
            && rest[ident + 1 + label..].starts_with(b": ")
            && let Some((start, slashes)) = opening_quote_at(text, at + ident + label + 3)
        {
            return quoted_value(text, start, slashes, true);
        }
    }
    if rest.starts_with(b"[]byte(")
        && let Some((start, slashes)) = opening_quote_at(text, at + 7)
    {
        return quoted_value(text, start, slashes, true);
    }
    let mut length = bare_value_length(rest)?;
    while length > 0 && matches!(rest[length - 1], b'.' | b':') {
        length -= 1;
    }
    (length > 0).then_some(LiteralValue { start: at, end: at + length, is_quoted: false, is_in_call: false })
}

/// Reads the Perl and Ruby literals `q(x)`, `qq{x}` and `%q[x]`.
fn bracketed_value(text: &[u8], at: usize) -> Option<LiteralValue> {
    let rest = text[at..].strip_prefix(b"%").unwrap_or(&text[at..]);
    let rest =
        rest.strip_prefix(b"qq").or_else(|| rest.strip_prefix(b"q")).or_else(|| rest.strip_prefix(b"Q"))?;
    let close = match rest.first()? {
        b'(' => b')',
        b'{' => b'}',
        b'[' => b']',
        b'|' => b'|',
        _ => return None,
    };
    let start = text.len() - rest.len() + 1;
    let length =
        rest[1..].iter().take(MAX_ENV_VALUE_BYTES).position(|byte| *byte == close || *byte == b'\n')?;
    (length > 0 && rest[1 + length] == close).then_some(LiteralValue {
        start,
        end: start + length,
        is_quoted: true,
        is_in_call: false,
    })
}

/// Returns the length of a bare value. Returns `None` if the value is too long to be a secret, or if it contains
/// `name=value` where the name suggests a secret. That pair is judged separately, so no text is read more than a few
/// times.
fn bare_value_length(text: &[u8]) -> Option<usize> {
    for (at, byte) in text.iter().enumerate().take(MAX_UNQUOTED_VALUE_BYTES) {
        if ends_value(*byte) {
            return Some(at);
        }
        if matches!(byte, b'=' | b':') {
            let name = class_run_length_at_end(&text[..at], BASE64_URL | DOT, 40);
            if name > 0 && names::judge_name(&text[at - name..at]).is_some() {
                return None;
            }
        }
    }
    (text.len() < MAX_UNQUOTED_VALUE_BYTES).then_some(text.len())
}

/// Reads the opening quote at `at`, which may be escaped. Returns the start of the content and the number of
/// backslashes before the quote.
pub fn opening_quote_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let slashes = text[at.min(text.len())..].iter().take(8).take_while(|byte| **byte == b'\\').count();
    let mark = byte_or_newline(text, at + slashes);
    if !matches!(mark, b'"' | b'\'' | b'`') {
        return None;
    }
    let mut start = at + slashes + 1;
    if byte_or_newline(text, start) == mark && byte_or_newline(text, start + 1) == mark {
        start += 2;
    }
    Some((start, slashes))
}

/// Reads an opening quote with a prefix, such as `b"`, `r'`, `f"` or `@"`.
fn prefixed_quote_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let letters = text[at..].iter().take(2).take_while(|byte| b"bBrRuUfFLN@$".contains(byte)).count();
    (1..=letters).find_map(|skip| opening_quote_at(text, at + skip))
}

/// Reads up to the closing quote, which is the same quote on the same line with the same number of backslashes. A quote
/// with more backslashes belongs to the content.
fn quoted_value(text: &[u8], start: usize, slashes: usize, is_in_call: bool) -> Option<LiteralValue> {
    let mark = text[start - 1];
    let window = &text[start..text.len().min(start + MAX_QUOTED_BYTES)];
    for at in memchr::memchr2_iter(mark, b'\n', window) {
        if window[at] == b'\n' {
            return None;
        }
        let before = window[..at].iter().rev().take(16).take_while(|byte| **byte == b'\\').count();
        let closes = if slashes == 0 { before % 2 == 0 } else { before <= slashes };
        if closes {
            let end = at - before.min(slashes);
            return (end > 0).then_some(LiteralValue {
                start,
                end: start + end,
                is_quoted: true,
                is_in_call,
            });
        }
    }
    None
}

/// Finds the next part of a token that is split into several literals, as in `"ghp_…" +` with another quoted string on
/// the next line. The previous part ends at `end`.
pub fn continuation_of_split_token(text: &[u8], end: usize) -> Option<super::FoundSecret> {
    const MAX_BYTES_BETWEEN_TOKEN_PARTS: usize = 80;
    let mark = byte_or_newline(text, end);
    // In a shell, a backslash at the end of a line continues it, so the rest of the value is on the next line.
    if text[end..].starts_with(b"\\\n") {
        let length = class_run_length(&text[end + 2..], BASE64_URL, MAX_ENV_VALUE_BYTES);
        let looks = profile_value(&text[end + 2..end + 2 + length]);
        let rest = looks.has_letters_and_digits() && length >= 6 && looks.class_changes >= 2;
        return rest.then_some(super::FoundSecret { start: end + 2, end: end + 2 + length, kind: "token" });
    }
    if text.get(end) == Some(&b'\n') {
        return rest_of_wrapped_token(text, end).or_else(|| rest_on_next_line(text, end));
    }
    // The parts of a web token may be on lines of their own.
    if text[end..].starts_with(b".\n") {
        let start = end + 2 + super::classes::count_blanks(&text[end + 2..], 16);
        let length = class_run_length(&text[start..], BASE64_URL, MAX_QUOTED_BYTES);
        let rest =
            start > end + 2 && length >= 16 && profile_value(&text[start..start + length]).looks_random();
        return rest.then_some(super::FoundSecret { start, end: start + length, kind: "token" });
    }
    if !matches!(mark, b'"' | b'\'') {
        return None;
    }
    let joint = &text[end + 1..text.len().min(end + 1 + MAX_BYTES_BETWEEN_TOKEN_PARTS)];
    let length = joint.iter().take_while(|byte| b" \t\r\n+.&\\".contains(byte)).count();
    let joins = joint[..length].iter().any(|byte| matches!(byte, b'+' | b'.' | b'&' | b'\n'));
    if !joins || byte_or_newline(joint, length) != mark {
        return None;
    }
    let start = end + 1 + length + 1;
    let length = text
        .get(start..)?
        .iter()
        .take(MAX_ENV_VALUE_BYTES)
        .position(|byte| *byte == mark || *byte <= b' ')?;
    let content = &text[start..start + length];
    let looks = profile_value(content);
    let plausible = looks.has_letters_and_digits()
        && looks.len >= 6
        && looks.class_changes >= 2
        && !super::contains_bytes(content, b"REDACTED");
    let told = text[start + length] == mark && plausible;
    told.then_some(super::FoundSecret { start, end: start + length, kind: "token" })
}

/// Finds the rest of a token that a terminal wrapped. The rest is alone on the next line and looks random.
fn rest_on_next_line(text: &[u8], end: usize) -> Option<super::FoundSecret> {
    let start = end + 1;
    let length = class_run_length(&text[start..], BASE64_URL, MAX_ENV_VALUE_BYTES);
    let looks = profile_value(&text[start..start + length]);
    let joined = is_byte_in_class(text[end - 1], IDENTIFIER_BYTE);
    let rest = joined
        && length >= 10
        && matches!(byte_or_newline(text, start + length), b'\n' | b'\r')
        && looks.digits > 0
        && looks.upper > 1
        && looks.lower > 1
        && looks.class_changes * 4 >= looks.len;
    rest.then_some(super::FoundSecret { start, end: start + length, kind: "token" })
}

/// Finds the rest of a long token that was wrapped. The rest is alone on the next line, which is indented.
fn rest_of_wrapped_token(text: &[u8], end: usize) -> Option<super::FoundSecret> {
    const WIDEST_TOKEN: usize = 60;
    let before = &text[end.saturating_sub(WIDEST_TOKEN)..end];
    let long = before.len() == WIDEST_TOKEN
        && before.iter().all(|byte| is_byte_in_class(*byte, BASE64 | BASE64_URL | DOT));
    let start = end + 1 + super::classes::count_blanks(&text[end + 1..], 16);
    let length = class_run_length(&text[start..], BASE64 | BASE64_URL | DOT, MAX_QUOTED_BYTES);
    let rest = length >= 16
        && start > end + 1
        && matches!(byte_or_newline(text, start + length), b'\n' | b'\r' | b'"' | b'\'')
        && profile_value(&text[start..start + length]).looks_random();
    (long && rest).then_some(super::FoundSecret { start, end: start + length, kind: "token" })
}

/// Returns the end of a bare password, which may contain an `&` if no `name=value` follows it.
pub fn end_past_ampersand(text: &[u8], end: usize) -> usize {
    let rest = &text[end..];
    let tail = rest.iter().take(64).take_while(|byte| **byte == b'&' || !ends_value(**byte)).count();
    // A tail that reaches the limit is left out, because cutting it could split a character.
    let fits =
        (2..64).contains(&tail) && byte_or_newline(rest, 0) == b'&' && byte_or_newline(rest, 1) != b'&';
    let continues = fits && !rest[..tail].contains(&b'=');
    if continues { end + tail } else { end }
}

/// Returns the end of the line if the line is `NAME=value` in an environment file, and otherwise `end`. The value is
/// everything after the `=`, including brackets, because no shell parses the file.
pub fn end_of_env_line(text: &[u8], start: usize, end: usize) -> usize {
    let rest = &text[start..];
    let length = rest
        .iter()
        .take(MAX_ENV_VALUE_BYTES)
        .take_while(|byte| **byte > b' ' && !b"\"'`\\".contains(byte))
        .count();
    let line = &rest[..length];
    let code = line.ends_with(b")") || line.ends_with(b";") || line.starts_with(b"$");
    let whole = length < MAX_ENV_VALUE_BYTES
        && start + length > end
        && matches!(byte_or_newline(rest, length), b'\n' | b'\r');
    if whole && !code && profile_value(line).looks_random() { start + length } else { end }
}

/// Returns whether a byte ends a bare value. Brackets end a value, so `f(x)` and `a[0]` are recognised as code.
fn ends_value(byte: u8) -> bool {
    byte <= b' ' || b"\"'`,;&|(){}[]<>\\".contains(&byte)
}

/// Returns the position where the value ends. If the value is a password with a file extension, as in
/// `password=x.zip`, the extension is not part of the value.
pub fn end_before_extension(text: &[u8], value: LiteralValue) -> usize {
    let content = &text[value.start..value.end];
    let stem = [
        ".zip", ".7z", ".rar", ".tar.gz", ".tgz", ".gz", ".pdf", ".docx", ".xlsx", ".kdbx", ".p12", ".pfx",
        ".gpg",
    ]
    .iter()
    .find_map(|extension| content.strip_suffix(extension.as_bytes()));
    match stem {
        Some(stem) if made_up::consists_of_joined_words(stem) || profile_value(stem).looks_random() => {
            value.start + stem.len()
        }
        _ => value.end,
    }
}
