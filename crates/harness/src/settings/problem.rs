//! Why a settings file is left unchanged.

use std::fmt;

use super::scan::SyntaxError;

/// A problem in a settings file. The caller adds the file's name to the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsProblem {
    /// The file is not UTF-8. `line` and `column` are the position of the first invalid byte.
    NotUtf8 { line: usize, column: usize },
    /// The file is not JSON, even with comments and trailing commas allowed.
    Invalid { line: usize, column: usize, why: String },
    /// The file is JSON, but contains an unexpected value where hooks belong.
    WrongShape { line: usize, column: usize, what: String },
    /// The key occurs twice, and programs disagree on which value to use.
    DuplicateKey { line: usize, column: usize, key: String },
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsProblem::NotUtf8 { line, column } => write!(f, "line {line}, column {column}: not UTF-8"),
            SettingsProblem::Invalid { line, column, why } => {
                write!(f, "line {line}, column {column}: {why}")
            }
            SettingsProblem::WrongShape { line, column, what } => {
                write!(f, "line {line}, column {column}: {what}")
            }
            SettingsProblem::DuplicateKey { line, column, key } => {
                write!(f, "line {line}, column {column}: `{key}` appears here a second time")
            }
        }
    }
}

impl std::error::Error for SettingsProblem {}

pub fn not_utf8_problem(bytes: &[u8], valid: usize) -> SettingsProblem {
    let (line, column) = line_and_column(&String::from_utf8_lossy(&bytes[..valid]), valid);
    SettingsProblem::NotUtf8 { line, column }
}

pub fn syntax_problem(text: &str, fault: SyntaxError) -> SettingsProblem {
    let (line, column) = line_and_column(text, fault.byte_offset);
    SettingsProblem::Invalid { line, column, why: fault.why }
}

pub fn wrong_shape_problem(text: &str, at: usize, what: impl Into<String>) -> SettingsProblem {
    let (line, column) = line_and_column(text, at);
    SettingsProblem::WrongShape { line, column, what: what.into() }
}

pub fn duplicate_key_problem(text: &str, at: usize, key: &str) -> SettingsProblem {
    let (line, column) = line_and_column(text, at);
    SettingsProblem::DuplicateKey { line, column, key: key.into() }
}

/// Returns the number of the line that contains a byte, counted from 1.
pub fn line_number(text: &str, at: usize) -> usize {
    line_and_column(text, at).0
}

/// Returns the line and the column, both counted from 1. Columns are counted in characters, as in an editor.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at.min(text.len())];
    // A lone CR ends a line too. In a CRLF, the LF ends the line.
    let ends = |(index, byte): &(usize, u8)| {
        *byte == b'\n' || (*byte == b'\r' && text.as_bytes().get(index + 1) != Some(&b'\n'))
    };
    let line = 1 + before.bytes().enumerate().filter(ends).count();
    let start = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    (line, before[start..].chars().count() + 1)
}
