//! How a run ended: passed, failed or unknown.
//!
//! The exit code alone is not enough, because `cargo test | tail` always succeeds. The exit code is used only if it
//! belongs to the command in question (`exit`). Otherwise the output decides (`summary`). If a line contains several
//! checks, the result of each check is determined separately (`parts`). This module also decides whether two commands
//! are the same check (`check`), and whether one command's success shows that another command's failure is fixed
//! (`cover`).

mod check;
mod counts;
mod cover;
mod exit;
mod failed_line;
mod lasting;
mod list;
mod named_files;
mod open;
mod parts;
mod printed;
mod script;
mod summary;
mod typed;
mod writes;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use check::{
    ProjectCheck, checks_of_command, commands_to_repeat, folder_of_command, is_partial_test_run,
    is_script_call,
};
pub use counts::{TestCounts, counts_in_output, counts_only_some_tests};
pub use cover::{failed_test_in_line, failed_test_names, proves_fixed, reason_in_test_line};
pub use failed_line::paths_changed_by_failed_line;
pub use lasting::{failure_lasts, is_only_answer_of_thru, runs_built_program};
pub use list::{DividedCommandLine, divide_failed_line, line_after_commit};
pub use named_files::files_named_by_check;
pub use open::{
    CommandPurpose, GitCommandFamily, calls_thru, command_purpose, is_attempt_with_result,
    is_mistyped_or_interrupted_command_error, is_refused_call, only_calls_thru, reports_failed_tests,
};
pub use parts::PartVerdict;
pub use printed::{may_run_package_script, printed_script};
pub use script::shell_script_argument;
pub use typed::{command_as_typed, command_to_repeat, does_zero_exit_prove_repeated_command};
pub use writes::may_change_unnamed_files;

use counts::counts_in_cut_output;

use crate::text;

/// How many bytes at the end of an output are searched for a summary.
const SUMMARY_TAIL_BYTES: usize = 8 * 1024;

/// How many bytes at the start of an output are searched for a summary.
const SUMMARY_HEAD_BYTES: usize = 1024;

/// How many bytes at the end of an output are searched for test counts. The number is large because a workspace prints
/// a summary for each crate.
const COUNTS_TAIL_BYTES: usize = 256 * 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunResult {
    Passed,
    Failed,
    /// The command ran, but its result is unknown.
    #[default]
    Unknown,
}

/// What a command does to the project. A command line that contains checks of several kinds is assigned the kind
/// that comes first in this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandKind {
    Test,
    Build,
    Lint,
    Format,
    Run,
}

/// The result of a command line and the evidence for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunVerdict {
    pub result: RunResult,
    /// The byte range of the output line that decided or confirmed the result.
    pub deciding_line: Option<Range<usize>>,
    /// The index of the failed check in the command line (see [`checks_of_command`]), if it can be determined.
    pub failed_check_index: Option<usize>,
    /// The test counts, added up over all summaries in the output.
    pub counts: TestCounts,
    /// How the checks ended, if a later part of the line failed (see [`divide_failed_line`]).
    pub checks_result: Option<RunResult>,
    /// Whether the exit code reports success but the result is unknown, because the output reports a failure or says
    /// that no tests ran.
    pub is_doubtful: bool,
    /// The result of each check on a command line that runs several, in the order of [`checks_of_command`].
    pub parts: Vec<PartVerdict>,
}

impl RunResult {
    pub fn name(self) -> &'static str {
        match self {
            RunResult::Passed => "passed",
            RunResult::Failed => "failed",
            RunResult::Unknown => "ran",
        }
    }

    pub fn parse(name: &str) -> RunResult {
        match name {
            "passed" => RunResult::Passed,
            "failed" => RunResult::Failed,
            _ => RunResult::Unknown,
        }
    }
}

impl CommandKind {
    pub fn is_check(self) -> bool {
        matches!(self, CommandKind::Test | CommandKind::Build | CommandKind::Lint)
    }
}

/// Returns whether a command's output is worth examining, that is, whether the command contains a known word.
pub fn may_report_result(command: &str) -> bool {
    let bytes = command.as_bytes();
    (0..bytes.len()).any(|at| begins_known_word(&bytes[at..]))
}

