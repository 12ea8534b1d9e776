//! What of a session goes into a packet, and in which words.

use super::compose::{Git, Material, NONE};
use crate::digest::{CheckUse, Digest, Failure, FileUse, Prompt};
use crate::render::{code, width};
use crate::run::{self, Ended};
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
pub fn is_narrow(used: &CheckUse) -> bool {
    run::checks(&used.run, "").first().is_some_and(run::is_narrow)
}

/// The last run of each test, build and lint: tests first, newest first.
pub fn runs(digest: &Digest) -> Vec<&CheckUse> {
    let mut runs = digest.check_runs();
    runs.retain(|used| used.sort.is_check());
    runs
}

/// The check as somebody would type it again, at the top of the checkout.
pub fn shown(used: &CheckUse) -> String {
    in_folder(&used.folder, &used.run)
}

fn in_folder(folder: &str, command: &str) -> String {
    match folder.is_empty() || folder.starts_with('/') {
        true => command.to_owned(),
        false => format!("cd {folder} && {command}"),
    }
}

pub fn ended(used: &CheckUse) -> String {
    let how = match (used.ended, used.exit) {
        (Ended::Failed, Some(exit)) => format!("failed (exit {exit})"),
        (Ended::Unknown, _) => "ran; how it ended is not known".to_owned(),
        (ended, _) => ended.name().to_owned(),
    };
    let words = if used.result.is_empty() { String::new() } else { format!(": {}", code(&used.result, 200)) };
    let at = if used.at.is_empty() { String::new() } else { format!(" at {}", used.at) };
    format!("{how}{at}{words}")
}

pub fn check_words(used: &CheckUse) -> String {
    format!("{} {}", code(&shown(used), 200), ended(used))
}

pub fn failing_words(failure: &Failure) -> String {
    let exit = failure.exit.filter(|exit| *exit != 0).map_or(String::new(), |exit| format!(" (exit {exit})"));
    let why = crate::failure::first_line(&failure.error).unwrap_or_default();
    let why = if why.is_empty() { String::new() } else { format!(": {}", code(why, 200)) };
    format!("{}{exit}{why}", code(&in_folder(&failure.folder, &failure.run()), 160))
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
