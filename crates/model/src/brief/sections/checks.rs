//! The project's checks with their results.

use std::collections::{BTreeMap, BTreeSet};

use crate::brief::BriefMaterial;
use crate::brief::candidate::{Candidate, FactClass, SignalValue};
use crate::brief::gather::GatheredCandidates;
use crate::digest::{CommandUse, Digest};
use crate::render::{format_path_or_code, in_backticks, inline_for_model};
use crate::run::{self, CommandKind, CommandPurpose, ProjectCheck, RunResult};
use crate::score::ScoreSignal;
use crate::text::{cut_to_bytes, quoted_commands};

/// The length of the command prefix that identifies a command, in characters.
pub(super) const COMMAND_ID_CHARS: usize = 66;

const MAX_CHECKS_LISTED: usize = 5;

/// The maximum number of checks listed for each kind, such as tests, lints or builds.
const MAX_CHECKS_OF_KIND: usize = 2;

/// The maximum length of a listed command, in characters. A longer command would be cut and could not be run again.
pub(super) const MAX_LISTED_CHECK_COMMAND_CHARS: usize = 160;

pub fn gather_checks(material: &BriefMaterial, all: &mut GatheredCandidates) {
    let digest = material.digest;
    let newest = newest_run_per_check(digest);
    let failing: Vec<String> = digest.open_failures().map(|failure| failure.command_to_repeat()).collect();
    let beside = !material.visible_summary().is_empty();
    // If the summary quotes a command of some kind, another command of that kind is not needed.
    let known: Vec<CommandKind> =
        quoted_commands(material.visible_summary()).into_iter().filter_map(run::command_kind).collect();
    let task = digest
        .current_goal()
        .task_prompt
        .or(digest.current_goal().newest_prompt)
        .map_or(0, |prompt| prompt.record);
    let asked = digest.prompts.last().map_or(0, |prompt| prompt.record);
    let is_whole =
        |check: &ProjectCheck| check.check_kind == CommandKind::Test && !run::is_partial_test_run(check);
    let tested_whole =
        digest.checks.iter().any(|used| run::checks_of_command(&used.run, &used.folder).iter().any(is_whole));
    // A check that is part of a listed command line is not listed again.
    let (mut checked, mut told) = (BTreeSet::new(), BTreeSet::new());
    let mut checks_told = 0;
    let mut told_by_kind: Vec<Option<CommandKind>> = Vec::new();
    let outside = match digest.describe_change_outside_session() {
        "" => String::new(),
        change => format!(", {change}"),
    };
    for command in digest.ranked_commands() {
        let runnable = run::command_to_repeat(&command.command);
        if failing.contains(&runnable) || !told.insert(inline_for_model(&runnable, COMMAND_ID_CHARS)) {
            continue;
        }
        match run::command_purpose(&command.command, &command.folder) {
            CommandPurpose::Checks(checks) => {
                let (checks, runnable) = without_tried_out_program(checks, runnable);
                let keys: Vec<String> = checks.iter().map(ProjectCheck::identity_key).collect();
                // Formatters are ignored when two command lines are compared.
                let proving =
                    checks.iter().filter(|check| check.check_kind.is_check()).map(ProjectCheck::identity_key);
                let proving: Vec<String> = proving.collect();
                let told_by = if proving.is_empty() { &keys } else { &proving };
                if told_by.iter().all(|key| checked.contains(key)) {
                    continue;
                }
                // Once the whole suite has run, partial test runs for earlier requests are not listed.
                if tested_whole
                    && command.last_run_record < asked
                    && checks.iter().all(run::is_partial_test_run)
                {
                    continue;
                }
                let LastRun { result: ended, record: last, ran_no_tests } =
                    result_of_command(&keys, &newest, command);
                // The result is unknown and files have been edited since, so this run says nothing about the current
                // state.
                if ended == RunResult::Unknown && checks_told > 0 && !digest.is_check_current(last) {
                    continue;
                }
                // Skip this command if enough commands of the same kind are already listed.
                let kind = checks.iter().map(|check| check.check_kind).find(|sort| sort.is_check());
                let times = told_by_kind.iter().filter(|known| **known == kind).count();
                if times == MAX_CHECKS_OF_KIND {
                    continue;
                }
                // If there is a summary, only tests and lints that cover the whole project and have a known result
                // are listed.
                let is_main = |check: &ProjectCheck| {
                    matches!(check.check_kind, CommandKind::Test | CommandKind::Lint)
                        && !run::is_partial_test_run(check)
                };
                if beside && (ended == RunResult::Unknown || !checks.iter().any(is_main)) {
                    continue;
                }
                // A script may do nothing but prepare a later step, so it is not listed next to a summary or a
                // complete test run.
                if run::is_script_call(&runnable) && (beside || tested_whole) {
                    continue;
                }
                // A command that was last run for an earlier task may concern other files, so it is left out.
                let is_known = checks
                    .iter()
                    .filter(|check| is_main(check))
                    .all(|check| known.contains(&check.check_kind));
                if beside && (is_known || command.last_run_record < task) {
                    continue;
                }
                // Failing checks have their own section.
                if ended == RunResult::Failed && !failing.is_empty() {
                    continue;
                }
                checked.extend(keys);
                if checks_told == MAX_CHECKS_LISTED
                    || runnable.chars().count() > MAX_LISTED_CHECK_COMMAND_CHARS
                {
                    continue;
                }
                checks_told += 1;
                told_by_kind.push(kind);
                let changes = digest.changes_after_check(last);
                let stale = match (changes.edited.is_empty(), changes.maybe_changed.is_empty()) {
                    (false, _) => ", before the last edits",
                    (true, false) => ", and files may have changed since",
                    (true, true) => &outside,
                };
                let ended_words = match digest.filter_of_run(last) {
                    Some(filter) if ended == RunResult::Unknown && !ran_no_tests => {
                        format!(" → ran, result not visible ({}){stale}", in_backticks(&filter, 60))
                    }
                    _ => format!(" → {}{stale}", result_word(ended, ran_no_tests)),
                };
                let folder = digest.folder_of_command(&command.command, &command.folder);
                let check = add_command_candidate(
                    all,
                    FactClass::Checks,
                    (command, &folder),
                    &runnable,
                    &ended_words,
                );
                if ended == RunResult::Passed && !ran_no_tests {
                    check.signals.signal_values = vec![
                        (ScoreSignal::Commands, SignalValue::OfStanding(0.75)),
                        (ScoreSignal::RecentSuccess, SignalValue::OfStanding(0.5)),
                    ];
                }
            }
            CommandPurpose::Git(_) | CommandPurpose::Other(_) | CommandPurpose::ReadOnly => {}
        }
    }
}

