//! Picks the lines that explain a failure from a command's output.

use std::collections::BTreeSet;

use crate::error_line::{ERROR_WORDS, starts_with_file_and_line, without_zero_counts};
use crate::redact::Redacted;
use crate::run;

/// The maximum number of lines that are kept of one failure.
pub(crate) const MAX_LINES: usize = 6;

/// The maximum total length of these lines.
const MAX_BYTES: usize = 1_200;

/// First words, in lower case, of lines that contain an error word but are not about the failure.
const OTHER_BEGINNINGS: &[&str] =
    &["--- pass", "=== run", "warning: unused", "downloading ", "downloaded ", "go: downloading "];

/// Marks of lines that are for information only.
const INFORMATION_LEVELS: &[&str] = &["INFO", "DEBUG", "level=info", "level=debug", "TRACE"];

/// Words in lines that a failing test prints, besides [`ERROR_WORDS`].
const TEST_WORDS: &[&str] = &["want", "got", "should", "must", "missing", "wrong", "but ", "!=", "differ"];

/// Lines that report a failure without a reason. They are kept if there are no better lines.
const UNINFORMATIVE_LINES: &[&str] = &["FAIL", "FAILED", "Error:", "error:", "ERROR"];

/// Parts of lines that report a failure without a reason.
const UNINFORMATIVE_PARTS: &[&str] =
    &["ERROR task failed", "exit status ", "Command failed with exit code", "ELIFECYCLE"];

/// Returns the informative lines of `output` in order, joined by line ends; if there are none, the last lines. The
/// output must already be redacted, because a single line of a private key would not be recognised.
pub fn error_lines(output: &Redacted) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| is_worth_keeping(line)).collect();
    let telling: Vec<&str> = lines.iter().copied().filter(|line| is_informative(line)).collect();
    let specific: Vec<&str> = telling.iter().copied().filter(|line| !is_uninformative(line)).collect();
    let chosen = match (specific.is_empty(), telling.is_empty()) {
        (false, _) => specific,
        (true, false) => telling,
        (true, true) => lines[lines.len().saturating_sub(3)..].to_vec(),
    };
    let mut told = BTreeSet::new();
    let chosen: Vec<&str> = chosen.into_iter().filter(|line| told.insert(*line)).collect();
    let mut kept = String::new();
    for line in most_informative_lines(&chosen) {
        let line = crate::text::cut_to_bytes(line, 300);
        if kept.len() + line.len() > MAX_BYTES {
            break;
        }
        if !kept.is_empty() {
            kept.push('\n');
        }
        kept.push_str(line);
    }
    kept
}

/// Returns the lines with the name of a failed test, and the first of the other lines, in order.
fn most_informative_lines<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let names = |line: &&&str| {
        run::failed_test_in_line(line).is_some_and(|name| !name.contains('/') || name.contains("::"))
    };
    let named = lines.iter().filter(names).count().min(MAX_LINES);
    let (mut names_left, mut others_left) = (named, MAX_LINES - named);
    let kept = lines.iter().filter(|line| {
        let left = if names(line) { &mut names_left } else { &mut others_left };
        let fits = *left > 0;
        *left -= usize::from(fits);
        fits
    });
    kept.copied().collect()
}

/// Returns the lines of [`error_lines`] that name the error, without the heading of a Python traceback.
pub fn reason_lines(error: &str) -> impl Iterator<Item = &str> {
    let is_heading = error.starts_with("Traceback (most recent call last):\n");
    error.lines().skip(usize::from(is_heading))
}

/// Returns the first of [`reason_lines`].
pub fn first_reason_line(error: &str) -> &str {
    reason_lines(error).next().unwrap_or_default()
}

/// Returns the first line that is not blank.
pub fn first_nonblank_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

/// Whether a line is worth keeping. The harness's own first line contains only the exit code, which is stored
/// separately.
fn is_worth_keeping(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("Exit code ") && !line.chars().all(|c| !c.is_alphanumeric())
}

fn is_informative(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_other = OTHER_BEGINNINGS.iter().any(|words| lower.starts_with(words))
        || lower.ends_with("... ok")
        || lower.contains("\"level\":\"info\"")
        || line
            .split_whitespace()
            .take(5)
            .any(|word| INFORMATION_LEVELS.contains(&word.trim_matches(['[', ']', '(', ')', ':', '|'])));
    let text = without_zero_counts(line).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    !is_other
        && !is_log_entry(&lower)
        && (has(ERROR_WORDS) && !is_source_code(line)
            || starts_with_file_and_line(line) && (!is_from_test(line) || has(TEST_WORDS)))
}

/// Whether a line, in lower case, is a JSON log entry that is not an error: `{"time":"…","level":"warn",…}`.
fn is_log_entry(lower: &str) -> bool {
    lower.starts_with('{') && lower.contains("\"level\":") && !lower.contains("\"level\":\"error\"")
}

