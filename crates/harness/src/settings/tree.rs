//! Finds the positions of values in a settings file. Nothing is copied, and a container is scanned only when it is
//! needed. Even a file of five megabytes is read in one pass, without building a tree.

use std::ops::Range;

use super::scan::{JsonToken, JsonTokenSpan, SyntaxError, next_json_token, tokens_from};

/// How deeply a file may be nested. Only a file that is meant to crash its readers is nested more deeply.
const MAX_DEPTH: usize = 512;

/// Which tokens may come next.
#[derive(Clone, Copy)]
enum ExpectedToken {
    Value,
    ElementOrClose,
    KeyOrClose,
    Colon,
    CommaOrClose,
    End,
}

/// Checks that `text` is one JSON value, with comments and trailing commas allowed. Returns the value's position, or
/// `None` if the text is blank. The function keeps its own stack, so that deep nesting cannot overflow the call stack.
pub fn check_json(text: &str) -> Result<Option<Range<usize>>, SyntaxError> {
    let mut stack = Vec::new();
    let mut expected = ExpectedToken::Value;
    let mut root = None;
    let mut commented = false;
    let mut at = 0;
    while let Some(JsonTokenSpan { token, start, end }) = next_json_token(text, at)? {
        at = end;
        if matches!(token, JsonToken::LineComment | JsonToken::BlockComment) {
            commented = true;
            continue;
        }
        root.get_or_insert(start..end).end = end;
        expected = match (expected, token) {
            (
                ExpectedToken::Value | ExpectedToken::ElementOrClose,
                JsonToken::Text | JsonToken::NumberOrWord,
            ) => expected_after_value(&stack),
            (
                ExpectedToken::Value | ExpectedToken::ElementOrClose,
                JsonToken::OpenObject | JsonToken::OpenArray,
            ) => {
                if stack.len() == MAX_DEPTH {
                    return Err(SyntaxError {
                        byte_offset: start,
                        why: format!("nested more than {MAX_DEPTH} levels deep"),
                    });
                }
                stack.push(token);
                expected_inside(token)
            }
            (ExpectedToken::KeyOrClose, JsonToken::Text) => ExpectedToken::Colon,
            (ExpectedToken::Colon, JsonToken::Colon) => ExpectedToken::Value,
            (ExpectedToken::KeyOrClose | ExpectedToken::CommaOrClose, JsonToken::CloseObject)
                if stack.last() == Some(&JsonToken::OpenObject) =>
            {
                stack.pop();
                expected_after_value(&stack)
            }
            (ExpectedToken::ElementOrClose | ExpectedToken::CommaOrClose, JsonToken::CloseArray)
                if stack.last() == Some(&JsonToken::OpenArray) =>
            {
                stack.pop();
                expected_after_value(&stack)
            }
            (ExpectedToken::CommaOrClose, JsonToken::Comma) => {
                stack.last().copied().map_or(ExpectedToken::End, expected_inside)
            }
            _ => {
                return Err(SyntaxError {
                    byte_offset: start,
                    why: unexpected_token_message(expected, &stack),
                });
            }
        };
    }
    match expected {
        ExpectedToken::End => Ok(root),
        ExpectedToken::Value if root.is_none() && !commented => Ok(None),
        _ => Err(SyntaxError {
            byte_offset: text.len(),
            why: format!("the file ends here, but {}", unexpected_token_message(expected, &stack)),
        }),
    }
}

fn expected_inside(open: JsonToken) -> ExpectedToken {
    if open == JsonToken::OpenObject { ExpectedToken::KeyOrClose } else { ExpectedToken::ElementOrClose }
}

fn expected_after_value(stack: &[JsonToken]) -> ExpectedToken {
    if stack.is_empty() { ExpectedToken::End } else { ExpectedToken::CommaOrClose }
}

fn unexpected_token_message(expected: ExpectedToken, stack: &[JsonToken]) -> String {
    let close = if stack.last() == Some(&JsonToken::OpenObject) { '}' } else { ']' };
    match expected {
        ExpectedToken::Value => "a value is expected".into(),
        ExpectedToken::ElementOrClose => "a value or `]` is expected".into(),
        ExpectedToken::KeyOrClose => "`}` or a key in double quotes is expected".into(),
        ExpectedToken::Colon => "`:` is expected after the key".into(),
        ExpectedToken::CommaOrClose => format!("`,` or `{close}` is expected"),
        ExpectedToken::End => "nothing is expected after the value".into(),
    }
}

