//! Decides how each check of a command line with several checks ended. In `make test; make lint`, the exit code belongs
//! to `make lint` alone. The result of `make test` is determined from its own output, or is unknown.

use std::ops::Range;

use super::check::{check_of_step, strip_assignments_and_wrappers};
use super::exit::CheckedLine;
use super::summary::{self, LineResult};
use super::{CommandKind, RunResult};
use crate::shell::{CommandStep, StepJoin};

/// How many bytes at the end of an output are searched for the results of several checks.
const PARTS_TAIL_BYTES: usize = 64 * 1024;

/// The result of one of the checks in a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartVerdict {
    /// The result. `None` if the check did not run, or if it is unknown whether it ran.
    pub result: Option<RunResult>,
    /// The byte range of the line of the output that belongs to this check and shows its result.
    pub deciding_line: Option<Range<usize>>,
    /// Whether the exit code of the line is the exit code of this check.
    pub owns_exit_code: bool,
}

/// A check, and what the command line and the output show about its result.
struct Part {
    /// The index of the pipeline in which the check runs.
    pipeline: usize,
    /// Whether the pipeline fails if the check fails.
    sets_exit_code: bool,
    kind: CommandKind,
    program: String,
    task: String,
    failure: Option<(u8, Range<usize>)>,
    success: Option<(u8, Range<usize>)>,
    ends_with_success: bool,
    /// Whether a line of the task runner names this check as failed.
    is_named_as_failed: bool,
}

/// The commands of a pipeline, and the operator after it.
struct Pipeline {
    steps: Range<usize>,
    join: StepJoin,
}

/// Failures in the output that belong to no single check.
#[derive(Default)]
struct UnownedFailures {
    lines: Vec<(u8, Range<usize>)>,
    /// How many of the failed targets that `make` reported are not checks of the line. A check of the line may depend
    /// on such a target.
    make_targets: usize,
}

/// Decides how each command in `line.acting_steps` ended (see [`super::checks_of_command`]). Returns an empty list if
/// there are fewer than two such commands.
pub(super) fn decide_parts(
    command: &str,
    line: &CheckedLine,
    exit_failed: Option<bool>,
    output: &str,
) -> Vec<PartVerdict> {
    if line.acting_steps.len() < 2 {
        return Vec::new();
    }
    let pipelines = pipelines_of_line(line);
    let mut parts = parts_of_line(command, line, &pipelines);
    let unowned = gather_evidence(line, &mut parts, output);
    let by_exit = match exit_failed {
        Some(failed) if line.steps_without_control_flow().is_some() && !has_groups(command, &line.steps) => {
            results_by_exit(line, &pipelines, &parts, failed)
        }
        _ => vec![None; parts.len()],
    };
    let is_pass_visible = line.is_pass_visible(output);
    let is_explained = unowned.lines.is_empty()
        || parts
            .iter()
            .zip(&by_exit)
            .any(|(part, exit)| part.failure.is_some() || *exit == Some(RunResult::Failed));
    let unexplained_targets = {
        let unnamed = |(part, exit): &(&Part, &Option<RunResult>)| {
            part.program == "make" && **exit == Some(RunResult::Failed) && !part.is_named_as_failed
        };
        unowned.make_targets > parts.iter().zip(&by_exit).filter(unnamed).count()
    };
    let mut results: Vec<Option<RunResult>> = Vec::new();
    for (part, exit) in parts.iter().zip(&by_exit) {
        let is_in_doubt = part.program == "make" && unexplained_targets;
        results.push(match (exit, &part.failure, &part.success) {
            (Some(RunResult::Failed), ..) | (None, Some(_), _) => Some(RunResult::Failed),
            // The check hid its failure, for example with `|| true` in a script.
            (Some(_), Some(_), _) if part.ends_with_success => Some(RunResult::Unknown),
            (Some(_), Some(_), _) => Some(RunResult::Failed),
            (Some(passed), None, _) => Some(*passed),
            (None, None, Some(_)) if is_pass_visible && is_explained && !is_in_doubt => {
                Some(RunResult::Passed)
            }
            (None, None, _) => None,
        });
    }
    decide_chains(&pipelines, &parts, exit_failed == Some(true), &unowned, &mut results);
    let only_failed = {
        let mut failed = (0..parts.len()).filter(|at| results[*at] == Some(RunResult::Failed));
        failed.next().filter(|_| failed.next().is_none())
    };
    let are_others_known = results.iter().all(|result| *result != Some(RunResult::Unknown));
    let verdict = |(at, part): (usize, &Part)| {
        let line = match results[at] {
            Some(RunResult::Failed) => part.failure.clone().or_else(|| {
                let best = unowned.lines.iter().max_by_key(|(weight, _)| *weight);
                best.filter(|_| only_failed == Some(at) && are_others_known).cloned()
            }),
            Some(RunResult::Passed) => part.success.clone(),
            _ => None,
        };
        let is_last_failed =
            exit_failed == Some(true) && is_only_failure_in_last_chain(&pipelines, &parts, &results, at);
        PartVerdict {
            result: results[at],
            deciding_line: line.map(|(_, range)| range),
            owns_exit_code: by_exit[at].is_some() || is_last_failed,
        }
    };
    parts.iter().enumerate().map(verdict).collect()
}

