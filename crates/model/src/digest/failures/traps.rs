//! Failures that will recur, and alternatives that worked.

use std::collections::BTreeMap;

use super::Failure;
use crate::digest::Digest;
use crate::failure;
use crate::journal::JournalRecord;
use crate::run;

/// A success counts as an alternative only within this many calls after the failure.
const MAX_CALLS_TO_WORKAROUND: u64 = 8;

/// A failure that will recur, printed as `X → why → Y worked`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The failed command in a form that can be run again, or the name of the tool.
    pub what: String,
    pub why: String,
    /// The command or tool that worked instead, or empty if none is known.
    pub worked: String,
    pub times: u32,
    pub record: u64,
}

/// Phrases in errors that show that the tool, the folder or the system is the obstacle.
const OBSTACLE_WORDS: &[&str] = &[
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

/// The [`OBSTACLE_WORDS`] of an error that says that a module is missing.
const MISSING_MODULE_WORDS: [&str; 2] = ["No module named", "Cannot find module"];

/// The harness's messages about its own tools. They are never reported as failures that will recur.
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
    /// Returns the traps, newest first. A failure is a trap if it occurred repeatedly in the same way or has a known
    /// alternative.
    pub fn traps(&self) -> Vec<Trap> {
        let mut kinds: BTreeMap<String, Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failures {
            if let Some(kind) = trap_key(failure) {
                kinds.entry(kind).or_default().push(failure);
            }
        }
        let mut traps: Vec<Trap> =
            kinds.into_values().filter_map(|failures| trap_of_failures(&failures)).collect();
        traps.sort_by_key(|trap| std::cmp::Reverse(trap.record));
        traps
    }

    /// Records a successful command that may be an alternative to a recent failure.
    pub(super) fn add_workaround(&mut self, record: &JournalRecord) {
        let called = self.call_count;
        let recent = |failure: &&mut Failure| {
            called.saturating_sub(failure.call_number) <= MAX_CALLS_TO_WORKAROUND
                && failure.working_alternative.is_empty()
        };
        for failure in self.failures.iter_mut().filter(recent) {
            if obstacle_of_error(&failure.error).is_some()
                && let Some(worked) = alternative_in_command(&record.command, failure)
            {
                failure.working_alternative = worked;
            }
        }
    }
}

fn trap_of_failures(failures: &[&Failure]) -> Option<Trap> {
    let last = failures.last()?;
    let worked = failures.iter().rev().find(|failure| !failure.working_alternative.is_empty());
    let is_tool = !last.is_command;
    let times: u32 = failures.iter().map(|failure| failure.occurrences).sum();
    (times > 1 || worked.is_some()).then(|| Trap {
        what: if is_tool {
            last.tool.clone()
        } else {
            failing_part_of_command(worked.unwrap_or(last)).unwrap_or_default()
        },
        why: obstacle_line(worked.unwrap_or(last)).to_owned(),
        worked: match worked {
            Some(failure) => failure.working_alternative.clone(),
            None if is_tool && last.error.contains("has not been read yet") => "reading it first".to_owned(),
            None => String::new(),
        },
        times,
        record: last.record,
    })
}

/// Returns a key that is the same for failures of one kind, or `None` if the failure is not of a kind that will
/// recur.
fn trap_key(failure: &Failure) -> Option<String> {
    if HARNESS_NOTES.iter().any(|trivia| failure.error.contains(trivia)) {
        return None;
    }
    let way = obstacle_of_error(&failure.error)?;
    if failure.has_failed_tests && !is_wrong_call_of_tests(failure, way) {
        return None;
    }
    // Tool calls are grouped by tool, and commands by program.
    let who = if failure.is_command {
        program_of_part(&failing_part_of_command(failure)?)
    } else {
        failure.tool.clone()
    };
    Some(format!("{who}\u{1}{way}"))
}

