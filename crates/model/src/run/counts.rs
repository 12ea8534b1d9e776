//! Parses the number of passed and failed tests from a test runner's output.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clean::without_escapes;
use crate::text::split_at_first;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TestCounts {
    /// The number of passed tests. `None` if the runner does not print this number. For example, `go test` lists only
    /// packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
}

impl TestCounts {
    /// Returns the number of tests that ran, or `None` if it is unknown.
    pub fn tests_run(self) -> Option<u64> {
        Some(self.passed? + self.failed.unwrap_or(0))
    }

    pub fn is_none(&self) -> bool {
        *self == TestCounts::default()
    }

    pub fn has_failed_tests(self) -> bool {
        self.failed.is_some_and(|failed| failed > 0)
    }

    fn add_counts(&mut self, other: TestCounts) {
        let sum = |mine: Option<u64>, more: Option<u64>| match (mine, more) {
            (None, None) => None,
            (mine, more) => Some(mine.unwrap_or(0) + more.unwrap_or(0)),
        };
        *self = TestCounts { passed: sum(self.passed, other.passed), failed: sum(self.failed, other.failed) };
    }
}

impl fmt::Display for TestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.passed, self.failed) {
            (Some(passed), None | Some(0)) => write!(f, "{passed} passed"),
            (Some(passed), Some(failed)) => write!(f, "{passed} passed, {failed} failed"),
            (None, Some(failed)) => write!(f, "{failed} failed"),
            (None, None) => f.write_str("not counted"),
        }
    }
}

/// Returns the test counts in an output. Several summaries are added up, because cargo prints one for each binary, and
/// dotnet one for each project. If the runner also prints a total, as maven does after its classes, only the total is
/// used.
pub fn counts_in_output(output: &str) -> Option<TestCounts> {
    if let Some(counts) = counts_in_junit(output) {
        return Some(counts);
    }
    let found = CountedLines::of_output(output);
    let none = || reports_no_tests(output).then_some(TestCounts { passed: Some(0), failed: None });
    found.parts.or(found.total()).or(found.classes).or(found.count_of_marks()).or_else(none)
}

/// Like [`counts_in_output`], but for output from which `tail`, `grep` or another filter may have removed lines.
/// Returns only a total that the runner prints after all tests. Ignores a summary that covers only some of the tests.
/// Also ignores a count of zero, because it does not show that no tests ran.
pub(super) fn counts_in_cut_output(output: &str) -> Option<TestCounts> {
    let found = CountedLines::of_output(output);
    let is_one_of_several = found.parts.is_some() || found.classes.is_some() || found.has_single_tests;
    let counts = if is_one_of_several { None } else { found.total().or(found.count_of_marks()) };
    counts.filter(|counts| counts.tests_run() != Some(0))
}

/// Returns whether a line of an output counts only some of the tests. `counts` are the counts of the whole run.
pub fn counts_only_some_tests(line: &str, counts: TestCounts) -> bool {
    match counts_in_line(without_escapes(line).trim()) {
        Some(
            CountsInLine::Part(of_line)
            | CountsInLine::Class(of_line)
            | CountsInLine::Whole(of_line)
            | CountsInLine::Nested(of_line),
        ) => of_line.passed != counts.passed || of_line.failed.unwrap_or(0) != counts.failed.unwrap_or(0),
        Some(CountsInLine::Passed(n)) => counts.passed != Some(n),
        _ => false,
    }
}

/// The counts that the lines of an output contain, by kind of line.
#[derive(Default)]
struct CountedLines {
    /// The sum of the summaries that runners print for each binary, project or module.
    parts: Option<TestCounts>,
    /// The totals, in order.
    totals: Vec<TestCounts>,
    /// The sum of the summaries that maven prints, one per class.
    classes: Option<TestCounts>,
    /// The counts of passed and of failed tests, from separate lines.
    marks: TestCounts,
    /// Whether `marks` contains lines about single tests.
    has_single_tests: bool,
    ran: Option<u64>,
}

impl CountedLines {
    fn of_output(output: &str) -> CountedLines {
        let mut found = CountedLines::default();
        for line in output.lines() {
            let line = without_escapes(line);
            match counts_in_line(line.trim()) {
                Some(CountsInLine::Part(counts)) => found.parts.get_or_insert_default().add_counts(counts),
                Some(CountsInLine::Class(counts)) => found.classes.get_or_insert_default().add_counts(counts),
                Some(CountsInLine::Whole(counts)) => found.totals.push(counts),
                Some(CountsInLine::Nested(counts)) => found.totals = vec![counts],
                Some(CountsInLine::Ran(n)) => found.ran = Some(found.ran.unwrap_or(0) + n),
                Some(CountsInLine::Passed(n)) => {
                    found.marks.add_counts(TestCounts { passed: Some(n), failed: None });
                }
                Some(CountsInLine::Failed(n)) => {
                    found.marks.add_counts(TestCounts { passed: None, failed: Some(n) });
                }
                Some(CountsInLine::OnePassed) => {
                    found.add_single_test(TestCounts { passed: Some(1), failed: None });
                }
                Some(CountsInLine::OneFailed) => {
                    found.add_single_test(TestCounts { passed: None, failed: Some(1) });
                }
                None => {}
            }
        }
        found
    }

