//! Decides whether a command may have changed files that are not mentioned in its text. The files that are mentioned
//! are found by [`crate::shell::paths_in_command`].

use super::CommandKind;
use super::check::{is_python, kind_of_command, strip_assignments_and_wrappers};
use super::open::{git_subcommand, is_read_only};
use super::script::expand_nested_shells;
use crate::shell::{self, CommandStep, StepJoin};

/// Options that make a check change files.
const WRITING_OPTIONS: [&str; 9] = [
    "--fix",
    "--write",
    "-w",
    "-u",
    "--update",
    "--update-snapshots",
    "--updateSnapshot",
    "--snapshot-update",
    "--bless",
];

/// Returns whether a command line may have changed files of the project that are not mentioned in its text. If in
/// doubt, returns true. Files that tests and linters write do not count.
pub fn may_change_unnamed_files(command: &str) -> bool {
    let command = &*expand_nested_shells(command.into());
    shell::writes_unnamed_file(command)
        || shell::command_steps(command).iter().any(|step| {
            // The text after a here-document is not parsed, so it may change any file.
            step.join_to_next == StepJoin::Document || may_step_change_unnamed(command, step)
        })
}

fn may_step_change_unnamed(command: &str, step: &CommandStep) -> bool {
    let words = strip_assignments_and_wrappers(&step.words);
    let Some((program, rest)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or(program);
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    match program {
        "sed" | "gsed" | "perl" | "ruby"
            if rest.iter().any(|word| shell::is_in_place_option(program, word)) =>
        {
            // The first operand is the script, with or without an option such as `-e` before it.
            !names_all_operands(command, step, words, 1)
        }
        "sed" | "gsed" => false,
        "touch" | "tee" | "truncate" | "chmod" | "chown" | "rm" | "unlink" | "mv" | "cp" | "ln" => {
            let before = usize::from(matches!(program, "chmod" | "chown"));
            !names_all_operands(command, step, words, before)
        }
        "mkdir" | "rmdir" | "for" | "while" | "if" | "fi" | "done" | "exit" | "return" => false,
        "find" => has(&["-delete", "-exec", "-execdir", "-ok", "-fprint"]),
        "xargs" => true,
        "curl" => has(&["-o", "-O", "--output", "--remote-name", "-OL", "-LO"]),
        "wget" => true,
        "git" => {
            !matches!(git_subcommand(rest), "add" | "commit" | "push" | "fetch" | "tag" | "branch")
                && (git_subcommand(rest) == "bisect" || !is_read_only(words))
        }
        "go" if has(&["mod", "generate", "fmt", "fix"]) => true,
        "bash" | "sh" | "zsh" | "node" | "php" if kind_of_command(words).is_none() => true,
        _ if (is_python(program) || matches!(program, "perl" | "ruby"))
            && kind_of_command(words).is_none() =>
        {
            !has(&["--version", "-V", "-v", "--help"])
        }
        _ => match kind_of_command(words) {
            Some(CommandKind::Test | CommandKind::Lint) => has(&WRITING_OPTIONS),
            // `cargo` and `go` write to their own folders. Other build tools write to folders that the project
            // configures, which may contain sources.
            Some(CommandKind::Build) => !matches!(program, "cargo" | "go"),
            Some(CommandKind::Format | CommandKind::Run) => true,
            None => !is_read_only(words),
        },
    }
}

/// Returns whether every file that the step changes is mentioned in the text. The number of leading operands that are not
/// files is passed as `other`.
fn names_all_operands(command: &str, step: &CommandStep, words: &[String], other: usize) -> bool {
    let operands = words.iter().skip(1).filter(|word| !word.starts_with('-')).count();
    let from = step.word_ranges[step.words.len() - words.len()].start;
    let to = step.word_ranges.last().map_or(from, |span| span.end);
    let mut named = shell::paths_in_command(&command[from..to]);
    // A file without an extension may be a Makefile. Unlike a change to a text file, a change to a Makefile may
    // affect any check.
    named.retain(|mention| mention.path.rsplit('/').next().is_some_and(|name| name.contains('.')));
    let changed = named.iter().any(|mention| mention.action.changes_file());
    changed && named.len() + other >= operands
}

#[cfg(test)]
#[path = "writes_tests.rs"]
mod tests;
