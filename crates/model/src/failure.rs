//! Picks the lines from a command's output that explain its failure.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::error_line::{
    ERROR_WORDS, is_line_of_unfailed_test, is_warning_line, starts_with_file_and_line, without_zero_counts,
};
use crate::redact::Redacted;
use crate::run;

mod pytest;
mod report;

use report::ReportLineKind;

/// The maximum number of lines kept for one failure.
pub(crate) const MAX_FAILURE_LINES: usize = 6;

/// The maximum total length of the kept lines.
const MAX_FAILURE_LINES_BYTES: usize = 1_200;

/// Lower-case beginnings of lines that contain an error word but are not about the failure.
const UNRELATED_LINE_BEGINNINGS: &[&str] =
    &["--- pass", "=== run", "warning: unused", "downloading ", "downloaded ", "go: downloading "];

/// Log levels of lines that only give information.
const INFORMATION_LEVELS: &[&str] = &["INFO", "DEBUG", "level=info", "level=debug", "TRACE"];

/// Words, besides [`ERROR_WORDS`], in lines that a failing test prints.
const TEST_FAILURE_WORDS: &[&str] =
    &["want", "got", "should", "must", "missing", "wrong", "but ", "!=", "differ"];

/// Lower-case phrases that a test logs if everything is as expected.
const AS_EXPECTED_PHRASES: &[&str] = &["as expected", "received expected", "got expected", "correctly "];

/// How many words at the start of a line are searched for a log entry's time and level.
const MAX_WORDS_BEFORE_LEVEL: usize = 12;

const TRACEBACK_HEADING: &str = "Traceback (most recent call last):";

/// Lines that only say that something failed. They are kept only if nothing better is found.
const BARE_VERDICT_LINES: &[&str] = &["FAIL", "FAILED", "Error:", "error:", "ERROR", "failures:"];

/// Phrases in lines that report a failure without a reason.
const BARE_VERDICT_PHRASES: &[&str] = &[
    "ERROR task failed",
    "exit status ",
    "Command failed with exit code",
    "ELIFECYCLE",
    "npm error Lifecycle script ",
    "npm error A complete log of this run",
    "could not compile `",
    "For more information about this error, try ",
    "For more information about an error, try ",
    "Some errors have detailed explanations: ",
    "build failed, waiting for other jobs to finish",
    "error: aborting due to ",
];

/// How informative a line is about the failure. The most informative rank comes first, and only lines of the best rank
/// found are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FailureLineRank {
    Specific,
    /// The line names a Go package that failed, so it is more informative than a bare `FAIL`.
    PackageVerdict,
    /// The line only says that something failed.
    Verdict,
    /// A warning like those that npm, Node.js and Python print.
    Notice,
}

/// Returns the informative lines of `output` in order, joined by line breaks. If there are none, returns the last
/// lines. The output must already be redacted as a whole, because a single line of a private key would not be
/// recognised.
pub fn error_lines(output: &Redacted) -> String {
    let mut found = FoundErrorLines::find(output, MAX_FAILURE_LINES);
    let mut told = BTreeSet::new();
    found.lines.retain(|line| told.insert(*line));
    let mut kept = String::new();
    let lines = found.most_informative(MAX_FAILURE_LINES).into_iter();
    for line in lines.flat_map(|line| with_rustc_places(output, line)).take(MAX_FAILURE_LINES) {
        let line = crate::text::cut_to_bytes(&line, 300);
        if kept.len() + line.len() > MAX_FAILURE_LINES_BYTES {
            break;
        }
        if !kept.is_empty() {
            kept.push('\n');
        }
        kept.push_str(line);
    }
    kept
}