    fn add_single_test(&mut self, test: TestCounts) {
        self.marks.add_counts(test);
        self.has_single_tests = true;
    }

    /// Returns the sum of the totals. A task runner prints the total of each package. If the last total is already the
    /// sum of the others, it is returned.
    fn total(&self) -> Option<TestCounts> {
        let (last, others) = self.totals.split_last()?;
        let mut sum = TestCounts::default();
        others.iter().for_each(|counts| sum.add_counts(*counts));
        if others.len() < 2 || sum != *last {
            sum.add_counts(*last);
        }
        Some(sum)
    }

    fn count_of_marks(&self) -> Option<TestCounts> {
        let mut counts = self.marks;
        if let Some(n) = self.ran {
            counts.passed = Some(n.saturating_sub(counts.failed.unwrap_or(0)));
        }
        (counts != TestCounts::default()).then_some(counts)
    }
}

/// Messages that test runners print instead of a count if they found no tests (pytest, unittest, go, jest, vitest,
/// ctest, dart).
const NO_TESTS_SIGNS: &[&str] = &[
    "no tests ran",
    "NO TESTS RAN",
    "No tests ran",
    "[no test files]",
    "[no tests to run]",
    "No tests found",
    "No test files found",
    "No tests were found",
];

/// Returns whether an output without counts says that no tests ran. `go test` prints a line for each package, so a
/// single package with tests shows that tests ran.
fn reports_no_tests(output: &str) -> bool {
    let has_sign = |line: &str| NO_TESTS_SIGNS.iter().any(|sign| line.contains(sign));
    output.lines().any(has_sign) && !output.lines().any(|line| line.starts_with("ok ") && !has_sign(line))
}

enum CountsInLine {
    /// One of several counts that must be added up.
    Part(TestCounts),
    /// The counts of one test class, which are also in the total of its module.
    Class(TestCounts),
    Whole(TestCounts),
    /// The counts of a suite, which contain the counts of the suites before it.
    Nested(TestCounts),
    /// The total number of tests. unittest prints the failures on another line.
    Ran(u64),
    /// The number of passed tests, such as `# pass 5` or `5 passing`. The failed tests are on another line.
    Passed(u64),
    Failed(u64),
    /// One passed test, such as `--- PASS: TestX`.
    OnePassed,
    OneFailed,
}

fn counts_in_line(line: &str) -> Option<CountsInLine> {
    if let Some(rest) = line.strip_prefix("test result: ") {
        return counts_in_row(split_at_first(rest, ". ")?.1).map(CountsInLine::Part);
    }
    if let Some(rest) = line.strip_prefix("Summary [") {
        // nextest prints `Summary [   0.5s] 10 tests run: 9 passed, 1 failed, 2 skipped`.
        return counts_in_row(rest.split_once("run:").map(|(_, rest)| rest)?).map(CountsInLine::Whole);
    }
    if line.starts_with("--- PASS: ") {
        return Some(CountsInLine::OnePassed);
    }
    if line.starts_with("--- FAIL: ") {
        return Some(CountsInLine::OneFailed);
    }
    // All formats below contain a number, but most output lines do not, so most lines are skipped here.
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    for (mark, told) in [
        ("# pass ", CountsInLine::Passed as fn(u64) -> CountsInLine),
        ("ℹ pass ", CountsInLine::Passed),
        ("# fail ", CountsInLine::Failed),
        ("ℹ fail ", CountsInLine::Failed),
    ] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest.trim().parse().ok().map(told);
        }
    }
    if let Some(rest) = line.strip_prefix("OK (") {
        return counts_in_row(rest).or_else(|| counts_in_total(rest)).map(CountsInLine::Whole); // phpunit
    }
    if let Some(rest) = line.strip_prefix("Ran ") {
        return first_number(rest).filter(|_| rest.contains(" test")).map(CountsInLine::Ran);
    }
    if let Some(rest) = line.strip_prefix("FAILED (") {
        return labelled_counts(rest).map(|counts| CountsInLine::Failed(counts.failed.unwrap_or(0)));
    }
    if let Some(counts) = executed_counts(line) {
        let is_nested = line.starts_with("Executed ");
        return Some(if is_nested { CountsInLine::Nested(counts) } else { CountsInLine::Whole(counts) });
    }
    if let Some(counts) = example_counts(line) {
        return Some(CountsInLine::Whole(counts));
    }
    if let Some(counts) = labelled_counts(line) {
        return Some(match () {
            () if line.starts_with("Passed!  - ") || line.starts_with("Failed!  - ") => {
                CountsInLine::Part(counts) // dotnet
            }
            () if line.contains("Tests run:") && line.contains("Time elapsed") => CountsInLine::Class(counts),
            () if line.contains("Tests run:") => CountsInLine::Part(counts), // a module in maven
            () => CountsInLine::Whole(counts),
        });
    }
    if let Some((told, n)) = single_count(line) {
        return Some(if told { CountsInLine::Passed(n) } else { CountsInLine::Failed(n) });
    }
    // Examples are `===== 2 failed, 10 passed in 1.2s =====`, `Tests:  1 failed, 5 passed, 6 total` and `ok | 5
    // passed | 0 failed`.
    let line = line.trim_matches(|c: char| "=-!✖✗✔✓ ".contains(c));
    if ["Test Suites:", "Test Files", "Snapshots:", "Suites:"].iter().any(|start| line.starts_with(start)) {
        return None;
    }
    let bare = ["Tests:", "Tests", "ok |", "FAILED |"].iter().find_map(|start| line.strip_prefix(start));
    let is_row = bare.is_some() || line.starts_with(|c: char| c.is_ascii_digit());
    counts_in_row(bare.unwrap_or(line)).filter(|_| is_row && line.len() < 200).map(CountsInLine::Whole)
}

