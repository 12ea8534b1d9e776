//! Determines what a command line is for, and whether its failure matters.

use super::check::{self, ProjectCheck, checks_of_steps, strip_assignments_and_wrappers};
use super::counts::{TestCounts, counts_in_output};
use super::script::expand_shells;
use crate::error_line::is_pytest_error_line;
use crate::failure;
use crate::shell::{self, CommandStep};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandPurpose {
    /// The command line tested, built, linted, formatted or ran something in the project.
    Checks(Vec<ProjectCheck>),
    /// The command line changed the state of a repository.
    Git(Vec<GitCommandFamily>),
    /// The command line did something else. The strings name its commands, such as `docker build` or `terraform
    /// plan`.
    Other(Vec<String>),
    /// The command line looked something up, moved a file or was an experiment, so its failure does not matter.
    ReadOnly,
}

/// Groups of git commands. A failed command's work can be completed by another command of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitCommandFamily {
    /// The commands `merge`, `rebase`, `pull`, `cherry-pick` and `revert`.
    Join,
    Push,
    Commit,
    Other,
}

/// Returns the purpose of a command line that started in the folder `cwd`.
pub fn command_purpose(command: &str, cwd: &str) -> CommandPurpose {
    let command = &*expand_shells(command);
    let steps = shell::command_steps(command);
    let checks = checks_of_steps(command, &steps, cwd);
    if !checks.is_empty() {
        return CommandPurpose::Checks(checks);
    }
    // A here-document is usually an inline script, unless a tool such as `kubectl` or `docker` reads it as input.
    let inline = steps.iter().any(|step| {
        step.join_to_next == shell::StepJoin::Document
            && !applies_here_document(strip_assignments_and_wrappers(&step.words))
    });
    let doing: Vec<&[String]> = steps
        .iter()
        .map(|step: &CommandStep| strip_assignments_and_wrappers(&step.words))
        .filter(|words| !is_read_only(words))
        .collect();
    if doing.is_empty() || inline || is_scripted(&steps) {
        return CommandPurpose::ReadOnly;
    }
    let families: Vec<GitCommandFamily> = doing.iter().filter_map(|words| git_family(words)).collect();
    if !families.is_empty() {
        return CommandPurpose::Git(families);
    }
    CommandPurpose::Other(doing.into_iter().map(command_name).collect())
}

/// Returns whether a command line is an attempt whose last result matters. Inline scripts, database clients and
/// requests are attempts, although their purpose is [`CommandPurpose::ReadOnly`]. `ls`, `grep` and `test` are not.
pub fn is_attempt_with_result(command: &str, cwd: &str) -> bool {
    const TRYING_PROGRAMS: [&str; 13] = [
        "node",
        "deno",
        "bun",
        "ruby",
        "perl",
        "php",
        "psql",
        "mysql",
        "sqlite3",
        "redis-cli",
        "curl",
        "wget",
        "http",
    ];
    if !matches!(command_purpose(command, cwd), CommandPurpose::ReadOnly) {
        return true;
    }
    let command = &*expand_shells(command);
    let tries = |step: &CommandStep| {
        let program = strip_assignments_and_wrappers(&step.words)
            .first()
            .map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        check::is_python(program) || TRYING_PROGRAMS.contains(&program)
    };
    let steps = shell::command_steps(command);
    !is_scripted(&steps) && steps.iter().any(tries)
}

/// Returns whether a command line calls `thru`, by its name or with a path.
pub fn calls_thru(command: &str) -> bool {
    shell::command_steps(&expand_shells(command)).iter().any(is_thru_step)
}

/// Returns whether a command line calls nothing but `thru`. `thru evidence run -- make test` also runs the command after
/// the dashes.
pub fn only_calls_thru(command: &str) -> bool {
    let expanded = expand_shells(command);
    let steps = shell::command_steps(&expanded);
    !steps.is_empty()
        && steps.iter().all(|step| is_thru_step(step) && !step.words.iter().any(|word| word == "--"))
}

pub(super) fn is_thru_step(step: &CommandStep) -> bool {
    strip_assignments_and_wrappers(&step.words)
        .first()
        .is_some_and(|word| word.rsplit('/').next() == Some("thru"))
}

impl GitCommandFamily {
    /// Returns whether the success of a command in this family makes up for a failed command in the family `failed`.
    pub fn makes_up_for(self, failed: GitCommandFamily) -> bool {
        match failed {
            GitCommandFamily::Push | GitCommandFamily::Commit => self == failed,
            GitCommandFamily::Join => matches!(self, GitCommandFamily::Join | GitCommandFamily::Commit),
            GitCommandFamily::Other => true,
        }
    }
}

