//! Finds the commands in a line that test, build, lint, format or run something. Decides whether two of them are the
//! same check, and which command repeats a check.

use super::CommandKind;
use super::script::expand_shells;
use super::typed::{changes_files, is_cd_step, only_prints_or_waits, with_input, words_as_written};
use crate::shell::{self, CommandStep};

/// A command that tests, builds, lints, formats or runs something, together with its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectCheck {
    pub check_kind: CommandKind,
    /// The command that repeats the check, with its input, but without a `cd`, output filters and output redirections.
    pub command_to_repeat: String,
    /// The folder in which the check ran: relative to the checkout, empty for its top, or absolute if outside.
    pub folder: String,
    /// The program and its arguments, without environment variables, wrappers such as `sudo` or `time`, and options
    /// that change only the output.
    pub program_and_arguments: Vec<String>,
}

impl ProjectCheck {
    /// Returns a key that is the same for two runs of the same check.
    pub fn identity_key(&self) -> String {
        // If the command only runs a program, its options and later arguments are ignored. A new attempt with different
        // arguments then counts as the same check and replaces the earlier attempt.
        let most = if self.check_kind == CommandKind::Run { 3 } else { usize::MAX };
        let kept = |word: &&String| self.check_kind != CommandKind::Run || !word.starts_with('-');
        let words: Vec<&str> =
            self.program_and_arguments.iter().filter(kept).take(most).map(String::as_str).collect();
        format!("{}\u{1}{}", self.folder, words.join(" "))
    }

    pub fn program(&self) -> &str {
        &self.program_and_arguments[0]
    }
}

/// Returns the checks in a command line, in order. `cwd` is the folder in which the line was started.
pub fn checks_of_command(command: &str, cwd: &str) -> Vec<ProjectCheck> {
    let command = expand_shells(command);
    checks_of_steps(&command, &shell::command_steps(&command), cwd)
}

pub(super) fn checks_of_steps(command: &str, steps: &[CommandStep], cwd: &str) -> Vec<ProjectCheck> {
    let mut folder = cwd.to_owned();
    let mut found = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        if let [cd, to] = step.words.as_slice()
            && matches!(cd.as_str(), "cd" | "pushd")
        {
            folder = folder_after_cd(&folder, to);
            continue;
        }
        found.extend(check_of_step(command, step, &folder).map(|check| ProjectCheck {
            command_to_repeat: with_input(command, steps, at, check.command_to_repeat),
            ..check
        }));
    }
    found
}

/// Parses a simple command as a check. Returns `None` if it is not one.
pub(super) fn check_of_step(command: &str, step: &CommandStep, folder: &str) -> Option<ProjectCheck> {
    let words = strip_assignments_and_wrappers(&step.words);
    let sort = kind_of_command(words)?;
    let folder = folder.to_owned();
    Some(ProjectCheck {
        check_kind: sort,
        command_to_repeat: command_without_wrappers(command, step, words),
        folder,
        program_and_arguments: canonical_words(words),
    })
}

/// Returns the folder in which a line's commands run. It is determined by the `cd` commands at the start of the line.
/// `cwd` is the folder in which the line was started.
pub fn folder_of_command(command: &str, cwd: &str) -> String {
    let mut folder = cwd.to_owned();
    for step in shell::command_steps(&expand_shells(command)) {
        match step.words.as_slice() {
            [cd, to] if matches!(cd.as_str(), "cd" | "pushd") => folder = folder_after_cd(&folder, to),
            _ if changes_files(&step) || only_prints_or_waits(&step) => {}
            _ => break,
        }
    }
    folder
}

/// Returns the commands that must be run to repeat a command line. From each pipeline, only the first command is
/// returned, together with any `echo` or `printf` that supplies its input. All other commands such as `cd` and `echo`
/// are left out.
pub fn commands_to_repeat(command: &str) -> Vec<String> {
    let command = &*expand_shells(command);
    let mut found = Vec::new();
    let mut is_left_out = false;
    let steps = shell::command_steps(command);
    for (at, step) in steps.iter().enumerate() {
        let feeds = only_prints_or_waits(step) && step.join_to_next == shell::StepJoin::Pipe;
        if !is_left_out && !feeds && !is_cd_step(step) && !only_prints_or_waits(step) {
            found.push(with_input(command, &steps, at, words_as_written(command, step, 0)));
        }
        is_left_out = !feeds && step.join_to_next == shell::StepJoin::Pipe;
    }
    found
}