/// Returns an error of rustc once for each of its places, in the form of other compilers: `src/a.rs:15:15: error[E0004]:
/// …`. rustc prints the place in the line below, as in `  --> src/a.rs:15:15`. Returns any other line unchanged.
fn with_rustc_places<'o>(output: &'o str, line: &'o str) -> Vec<Cow<'o, str>> {
    if !line.starts_with("error") {
        return vec![Cow::Borrowed(line)];
    }
    let lines: Vec<&str> = output.lines().map(str::trim).collect();
    let places = lines.windows(2).filter(|pair| pair[0] == line).filter_map(|pair| {
        let place = pair[1].strip_prefix("--> ")?;
        starts_with_file_and_line(place).then_some(place)
    });
    let mut placed: Vec<Cow<str>> = Vec::new();
    for place in places {
        let line = format!("{place}: {line}");
        if !placed.contains(&Cow::Borrowed(line.as_str())) {
            placed.push(Cow::Owned(line));
        }
    }
    if placed.is_empty() { vec![Cow::Borrowed(line)] } else { placed }
}

/// Returns the indexes of the informative lines in `output.lines()`, in ascending order and at most `most` of them. If
/// several tests report the same line, the index of each occurrence is returned. In contrast, [`error_lines`] returns
/// such a line only once.
pub fn error_line_indexes(output: &Redacted, most: usize) -> Vec<usize> {
    let chosen = FoundErrorLines::find(output, most).most_informative(most);
    let mut lines = output.lines().enumerate();
    let place = |error: &str| Some(lines.find(|(_, line)| line.trim() == error)?.0);
    chosen.into_iter().filter_map(place).collect()
}

/// The trimmed lines of an output that say the most about a failure, in order.
struct FoundErrorLines<'o> {
    lines: Vec<&'o str>,
    /// The line that counts the failed tests, if there are more of them than can be named.
    failed_test_count: Option<&'o str>,
}

impl<'o> FoundErrorLines<'o> {
    /// Finds the lines with the best rank, from which at most `most` lines will be chosen.
    fn find(output: &'o Redacted, most: usize) -> FoundErrorLines<'o> {
        let (mut lines, mut is_below_warning): (Vec<&str>, bool) = (Vec::new(), false);
        let (all, exceptions) = without_python_tracebacks(output);
        for line in
            all.into_iter().filter(|line| is_worth_keeping(line.trim()) && !pytest::is_structure(line.trim()))
        {
            // Skip the indented line below a Python warning, because it is only the source line that caused the warning.
            if !is_below_warning || !line.starts_with("  ") {
                lines.push(line.trim());
            }
            is_below_warning = is_warning_line(line);
        }
        let parts = report::classify_report_lines(&lines);
        let has_many_names = lines.iter().filter(|line| names_failed_test(line)).count() > most;
        let failed_test_count = report::failed_test_count_line(&lines).filter(|_| has_many_names);
        // A line of a diff does not show which test it belongs to, so it is dropped if more tests failed than can be
        // named. A label is always dropped, because it says nothing without its value.
        let is_kept = |part: Option<ReportLineKind>| match part {
            Some(ReportLineKind::Difference) => !has_many_names,
            Some(ReportLineKind::Label) => false,
            _ => true,
        };
        let kept: Vec<(&str, Option<ReportLineKind>)> =
            lines.into_iter().zip(parts).filter(|(_, part)| is_kept(*part)).collect();
        let rank = |line: &str, part| match exceptions.contains(line) {
            true => Some(FailureLineRank::Specific),
            false => line_rank(line, part),
        };
        let ranked = kept.iter().filter_map(|(line, part)| Some((rank(line, *part)?, *line)));
        let ranked: Vec<(FailureLineRank, &str)> = ranked.collect();
        let best = ranked.iter().map(|(rank, _)| *rank).min();
        let lines = match best {
            Some(best) => ranked.iter().filter(|(rank, _)| *rank == best).map(|(_, line)| *line).collect(),
            None => kept[kept.len().saturating_sub(3)..].iter().map(|(line, _)| *line).collect(),
        };
        FoundErrorLines { lines, failed_test_count }
    }

    /// Returns no more than `most` lines. The number of failed tests comes last.
    fn most_informative(mut self, most: usize) -> Vec<&'o str> {
        if self.lines.len() > most {
            self.lines.retain(|line| !report::is_failed_test_location(line));
        }
        let count = self.failed_test_count;
        most_informative_lines(&self.lines, most - usize::from(count.is_some()))
            .into_iter()
            .chain(count)
            .collect()
    }
}

