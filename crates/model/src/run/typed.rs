//! The forms in which a command line is shown: as it was typed, or without the parts that only shape its output.

use std::ops::Range;

use super::check::check_of_step;
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
    let mut typed = text_on_one_line(command, begin, &steps[first..]);
    let (tail, rest) =
        command[end_of_step(last)..].split_once('\n').unwrap_or((&command[end_of_step(last)..], ""));
    typed.push_str(without_comment(tail).trim_end());
    if last.join_to_next == StepJoin::Document && !rest.trim().is_empty() {
        typed.push_str(" …");
    }
    typed.trim().to_owned()
}

/// Returns the command that reruns a command line. It is a contiguous part of the line. Echoes and calls to `thru`
/// are left out at both ends. A final `exit`, redirections and output filters are left out at the end. Commands in
/// the middle are kept, so that the result is a part of the line exactly as it was run.
pub fn command_to_repeat(command: &str) -> String {
    let expanded = expand_shells(command);
    let command = without_changes_around_checks(&expanded);
    let steps = shell::command_steps(command);
    let Some(kept) = steps_to_repeat(&steps) else { return first_line(command).to_owned() };
    let kept = &steps[kept];
    let line =
        text_on_one_line(command, kept[0].word_ranges[0].start, kept) + input_redirection(command, kept);
    if has_balanced_parentheses(&line) { line } else { command_as_typed(command) }
}

/// Returns whether an exit code of zero shows that every part of [`command_to_repeat`] has succeeded. It does not
/// show this if a filter or an `echo` after the command determines the exit code.
pub fn does_zero_exit_prove_repeated_command(command: &str) -> bool {
    let expanded = expand_shells(command);
    let command = without_changes_around_checks(&expanded);
    let steps = shell::command_steps(command);
    let Some(kept) = steps_to_repeat(&steps) else { return false };
    let has_pipefail =
        steps.iter().any(|step| step.words[0] == "set" && step.words.iter().any(|word| word == "pipefail"));
    let is_compound = |step: &CommandStep| WORDS_OF_COMPOUND_COMMANDS.contains(&step.words[0].as_str());
    let passes_on_failure = |(at, step): (usize, &CommandStep)| match step.join_to_next {
        StepJoin::And | StepJoin::End => true,
        // A pipe inside the repeated command does not matter: it hides a failure in the same way when the command is
        // repeated.
        StepJoin::Pipe => has_pipefail || at + 1 < kept.end,
        StepJoin::Or | StepJoin::Next | StepJoin::Background | StepJoin::Document => false,
    };
    !steps.iter().any(is_compound)
        && (kept.start..steps.len()).map(|at| (at, &steps[at])).all(passes_on_failure)
}

/// Returns the range of the steps that [`command_to_repeat`] quotes. Returns `None` if there is nothing to repeat.
fn steps_to_repeat(steps: &[CommandStep]) -> Option<Range<usize>> {
    let pipelines = pipelines_of_steps(steps);
    let is_dropped = |pipeline: &Range<usize>| {
        let steps = &steps[pipeline.clone()];
        steps.iter().all(only_prints_or_waits) || steps.iter().any(changes_records)
    };
    let is_left_out_before = |pipeline: &&Range<usize>| {
        is_dropped(pipeline) || pipeline.len() == 1 && is_entered_folder(&steps[pipeline.start])
    };
    let first = pipelines.iter().find(|pipeline| !is_left_out_before(pipeline))?;
    let last = pipelines.iter().rfind(|pipeline| !is_dropped(pipeline))?;
    let is_filter = |step: &&CommandStep| OUTPUT_FILTERS.contains(&step.words[0].as_str());
    let filters = steps[last.start + 1..last.end].iter().rev().take_while(is_filter).count();
    Some(first.start..last.end - filters)
}

/// Removes the parts of a line that change files or commit, if they come before or after a check. A reader who runs the
/// line again wants `npm test`, not `npm test && git add -A && git commit -m x`. If there are checks on both sides of a
/// change, only those after it are kept.
fn without_changes_around_checks(command: &str) -> &str {
    let steps = shell::command_steps(command);
    let is_compound = |step: &CommandStep| WORDS_OF_COMPOUND_COMMANDS.contains(&step.words[0].as_str());
    if shell::has_parentheses(command) || steps.iter().any(is_compound) {
        return command;
    }
    let pipelines = pipelines_of_steps(&steps);
    let has_check = |pipeline: &Range<usize>| {
        steps[pipeline.clone()].iter().any(|step| check_of_step(command, step, "").is_some())
    };
    let Some(checked) = pipelines.iter().rposition(has_check) else { return command };
    let is_change = |pipeline: &Range<usize>| changes_only_files(command, &steps, pipeline.clone());
    let is_committed = |pipeline: &Range<usize>| {
        steps[pipeline.clone()].iter().all(commits_or_pushes) || is_change(pipeline)
    };
    let first = pipelines[..checked].iter().rposition(is_change).map_or(0, |change| change + 1);
    let end = pipelines[checked..].iter().position(is_committed).map_or(pipelines.len(), |at| checked + at);
    if first == 0 && end == pipelines.len() {
        return command;
    }
    let is_cd = |pipeline: &Range<usize>| pipeline.len() == 1 && is_entered_folder(&steps[pipeline.start]);
    // The folder that is shown next to the command is the one at the start of the line.
    let start = pipelines[..first].iter().position(|pipeline| !is_cd(pipeline) && !is_change(pipeline));
    let enters_folder_later = start.is_some_and(|start| pipelines[start..first].iter().any(is_cd));
    if enters_folder_later {
        return command;
    }
    let begin = if first == 0 { 0 } else { steps[pipelines[first].start].word_ranges[0].start };
    let end = pipelines.get(end).map_or(command.len(), |next| steps[next.start].word_ranges[0].start);
    command[begin..end].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '&' | ';' | '|'))
}