/// Returns whether a failed call never ran, because the harness, a hook or the user refused it, or because another call
/// in the same message failed. Such a call says nothing about its command.
pub fn is_refused_call(exit: Option<i64>, error: &str) -> bool {
    const REFUSAL_BEGINNINGS: &[&str] = &[
        "Blocked: ",
        "Permission to use ",
        "PreToolUse:",
        "Hook PreToolUse:",
        "InputValidationError",
        "Sibling tool call errored",
        "Cancelled: parallel tool call",
        "The user doesn't want to ",
        "The user rejected permission",
    ];
    const FIRST_LINE_WORDS: &[&str] =
        &["requested permissions", "has been denied", "requires approval", "was blocked", "haven't granted"];
    let error = error.trim_start();
    let error = error.strip_prefix("<tool_use_error>").unwrap_or(error);
    let first = error.lines().next().unwrap_or_default();
    exit.is_none()
        && (REFUSAL_BEGINNINGS.iter().any(|words| first.starts_with(words))
            || FIRST_LINE_WORDS.iter().any(|words| first.contains(words)))
}

/// Returns whether an error means that the command was mistyped, run in the wrong folder or interrupted. Such an error
/// does not mean that the project is broken. The report of a failed test may quote the same words, because they may be
/// what the tested program printed.
pub fn is_mistyped_or_interrupted_command_error(error: &str) -> bool {
    const USER_ERRORS: &[&str] = &[
        "unknown flag",
        "unknown option",
        "unknown shorthand flag",
        "unrecognized option",
        "unrecognized argument",
        "unrecognized subcommand",
        "invalid option",
        "illegal option",
        "unexpected argument",
        "accepts at most",
        "accepts 1 arg",
        "unknown command",
        "no such command",
        "no such subcommand",
        "flag provided but not defined",
        "flag needs an argument",
        "no task ",
        "Missing script:",
        "missing script:",
        "No rule to make target",
        "does not contain recipe",
        "no such file or directory: /",
        "cd: no such file",
        "cd: can't cd",
        ": No such file or directory\ncd",
        "not a git repository",
        "could not find `Cargo.toml`",
        "cannot find main module",
        "Could not read package.json",
        "No makefile found",
        "Request interrupted",
        "Tool call interrupted",
        "interrupted by user",
        "nothing to commit",
    ];
    !reports_failed_tests(error)
        && (USER_ERRORS.iter().any(|slip| error.contains(slip)) || error.lines().any(is_failed_cd_line))
}

/// Returns whether a text names a failed test or counts failed tests, as the output of a test run does.
pub fn reports_failed_tests(text: &str) -> bool {
    let is_of_test = |line: &str| failure::names_failed_test(line) || is_pytest_error_line(line);
    text.lines().any(is_of_test) || counts_in_output(text).is_some_and(TestCounts::has_failed_tests)
}

/// Returns whether a line reports a failed `cd`, such as `(eval):cd:1: no such file or directory: /tmp/x` or `bash:
/// line 1: cd: /x: No such file or directory`.
fn is_failed_cd_line(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.contains("no such file or directory") && (lower.contains("cd:") || lower.contains(": cd"))
}

/// Returns whether a command applies a here-document, as in `kubectl apply -f - <<EOF`.
fn applies_here_document(words: &[String]) -> bool {
    matches!(words.first().map(String::as_str), Some("kubectl" | "docker" | "podman" | "helm" | "gh"))
        && words.iter().any(|word| matches!(word.as_str(), "-" | "-f-"))
}

/// Returns whether a command line contains loops or conditions. Such a line counts as an experiment.
fn is_scripted(steps: &[CommandStep]) -> bool {
    steps.iter().any(|step| matches!(step.words[0].as_str(), "for" | "while" | "until" | "if" | "case"))
}

/// Returns the program and its subcommand, which identify a command. Other arguments are ignored.
fn command_name(words: &[String]) -> String {
    let program = words[0].rsplit('/').next().unwrap_or(&words[0]);
    let asked: Vec<&str> =
        words.iter().skip(1).map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let takes_two = matches!(program, "gh" | "aws" | "gcloud" | "az")
        || matches!(asked.first(), Some(&("run" | "compose" | "db")));
    let most = if takes_two { 2 } else { 1 };
    let asked = asked.into_iter().take(most).collect::<Vec<_>>().join(" ");
    format!("{program} {asked}").trim_end().to_owned()
}

pub(super) fn git_family(words: &[String]) -> Option<GitCommandFamily> {
    let (program, rest) = words.split_first()?;
    if program.rsplit('/').next() != Some("git") {
        return None;
    }
    Some(match git_subcommand(rest) {
        "merge" | "rebase" | "pull" | "cherry-pick" | "revert" | "am" => GitCommandFamily::Join,
        "push" => GitCommandFamily::Push,
        "commit" => GitCommandFamily::Commit,
        _ => GitCommandFamily::Other,
    })
}

/// Returns the git subcommand, such as `log` in `git -C dir --no-pager log`.
pub(super) fn git_subcommand(rest: &[String]) -> &str {
    let mut words = rest.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-C" | "-c" | "--git-dir" | "--work-tree" => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => return word,
        }
    }
    ""
}