/// Returns the lines without Python tracebacks, and the exceptions that end these tracebacks. The lines inside a
/// traceback are calls and source code, mostly of libraries, and such code often contains the word "error". A traceback
/// whose end is missing is kept.
fn without_python_tracebacks(output: &str) -> (Vec<&str>, BTreeSet<&str>) {
    let (mut kept, mut exceptions) = (Vec::new(), BTreeSet::new());
    let mut lines = output.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let is_inside = |line: &&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
        if line.trim() == TRACEBACK_HEADING {
            let mut rest = lines.clone();
            if let Some(exception) = rest.find(|line| !is_inside(line)) {
                exceptions.insert(exception.trim());
                kept.push(exception);
                lines = rest;
                continue;
            }
        }
        kept.push(line);
    }
    (kept, exceptions)
}

/// Returns at most `most` lines, in their original order: the lines that name a failed test, and the first few other
/// lines. At least `MIN_REASONS` other lines are kept if there are that many, because a name does not say why a test
/// failed.
fn most_informative_lines<'t>(lines: &[&'t str], most: usize) -> Vec<&'t str> {
    const MIN_REASONS: usize = 3;
    let is_name = |line: &str| names_failed_test(line);
    let is_part = |line: &str| {
        run::failed_test_in_line(line).is_some_and(|name| name.contains('/') && !name.contains("::"))
    };
    let has_whole = lines.iter().any(|line| is_name(line) && !is_part(line));
    // Lines that name a subtest are dropped if another line names a whole test.
    let lines: Vec<&'t str> = lines.iter().copied().filter(|line| !(has_whole && is_part(line))).collect();
    let reasons = lines.iter().filter(|line| !is_name(line)).count();
    let names = (lines.len() - reasons).min(most - reasons.min(MIN_REASONS));
    let (mut names_left, mut others_left) = (names, most - names);
    let kept = lines.iter().filter(|line| {
        let left = if is_name(line) { &mut names_left } else { &mut others_left };
        let fits = *left > 0;
        *left -= usize::from(fits);
        fits
    });
    kept.copied().collect()
}

/// Returns whether a line names a failed test, in the format of any known test runner.
pub fn names_failed_test(line: &str) -> bool {
    run::failed_test_in_line(line).is_some() || report::is_failed_test_name(line.trim())
}

/// Returns whether a line contains a value that a test compared. Such a line is meaningless without the test's name.
pub fn is_compared_value(line: &str) -> bool {
    report::is_labelled_value(line.trim())
}

/// Returns whether a line only says where a failed test is.
pub fn is_test_location(line: &str) -> bool {
    report::is_failed_test_location(line.trim())
}

/// Returns the lines of an error that [`error_lines`] returned, without the heading of a Python traceback. Errors that
/// older versions stored may contain labels without their values; these are left out, too.
pub fn reason_lines(error: &str) -> impl Iterator<Item = &str> {
    let is_heading = error.strip_prefix(TRACEBACK_HEADING).is_some_and(|rest| rest.starts_with('\n'));
    error.lines().skip(usize::from(is_heading)).filter(|line| !report::is_label_of_block(line.trim()))
}