/// Parses a row such as `5 passed; 1 failed; 0 ignored`, in any order. Returns `None` if it counts neither passed nor
/// failed tests.
fn counts_in_row(text: &str) -> Option<TestCounts> {
    let mut counts = TestCounts::default();
    for piece in split_pieces(text).map(str::trim) {
        let Some((n, what)) = number_and_word(piece) else { continue };
        match what.trim_end_matches(['.', ':']) {
            "passed" => counts.passed = Some(n),
            "failed" | "error" | "errors" => counts.failed = Some(counts.failed.unwrap_or(0) + n),
            "tests" if piece.ends_with("passed") => counts.passed = Some(n),
            "tests" if piece.contains(" failed") => counts.failed = Some(n),
            _ => {}
        }
    }
    if counts.passed.is_none() && counts.failed.is_some() && text.contains("total") {
        counts.passed = Some(0);
    }
    (counts != TestCounts::default()).then_some(counts)
}

/// Parses the number at the start of a trimmed piece, and returns the word after it.
fn number_and_word(piece: &str) -> Option<(u64, &str)> {
    let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
    let rest = piece[digits..].strip_prefix(char::is_whitespace)?.trim_start();
    let end = rest.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(rest.len());
    Some((piece[..digits].parse().ok()?, &rest[..end]))
}

/// Splits at commas, semicolons, bars and parentheses. These are single bytes, so no characters need to be decoded.
fn split_pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let Some(end) = text.bytes().position(|byte| matches!(byte, b',' | b';' | b'|' | b'(' | b')')) else {
            return Some(text);
        };
        rest = Some(&text[end + 1..]);
        Some(&text[..end])
    })
}

/// Parses `5 tests, 9 assertions`, which means that all tests passed.
fn counts_in_total(text: &str) -> Option<TestCounts> {
    first_number(text).map(|n| TestCounts { passed: Some(n), failed: Some(0) })
}

/// Parses `Tests run: 5, Failures: 1, Errors: 0, Skipped: 1`, `Tests: 5, Assertions: 9, Failures: 1.`, `Failed: 0,
/// Passed: 5` or `failures=1, errors=2`.
fn labelled_counts(line: &str) -> Option<TestCounts> {
    let (mut total, mut passed, mut bad, mut skipped) = (None, None, None, 0);
    for piece in line.split([',', ';']) {
        let Some((name, number)) = piece.rsplit_once([':', '=']) else { continue };
        let Ok(n) = number.trim().trim_end_matches(['.', ')']).parse::<u64>() else { continue };
        match name.rsplit([' ', '(', '-', '\t']).find(|word| !word.is_empty()).unwrap_or_default() {
            "run" | "Tests" => total = Some(n),
            "Passed" | "passed" => passed = Some(n),
            "Failures" | "Errors" | "Failed" | "failures" | "errors" => bad = Some(bad.unwrap_or(0) + n),
            "Skipped" | "skipped" | "Incomplete" => skipped += n,
            _ => {}
        }
    }
    if total.is_none() && bad.is_none() {
        return None;
    }
    let failed = bad.unwrap_or(0);
    let passed = passed.or_else(|| total.map(|n: u64| n.saturating_sub(failed + skipped)));
    Some(TestCounts { passed, failed: Some(failed) })
}

