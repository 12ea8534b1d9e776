//! Decides whether a successful run shows that another run's failure is fixed. The successful run must have run the
//! same check, a wider check, or exactly the failed tests.

use super::CommandKind;
use super::check::{ProjectCheck, SELECTING_OPTIONS};
use crate::failure;

/// Returns whether the success of `passed` shows that the failure of `failed` is fixed.
pub fn proves_fixed(passed: &ProjectCheck, failed: &ProjectCheck) -> bool {
    if passed.identity_key() == failed.identity_key()
        || passed.program_and_arguments == failed.program_and_arguments && is_same_folder(passed, failed)
    {
        return true;
    }
    match (passed.check_kind, failed.check_kind) {
        (CommandKind::Test, CommandKind::Test)
        | (CommandKind::Lint, CommandKind::Lint)
        | (CommandKind::Build, CommandKind::Build) => {
            checks_everything(passed) && !is_failure_in_uncovered_part(passed, failed)
                || is_wider_check(passed, failed)
        }
        // Tests and lints can pass only if the code builds.
        (CommandKind::Test | CommandKind::Lint, CommandKind::Build) => builds_the_same(passed, failed),
        _ => false,
    }
}

/// Returns the names of the failed tests from the lines that [`crate::failure::error_lines`] picked. That function
/// prefers lines with test names. Returns `None` if there may be more failed tests.
pub fn failed_test_names(error: &str) -> Option<Vec<String>> {
    let mut names: Vec<String> = error.lines().filter_map(failed_test_in_line).map(str::to_owned).collect();
    if names.len() >= failure::MAX_FAILURE_LINES {
        return None;
    }
    // A subtest fails together with its parent, so the parent's name is enough.
    let all = names.clone();
    let is_sub = |name: &String| {
        all.iter().any(|other| name.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    names.retain(|name| !is_sub(name));
    (!names.is_empty()).then_some(names)
}

/// Returns the test that a line reports as failed.
pub fn failed_test_in_line(line: &str) -> Option<&str> {
    let line = line.trim();
    // The line may have a prefix, such as `[test] --- FAIL: …`.
    let line = match line.strip_prefix('[').and_then(|inner| inner.split_once("] ")) {
        Some((_, rest)) => rest,
        None => line,
    };
    let name = match () {
        () if line.starts_with("--- FAIL: ") => line["--- FAIL: ".len()..].split(' ').next(),
        () if line.starts_with("FAILED ") => {
            line["FAILED ".len()..].split(" - ").next().filter(|name| name.contains("::"))
        }
        () if line.starts_with("test ") => line["test ".len()..].strip_suffix(" ... FAILED"),
        () => None,
    };
    name.filter(|name| !name.is_empty())
}

/// Returns the reason after the name of a failed test, as in pytest's `FAILED tests/a.py::test_b - assert 1 == 2`.
pub fn reason_in_test_line(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(failed_test_in_line(line)?)?;
    rest.strip_prefix(" - ").map(str::trim).filter(|reason| !reason.is_empty())
}

impl ProjectCheck {
    pub fn selects_test(&self, test: &str) -> bool {
        if self.check_kind != CommandKind::Test {
            return false;
        }
        let short = test.rsplit("::").next().unwrap_or(test);
        self.program_and_arguments.iter().skip(1).any(|word| {
            let value = SELECTING_OPTIONS
                .iter()
                .find_map(|option| word.strip_prefix(option).and_then(|rest| rest.strip_prefix([' ', '='])));
            match value {
                Some(value) => pattern_alternatives(value)
                    .any(|name| !name.is_empty() && (test.starts_with(name) || short.starts_with(name))),
                None => word == test || word == short || test.ends_with(word.as_str()) && word.contains("::"),
            }
        })
    }
}

/// Splits a pattern such as `^(TestA|TestB)$` into names.
fn pattern_alternatives(pattern: &str) -> impl Iterator<Item = &str> {
    pattern
        .split(['|', '(', ')'])
        .map(|part| part.trim_matches(|c: char| matches!(c, '^' | '$' | '"' | '\'' | '.' | '*')))
}

/// Returns whether a check is the project's own command for all tests, builds or lints, such as `make test`, `npm run
/// lint` or `mise run test:ci`.
fn checks_everything(check: &ProjectCheck) -> bool {
    let rest: Vec<&str> = check.program_and_arguments.iter().skip(1).map(String::as_str).collect();
    let only = |known: &[&str]| rest.iter().all(|word| known.contains(word));
    match check.program() {
        program if is_task_runner(program) => match only_task(&rest) {
            Some(task) => task.split([':', '-', '_', '.']).all(|part| {
                matches!(
                    part,
                    "test"
                        | "tests"
                        | "check"
                        | "verify"
                        | "ci"
                        | "all"
                        | "lint"
                        | "build"
                        | "full"
                        | "compile"
                )
            }),
            None => false,
        },
        "go" => {
            rest.contains(&"./...") && only(&["test", "vet", "build", "./...", "-race", "-short", "-cover"])
        }
        "cargo" => {
            let all = ["--workspace", "--all"];
            let others = [
                "test",
                "nextest",
                "run",
                "clippy",
                "build",
                "check",
                "--all-targets",
                "--all-features",
                "--locked",
            ];
            only(&[&all[..], &others].concat()) && all.iter().any(|word| rest.contains(word))
        }
        "node" => rest.contains(&"--test") && only(&["--test", "--experimental-test-coverage"]),
        "golangci-lint" => only(&["run", "./..."]),
        "unittest" => only(&["discover"]),
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "ruff" | "mypy" | "tsc" | "eslint" => {
            only(&["run", "check", ".", "--noEmit", "src", "tests"])
        }
        _ => false,
    }
}

/// Returns a task runner's task, or `None` if there are several.
fn only_task<'a>(rest: &[&'a str]) -> Option<&'a str> {
    match rest.strip_prefix(&["run"]).unwrap_or(rest) {
        [task] => Some(task),
        _ => None,
    }
}

