//! Errors that an agent encounters again because it has forgotten the first occurrence.

use std::collections::{BTreeMap, BTreeSet};

use model::failure::message_of_line;

use super::cut::{RecallSession, SessionCut, collapse_white_space};
use super::events::{CallOutcome, EventKind};

/// How many calls after a cut are examined.
const MAX_CALLS_EXAMINED_AFTER_CUT: usize = 80;

/// How many characters of a line are compared.
const COMPARED_CHARS: usize = 60;
/// The minimum length of a line that is compared, in characters. A shorter line does not distinguish one error from
/// another.
const MIN_DISTINCTIVE_CHARS: usize = 14;

/// A text warns of an error if it contains at least this many leading characters of the error message, or the whole
/// message if the message is shorter. The location of the error is ignored, because a brief lists the locations of
/// identical errors together.
const MIN_WARNING_CHARS: usize = 40;

/// Mistakes with the harness's own tools. A brief should not warn of them.
const TRIVIAL_ERRORS: [&str; 6] = [
    "String to replace not found",
    "Found 0 matches",
    "exceeds maximum allowed tokens",
    "Sibling tool call errored",
    "No task found",
    "File does not exist",
];

/// Lines that report a failure without saying what failed.
const UNINFORMATIVE_LINES: [&str; 3] = ["Exit code", "ERROR task failed", "Error: Process completed"];

/// The beginnings of lines that report a failure in a call with exit code 0. Such a call looks successful because a
/// pipe hid the failure.
const HIDDEN_FAILURE_STARTS: [&str; 5] = ["--- FAIL", "error:", "error[", "fatal:", "panic:"];

/// Words in a line that explains what went wrong. The bare word `error` is not in the list, because it also occurs in
/// code.
const ERROR_WORDS: [&str; 16] = [
    "error:",
    "error[",
    "error ",
    "--- fail",
    "failed",
    "panic",
    "not found",
    "cannot",
    "can't",
    "undefined",
    "denied",
    "invalid",
    "no such",
    "not allowed",
    "not been",
    "unable",
];

/// The beginnings of lines that repeat the command, or that name the source of the lines above.
const ECHO_LINE_STARTS: [&str; 4] = ["$ ", "FAIL\t", "FAIL ", "ok "];

/// An error that occurred again: the lines that both reports have in common, each with its message.
pub type RecurringError = BTreeMap<String, String>;

/// Returns the errors that occurred again. Errors with the same first line are counted as one error.
pub fn recurring_errors(session: &RecallSession, cut: &SessionCut) -> Vec<RecurringError> {
    let mut before: BTreeSet<String> = BTreeSet::new();
    for event in session.events_before(cut) {
        if let EventKind::Result { end, text, .. } = &event.kind {
            before.extend(error_lines(*end, text).into_iter().map(|(line, _)| line));
        }
    }
    let after: BTreeSet<&str> =
        session.calls_after(cut, MAX_CALLS_EXAMINED_AFTER_CUT).map(|call| call.id.as_str()).collect();
    let mut again: BTreeMap<String, RecurringError> = BTreeMap::new();
    for event in &session.events[cut.event_count_before..] {
        let EventKind::Result { call_id: call, end, text } = &event.kind else { continue };
        let same: RecurringError =
            error_lines(*end, text).into_iter().filter(|(line, _)| before.contains(line)).collect();
        if let Some((first, _)) = same.first_key_value().filter(|_| after.contains(call.as_str())) {
            again.entry(first.clone()).or_default().extend(same);
        }
    }
    again.into_values().collect()
}

/// Returns whether the text contains the beginning of one of the error's messages.
pub fn warns_of_error(error: &RecurringError, text: &str) -> bool {
    let text = without_numbers(&collapse_white_space(text));
    error.values().any(|message| text.contains(message.as_str()))
}

