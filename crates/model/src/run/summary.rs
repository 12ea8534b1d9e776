//! Determines the result of a run from its output: the summary lines of test runners, linters, compilers and task
//! runners.

mod count_rows;

use std::ops::Range;

use count_rows::{counts_show_failure, kind_of_counts};

use super::CommandKind;
use crate::clean::without_escapes;
use crate::text::split_at_first;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CheckOutputSummary {
    /// Whether any line reports a failure.
    pub reports_failure: bool,
    /// Whether the last summary line reports success.
    pub ends_with_success: bool,
    /// The byte range of the most informative line.
    pub most_informative_line: Option<Range<usize>>,
    /// The kind of check that printed the failure line.
    pub failed_check_kind: Option<CommandKind>,
    pub task: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LineResult {
    pub failed: bool,
    /// How informative the line is. Counts are more informative than a name, and a name is more informative than
    /// `FAIL`.
    pub informativeness: u8,
    pub check_kind: Option<CommandKind>,
    pub task: Option<String>,
    /// Whether a compiler may have printed the line. Tests, builds and linters all compile.
    pub is_from_compiler: bool,
    pub is_from_task_runner: bool,
}

/// Searches the lines of an output. `of` returns whether the command line contains a check of a given kind.
pub(super) fn summarise_check_output(of: impl Fn(CommandKind) -> bool, output: &str) -> CheckOutputSummary {
    let mut seen = CheckOutputSummary::default();
    let mut weight = 0;
    let mut next = 0;
    // Later lines that are as informative as the chosen line. For example, a workspace prints one such line for each of
    // its crates. The last of these lines that does not report zero tests replaces the chosen line. It is found at the
    // end, because reading the test counts of every line would be slow.
    let mut rivals = Vec::new();
    for whole in output.split_inclusive('\n') {
        let line = next..next + whole.len();
        next = line.end;
        if !may_be_summary(whole) {
            continue;
        }
        let Some(word) = line_result(&of, whole.trim_end()) else { continue };
        let is_news = match (word.failed, seen.reports_failure) {
            (true, false) => true,
            (false, true) => false,
            (false, false) if seen.most_informative_line.is_some() && word.informativeness == weight => {
                rivals.push(line.clone());
                false
            }
            (false, false) => {
                word.informativeness >= weight
                    && !(seen.most_informative_line.is_some() && counts_no_tests(whole))
            }
            (true, true) => word.informativeness >= weight,
        };
        if is_news {
            weight = word.informativeness;
            seen.most_informative_line = Some(line);
            rivals.clear();
        }
        seen.ends_with_success = !word.failed;
        if word.failed {
            seen.reports_failure = true;
            seen.failed_check_kind = word.check_kind.or(seen.failed_check_kind);
            seen.task = word.task.or(seen.task);
        }
    }
    // cargo runs documentation tests last, and often there are none. So use the last line that counts any tests.
    let counting = rivals.into_iter().rev().find(|line| !counts_no_tests(&output[line.clone()]));
    seen.most_informative_line =
        counting.or(seen.most_informative_line).map(|line| trimmed_range(output, line));
    seen
}

/// Returns the range without the white space at its ends.
pub(super) fn trimmed_range(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}

/// Returns whether a summary line reports zero tests.
fn counts_no_tests(line: &str) -> bool {
    super::counts_in_output(line).and_then(super::TestCounts::tests_run) == Some(0)
}

/// Returns whether the output says that git refused a command.
pub(super) fn reports_git_refusal(output: &str) -> bool {
    let says = |line: &str| {
        ["fatal: ", "error: failed to push", "Automatic merge failed", "CONFLICT (", "error: could not apply"]
            .iter()
            .any(|start| line.starts_with(start))
            || line.trim_start().starts_with("! [rejected]")
    };
    output.lines().any(says)
}

/// Returns what a line of the output says about a result, or `None` if it says nothing.
pub(super) fn result_of_line(of: impl Fn(CommandKind) -> bool, whole: &str) -> Option<LineResult> {
    may_be_summary(whole).then(|| line_result(&of, whole.trim_end())).flatten()
}

/// Returns whether a line may be a summary. This cheap test rules out most lines.
fn may_be_summary(line: &str) -> bool {
    let bytes = line.as_bytes();
    (0..bytes.len()).any(|at| begins_summary_sign(&bytes[at..])) || begins_with_location(line.trim_end())
}

/// Returns whether `rest` starts with a sign of a summary. The first letter is tested first, because separate
/// searches would be too slow.
fn begins_summary_sign(rest: &[u8]) -> bool {
    let begins = |with: &str| rest.starts_with(with.as_bytes());
    match rest[0] {
        b'F' => begins("FAIL") || begins("Fail") || begins("Finished"),
        b'f' => begins("fail") || begins("formatted"),
        b'r' => begins("rror") || begins("reformat"),
        b'R' => begins("RROR"),
        b'p' => begins("pass") || begins("panic:") || begins("problem"),
        b'P' => begins("Pass") || begins("PASS"),
        b'o' => begins("ok") || begins("offense"),
        b'O' => begins("OK"),
        b'u' => begins("ucce"),
        b'U' => begins("UCCE"),
        b's' => begins("ssue"),
        b'*' => begins("***"),
        b'E' => begins("ERR"),
        b'c' => begins("compiled") || begins("complete") || begins("congrat"),
        b'C' => begins("Checked "),
        b'b' => begins("built in"),
        b'a' => begins("abort"),
        b'A' => begins("All "),
        _ => false,
    }
}

/// Returns whether `line` starts with the text in `with`. The first bytes are compared first, because dozens of
/// prefixes are tried against each line, and almost all of them differ in the first byte.
#[inline(always)]
fn begins_with(line: &str, with: &str) -> bool {
    line.as_bytes().first() == with.as_bytes().first() && line.starts_with(with)
}

fn line_result(of: &impl Fn(CommandKind) -> bool, line: &str) -> Option<LineResult> {
    let line = without_escapes(line);
    let line = line.as_ref();
    // This line is common, because cargo prints it for each crate. No other rule applies to it.
    if let Some(word) = cargo_test_result(line.trim_start()).filter(|_| of(CommandKind::Test)) {
        return Some(word);
    }
    let bare = without_program_prefix(line);
    let task = (bare.len() < line.len()).then(|| program_prefix(line)).flatten();
    let again = || if bare.len() < line.len() { judge_line(of, line) } else { None };
    let of_runner =
        task_runner_result(line.trim()).map(|found| LineResult { is_from_task_runner: true, ..found });
    let found = of_runner.or_else(|| judge_line(of, bare)).or_else(again)?;
    Some(match (found.failed, found.task.is_none(), task) {
        (true, true, Some(task)) => LineResult { task: Some(task.to_owned()), ..found },
        _ => found,
    })
}

fn judge_line(of: &impl Fn(CommandKind) -> bool, line: &str) -> Option<LineResult> {
    let trimmed = line.trim();
    if of(CommandKind::Test)
        && let Some(word) = test_runner_result(trimmed)
    {
        return Some(word);
    }
    if (of(CommandKind::Build) || of(CommandKind::Lint))
        && let Some(word) = compiler_result(line, of(CommandKind::Build))
            .map(|word| LineResult { is_from_compiler: true, ..word })
            .or_else(|| linter_result(trimmed))
    {
        return Some(word);
    }
    if of(CommandKind::Test)
        && let Some(word) = broken_build_result(trimmed)
    {
        return Some(word);
    }
    let sort = [CommandKind::Test, CommandKind::Lint, CommandKind::Build].into_iter().find(|sort| of(*sort));
    counts_show_failure(trimmed).map(|failed| LineResult {
        failed,
        informativeness: 3,
        check_kind: sort.filter(|_| is_single_kind(of)).or_else(|| kind_of_counts(of, trimmed)),
        ..LineResult::default()
    })
}

/// Returns whether all checks are of one kind.
fn is_single_kind(of: &impl Fn(CommandKind) -> bool) -> bool {
    [CommandKind::Test, CommandKind::Lint, CommandKind::Build].into_iter().filter(|sort| of(*sort)).count()
        == 1
}

fn failed_result(weight: u8, sort: CommandKind) -> Option<LineResult> {
    Some(LineResult {
        failed: true,
        informativeness: weight,
        check_kind: Some(sort),
        ..LineResult::default()
    })
}

fn passed_result(weight: u8, sort: CommandKind) -> Option<LineResult> {
    Some(LineResult {
        failed: false,
        informativeness: weight,
        check_kind: Some(sort),
        ..LineResult::default()
    })
}

/// Parses messages from make, just, mise, npm, pnpm, yarn, bun, turbo, nx, task, gradle, maven, rake, bazel, tox, nox
/// and pre-commit.
fn task_runner_result(line: &str) -> Option<LineResult> {
    let failed = |task: Option<&str>| {
        Some(LineResult {
            failed: true,
            informativeness: 1,
            check_kind: None,
            task: task.map(str::to_owned),
            ..LineResult::default()
        })
    };
    let passed =
        Some(LineResult { failed: false, informativeness: 1, check_kind: None, ..LineResult::default() });
    let begins = |with: &str| begins_with(line, with);
    let quoted = |quote: char| line.split(quote).nth(1);
    // Most lines have no capital E, so one search for it replaces the searches for these words.
    let has_e = memchr::memchr(b'E', line.as_bytes()).is_some();
    let holds = |word: &str| has_e && line.contains(word);
    if line.ends_with("ERROR task failed") {
        return failed(program_prefix(line));
    }
    if begins("mise ERROR") || begins("npm ERR!") || begins("npm error") || holds("ELIFECYCLE") {
        return failed(None);
    }
    if (begins("make") || begins("gmake")) && line.contains(": *** ") {
        // make prints `make: *** [Makefile:3: test] Error 1`.
        let target = line.split(['[', ']']).nth(1).and_then(|inner| inner.rsplit(": ").next());
        return failed(target);
    }
    if begins("error: Recipe `") || begins("error: recipe `") {
        return failed(quoted('`'));
    }
    if begins("error: script \"") || begins("task: Failed to run task \"") {
        return failed(quoted('"'));
    }
    if begins("error Command failed")
        || holds("ERR_PNPM_")
        || begins("rake aborted!")
        || begins("ninja: build stopped")
    {
        return failed(None);
    }
    if holds("ERROR") && line.contains("run failed: command ") {
        return failed(None); // turbo
    }
    if begins("Failed:") && line.contains('#') {
        return failed(line.rsplit('#').next()); // turbo: `Failed:    web#test`
    }
    if begins("Tasks:") && line.contains(" successful, ") {
        let numbers: Vec<u64> = numbers_in_line(line).collect();
        return match numbers.as_slice() {
            [good, all, ..] if good == all => passed,
            _ => failed(None),
        };
    }
    if begins("NX ") {
        return match (
            line.contains("Successfully ran target"),
            line.contains("failed") || line.contains("Failed"),
        ) {
            (true, _) => passed,
            (false, true) => failed(None),
            (false, false) => None,
        };
    }
    if begins("BUILD FAILED") || begins("FAILURE: Build failed") || line.ends_with("BUILD FAILURE") {
        return failed(None);
    }
    if begins("> Task :") && line.ends_with(" FAILED") {
        return failed(line.trim_end_matches(" FAILED").rsplit(':').next());
    }
    if begins("BUILD SUCCESSFUL") || line.ends_with("] BUILD SUCCESS") {
        return passed;
    }
    if begins("ERROR: Build did NOT complete")
        || begins("FAILED: Build did NOT complete")
        || begins("evaluation failed :(")
    {
        return failed(None);
    }
    if begins("nox > Session ") {
        return if line.contains(" was successful") {
            passed
        } else if line.contains(" failed") {
            failed(None)
        } else {
            None
        };
    }
    if line.ends_with("Failed") && line.contains("......") {
        return failed(None); // pre-commit
    }
    if begins("congratulations :)") { passed } else { None }
}

fn cargo_test_result(line: &str) -> Option<LineResult> {
    let failed = line.strip_prefix("test result: ")?.starts_with("FAILED");
    Some(LineResult {
        failed,
        informativeness: 3,
        check_kind: Some(CommandKind::Test),
        ..LineResult::default()
    })
}

/// Parses messages from test runners. [`counts_show_failure`] parses their counts.
fn test_runner_result(line: &str) -> Option<LineResult> {
    let begins = |with: &str| begins_with(line, with);
    let fail = |weight| failed_result(weight, CommandKind::Test);
    let pass = |weight| passed_result(weight, CommandKind::Test);
    if let Some(word) = cargo_test_result(line) {
        return Some(word);
    }
    if line == "FAIL"
        || line == "FAILURES!"
        || line == "ERRORS!"
        || begins("FAILED (")
        || begins("error: test failed")
    {
        return fail(1);
    }
    if begins("--- FAIL:")
        || begins("FAIL\t")
        || begins("FAIL  ")
        || begins("FAIL ")
        || begins("FAIL: ")
        || begins("FAILED ")
        || begins("not ok ")
    {
        return fail(2);
    }
    if begins("test ") && line.ends_with(" FAILED")
        || begins("error: test run failed")
        || begins("● Test suite failed to run")
    {
        return fail(2);
    }
    if line == "PASS"
        || begins("ok  \t")
        || begins("ok \t")
        || begins("ok   ") && line.ends_with(['s', ')', ']'])
    {
        return pass(1);
    }
    if line == "OK" || begins("OK (") && line.ends_with(')') {
        return pass(2); // unittest, phpunit
    }
    for mark in ["# fail ", "ℹ fail ", "# failed "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return if rest.trim() == "0" { pass(2) } else { fail(3) };
        }
    }
    if let Some(rest) = line.strip_prefix("Summary [").and_then(|rest| rest.split_once(']')) {
        let rest = rest.1.split_once(':').map_or(rest.1, |(_, rest)| rest);
        return Some(LineResult {
            failed: counts_show_failure(rest.trim())?,
            informativeness: 3,
            check_kind: Some(CommandKind::Test),
            ..LineResult::default()
        }); // nextest
    }
    if begins("ok | ") {
        return pass(3); // deno
    }
    if begins("Failed!  - ")
        || begins("Test Run Failed.")
        || begins("The following tests FAILED")
        || begins("Errors while running CTest")
    {
        return fail(2);
    }
    if begins("Passed!  - ") || begins("Test Run Successful.") {
        return pass(2);
    }
    if begins("Executed ") {
        // swift prints `Executed 5 tests, with 1 failure (0 unexpected)`, karma prints `Executed 5 of 5 SUCCESS`, and
        // bazel ends the line with `5 tests pass`.
        if let Some((_, rest)) = line.split_once(", with ") {
            return if rest.starts_with("0 ") || rest.starts_with("no ") { pass(3) } else { fail(3) };
        }
        return match () {
            () if line.contains("FAILED") || line.contains(" fails") => fail(3),
            () if line.contains("SUCCESS")
                || line.ends_with("tests pass.")
                || line.ends_with("test passes.") =>
            {
                pass(3)
            }
            () => None,
        };
    }
    if line.contains("Test run with ") {
        return if line.contains(" failed after") {
            fail(3)
        } else if line.contains(" passed after") {
            pass(3)
        } else {
            None
        };
    }
    if begins("Test Suite 'All tests' failed") {
        return fail(2);
    }
    if line.contains("All specs passed!") {
        return pass(2); // cypress
    }
    if line.contains(" of ") && line.contains(" failed (") {
        return fail(3); // cypress: `✖  1 of 3 failed (33%)`
    }
    if begins("panic: ") && !line.contains("recovered")
        || begins("panic: test")
        || begins("thread 'main' panicked")
    {
        return fail(1);
    }
    None
}

