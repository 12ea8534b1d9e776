//! Splits JSON with comments into tokens. The scanner is as strict as `JSON.parse`, because the harness must be able to
//! read every file that we accept.

/// A syntax error at a byte of the text. The caller converts it to a [`super::SettingsProblem`] with a line and a
/// column.
#[derive(Debug)]
pub struct SyntaxError {
    pub byte_offset: usize,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonToken {
    OpenObject,
    CloseObject,
    OpenArray,
    CloseArray,
    Comma,
    Colon,
    /// A string, including its quotes.
    Text,
    /// A number, `true`, `false` or `null`.
    NumberOrWord,
    LineComment,
    BlockComment,
}

#[derive(Clone, Copy, Debug)]
pub struct JsonTokenSpan {
    pub token: JsonToken,
    pub start: usize,
    pub end: usize,
}

/// Returns the next token at or after `at`; `None` at the end of the text.
pub fn next_json_token(text: &str, at: usize) -> Result<Option<JsonTokenSpan>, SyntaxError> {
    let bytes = text.as_bytes();
    let start = at + count_blanks(&bytes[at..]);
    let Some(&first) = bytes.get(start) else { return Ok(None) };
    let (token, end) = match first {
        b'{' => (JsonToken::OpenObject, start + 1),
        b'}' => (JsonToken::CloseObject, start + 1),
        b'[' => (JsonToken::OpenArray, start + 1),
        b']' => (JsonToken::CloseArray, start + 1),
        b',' => (JsonToken::Comma, start + 1),
        b':' => (JsonToken::Colon, start + 1),
        b'"' => (JsonToken::Text, scan_string(bytes, start)?),
        b'/' => scan_comment(bytes, start)?,
        b'-' | b'0'..=b'9' => (JsonToken::NumberOrWord, scan_number(bytes, start)?),
        _ => (JsonToken::NumberOrWord, scan_word(text, start)?),
    };
    Ok(Some(JsonTokenSpan { token, start, end }))
}

/// Iterates over the tokens from `at`. The text must already have been checked.
pub fn tokens_from(text: &str, at: usize) -> impl Iterator<Item = JsonTokenSpan> {
    let mut at = at;
    std::iter::from_fn(move || {
        let lexeme = next_json_token(text, at).ok().flatten()?;
        at = lexeme.end;
        Some(lexeme)
    })
}

/// Returns the number of JSON white space bytes at the beginning. Like `JSON.parse`, this function accepts no other
/// white space.
pub fn count_blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

fn syntax_error<T>(at: usize, why: impl Into<String>) -> Result<T, SyntaxError> {
    Err(SyntaxError { byte_offset: at, why: why.into() })
}

fn scan_string(bytes: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None => return syntax_error(start, "this string is never closed"),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape_length(bytes, at)?,
            Some(b'\n' | b'\r') => return syntax_error(at, "the line ends inside a string"),
            Some(0..0x20) => return syntax_error(at, "a control character inside a string"),
            Some(_) => at += 1,
        }
    }
}

/// Returns the length of the escape whose backslash is at `at`.
fn escape_length(bytes: &[u8], at: usize) -> Result<usize, SyntaxError> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(6),
            _ => syntax_error(at, "\\u needs four hexadecimal digits"),
        },
        _ => syntax_error(at, "JSON has no such escape"),
    }
}

fn scan_comment(bytes: &[u8], start: usize) -> Result<(JsonToken, usize), SyntaxError> {
    let rest = &bytes[start + 1..];
    match rest.first() {
        Some(b'/') => {
            let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
            Ok((JsonToken::LineComment, start + 1 + length))
        }
        Some(b'*') => match rest[1..].windows(2).position(|pair| pair == b"*/") {
            Some(length) => Ok((JsonToken::BlockComment, start + 2 + length + 2)),
            None => syntax_error(start, "this comment is never closed"),
        },
        _ => syntax_error(start, "unexpected `/`"),
    }
}

fn scan_number(bytes: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let wanted = |at: usize| match digits(at) {
        0 => syntax_error(at.min(bytes.len()), "a digit is missing in this number"),
        count => Ok(at + count),
    };
    let whole = start + usize::from(bytes[start] == b'-');
    let mut at = wanted(whole)?;
    if bytes[whole] == b'0' && at > whole + 1 {
        return syntax_error(whole, "a number must not begin with 0");
    }
    if bytes.get(at) == Some(&b'.') {
        at = wanted(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = wanted(at + 1 + sign)?;
    }
    match bytes.get(at) {
        Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') => {
            syntax_error(at, "this is not a number")
        }
        _ => Ok(at),
    }
}

fn scan_word(text: &str, start: usize) -> Result<usize, SyntaxError> {
    let rest = &text[start..];
    let length = rest.find(|c: char| !c.is_alphanumeric() && !"_$-".contains(c)).unwrap_or(rest.len());
    match &rest[..length] {
        "true" | "false" | "null" => Ok(start + length),
        "" => syntax_error(start, format!("unexpected {}", first_char_shown(rest))),
        word => syntax_error(start, format!("unexpected `{}`", word.chars().take(40).collect::<String>())),
    }
}

/// Returns the first character, escaped if it is invisible.
fn first_char_shown(rest: &str) -> String {
    match rest.chars().next() {
        Some(c) if c.is_control() || c.is_whitespace() || c == '\u{feff}' => {
            format!("character U+{:04X}", u32::from(c))
        }
        Some(c) => format!("`{c}`"),
        None => "end".into(),
    }
}