/// Joins the lines that report the same message at several places: `a.go:57, :190, b.go:9: odd` for `a.go:57:3: odd`,
/// `a.go:190:3: odd` and `b.go:9:1: odd`. The column is left out if lines are joined.
pub fn group_equal_messages(lines: &[&str]) -> Vec<String> {
    /// The message, the places (file and line number), and the whole first line.
    type MessageGroup<'l> = (&'l str, Vec<(&'l str, &'l str)>, &'l str);
    let mut groups: Vec<MessageGroup> = Vec::new();
    for line in lines {
        let (file, number, message) = split_source_location(line).unwrap_or(("", "", line));
        match groups.iter_mut().find(|(known, places, _)| *known == message && !places[0].0.is_empty()) {
            Some((_, places, _)) if !file.is_empty() => places.push((file, number)),
            _ => groups.push((message, vec![(file, number)], line)),
        }
    }
    let tell = |(message, places, line): &MessageGroup| {
        if places.len() == 1 {
            return (*line).to_owned();
        }
        let each = places.iter().enumerate().map(|(i, (file, number))| {
            let is_same_file = i > 0 && places[i - 1].0 == *file;
            format!("{}:{number}", if is_same_file { "" } else { file })
        });
        format!("{}: {message}", each.collect::<Vec<_>>().join(", "))
    };
    groups.iter().map(tell).collect()
}

/// Returns the message of an error line, without the file and the line number. In `src/a.go:12:3: odd`, the message is
/// `odd`. If the message contains the name of a failed test, only this name is returned.
pub fn message_of_line(line: &str) -> &str {
    let message = split_source_location(line).map_or(line, |(.., message)| message);
    run::failed_test_in_line(message).unwrap_or(message)
}

/// Splits `src/a.go:12:3: odd` into the file, the line number and the message. Returns `None` if there is no message.
fn split_source_location(line: &str) -> Option<(&str, &str, &str)> {
    if !starts_with_file_and_line(line) {
        return None;
    }
    let (file, rest) = line.split_once(':')?;
    let (number, rest) = rest.split_once(':')?;
    let message = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(':').trim();
    (!message.is_empty()).then_some((file, number, message))
}

/// Returns whether an error of a check shows less than the `earlier` one: it only counts the failures or repeats a part
/// of the earlier error. If both say how many tests failed, the numbers must be equal.
pub fn says_less_than(error: &str, earlier: &str) -> bool {
    let is_only_verdict = |line: &str| {
        !names_failed_test(line)
            && (line.trim().is_empty()
                || line.starts_with("Ran ")
                || run::counts_in_output(line).is_some()
                || line_rank(line.trim(), None).is_some_and(|rank| rank != FailureLineRank::Specific))
    };
    let is_in = |line: &str, text: &str| text.lines().any(|known| known.trim() == line.trim());
    let failed = run::counts_in_output(error).and_then(|counts| counts.failed);
    let named = run::failed_test_names(earlier).map(|names| names.len());
    let is_name = |line: &&str| names_failed_test(line) || is_unittest_heading(line);
    let named = named.unwrap_or_else(|| earlier.lines().filter(is_name).count());
    let is_same_number = match failed {
        Some(failed) if (1..MAX_FAILURE_LINES).contains(&named) => u64::try_from(named) == Ok(failed),
        _ => true,
    };
    error.lines().all(|line| is_only_verdict(line) || is_in(line, earlier))
        && earlier.lines().any(|line| !is_only_verdict(line) && !is_in(line, error))
        && is_same_number
}

/// Returns whether a line is the heading of a failed test in Python's unittest, such as `FAIL: test_a (t.T.test_a)`.
fn is_unittest_heading(line: &str) -> bool {
    let rest = ["FAIL: ", "ERROR: "].iter().find_map(|start| line.trim().strip_prefix(start));
    rest.and_then(|rest| rest.split_once(" (")).is_some_and(|(name, _)| !name.contains(' '))
}

pub fn first_reason_line(error: &str) -> &str {
    reason_lines(error).next().unwrap_or_default()
}