/// An object or an array.
#[derive(Debug)]
pub struct JsonContainer {
    pub open_bracket: usize,
    pub close_bracket: usize,
    pub items: Vec<JsonItem>,
    /// The end of the last token before the closing bracket: the opening bracket, an item, a comma or a comment.
    /// Between this position and `close`, there is only white space.
    pub last_token_end: usize,
    /// Whether the last token is a `//` comment, which needs a line end.
    pub last_token_needs_line_end: bool,
}

/// A member of an object or an element of an array.
#[derive(Debug)]
pub struct JsonItem {
    pub key_range: Option<Range<usize>>,
    pub value_range: Range<usize>,
    /// The position of the comma after the item.
    pub comma_position: Option<usize>,
    /// The end of the bracket or comma before the item. Between this position and the item, there can be white space
    /// and comments.
    pub gap_start: usize,
    pub start: usize,
    /// The end of the last token before the item, including comments. Between this position and the item's start, there
    /// is only white space.
    pub previous_token_end: usize,
    /// Whether the last token before the item is a `//` comment, which needs a line end.
    pub previous_token_needs_line_end: bool,
}

impl JsonItem {
    pub fn end(&self) -> usize {
        self.value_range.end
    }

    pub fn range(&self) -> Range<usize> {
        self.start..self.end()
    }

    /// Returns the text between the item and the bracket or comma before it.
    pub fn text_before<'a>(&self, text: &'a str) -> &'a str {
        &text[self.gap_start..self.start]
    }
}

/// Returns the container that opens at `open`. The text must have passed [`check_json`].
pub fn read_container(text: &str, open: usize) -> JsonContainer {
    let object = text[open..].starts_with('{');
    let mut container = JsonContainer {
        open_bracket: open,
        close_bracket: text.len(),
        items: Vec::new(),
        last_token_end: open + 1,
        last_token_needs_line_end: false,
    };
    let mut gap_start = open + 1;
    let mut key: Option<(JsonTokenSpan, usize, bool)> = None;
    let mut at = open + 1;
    while let Ok(Some(lexeme)) = next_json_token(text, at) {
        let JsonTokenSpan { token, start, end } = lexeme;
        at = end;
        match token {
            JsonToken::CloseObject | JsonToken::CloseArray => {
                container.close_bracket = start;
                break;
            }
            JsonToken::Comma => {
                if let Some(item) = container.items.last_mut() {
                    item.comma_position = Some(start);
                }
                gap_start = end;
            }
            JsonToken::Text if object && key.is_none() => {
                key = Some((lexeme, container.last_token_end, container.last_token_needs_line_end));
            }
            JsonToken::Text | JsonToken::NumberOrWord | JsonToken::OpenObject | JsonToken::OpenArray => {
                at = value_end(text, lexeme);
                let (first, previous_token_end, previous_token_needs_line_end) =
                    key.unwrap_or((lexeme, container.last_token_end, container.last_token_needs_line_end));
                container.items.push(JsonItem {
                    key_range: key.take().map(|(key, ..)| key.start..key.end),
                    value_range: start..at,
                    comma_position: None,
                    gap_start,
                    start: first.start,
                    previous_token_end,
                    previous_token_needs_line_end,
                });
            }
            JsonToken::Colon | JsonToken::LineComment | JsonToken::BlockComment => {}
        }
        container.last_token_end = at;
        container.last_token_needs_line_end = token == JsonToken::LineComment;
    }
    container
}

fn value_end(text: &str, first: JsonTokenSpan) -> usize {
    let mut depth = 0usize;
    for JsonTokenSpan { token, end, .. } in tokens_from(text, first.start) {
        match token {
            JsonToken::OpenObject | JsonToken::OpenArray => depth += 1,
            JsonToken::CloseObject | JsonToken::CloseArray => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return end;
        }
    }
    text.len()
}

pub fn count_comments(text: &str, range: &Range<usize>) -> usize {
    tokens_from(text, range.start)
        .take_while(|lexeme| lexeme.start < range.end)
        .filter(|lexeme| matches!(lexeme.token, JsonToken::LineComment | JsonToken::BlockComment))
        .count()
}

/// Returns the value of a string. Returns `None` if the value is not a string, or if it contains half of a surrogate
/// pair. Our own strings never contain one.
pub fn string_value(text: &str, range: &Range<usize>) -> Option<String> {
    serde_json::from_str(&text[range.clone()]).ok()
}

/// Returns whether the item's key is `name`, after decoding escapes.
pub fn has_key(text: &str, item: &JsonItem, name: &str) -> bool {
    item.key_range.as_ref().and_then(|key| string_value(text, key)).is_some_and(|key| key == name)
}
