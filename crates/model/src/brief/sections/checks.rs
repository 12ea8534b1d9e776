//! The project's checks with their results, and other commands that may be needed again.

use std::collections::{BTreeMap, BTreeSet};

use crate::brief::Material;
use crate::brief::candidate::{Candidate, Class, Measure};
use crate::brief::gather::Gathered;
use crate::digest::{CommandUse, Digest};
use crate::render::{code, inline, path};
use crate::run::{self, Check, CommandPurpose, Ended, Sort};
use crate::score::Signal;
use crate::text::{commands_in, cut};

/// How many characters of a command identify it, with a small margin.
pub(super) const COMMAND_ID_CHARS: usize = 66;

/// The most checks that are listed.
const MOST_CHECKS: usize = 5;

/// The most other commands that are listed.
const MOST_COMMANDS: usize = 4;

/// The longest command that is listed, in characters. A longer one would be cut, and could not be typed again.
const LONGEST_COMMAND: usize = 160;

pub fn gather(material: &Material, all: &mut Gathered) {
    let digest = material.digest;
    let newest = newest_runs(digest);
    let failing: Vec<String> = digest.open_failures().map(|failure| failure.run()).collect();
    let beside = !material.summary().is_empty();
    // Whoever reads a command in the summary knows how that is checked.
    let known: Vec<Sort> = commands_in(material.summary()).into_iter().filter_map(run::sort).collect();
    let task = digest.goal().task.or(digest.goal().newest).map_or(0, |prompt| prompt.record);
    let asked = digest.prompts.last().map_or(0, |prompt| prompt.record);
    let is_whole = |check: &Check| check.sort == Sort::Test && !run::is_narrow(check);
    let tested_whole =
        digest.checks.iter().any(|used| run::checks(&used.run, &used.folder).iter().any(is_whole));
    // A check that is part of a listed command line is not listed again.
    let (mut checked, mut told) = (BTreeSet::new(), BTreeSet::new());
    let (mut checks_told, mut commands_told) = (0, 0);
    let outside = if digest.is_changed_outside() { ", before later changes" } else { "" };
    for command in digest.ranked_commands() {
        let runnable = run::runnable(&command.command);
        if failing.contains(&runnable) || !told.insert(inline(&runnable, COMMAND_ID_CHARS)) {
            continue;
        }
        match run::command_purpose(&command.command, &command.folder) {
            CommandPurpose::Checks(checks) => {
                let keys: Vec<String> = checks.iter().map(Check::key).collect();
                // Formatting is not a check: with it, a line checks the same.
                let proving = checks.iter().filter(|check| check.sort.is_check()).map(Check::key);
                let proving: Vec<String> = proving.collect();
                let told_by = if proving.is_empty() { &keys } else { &proving };
                if told_by.iter().all(|key| checked.contains(key)) {
                    continue;
                }
                // A run of some tests served an earlier request; runs of the whole suite stay useful.
                if tested_whole && command.last < asked && checks.iter().all(run::is_narrow) {
                    continue;
                }
                let (ended, last) = ended(&keys, &newest, command);
                // Next to a summary, only tests and lints of the whole project are listed, and only with a known
                // result.
                let is_main =
                    |check: &Check| matches!(check.sort, Sort::Test | Sort::Lint) && !run::is_narrow(check);
                if beside && (ended == Ended::Unknown || !checks.iter().any(is_main)) {
                    continue;
                }
                // One that was for another task may be about other files.
                let is_known =
                    checks.iter().filter(|check| is_main(check)).all(|check| known.contains(&check.sort));
                if beside && (is_known || command.last < task) {
                    continue;
                }
                // Failing checks have their own section.
                if ended == Ended::Failed && !failing.is_empty() {
                    continue;
                }
                checked.extend(keys);
                if checks_told == MOST_CHECKS || runnable.chars().count() > LONGEST_COMMAND {
                    continue;
                }
                checks_told += 1;
                let stale = match digest.edited_after(last) {
                    Some(_) => ", before the last edits",
                    None => outside,
                };
                let ended_words = format!(" → {}{stale}", words(ended));
                let folder = digest.folder_of(&command.command, &command.folder);
                let check = add(all, Class::Checks, (command, &folder), &runnable, &ended_words);
                if ended == Ended::Passed {
                    check.signals.given = vec![
                        (Signal::Commands, Measure::OfStanding(0.75)),
                        (Signal::RecentSuccess, Measure::OfStanding(0.5)),
                    ];
                }
            }
            // A command that ran only once will hardly be needed again.
            CommandPurpose::Other(_)
                if command.runs > 1 && commands_told < MOST_COMMANDS && runnable.len() <= LONGEST_COMMAND =>
            {
                commands_told += 1;
                let folder = digest.folder_of(&command.command, &command.folder);
                add(all, Class::Commands, (command, &folder), &runnable, "");
            }
            CommandPurpose::Git(_) | CommandPurpose::Other(_) | CommandPurpose::Look => {}
        }
    }
}

fn add<'a>(
    all: &'a mut Gathered,
    class: Class,
    (command, folder): (&CommandUse, &str),
    runnable: &str,
    ended: &str,
) -> &'a mut Candidate {
    let folder = if folder.is_empty() { String::new() } else { format!(" in {}", path(folder, 100)) };
    let form = format!("{}{folder}{ended}", code(runnable, LONGEST_COMMAND));
    let id = format!("command:{}", inline(&command.command, 60));
    let candidate = all.add(class, id, vec![form]);
    candidate.known_by = vec![cut(runnable, 60).to_owned()];
    candidate
}

/// Returns the last result of each check and its record, in whichever command line it ran.
fn newest_runs(digest: &Digest) -> BTreeMap<String, (Ended, u64)> {
    let mut newest = BTreeMap::new();
    for used in &digest.checks {
        for check in run::checks(&used.run, &used.folder) {
            newest.insert(check.key(), (used.ended, used.last));
        }
    }
    newest
}

/// Returns the result of a command line and its record: from its checks if all are known, otherwise from its own last run.
fn ended(keys: &[String], newest: &BTreeMap<String, (Ended, u64)>, command: &CommandUse) -> (Ended, u64) {
    let each: Option<Vec<(Ended, u64)>> = keys.iter().map(|key| newest.get(key).copied()).collect();
    let Some(each) = each else { return (command.ended, command.last) };
    let has = |wanted: Ended| each.iter().any(|(ended, _)| *ended == wanted);
    let ended = match (has(Ended::Failed), has(Ended::Unknown)) {
        (true, _) => Ended::Failed,
        (false, true) => Ended::Unknown,
        (false, false) => Ended::Passed,
    };
    (ended, each.iter().map(|(_, last)| *last).min().unwrap_or(command.last))
}

fn words(ended: Ended) -> &'static str {
    match ended {
        Ended::Passed => "passed",
        Ended::Failed => "failed",
        Ended::Unknown => "ran, how it ended is not known",
    }
}
