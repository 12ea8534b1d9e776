//! Determines which command a line's exit code belongs to, and how much of the output is visible.

use super::check::{check_of_step, strip_assignments_and_wrappers};
use super::open::is_read_only;
use super::typed::only_prints_or_waits;
use super::{CommandKind, RunResult, TestCounts, counts_in_output};
use crate::shell::{self, CommandStep, StepJoin};

/// How many blank lines a harness may have removed from the ends of an output. `cargo test -q | tail -3` prints three
/// lines, but two of them are blank and not recorded.
const MAX_BLANK_LINES_TRIMMED: usize = 4;

/// A parsed command line.
pub(super) struct CheckedLine {
    pub(super) steps: Vec<CommandStep>,
    /// For each check, the index of its step, its kind, and the name of its task in the output.
    checks: Vec<(usize, CommandKind, String)>,
    /// The indexes of all steps that test, build, lint, format or run something. A check's number is its position in
    /// this list.
    pub(super) acting_steps: Vec<usize>,
    pub(super) pipefail: bool,
    /// Whether the line contains loops or conditions. If so, it is unknown which commands ran.
    has_control_flow: bool,
}

impl CheckedLine {
    pub(super) fn parse_command(command: &str) -> CheckedLine {
        let steps = shell::command_steps(command);
        let (mut checks, mut doing) = (Vec::new(), Vec::new());
        for (at, step) in steps.iter().enumerate() {
            let Some(check) = check_of_step(command, step, "") else { continue };
            doing.push(at);
            if check.check_kind.is_check() {
                let task = check
                    .program_and_arguments
                    .iter()
                    .skip(1)
                    .find(|word| !word.starts_with('-') && *word != "run");
                checks.push((at, check.check_kind, task.cloned().unwrap_or_default()));
            }
        }
        let first = |step: &CommandStep, words: &[&str]| words.contains(&step.words[0].as_str());
        let pipefail =
            steps.iter().any(|step| first(step, &["set"]) && step.words.iter().any(|w| w == "pipefail"));
        let scripted =
            steps.iter().any(|step| first(step, &["for", "while", "until", "if", "case", "done", "fi"]));
        CheckedLine { steps, checks, acting_steps: doing, pipefail, has_control_flow: scripted }
    }

    pub(super) fn has_checks(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Returns the commands, unless the line contains loops or conditions.
    pub(super) fn steps_without_control_flow(&self) -> Option<&[CommandStep]> {
        (!self.has_control_flow).then_some(self.steps.as_slice())
    }

    /// Returns the index of the last check's command.
    pub(super) fn last_check_index(&self) -> Option<usize> {
        self.checks.last().map(|(at, ..)| *at)
    }

    /// Returns whether a nonzero exit code only means that a lookup or a filter at the end of the line found nothing.
    pub(super) fn ends_in_look_up(&self) -> bool {
        let is_look_up = |last: &CommandStep| {
            last.join_to_next == StepJoin::End && is_read_only(strip_assignments_and_wrappers(&last.words))
        };
        !self.has_control_flow && self.steps.last().is_some_and(is_look_up)
    }

    /// Returns whether the line runs another command of the project after its last check.
    pub(super) fn runs_command_after_checks(&self) -> bool {
        self.acting_steps.last().copied() > self.last_check_index()
    }

    /// Returns whether a git command may have failed although the line succeeded. A failure before `||` has been dealt
    /// with, and an exit code of zero shows that the end of the line succeeded.
    pub(super) fn has_git_step_that_may_have_failed(&self, is_exit_zero: bool) -> bool {
        let is_git = |step: &CommandStep| {
            strip_assignments_and_wrappers(&step.words).first().is_some_and(|word| word == "git")
        };
        let is_dealt_with = |at: usize| {
            let end = self.steps[at..].iter().find(|step| step.join_to_next != StepJoin::And);
            end.is_some_and(|step| match step.join_to_next {
                StepJoin::Or => true,
                StepJoin::End => is_exit_zero,
                _ => false,
            })
        };
        self.steps.iter().enumerate().any(|(at, step)| is_git(step) && !is_dealt_with(at))
    }

    pub(super) fn check_kind_predicate(&self) -> impl Fn(CommandKind) -> bool + '_ {
        |sort| self.checks.iter().any(|(_, known, _)| *known == sort)
    }