/// Returns whether only some of the tests ran. Such a run can find a bug but does not show that the work is done.
pub fn is_partial_test_run(check: &ProjectCheck) -> bool {
    check.check_kind == CommandKind::Test && {
        let mut words = check.program_and_arguments.iter().skip(1);
        words
            .any(|word| SELECTING_OPTIONS.iter().any(|option| is_option(word, option)) || word.contains("::"))
    }
}

/// Returns the folder after a `cd`. Some harnesses already report the folder that the `cd` enters, so that folder is
/// not appended again.
fn folder_after_cd(folder: &str, to: &str) -> String {
    let to = to.trim_end_matches('/');
    if to.starts_with('/') || to.starts_with('~') || to.contains('$') {
        return to.to_owned();
    }
    let inside =
        |folder: &str| folder == to || folder.strip_suffix(to).is_some_and(|rest| rest.ends_with('/'));
    match to {
        "" | "." => folder.to_owned(),
        ".." => folder.rsplit_once('/').map_or("", |(up, _)| up).to_owned(),
        _ if inside(folder) => folder.to_owned(),
        _ if folder.is_empty() => to.trim_start_matches("./").to_owned(),
        _ => format!("{folder}/{}", to.trim_start_matches("./")),
    }
}

/// Returns the command as written, without wrappers. Assignments are kept, because the command may not work without
/// them.
fn command_without_wrappers(command: &str, step: &CommandStep, stripped: &[String]) -> String {
    let skipped = step.words.len() - stripped.len();
    let starts = step.words[..skipped].iter().position(|word| is_kept_wrapper(word));
    words_as_written(command, step, starts.unwrap_or(skipped))
}

/// Returns whether a word before a check is kept when the check is repeated. Words such as `time`, `timeout 60` and
/// `then` are dropped.
fn is_kept_wrapper(word: &str) -> bool {
    !matches!(word, "time" | "nice" | "exec" | "command" | "timeout" | "do" | "then" | "else" | "{" | "!")
        && !word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b's' | b'm' | b'h'))
}

/// Strips leading assignments and wrappers.
pub(super) fn strip_assignments_and_wrappers(mut words: &[String]) -> &[String] {
    loop {
        let second = words.get(1).map_or("", String::as_str);
        let skipped = match words.first().map(String::as_str) {
            Some(
                "sudo" | "time" | "nice" | "npx" | "bunx" | "exec" | "env" | "command" | "xvfb-run" | "nohup"
                | "do" | "then" | "else" | "{" | "!" | "rtk" | "builtin" | "stdbuf" | "unbuffer"
                | "caffeinate",
            ) => 1,
            Some("pnpm" | "yarn" | "bun") if matches!(second, "exec" | "dlx" | "x") => 2,
            Some("timeout" | "gtimeout") => {
                1 + words[1..].iter().take_while(|word| word.starts_with('-')).count() + 1
            }
            Some("uv" | "poetry" | "pdm" | "pipenv" | "bundle" | "hatch" | "rye")
                if matches!(second, "run" | "exec") =>
            {
                2
            }
            Some("mise" | "direnv" | "nix" | "asdf") if matches!(second, "exec" | "x") => {
                words.iter().position(|word| word == "--").map_or(2, |at| at + 1)
            }
            Some("docker-compose") if matches!(second, "exec" | "run") => 3,
            Some("php") if second == "artisan" => 1,
            Some(python) if is_python(python) && second == "-m" && words.len() > 2 => 2,
            Some(word) if is_assignment(word) => 1,
            _ => return words,
        };
        words = words.get(skipped..).unwrap_or_default();
    }
}

