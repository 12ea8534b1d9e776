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

/// How much of a command identifies it, with a small margin.
pub(super) const COMMAND: usize = 66;

/// The most checks and other commands, and the longest one: a truncated command cannot be typed again.
const CHECKS: usize = 5;
const COMMANDS: usize = 4;
const LONGEST: usize = 160;

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
    // A check that is part of a line which is told already is not told again.
    let (mut checked, mut told) = (BTreeSet::new(), BTreeSet::new());
    let (mut checks_told, mut commands_told) = (0, 0);
    for command in digest.ranked_commands() {
        let runnable = run::runnable(&command.command);
        if failing.contains(&runnable) || !told.insert(inline(&runnable, COMMAND)) {
            continue;
        }
        match run::command_purpose(&command.command, &command.folder) {
            CommandPurpose::Checks(checks) => {
                let keys: Vec<String> = checks.iter().map(Check::key).collect();
                if keys.iter().all(|key| checked.contains(key)) {
                    continue;
                }
                // Some of the tests were right for what is over; the project's own runs outlive it.
                if tested_whole && command.last < asked && checks.iter().all(run::is_narrow) {
                    continue;
                }
                let ended = ended(&keys, &newest, command);
                // Beside a summary only how the project is tested and linted, and how that ended.
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
                // What fails is told under that title.
                if ended == Ended::Failed && !failing.is_empty() {
                    continue;
                }
                checked.extend(keys);
                if checks_told == CHECKS || runnable.chars().count() > LONGEST {
                    continue;
                }
                checks_told += 1;
                let stale =
                    if digest.edited_after(command.last).is_some() { ", before the last edits" } else { "" };
                let check =
                    add(all, Class::Checks, command, &runnable, &format!(" → {}{stale}", words(ended)));
                if ended == Ended::Passed {
                    check.signals.given = vec![
                        (Signal::Commands, Measure::OfStanding(0.75)),
                        (Signal::RecentSuccess, Measure::OfStanding(0.5)),
                    ];
                }
            }
            // A command that ran once was for one occasion.
            CommandPurpose::Other(_)
                if command.runs > 1 && commands_told < COMMANDS && runnable.len() <= LONGEST =>
            {
                commands_told += 1;
                add(all, Class::Commands, command, &runnable, "");
            }
            CommandPurpose::Git(_) | CommandPurpose::Other(_) | CommandPurpose::Look => {}
        }
    }
}

fn add<'a>(
    all: &'a mut Gathered,
    class: Class,
    command: &CommandUse,
    runnable: &str,
    ended: &str,
) -> &'a mut Candidate {
    let folder =
        if command.folder.is_empty() { String::new() } else { format!(" in {}", path(&command.folder, 100)) };
    let form = format!("{}{folder}{ended}", code(runnable, LONGEST));
    let id = format!("command:{}", inline(&command.command, 60));
    let candidate = all.add(class, id, vec![form]);
    candidate.known_by = vec![cut(runnable, 60).to_owned()];
    candidate
}

/// Returns the last result of each check, whatever line it was on.
fn newest_runs(digest: &Digest) -> BTreeMap<String, Ended> {
    let mut newest = BTreeMap::new();
    for used in &digest.checks {
        for check in run::checks(&used.run, &used.folder) {
            newest.insert(check.key(), used.ended);
        }
    }
    newest
}

/// Returns the result of a line: from its checks if all are known, otherwise from its own last run.
fn ended(keys: &[String], newest: &BTreeMap<String, Ended>, command: &CommandUse) -> Ended {
    let each: Option<Vec<Ended>> = keys.iter().map(|key| newest.get(key).copied()).collect();
    match each {
        Some(each) if each.contains(&Ended::Failed) => Ended::Failed,
        Some(each) if each.iter().all(|ended| *ended == Ended::Passed) => Ended::Passed,
        Some(_) => Ended::Unknown,
        None => command.ended,
    }
}

fn words(ended: Ended) -> &'static str {
    match ended {
        Ended::Passed => "passed",
        Ended::Failed => "failed",
        Ended::Unknown => "ran, how it ended is not known",
    }
}
