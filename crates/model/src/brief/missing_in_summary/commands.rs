//! The project's commands beside a summary: checks that passed, and commands that the summary does not name.

use std::collections::BTreeSet;

use super::SummaryClaims;
use crate::brief::candidate::Candidate;
use crate::checkout_path::is_in_temporary_folder;
use crate::digest::{Digest, NewestRunOfCheck};
use crate::render::{format_path_or_code, in_backticks, utf16_length};
use crate::run::{self, CommandKind, ProjectCheck, RunResult};
use crate::text::quoted_commands;

/// The maximum length of the list of commands, in characters, so that it fits into one line.
const MAX_COMMANDS_CHARS: usize = 230;

/// A longer command is an experiment rather than a command of the project.
const MAX_COMMAND_CHARS: usize = 80;

/// The maximum number of commands that are listed.
const MAX_COMMANDS: usize = 5;

/// A program is listed only if it ran at least this often. The same is true of a command that names a folder or a
/// file.
const MIN_RUNS_OF_NARROW_COMMAND: u32 = 2;

/// Beginnings of options, tasks and programs that measure coverage.
const COVERAGE_WORDS: &[&str] = &["cov", "llvm-cov", "tarpaulin", "nyc", "c8"];

/// What the brief adds to the summary about commands.
pub(super) struct CommandsNotNamed {
    /// The checks that passed, unless the summary reports the state of checks of the same kind.
    pub passed: Vec<String>,
    /// The project's commands that the summary does not name.
    pub commands: Vec<String>,
}

impl CommandsNotNamed {
    /// `told` is what the brief says about open failures.
    pub fn find(
        checks: &[Candidate],
        digest: &Digest,
        claims: &SummaryClaims,
        told: &str,
    ) -> CommandsNotNamed {
        let passed = passes_missing_in_summary(checks, claims);
        let quoted = quoted_commands(claims.text).into_iter();
        let quoted = quoted.chain(passed.iter().flat_map(|form| quoted_commands(form)));
        let known = KnownCommands {
            kinds: quoted
                .flat_map(|line| run::checks_of_command(line, ""))
                .map(|check| check.check_kind)
                .collect(),
            is_named: &|command| {
                claims.names_command(command)
                    || told.contains(command)
                    || passed.iter().any(|form| form.contains(command))
            },
        };
        let commands = commands_to_know(digest, &known);
        CommandsNotNamed { passed, commands }
    }
}

/// Returns the passed checks that the summary does not report, with their folders. A check is left out if another
/// listed check includes it.
fn passes_missing_in_summary(checks: &[Candidate], claims: &SummaryClaims) -> Vec<String> {
    let passed: Vec<&Candidate> = checks.iter().filter(|check| is_new_pass(check, claims)).collect();
    let keys: Vec<BTreeSet<String>> = passed.iter().map(|check| check_keys(check)).collect();
    let is_part = |at: usize| {
        let is_wider = |(other, of_other): (usize, &BTreeSet<String>)| {
            other != at && keys[at].is_subset(of_other) && (keys[at] != *of_other || other < at)
        };
        keys.iter().enumerate().any(is_wider)
    };
    let whole = (0..passed.len()).filter(|at| !is_part(*at)).map(|at| &passed[at].forms[0]);
    whole.map(|form| form.split(" → ").next().unwrap_or(form).to_owned()).collect()
}

/// Returns the keys of the checks in a command line.
fn check_keys(candidate: &Candidate) -> BTreeSet<String> {
    let command = candidate.strings_stating_fact.first().map_or("", String::as_str);
    run::checks_of_command(command, "").iter().map(ProjectCheck::identity_key).collect()
}

/// Returns whether a check passed, nothing has been edited since, and the summary does not report the state of checks
/// of this kind.
fn is_new_pass(candidate: &Candidate, claims: &SummaryClaims) -> bool {
    let command = candidate.strings_stating_fact.first().map_or("", String::as_str);
    let kinds = run::checks_of_command(command, "").into_iter().map(|check| check.check_kind);
    candidate.forms[0].ends_with(" → passed")
        && kinds.into_iter().any(|kind| kind.is_check() && !claims.says_how_check_stands(kind))
}

/// The commands that the agent knows from the summary or from another line of the brief.
struct KnownCommands<'a> {
    /// The kinds of the commands that are quoted.
    kinds: Vec<CommandKind>,
    is_named: &'a dyn Fn(&str) -> bool,
}

