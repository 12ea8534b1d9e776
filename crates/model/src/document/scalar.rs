//! Reads and writes one value of the frontmatter.
//!
//! Reading accepts more than writing produces. For example, `purpose: fix: the thing` is read as a string although
//! YAML rejects it, and it is written with quotes. Every YAML parser reads a written value in the same way. This
//! includes parsers of YAML 1.1, in which unquoted `no`, `12:30`, `1_000` and timestamps are not strings.

use std::ops::Range;

use serde_json::{Number, Value};

use super::line::{count_leading_bytes, is_all_blank, is_space_or_tab, slice_or_empty, trimmed_range};

pub(super) struct ScalarToken {
    /// The range of the value, relative to the input. It is empty if there is no value.
    pub span: Range<usize>,
    pub value: Value,
    pub flaw: Option<ScalarFlaw>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarFlaw {
    Json,
    Quotes,
    UnsupportedYaml,
}

/// Reads the text after `key:`. It never fails: a malformed value is read as text, and the result says what is wrong
/// with it.
pub(super) fn read_scalar(text: &[u8]) -> ScalarToken {
    let start = count_leading_bytes(text, is_space_or_tab);
    let rest = slice_or_empty(text, start..text.len());
    let first = rest.first().copied().unwrap_or_default();
    let quoted = match first {
        b'[' | b'{' | b'"' => parse_json_prefix(rest),
        b'\'' => parse_single_quoted(rest),
        _ => None,
    };
    if let Some((value, length)) = quoted
        && is_end_of_value(slice_or_empty(rest, length..rest.len()))
    {
        return ScalarToken { span: start..start + length, value, flaw: None };
    }
    let flaw = match first {
        b'[' | b'{' => Some(ScalarFlaw::Json),
        b'"' | b'\'' => Some(ScalarFlaw::Quotes),
        b'&' | b'*' | b'!' | b'|' | b'>' | b'%' | b'@' | b'`' => Some(ScalarFlaw::UnsupportedYaml),
        _ => None,
    };
    let bare = bare_value_range(text);
    let value = if flaw.is_some() {
        text_as_json_value(slice_or_empty(text, bare.clone()))
    } else {
        parse_bare_value(slice_or_empty(text, bare.clone()))
    };
    ScalarToken { span: bare, value, flaw }
}

/// Reads an item of a block list. An item is always a string, so `- 5` is read as `"5"`.
pub(super) fn read_list_item(text: &[u8]) -> ScalarToken {
    let token = read_scalar(text);
    if token.value.is_string() {
        return token;
    }
    let value = text_as_json_value(slice_or_empty(text, token.span.clone()));
    ScalarToken { value, ..token }
}

/// Writes a value on one line. If `quoted` is true, the replaced value was in double quotes.
pub(super) fn write_scalar(value: &Value, quoted: bool) -> String {
    match value {
        Value::String(text) if !quoted && needs_no_quotes(text) => text.clone(),
        value => escape_for_yaml(&value.to_string()),
    }
}

/// Returns whether YAML reads a string back unchanged if it is written without quotes.
pub(super) fn needs_no_quotes(text: &str) -> bool {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else { return false };
    let indicator = "-?:,[]{}#&*!|>'\"%@`=<~".contains(first);
    let edge = first.is_whitespace() || last.is_whitespace() || last == ':';
    let inside = text.contains(": ")
        || text.contains(" #")
        || text.chars().any(|c| c.is_control() || is_unsafe_in_yaml(c));
    !(indicator || edge || inside || is_yaml_word(text) || is_number_like(text))
}

/// Returns whether a string is a word that some version of YAML does not read as a string.
fn is_yaml_word(text: &str) -> bool {
    const YAML_WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    YAML_WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Returns whether a YAML reader might read this as a number, a date or a time of day. If in doubt, returns true.
fn is_number_like(text: &str) -> bool {
    let head = text.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'.'));
    let digits = |byte: u8| byte.is_ascii_hexdigit() || b"xXoO_:.+- tTzZ".contains(&byte);
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let special = [".inf", ".nan"].iter().any(|word| word.eq_ignore_ascii_case(unsigned));
    head && (special || text.bytes().all(digits))
}

/// Returns whether JSON leaves the character unescaped although YAML forbids it or reads it as a line ending.
fn is_unsafe_in_yaml(character: char) -> bool {
    matches!(character, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Makes JSON valid as YAML. Unsafe characters occur only inside strings, where they can be escaped.
fn escape_for_yaml(json: &str) -> String {
    if !json.contains(is_unsafe_in_yaml) {
        return json.to_owned();
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_unsafe_in_yaml(character) {
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Returns the JSON value at the start of `text` and its length.
fn parse_json_prefix(text: &[u8]) -> Option<(Value, usize)> {
    let mut stream = serde_json::Deserializer::from_slice(text).into_iter::<Value>();
    let value = stream.next()?.ok()?;
    Some((value, stream.byte_offset()))
}

/// Parses `'it''s'`. The only escape is a doubled quote.
fn parse_single_quoted(text: &[u8]) -> Option<(Value, usize)> {
    let mut decoded = Vec::new();
    let mut at = 1;
    loop {
        let rest = text.get(at..)?;
        let length = memchr::memchr(b'\'', rest)?;
        decoded.extend_from_slice(slice_or_empty(rest, 0..length));
        at += length + 1;
        if text.get(at) != Some(&b'\'') {
            return Some((text_as_json_value(&decoded), at));
        }
        decoded.push(b'\'');
        at += 1;
    }
}

/// Returns whether a quoted value ends here, followed only by blanks and a comment.
fn is_end_of_value(rest: &[u8]) -> bool {
    let blanks = count_leading_bytes(rest, is_space_or_tab);
    is_all_blank(rest) || (blanks > 0 && rest.get(blanks) == Some(&b'#'))
}

/// Returns the range of a bare value without surrounding blanks. A `#` after a blank ends the value.
fn bare_value_range(text: &[u8]) -> Range<usize> {
    let comment = memchr::memchr_iter(b'#', text).find(|at| {
        at.checked_sub(1).and_then(|before| text.get(before)).is_none_or(|byte| is_space_or_tab(*byte))
    });
    trimmed_range(slice_or_empty(text, 0..comment.unwrap_or(text.len())))
}

fn parse_bare_value(text: &[u8]) -> Value {
    match text {
        b"" | b"~" | b"null" | b"Null" | b"NULL" => Value::Null,
        b"true" | b"True" | b"TRUE" => Value::Bool(true),
        b"false" | b"False" | b"FALSE" => Value::Bool(false),
        _ => parse_number(text).map_or_else(|| text_as_json_value(text), Value::Number),
    }
}

/// Parses a JSON number. `007`, `+7`, `.5` and `1_000` are not numbers.
fn parse_number(text: &[u8]) -> Option<Number> {
    let number = serde_json::from_slice::<Number>(text).ok()?;
    // serde_json may round the last bit of a float wrongly, so Rust's own parser parses the number again.
    let exact = || Number::from_f64(std::str::from_utf8(text).ok()?.parse().ok()?);
    if number.is_f64() { exact() } else { Some(number) }
}

fn text_as_json_value(text: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(text).into_owned())
}