/// Returns whether a check of the whole project does not cover `failed`. This is the case if `failed` is in another
/// language or in a separate suite. `make test` does not cover `go test -tags x`, `npm test` does not cover `go test`,
/// and `mise run test` does not cover `mise run test:integration`.
fn is_failure_in_uncovered_part(passed: &ProjectCheck, failed: &ProjectCheck) -> bool {
    let another = match (language_of_program(passed.program()), language_of_program(failed.program())) {
        (Some(one), Some(other)) => one != other,
        // The check that passed is a task, which can run programs in any language.
        (None, _) => false,
        (Some(_), None) => true,
    };
    let words = |check: &ProjectCheck| -> Vec<String> {
        check.program_and_arguments.iter().skip(1).cloned().collect()
    };
    let (mine, other) = (words(passed), words(failed));
    fn named_task(words: &[String]) -> Option<&str> {
        match words {
            [run, task] if run == "run" => Some(task),
            [task] => Some(task),
            _ => None,
        }
    }
    // The task `test` does not cover `test:integration`. But if the task that passed has a name such as `test:all`,
    // it covers all tests.
    let kinds = match (named_task(&mine), named_task(&other)) {
        (Some(mine), Some(other)) if is_task_runner(passed.program()) && is_task_runner(failed.program()) => {
            let parts = |task: &str| {
                task.split([':', '-', '_', '.'])
                    .any(|part| matches!(part, "ci" | "all" | "full" | "check" | "verify"))
            };
            mine != other && !parts(mine)
        }
        _ => false,
    };
    let tagged = |words: &[String]| words.iter().any(|word| word.starts_with("-tags"));
    let tag_missed = tagged(&other)
        && !tagged(&mine)
        && !mine
            .iter()
            .any(|word| word.contains("ci") || word.contains("integration") || word.contains("all"));
    another || kinds || tag_missed
}