/// Whether a Go test printed the line. Failures and log messages have the same form: `a_test.go:12: starting`.
fn is_from_test(line: &str) -> bool {
    line.split_once(':').is_some_and(|(file, _)| file.ends_with("_test.go"))
}

/// Returns whether a line is source code that a linter prints below its finding:
/// `func Get(name string) (Strategy, error) {`.
fn is_source_code(line: &str) -> bool {
    line.ends_with([';', '{']) && !line.contains(": ")
}

fn is_uninformative(line: &str) -> bool {
    UNINFORMATIVE_LINES.contains(&line) || UNINFORMATIVE_PARTS.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_lines(output: &str) -> String {
        super::error_lines(&Redacted::redact_whole(output, crate::redact::RedactOptions::default()))
    }

    #[test]
    fn informative_lines_are_kept() {
        let cargo = "Exit code 101\n   Compiling x\nerror[E0308]: mismatched types\n  --> src/a.rs:3:5\n   |\nwarning: unused\nerror: could not compile `x`";
        assert_eq!(error_lines(cargo), "error[E0308]: mismatched types\nerror: could not compile `x`");
        let plain = "Exit code 3\none\n\ntwo\nthree\nfour\n";
        assert_eq!(error_lines(plain), "two\nthree\nfour");
        assert_eq!(
            error_lines("x\n=== RUN Test_error\n--- PASS: Test_error\na.go:12:3: odd\ny"),
            "a.go:12:3: odd"
        );
        assert_eq!(error_lines("Exit code 1"), "");
        let lint = "go: downloading example.com/pkg/errors v0.9.1\na/b.go:3:9: unnamed result (gocritic)\nfunc Get() (Strategy, error) {\n\t^";
        assert_eq!(error_lines(lint), "a/b.go:3:9: unnamed result (gocritic)");
        assert_eq!(
            error_lines("error: expected `;`, found `{`\nSyntaxError: unexpected {"),
            "error: expected `;`, found `{`\nSyntaxError: unexpected {"
        );
        assert_eq!(
            error_lines("--- FAIL: TestX\nFAIL\nexit status 1\n[lint] ERROR task failed"),
            "--- FAIL: TestX"
        );
        assert_eq!(
            error_lines(
                "Auto-merging a.rs\nCONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed; fix conflicts"
            ),
            "CONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed; fix conflicts"
        );
        // The log messages of a test have the same form.
        assert_eq!(
            error_lines(
                "--- FAIL: TestX\nx_test.go:9: Rewind output: reset\nx_test.go:12: Count = 3, want 4\nFAIL"
            ),
            "--- FAIL: TestX\nx_test.go:12: Count = 3, want 4"
        );
        assert_eq!(error_lines("{\"level\":\"WARN\",\"msg\":\"not found\"}\nerror: odd"), "error: odd");
        assert_eq!(error_lines("FAIL\nexit status 1"), "FAIL");
        assert_eq!(
            error_lines("test result: ok. 3 passed; 0 failed\nlast"),
            "test result: ok. 3 passed; 0 failed\nlast"
        );
        assert_eq!(error_lines("a\n10 failed, 3 passed\nb"), "10 failed, 3 passed");
        assert_eq!(error_lines("error: no info file\nb"), "error: no info file");
    }

    #[test]
    fn tests_that_failed_come_before_what_they_logged() {
        let logs = "hooks.go:155: error one\n".to_owned()
            + &(0..9).map(|n| format!("hooks.go:15{n}: error\n")).collect::<String>();
        let kept = error_lines(&format!(
            "--- FAIL: TestA (0.1s)\n{logs}--- FAIL: TestB (0.1s)\nb_test.go:3: odd\nFAIL"
        ));
        let lines: Vec<&str> = kept.lines().collect();
        assert_eq!(
            (lines.len(), lines[0], lines[5]),
            (6, "--- FAIL: TestA (0.1s)", "--- FAIL: TestB (0.1s)")
        );
    }

    #[test]
    fn the_reason_is_not_pythons_heading() {
        let trace =
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nAssertionError: odd\n";
        assert_eq!(first_reason_line(&error_lines(trace)), "AssertionError: odd");
        assert_eq!(
            first_reason_line("Traceback (most recent call last):"),
            "Traceback (most recent call last):"
        );
        assert_eq!((first_reason_line("error: x\nerror: y"), first_reason_line("")), ("error: x", ""));
    }

    #[test]
    fn the_error_lines_stay_small() {
        assert!(error_lines(&"error: x".repeat(10_000)).len() <= 300);
        assert!(error_lines(&"error: something\n".repeat(10_000)).len() <= MAX_BYTES);
    }
}