fn pipelines_of_line(line: &CheckedLine) -> Vec<Pipeline> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut stops_at_error = false;
    let mut is_in_list = false;
    for (at, step) in line.steps.iter().enumerate() {
        stops_at_error = sets_errexit(step).unwrap_or(stops_at_error);
        if step.join_to_next == StepJoin::Pipe && at + 1 < line.steps.len() {
            continue;
        }
        let is_last = at + 1 == line.steps.len();
        let join = match step.join_to_next {
            StepJoin::Next if is_last => StepJoin::End,
            // After `set -e`, the shell stops at the first command that fails, but not if that command is inside a list
            // such as `a && b`.
            StepJoin::Next if stops_at_error && !is_in_list => StepJoin::And,
            join => join,
        };
        is_in_list = matches!(step.join_to_next, StepJoin::And | StepJoin::Or);
        found.push(Pipeline { steps: start..at + 1, join });
        start = at + 1;
    }
    found
}

/// Returns whether `set` turns `errexit` on or off, or `None` for other commands.
fn sets_errexit(step: &CommandStep) -> Option<bool> {
    if step.words[0] != "set" {
        return None;
    }
    // After `-o` or `+o`, the name of the option follows.
    let (mut found, mut named) = (None, None);
    for word in &step.words[1..] {
        let is_on = word.starts_with('-');
        let flags = word.strip_prefix(['-', '+']);
        found = match (named.take(), flags) {
            (Some(is_on), _) if word == "errexit" => Some(is_on),
            (_, Some(flags)) if flags.contains('e') => Some(is_on),
            _ => found,
        };
        named = flags.filter(|flags| flags.ends_with('o')).map(|_| is_on);
    }
    found
}

/// Returns whether commands are grouped, as in `a && (b; c)`. Then an operator may join more than two commands.
fn has_groups(command: &str, steps: &[CommandStep]) -> bool {
    let mut end = 0;
    steps.iter().any(|step| {
        let start = step.word_ranges[0].start;
        let gap = command.get(end..start).unwrap_or_default();
        end = step.word_ranges.last().map_or(start, |range| range.end);
        gap.contains('(') || matches!(step.words[0].as_str(), "{" | "!")
    })
}

fn parts_of_line(command: &str, line: &CheckedLine, pipelines: &[Pipeline]) -> Vec<Part> {
    let part = |at: &usize| {
        let check = check_of_step(command, &line.steps[*at], "")?;
        let pipeline = pipelines.iter().position(|pipeline| pipeline.steps.contains(at))?;
        let words = &check.program_and_arguments;
        let task = words.iter().skip(1).find(|word| !word.starts_with('-') && *word != "run");
        Some(Part {
            pipeline,
            sets_exit_code: line.pipefail || pipelines[pipeline].steps.end == at + 1,
            kind: check.check_kind,
            program: words[0].rsplit('/').next().unwrap_or_default().to_owned(),
            task: task.cloned().unwrap_or_default(),
            failure: None,
            success: None,
            ends_with_success: false,
            is_named_as_failed: false,
        })
    };
    line.acting_steps.iter().filter_map(part).collect()
}