    /// Returns the positions of the tests, builds and lints in `acting_steps`.
    pub(super) fn check_positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.checks.iter().filter_map(|(check, ..)| self.acting_steps.iter().position(|at| at == check))
    }

    /// Returns whether every check in the line runs tests.
    pub(super) fn has_only_tests(&self) -> bool {
        self.has_checks() && self.checks.iter().all(|(_, kind, _)| *kind == CommandKind::Test)
    }

    /// Returns whether a zero exit code proves that every check in the line passed. If the line has no checks,
    /// returns whether a zero exit code proves that the project's other commands succeeded.
    pub(super) fn does_zero_exit_prove_checks(&self) -> bool {
        let first = self.checks.first().map(|(at, ..)| *at).or(self.acting_steps.first().copied());
        let from = first.unwrap_or(self.steps.len().saturating_sub(1));
        let good = |(at, step): (usize, &CommandStep)| match step.join_to_next {
            StepJoin::And | StepJoin::End => true,
            // Commands before the first check do not matter.
            StepJoin::Next => at < from,
            StepJoin::Pipe => {
                self.pipefail || self.feeds_a_check(at) || !self.has_checks() && only_prints_or_waits(step)
            }
            StepJoin::Or | StepJoin::Background | StepJoin::Document => false,
        };
        !self.has_control_flow && !self.steps.is_empty() && self.steps.iter().enumerate().all(good)
    }

    /// Returns whether a command is piped into a check, as in `cat x | cargo test`.
    fn feeds_a_check(&self, at: usize) -> bool {
        let is_check = self.checks.iter().any(|(check, ..)| *check == at);
        !is_check && self.checks.iter().any(|(check, ..)| *check > at)
    }

    /// Returns whether a nonzero exit code belongs to a check or, if there is no check, to the last command.
    pub(super) fn is_nonzero_exit_of_check(&self) -> bool {
        let Some(last) = self.steps.last() else { return false };
        if matches!(last.join_to_next, StepJoin::Background | StepJoin::Document) || self.has_control_flow {
            return false;
        }
        let checked = self.checks.last().map(|(at, ..)| *at);
        let Some(at) = checked.or(self.acting_steps.last().copied()) else {
            // In `gh api x | jq .y`, the exit code may be that of `jq`, so it says nothing about `gh`. In
            // `git commit && git log | head`, `head` does not fail, so the exit code can be used.
            let piped =
                self.steps.len() > 1 && self.steps[self.steps.len() - 2].join_to_next == StepJoin::Pipe;
            let last = strip_assignments_and_wrappers(&last.words);
            return !piped || self.pipefail || !is_read_only(last) || is_faultless_filter(last);
        };
        // The exit code may belong to a command after the last check, as in `make test | grep x` or `make test; ls
        // y`.
        let after_check = &self.steps[at..];
        let joined = |step: &CommandStep| matches!(step.join_to_next, StepJoin::And | StepJoin::End);
        if self.ends_in_faultless_pipe(at) {
            return true;
        }
        after_check.iter().all(joined)
            || self.pipefail
                && after_check.iter().all(|step| joined(step) || step.join_to_next == StepJoin::Pipe)
    }

    /// Returns whether a pipeline that cannot fail comes after the check and ends the line, as in
    /// `make test && git log | head`. If so, only a command before that pipeline can have failed.
    fn ends_in_faultless_pipe(&self, check: usize) -> bool {
        let after = &self.steps[check..];
        let Some(pipe) =
            after.iter().position(|step| step.join_to_next == StepJoin::Pipe).filter(|pipe| *pipe > 0)
        else {
            return false;
        };
        let (before, pipeline) = after.split_at(pipe);
        let Some((last, filters)) = pipeline.split_last() else { return false };
        before.iter().all(|step| step.join_to_next == StepJoin::And)
            && filters.iter().all(|step| step.join_to_next == StepJoin::Pipe)
            && last.join_to_next == StepJoin::End
            && is_faultless_filter(strip_assignments_and_wrappers(&last.words))
    }

    /// Returns a check's result if the line prints it, as with `; echo "exit: $?"` or `&& echo OK || echo FAILED`.
    pub(super) fn printed_exit_code(&self, output: &str) -> Option<RunResult> {
        let (at, ..) = self.checks.last()?;
        let piped = self.steps[*at].join_to_next == StepJoin::Pipe && !self.pipefail;
        for (place, step) in self.steps.iter().enumerate().skip(at + 1) {
            let Some(text) = echoed_text(step) else { continue };
            let before = self.steps[place - 1].join_to_next;
            let status = ["$?", "${PIPESTATUS[0]}", "$pipestatus[1]", "${?}"]
                .iter()
                .find(|mark| text.contains(**mark));
            if let Some(mark) = status {
                let own = mark.to_ascii_lowercase().contains("pipestatus") || !piped && place == at + 1;
                let (prefix, suffix) = text.split_once(mark)?;
                return own.then(|| result_in_number_line(output, prefix, suffix)).flatten();
            }
            let is_there =
                || !text.trim().is_empty() && output.lines().any(|line| line.trim() == text.trim());
            match before {
                StepJoin::Or if !piped && is_there() => return Some(RunResult::Failed),
                StepJoin::And if !piped && place == at + 1 && is_there() => return Some(RunResult::Passed),
                _ => {}
            }
        }
        None
    }

    /// Returns whether a report of success in the output can be trusted. The report proves nothing if a filter would
    /// hide a failed check. It also proves nothing if lines were removed from the output and the rest reports zero
    /// tests.
    pub(super) fn is_pass_visible(&self, output: &str) -> bool {
        let counts_no_tests = || counts_in_output(output).and_then(TestCounts::tests_run) == Some(0);
        self.shows_failures(output) && !(self.is_output_cut(output) && counts_no_tests())
    }

    /// Returns whether a command after the first check, such as `tail`, or the harness may have removed lines from the
    /// output. If there is no check, the first command counts as one.
    pub(super) fn is_output_cut(&self, output: &str) -> bool {
        if output.lines().any(is_truncation_mark) {
            return true;
        }
        let first = self.checks.first().map_or(0, |(at, ..)| *at);
        let removes_lines = |at: usize| {
            let words = strip_assignments_and_wrappers(&self.steps[at].words);
            let Some((program, arguments)) = words.split_first() else { return false };
            match program.rsplit('/').next().unwrap_or(program) {
                "head" | "tail" => {
                    output.lines().count() + MAX_BLANK_LINES_TRIMMED >= max_lines_printed(arguments)
                }
                program if self.steps[at - 1].join_to_next == StepJoin::Pipe => {
                    !is_filter_that_keeps_lines(program)
                }
                program => matches!(program, "grep" | "egrep" | "rg" | "ag" | "sed" | "awk" | "cut"),
            }
        };
        (first + 1..self.steps.len()).any(removes_lines)
    }

    /// Returns the text of the pipe after the last check, such as `| tail -5`, if the pipe removes lines. Nobody can see
    /// how the check ended if the filter removed the summary.
    pub(super) fn filter_after_checks(&self, command: &str) -> Option<String> {
        let check = self.last_check_index()?;
        let is_piped = |step: &&CommandStep| step.join_to_next == StepJoin::Pipe;
        let last = check + self.steps[check..].iter().take_while(is_piped).count();
        let filters = self.steps.get(check + 1..=last)?;
        let removes_lines = |step: &CommandStep| {
            let program = strip_assignments_and_wrappers(&step.words).first().map_or("", |word| word);
            !is_filter_that_keeps_lines(program.rsplit('/').next().unwrap_or(program))
        };
        filters.iter().any(removes_lines).then_some(())?;
        let start = filters.first()?.word_ranges.first()?.start;
        let end = filters.last()?.word_ranges.last()?.end;
        Some(format!("| {}", command.get(start..end)?))
    }

    /// Returns whether the output would show a failed check, that is, whether no filter removes the lines about
    /// failures.
    fn shows_failures(&self, output: &str) -> bool {
        let lines = output.lines().count();
        self.checks.iter().all(|(at, ..)| {
            let mut at = *at;
            while self.steps[at].join_to_next == StepJoin::Pipe {
                at += 1;
                let Some(filter) = self.steps.get(at) else { return true };
                if !filter_shows_failure(strip_assignments_and_wrappers(&filter.words), lines) {
                    return false;
                }
            }
            true
        })
    }

    /// Returns whether the output is empty and an empty output means success. Compilers and some linters print nothing
    /// on success.
    pub(super) fn is_silent_on_success(&self, output: &str) -> bool {
        let nothing = output.trim();
        let nothing =
            nothing.is_empty() || matches!(nothing, "(no output)" | "(Bash completed with no output)");
        let [(at, ..)] = self.checks.as_slice() else { return false };
        let step = &self.steps[*at];
        let words = strip_assignments_and_wrappers(&step.words);
        let is = |names: [&str; 2]| words.iter().map(String::as_str).take(2).eq(names);
        let program = words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        let silent = is(["go", "build"])
            || is(["go", "vet"])
            || matches!(program, "tsc" | "gcc" | "clang" | "javac" | "gofmt");
        nothing
            && silent
            && step.merges_stderr
            && step.join_to_next == StepJoin::Pipe
            && self.is_output_only_cut_after_check(*at)
    }

    fn is_output_only_cut_after_check(&self, at: usize) -> bool {
        let after_check = self.steps[at + 1..].iter();
        after_check.into_iter().all(|step| matches!(step.words[0].as_str(), "head" | "tail" | "cat"))
            && self.steps[at..].iter().all(|step| matches!(step.join_to_next, StepJoin::Pipe | StepJoin::End))
    }

    /// Returns the number of the failed check: the check whose task is mentioned in the output, or the only check of
    /// the failed kind.
    pub(super) fn index_of_failed_check(
        &self,
        task: Option<&str>,
        sort: Option<CommandKind>,
    ) -> Option<usize> {
        let by_task = |task: &str| {
            // `[lint:go] ERROR task failed` refers to a part of the task `lint`.
            let part = |name: &str| {
                task == name || task.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
            };
            self.checks.iter().position(|(_, _, name)| !name.is_empty() && part(name))
        };
        let by_sort = |sort: CommandKind| {
            let mut of_sort = self.checks.iter().enumerate().filter(|(_, (_, known, _))| *known == sort);
            of_sort.next().filter(|_| of_sort.next().is_none()).map(|(place, _)| place)
        };
        let place = match self.checks.len() {
            1 => Some(0),
            _ => task.and_then(by_task).or_else(|| sort.and_then(by_sort)),
        };
        place.and_then(|place| self.acting_steps.iter().position(|at| *at == self.checks[place].0))
    }
}

