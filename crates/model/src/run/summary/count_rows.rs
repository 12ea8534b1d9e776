//! Rows of counts in the output of test runners and linters, such as `2 failed, 10 passed in 1.2s`.

use crate::run::CommandKind;

/// Parses counts such as `2 failed, 10 passed in 1.2s`, `Tests: 5, Failures: 1` or `3 problems (0 errors, 3
/// warnings)`. Returns whether they show a failure, or `None` if the line is not a row of counts. Prose may also
/// contain numbers.
pub(super) fn counts_show_failure(line: &str) -> Option<bool> {
    const LABELS_BEFORE_COUNTS: [&str; 9] = [
        "Tests:",
        "Test Suites:",
        "Test Files",
        "Tests",
        "DONE",
        "FAILED |",
        "Tests run:",
        "Result:",
        "Suites:",
    ];
    let marks = |c: char| {
        matches!(
            c,
            '=' | '-' | '!' | '✖' | '✗' | '✘' | '✔' | '✓' | '⎯' | '×' | '*' | ' ' | '.' | ':' | '❌' | '✅'
        )
    };
    let line = line.trim_matches(marks);
    let line = line.strip_prefix("[ERROR] ").or_else(|| line.strip_prefix("[INFO] ")).unwrap_or(line);
    let line = line.strip_prefix("[WARNING] ").unwrap_or(line);
    if let Some(failed) = named_counts_show_failure(line) {
        return Some(failed);
    }
    let named = LABELS_BEFORE_COUNTS.iter().find_map(|name| line.strip_prefix(name).map(str::trim_start));
    let row = named.unwrap_or(line);
    if row.len() > 200 || !row.starts_with(|c: char| c.is_ascii_digit()) && !row.starts_with("no ") {
        return None;
    }
    let (mut bad, mut problems, mut good) = (None, None, false);
    for piece in row.split([',', ';', '|', '(', ')', '·']).map(str::trim).filter(|piece| !piece.is_empty()) {
        match parse_count(piece)? {
            TestCountKind::Bad(n) => bad = Some(bad.unwrap_or(0) + n),
            TestCountKind::Problems(n) => problems = Some(n),
            TestCountKind::Good => good = true,
            TestCountKind::Other => {}
        }
    }
    match (bad, problems, good) {
        (Some(n), _, _) | (None, Some(n), _) => Some(n > 0),
        (None, None, true) => Some(false),
        (None, None, false) => None,
    }
}

enum TestCountKind {
    Bad(u64),
    /// Errors and warnings together, from a linter that does not distinguish them.
    Problems(u64),
    Good,
    Other,
}

/// Parses one part of a row of counts. Returns `None` if it is not a count.
fn parse_count(piece: &str) -> Option<TestCountKind> {
    let mut words = piece.split_whitespace().map(|word| word.trim_end_matches(['.', ':', '!']));
    let first = words.next()?;
    let words: Vec<&str> = words.collect();
    let number = match first {
        "no" => 0,
        "in" | "total" | "duration" => return Some(TestCountKind::Other),
        _ => match first.trim_end_matches('%').parse::<u64>() {
            Ok(number) => number,
            // This is a duration, such as `3.2s` or `10ms`.
            Err(_) if first.starts_with(|c: char| c.is_ascii_digit()) && words.len() <= 1 => {
                return Some(TestCountKind::Other);
            }
            Err(_) => return None,
        },
    };
    if words.len() > 7 {
        return None;
    }
    // The noun may come before the result, as in `1 tests failed out of 5`.
    let what = match words.as_slice() {
        [
            "test" | "tests" | "spec" | "specs" | "suite" | "suites" | "target" | "targets" | "file"
            | "files" | "feature" | "step" | "scenario",
            how,
            ..,
        ] => how,
        [how, ..] => how,
        [] => "",
    };
    let rest = words.iter().skip_while(|word| **word != what).nth(1).copied().unwrap_or_default();
    let ends = rest.is_empty()
        || matches!(
            rest,
            "in" | "out"
                | "total"
                | "found"
                | "detected"
                | "generated"
                | "locally"
                | "of"
                | "during"
                | "are"
                | "across"
        )
        || rest.starts_with(['(', '[']);
    match what {
        "failed" | "failure" | "failures" | "failing" | "fail" | "fails" | "error" | "errors" | "timed"
        | "broken" | "interrupted"
            if ends || what == "timed" =>
        {
            Some(TestCountKind::Bad(number))
        }
        "problem" | "problems" | "issue" | "issues" | "offense" | "offenses" | "violation" | "violations"
            if ends =>
        {
            Some(TestCountKind::Problems(number))
        }
        "passed" | "pass" | "passing" | "succeeded" | "successful" if ends => Some(TestCountKind::Good),
        _ => Some(TestCountKind::Other),
    }
}

/// Parses `Tests run: 5, Failures: 1, Errors: 0`, `failures=1` or `Failed: 0, Passed: 5`, and returns whether it
/// shows a failure.
fn named_counts_show_failure(line: &str) -> Option<bool> {
    let mut bad = None;
    for piece in line.split([',', ';']) {
        let Some((name, number)) = piece.rsplit_once([':', '=']) else { continue };
        let number = number.trim().trim_end_matches(['.', ')']);
        let name = name.rsplit([' ', '(', '-']).find(|word| !word.is_empty()).unwrap_or_default();
        if matches!(name, "Failures" | "Errors" | "Failed" | "failures" | "errors" | "failed")
            && let Ok(number) = number.parse::<u64>()
        {
            bad = Some(bad.unwrap_or(0) + number);
        }
    }
    bad.map(|n| n > 0)
}

/// Returns the kind of check that prints such a row of counts. Tests pass or fail, whereas linters find problems.
pub(super) fn kind_of_counts(of: &impl Fn(CommandKind) -> bool, row: &str) -> Option<CommandKind> {
    let counts = |names: &[&str]| {
        row.split(|c: char| !c.is_ascii_alphabetic())
            .any(|word| names.contains(&word.to_ascii_lowercase().as_str()))
    };
    let kind = match () {
        () if counts(&["passed", "passing", "failed", "failing", "failures"]) => CommandKind::Test,
        () if counts(&["problem", "problems", "issue", "issues", "offenses", "violations"]) => {
            CommandKind::Lint
        }
        () => return None,
    };
    Some(kind).filter(|kind| of(*kind))
}
