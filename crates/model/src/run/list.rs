//! Divides a command line such as `make test; ./deploy.sh` into its checks and the part after them. The exit code of
//! the line is that of its last part, so the checks may have passed although the line failed.

use super::CommandKind;
use super::check::strip_assignments_and_wrappers;
use super::exit::CheckedLine;
use super::lasting::{only_runs_built_programs, only_runs_programs};
use super::open::git_subcommand;
use super::script::expand_shells;
use super::typed::is_cd_step;
use crate::shell::{CommandStep, StepJoin, here_document_end};

/// A command line in which other commands follow the last check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DividedCommandLine {
    /// The line up to its last check.
    pub line_up_to_checks: String,
    /// The last command after the checks, preceded by the line's `cd` commands.
    pub line_after_checks: String,
    /// Whether `line_after_checks` runs only if the checks pass.
    pub runs_only_if_checks_pass: bool,
    /// Whether `line_after_checks` only tries out programs that the project builds.
    pub is_try_out: bool,
}

/// Divides a failed line if the part after its checks may have failed. Returns `None` if the exit code cannot belong to
/// that part, or if it is unclear which part it belongs to.
pub fn divide_failed_line(command: &str) -> Option<DividedCommandLine> {
    let command = &*expand_shells(command);
    divide_parsed_line(command, &CheckedLine::parse_command(command))
}

pub(super) fn divide_parsed_line(command: &str, line: &CheckedLine) -> Option<DividedCommandLine> {
    let steps = line.steps_without_control_flow()?;
    let last_check_index = line.last_check_index()?;
    let after_pipe = last_check_index
        + steps[last_check_index..].iter().take_while(|step| step.join_to_next == StepJoin::Pipe).count();
    let checks = match steps.get(after_pipe + 1) {
        Some(next) => trim_operators(&command[..next.word_ranges[0].start]).to_owned(),
        None => command[..end_of_words(steps.last()?)].to_owned(),
    };
    if steps.last()?.join_to_next == StepJoin::Document {
        let document = command[end_of_words(steps.last()?)..].find("<<")? + end_of_words(steps.last()?);
        let behind = here_document_end(command, document);
        if !command[behind..].trim().is_empty() {
            return divide_line_after_here_document(command, behind, steps, &checks);
        }
    }
    let last = steps.len() - 1;
    let ended_by = |at: &usize| matches!(steps[*at].join_to_next, StepJoin::Next);
    let (start, needs_checks) = match (after_pipe..last).rev().find(ended_by) {
        Some(at) => (at + 1, false),
        // Only filters that shorten the output are accepted here, because any other filter may itself have failed.
        None if steps[last_check_index + 1..=after_pipe].iter().all(is_cutting_filter) => {
            (after_pipe + 1, true)
        }
        None => return None,
    };
    let joined = |step: &CommandStep| matches!(step.join_to_next, StepJoin::And | StepJoin::Pipe);
    let from_checks = if needs_checks { after_pipe } else { start };
    if start > last || !steps[from_checks..last].iter().all(joined) {
        return None;
    }
    let start_of_rest = steps[start].word_ranges[0].start;
    let rest = with_cd_commands_before(command, &steps[..start], &command[start_of_rest..]);
    let is_document = steps[last].join_to_next == StepJoin::Document;
    let builds = line.check_kind_predicate()(CommandKind::Build);
    let is_try_out = only_runs_built_programs(&rest) || builds && only_runs_programs(&rest);
    (is_document || CheckedLine::parse_command(&rest).is_nonzero_exit_of_check()).then_some(
        DividedCommandLine {
            line_up_to_checks: checks,
            line_after_checks: rest,
            runs_only_if_checks_pass: needs_checks,
            is_try_out,
        },
    )
}

/// Does the work of [`divide_parsed_line`] for a line in which commands follow a here-document.
fn divide_line_after_here_document(
    command: &str,
    behind: usize,
    steps: &[CommandStep],
    checks: &str,
) -> Option<DividedCommandLine> {
    let rest = command[behind..].trim();
    let line = CheckedLine::parse_command(rest);
    let later = line.steps_without_control_flow()?;
    let is_next = |step: &CommandStep| step.join_to_next == StepJoin::Next;
    let start = later.iter().rposition(is_next).map_or(0, |at| at + 1);
    let part = &rest[later.get(start)?.word_ranges[0].start..];
    let fails = !line.has_checks() && CheckedLine::parse_command(part).is_nonzero_exit_of_check();
    fails.then(|| DividedCommandLine {
        line_up_to_checks: checks.to_owned(),
        line_after_checks: with_cd_commands_before(command, steps, part),
        runs_only_if_checks_pass: false,
        is_try_out: false,
    })
}

/// Returns the part of a command line after its last `git commit`, preceded by the line's `cd` commands. Returns `None` if
/// nothing runs after the commit, or if it is unclear what does.
pub fn line_after_commit(command: &str) -> Option<String> {
    let command = &*expand_shells(command.trim());
    let line = CheckedLine::parse_command(command);
    let steps = line.steps_without_control_flow()?;
    let is_commit = |step: &CommandStep| {
        let words = strip_assignments_and_wrappers(&step.words);
        words.first().is_some_and(|program| program == "git") && git_subcommand(&words[1..]) == "commit"
    };
    let last_commit = steps.iter().rposition(is_commit)?;
    let joins =
        |step: &CommandStep| matches!(step.join_to_next, StepJoin::And | StepJoin::Next | StepJoin::Pipe);
    let piped = steps[last_commit..].iter().take_while(|step| step.join_to_next == StepJoin::Pipe).count();
    let next = last_commit + piped + 1;
    let rest = steps.get(next).filter(|_| steps[last_commit..next].iter().all(joins))?;
    let part = &command[rest.word_ranges[0].start..];
    Some(with_cd_commands_before(command, &steps[..next], part))
}

