//! What of a session goes into a packet, and in which words.

use super::compose::{Git, Material, NONE};
use crate::checks::{self, Sort};
use crate::digest::{CommandUse, Digest, FileUse, Prompt};
use crate::render::{code, width};
use crate::text::count;

/// The prompt for whoever goes on has to be read in one go.
const PROMPT_CAP: usize = 2_500;

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
        if file.edits == 0 && is_folder(file) || only_guessed && (is_tail(file) || is_down(file)) {
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

/// Only some of the tests: what is right for finding a mistake is too little for being done.
pub fn is_narrow(command: &str) -> bool {
    [" -run ", " -k ", "::", " --filter", " -t "].iter().any(|word| command.contains(word))
}

/// The last run of each check: one entry a core, tests first, newest first.
pub fn runs(digest: &Digest) -> Vec<(Sort, &CommandUse)> {
    let mut found: Vec<(Sort, &CommandUse)> = Vec::new();
    for used in digest.commands.iter().rev() {
        let Some(sort) = checks::sort(&used.command) else { continue };
        let core = checks::core(&used.command);
        if !found.iter().any(|(_, known)| checks::core(&known.command) == core) {
            found.push((sort, used));
        }
    }
    found.sort_by_key(|(sort, _)| *sort);
    found
}

/// The command as somebody would type it again: one line, without what only shortened its output.
pub fn shown(used: &CommandUse) -> &str {
    let command = used.command.trim();
    let command = command.split("\n").next().unwrap_or(command);
    let cut = command.find(" 2>&1").or_else(|| command.find(" | ")).unwrap_or(command.len());
    command[..cut].trim_end()
}

pub fn ended(used: &CommandUse) -> String {
    let how = if used.ok {
        "passed".to_owned()
    } else {
        used.exit.map_or("failed".to_owned(), |exit| format!("failed (exit {exit})"))
    };
    let words = if used.ok { used.result.as_str() } else { first_line(&used.error) };
    let words = if words.is_empty() { String::new() } else { format!(": {}", code(words, 200)) };
    let at = if used.at.is_empty() { String::new() } else { format!(" at {}", used.at) };
    format!("{how}{at}{words}")
}

pub fn check_words(used: &CommandUse) -> String {
    format!("{} {}", code(&used.command, 200), ended(used))
}

pub fn failing_words(used: &CommandUse) -> String {
    let exit = used.exit.map_or(String::new(), |exit| format!(" (exit {exit})"));
    let why = first_line(&used.error);
    let why = if why.is_empty() { String::new() } else { format!(": {}", code(why, 200)) };
    format!("{}{exit}{why}", code(&used.command, 160))
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
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

pub fn bullets(title: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("\n- {line}")).collect();
    if lines.is_empty() { String::new() } else { format!("{title}{}", lines.concat()) }
}

pub fn or_none(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    if lines.is_empty() { NONE.to_owned() } else { lines.join("\n") }
}

/// Paragraphs by rank as long as there is room, printed in the order they were given.
pub fn fit(mut parts: Vec<(u8, usize, String)>) -> String {
    parts.sort_by_key(|(rank, place, _)| (*rank, *place));
    let mut used = 0;
    parts.retain(|(_, _, text)| {
        let cost = width(text) + 2;
        let fits = used + cost <= PROMPT_CAP;
        used += if fits { cost } else { 0 };
        fits
    });
    parts.sort_by_key(|(_, place, _)| *place);
    parts.into_iter().map(|(_, _, text)| text).collect::<Vec<_>>().join("\n\n")
}
