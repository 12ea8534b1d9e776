//! What of a session goes into a packet, and in which words.

use super::Check;
use super::compose::{Git, Material, NONE};
use crate::checks::{self, Sort};
use crate::digest::{CommandUse, Digest, FileUse, Goal, Prompt};
use crate::prompt;
use crate::render::code;
use crate::text::count;

/// Suggested files, besides those that were edited: all of these are named.
const READ_FILES: usize = 25;

/// Every file that was edited, and the best of those that were only read, in the order of their worth.
pub fn suggested<'a>(material: &Material<'a>) -> Vec<&'a FileUse> {
    let files = &material.digest.files;
    // A folder that was searched, and a name from a subfolder that stands here whole, say nothing that is not said.
    let is_folder = |file: &FileUse| files.iter().any(|other| is_below(&other.path, &file.path));
    let is_tail = |file: &FileUse| files.iter().any(|other| is_below_by_end(&other.path, &file.path));
    let is_down =
        |file: &FileUse| material.ignored.contains(&file.path) || material.gone.contains(&file.path);
    let mut ranked = material.digest.ranked_files();
    ranked.sort_by_key(|file| is_down(file)); // stable: the rest keeps its order
    let mut read = 0;
    ranked.retain(|file| {
        let only_guessed = file.edits == 0 && file.reads == 0;
        let is_noise = is_tail(file) || is_down(file) || file.outside;
        if file.edits == 0 && is_folder(file) || only_guessed && is_noise {
            return false;
        }
        let only_read = file.edits == 0;
        read += usize::from(only_read);
        !only_read || read <= READ_FILES && !is_down(file)
    });
    ranked
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn is_below_by_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.ends_with('/'))
}

/// The last run of a check.
#[derive(Debug)]
pub struct Run<'d> {
    pub sort: Sort,
    /// As somebody would type it again.
    pub command: String,
    used: &'d CommandUse,
    ended: Ended,
    /// A file was edited after it.
    edited_since: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Passed,
    Failed,
    /// A pipe hid it, and nothing it printed says.
    Unknown,
}

impl Run<'_> {
    pub fn check(&self) -> Check {
        Check {
            command: self.command.clone(),
            ok: self.ended == Ended::Passed,
            unknown: self.ended == Ended::Unknown,
            edited_since: self.edited_since,
            at: self.used.at.clone(),
        }
    }

    /// `passed at …, before the last edits`, `failed (exit 2) at …: `why``.
    pub fn words(&self) -> String {
        let how = match self.ended {
            Ended::Passed => "passed".to_owned(),
            Ended::Failed => {
                self.used.exit.map_or("failed".to_owned(), |exit| format!("failed (exit {exit})"))
            }
            Ended::Unknown => "ran".to_owned(),
        };
        let at = if self.used.at.is_empty() { String::new() } else { format!(" at {}", self.used.at) };
        let since = if self.edited_since { ", before the last edits" } else { "" };
        let why = match self.ended {
            Ended::Passed => self.used.result.as_str(),
            Ended::Failed => first_line(&self.used.error),
            Ended::Unknown => "",
        };
        let why = if why.is_empty() { String::new() } else { format!(": {}", code(why, 200)) };
        format!("{how}{at}{since}{why}")
    }

    /// Its own words say that there is no such thing here.
    pub fn is_missing(&self) -> bool {
        const MISSING: [&str; 8] = [
            "No rule to make target",
            "command not found",
            "Missing script",
            "no such command",
            "no such file or directory",
            "no task",
            "unknown command",
            "Unknown task",
        ];
        self.ended == Ended::Failed && MISSING.iter().any(|words| self.used.error.contains(words))
    }
}

/// The last run of each check: tests first, newest first.
pub fn runs(digest: &Digest) -> Vec<Run<'_>> {
    let edited = digest.files.iter().filter(|file| file.edits > 0).map(|file| file.edited_at).max();
    let mut found: Vec<Run> = Vec::new();
    for used in digest.commands.iter().rev() {
        let command = runnable(used);
        let Some(sort) = checks::sort(&command) else { continue };
        if found.iter().any(|known| is_same(&known.command, &command)) {
            continue;
        }
        let edited_since = edited.is_some_and(|edited| edited > used.last);
        found.push(Run { sort, command, used, ended: ended(used), edited_since });
    }
    found.sort_by_key(|run| run.sort);
    found
}

