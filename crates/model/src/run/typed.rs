//! The forms in which a command line is shown: as it was typed, or without the parts that only shape its output.

use super::check::checks_of_command;
use super::open::is_thru_step;
use super::script::expand_shells;
use crate::shell::{self, CommandStep, StepJoin};

/// Words after which a line break does not end a command.
const WORDS_CONTINUING_ON_NEXT_LINE: &[&str] = &["do", "then", "else", "{", "in"];

/// Programs that only filter or format the output piped into them.
const OUTPUT_FILTERS: &[&str] = &[
    "tail", "head", "cat", "tee", "less", "more", "grep", "egrep", "rg", "sed", "awk", "sort", "uniq", "wc",
    "cut", "tr", "nl", "jq", "column", "fold",
];

/// Words that begin or continue a compound command, from which no part can be left out.
const WORDS_OF_COMPOUND_COMMANDS: &[&str] = &[
    "for", "while", "until", "if", "case", "do", "then", "else", "elif", "fi", "done", "esac", "{", "}",
    "function",
];

/// Returns a command line as it was typed, on one line. A `cd` at the start is left out, because the folder is shown
/// next to the command. A here-document is cut off. Commands before and after a check are left out too if they only
/// change files or commit.
pub fn command_as_typed(command: &str) -> String {
    let expanded = expand_shells(command);
    let command = without_changes_around_checks(&expanded);
    let steps = shell::command_steps(command);
    let first = steps.iter().position(|step| !is_entered_folder(step)).unwrap_or(0);
    let (Some(first_step), Some(last)) = (steps.get(first), steps.last()) else {
        return first_line(command).to_owned();
    };
    let begin = match first.checked_sub(1) {
        // Start right after the operator that follows the `cd`, because a parenthesis before the next command belongs
        // to that command.
        Some(cd) => end_of_step(&steps[cd]) + length_of_operator(&command[end_of_step(&steps[cd])..]),
        None => start_of_first_command(command, first_step),
    };
    let mut typed = String::new();
    let mut at = begin;
    for (step, next) in steps[first..].iter().zip(&steps[first + 1..]) {
        let (end, start) = (end_of_step(step), next.word_ranges[0].start);
        typed.push_str(&command[at..end]);
        typed.push_str(&separator_on_one_line(&command[end..start], step));
        at = start;
    }
    let end = end_of_step(last);
    typed.push_str(&command[at..end]);
    let (tail, rest) = command[end..].split_once('\n').unwrap_or((&command[end..], ""));
    typed.push_str(without_comment(tail).trim_end());
    if last.join_to_next == StepJoin::Document && !rest.trim().is_empty() {
        typed.push_str(" …");
    }
    typed.replace("\\\n", " ").trim().to_owned()
}

/// Returns the command that reruns a command line without redirections, echoes, a final `exit`, output filters and
/// calls to `thru`. The remaining commands are joined by the same operators as before.
pub fn command_to_repeat(command: &str) -> String {
    let expanded = expand_shells(command);
    let command = without_changes_around_checks(&expanded);
    let steps = shell::command_steps(command);
    let mut line = String::new();
    let mut joins: Vec<StepJoin> = Vec::new();
    for step in &steps {
        let piped = joins.last() == Some(&StepJoin::Pipe);
        let is_dropped = piped && OUTPUT_FILTERS.contains(&step.words[0].as_str())
            || only_prints_or_waits(step)
            || changes_records(step)
            || line.is_empty() && is_entered_folder(step);
        if !is_dropped {
            if !line.is_empty() {
                line.push_str(operator_between(&joins));
            }
            line.push_str(&words_as_written(command, step, 0));
            joins.clear();
        }
        joins.push(step.join_to_next);
    }
    if line.is_empty() { first_line(command).to_owned() } else { line }
}

/// Removes commands that change files or commit from a line, if they come before or after a check. A reader who runs
/// the line again wants `npm test`, not `npm test && git add -A && git commit -m x`.
fn without_changes_around_checks(command: &str) -> &str {
    let steps = shell::command_steps(command);
    let is_compound = |step: &CommandStep| WORDS_OF_COMPOUND_COMMANDS.contains(&step.words[0].as_str());
    if command.contains(['(', ')']) || steps.iter().any(is_compound) {
        return command;
    }
    let is_before = |step: &CommandStep| {
        changes_files(step) && matches!(step.join_to_next, StepJoin::And | StepJoin::Next)
            || is_entered_folder(step)
    };
    let leading = steps.iter().take_while(|step| is_before(step)).count();
    let trailing =
        steps.iter().rev().take_while(|step| changes_files(step) || commits_or_pushes(step)).count();
    let leading = if steps.iter().take(leading).any(changes_files) { leading } else { 0 };
    let (Some(first), Some(end)) = (steps.get(leading), steps.len().checked_sub(trailing)) else {
        return command;
    };
    // A pipe into the last commands means that these commands use the output.
    let is_piped = end > 0 && end < steps.len() && steps[end - 1].join_to_next == StepJoin::Pipe;
    if leading + trailing == 0 || end <= leading || is_piped {
        return command;
    }
    let begin = if leading == 0 { 0 } else { first.word_ranges[0].start };
    let end = steps.get(end).map_or(command.len(), |next| next.word_ranges[0].start);
    let kept =
        command[begin..end].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '&' | ';' | '|'));
    if checks_of_command(kept, "").is_empty() { command } else { kept }
}

