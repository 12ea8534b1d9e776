//! Splits a command line into the commands it runs, and collects what the rules need to know about each.
//!
//! [`crate::shell`] only finds the files that a line mentions. This module determines what the line does, so it
//! follows loops, pipes, substitutions, functions and nested shells. It skips here-documents.

use super::tokens::{ShellToken, split_tokens};

/// The maximum nesting depth to which `$( … )` and `bash -c` are followed.
const MAX_NESTED_COMMAND_LINES: usize = 4;

/// The maximum number of commands examined in a line. Generated lines can contain thousands.
const MAX_COMMANDS_PER_LINE: usize = 200;

/// One command. Assignments before it and wrappers such as `sudo` are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnwrappedCommand {
    pub words: Vec<String>,
    /// The folder that the line entered with `cd`, as written. Empty if the command runs in the folder in which the
    /// line was started.
    pub folder: String,
    /// The programs into which the command's output is piped.
    pub piped_into: Vec<String>,
    /// Whether the command is in a loop or a function and so may run several times.
    pub may_run_repeatedly: bool,
    /// Whether the success of the whole line implies the success of this command.
    pub is_success_implied: bool,
    /// Whether the command's output was redirected to a file or discarded.
    pub is_output_hidden: bool,
    /// Whether the command follows `||`, so that it runs only if another command fails.
    pub runs_after_failure: bool,
    /// The command after `||` that runs if this command fails.
    pub fallback: Option<Fallback>,
}

/// The command after `||` in a line such as `git push || echo later`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    /// The command prints this text.
    Prints(String),
    Other,
}

pub(super) fn commands_run_by_line(command: &str) -> Vec<UnwrappedCommand> {
    let mut all = Vec::new();
    collect_run_commands(command, &OuterCommand::default(), &mut all);
    all
}

/// The context of a command line that is nested in another command line.
#[derive(Clone, Default)]
struct OuterCommand {
    folder: String,
    may_run_repeatedly: bool,
    is_success_uncertain: bool,
    /// Whether the line is inside `$( … )`. If so, another command captures its output.
    is_output_captured: bool,
    nesting_depth: usize,
}

fn collect_run_commands(command: &str, around: &OuterCommand, all: &mut Vec<UnwrappedCommand>) {
    if around.nesting_depth > MAX_NESTED_COMMAND_LINES || all.len() > MAX_COMMANDS_PER_LINE {
        return;
    }
    let tokens = split_tokens(command);
    let lists = split_pipelines(&tokens);
    let mut folder = around.folder.clone();
    let mut loops = 0_usize;
    let sure = pipelines_implied_successful(&lists);
    for (place, Pipeline { stages: pipeline, .. }) in lists.iter().enumerate().take(MAX_COMMANDS_PER_LINE) {
        let filters: Vec<String> = pipeline.iter().skip(1).filter_map(|stage| program_name(stage)).collect();
        for (stage, tokens) in pipeline.iter().enumerate() {
            loops += count_opened_blocks(tokens);
            let inner = OuterCommand {
                folder: folder.clone(),
                may_run_repeatedly: around.may_run_repeatedly || loops > 0,
                is_success_uncertain: around.is_success_uncertain || !sure[place],
                is_output_captured: around.is_output_captured,
                nesting_depth: around.nesting_depth + 1,
            };
            for token in *tokens {
                if let ShellToken::Word { substituted_commands: runs, .. } = token {
                    // The output of a command substitution becomes part of a word, and its exit code is lost.
                    let captured = OuterCommand {
                        is_success_uncertain: true,
                        is_output_captured: true,
                        ..inner.clone()
                    };
                    runs.iter().for_each(|inside| collect_run_commands(inside, &captured, all));
                }
            }
            let mut part = build_run_command(tokens);
            part.folder.clone_from(&folder);
            part.may_run_repeatedly = inner.may_run_repeatedly || part.may_run_repeatedly;
            part.is_success_implied = !inner.is_success_uncertain && pipeline.len() == 1;
            part.runs_after_failure = lists[place].operator_before == "||";
            part.fallback = fallback_of_pipeline(&lists[place..]);
            part.piped_into = filters.iter().skip(stage).cloned().collect();
            part.piped_into.extend(around.is_output_captured.then(|| "$()".to_owned()));
            loops = loops.saturating_sub(count_closed_blocks(tokens));
            match part.words.first().map(String::as_str) {
                Some("cd" | "pushd") if pipeline.len() == 1 => {
                    folder = join_paths(&folder, part.words.get(1).map_or("", String::as_str));
                }
                Some("bash" | "sh" | "zsh" | "eval" | "ssh") => {
                    if let Some(line) = inner_command_line(&part.words) {
                        collect_run_commands(&line, &inner, all);
                    }
                }
                Some(_) => all.push(part),
                None => {}
            }
        }
    }
}