/// Puts the `cd` commands of the earlier steps before a part of the line.
fn with_cd_commands_before(command: &str, before: &[CommandStep], part: &str) -> String {
    let mut line = String::new();
    for step in before.iter().filter(|step| is_cd_step(step)) {
        line.push_str(&command[step.word_ranges[0].start..end_of_words(step)]);
        line.push_str(" && ");
    }
    line + part.trim_end()
}

fn end_of_words(step: &CommandStep) -> usize {
    step.word_ranges.last().map_or(0, |span| span.end)
}

fn trim_operators(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '('))
}

/// Returns whether a filter only shortens, sorts or copies its input. Such a filter rarely fails.
fn is_cutting_filter(step: &CommandStep) -> bool {
    matches!(step.words[0].as_str(), "tail" | "head" | "cat" | "tee" | "less" | "sort" | "nl" | "fold")
}

#[cfg(test)]
mod tests {
    use super::{divide_failed_line, line_after_commit};

    #[test]
    fn what_comes_after_a_commit_is_found() {
        for (line, expected) in [
            ("git add -A && git commit -qm x && git push origin HEAD", Some("git push origin HEAD")),
            ("git commit -qm 'a && b'; git push", Some("git push")),
            ("git commit -qm x 2>&1 | tail -3 && git push && ./deploy.sh", Some("git push && ./deploy.sh")),
            ("cd web && git commit -qm x && git push", Some("cd web && git push")),
            ("git commit -m a && git commit --amend -m b && git push", Some("git push")),
            ("git -C web commit -m a && git push", Some("git push")),
            ("git commit -qm \"$(cat <<'E'\nOne\nE\n)\" && git push", Some("git push")),
            ("git commit -qm x", None),
            ("make && git commit -qm x", None),
            ("git commit -qm x || git stash", None),
            ("git push", None),
        ] {
            assert_eq!(line_after_commit(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_failed_list_is_divided_behind_its_checks() {
        for (line, expected) in [
            ("make test; ./deploy.sh", Some(("make test", "./deploy.sh"))),
            ("make test\n./deploy.sh prod\n", Some(("make test", "./deploy.sh prod"))),
            ("make test >log 2>&1; ./deploy.sh", Some(("make test >log 2>&1", "./deploy.sh"))),
            ("make test 2>&1 | tail -5; ls y", Some(("make test 2>&1 | tail -5", "ls y"))),
            ("make test && ./deploy.sh", Some(("make test", "./deploy.sh"))),
            ("make test | tail -5 && ./deploy.sh", Some(("make test | tail -5", "./deploy.sh"))),
            ("cd web && make test; ./deploy.sh", Some(("cd web && make test", "cd web && ./deploy.sh"))),
            ("make lint; make test; a && b", Some(("make lint; make test", "a && b"))),
            ("bash -c 'make test; ./deploy.sh'", Some(("make test", "./deploy.sh"))),
            ("make test\npython3 - <<'E'\n1/0\nE\n", Some(("make test", "python3 - <<'E'\n1/0\nE"))),
            ("make test; cat > x <<E\na\nE\n./deploy.sh", Some(("make test", "./deploy.sh"))),
            // These lines are not divided, because the exit code may belong to a check, or because the command that
            // failed is unknown.
            ("make test", None),
            ("./deploy.sh; make test", None),
            ("make test || ./deploy.sh", None),
            ("make test | grep x && ./deploy.sh", None),
            ("make test; ./deploy.sh | grep x", None),
            ("make test; ./deploy.sh &", None),
            ("make test; ./deploy.sh || exit 1", None),
            ("for x in a b; do make test; ./deploy.sh; done", None),
            ("make test; cat <<E\na\nE\nmake lint", None),
            ("./a; ./b", None),
            ("", None),
        ] {
            let divided = divide_failed_line(line);
            let found = divided
                .as_ref()
                .map(|parts| (parts.line_up_to_checks.as_str(), parts.line_after_checks.as_str()));
            assert_eq!(found, expected, "{line}");
        }
        for (line, expected) in [
            ("cargo build -q && ./target/debug/logsift --since < /dev/null", true),
            ("cargo test && cargo run -- --since", true),
            ("make && ./durfmt -90m", true),
            ("gcc -o app a.c; ./app x", true),
            ("make test && ./durfmt -90m", false),
            ("npm run build && ./deploy.sh", false),
            ("cargo build && ls y", false),
        ] {
            assert_eq!(divide_failed_line(line).unwrap().is_try_out, expected, "{line}");
        }
        assert!(divide_failed_line("make test && ./deploy.sh").unwrap().runs_only_if_checks_pass);
        assert!(!divide_failed_line("make test; ./deploy.sh").unwrap().runs_only_if_checks_pass);
    }
}
