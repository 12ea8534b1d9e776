//! How a run ended: passed, failed or unknown.
//!
//! The exit code alone is not enough, because `cargo test | tail` succeeds whatever the tests did. The exit code is
//! used only if it belongs to the command in question (`exit`), and otherwise the output decides (`summary`). This
//! module also decides whether two commands are the same (`check`), and whether a command that passed shows that the
//! failure of another command is solved (`cover`).

mod check;
mod counts;
mod cover;
mod exit;
mod open;
mod script;
mod summary;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use check::{Check, checks, folder, is_narrow, parts, runnable};
pub use counts::{Counts, counts};
pub use cover::{failed_test, failed_tests, shows_passed};
pub use open::{CommandPurpose, Family, command_purpose, is_attempt, is_known_tool, is_user_error};
pub use script::script_of;

use crate::text;

/// How many bytes of the end of an output are searched for a summary.
const TAIL_BYTES: usize = 8 * 1024;

/// How many bytes of the beginning of an output are searched for a summary.
const HEAD_BYTES: usize = 1024;

/// How many bytes of the end of an output are searched for counts. The number is large, because a workspace prints a
/// summary for each crate.
const COUNTED_BYTES: usize = 256 * 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    Passed,
    Failed,
    /// The command ran, and nothing says how it ended.
    #[default]
    Unknown,
}

/// What a command does to the project, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    Test,
    Build,
    Lint,
    Format,
    Run,
}

/// How one run of a command line ended, and the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub ended: Ended,
    /// The position of the line of the output that decided or confirmed the result, if there is one.
    pub line: Option<Range<usize>>,
    /// The index of the check of the command line that failed (see [`checks`]), if the output shows it.
    pub step: Option<usize>,
    /// How many tests passed and failed, added up over all summaries in the output.
    pub counts: Counts,
    /// Whether the command's own exit code says that it passed, but its output says that it failed.
    pub doubt: bool,
}

impl Ended {
    pub fn name(self) -> &'static str {
        match self {
            Ended::Passed => "passed",
            Ended::Failed => "failed",
            Ended::Unknown => "ran",
        }
    }

    pub fn parse(name: &str) -> Ended {
        match name {
            "passed" => Ended::Passed,
            "failed" => Ended::Failed,
            _ => Ended::Unknown,
        }
    }
}

impl Sort {
    pub fn is_check(self) -> bool {
        matches!(self, Sort::Test | Sort::Build | Sort::Lint)
    }
}

/// Returns whether the output of a command is worth examining, because the command contains a known word.
pub fn may_tell(command: &str) -> bool {
    let bytes = command.as_bytes();
    (0..bytes.len()).any(|at| starts_known_word(&bytes[at..]))
}

/// Whether a known word begins here. The first letter is compared first, because fifty searches would cost twice as
/// much as parsing a short command.
fn starts_known_word(rest: &[u8]) -> bool {
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

/// Returns what a command line does to the project, if anything; the strongest, if it does several things.
pub fn sort(command: &str) -> Option<Sort> {
    checks(command, "").iter().map(|check| check.sort).min()
}

/// Decides how a command line ended. `exit` is the harness's exit code, `failed` whether the harness reported a
/// failure, and `output` the output or its end.
pub fn ended(command: &str, exit: Option<i64>, failed: bool, output: &str) -> Verdict {
    let line = exit::Line::read(&script::opened(command));
    let own = match (exit, failed) {
        (Some(0), false) if line.exit_is_own() => Ended::Passed,
        (Some(code), _) if code != 0 && line.failure_is_own() => Ended::Failed,
        (None, true) if line.failure_is_own() => Ended::Failed,
        _ => Ended::Unknown,
    };
    if !line.has_checks() {
        let refused = own != Ended::Passed && !failed && summary::git_refuses(output) && line.is_git();
        return Verdict { ended: if refused { Ended::Failed } else { own }, ..Verdict::default() };
    }
    let seen = seen_in_output(&line, output);
    // The command line may print the check's own exit code (`echo $?`), which is the best evidence.
    let ended = match (line.printed_exit_code(output).unwrap_or(own), seen.failed) {
        (Ended::Failed, _) | (Ended::Unknown, true) => Ended::Failed,
        // The command hid the failing exit code, for example with `|| true` in a script. If something passed
        // afterwards, the result is unknown.
        (Ended::Passed, true) => {
            if seen.passed_last {
                Ended::Unknown
            } else {
                Ended::Failed
            }
        }
        (Ended::Passed, false) => Ended::Passed,
        (Ended::Unknown, false) if seen.passed_last && line.shows_failures(output) => Ended::Passed,
        (Ended::Unknown, false) => Ended::Unknown,
    };
    let step = if ended == Ended::Failed { line.failing_step(seen.task.as_deref(), seen.sort) } else { None };
    let agrees = match ended {
        Ended::Failed => seen.failed,
        Ended::Passed => seen.passed_last,
        Ended::Unknown => false,
    };
    let doubt = ended == Ended::Unknown && seen.failed;
    let counts = match ended {
        Ended::Passed | Ended::Failed if line.sorts()(Sort::Test) => {
            let start = output.ceil_char_boundary(output.len().saturating_sub(COUNTED_BYTES));
            counts(&output[start..]).unwrap_or_default()
        }
        Ended::Passed | Ended::Failed | Ended::Unknown => Counts::default(),
    };
    Verdict { ended, line: seen.line.filter(|_| agrees), step, counts, doubt }
}

/// Returns what the beginning and the end of an output say.
fn seen_in_output(line: &exit::Line, output: &str) -> summary::Seen {
    let start = output.ceil_char_boundary(output.len().saturating_sub(TAIL_BYTES));
    let mut seen = summary::look(line.sorts(), &output[start..]);
    if let Some(range) = &mut seen.line {
        *range = range.start + start..range.end + start;
    }
    if start > 0 && !seen.failed {
        let head = summary::look(line.sorts(), text::cut(output, HEAD_BYTES.min(start)));
        if head.failed {
            return summary::Seen { passed_last: seen.passed_last, ..head };
        }
    }
    seen.passed_last |= !seen.failed && line.is_silent_when_well(output);
    seen
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