/// Finds the lines of the output that belong to a single check, and returns the failures that belong to no single
/// check.
fn gather_evidence(line: &CheckedLine, parts: &mut [Part], output: &str) -> UnownedFailures {
    let mut unowned = UnownedFailures::default();
    let mut next = output.ceil_char_boundary(output.len().saturating_sub(PARTS_TAIL_BYTES));
    let is_one_program = parts.windows(2).all(|pair| pair[0].program == pair[1].program);
    for whole in output[next..].split_inclusive('\n') {
        let range = summary::trimmed_range(output, next..next + whole.len());
        next += whole.len();
        let Some(word) = summary::result_of_line(line.check_kind_predicate(), whole) else { continue };
        let weighted = (word.informativeness, range);
        let named = if word.failed { part_named_in_line(parts, &word, whole) } else { None };
        let owner = named.or_else(|| part_of_kind(parts, &word));
        match owner {
            Some(at) if word.failed => {
                let part = &mut parts[at];
                part.is_named_as_failed |= named.is_some();
                keep_more_informative_line(&mut part.failure, weighted);
                part.ends_with_success = false;
                // A task runner reports a failed task after the output of the task.
                if named.is_some() && is_one_program {
                    let before = std::mem::take(&mut unowned.lines);
                    before.into_iter().for_each(|line| keep_more_informative_line(&mut part.failure, line));
                }
            }
            Some(at) => {
                keep_more_informative_line(&mut parts[at].success, weighted);
                parts[at].ends_with_success = true;
            }
            None if word.failed => {
                let is_make = whole.starts_with("make: *** ");
                unowned.make_targets += usize::from(is_make);
                unowned.lines.push(weighted);
            }
            None => {}
        }
    }
    unowned
}

fn keep_more_informative_line(kept: &mut Option<(u8, Range<usize>)>, line: (u8, Range<usize>)) {
    if kept.as_ref().is_none_or(|(weight, _)| line.0 > *weight) {
        *kept = Some(line);
    }
}

/// Returns the check that is named in a message of a task runner, such as `make: *** [Makefile:3: test] Error 1`.
fn part_named_in_line(parts: &[Part], word: &LineResult, line: &str) -> Option<usize> {
    let only = |fits: &dyn Fn(&Part) -> bool| {
        let mut found = parts.iter().enumerate().filter(|(_, part)| fits(part));
        found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
    };
    let by_task = word.task.as_deref().and_then(|task| {
        only(&|part| {
            let is_part = |rest: &str| rest.starts_with(':');
            !part.task.is_empty()
                && (task == part.task || task.strip_prefix(part.task.as_str()).is_some_and(is_part))
        })
    });
    let program = line.split([' ', ':', '[']).next().unwrap_or_default();
    by_task.or_else(|| only(&|part| word.is_from_task_runner && part.program == program))
}

/// If exactly one check is of a kind that prints such a line, returns that check. A compiler's errors may come from any
/// check.
fn part_of_kind(parts: &[Part], word: &LineResult) -> Option<usize> {
    let kind = word.check_kind.filter(|_| !word.is_from_compiler)?;
    let mut of_kind = parts.iter().enumerate().filter(|(_, part)| part.kind == kind);
    of_kind.next().filter(|_| of_kind.next().is_none()).map(|(at, _)| at)
}

/// Returns the results that the exit code proves.
fn results_by_exit(
    line: &CheckedLine,
    pipelines: &[Pipeline],
    parts: &[Part],
    failed: bool,
) -> Vec<Option<RunResult>> {
    let mut of_pipelines = vec![None; pipelines.len()];
    let last = pipelines.len() - 1;
    if pipelines[last].join == StepJoin::End {
        match failed {
            false => mark_pipelines_that_passed(pipelines, &mut of_pipelines),
            true => mark_failed(line, pipelines, parts, &mut of_pipelines),
        }
    }
    parts.iter().map(|part| of_pipelines[part.pipeline].filter(|_| part.sets_exit_code)).collect()
}

/// Marks the pipelines that must have passed if the line passed: the last one, and those that `&&` joins to it.
fn mark_pipelines_that_passed(pipelines: &[Pipeline], results: &mut [Option<RunResult>]) {
    for at in (0..pipelines.len()).rev() {
        let before = at.checked_sub(1).map(|before| pipelines[before].join);
        // The command after `||` may not have run.
        if before == Some(StepJoin::Or) {
            break;
        }
        results[at] = Some(RunResult::Passed);
        if before != Some(StepJoin::And) {
            break;
        }
    }
}

/// Marks the pipelines that must have failed if the line failed.
fn mark_failed(
    line: &CheckedLine,
    pipelines: &[Pipeline],
    parts: &[Part],
    results: &mut [Option<RunResult>],
) {
    let last = pipelines.len() - 1;
    let is_list_end = |at: &usize| matches!(pipelines[*at].join, StepJoin::Next | StepJoin::Background);
    let first = (0..last).rev().find(is_list_end).map_or(0, |at| at + 1);
    if pipelines[first..last].iter().all(|pipeline| pipeline.join == StepJoin::And) {
        let acting: Vec<usize> =
            parts.iter().map(|part| part.pipeline).filter(|at| (first..=last).contains(at)).collect();
        if let [only] = acting.as_slice() {
            // The check may have passed, and a later command may have failed.
            let can_fail = |pipeline: &Pipeline| {
                let step = &line.steps[pipeline.steps.start];
                !matches!(
                    strip_assignments_and_wrappers(&step.words).first().map_or("", |word| word),
                    "echo" | "cd" | "printf"
                )
            };
            if !pipelines[only + 1..].iter().any(can_fail) {
                results[*only] = Some(RunResult::Failed);
            }
        }
        return;
    }
    let is_after_or = |at: usize| at == first || pipelines[at - 1].join == StepJoin::Or;
    for at in (first..=last).rev() {
        if !is_after_or(at) || at < last && pipelines[at].join != StepJoin::Or {
            break;
        }
        results[at] = Some(RunResult::Failed);
    }
}