/// Returns, for each pipeline, whether the success of the line implies the pipeline's success. This is true of the
/// last pipeline, and of each pipeline that is joined to such a pipeline by `&&`.
fn pipelines_implied_successful(lists: &[Pipeline]) -> Vec<bool> {
    let mut sure = vec![false; lists.len()];
    let mut known = true;
    for (place, Pipeline { operator_before, operator_after: after, stages }) in lists.iter().enumerate().rev()
    {
        // A command after `||`, `then` or `do` may not have run, so the success of the line does not imply its success.
        let may_not_run = *operator_before == "||" || stages[0].first().is_some_and(is_branch_keyword);
        sure[place] = known && !may_not_run && *after != "&";
        known = sure[place] && *operator_before == "&&";
    }
    sure
}

/// Returns the command after `||` that runs if the first pipeline fails, as in `a && b || echo failed`.
fn fallback_of_pipeline(lists: &[Pipeline]) -> Option<Fallback> {
    let last = lists.iter().position(|pipeline| pipeline.operator_after != "&&")?;
    let next = lists.get(last + 1).filter(|_| lists[last].operator_after == "||")?;
    let command = build_run_command(next.stages[0]);
    let prints = matches!(command.words.first().map(String::as_str), Some("echo" | "printf"));
    let text = command.words.get(1..).unwrap_or_default().join(" ").replace("\\n", "");
    let is_visible = !command.is_output_hidden && next.stages.len() == 1 && !text.contains(['$', '`']);
    match prints && is_visible && !text.trim().is_empty() {
        true => Some(Fallback::Prints(text.trim().to_owned())),
        false => Some(Fallback::Other),
    }
}

fn is_branch_keyword(token: &ShellToken) -> bool {
    matches!(token, ShellToken::Word { text, .. } if matches!(text.as_str(), "then" | "do" | "else" | "elif"))
}

/// Returns the command line that is passed to `sh -c`, `eval` or `ssh`.
fn inner_command_line(words: &[String]) -> Option<String> {
    match words.first()?.as_str() {
        "eval" => Some(words[1..].join(" ")),
        "ssh" => {
            let takes_value = |word: &str| matches!(word, "-i" | "-p" | "-l" | "-o" | "-F" | "-J");
            let mut rest = words[1..].iter();
            let _host = loop {
                let word = rest.next()?;
                if takes_value(word) {
                    rest.next();
                } else if !word.starts_with('-') {
                    break word;
                }
            };
            let line: Vec<&str> = rest.map(String::as_str).collect();
            (!line.is_empty()).then(|| line.join(" "))
        }
        _ => {
            let flag = words.iter().position(|word| {
                word.starts_with('-') && word[1..].contains('c') && !word.starts_with("--")
            })?;
            words.get(flag + 1).cloned()
        }
    }
}

/// Commands joined by `|`, with the operators before and after them.
struct Pipeline<'t> {
    operator_before: &'static str,
    operator_after: &'static str,
    stages: Vec<&'t [ShellToken]>,
}

fn split_pipelines(tokens: &[ShellToken]) -> Vec<Pipeline<'_>> {
    let mut lists: Vec<Pipeline> = Vec::new();
    let (mut before, mut rest) = (";", tokens);
    loop {
        let end =
            rest.iter().position(|token| matches!(token, ShellToken::Operator(_))).unwrap_or(rest.len());
        let mark = match rest.get(end) {
            Some(ShellToken::Operator(mark)) => *mark,
            _ => ";",
        };
        if end > 0 {
            match lists.last_mut().filter(|_| before == "|") {
                Some(pipeline) => {
                    pipeline.stages.push(&rest[..end]);
                    pipeline.operator_after = mark;
                }
                None => lists.push(Pipeline {
                    operator_before: before,
                    operator_after: mark,
                    stages: vec![&rest[..end]],
                }),
            }
        }
        // A line break after `&&` or `|` does not end the command line, so the operator stays the same.
        if end > 0 || mark != ";" {
            before = mark;
        }
        if end >= rest.len() {
            return lists;
        }
        rest = &rest[end + 1..];
    }
}