/// Returns whether a harness put this line where it cut an output, as in `... [120 lines truncated] ...`.
fn is_truncation_mark(line: &str) -> bool {
    let line = line.trim();
    line == "<persisted-output>"
        || line.len() < 100 && line.contains("truncated") && line.starts_with(['.', '[', '(', '<', '…'])
}

/// Returns the text that an `echo` or `printf` prints.
fn echoed_text(step: &CommandStep) -> Option<String> {
    let (program, rest) = step.words.split_first()?;
    let is_option = |word: &&String| matches!(word.as_str(), "-e" | "-n" | "-en" | "-ne");
    let words = rest.iter().skip_while(is_option).map(String::as_str).collect::<Vec<_>>();
    matches!(program.as_str(), "echo" | "printf").then(|| words.join(" ").replace("\\n", ""))
}

/// Reads an exit code from the last line with this prefix and suffix, and returns the result that the code means.
fn result_in_number_line(output: &str, prefix: &str, suffix: &str) -> Option<RunResult> {
    // The prefix contains another variable, whose value is unknown.
    if prefix.contains('$') {
        return None;
    }
    let prefix = prefix.trim_start();
    let code = |line: &str| -> Option<i64> {
        let rest = line.trim().strip_prefix(prefix.trim_end())?.trim_start();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let after_check = rest[digits..].trim();
        let suffix = suffix.split('$').next().unwrap_or_default().trim();
        (digits > 0 && after_check.starts_with(suffix) && (!suffix.is_empty() || after_check.is_empty()))
            .then(|| rest[..digits].parse().ok())
            .flatten()
    };
    let code = output.lines().rev().find_map(code)?;
    Some(if code == 0 { RunResult::Passed } else { RunResult::Failed })
}