/// Parses the formats of swift (`Executed 5 tests, with 1 failure`), gradle (`5 tests completed, 1 failed`) and ctest
/// (`1 tests failed out of 5`).
fn executed_counts(line: &str) -> Option<TestCounts> {
    let of = |total: u64, failed: u64| TestCounts {
        passed: Some(total.saturating_sub(failed)),
        failed: Some(failed),
    };
    if let Some((before, rest)) = line.strip_prefix("Executed ").and_then(|rest| rest.split_once(", with ")) {
        return Some(of(first_number(before)?, first_number(rest).unwrap_or(0)));
    }
    if let Some((before, rest)) = split_at_first(line, " tests completed, ") {
        return Some(of(before.trim().parse().ok()?, first_number(rest)?));
    }
    let (before, total) = split_at_first(line, " failed out of ")?;
    let failed = before.rsplit(' ').find_map(|word| word.parse().ok())?;
    Some(of(total.trim().parse().ok()?, failed))
}

/// Parses the formats of rspec, exunit and minitest: `5 examples, 1 failure`, `5 tests, 1 failure`, `5 runs, 9
/// assertions, 1 failures, 0 errors`.
fn example_counts(line: &str) -> Option<TestCounts> {
    let (first, rest) = split_at_first(line, ", ")?;
    let (number, what) = first.split_once(' ')?;
    let total: u64 = number.parse().ok()?;
    if !matches!(what, "examples" | "example" | "tests" | "test" | "runs" | "run")
        || !rest.contains("failure")
    {
        return None;
    }
    let (mut bad, mut out) = (0, 0);
    for piece in rest.split(", ") {
        let n = first_number(piece).unwrap_or(0);
        match piece {
            _ if piece.contains("failure") || piece.contains("error") => bad += n,
            _ if piece.contains("pending") || piece.contains("skip") || piece.contains("excluded") => {
                out += n;
            }
            _ => {}
        }
    }
    Some(TestCounts { passed: Some(total.saturating_sub(bad + out)), failed: Some(bad) })
}

/// Parses the formats of mocha, bun and playwright: `5 passing (3s)`, ` 5 pass`, `1 failing`, `1 failed`, `5 passed
/// (3.2s)`. The first value is true if the number counts passed tests.
fn single_count(line: &str) -> Option<(bool, u64)> {
    let (number, rest) = line.split_once(' ')?;
    let n = number.parse().ok()?;
    let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
    if !behind.is_empty() && !behind.starts_with('(') {
        return None;
    }
    match word {
        "passing" | "pass" | "passed" => Some((true, n)),
        "failing" | "fail" | "failed" => Some((false, n)),
        _ => None,
    }
}

fn first_number(text: &str) -> Option<u64> {
    let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Parses a JUnit report, such as `<testsuite tests="5" failures="1" errors="0" skipped="1">`.
fn counts_in_junit(text: &str) -> Option<TestCounts> {
    // Almost no output contains a tag.
    memchr::memchr(b'<', text.as_bytes())?;
    let mut sum: Option<TestCounts> = None;
    for (start, is_all) in [("<testsuites", true), ("<testsuite", false)] {
        // Searching for a single character is cheaper than searching for the whole tag.
        for (at, _) in text.match_indices('<').filter(|(at, _)| text[*at..].starts_with(start)) {
            let tag = text[at + start.len()..].split('>').next().unwrap_or_default();
            // `<testsuites` also starts with `<testsuite`.
            if !tag.starts_with([' ', '\n', '\t', '\r']) {
                continue;
            }
            let value = |name: &str| number_attribute(tag, name);
            let Some(total) = value("tests") else { continue };
            let failed = value("failures").unwrap_or(0) + value("errors").unwrap_or(0);
            let out = value("skipped").or_else(|| value("disabled")).unwrap_or(0);
            let counts =
                TestCounts { passed: Some(total.saturating_sub(failed + out)), failed: Some(failed) };
            if is_all {
                return Some(counts);
            }
            sum.get_or_insert_default().add_counts(counts);
        }
    }
    sum
}

fn number_attribute(tag: &str, name: &str) -> Option<u64> {
    let at = tag.match_indices(name).find_map(|(at, _)| {
        let is_whole = tag[..at].ends_with(|c: char| c.is_ascii_whitespace());
        let rest = tag[at + name.len()..].trim_start().strip_prefix('=')?;
        is_whole.then_some(rest)
    })?;
    let at = at.trim_start();
    let quote = at.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    at[1..].split(quote).next()?.trim().parse().ok()
}

#[cfg(test)]
#[path = "counts_tests.rs"]
mod tests;