/// Returns whether a command only reads data, prints text or handles temporary files. `words` is the command
/// without its wrappers.
pub(super) fn is_read_only(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    let program = program.rsplit('/').next().unwrap_or(program);
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let first = rest.iter().find(|word| !word.starts_with('-')).map_or("", String::as_str);
    let second = rest.iter().filter(|word| !word.starts_with('-')).nth(1).map_or("", String::as_str);
    if has(&["--help", "--version", "-h", "help", "version"]) {
        return true;
    }
    let inline = rest.first().is_some_and(|word| matches!(word.as_str(), "-c" | "-e" | "-" | "-lc"));
    match program {
        // A nonzero exit code of `thru` is often an answer and not a failure.
        "thru" => true,
        "git" => is_git_read_only(rest),
        "psql" | "mysql" | "sqlite3" => !has(&["-f", "--file"]),
        "gh" | "glab" => match first {
            "api" => !rest.iter().any(|word| {
                let word = word.as_str();
                matches!(word, "-X" | "-f" | "-F" | "--method" | "--input" | "--field" | "--raw-field")
                    || word.starts_with("-X")
            }),
            "auth" | "search" | "browse" | "status" => true,
            _ => matches!(second, "view" | "list" | "diff" | "checks" | "status" | "watch" | "download" | ""),
        },
        "curl" | "http" | "wget" => !has(&["-X", "-d", "--data", "--request", "-T", "--post-data"]),
        "docker" | "podman" => matches!(first, "ps" | "logs" | "inspect" | "images" | "stats" | "port"),
        "kubectl" => matches!(first, "get" | "describe" | "logs" | "top" | "explain"),
        "terraform" => matches!(first, "show" | "output" | "state" | "providers"),
        "npm" | "pnpm" | "yarn" => matches!(first, "ls" | "list" | "view" | "outdated" | "why" | "info"),
        "cargo" => matches!(first, "tree" | "metadata" | "search" | "info"),
        "go" => matches!(first, "list" | "doc" | "env" | "mod" | "tool" | "clean"),
        "pip" | "pip3" | "brew" | "apt" | "mise" => {
            matches!(first, "show" | "list" | "info" | "search" | "freeze" | "tasks" | "ls" | "which")
        }
        "bash" | "sh" | "zsh" | "node" | "ruby" | "perl" | "php" => inline || rest.is_empty(),
        _ if check::is_python(program) => inline || rest.is_empty(),
        _ => is_reading_program(program) || program.is_empty() || program.starts_with(['$', '(', '#', '"']),
    }
}

fn is_git_read_only(rest: &[String]) -> bool {
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let plain = rest.iter().filter(|word| !word.starts_with('-')).count();
    match git_subcommand(rest) {
        "log" | "diff" | "show" | "status" | "rev-parse" | "rev-list" | "blame" | "ls-files" | "ls-tree"
        | "cat-file" | "ls-remote" | "for-each-ref" | "describe" | "merge-base" | "grep" | "reflog"
        | "shortlog" | "name-rev" | "symbolic-ref" | "config" | "check-ignore" | "show-ref" | "diff-tree"
        | "whatchanged" | "bisect" | "merge-tree" | "" => true,
        "stash" | "worktree" => has(&["list", "show"]),
        "branch" | "tag" => {
            has(&["--list", "-l", "--show-current", "-a", "-v", "-vv", "-r", "--contains"]) || plain <= 1
        }
        "remote" => plain <= 1 || has(&["show", "get-url"]),
        _ => false,
    }
}

/// Returns whether a program only reads, counts, prints, waits or moves files.
fn is_reading_program(program: &str) -> bool {
    matches!(
        program,
        "ls" | "cat"
            | "head"
            | "tail"
            | "grep"
            | "egrep"
            | "fgrep"
            | "rg"
            | "ag"
            | "find"
            | "fd"
            | "test"
            | "["
            | "[["
            | "which"
            | "command"
            | "type"
            | "whereis"
            | "file"
            | "stat"
            | "wc"
            | "diff"
            | "cmp"
            | "jq"
            | "yq"
            | "tree"
            | "pwd"
            | "echo"
            | "printf"
            | "date"
            | "env"
            | "printenv"
            | "less"
            | "more"
            | "sort"
            | "uniq"
            | "cut"
            | "awk"
            | "sed"
            | "tr"
            | "xargs"
            | "strings"
            | "du"
            | "df"
            | "ps"
            | "top"
            | "lsof"
            | "netstat"
            | "ss"
            | "pgrep"
            | "nc"
            | "ping"
            | "dig"
            | "host"
            | "sleep"
            | "true"
            | "false"
            | ":"
            | "history"
            | "man"
            | "uname"
            | "whoami"
            | "id"
            | "hostname"
            | "realpath"
            | "readlink"
            | "dirname"
            | "basename"
            | "md5sum"
            | "sha256sum"
            | "shasum"
            | "xxd"
            | "od"
            | "hexdump"
            | "nm"
            | "ldd"
            | "redis-cli"
            | "kill"
            | "pkill"
            | "killall"
            | "rm"
            | "mkdir"
            | "rmdir"
            | "touch"
            | "cp"
            | "mv"
            | "chmod"
            | "chown"
            | "ln"
            | "tee"
            | "export"
            | "source"
            | "."
            | "alias"
            | "unset"
            | "cd"
            | "pushd"
            | "popd"
            | "set"
            | "trap"
            | "wait"
            | "read"
            | "eval"
            | "open"
            | "seq"
            | "done"
    )
}
