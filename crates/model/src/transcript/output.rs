//! What a failed command printed, down to the lines that say why.

use crate::text::cut;

const LINES: usize = 12;
const LINE_BYTES: usize = 300;
/// Where nothing looks like an error, the end of the output is the best guess.
const LAST_LINES: usize = 4;

/// Words that make a line an error line, in lower case. Taken from what compilers, test runners and shells print.
const MARKS: [&str; 20] = [
    "error",
    "fail",
    "panic",
    "fatal",
    "exception",
    "traceback",
    "undefined",
    "cannot ",
    "can't ",
    "not found",
    "no such file",
    "denied",
    "mismatch",
    "unexpected",
    "expected",
    "assert",
    "missing",
    "invalid",
    "refused",
    "timed out",
];

/// Lines with a mark in them that say the opposite.
const CALM: [&str; 12] = [
    "0 error",
    "no error",
    "0 fail",
    "no fail",
    "errors: 0",
    "failures: 0",
    "failed: 0",
    "error: null",
    "--- pass",
    "=== run",
    "=== pause",
    "downloading",
];

/// The lines that say why, in order, at most a dozen, each cut; the last lines where none says so.
pub fn error_lines(output: &str) -> Vec<String> {
    let lines = || output.lines().map(shown).filter(|line| !line.is_empty());
    let mut found: Vec<&str> = Vec::new();
    for line in lines().filter(|line| says_error(line)) {
        if !found.contains(&line) {
            found.push(line);
        }
        if found.len() == LINES {
            break;
        }
    }
    if found.is_empty() {
        found = lines().rev().take(LAST_LINES).collect();
        found.reverse();
    }
    found.into_iter().map(|line| cut(line, LINE_BYTES).to_owned()).collect()
}

/// The line as one sees it: a progress display writes over what stands before a carriage return.
fn shown(line: &str) -> &str {
    let line = line.trim_end();
    line.rsplit('\r').next().unwrap_or(line)
}

fn says_error(line: &str) -> bool {
    // Past this a line is data, not a message; and the lower-case copy stays small.
    let line = cut(line, 4 * LINE_BYTES).to_ascii_lowercase();
    (has_place(&line) || MARKS.iter().any(|mark| line.contains(mark)))
        && !CALM.iter().any(|calm| line.contains(calm))
}

/// `file.go:12: …`, as linters and compilers begin a finding. A time of day has digits on both sides.
fn has_place(line: &str) -> bool {
    line.match_indices(':').any(|(colon, _)| {
        let after = line[colon + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        let has_number = after.len() < line.len() - colon - 1;
        has_number && after.starts_with(':') && line[..colon].ends_with(|c: char| c.is_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_what_says_why() {
        let cases: [(&str, &[&str]); 9] = [
            (
                "ok  a\n--- FAIL: TestX (0.0s)\n    x_test.go:9: expected 1\nok  b\n",
                &["--- FAIL: TestX (0.0s)", "    x_test.go:9: expected 1"],
            ),
            (
                "compiling\nerror[E0308]: mismatched types\n  --> a.rs:1:1\n",
                &["error[E0308]: mismatched types", "  --> a.rs:1:1"],
            ),
            ("12 passed, 0 failed\nlast\n", &["12 passed, 0 failed", "last"]),
            ("a\nb\nc\nd\ne\n\n", &["b", "c", "d", "e"]),
            ("error: x\r\nerror: x\r\n", &["error: x"]),
            ("step 1\rstep 2\rerror: y\n", &["error: y"]),
            (
                "=== RUN TestError\n--- PASS: TestError\na/b.go:12:3: use x (lint)\n",
                &["a/b.go:12:3: use x (lint)"],
            ),
            ("10:12:33 started\n  a_test.go:9: bad\n", &["  a_test.go:9: bad"]),
            ("", &[]),
        ];
        for (output, expected) in cases {
            assert_eq!(error_lines(output), expected, "{output}");
        }
    }

    #[test]
    fn stays_small() {
        let long = format!("error: {}\n", "ä".repeat(10_000)).repeat(3);
        assert!(error_lines(&long).iter().all(|line| line.len() <= LINE_BYTES));
        let many: String = (0..1000).map(|n| format!("error {n}\n")).collect();
        assert_eq!(error_lines(&many).len(), LINES);
    }
}
