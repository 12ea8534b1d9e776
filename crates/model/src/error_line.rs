//! Decides whether a line of program output reports an error. Doubtful lines count as errors, because a summary must
//! not lose errors.

use std::borrow::Cow;

/// Strings that mark errors in any program's output, ignoring case.
pub const ERROR_WORDS: &[&str] = &[
    "error",
    "fail",
    "panicked",
    "exception",
    "traceback",
    "fatal",
    "cannot",
    "can't",
    "could not",
    "conflict (",
    "not found",
    "no such",
    "undefined",
    "unexpected",
    "denied",
    "refused",
    "timed out",
    "assert",
    "mismatch",
    "expected",
    "unresolved",
    "invalid",
    "abort",
    "segmentation",
    "killed",
];

/// Strings that mark errors less reliably than [`ERROR_WORDS`]. A summary also keeps lines with these strings.
const DOUBTFUL_ERROR_WORDS: &[&str] = &[
    "panic",
    "unable to",
    "out of memory",
    "core dumped",
    "crashed",
    "corrupt",
    "does not exist",
    "doesn't exist",
    "forbidden",
    "unauthorized",
    "timeout",
    "rejected",
    "unhandled",
    "uncaught",
];

/// Names of log levels and results that programs print in capitals.
const ERROR_LEVELS: &[&str] = &[
    "ERROR", "ERRORS", "ERR", "FATAL", "CRITICAL", "SEVERE", "PANIC", "EMERG", "FAIL", "FAILED", "FAILURE",
    "FAILURES",
];

/// Lower-case labels that precede a colon and an error message.
const ERROR_LABELS: &[&str] =
    &["error", "errors", "fatal", "panic", "exception", "failure", "failed", "err", "critical", "caused by"];

/// Lower-case beginnings of error messages. A program's name and a colon may precede them.
const ERROR_BEGINNINGS: &[&str] = &[
    "error[",
    "error(",
    "failed to ",
    "failed with ",
    "unable to ",
    "could not ",
    "couldn't ",
    "cannot ",
    "can't ",
    "permission denied",
    "operation not permitted",
    "no such file",
    "command not found",
    "not found",
    "connection refused",
    "connection reset",
    "segmentation fault",
    "syntax error",
    "traceback (most recent call last)",
    "npm err!",
    "not ok ",
    "uncaught ",
    "unhandled ",
    "conflict (",
    "✗",
    "✖",
    "✘",
    "❌",
];

/// Lower-case strings that mark an error anywhere in a line.
const ERROR_PHRASES: &[&str] = &[
    "panicked at",
    ": *** ",
    "core dumped",
    "level=error",
    "level=fatal",
    "level=critical",
    "level=panic",
    "non-zero exit",
    "nonzero exit",
];

/// Lower-case words that follow a number of failures, as in `3 errors`.
const COUNTED_FAILURE_NOUNS: &[&str] =
    &["failed", "failures", "failure", "failing", "errors", "error", "errored"];

/// Words that may come between the number and one of the [`COUNTED_FAILURE_NOUNS`].
const WORDS_BEFORE_COUNTED_NOUN: &[&str] =
    &["test", "tests", "spec", "specs", "files", "checks", "type", "lint", "fatal"];

/// Returns whether a line from a log or a test run reports an error.
pub fn is_error_line(line: &str) -> bool {
    let line = line.trim();
    if is_error_report(line) {
        return true;
    }
    let lower = without_zero_counts(line).to_lowercase();
    let has_word = ERROR_WORDS.iter().chain(DOUBTFUL_ERROR_WORDS).any(|word| lower.contains(word));
    !is_line_of_unfailed_test(line) && (has_word && !is_source_code(line) || starts_with_file_and_line(line))
}

/// Returns whether a line has the form of an error report. In source code and file lists, a word such as `error` is
/// not enough.
pub fn is_error_report(line: &str) -> bool {
    let line = without_zero_counts(line);
    let lower = line.to_lowercase();
    let words = || {
        line.split_whitespace().map(|word| word.trim_matches(['[', ']', '(', ')', ':', '|', '*', '!', '-']))
    };
    is_pytest_error_line(&line)
        || words().any(|word| ERROR_LEVELS.contains(&word))
        || words().next().is_some_and(|word| word.len() == line.len() && is_error_type(word))
        || ERROR_PHRASES.iter().any(|part| lower.contains(part))
        || counts_failures(&lower)
        || reports_nonzero_exit(&lower)
        || has_error_message(&line)
}