/// Returns the relative paths that occur with a line number in the result of [`error_lines`], such as `src/a.rs` in
/// `src/a.rs:12:3: odd`. Names without a folder are left out, because they do not identify a file.
pub fn paths_in_error(error: &str) -> impl Iterator<Item = &str> {
    error.lines().filter(|line| starts_with_file_and_line(line)).filter_map(|line| {
        let path = line.split(':').next()?;
        (path.contains('/') && !path.starts_with('/') && !path.starts_with("..")).then_some(path)
    })
}

/// Returns whether an error names this file. A name without a dot, such as `tests/cases`, may be an ordinary
/// word, so it counts only together with its folder. A line in which `make` names its failed target is ignored.
pub fn names_file(error: &str, path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let wanted = match (name.contains('.'), folder.rsplit('/').next()) {
        (false, Some(parent)) if !parent.is_empty() => format!("{parent}/{name}"),
        _ => name.to_owned(),
    };
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    error.lines().filter(|line| !line.contains(": *** ")).any(|line| {
        line.match_indices(&wanted).any(|(at, _)| {
            let is_whole =
                wanted.contains('.') || wanted.contains('/') || line[at + wanted.len()..].starts_with(':');
            is_whole
                && !line[..at].ends_with(|c: char| is_part(c) || c == '.')
                && !line[at + wanted.len()..].starts_with(is_part)
        })
    })
}

/// Returns the files that an error names as the place of a problem: those with a line number, and those with a merge
/// conflict. Each file is returned once.
pub fn files_located_by_error(error: &str) -> Vec<&str> {
    let conflicts = error.lines().filter_map(|line| {
        let (_, path) = line.strip_prefix("CONFLICT ")?.split_once("Merge conflict in ")?;
        Some(path.trim())
    });
    let mut found: Vec<&str> = Vec::new();
    for path in paths_in_error(error).chain(conflicts) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

pub fn first_nonblank_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

/// Returns whether a line is worth keeping. The line `Exit code …` that the harness adds is dropped, because the exit
/// code is stored separately.
fn is_worth_keeping(line: &str) -> bool {
    !line.is_empty() && !line.starts_with("Exit code ") && !line.chars().all(|c| !c.is_alphanumeric())
}

fn is_informative(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_other = UNRELATED_LINE_BEGINNINGS.iter().any(|words| lower.starts_with(words))
        || lower.ends_with("... ok")
        || lower.contains("\"level\":\"info\"")
        || line
            .split_whitespace()
            .take(5)
            .any(|word| INFORMATION_LEVELS.contains(&word.trim_matches(['[', ']', '(', ')', ':', '|'])));
    let text = without_zero_counts(line).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_from_test = is_printed_by_go_test(line);
    !is_other
        && !is_log_entry(&lower)
        && !has_time_and_level(line)
        && !(is_from_test && (lower.ends_with("output:") || has(AS_EXPECTED_PHRASES)))
        && (has(ERROR_WORDS) && !is_source_code(line)
            || has_actual_value(&lower)
            || starts_with_file_and_line(line) && (!is_from_test || has(TEST_FAILURE_WORDS)))
        && !is_line_of_unfailed_test(line)
}

/// Returns whether a line contains the time and level of a log entry that is not an error, such as `hooks.go:155: Hook
/// output: 2026/01/14 11:53:39 INFO stop`. The time and level need not be at the start of the line.
fn has_time_and_level(line: &str) -> bool {
    let is_time = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.bytes().filter(|byte| *byte == b':').count() >= 2
    };
    let words: Vec<&str> = line.split_whitespace().take(MAX_WORDS_BEFORE_LEVEL).collect();
    words.windows(2).any(|pair| {
        let level = pair[1].trim_matches(['[', ']', '(', ')', ':', '|']);
        is_time(pair[0].trim_matches(['[', ']']))
            && (INFORMATION_LEVELS.contains(&level) || level.starts_with("WARN"))
    })
}