/// Returns the ranges of the steps that are joined by pipes.
fn pipelines_of_steps(steps: &[CommandStep]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, step) in steps.iter().enumerate() {
        if step.join_to_next != StepJoin::Pipe || at + 1 == steps.len() {
            found.push(start..at + 1);
            start = at + 1;
        }
    }
    found
}

/// Returns whether a pipeline only changes files, as `sed -i` and `printf x >> file` do.
fn changes_only_files(command: &str, steps: &[CommandStep], pipeline: Range<usize>) -> bool {
    let end = steps.get(pipeline.end).map_or(command.len(), |next| next.word_ranges[0].start);
    let prints = |step: &CommandStep| only_prints_or_waits(step) || step.words[0] == "cat";
    match &steps[pipeline] {
        [step] => changes_files(step) || prints(step) && redirects_to_file(&command[end_of_step(step)..end]),
        [before @ .., last] => before.iter().all(prints) && last.words[0] == "tee",
        [] => false,
    }
}

/// Returns whether the text after a command's words redirects its output to a file.
fn redirects_to_file(text: &str) -> bool {
    text.match_indices('>').any(|(at, _)| {
        let target = text[at + 1..].trim_start();
        !target.starts_with(['&', '>']) && !target.starts_with("/dev/")
    })
}

/// Returns whether a step only changes files, and hardly ever fails.
pub(super) fn changes_files(step: &CommandStep) -> bool {
    let has_flag = |flag: &str| step.words.iter().any(|word| word.starts_with(flag));
    let has_short_flag = |flag: char| {
        let is_short = |word: &&String| word.starts_with('-') && !word.starts_with("--");
        step.words.iter().filter(is_short).any(|word| word.contains(flag))
    };
    match step.words[0].as_str() {
        "rm" | "mv" | "cp" | "mkdir" | "touch" | "chmod" | "ln" | "truncate" | "patch" => true,
        "sed" => has_flag("-i") || has_flag("--in-place"),
        "perl" | "ruby" => has_short_flag('i'),
        // `git checkout BRANCH` and `git stash` change what is checked, so they are not left out.
        "git" => match step.words.get(1).map_or("", String::as_str) {
            "add" | "apply" | "restore" | "rm" | "mv" => true,
            "checkout" => step.words.iter().any(|word| word == "--"),
            _ => false,
        },
        _ => false,
    }
}

fn commits_or_pushes(step: &CommandStep) -> bool {
    step.words[0] == "git" && step.words.get(1).is_some_and(|word| matches!(word.as_str(), "commit" | "push"))
}

/// Returns the text from `begin` to the last word of the steps, without line breaks.
fn text_on_one_line(command: &str, begin: usize, steps: &[CommandStep]) -> String {
    let mut text = String::new();
    let mut at = begin;
    for pair in steps.windows(2) {
        let (end, start) = (end_of_step(&pair[0]), pair[1].word_ranges[0].start);
        text.push_str(&command[at..end]);
        text.push_str(&separator_on_one_line(&command[end..start], &pair[0]));
        at = start;
    }
    text.push_str(&command[at..steps.last().map_or(at, end_of_step)]);
    // A line break within quotes is kept, but one after a backslash is removed.
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |joined, line| joined.trim_end().to_owned() + " " + line.trim_start())
}

/// Returns the text up to the last input redirection after the last step, such as ` < /dev/null`. The command would
/// wait for input without it. Returns an empty text if there is none.
fn input_redirection<'a>(command: &'a str, steps: &[CommandStep]) -> &'a str {
    let Some(last) = steps.last().filter(|last| last.join_to_next != StepJoin::Document) else { return "" };
    let text = &command[end_of_step(last)..];
    shell::end_of_input_redirection(text).map_or("", |end| &text[..end])
}

/// Returns a check's command as it was written, with its input redirection and with the commands that are piped into
/// it. If another check is among the piped commands, they are left out, because that check has a result of its own.
pub(super) fn with_input(command: &str, steps: &[CommandStep], at: usize, own: String) -> String {
    let feeding = steps[..at].iter().rev().take_while(|step| step.join_to_next == StepJoin::Pipe).count();
    let pipeline = &steps[at - feeding..=at];
    let input = input_redirection(command, pipeline);
    let is_check = |step: &CommandStep| check_of_step(command, step, "").is_some();
    if feeding == 0 || pipeline[..feeding].iter().any(is_check) {
        return own + input;
    }
    text_on_one_line(command, pipeline[0].word_ranges[0].start, pipeline) + input
}

fn has_balanced_parentheses(text: &str) -> bool {
    let mut depth = 0_i32;
    text.bytes().all(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        depth >= 0
    }) && depth == 0
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