/// Sample lines from failed runs. A filter that keeps one of them shows failures.
const SAMPLE_FAILURE_LINES: [&str; 10] = [
    "--- FAIL: TestName (0.00s)",
    "FAIL\texample.com/pkg\t0.1s",
    "test result: FAILED. 1 passed; 1 failed; 0 ignored",
    "FAILED tests/a.py::test_name - AssertionError",
    "===== 1 failed, 2 passed in 1.0s =====",
    "Tests:       1 failed, 2 passed, 3 total",
    "[task] ERROR task failed",
    "error: could not compile",
    "3 issues:",
    "Found 3 errors",
];

/// Returns whether a filter such as `grep` or `tail` keeps lines about failures.
fn filter_shows_failure(words: &[String], lines: usize) -> bool {
    let Some((program, arguments)) = words.split_first() else { return true };
    match program.rsplit('/').next().unwrap_or(program) {
        "tail" | "uniq" => true,
        program if is_filter_that_keeps_lines(program) => true,
        // `head` removes the end of a long output, where the summary would be, so the output must have fewer lines than
        // `head` prints.
        "head" => lines < max_lines_printed(arguments),
        "grep" | "egrep" | "rg" | "ag" => {
            let has = |long: &str, short: char| {
                arguments.iter().any(|word| {
                    word == long || word.starts_with('-') && !word.starts_with("--") && word.contains(short)
                })
            };
            let pattern = arguments.iter().find(|word| !word.starts_with('-'));
            let Some(pattern) = pattern else { return false };
            // With these options, grep does not print whole lines.
            if has("--count", 'c') || has("--quiet", 'q') || has("--only-matching", 'o') {
                return false;
            }
            matches_failure(pattern, has("--ignore-case", 'i')) != has("--invert-match", 'v')
        }
        _ => false,
    }
}

