//! Recognises the lines in which test runners report a failed test: node:test (TAP and spec), jest, vitest and Rust's
//! own. A test's name and the differing values seldom contain an error word, although the lines around them do.

/// The meaning of a line in a test report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportLineKind {
    /// The name of a failed test, such as `not ok 3 - umlaut`, `✖ umlaut (1.2ms)` or `● slugs › umlaut`.
    Name,
    /// A labelled value that the test found or expected, such as `actual: 1` or `Received: 1`.
    Value,
    /// A line of the diff between the expected and the actual value, such as `+ 'a'`.
    Difference,
    /// The test's own message below `error: |-`, or the message of a panic in Rust.
    Message,
    Location,
    /// The label of a value that follows on other lines, such as `actual:` or `error: |-`.
    Label,
    /// A line that is the same for every failed test, such as `failureType: 'testCodeFailure'`.
    Boilerplate,
}

/// Beginnings of lines that are the same for every failed test.
const BOILERPLATE_BEGINNINGS: &[&str] = &[
    "failureType: ",
    "code: 'ERR_ASSERTION'",
    "code: 'ERR_TEST_FAILURE'",
    "name: 'AssertionError'",
    "expect(received)",
    "Expected values to be ",
    "AssertionError [ERR_ASSERTION]: Expected values to be ",
    "# Subtest: ",
    "# fail ",
    "ℹ fail ",
    "✖ failing tests:",
    "Test Suites: ",
    "Tests: ",
    "test result: FAILED. ",
    "error: test failed, to rerun pass ",
    "error: doctest failed, to rerun pass ",
];

/// Headings of the diff between two values.
const DIFFERENCE_HEADINGS: &[&str] = &["+ actual - expected", "- Expected", "+ Received"];

/// The label of a message that starts on the next line.
const MESSAGE_LABEL: &str = "error: |-";

/// The labels of compared values, as node:test and jest print them.
const VALUE_LABELS: &[&str] = &["actual:", "expected:", "Expected:", "Received:"];

/// The labels of compared values below a failed assertion in Rust. Elsewhere, these words are not labels.
const ASSERTION_LABELS: &[&str] = &["left: ", "right: "];

/// How many lines below a diff are searched for its labelled values.
const MAX_LINES_SEARCHED_FOR_DIFF_VALUES: usize = 60;

/// Returns the meaning of each line, or `None` for a line that is not recognised. The lines must be trimmed.
pub(super) fn classify_report_lines(lines: &[&str]) -> Vec<Option<ReportLineKind>> {
    let mut in_difference = false;
    let mut after_error_label = false;
    let mut in_assertion = false;
    let mut parts: Vec<Option<ReportLineKind>> = Vec::with_capacity(lines.len());
    for line in lines {
        let part = match () {
            () if is_failed_test_name(line) => Some(ReportLineKind::Name),
            () if is_difference_heading(line) => Some(ReportLineKind::Boilerplate),
            () if BOILERPLATE_BEGINNINGS.iter().any(|words| line.starts_with(words)) => {
                Some(ReportLineKind::Boilerplate)
            }
            () if is_failed_test_location(line) => Some(ReportLineKind::Location),
            () if is_stack_frame(line) || is_subtest_count(line) => Some(ReportLineKind::Boilerplate),
            () if is_label_without_value(line) => Some(ReportLineKind::Label),
            () if is_labelled_value(line) => Some(ReportLineKind::Value),
            () if in_assertion && ASSERTION_LABELS.iter().any(|label| line.starts_with(label)) => {
                Some(ReportLineKind::Value)
            }
            () if in_difference && line.starts_with(['+', '-']) => Some(ReportLineKind::Difference),
            () if after_error_label => Some(ReportLineKind::Message),
            () => None,
        };
        // In a diff, a line that is equal on both sides has no `+` or `-`.
        in_difference = is_difference_heading(line)
            || in_difference
                && matches!(part, None | Some(ReportLineKind::Difference | ReportLineKind::Message));
        after_error_label = *line == MESSAGE_LABEL || is_panic_location(line);
        in_assertion = line.starts_with("assertion `") || in_assertion && part == Some(ReportLineKind::Value);
        parts.push(part);
    }
    mark_repetitions_as_boilerplate(lines, &mut parts);
    parts
}

/// Returns whether a line is the label of a value that follows on other lines, such as `expected: |-`.
pub(super) fn is_label_of_block(line: &str) -> bool {
    let value = VALUE_LABELS.iter().find_map(|label| line.strip_prefix(label));
    value.is_some_and(|value| matches!(value.trim(), "|" | "|-" | "|+" | ">" | ">-" | ">+"))
}