/// Returns the lines that explain what went wrong, each with its message. Numbers differ from run to run, so they are
/// replaced by `0` in the lines and in the messages.
fn error_lines(end: CallOutcome, text: &str) -> Vec<(String, String)> {
    let text = text.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
    if TRIVIAL_ERRORS.iter().any(|trivia| text.contains(trivia)) {
        return Vec::new();
    }
    let is_empty = |line: &str| {
        let is_echo = ECHO_LINE_STARTS.iter().any(|start| line.starts_with(start)) || line.contains("] $ ");
        line.is_empty() || is_echo || UNINFORMATIVE_LINES.iter().any(|empty| line.contains(empty))
    };
    let all = || text.lines().map(str::trim).filter(|line| !is_empty(line));
    let says = |line: &&str| {
        let line = line.to_lowercase();
        ERROR_WORDS.iter().any(|word| line.contains(word))
    };
    let is_hidden = |line: &&str| HIDDEN_FAILURE_STARTS.iter().any(|start| line.starts_with(start));
    let chosen: Vec<&str> = match end {
        CallOutcome::NotRun => Vec::new(),
        CallOutcome::Done => all().filter(is_hidden).take(8).collect(),
        CallOutcome::Failed if all().any(|line| says(&line)) => all().filter(says).take(8).collect(),
        CallOutcome::Failed => all().take(1).collect(),
    };
    let normalise = |text: &str, most: usize| {
        let kept: String = without_numbers(&collapse_white_space(text)).chars().take(most).collect();
        kept.trim_end().to_owned()
    };
    let is_distinctive = |text: &str| text.chars().count() >= MIN_DISTINCTIVE_CHARS;
    let both = |line: &str| {
        let message = normalise(message_of_line(line), MIN_WARNING_CHARS);
        let message = Some(message).filter(|message| is_distinctive(message));
        let message = message.unwrap_or_else(|| normalise(line, MIN_WARNING_CHARS));
        (normalise(line, COMPARED_CHARS), message)
    };
    chosen.into_iter().map(both).filter(|(line, _)| is_distinctive(line)).collect()
}

fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('0') => {}
            true => out.push('0'),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(end: CallOutcome, text: &str) -> Vec<String> {
        error_lines(end, text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn what_is_compared_of_an_error() {
        for (text, expected) in [
            ("Exit code 1\nmain.go:12:3: undefined: parseAll", vec!["main.go:0:0: undefined: parseAll"]),
            (
                "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>",
                vec!["File has not been read yet. Read it first."],
            ),
            ("<tool_use_error>String to replace not found in file.</tool_use_error>", vec![]),
            ("Exit code 2\nFAIL", vec![]),
            ("Exit code 2\nsomething else entirely happened", vec!["something else entirely happened"]),
        ] {
            assert_eq!(lines_of(CallOutcome::Failed, text), expected, "{text}");
        }
    }

    #[test]
    fn a_pipe_does_not_hide_an_error() {
        let text = "ok  \ta/b\t0.1s\n--- FAIL: TestOfSomething (0.01s)\nall in all an error";
        assert_eq!(lines_of(CallOutcome::Done, text), ["--- FAIL: TestOfSomething (0.0s)"]);
        assert!(error_lines(CallOutcome::NotRun, text).is_empty());
    }

    #[test]
    fn a_warning_may_be_shorter_than_the_error() {
        let text = "Exit code 1\nerror: package a/b v0.1.2 cannot be built because of this";
        let error: RecurringError = error_lines(CallOutcome::Failed, text).into_iter().collect();
        assert!(warns_of_error(&error, "- `error:  package a/b v1.12.3 cannot be built…`"));
        assert!(!warns_of_error(&error, "error: package a/c"));
    }

    #[test]
    fn a_warning_may_name_other_places_or_only_the_test() {
        for (text, warning) in [
            (
                "Exit code 1\nsrc/a.go:57:3: cannot use parseAll as string",
                "- `go build`: `src/a.go:57, :190, b.go:9: cannot use parseAll as string`",
            ),
            ("Exit code 1\n--- FAIL: TestOfSomething (0.01s)", "- `go test`: `TestOfSomething`"),
        ] {
            let error: RecurringError = error_lines(CallOutcome::Failed, text).into_iter().collect();
            assert!(warns_of_error(&error, warning), "{text}");
            assert!(!warns_of_error(&error, "- `go build`: `src/a.go:57: unused`"), "{text}");
        }
    }
}
