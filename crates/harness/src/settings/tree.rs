//! Finds the positions of values in a settings file. Nothing is copied, and a container is scanned only when it is
//! needed. Even a file of five megabytes is read in one pass, without building a tree.

use std::ops::Range;

use super::scan::{Lexeme, SyntaxError, Token, next_lexeme, tokens_from};

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
    while let Some(Lexeme { token, start, end }) = next_lexeme(text, at)? {
        at = end;
        if matches!(token, Token::LineComment | Token::BlockComment) {
            commented = true;
            continue;
        }
        root.get_or_insert(start..end).end = end;
        expected = match (expected, token) {
            (ExpectedToken::Value | ExpectedToken::ElementOrClose, Token::Text | Token::NumberOrWord) => {
                expected_after_value(&stack)
            }
            (ExpectedToken::Value | ExpectedToken::ElementOrClose, Token::OpenObject | Token::OpenArray) => {
                if stack.len() == MAX_DEPTH {
                    return Err(SyntaxError { at: start, why: format!("nested more than {MAX_DEPTH} deep") });
                }
                stack.push(token);
                expected_inside(token)
            }
            (ExpectedToken::KeyOrClose, Token::Text) => ExpectedToken::Colon,
            (ExpectedToken::Colon, Token::Colon) => ExpectedToken::Value,
            (ExpectedToken::KeyOrClose | ExpectedToken::CommaOrClose, Token::CloseObject)
                if stack.last() == Some(&Token::OpenObject) =>
            {
                stack.pop();
                expected_after_value(&stack)
            }
            (ExpectedToken::ElementOrClose | ExpectedToken::CommaOrClose, Token::CloseArray)
                if stack.last() == Some(&Token::OpenArray) =>
            {
                stack.pop();
                expected_after_value(&stack)
            }
            (ExpectedToken::CommaOrClose, Token::Comma) => {
                stack.last().copied().map_or(ExpectedToken::End, expected_inside)
            }
            _ => return Err(SyntaxError { at: start, why: unexpected_token_message(expected, &stack) }),
        };
    }
    match expected {
        ExpectedToken::End => Ok(root),
        ExpectedToken::Value if root.is_none() && !commented => Ok(None),
        _ => Err(SyntaxError {
            at: text.len(),
            why: format!("the file ends here, but {}", unexpected_token_message(expected, &stack)),
        }),
    }
}

fn expected_inside(open: Token) -> ExpectedToken {
    if open == Token::OpenObject { ExpectedToken::KeyOrClose } else { ExpectedToken::ElementOrClose }
}

fn expected_after_value(stack: &[Token]) -> ExpectedToken {
    if stack.is_empty() { ExpectedToken::End } else { ExpectedToken::CommaOrClose }
}

fn unexpected_token_message(expected: ExpectedToken, stack: &[Token]) -> String {
    let close = if stack.last() == Some(&Token::OpenObject) { '}' } else { ']' };
    match expected {
        ExpectedToken::Value => "a value is expected".into(),
        ExpectedToken::ElementOrClose => "a value or `]` is expected".into(),
        ExpectedToken::KeyOrClose => "a key in double quotes or `}` is expected".into(),
        ExpectedToken::Colon => "`:` is expected after the key".into(),
        ExpectedToken::CommaOrClose => format!("`,` or `{close}` is expected"),
        ExpectedToken::End => "nothing is expected after the value".into(),
    }
}

/// An object or an array.
#[derive(Debug)]
pub struct Container {
    pub open: usize,
    pub close: usize,
    pub items: Vec<Item>,
    /// The end of the last token before the closing bracket: the opening bracket, an item, a comma or a comment.
    /// Between this position and `close`, there is only white space.
    pub last_token_end: usize,
    /// Whether the last token is a `//` comment, which needs a line end.
    pub last_token_needs_line_end: bool,
}

/// A member of an object or an element of an array.
#[derive(Debug)]
pub struct Item {
    pub key: Option<Range<usize>>,
    pub value: Range<usize>,
    /// The position of the comma after the item.
    pub comma: Option<usize>,
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

impl Item {
    pub fn end(&self) -> usize {
        self.value.end
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
pub fn read_container(text: &str, open: usize) -> Container {
    let object = text[open..].starts_with('{');
    let mut container = Container {
        open,
        close: text.len(),
        items: Vec::new(),
        last_token_end: open + 1,
        last_token_needs_line_end: false,
    };
    let mut gap_start = open + 1;
    let mut key: Option<(Lexeme, usize, bool)> = None;
    let mut at = open + 1;
    while let Ok(Some(lexeme)) = next_lexeme(text, at) {
        let Lexeme { token, start, end } = lexeme;
        at = end;
        match token {
            Token::CloseObject | Token::CloseArray => {
                container.close = start;
                break;
            }
            Token::Comma => {
                if let Some(item) = container.items.last_mut() {
                    item.comma = Some(start);
                }
                gap_start = end;
            }
            Token::Text if object && key.is_none() => {
                key = Some((lexeme, container.last_token_end, container.last_token_needs_line_end));
            }
            Token::Text | Token::NumberOrWord | Token::OpenObject | Token::OpenArray => {
                at = value_end(text, lexeme);
                let (first, previous_token_end, previous_token_needs_line_end) =
                    key.unwrap_or((lexeme, container.last_token_end, container.last_token_needs_line_end));
                container.items.push(Item {
                    key: key.take().map(|(key, ..)| key.start..key.end),
                    value: start..at,
                    comma: None,
                    gap_start,
                    start: first.start,
                    previous_token_end,
                    previous_token_needs_line_end,
                });
            }
            Token::Colon | Token::LineComment | Token::BlockComment => {}
        }
        container.last_token_end = at;
        container.last_token_needs_line_end = token == Token::LineComment;
    }
    container
}

fn value_end(text: &str, first: Lexeme) -> usize {
    let mut depth = 0usize;
    for Lexeme { token, end, .. } in tokens_from(text, first.start) {
        match token {
            Token::OpenObject | Token::OpenArray => depth += 1,
            Token::CloseObject | Token::CloseArray => depth -= 1,
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
        .filter(|lexeme| matches!(lexeme.token, Token::LineComment | Token::BlockComment))
        .count()
}

/// Returns the value of a string. Returns `None` if the value is not a string or contains half of a surrogate pair,
/// which our own strings never do.
pub fn string_value(text: &str, range: &Range<usize>) -> Option<String> {
    serde_json::from_str(&text[range.clone()]).ok()
}

/// Returns whether the item's key is `name`, after decoding escapes.
pub fn has_key(text: &str, item: &Item, name: &str) -> bool {
    item.key.as_ref().and_then(|key| string_value(text, key)).is_some_and(|key| key == name)
}