fn is_filter_that_keeps_lines(program: &str) -> bool {
    matches!(program, "cat" | "tee" | "less" | "more" | "nl" | "sort" | "fold" | "column" | "ts")
}

/// Returns the maximum number of lines that `head` or `tail` prints. An argument such as `-30`, `-n 30` or `-n30`
/// sets this number, and the default is 10. Returns zero if the number is unknown, as with `-c 500` or `-n +3`.
fn max_lines_printed(arguments: &[String]) -> usize {
    let mut found = None;
    for word in arguments {
        let value = word.strip_prefix("--lines=").unwrap_or(word).trim_start_matches(['-', 'n']);
        if value.starts_with('+') || word.starts_with("-c") || word.starts_with("--bytes") {
            return 0;
        }
        found = found.or_else(|| value.parse().ok());
    }
    found.unwrap_or(10)
}

/// Returns whether one of the pattern's alternatives occurs in [`SAMPLE_FAILURE_LINES`]. Special characters at either
/// end of an alternative are ignored.
fn matches_failure(pattern: &str, ignore_case: bool) -> bool {
    let pattern = pattern.replace("\\|", "|");
    let found = |part: &str, line: &str| match ignore_case {
        true => line.to_ascii_lowercase().contains(&part.to_ascii_lowercase()),
        false => line.contains(part),
    };
    pattern.split(['|', '(', ')']).any(|part| {
        let part = part
            .trim_matches(|c: char| matches!(c, '^' | '$' | '.' | '*' | '\\' | '+' | '[' | ']' | '?' | 'b'));
        !part.trim().is_empty() && SAMPLE_FAILURE_LINES.iter().any(|line| found(part, line))
    })
}

/// Returns whether a command only passes its input on. Such a command fails only if it is mistyped. `grep` and `jq` are
/// not included, because they also fail if they find nothing.
fn is_faultless_filter(words: &[String]) -> bool {
    let program = words.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
    matches!(
        program,
        "head" | "tail" | "cat" | "wc" | "sort" | "uniq" | "cut" | "tr" | "nl" | "tee" | "column"
    )
}