/// Returns whether `rest` starts with a known word. The first letter is tested first, because fifty separate searches
/// would cost twice as much as parsing a short command.
fn begins_known_word(rest: &[u8]) -> bool {
    let begins = |with: &str| rest.starts_with(with.as_bytes());
    match rest[0] {
        b'a' => begins("ava"),
        b'b' => begins("build") || begins("biome") || begins("bats"),
        b'c' => {
            begins("check")
                || begins("cargo")
                || begins("compile")
                || begins("clang")
                || begins("ci")
                || begins("cherry-pick")
        }
        b'f' => begins("flake8"),
        b'g' => begins("gradle") || begins("gcc") || begins("g++") || begins("gofmt"),
        b'j' => begins("jest") || begins("javac") || begins("just"),
        b'l' => begins("lint"),
        b'm' => begins("make") || begins("mocha") || begins("mvn") || begins("mypy") || begins("merge"),
        b'n' => begins("nox") || begins("nx") || begins("ninja"),
        b'p' => {
            begins("pyright")
                || begins("prettier")
                || begins("playwright")
                || begins("push")
                || begins("pull")
        }
        b'r' => begins("run") || begins("ruff") || begins("rubocop") || begins("rake") || begins("rebase"),
        b's' => begins("spec"),
        b't' => begins("test") || begins("tox") || begins("tsc") || begins("task") || begins("turbo"),
        b'v' => begins("verify") || begins("vet"),
        _ => false,
    }
}

/// Returns the kind of a command line, or the strongest kind if it contains several checks.
pub fn command_kind(command: &str) -> Option<CommandKind> {
    checks_of_command(command, "").iter().map(|check| check.check_kind).min()
}

/// Returns whether a command line runs tests exactly once.
pub fn command_runs_tests_once(command: &str) -> bool {
    let checks = checks_of_command(command, "");
    checks.iter().filter(|check| check.check_kind == CommandKind::Test).count() == 1
}

/// Decides how a command line ended. `exit` is the exit code and `failed` the failure flag that the harness reported.
/// `output` is the output or the end of it.
pub fn decide_result(command: &str, exit: Option<i64>, failed: bool, output: &str) -> RunVerdict {
    let command = &*script::expand_shells(command);
    let line = exit::CheckedLine::parse_command(command);
    let exit_failed = exit.map_or(failed, |code| code != 0);
    let own = match (exit, failed) {
        (Some(0), false) if line.does_zero_exit_prove_checks() => RunResult::Passed,
        (Some(code), _) if code != 0 && line.is_nonzero_exit_of_check() => RunResult::Failed,
        (None, true) if line.is_nonzero_exit_of_check() => RunResult::Failed,
        _ => RunResult::Unknown,
    };
    if !line.has_checks() {
        let refused = own != RunResult::Passed
            && !failed
            && summary::reports_git_refusal(output)
            && line.has_git_step_that_may_have_failed(exit == Some(0));
        return RunVerdict { result: if refused { RunResult::Failed } else { own }, ..RunVerdict::default() };
    }
    let seen = summary_of_output(&line, output);
    let printed = line.printed_exit_code(output);
    let is_pass_visible = seen.ends_with_success && line.is_pass_visible(output);
    let is_exit_known = exit.is_some() || failed;
    let mut parts = parts::decide_parts(command, &line, is_exit_known.then_some(exit_failed), output);
    if let Some(printed) = printed
        && let Some(last) = line.check_positions().last().and_then(|at| parts.get_mut(at))
    {
        last.result = Some(printed);
    }
    let have_all_passed = line
        .check_positions()
        .all(|at| parts.get(at).is_none_or(|part| part.result == Some(RunResult::Passed)));
    let divided = if exit_failed { list::divide_parsed_line(command, &line) } else { None };
    if let Some(divided) = &divided
        && !seen.reports_failure
        && printed != Some(RunResult::Failed)
        && (is_pass_visible || !divided.runs_only_if_checks_pass || divided.is_try_out)
    {
        let by_output = if is_pass_visible { RunResult::Passed } else { RunResult::Unknown };
        let before = match printed.unwrap_or(by_output) {
            RunResult::Passed if !have_all_passed => RunResult::Unknown,
            before => before,
        };
        return RunVerdict {
            result: RunResult::Failed,
            deciding_line: seen
                .most_informative_line
                .filter(|_| before == RunResult::Passed && seen.ends_with_success),
            counts: if before == RunResult::Passed {
                counts_of_tests(&line, output)
            } else {
                TestCounts::default()
            },
            checks_result: Some(before),
            parts,
            ..RunVerdict::default()
        };
    }
    // The command line may print the check's own exit code (`echo $?`), which is the best evidence.
    let ended = match (printed.unwrap_or(own), seen.reports_failure) {
        (RunResult::Failed, _) | (RunResult::Unknown, true) => RunResult::Failed,
        // The command line hid the exit code of a failure, for example with `|| true` in a script. If a later check
        // passed, the result is unknown.
        (RunResult::Passed, true) => {
            if seen.ends_with_success {
                RunResult::Unknown
            } else {
                RunResult::Failed
            }
        }
        (RunResult::Passed, false) => RunResult::Passed,
        (RunResult::Unknown, false) if is_pass_visible && (!exit_failed || line.ends_in_look_up()) => {
            RunResult::Passed
        }
        (RunResult::Unknown, false) => RunResult::Unknown,
    };
    // The exit code of `make lint; make test` says nothing about `make lint`.
    let has_failed_part = parts.iter().any(|part| part.result == Some(RunResult::Failed));
    let ended = match ended {
        RunResult::Passed if has_failed_part => RunResult::Failed,
        RunResult::Passed if !have_all_passed => RunResult::Unknown,
        RunResult::Unknown if !parts.is_empty() && have_all_passed => RunResult::Passed,
        ended => ended,
    };
    let counts = match ended {
        RunResult::Passed | RunResult::Failed => counts_of_tests(&line, output),
        RunResult::Unknown => TestCounts::default(),
    };
    // Test runners report success even if they found no tests. Such a run proves nothing.
    let is_vacuous = ended == RunResult::Passed && line.has_only_tests() && counts.tests_run() == Some(0);
    let ended = if is_vacuous { RunResult::Unknown } else { ended };
    // If a command runs after the checks even when a check fails, it is unknown which check failed. So all of them
    // must pass later.
    let is_all_failed =
        divided.is_some_and(|parts| !parts.runs_only_if_checks_pass) && line.runs_command_after_checks();
    let step = match ended {
        RunResult::Failed if !parts.is_empty() => first_failed_part(&parts),
        RunResult::Failed if !is_all_failed => {
            line.index_of_failed_check(seen.task.as_deref(), seen.failed_check_kind)
        }
        _ => None,
    };
    let agrees = match ended {
        RunResult::Failed => seen.reports_failure,
        RunResult::Passed => seen.ends_with_success,
        RunResult::Unknown => false,
    };
    let doubt = ended == RunResult::Unknown && (seen.reports_failure || is_vacuous);
    // If lines were removed from the output, the deciding line may be only one of several summaries. Such a line is
    // not shown as the result of the whole run.
    let is_one_of_several = |place: &Range<usize>| {
        ended == RunResult::Passed
            && line.is_output_cut(output)
            && counts_only_some_tests(&output[place.clone()], counts)
    };
    RunVerdict {
        result: ended,
        deciding_line: seen.most_informative_line.filter(|place| agrees && !is_one_of_several(place)),
        failed_check_index: step,
        counts,
        checks_result: None,
        is_doubtful: doubt,
        parts,
    }
}