/// Returns whether a line starts like a finding from a compiler or linter, such as `src/a.go:12:3: unused variable`.
pub fn starts_with_file_and_line(line: &str) -> bool {
    let mut parts = line.split(':');
    let (file, number) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    file.contains('.') && !file.contains(' ') && is_all_digits(number)
}

/// Returns whether a line is a warning from Python or Node.js, such as `a.py:16: ResourceWarning: unclosed file` or
/// `(node:7) DeprecationWarning: x`. Such a line is printed whether the program fails or not. In contrast,
/// `DeprecationWarning: x` at the end of a traceback, without a location or a process id before it, is the error
/// itself.
pub fn is_warning_line(line: &str) -> bool {
    let is_type = |part: &str| {
        let name = part.rsplit([' ', '.']).next().unwrap_or_default();
        name.ends_with("Warning")
            && name.starts_with(char::is_uppercase)
            && name.chars().all(char::is_alphanumeric)
    };
    let line = line.trim();
    let Some((before, after)) = line.split_once(": ") else { return false };
    before.starts_with("(node:") && is_type(before)
        || starts_with_file_and_line(line) && after.split_once(": ").is_some_and(|(part, _)| is_type(part))
        || before == "ResourceWarning" && after.starts_with("Enable tracemalloc")
}

/// Returns a line without counts of zero failures, such as `0 failed`, `no errors` or `errors: 0`.
pub fn without_zero_counts(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    let lower = line.to_lowercase();
    if !COUNTED_FAILURE_NOUNS.iter().any(|word| lower.contains(word)) {
        return Cow::Borrowed(line);
    }
    let (words, lower): (Vec<&str>, Vec<&str>) =
        (line.split_whitespace().collect(), lower.split_whitespace().collect());
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < words.len() {
        match zero_count_length(&lower[at..]) {
            0 => {
                kept.push(words[at]);
                at += 1;
            }
            struck => at += struck,
        }
    }
    if kept.len() == words.len() { Cow::Borrowed(line) } else { Cow::Owned(kept.join(" ")) }
}

/// Returns how many words at the start form a count of zero failures. The words are in lower case.
fn zero_count_length(words: &[&str]) -> usize {
    let bare = |i: usize| words.get(i).map_or("", |word| word.trim_matches(PUNCTUATION));
    let is_last = |i: usize| {
        words[i].ends_with([',', ';', ')', '|', ']', '.'])
            || words.get(i + 1).is_none_or(|next| *next == "|" || next.ends_with(':'))
    };
    let counted = |i: usize| COUNTED_FAILURE_NOUNS.contains(&bare(i));
    match bare(0) {
        "0" if counted(1) => 2,
        "0" if WORDS_BEFORE_COUNTED_NOUN.contains(&bare(1)) && counted(2) => 3,
        // `no error handler` is not a count.
        "no" if bare(1) == "errors" || bare(1) == "failures" => 2,
        "no" if counted(1) && (is_last(1) || matches!(bare(2), "found" | "detected" | "reported")) => 2,
        word => match word.split_once([':', '=']) {
            Some((name, "0")) if COUNTED_FAILURE_NOUNS.contains(&name) && is_last(0) => 1,
            // `errors: 0` is a count, but `error: 0 is not a shard` is not.
            _ if counted(0) && words[0].ends_with([':', '=']) && bare(1) == "0" && is_last(1) => 2,
            _ => 0,
        },
    }
}

const PUNCTUATION: &[char] = &['(', ')', '[', ']', ',', ';', ':', '.', '!', '|', '=', '*'];

/// Returns whether a line counts at least one failure, such as `10 failed`, `Found 20 errors` or `failures: 3`.
fn counts_failures(lower: &str) -> bool {
    let words: Vec<&str> = lower.split_whitespace().map(|word| word.trim_matches(PUNCTUATION)).collect();
    let is_some = |word: &str| is_all_digits(word) && word.bytes().any(|digit| digit != b'0');
    let is_counted = |word: Option<&&str>| word.is_some_and(|word| COUNTED_FAILURE_NOUNS.contains(word));
    words.iter().enumerate().any(|(i, word)| match word.split_once([':', '=']) {
        Some((name, number)) => COUNTED_FAILURE_NOUNS.contains(&name) && is_some(number),
        None if is_some(word) => {
            let is_between = words.get(i + 1).is_some_and(|word| WORDS_BEFORE_COUNTED_NOUN.contains(word));
            is_counted(words.get(i + 1)) || is_between && is_counted(words.get(i + 2))
        }
        None => false,
    }) || words.windows(2).any(|pair| matches!(pair[0], "failed" | "failures" | "errors") && is_some(pair[1]))
}