/// Counts the loops and functions that start in this command.
fn count_opened_blocks(tokens: &[ShellToken]) -> usize {
    let first = tokens.iter().find_map(unquoted_text);
    usize::from(matches!(first, Some("for" | "while" | "until" | "function")))
        + usize::from(
            tokens.iter().filter_map(unquoted_text).any(|word| word.ends_with("(){") || word == "{"),
        )
}

fn count_closed_blocks(tokens: &[ShellToken]) -> usize {
    tokens.iter().filter_map(unquoted_text).filter(|word| matches!(*word, "done" | "}")).count()
}

fn unquoted_text(token: &ShellToken) -> Option<&str> {
    match token {
        ShellToken::Word { text, is_quoted: false, .. } => Some(text),
        _ => None,
    }
}

fn program_name(tokens: &[ShellToken]) -> Option<String> {
    build_run_command(tokens).words.into_iter().next()
}

/// Builds a command from its tokens. Leaves out redirections, keywords, assignments and wrappers such as `sudo`.
fn build_run_command(tokens: &[ShellToken]) -> UnwrappedCommand {
    let mut made = UnwrappedCommand::default();
    let mut is_target = false;
    let mut words = Vec::new();
    for token in tokens {
        match token {
            ShellToken::Redirect { redirects_stdout, has_target } => {
                made.is_output_hidden |= redirects_stdout;
                is_target = *has_target;
            }
            ShellToken::Word { .. } if std::mem::take(&mut is_target) => {}
            ShellToken::Word { text, .. } => words.push(text.clone()),
            ShellToken::Operator(_) => {}
        }
    }
    if words.first().is_some_and(|word| matches!(word.as_str(), "for" | "case" | "function")) {
        words.clear();
    }
    let (skip, repeats) = count_wrappers(&words);
    made.words = words.split_off(skip.min(words.len()));
    made.may_run_repeatedly = repeats;
    if let Some(program) = made.words.first_mut()
        && let Some((_, name)) = program.rsplit_once('/')
    {
        *program = name.to_owned();
    }
    made
}

/// Returns how many of the leading words are wrappers such as `sudo` or `time`, and whether one of them runs the
/// command repeatedly.
fn count_wrappers(words: &[String]) -> (usize, bool) {
    let (mut at, mut repeats) = (0, false);
    while let Some(word) = words.get(at) {
        let takes_value = |flags: &[&str], word: &String| flags.contains(&word.as_str());
        // Skips a wrapper's options and their values, such as `-n 10` or `--user=x`.
        let options = |mut at: usize, flags: &[&str]| {
            while let Some(option) = words.get(at).filter(|word| word.starts_with('-')) {
                at += 1 + usize::from(takes_value(flags, option));
            }
            at
        };
        at = match word.rsplit('/').next().unwrap_or("") {
            "if" | "fi" | "done" | "esac" | "then" | "else" | "elif" | "while" | "until" | "do" | "!"
            | "{" | "}" | "(" | ")" | "time" | "command" | "exec" | "nohup" | "builtin" => at + 1,
            "sudo" => options(at + 1, &["-u", "-g"]),
            "nice" => options(at + 1, &["-n"]),
            "env" => options(at + 1, &["-u", "-C"]),
            "timeout" => options(at + 1, &["-k", "-s"]) + 1,
            "npx" | "bunx" | "pnpx" => options(at + 1, &["-p", "--package"]),
            "xargs" | "parallel" => {
                repeats = true;
                options(at + 1, &["-I", "-n", "-P", "-L", "-d", "-j"])
            }
            "uv" | "poetry" | "pdm" | "pipenv" | "bundle" | "mise" | "pnpm" | "yarn" | "npm" | "rtk"
            | "doppler" | "op" | "dotenv" | "direnv"
                if words.get(at + 1).is_some_and(|word| matches!(word.as_str(), "run" | "exec" | "x")) =>
            {
                options(at + 2, &[])
            }
            python if python.starts_with("python") && words.get(at + 1).is_some_and(|word| word == "-m") => {
                at + 2
            }
            _ if is_assignment(word) || word.ends_with("()") || word.ends_with("(){") => at + 1,
            _ => break,
        };
    }
    (at, repeats)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

fn join_paths(base: &str, path: &str) -> String {
    match base.is_empty() || path.starts_with(['/', '~']) {
        true => path.to_owned(),
        false => format!("{}/{path}", base.trim_end_matches('/')),
    }
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