pub(super) fn is_python(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.strip_prefix("python").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// Options whose value selects some of the tests, packages or files.
pub(super) const SELECTING_OPTIONS: [&str; 14] = [
    "-run",
    "-k",
    "-t",
    "-m",
    "-g",
    "--grep",
    "--filter",
    "--test",
    "--testNamePattern",
    "--testPathPattern",
    "--tests",
    "-E",
    "--only",
    "-R",
];

/// Returns whether a word is an option with a value, not counting [`SELECTING_OPTIONS`].
fn is_option_with_value(word: &str) -> bool {
    matches!(
        word,
        "-p" | "--package"
            | "-tags"
            | "--features"
            | "--bin"
            | "--project"
            | "--workspace"
            | "-C"
            | "--manifest-path"
            | "--prefix"
            | "--config"
            | "-c"
            | "--target"
            | "--example"
    )
}

/// Returns whether an option changes the output, the time limit or the parallelism, but not the scope of the check.
fn is_output_option(word: &str) -> bool {
    matches!(
        word.split('=').next().unwrap_or(word),
        "-v" | "-vv"
            | "-vvv"
            | "--verbose"
            | "-q"
            | "-qq"
            | "--quiet"
            | "--nocapture"
            | "--no-capture"
            | "-s"
            | "-x"
            | "--color"
            | "--colors"
            | "--no-color"
            | "--tb"
            | "--reporter"
            | "--timeout"
            | "-timeout"
            | "-count"
            | "--count"
            | "--no-progress"
            | "--progress"
            | "--show-output"
            | "--maxfail"
            | "--bail"
            | "--no-fail-fast"
            | "--silent"
            | "--ci"
            | "--message-format"
            | "--pretty"
    )
}

/// Options that do not affect the scope and whose value is the next word.
const OUTPUT_OPTIONS_WITH_VALUE: [&str; 6] =
    ["--color", "--tb", "--reporter", "--timeout", "-timeout", "--maxfail"];

fn is_option(word: &str, option: &str) -> bool {
    word == option || word.strip_prefix(option).is_some_and(|rest| rest.starts_with(['=', ' ']))
}

/// Returns the program's name, then its arguments in a canonical order.
fn canonical_words(words: &[String]) -> Vec<String> {
    let mut rest = without_interpreter(words).iter().map(String::as_str);
    let program = rest.next().unwrap_or_default();
    let program = program.strip_prefix("./").unwrap_or(program);
    let program =
        if program.contains("/bin/") { program.rsplit('/').next().unwrap_or(program) } else { program };
    let mut found = vec![program.to_owned()];
    let mut arguments: Vec<String> = Vec::new();
    let mut rest = rest.peekable();
    while let Some(word) = rest.next() {
        if is_output_option(word) {
            if OUTPUT_OPTIONS_WITH_VALUE.contains(&word) {
                rest.next();
            }
        } else if (SELECTING_OPTIONS.contains(&word) || is_option_with_value(word)) && rest.peek().is_some() {
            arguments.push(format!("{word} {}", rest.next().unwrap_or_default()));
        } else if word != "--" {
            arguments.push(word.to_owned());
        }
    }
    // Sort the options, so that their order does not matter. The subcommand or task name stays first.
    let first = arguments.iter().take_while(|word| !word.starts_with('-')).count();
    let fixed = if program == "go" { first.min(1) } else { first };
    arguments[fixed..].sort();
    found.extend(arguments);
    found
}

/// Returns the kind of a command from which wrappers have been stripped.
pub(super) fn kind_of_command(words: &[String]) -> Option<CommandKind> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (program, rest) = words.split_first()?;
    let path = *program;
    let program = path.rsplit('/').next().unwrap_or(path);
    let has = |word: &str| rest.contains(&word);
    let first = first_operand(rest);
    let writes = rest.iter().any(|word| matches!(*word, "--fix" | "--write" | "-w"));
    if rest.iter().any(|word| matches!(*word, "--help" | "-h" | "--version" | "help" | "version")) {
        return None;
    }
    match program {
        // `thru`'s own commands do not check the project.
        "thru" => None,
        "cargo" => match first {
            "test" | "t" | "nextest" => Some(CommandKind::Test),
            "build" | "b" | "check" | "c" | "bench" | "doc" => Some(CommandKind::Build),
            "clippy" | "deny" | "audit" => Some(CommandKind::Lint),
            "fmt" if has("--check") => Some(CommandKind::Lint),
            "fmt" => Some(CommandKind::Format),
            "run" | "r" => Some(CommandKind::Run),
            "xtask" => kind_of_task(rest.get(1).copied().unwrap_or_default()),
            _ => None,
        },
        "go" => match first {
            "test" => Some(CommandKind::Test),
            "build" | "install" => Some(CommandKind::Build),
            "vet" => Some(CommandKind::Lint),
            "fmt" => Some(CommandKind::Format),
            "run" => Some(CommandKind::Run),
            _ => None,
        },
        "npm" | "pnpm" | "yarn" | "bun" | "mise" | "just" | "task" | "go-task" | "rake" | "composer"
        | "deno" | "turbo" | "nx" | "lerna" | "poe" | "pre-commit" => {
            kind_of_runner_task(program, first, rest)
        }
        "make" | "gmake" | "ninja" => match first {
            "" => Some(CommandKind::Build),
            task => kind_of_task(task),
        },
        "cmake" => has("--build").then_some(CommandKind::Build),
        "mvn" | "mvnw" | "gradle" | "gradlew" | "dotnet" | "swift" | "mix" | "bazel" | "zig" | "sbt"
        | "stack" | "cabal" | "xcodebuild" | "flutter" | "dart" | "rails" | "artisan" => {
            let tasks = rest.iter().filter(|word| !word.starts_with('-'));
            tasks.filter_map(|task| kind_of_task(task.rsplit(':').next().unwrap_or(task))).min()
        }
        "manage.py" => kind_of_django_task(first),
        "pytest" | "py.test" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "pest" | "tox" | "nox"
        | "ctest" | "bats" | "ava" | "tap" | "gotestsum" | "playwright" | "cypress" | "unittest"
        | "nose2" | "behave" | "ginkgo" | "minitest" | "karma" | "wtr" => match (program, first) {
            ("playwright", "install") | ("cypress", "open") => None,
            _ => Some(CommandKind::Test),
        },
        "node" if has("--test") => Some(CommandKind::Test),
        "node" | "ruby" | "php" | "perl" | "tsx" | "ts-node" | "bash" | "sh" | "zsh" => {
            kind_of_script(first, rest)
        }
        _ if is_python(program) => kind_of_script(first, rest),
        "tsc" | "vue-tsc" | "webpack" | "gcc" | "g++" | "clang" | "clang++" | "cc" | "c++" | "javac"
        | "rustc" | "kotlinc" | "vite" | "rollup" | "esbuild" | "next" | "tsup" => {
            (!matches!(first, "dev" | "start" | "serve" | "preview")).then_some(CommandKind::Build)
        }
        "eslint" | "ruff" | "mypy" | "pyright" | "flake8" | "pylint" | "golangci-lint" | "shellcheck"
        | "biome" | "rubocop" | "staticcheck" | "stylelint" | "oxlint" | "hadolint" | "actionlint"
        | "yamllint" | "markdownlint" | "vale" | "phpstan" | "psalm" | "credo" | "dialyzer" | "ktlint"
        | "detekt" | "swiftlint" | "buf" | "tflint" | "bandit" | "clippy-driver" | "knip"
        | "tflint-ruleset" => match (program, first) {
            ("golangci-lint", "run" | "") => Some(CommandKind::Lint),
            ("golangci-lint", _) => None,
            ("ruff", "format") if !has("--check") => Some(CommandKind::Format),
            ("biome", "format") if writes => Some(CommandKind::Format),
            _ if writes => Some(CommandKind::Format),
            _ => Some(CommandKind::Lint),
        },
        "prettier" | "black" | "gofmt" | "gofumpt" | "rustfmt" | "isort" | "dprint" | "goimports"
        | "clang-format" => {
            let looks = rest
                .iter()
                .any(|word| matches!(*word, "--check" | "-l" | "-d" | "-c" | "check" | "--list-different"));
            Some(if looks { CommandKind::Lint } else { CommandKind::Format })
        }
        _ if is_script_file(program) => kind_of_named_script(path).or(Some(CommandKind::Run)),
        // A program given with a path belongs to the project, unless the path is a system folder.
        _ if path.contains('/')
            && !["/usr/", "/bin/", "/opt/", "/sbin/"].iter().any(|dir| path.starts_with(dir)) =>
        {
            kind_of_named_script(path).or(Some(CommandKind::Run))
        }
        _ => None,
    }
}

