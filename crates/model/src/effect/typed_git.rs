//! What the text of a command line says about its git commands. Their results are unknown.

use serde::{Deserialize, Serialize};

use super::git::{subject_in_arguments, verb_arguments_and_folder};
use super::has_flag;
use super::parts::commands_run_by_line;

/// The git commands of a command line that may move HEAD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitCommandsOfLine {
    pub commits: Vec<TypedCommit>,
    /// Whether the line runs a git command other than `commit` that may move HEAD.
    pub may_move_head_otherwise: bool,
}

/// A `git commit` in a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TypedCommit {
    /// The subject, or empty if the line does not show it.
    pub subject: String,
    pub is_amend: bool,
    /// Whether the commit itself stages all changed files, as with `-a`.
    pub stages_all: bool,
    /// The folder in which git ran, or empty if it is the folder in which the line was started.
    pub folder: String,
    /// Whether git's message about the commit may be missing from the output, as with `--quiet` or a pipe.
    pub is_quiet: bool,
    /// Whether this is the last command of the line. If the line fails, the commit was not made.
    pub is_last_of_line: bool,
}

/// Returns what the text of a command line says about its git commands.
pub fn git_commands_of_line(command: &str) -> GitCommandsOfLine {
    let mut found = GitCommandsOfLine::default();
    let parts = commands_run_by_line(command);
    for (place, part) in parts.iter().enumerate().filter(|(_, part)| part.words[0] == "git") {
        let Some((verb, arguments, folder)) = verb_arguments_and_folder(part) else { continue };
        if verb == "commit" {
            let has_option = |long: &str, short: char| {
                arguments.iter().any(|word| {
                    word == long || word.starts_with('-') && !word.starts_with("--") && word.contains(short)
                })
            };
            let is_piped = !part.piped_into.is_empty();
            let subject = subject_in_arguments(arguments);
            found.commits.push(TypedCommit {
                // The shell may have replaced a part of the subject, and a secret in it is redacted.
                subject: if subject.contains(['$', '`', '\\']) || subject.contains("REDACTED") {
                    String::new()
                } else {
                    subject
                },
                is_amend: has_flag(arguments, &["--amend"]),
                stages_all: has_option("--all", 'a'),
                folder,
                is_quiet: has_option("--quiet", 'q') || part.is_output_hidden || is_piped,
                is_last_of_line: place + 1 == parts.len() && !is_piped,
            });
        }
        found.may_move_head_otherwise |= matches!(
            verb,
            "am" | "checkout" | "cherry-pick" | "merge" | "pull" | "rebase" | "reset" | "revert" | "switch"
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::git_commands_of_line;

    #[test]
    fn commits_are_read_from_the_text_of_a_line() {
        for (line, expected) in [
            ("git add -A && git commit -qm 'One two' && git push", &["One two quiet"][..]),
            (
                "git commit -qam one; cd sub; git commit --amend -m two",
                &["one all quiet", "two amend last @sub"],
            ),
            ("git -C ../other commit -m x", &["x last @../other"]),
            ("git commit -F msg.txt > log && make", &[" quiet"]),
            ("git commit -m \"$SUBJECT\" | tail -1", &[" quiet"]),
            ("git commit -m \"$(cat <<'E'\nOne\n\nMore.\nE\n)\" && git push", &["One"]),
            ("bash -c 'git commit -qm x' || git stash", &["x quiet"]),
            ("git commit --dry-run -m x", &[]),
            ("echo git commit", &[]),
        ] {
            let found = git_commands_of_line(line);
            let describe = |commit: &super::TypedCommit| {
                let mut told = commit.subject.clone();
                told += if commit.stages_all { " all" } else { "" };
                told += if commit.is_amend { " amend" } else { "" };
                told += if commit.is_quiet { " quiet" } else { "" };
                told += if commit.is_last_of_line { " last" } else { "" };
                told +=
                    &if commit.folder.is_empty() { String::new() } else { format!(" @{}", commit.folder) };
                told
            };
            assert_eq!(found.commits.iter().map(describe).collect::<Vec<_>>(), expected, "{line}");
            assert!(!found.may_move_head_otherwise, "{line}");
        }
        for (line, expected) in [
            ("git pull -q && make", true),
            ("git fetch && git merge -q origin/main", true),
            ("git push", false),
            ("git stash", false),
            ("git merge --abort", false),
        ] {
            assert_eq!(git_commands_of_line(line).may_move_head_otherwise, expected, "{line}");
        }
    }
}