/// Returns whether a step only changes files, and hardly ever fails.
fn changes_files(step: &CommandStep) -> bool {
    let has_flag = |flag: &str| step.words.iter().any(|word| word.starts_with(flag));
    match step.words[0].as_str() {
        "rm" | "mv" | "cp" | "mkdir" | "touch" | "chmod" | "ln" => true,
        "sed" => has_flag("-i") || has_flag("--in-place"),
        "perl" => has_flag("-i") || has_flag("-pi"),
        "git" => step.words.get(1).is_some_and(|word| word == "add"),
        _ => false,
    }
}

fn commits_or_pushes(step: &CommandStep) -> bool {
    step.words[0] == "git" && step.words.get(1).is_some_and(|word| matches!(word.as_str(), "commit" | "push"))
}

/// Returns a step's words as they were written, starting with the word at index `from`.
pub(super) fn words_as_written(command: &str, step: &CommandStep, from: usize) -> String {
    let words = step.word_ranges.iter().skip(from).map(|span| &command[span.clone()]);
    // A line break within quotes is kept, but one after a backslash is removed.
    let words = words.map(|word| word.replace("\\\n", "")).filter(|word| !word.trim().is_empty());
    words.collect::<Vec<_>>().join(" ")
}

pub(super) fn is_cd_step(step: &CommandStep) -> bool {
    matches!(step.words[0].as_str(), "cd" | "pushd" | "popd")
}

pub(super) fn only_prints_or_waits(step: &CommandStep) -> bool {
    matches!(step.words[0].as_str(), "echo" | "printf" | "true" | ":" | "sleep" | "set" | "exit")
}

/// Returns whether a step calls `thru`, for example to tick off a task. Repeating it would change the records once more.
/// `thru evidence run -- make test` is different, because it runs a check.
fn changes_records(step: &CommandStep) -> bool {
    is_thru_step(step) && !step.words.iter().any(|word| word == "--")
}

fn is_entered_folder(step: &CommandStep) -> bool {
    is_cd_step(step) && matches!(step.join_to_next, StepJoin::And | StepJoin::Next)
}

/// Returns the operator between two commands. `joins` contains the operators that were originally between them,
/// including those next to commands that were left out.
fn operator_between(joins: &[StepJoin]) -> &'static str {
    let all = |wanted: StepJoin| joins.iter().all(|join| *join == wanted || *join == StepJoin::Pipe);
    match joins {
        [StepJoin::Pipe] => " | ",
        [StepJoin::Background] => " & ",
        _ if all(StepJoin::And) => " && ",
        _ if all(StepJoin::Or) => " || ",
        _ => "; ",
    }
}

/// Returns the text between two commands, without line breaks.
fn separator_on_one_line(between: &str, step: &CommandStep) -> String {
    let Some((before, _)) = between.split_once('\n') else { return between.to_owned() };
    let before = without_comment(before).trim_end();
    // The following lines are kept, because they may contain the opening parenthesis of a group.
    let after: String =
        between.lines().skip(1).map(|line| without_comment(line).trim()).collect::<Vec<_>>().join(" ");
    let opens = step.words.last().is_some_and(|word| WORDS_CONTINUING_ON_NEXT_LINE.contains(&word.as_str()));
    let is_joined = before.ends_with(['&', '|', ';', '(']) || before.ends_with('\\') || opens;
    let mark = if is_joined || step.join_to_next != StepJoin::Next { "" } else { ";" };
    format!("{}{mark} {after}", before.trim_end_matches('\\'))
}

/// Returns where the first command begins, including an opening parenthesis and excluding comment lines.
fn start_of_first_command(command: &str, first: &CommandStep) -> usize {
    let start = first.word_ranges[0].start;
    command[..start].rfind('\n').map_or(0, |line_end| line_end + 1)
}

fn end_of_step(step: &CommandStep) -> usize {
    step.word_ranges.last().map_or(0, |span| span.end)
}

/// Returns the length of the text up to the end of the first operator, which is `&&`, `;` or a line break.
fn length_of_operator(text: &str) -> usize {
    match text.find(['&', ';', '\n']) {
        Some(at) if text[at..].starts_with("&&") => at + 2,
        Some(at) => at + 1,
        None => 0,
    }
}

fn without_comment(text: &str) -> &str {
    match text.trim_start().starts_with('#') {
        true => "",
        false => text.split_once(" #").map_or(text, |(before, _)| before),
    }
}

fn first_line(command: &str) -> &str {
    let mut lines = command.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default()
}

#[cfg(test)]
#[path = "typed_tests.rs"]
mod tests;