/// Returns the first word that is neither an option nor an option's value, such as `check` in `make -C src check`.
fn first_operand<'a>(rest: &[&'a str]) -> &'a str {
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match *word {
            "-C" | "-f" | "--directory" | "--file" | "--prefix" | "--manifest-path" | "--cwd" | "--dir"
            | "--config" | "--filter" | "-F" => drop(words.next()),
            word if word.starts_with(['-', '+']) => {}
            word => return word,
        }
    }
    ""
}

/// Returns the kind of a task runner's task, such as `npm run test:unit`, `mise run lint`, `turbo build` or `bun
/// test`.
fn kind_of_runner_task(program: &str, first: &str, rest: &[&str]) -> Option<CommandKind> {
    let task = match (program, first) {
        ("npm", "t" | "test") | ("bun" | "deno", "test") => "test",
        ("npm" | "pnpm" | "yarn" | "bun", "install" | "i" | "add" | "remove" | "ci" | "update") => {
            return None;
        }
        ("pre-commit", "run") => "lint",
        ("deno", "check" | "lint") => first,
        ("deno" | "bun", "run") if rest.iter().any(|word| word.ends_with(".ts") || word.ends_with(".js")) => {
            return Some(CommandKind::Run);
        }
        (_, "run" | "run-script" | "run-many" | "affected" | "exec") => {
            let behind = rest.iter().skip_while(|word| **word != first).skip(1);
            behind.into_iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default()
        }
        (_, task) => task,
    };
    kind_of_task(task)
}