/// Returns the index of the failed part if all parts before it have passed.
fn first_failed_part(parts: &[PartVerdict]) -> Option<usize> {
    let at = parts.iter().position(|part| part.result != Some(RunResult::Passed))?;
    (parts[at].result == Some(RunResult::Failed)).then_some(at)
}

/// Returns the test counts in the output of a command line. The counts are empty if the line does not run tests.
fn counts_of_tests(line: &exit::CheckedLine, output: &str) -> TestCounts {
    if !line.check_kind_predicate()(CommandKind::Test) {
        return TestCounts::default();
    }
    let start = output.ceil_char_boundary(output.len().saturating_sub(COUNTS_TAIL_BYTES));
    let end = &output[start..];
    let counts = if line.is_output_cut(output) { counts_in_cut_output(end) } else { counts_in_output(end) };
    counts.unwrap_or_default()
}

/// Returns the test counts in the output of any command line. If the line cuts the output of its checks, only totals
/// are used.
pub fn counts_of_command(command: &str, output: &str) -> Option<TestCounts> {
    let line = exit::CheckedLine::parse_command(&script::expand_shells(command));
    if line.is_output_cut(output) { counts_in_cut_output(output) } else { counts_in_output(output) }
}

/// Returns the filter that may have hidden how the last check of a command line ended, such as `| tail -5`.
pub fn filter_after_checks(command: &str) -> Option<String> {
    exit::CheckedLine::parse_command(command).filter_after_checks(command)
}

/// Summarises the end of an output, and also its start if the end reports no failure.
fn summary_of_output(line: &exit::CheckedLine, output: &str) -> summary::CheckOutputSummary {
    let start = output.ceil_char_boundary(output.len().saturating_sub(SUMMARY_TAIL_BYTES));
    let mut seen = summary::summarise_check_output(line.check_kind_predicate(), &output[start..]);
    if let Some(range) = &mut seen.most_informative_line {
        *range = range.start + start..range.end + start;
    }
    if start > 0 && !seen.reports_failure {
        let head = summary::summarise_check_output(
            line.check_kind_predicate(),
            text::cut_to_bytes(output, SUMMARY_HEAD_BYTES.min(start)),
        );
        if head.reports_failure {
            return summary::CheckOutputSummary { ends_with_success: seen.ends_with_success, ..head };
        }
    }
    seen.ends_with_success |= !seen.reports_failure && line.is_silent_on_success(output);
    seen
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