/// Those that show whether the work is done: whole runs, or where no test run was whole, the parts; nothing that does not
/// exist.
pub fn worth_running<'r, 'd>(runs: &'r [Run<'d>]) -> impl Iterator<Item = &'r Run<'d>> {
    let exists = |run: &&'r Run<'d>| !run.is_missing();
    let tested = runs.iter().any(|run| run.sort == Sort::Test && !is_narrow(&run.command));
    let broad = runs.iter().filter(|run| !is_narrow(&run.command));
    let narrow = runs.iter().filter(move |run| !tested && run.sort == Sort::Test && is_narrow(&run.command));
    broad.chain(narrow).filter(exists)
}

pub fn is_same(one: &str, other: &str) -> bool {
    checks::core(one) == checks::core(other)
}

/// Whether the second need not be run where the first passes.
pub fn covers(wide: &str, narrow: &str) -> bool {
    is_same(wide, narrow) || checks::covers(wide, Some(true), narrow)
}

/// Only some of the tests: what is right for finding a mistake is too little for being done.
fn is_narrow(command: &str) -> bool {
    [" -run ", " -k ", "::", " --filter", " -t "].iter().any(|word| command.contains(word))
}

fn ended(used: &CommandUse) -> Ended {
    let hides = [" | ", "||", ";"].iter().any(|sign| used.command.contains(sign));
    match (used.ok, used.passed) {
        (false, _) | (_, Some(false)) => Ended::Failed,
        (true, Some(true)) => Ended::Passed,
        (true, None) if hides => Ended::Unknown,
        (true, None) => Ended::Passed,
    }
}

/// The command as somebody would type it again: one line, without comments, without a way to a folder of one machine, and
/// without what only shortened its output.
pub fn runnable(used: &CommandUse) -> String {
    let mut lines = used.command.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default();
    let mut line = line;
    while let Some((_, rest)) = line.strip_prefix("cd /").and_then(|rest| rest.split_once("&&")) {
        line = rest.trim_start();
    }
    let cut = [" 2>&1", " | "].iter().filter_map(|sign| line.find(sign)).min().unwrap_or(line.len());
    line[..cut].trim_end().to_owned()
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// What the work is about in the user's own words, or in the agent's where the user only agreed.
pub fn goal_words<'d>(goal: &Goal<'d>) -> Option<&'d str> {
    let newest = goal.newest?;
    let task = goal.task.map(|task| task.text.as_str());
    match (newest.sort(), goal.accepted) {
        (prompt::Sort::Task, _) => Some(&newest.text),
        (prompt::Sort::Approval, Some(accepted)) => Some(&accepted.text),
        (_, accepted) => task.or(accepted.map(|said| said.text.as_str())).or(Some(&newest.text)),
    }
}

/// Checks that the user's own words name as commands, in the order they stand there: `` `make test` ``, or a line of a
/// block.
pub fn demanded(goal: &Goal) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for prompt in [goal.newest, goal.task].into_iter().flatten() {
        for command in commands_in(&prompt.text) {
            if checks::sort(command).is_some() && !found.iter().any(|known| covers(known, command)) {
                found.push(command.to_owned());
            }
        }
    }
    found
}

/// Words between two back quotes, and the lines of fenced blocks.
fn commands_in(text: &str) -> Vec<&str> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            found.push(line.trim_start_matches("$ "));
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    // A sentence or a piece of code is no command line.
    found.retain(|words| (3..=120).contains(&words.len()) && !words.starts_with('#') && !words.contains('('));
    found
}

pub fn git_words(git: &Git) -> String {
    let branch = if git.branch.is_empty() {
        "no branch".to_owned()
    } else {
        format!("branch {}", code(&git.branch, 100))
    };
    let head = git.head.get(..10).unwrap_or(&git.head);
    let dirty = match git.dirty {
        None => String::new(),
        Some(0) => ", nothing uncommitted".to_owned(),
        Some(n) => format!(", {} uncommitted", count(n, "file")),
    };
    let at = if head.is_empty() { ", before the first commit".to_owned() } else { format!(" at {head}") };
    format!("{branch}{at}{dirty}")
}

pub fn at(prompt: &Prompt) -> String {
    if prompt.at.is_empty() { String::new() } else { format!(", {}", prompt.at) }
}

pub fn list(text: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        text.push_str(&format!("\n{title}:\n\n"));
        lines.for_each(|line| text.push_str(&format!("- {line}\n")));
    }
}

pub fn or_none(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
}