/// Infers the kind of a script from its file name, as in `python3 tests/run.py` and `bash scripts/test.sh`. An inline
/// script is an experiment and has no kind.
fn kind_of_script(first: &str, rest: &[&str]) -> Option<CommandKind> {
    let inline = rest.first().is_some_and(|word| matches!(*word, "-c" | "-e" | "-" | "-n" | "-r" | "-p"));
    let is_file = first.contains('.') || first.contains('/');
    if inline || !is_file {
        return None;
    }
    if first.rsplit('/').next() == Some("manage.py") {
        return rest.get(1).and_then(|task| kind_of_django_task(task));
    }
    kind_of_named_script(first).or(Some(CommandKind::Run))
}

/// Returns the kind of a Django `manage.py` task. Tasks that only show something have no kind.
fn kind_of_django_task(task: &str) -> Option<CommandKind> {
    let shows =
        ["", "shell", "shell_plus", "dbshell", "showmigrations", "sqlmigrate", "inspectdb", "diffsettings"];
    kind_of_task(task).or((!shows.contains(&task)).then_some(CommandKind::Run))
}

/// Returns whether a file is a script, judging by its extension.
pub(super) fn is_script_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(
        ending,
        "sh" | "bash" | "zsh" | "py" | "js" | "mjs" | "cjs" | "ts" | "mts" | "rb" | "pl" | "php" | "ps1"
    )
}

/// Drops the interpreter of a script, so that `bash deploy.sh` and `./deploy.sh` are the same command.
fn without_interpreter(words: &[String]) -> &[String] {
    let program = words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    let interprets = is_python(program)
        || matches!(program, "bash" | "sh" | "zsh" | "node" | "ruby" | "perl" | "php" | "tsx" | "ts-node");
    match words.get(1) {
        Some(script) if interprets && is_script_file(script) => &words[1..],
        _ => words,
    }
}

fn kind_of_named_script(path: &str) -> Option<CommandKind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    kind_of_task(stem).filter(|sort| *sort != CommandKind::Run)
}

/// Infers the kind of a task from its name, for example from `test:unit`, `build-all` or `typecheck`.
fn kind_of_task(name: &str) -> Option<CommandKind> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let has = |words: &[&str]| name.split([':', '-', '_', '.']).any(|part| words.contains(&part));
    if has(&["lint", "typecheck", "types", "vet", "clippy", "analyze", "credo", "dialyzer", "tsc", "type"]) {
        Some(CommandKind::Lint)
    } else if has(&[
        "test",
        "tests",
        "spec",
        "specs",
        "e2e",
        "check",
        "checks",
        "verify",
        "ci",
        "integration",
        "unit",
    ]) {
        Some(CommandKind::Test)
    } else if has(&["build", "compile", "package", "all", "assemble", "dist"]) {
        Some(CommandKind::Build)
    } else if has(&["fmt", "format", "fix"]) {
        Some(CommandKind::Format)
    } else if has(&["run", "start", "dev", "serve"]) {
        Some(CommandKind::Run)
    } else {
        None
    }
}
/// Returns whether a command runs a script file with arguments, such as `bash setup.sh configure`.
pub fn is_script_call(command: &str) -> bool {
    let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
    let first = words.next().unwrap_or_default();
    let is_shell = matches!(first.rsplit('/').next(), Some("bash" | "sh" | "zsh"));
    is_shell && words.next().is_some_and(|script| script.ends_with(".sh")) && words.next().is_some()
}
