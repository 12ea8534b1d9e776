//! Recognises the lines of pytest's report that do not say why a test failed.

use crate::error_line::starts_with_file_and_line;

/// The beginnings of the lines that pytest prints before the actual error if it cannot import a test module.
const IMPORT_ERROR_INTRODUCTIONS: [&str; 2] =
    ["ImportError while importing test module ", "Hint: make sure your test modules/packages "];

/// Returns whether a trimmed line only structures the report: a title between two rules, such as `=== FAILURES ===`,
/// the heading or a frame of a traceback, the failed line of source code, or the operands of an assertion.
pub(super) fn is_structure(line: &str) -> bool {
    is_ruler(line)
        || line == "Traceback:"
        || IMPORT_ERROR_INTRODUCTIONS.iter().any(|start| line.starts_with(start))
        || line.starts_with(">  ")
        || is_frame(line)
        || is_operand(line)
}

/// Returns whether a line consists of a title between two rules. The last line of this form, which contains the numbers
/// of failed and passed tests, does not count.
fn is_ruler(line: &str) -> bool {
    let is_rule = |mark: &str| line.starts_with(mark) && line.ends_with(mark);
    ["===", "___", "!!!"].iter().any(|mark| is_rule(mark)) && crate::run::counts_in_output(line).is_none()
}

/// Returns whether a line is a frame of a traceback, such as `tests/test_a.py:3: in <module>`.
fn is_frame(line: &str) -> bool {
    starts_with_file_and_line(line)
        && line
            .split_once(": ")
            .is_some_and(|(_, rest)| rest.strip_prefix("in ").is_some_and(is_function_name))
}

fn is_function_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(' ')
}

/// Returns whether a line explains an operand of a failed assertion, such as `E  +  where 2 = f()`.
fn is_operand(line: &str) -> bool {
    line.strip_prefix("E ").is_some_and(|rest| rest.trim_start().starts_with("+  where "))
}