/// Parses messages that say that the test code does not build.
fn broken_build_result(line: &str) -> Option<LineResult> {
    let begins = |with: &str| begins_with(line, with);
    let broken = begins("error: could not compile")
        || begins("error[E")
        || line.contains("[build failed]")
        || line.contains("[setup failed]")
        || line.contains(": error TS")
        || line.contains("COMPILATION ERROR")
        || begins("Build FAILED");
    if broken { failed_result(2, CommandKind::Test) } else { None }
}

fn compiler_result(line: &str, builds: bool) -> Option<LineResult> {
    let trimmed = line.trim();
    let begins = |with: &str| begins_with(trimmed, with);
    let sort = if builds { CommandKind::Build } else { CommandKind::Lint };
    let harmless = [": warning", ": note:", ": info", ": help:"].iter().any(|word| line.contains(word));
    if begins("error: could not compile")
        || begins("error[E")
        || begins("error: aborting due to")
        || begins("collect2: error")
        || begins("Build FAILED")
        || begins("Failed to compile")
        || begins("error during build")
        || line.contains(": error TS")
        || line.contains(" - error TS")
        || line.contains(": fatal error:")
        || line.contains(": error: ")
        || begins("e: ") && line.contains(".kt:")
    {
        return failed_result(2, sort);
    }
    if begins_with_location(line) && !harmless {
        return failed_result(2, sort);
    }
    if line.contains("compiled with ") && line.contains(" error") {
        return failed_result(2, sort);
    }
    if begins("Finished `")
        || begins("Finished dev")
        || begins("Finished release")
        || begins("Build succeeded")
        || begins("Build complete!")
        || line.contains(" compiled successfully")
        || begins("✓ built in")
    {
        return passed_result(2, sort);
    }
    None
}