/// Returns whether a lower-case line shows the actual value of an assertion. The line before it shows the expected
/// value.
fn has_actual_value(lower: &str) -> bool {
    lower.strip_prefix("actual").is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Returns whether a lower-case line is a JSON log entry that is not an error, such as `{"time":"…","level":"warn",…}`.
fn is_log_entry(lower: &str) -> bool {
    lower.starts_with('{') && lower.contains("\"level\":") && !lower.contains("\"level\":\"error\"")
}

/// Returns whether a Go test or its helper printed the line. Both failures and log messages from a test begin with a
/// file name and a line number, as in `a_test.go:12: starting`. Compilers and linters also print a folder or a column.
fn is_printed_by_go_test(line: &str) -> bool {
    let mut parts = line.split(':');
    let (file, rest) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
    file.ends_with(".go") && !file.contains('/') && rest.starts_with(' ')
}

/// Returns whether a line is source code that a linter prints below its finding, such as `func Get(name string)
/// (Strategy, error) {`.
fn is_source_code(line: &str) -> bool {
    line.ends_with([';', '{']) && !line.contains(": ")
}

/// Ranks a line, or returns `None` if it is not about the failure. `part` is its meaning in a test runner's report.
fn line_rank(line: &str, part: Option<ReportLineKind>) -> Option<FailureLineRank> {
    match part {
        Some(ReportLineKind::Boilerplate) => is_informative(line).then_some(FailureLineRank::Verdict),
        Some(_) => Some(FailureLineRank::Specific),
        None if !is_informative(line) => None,
        None if is_npm_or_node_warning(line) || is_compiler_warning(line) || is_echoed_command(line) => {
            Some(FailureLineRank::Notice)
        }
        None if is_package_verdict(line) => Some(FailureLineRank::PackageVerdict),
        None if is_bare_verdict(line) => Some(FailureLineRank::Verdict),
        None => Some(FailureLineRank::Specific),
    }
}

fn is_bare_verdict(line: &str) -> bool {
    BARE_VERDICT_LINES.contains(&line) || BARE_VERDICT_PHRASES.iter().any(|part| line.contains(part))
}

/// Returns whether a line is a warning. Such a line is also printed when the command passes.
fn is_npm_or_node_warning(line: &str) -> bool {
    const NPM_NOISE_LINE_BEGINNINGS: &[&str] = &["npm warn ", "npm WARN ", "npm notice "];
    NPM_NOISE_LINE_BEGINNINGS.iter().any(|words| line.starts_with(words)) || is_warning_line(line)
}

/// Returns whether a line is a compiler's warning, such as `src/main.c:7:17: warning: unused variable`, or a note that
/// explains another finding.
fn is_compiler_warning(line: &str) -> bool {
    let Some((_, _, message)) = split_source_location(line) else { return false };
    let lower = message.to_ascii_lowercase();
    ["warning:", "note:", "warning ["].iter().any(|label| lower.starts_with(label))
}

/// Returns whether a line is a command that make or another task runner printed before running it. Such a line consists
/// of a program's name and its options, such as `cc -std=c11 -Werror src/*.c`. The options may contain a word such as
/// `error`.
fn is_echoed_command(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let program = words.next().unwrap_or_default();
    let is_name = !program.is_empty()
        && program.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_+./".contains(&b));
    let is_option = |word: &str| {
        let name = word.trim_start_matches('-');
        name.len() < word.len() && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    is_name && words.next().is_some_and(is_option) && !line.contains(": ")
}

/// Returns whether a line is Go's summary of a failed package. The summary contains the package and a duration,
/// as in `FAIL example.com/shop 1.2s`.
fn is_package_verdict(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (first, package, time) = (words.next(), words.next(), words.next());
    let is_time = |word: &str| word.strip_suffix('s').is_some_and(|number| number.parse::<f64>().is_ok());
    first == Some("FAIL") && package.is_some_and(|name| name.contains('/')) && time.is_some_and(is_time)
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