/// Returns whether a check is in the same chain of `&&` as an earlier check.
fn are_chained(pipelines: &[Pipeline], before: &Part, after: &Part) -> bool {
    before.pipeline < after.pipeline
        && pipelines[before.pipeline..after.pipeline].iter().all(|pipeline| pipeline.join == StepJoin::And)
}

/// Completes the results: in a chain of `&&`, the checks before a failed check have passed, and those after it did not
/// run. A check outside of the failed chain has run, but its result is unknown unless other evidence shows it.
fn decide_chains(
    pipelines: &[Pipeline],
    parts: &[Part],
    exit_failed: bool,
    unowned: &UnownedFailures,
    results: &mut [Option<RunResult>],
) {
    let is_last = |at: usize| {
        pipelines[parts[at].pipeline..]
            .iter()
            .all(|pipeline| matches!(pipeline.join, StepJoin::And | StepJoin::End))
    };
    let in_last: Vec<usize> = (0..parts.len()).filter(|at| is_last(*at)).collect();
    let is_undecided = |results: &[Option<RunResult>]| {
        exit_failed && !in_last.iter().any(|at| results[*at] == Some(RunResult::Failed))
    };
    // The exit code belongs to this chain. If the output shows that all other checks have passed, the last one failed.
    if is_undecided(results)
        && let Some((last, before)) = in_last.split_last()
        && parts[*last].sets_exit_code
        && parts[*last].pipeline + 1 == pipelines.len()
        && !before.is_empty()
        && before.iter().all(|at| parts[*at].success.is_some() && parts[*at].failure.is_none())
    {
        results[*last] = Some(RunResult::Failed);
    }
    // A compiler error belongs to the first check, unless a later check may also report it.
    if is_undecided(results)
        && let Some((first, after)) = in_last.split_first()
        && !unowned.lines.is_empty()
        && in_last.len() == parts.len()
        && matches!(parts[*first].kind, CommandKind::Build | CommandKind::Lint)
        && after.iter().all(|at| matches!(parts[*at].kind, CommandKind::Test | CommandKind::Run))
    {
        results[*first] = Some(RunResult::Failed);
    }
    let failed: Vec<usize> = (0..parts.len()).filter(|at| results[*at] == Some(RunResult::Failed)).collect();
    let is_chain_undecided = is_undecided(results);
    for at in 0..parts.len() {
        if results[at] == Some(RunResult::Failed) {
            continue;
        }
        let precedes = |other: &usize| are_chained(pipelines, &parts[at], &parts[*other]);
        let follows = |other: &usize| are_chained(pipelines, &parts[*other], &parts[at]);
        if failed.iter().any(precedes) && parts[at].sets_exit_code {
            results[at] = Some(RunResult::Passed);
        } else if failed.iter().any(follows) {
            results[at] = None;
        } else if results[at].is_none() && !(is_chain_undecided && in_last.contains(&at)) {
            results[at] = Some(RunResult::Unknown);
        }
    }
}

/// Returns whether a check is in the last `&&` chain of the line and is the only check in this chain that failed. If
/// so, the line's exit code is the exit code of this check.
fn is_only_failure_in_last_chain(
    pipelines: &[Pipeline],
    parts: &[Part],
    results: &[Option<RunResult>],
    at: usize,
) -> bool {
    let is_in_last_chain = pipelines[parts[at].pipeline..]
        .iter()
        .all(|pipeline| matches!(pipeline.join, StepJoin::And | StepJoin::End));
    let is_other = |other: usize| other != at && results[other] == Some(RunResult::Failed);
    results[at] == Some(RunResult::Failed)
        && is_in_last_chain
        && parts[at].sets_exit_code
        && !(0..parts.len()).any(|other| is_other(other) && are_chained(pipelines, &parts[at], &parts[other]))
        && !(0..parts.len()).any(|other| is_other(other) && are_chained(pipelines, &parts[other], &parts[at]))
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