/// Returns whether a line names a failed test.
pub(super) fn is_failed_test_name(line: &str) -> bool {
    if let Some(rest) = line.strip_prefix("not ok ") {
        // In TAP, a test marked as TODO or SKIP is allowed to fail, so it does not count as failed.
        return !["# TODO", "# SKIP", "# todo", "# skip"].iter().any(|directive| rest.contains(directive));
    }
    if let Some(rest) = line.strip_prefix("● ") {
        return !matches!(rest, "Console" | "Test suite failed to run");
    }
    // Require a duration at the end, because eslint, cypress and gotestsum print the same mark before counts or
    // packages.
    line.strip_prefix("✖ ").is_some_and(|rest| !rest.starts_with(' ') && rest.ends_with("ms)"))
        || line.starts_with("✕ ")
}

/// Returns the line in which node:test counts the failed tests, such as `# fail 7`.
pub(super) fn failed_test_count_line<'t>(lines: &[&'t str]) -> Option<&'t str> {
    let is_count = |line: &&&str| ["# fail ", "ℹ fail "].iter().any(|words| line.starts_with(words));
    lines.iter().rev().find(is_count).copied()
}

/// Returns whether a line is a labelled value. jest also has labels such as `Received number of calls:`.
pub(super) fn is_labelled_value(line: &str) -> bool {
    VALUE_LABELS.iter().any(|label| line.starts_with(label))
        || line.strip_prefix("Received ").is_some_and(|rest| {
            rest.starts_with("function did not")
                || rest.split_once(": ").is_some_and(|(label, _)| label.len() < 20)
        })
}

/// Returns whether a line says where a failed test is.
pub(super) fn is_failed_test_location(line: &str) -> bool {
    line.starts_with("location: '") || line.starts_with("test at ") || is_panic_location(line)
}

/// Returns whether a line says where a Rust thread panicked. The message follows on the next line.
fn is_panic_location(line: &str) -> bool {
    line.starts_with("thread '") && line.contains(" panicked at ") && line.ends_with(':')
}

fn is_label_without_value(line: &str) -> bool {
    line == MESSAGE_LABEL || VALUE_LABELS.contains(&line) || is_label_of_block(line)
}

fn is_difference_heading(line: &str) -> bool {
    DIFFERENCE_HEADINGS.iter().any(|heading| {
        // jest also prints the number of lines, as in `- Expected  - 1`. node:test says whether it left lines out.
        line.strip_prefix(heading)
            .map(|rest| rest.trim_end_matches("... Lines skipped"))
            .is_some_and(|rest| rest.trim_matches(|c: char| " +-0123456789".contains(c)).is_empty())
    })
}

/// Returns whether a line is a stack frame, such as `at run (file:///x/a.mjs:3:27)`.
fn is_stack_frame(line: &str) -> bool {
    let line = line.trim_end_matches([' ', '{']);
    let Some(frame) = line.strip_suffix(')') else { return line.starts_with("at ") && line.contains(":///") };
    let mut numbers = frame.rsplit(':').take(2);
    let ends_in_position =
        numbers.all(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    ends_in_position && frame.contains('(')
}

/// Returns whether a line only counts failed subtests, such as `error: '1 subtest failed'`. Other lines report the
/// subtests themselves.
fn is_subtest_count(line: &str) -> bool {
    line.strip_prefix("error: '").is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with("subtest")
    })
}

/// Marks as boilerplate the lines that repeat other lines. These are diffs whose values are also printed with labels,
/// and the line `✕ name` of a test that jest also reports as `● name`.
fn mark_repetitions_as_boilerplate(lines: &[&str], parts: &mut [Option<ReportLineKind>]) {
    let has_jest_names = lines.iter().any(|line| line.starts_with("● ") && is_failed_test_name(line));
    for at in 0..lines.len() {
        let repeats = match parts[at] {
            Some(ReportLineKind::Name) => has_jest_names && lines[at].starts_with('✕'),
            Some(ReportLineKind::Difference) => {
                let value = lines[at][1..].trim();
                let mut same_test = (at + 1..lines.len())
                    .take(MAX_LINES_SEARCHED_FOR_DIFF_VALUES)
                    .take_while(|later| parts[*later] != Some(ReportLineKind::Name));
                same_test
                    .any(|later| parts[later] == Some(ReportLineKind::Value) && lines[later].contains(value))
            }
            _ => false,
        };
        if repeats {
            parts[at] = Some(ReportLineKind::Boilerplate);
        }
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