/// Returns whether `passed` is the same program with the same options and at least the same scope. `passed` must either
/// select no tests by name, or select them by prefixes of the names that `failed` selects. It must also name either no
/// path, or a parent of each path that `failed` names.
fn is_wider_check(passed: &ProjectCheck, failed: &ProjectCheck) -> bool {
    if passed.program() != failed.program() || !is_same_folder(passed, failed) {
        return false;
    }
    let split = |check: &ProjectCheck| {
        let (chosen, rest): (Vec<String>, Vec<String>) = check
            .program_and_arguments
            .iter()
            .skip(1)
            .cloned()
            .partition(|word| test_selector(word).is_some());
        let (places, rest): (Vec<String>, Vec<String>) =
            rest.into_iter().partition(|word| is_path_argument(word));
        (chosen, places, rest)
    };
    let (chosen, places, options) = split(passed);
    let (failed_chosen, failed_places, failed_options) = split(failed);
    // An additional option may reduce the scope, except for options such as `-race`, which only add checks.
    let adds =
        |word: &String| matches!(word.as_str(), "-race" | "--all-targets" | "--all-features" | "-cover");
    let same = options.iter().all(|word| failed_options.contains(word) || adds(word))
        && failed_options.iter().all(|word| options.contains(word) || adds(word));
    let covers_tests = chosen.is_empty() || {
        let names = |words: &[String]| -> Vec<String> {
            let values = words.iter().filter_map(|word| test_selector(word));
            values
                .flat_map(|value| {
                    pattern_alternatives(value)
                        .filter(|name| !name.is_empty())
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                })
                .collect()
        };
        let (mine, wanted) = (names(&chosen), names(&failed_chosen));
        !wanted.is_empty()
            && wanted.iter().all(|name| mine.iter().any(|part| name.starts_with(part.as_str())))
    };
    let covers_places = places.is_empty() && !failed_places.is_empty()
        || failed_places.iter().all(|place| places.iter().any(|above| contains_path(above, place)))
            && places.is_empty() == failed_places.is_empty();
    same && covers_tests && covers_places
}

fn test_selector(word: &str) -> Option<&str> {
    SELECTING_OPTIONS
        .iter()
        .find_map(|option| word.strip_prefix(option).and_then(|rest| rest.strip_prefix([' ', '='])))
}

fn is_path_argument(word: &str) -> bool {
    !word.starts_with('-') && (word.contains('/') || word.contains('.') || word.contains("::"))
}

/// Returns whether a path contains another path. `./a/...` contains `./a/b`, and `tests` contains `tests/a.py::name`.
fn contains_path(above: &str, place: &str) -> bool {
    let trim =
        |path: &str| path.trim_start_matches("./").trim_end_matches("...").trim_end_matches('/').to_owned();
    let (is_tree, above_trimmed, place_trimmed) = (above.ends_with("..."), trim(above), trim(place));
    if place.ends_with("...") && !is_tree {
        return false;
    }
    place_trimmed == above_trimmed
        || (is_tree && above_trimmed.is_empty())
        || place_trimmed
            .strip_prefix(&above_trimmed)
            .is_some_and(|rest| (is_tree || !above.contains("./")) && rest.starts_with(['/', ':']))
}

/// Returns whether `passed` builds the code that `failed` builds. Go's and Rust's tests and linters build the code they
/// examine.
fn builds_the_same(passed: &ProjectCheck, failed: &ProjectCheck) -> bool {
    let language = |program: &str| match program {
        "go" | "golangci-lint" | "gotestsum" => Some("go"),
        "cargo" => Some("cargo"),
        _ => None,
    };
    let task =
        matches!(passed.program(), "make" | "mise" | "just" | "task") && language(failed.program()).is_some();
    checks_everything(passed)
        && (task
            || language(passed.program()).is_some()
                && language(passed.program()) == language(failed.program()))
}

/// Returns the language of a program, or `None` for a task runner, which can run programs in any language.
fn language_of_program(program: &str) -> Option<&str> {
    match program {
        "make" | "mise" | "just" | "task" | "rake" | "poe" => None,
        "npm" | "pnpm" | "yarn" | "bun" | "jest" | "vitest" | "mocha" | "ava" | "playwright" | "tsc"
        | "eslint" | "node" | "turbo" | "nx" => Some("node"),
        "pytest" | "ruff" | "mypy" | "tox" | "nox" | "unittest" => Some("python"),
        "golangci-lint" | "gotestsum" | "staticcheck" => Some("go"),
        program => Some(program),
    }
}

fn is_task_runner(program: &str) -> bool {
    matches!(
        program,
        "make"
            | "mise"
            | "just"
            | "task"
            | "npm"
            | "pnpm"
            | "yarn"
            | "bun"
            | "rake"
            | "turbo"
            | "nx"
            | "deno"
            | "composer"
            | "poe"
    )
}

/// Returns whether two checks ran in the same folder. An unknown folder is assumed to be the same as any absolute
/// folder.
fn is_same_folder(one: &ProjectCheck, other: &ProjectCheck) -> bool {
    let unknown = |a: &str, b: &str| a.is_empty() && b.starts_with('/');
    one.folder == other.folder || unknown(&one.folder, &other.folder) || unknown(&other.folder, &one.folder)
}