/// Returns the commands that the session used to check, build, format or run the project, as many as fit into one
/// line. The command of an open failure comes first. The other commands are sorted by how likely they are to be
/// needed again, most likely first.
fn commands_to_know(digest: &Digest, known: &KnownCommands) -> Vec<String> {
    let failing: Vec<String> = digest.open_failures().map(|failure| failure.command_to_repeat()).collect();
    let is_failing = |used: &NewestRunOfCheck| {
        used.last_result == RunResult::Failed && failing.iter().any(|line| line.contains(&used.run))
    };
    let is_useful = |used: &&NewestRunOfCheck| {
        let has_worked = used.last_result != RunResult::Failed && is_command_of_project(used, digest, known);
        (has_worked || is_failing(used)) && is_short(&used.run) && !(known.is_named)(&used.run)
    };
    let mut ranked: Vec<&NewestRunOfCheck> = digest.ranked_checks().into_iter().filter(is_useful).collect();
    // Checks come before builds and runs of the program, because the agent repeats checks more often.
    ranked.sort_by_key(|used| {
        let is_build = matches!(used.check_kind, CommandKind::Build | CommandKind::Run);
        (!is_failing(used), is_build || is_variant(used))
    });
    let mut room = MAX_COMMANDS_CHARS;
    let mut listed: Vec<String> = Vec::new();
    for used in ranked {
        let folder = match digest.folder_of_command(&used.run, &used.folder).as_str() {
            "" => String::new(),
            folder => format!(" in {}", format_path_or_code(folder, 100)),
        };
        let failing = if is_failing(used) { " (failing)" } else { "" };
        let form = format!("{}{folder}{failing}", in_backticks(&used.run, MAX_COMMAND_CHARS));
        let length = utf16_length(&form) + 2;
        if listed.len() < MAX_COMMANDS && length <= room && !listed.contains(&form) {
            room -= length;
            listed.push(form);
        }
    }
    listed
}

fn is_short(command: &str) -> bool {
    utf16_length(command) <= MAX_COMMAND_CHARS && !command.contains('\n')
}

fn project_check_of_run(used: &NewestRunOfCheck) -> Option<ProjectCheck> {
    run::checks_of_command(&used.run, &used.folder).into_iter().next()
}

/// Returns whether a command is a variant of a check for a special purpose: a run of a few tests, a test run that measures
/// coverage, or a build into a temporary folder.
fn is_variant(used: &NewestRunOfCheck) -> bool {
    if project_check_of_run(used).is_some_and(|check| run::is_partial_test_run(&check)) {
        return true;
    }
    let mut words = used.run.split(|c: char| c.is_whitespace() || matches!(c, '=' | ':' | '"' | '\''));
    words.any(|word| match used.check_kind {
        CommandKind::Test => {
            COVERAGE_WORDS.iter().any(|known| word.trim_start_matches('-').starts_with(known))
        }
        CommandKind::Build => is_in_temporary_folder(word),
        _ => false,
    })
}

/// Returns whether a command belongs to the project. An experiment does not, and neither does a run of only a few
/// tests. A command that names a folder or a file must have run several times. Such a command is left out if the agent
/// knows another command of its kind, or if the session ran a wider one, such as `go build ./...` for `go build ./parser`.
fn is_command_of_project(used: &NewestRunOfCheck, digest: &Digest, known: &KnownCommands) -> bool {
    let Some(check) = project_check_of_run(used) else { return false };
    let is_one_off = run::is_partial_test_run(&check) || used.runs < MIN_RUNS_OF_NARROW_COMMAND;
    if is_variant(used) && is_one_off {
        return digest.checks.iter().all(|other| other.last_run_record <= used.last_run_record);
    }
    if used.check_kind == CommandKind::Run {
        return used.runs >= MIN_RUNS_OF_NARROW_COMMAND;
    }
    let is_narrow = !run::files_named_by_check(&check, &digest.worktree).is_empty();
    let is_wider = |other: &NewestRunOfCheck| {
        other.check_kind == used.check_kind
            && project_check_of_run(other)
                .is_some_and(|other| run::proves_fixed(&other, &check) && !run::proves_fixed(&check, &other))
    };
    !is_narrow
        || used.runs >= MIN_RUNS_OF_NARROW_COMMAND
            && !known.kinds.contains(&used.check_kind)
            && !digest.checks.iter().any(is_wider)
}