fn linter_result(line: &str) -> Option<LineResult> {
    let begins = |with: &str| begins_with(line, with);
    let (pass, fail) = (passed_result(2, CommandKind::Lint), failed_result(2, CommandKind::Lint));
    if begins("Success: no issues found")
        || begins("All checks passed!")
        || begins("All matched files use Prettier")
        || begins("All done! ")
        || begins("Checked ") && line.contains("No fixes applied")
        || line.ends_with("already formatted")
    {
        return pass;
    }
    if line.contains("Code style issues")
        || begins("Oh no! ")
        || begins("would reformat ")
        || begins("Would reformat: ")
        || begins("In ") && line.ends_with(':') && line.contains(" line ")
        || line.ends_with(" would be reformatted")
    {
        return fail;
    }
    if let Some(rest) = line.strip_prefix("Found ") {
        let rest = rest.split([' ', '.']).collect::<Vec<_>>();
        if let [number, what, ..] = rest.as_slice()
            && matches!(
                what.trim_end_matches(['.', ',']),
                "error" | "errors" | "issue" | "issues" | "problems" | "problem" | "violations"
            )
            && let Ok(number) = number.parse::<u64>()
        {
            return if number > 0 { fail } else { pass };
        }
    }
    None
}

/// Returns whether a line starts like a finding from a compiler or linter, such as `src/a.go:12:3: unused`. Indented
/// lines belong to a log or a trace.
fn begins_with_location(line: &str) -> bool {
    let bytes = line.as_bytes();
    // This test is cheap. Most lines do not contain a colon followed by a digit.
    let Some(at) = bytes.windows(2).position(|pair| pair[0] == b':' && pair[1].is_ascii_digit()) else {
        return false;
    };
    let file = line[..at].strip_prefix("vet: ").unwrap_or(&line[..at]);
    let file = without_program_prefix(file);
    let mut rest = line[at + 1..].splitn(3, ':');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let named = file.contains('.') && !file.contains([' ', '\t', '(']) && !file.starts_with("http");
    // A time such as `12:30:01` is not a position in a file, so the text before the number must end with a letter.
    let ends_in_letter = file.ends_with(|c: char| c.is_ascii_alphabetic());
    named
        && ends_in_letter
        && is_number(rest.next())
        && is_number(rest.next())
        && rest.next().is_some_and(|text| text.starts_with(' '))
}

fn numbers_in_line(line: &str) -> impl Iterator<Item = u64> {
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// Removes the prefix that names the program that printed the line, as in `[lint:go] x`, `web:test: x` or `app-1  | x`.
fn without_program_prefix(line: &str) -> &str {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() < 60
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:./@#".contains(&b))
    };
    if let Some((name, rest)) = line.strip_prefix('[').and_then(|inner| inner.split_once("] "))
        && is_name(name)
        && !matches!(name, "ERROR" | "INFO" | "WARNING" | "warn" | "error")
    {
        return rest;
    }
    if let Some((name, rest)) = split_at_first(line, ": ")
        && is_name(name)
        && name.contains(':')
        && !name.rsplit(':').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()))
    {
        return rest;
    }
    match split_at_first(line, " | ") {
        Some((name, rest)) if is_name(name.trim_end()) && name.contains(['-', '_']) => rest,
        _ => line,
    }
}

fn program_prefix(line: &str) -> Option<&str> {
    match line.strip_prefix('[') {
        Some(inner) => inner.split_once(']').map(|(name, _)| name),
        None => line.split_once(": ").and_then(|(name, _)| name.rsplit(':').next()),
    }
}