/// Returns whether tests failed because they were called in the wrong way: the command names a module that does not
/// exist, or another program, such as `.venv/bin/python`, found the module. Otherwise the tested code caused the error.
fn is_wrong_call_of_tests(failure: &Failure, obstacle: &str) -> bool {
    if !MISSING_MODULE_WORDS.contains(&obstacle) {
        return false;
    }
    let called = failing_part_of_command(failure).unwrap_or_default();
    let module = obstacle_line(failure).split(['\'', '"']).nth(1);
    let names_module = module.is_some_and(|module| called.split_whitespace().any(|word| word == module));
    let first_word = |command: &str| command.split_whitespace().next().map(str::to_owned);
    let worked = first_word(&failure.working_alternative);
    names_module || worked.is_some() && worked != first_word(&called)
}

fn obstacle_of_error(error: &str) -> Option<&'static str> {
    OBSTACLE_WORDS.iter().find(|way| error.contains(**way)).copied()
}

fn obstacle_line(failure: &Failure) -> &str {
    let mut lines = failure.error.lines();
    let told = obstacle_of_error(&failure.error).and_then(|way| lines.find(|line| line.contains(way)));
    told.unwrap_or_else(|| failure::first_reason_line(&failure.error))
}

/// Returns the part of a command line that the error is about, in a form that can be run again. Returns `None` if the
/// part is unknown.
fn failing_part_of_command(failure: &Failure) -> Option<String> {
    let line = obstacle_line(failure);
    let parts = run::commands_to_repeat(&failure.command_or_file);
    if line.to_ascii_lowercase().contains("no such file or directory") && line.contains("cd:") {
        let folder = line.split([' ', ':']).find(|word| word.starts_with('/'));
        return folder.map(|folder| format!("cd {folder}"));
    }
    if let Some((before, after)) = line.split_once("command not found") {
        let name = match after.trim_start_matches(':').trim() {
            // The line has the form `bash: line 1: foo: command not found`.
            "" => before.trim_end_matches([':', ' ']).rsplit([' ', ':']).next().unwrap_or_default(),
            name => name,
        };
        return parts.into_iter().find(|part| !name.is_empty() && names_program(part, name));
    }
    // The shell itself reported the error, because the variable that should contain the program's name was empty.
    if line.trim_end().ends_with("permission denied:") {
        return None;
    }
    match parts.as_slice() {
        [part] => Some(part.clone()),
        parts => parts.iter().find(|part| names_program(line, &program_of_part(part))).cloned(),
    }
}

/// Returns the program in a part of a command line. For `cd`, returns the whole part, including the folder.
fn program_of_part(part: &str) -> String {
    if part.starts_with("cd ") {
        return part.to_owned();
    }
    part.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned()
}

/// Returns whether one of the words is this program's name, with or without a path.
fn names_program(words: &str, name: &str) -> bool {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ':' | '"' | '\'' | '`');
    words.split(is_end).any(|word| word.rsplit('/').next() == Some(name))
}

/// Returns the part of a command line that is an alternative to the failed part: a different call to the same program
/// with the same subcommand.
fn alternative_in_command(command: &str, failure: &Failure) -> Option<String> {
    if !failure.is_command {
        return None;
    }
    let failed = failing_part_of_command(failure)?;
    let name = program_of_part(&failed);
    // `git checkout` is not an alternative to `git push`, and `lint --version` is not an alternative to `lint run`.
    let subcommand = |part: &str| {
        let mut words =
            part.split_whitespace().skip_while(|word| word.rsplit('/').next() != Some(name.as_str()));
        let second = words.nth(1).unwrap_or_default();
        let is_plain = second.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
        if is_plain && !second.starts_with('-') { second.to_owned() } else { String::new() }
    };
    let wanted = subcommand(&failed);
    let mut parts = run::commands_to_repeat(command).into_iter();
    parts.find(|part| *part != failed && names_program(part, &name) && subcommand(part) == wanted)
}