/// If a command line runs one check and then tries out a program, returns this check and the command that repeats it.
/// Otherwise, returns the arguments unchanged.
fn without_tried_out_program(checks: Vec<ProjectCheck>, line: String) -> (Vec<ProjectCheck>, String) {
    let is_program = |check: &ProjectCheck| check.check_kind == CommandKind::Run;
    match checks.as_slice() {
        [check, rest @ ..]
            if !rest.is_empty() && check.check_kind.is_check() && rest.iter().all(is_program) =>
        {
            (vec![check.clone()], check.command_to_repeat.clone())
        }
        _ => (checks, line),
    }
}

pub(super) fn add_command_candidate<'a>(
    all: &'a mut GatheredCandidates,
    class: FactClass,
    (command, folder): (&CommandUse, &str),
    runnable: &str,
    ended: &str,
) -> &'a mut Candidate {
    let folder =
        if folder.is_empty() { String::new() } else { format!(" in {}", format_path_or_code(folder, 100)) };
    let form = format!("{}{folder}{ended}", in_backticks(runnable, MAX_LISTED_CHECK_COMMAND_CHARS));
    let id = format!("command:{}", inline_for_model(&command.command, 60));
    let candidate = all.add_fact(class, id, vec![form]);
    candidate.strings_stating_fact = vec![cut_to_bytes(runnable, 60).to_owned()];
    candidate
}

/// The last run of a check or a command line.
#[derive(Clone, Copy)]
struct LastRun {
    result: RunResult,
    /// The number of the run's record.
    record: u64,
    /// Whether the test runner found no tests. If so, a pass means nothing.
    ran_no_tests: bool,
}

/// Returns the last run of each check, regardless of the command line that contained it.
fn newest_run_per_check(digest: &Digest) -> BTreeMap<String, LastRun> {
    let mut newest = BTreeMap::new();
    for used in &digest.checks {
        let ran_no_tests = used.last_result != RunResult::Failed && used.counts.tests_run() == Some(0);
        let run = LastRun { result: used.last_result, record: used.last_run_record, ran_no_tests };
        for check in run::checks_of_command(&used.run, &used.folder) {
            newest.insert(check.identity_key(), run);
        }
    }
    newest
}

/// Returns how a command line last ended. The result comes from the line's checks if all their runs are known,
/// otherwise from the line's own last run.
fn result_of_command(keys: &[String], newest: &BTreeMap<String, LastRun>, command: &CommandUse) -> LastRun {
    let each: Option<Vec<LastRun>> = keys.iter().map(|key| newest.get(key).copied()).collect();
    let Some(each) = each else {
        return LastRun { result: command.last_result, record: command.last_run_record, ran_no_tests: false };
    };
    let has = |wanted: RunResult| each.iter().any(|run| run.result == wanted);
    let ended = match (has(RunResult::Failed), has(RunResult::Unknown)) {
        (true, _) => RunResult::Failed,
        (false, true) => RunResult::Unknown,
        (false, false) => RunResult::Passed,
    };
    let last = each.iter().map(|run| run.record).min().unwrap_or(command.last_run_record);
    LastRun { result: ended, record: last, ran_no_tests: each.iter().any(|run| run.ran_no_tests) }
}

fn result_word(ended: RunResult, ran_no_tests: bool) -> &'static str {
    match ended {
        RunResult::Passed if ran_no_tests => "passed, but ran no tests",
        RunResult::Passed => "passed",
        RunResult::Failed => "failed",
        RunResult::Unknown if ran_no_tests => "ran no tests",
        RunResult::Unknown => "ran, result unknown",
    }
}
