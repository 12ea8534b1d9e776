//! Failures that will happen again, and what worked instead.

use std::collections::BTreeMap;

use super::Failure;
use crate::digest::Digest;
use crate::failure;
use crate::journal::Record;
use crate::run;

/// A success counts as what worked instead for this many calls after the failure.
const WORKAROUND_CALLS: u64 = 8;

/// A failure that will happen again: `X → why → Y worked`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The command that failed, in a form that can be typed, or the name of the tool.
    pub what: String,
    pub why: String,
    /// Empty if nothing is known to work instead.
    pub worked: String,
    pub times: u32,
    pub record: u64,
}

/// Words in errors that show that the tool, the folder or the system is the obstacle.
const OBSTACLES: &[&str] = &[
    "command not found",
    "has not been read yet",
    "already used by worktree",
    "unknown flag",
    "unknown option",
    "unknown shorthand flag",
    "unrecognized option",
    "unrecognized argument",
    "unexpected argument",
    "accepts at most",
    "no task ",
    "issing script:",
    "No rule to make target",
    "does not contain recipe",
    "not trusted",
    "ermission denied",
    "not permitted",
    "not allowed",
    "has been denied",
    "was blocked",
    "ddress already in use",
    "EADDRINUSE",
    "open a new TTY",
    "not a terminal",
    "index.lock",
    "quoting issues",
    "not a git repository",
    "could not find `Cargo.toml`",
    "cannot find main module",
    "Could not read package.json",
    "No module named",
    "Cannot find module",
    "no such file or directory: /",
    "timed out",
    "connection refused",
    "Connection refused",
    "rate limit",
    "modified since read",
];

/// Messages of the harness about itself, which are never traps.
const HARNESS_NOTES: &[&str] = &[
    "Sibling tool call errored",
    "Cancelled: parallel tool call",
    "exceeds maximum allowed",
    "String to replace not found",
    "matches of the string to replace",
    "File does not exist",
    "Path does not exist",
    "doesn't want to proceed",
    "No changes to make",
    "interrupted by user",
];

impl Digest {
    /// Returns what will fail again, newest first: failures that happened more than once in the same way, or have a
    /// known alternative.
    pub fn traps(&self) -> Vec<Trap> {
        let mut kinds: BTreeMap<String, Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failures {
            if let Some(kind) = kind(failure) {
                kinds.entry(kind).or_default().push(failure);
            }
        }
        let mut traps: Vec<Trap> = kinds.into_values().filter_map(|failures| trap(&failures)).collect();
        traps.sort_by_key(|trap| std::cmp::Reverse(trap.record));
        traps
    }

    /// Records a success that may be the alternative to an earlier failure.
    pub(super) fn add_workaround(&mut self, record: &Record) {
        let called = self.called;
        let recent = |failure: &&mut Failure| {
            called.saturating_sub(failure.call) <= WORKAROUND_CALLS && failure.worked.is_empty()
        };
        for failure in self.failures.iter_mut().filter(recent) {
            if way(&failure.error).is_some() && works_instead(&record.command, failure) {
                failure.worked = run::runnable(&record.command);
            }
        }
    }
}

fn trap(failures: &[&Failure]) -> Option<Trap> {
    let last = failures.last()?;
    let worked = failures.iter().rev().find(|failure| !failure.worked.is_empty());
    let is_tool = !last.is_command;
    let times: u32 = failures.iter().map(|failure| failure.times).sum();
    (times > 1 || worked.is_some()).then(|| Trap {
        what: if is_tool { last.tool.clone() } else { worked.unwrap_or(last).run() },
        why: obstacle_line(worked.unwrap_or(last)).to_owned(),
        worked: match worked {
            Some(failure) => failure.worked.clone(),
            // The harness's own message names the remedy.
            None if is_tool && last.error.contains("has not been read yet") => "reading it first".to_owned(),
            None => String::new(),
        },
        times,
        record: last.record,
    })
}

/// Returns a key that failures of one kind share; `None` if the failure is not a trap.
fn kind(failure: &Failure) -> Option<String> {
    if HARNESS_NOTES.iter().any(|trivia| failure.error.contains(trivia)) {
        return None;
    }
    let way = way(&failure.error)?;
    // Tools are compared by name, commands by their program.
    let who = if failure.is_command { program(&failure.what) } else { failure.tool.clone() };
    Some(format!("{who}\u{1}{way}"))
}

fn way(error: &str) -> Option<&'static str> {
    OBSTACLES.iter().find(|way| error.contains(**way)).copied()
}

fn obstacle_line(failure: &Failure) -> &str {
    let mut lines = failure.error.lines();
    let told = way(&failure.error).and_then(|way| lines.find(|line| line.contains(way)));
    told.unwrap_or_else(|| failure::reason(&failure.error))
}

fn program(command: &str) -> String {
    let run = run::runnable(command);
    run.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned()
}

/// Returns whether a command is an alternative to a failed one: it names the same program and is not the same command.
fn works_instead(command: &str, failure: &Failure) -> bool {
    let (mine, other) = (run::runnable(command), failure.run());
    if !failure.is_command || mine.is_empty() || mine == other {
        return false;
    }
    let name = program(&failure.what);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let (mine, other) = (words(&mine), words(&other));
    let names_it = mine.iter().any(|word| word.rsplit('/').next() == Some(name.as_str()));
    // If the program has subcommands, the subcommand must be the same: `git checkout` is no alternative to `git push`.
    let second = |words: &[String]| {
        let at = words.iter().position(|word| word.rsplit('/').next() == Some(name.as_str()));
        at.and_then(|at| words.get(at + 1)).cloned().unwrap_or_default()
    };
    let has_subcommands =
        matches!(name.as_str(), "git" | "gh" | "go" | "cargo" | "npm" | "pnpm" | "yarn" | "docker" | "mise");
    !name.is_empty() && names_it && (!has_subcommands || second(&mine) == second(&other))
}