/// Returns whether a line contains a nonzero exit code, such as `exit status 2` or `exited with code 1`.
fn reports_nonzero_exit(lower: &str) -> bool {
    ["exit code", "exit status", "exited with", "exit:", "exit="].iter().any(|label| {
        let after = lower.split_once(label).map_or("", |(_, after)| after);
        let number = after
            .trim_start_matches([' ', ':', '=', '(', '`'])
            .trim_start_matches("code ")
            .trim_start_matches("status ");
        let digits: String =
            number.trim_start_matches('-').chars().take_while(char::is_ascii_digit).collect();
        digits.bytes().any(|digit| digit != b'0')
    })
}

/// Returns whether a part of a line between colons reports an error, as in `error: x`, `a.py:3: error: x`,
/// `ls: /x: Permission denied` or `ValueError: x`.
fn has_error_message(line: &str) -> bool {
    let mut parts = line.split(": ").peekable();
    while let Some(part) = parts.next() {
        let part = part.trim_start_matches(['[', '(', '*', '>', ' ']);
        let lower = part.to_lowercase();
        let is_label = parts.peek().is_some() || lower.ends_with(':');
        let label = lower.trim_end_matches([':', ' ', ']', ')', '*']);
        let last = label.rsplit(' ').next().unwrap_or_default();
        let is_error_label = ERROR_LABELS.contains(&label)
            || ERROR_LABELS[..4].contains(&last)
            || label.starts_with("error ")
            || part.split(' ').next_back().is_some_and(is_error_type);
        if is_label && is_error_label
            || ERROR_BEGINNINGS.iter().any(|words| lower.starts_with(words))
            || starts_with_finding_code(part)
        {
            return true;
        }
    }
    false
}

/// Returns whether a part starts with a linter's error code, such as `E1101: x` or `[E1101(no-member), f] x`.
fn starts_with_finding_code(part: &str) -> bool {
    let code = part.trim_start_matches('[');
    let digits = code.strip_prefix(['E', 'F']).unwrap_or_default();
    digits.bytes().take_while(u8::is_ascii_digit).count() >= 3
}

/// Returns whether a word is the name of an error type, such as `ValueError` or `java.lang.IllegalStateException`.
fn is_error_type(word: &str) -> bool {
    let name = word.trim_end_matches(':').rsplit(['.', ':']).next().unwrap_or_default();
    let endings = ["Error", "Exception", "Interrupt", "Failure", "Panic"];
    name.starts_with(|c: char| c.is_uppercase())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether a line is from pytest's report of a failed assertion, such as `E     assert 3 == 4`.
pub(crate) fn is_pytest_error_line(line: &str) -> bool {
    line.strip_prefix("E  ").is_some_and(|rest| !rest.trim().is_empty())
}

/// Returns whether a line reports that a test passed, was skipped or started. The names of such tests may contain
/// `error`.
pub(crate) fn is_line_of_unfailed_test(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let is_time = |word: &&str| {
        *word == "(cached)" || word.ends_with('s') && word.starts_with(|c: char| c.is_ascii_digit())
    };
    first.starts_with("test") && (line.ends_with("... ok") || line.ends_with("... ignored"))
        || ["--- PASS", "--- SKIP", "=== RUN", "=== PAUSE", "=== CONT", "PASS ", "✓", "✔", "√"]
            .iter()
            .any(|start| line.starts_with(start))
        || first == "ok"
            && (words.get(1).is_some_and(|n| is_all_digits(n)) || words.get(2).is_some_and(is_time))
        || words.contains(&"PASSED") && line.contains("::")
}

/// Returns whether a line is source code that a linter prints below its finding, such as
/// `func Get(name string) (Strategy, error) {`.
fn is_source_code(line: &str) -> bool {
    line.ends_with([';', '{']) && !line.contains(": ") && line.contains(['(', '=', '<', '.', '"', '&'])
}

fn is_all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
#[path = "error_line_tests.rs"]
mod tests;
