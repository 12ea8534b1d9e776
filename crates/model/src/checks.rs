//! Commands that check something: which they are, and what their output says of how it went.
//!
//! The exit code alone does not tell: `cargo test | tail` ends well whatever the tests did.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::shell;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sort {
    Test,
    Build,
    Lint,
}

/// The last thing a test runner said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Where its line stands in the output.
    pub line: Range<usize>,
    pub failed: bool,
}

/// A word in every command that runs tests, so that the others cost nothing.
pub fn may_test(command: &str) -> bool {
    ["test", "spec", "check", "tox", "verify"].iter().any(|word| command.contains(word))
}

/// What a command line checks, if anything; where it does several things, the strongest.
pub fn sort(command: &str) -> Option<Sort> {
    shell::simple(command).iter().filter_map(|words| sort_of(words)).min()
}

/// A command line without what does not change what it checks: folder, variables, redirections, what it is piped to.
/// Two lines with the same core are the same check.
pub fn core(command: &str) -> String {
    let all = shell::simple(command);
    let sorted = all.iter().filter_map(|words| Some((sort_of(words)?, words)));
    let checking = sorted.min_by_key(|(sort, _)| *sort).map(|(_, words)| words).or_else(|| all.first());
    let telling =
        |word: &&str| !matches!(*word, "-v" | "--verbose" | "-q" | "--quiet" | "-count=1" | "--nocapture");
    let words = checking.map(|words| strip(words)).unwrap_or_default();
    words.iter().map(String::as_str).filter(telling).collect::<Vec<_>>().join(" ")
}

/// Whether a command line that ended well shows that what failed in another goes well now: it did the same, in the same
/// folders, and nothing hides how that ended. `passed` is what a test runner itself said.
pub fn covers(later: &str, passed: Option<bool>, failed: &str) -> bool {
    let plain = later.replace("2>&1", "").replace("&&", "");
    if plain.contains(['|', ';', '&', '\n']) && passed != Some(true) {
        return false;
    }
    let steps = |command: &str| -> Vec<Vec<String>> {
        let all = shell::simple(command).into_iter().map(|words| strip(&words).to_vec());
        all.filter(|words| words.first().is_some_and(|program| !is_filter(program))).collect()
    };
    let (done, wanted) = (steps(later), steps(failed));
    let is_cd = |step: &&Vec<String>| step[0] == "cd";
    !wanted.is_empty()
        && wanted.iter().all(|step| done.contains(step))
        && done.iter().filter(is_cd).eq(wanted.iter().filter(is_cd))
}

/// Programs that only show a part of what another printed.
fn is_filter(program: &str) -> bool {
    matches!(program, "tail" | "head" | "grep" | "cat" | "tee" | "less" | "sort" | "wc" | "sed" | "awk")
}

/// Whether a failure need not be open any more, once `later` has passed: besides what [`covers`] says, the same check in
/// other words, a run of all tests, and the commit of a merge. What the exit code alone tells of a pipe does not count.
pub fn settles(later: &str, passed: Option<bool>, failed: &str) -> bool {
    let lost = core(failed);
    if core(later) == lost && (sort(failed).is_some() || !later.contains("||")) {
        return true;
    }
    let chained = shell::chained(later);
    if covers(later, passed, failed) || ends_a_merge(&chained, failed) {
        return true;
    }
    let is_known = passed == Some(true) || passed.is_none() && !chained.is_empty();
    is_known && sort(failed) == Some(Sort::Test) && runs_all(later, failed)
}

/// A merge that stopped at a conflict is over once it is committed or given up: git refuses either before.
fn ends_a_merge(chained: &[Vec<String>], failed: &str) -> bool {
    let is = |words: &Vec<String>, names: &[&str]| {
        let mut words = strip(words).iter().map(String::as_str);
        words.next() == Some("git") && words.next().is_some_and(|name| names.contains(&name))
    };
    let has = |words: &[String], option: &str| words.iter().any(|word| word == option);
    let merges = ["merge", "cherry-pick", "revert"];
    let failed = shell::chained(failed);
    let [merge] = failed.as_slice() else { return false };
    is(merge, &merges)
        && chained.iter().any(|words| {
            is(words, &["commit"])
                || is(words, &merges) && (has(words, "--continue") || has(words, "--abort"))
        })
}

/// Whether a line runs all the tests that the other ran some of.
fn runs_all(later: &str, failed: &str) -> bool {
    let tested = |command: &str| {
        let all = shell::simple(command);
        let words = all.into_iter().find(|words| sort_of(words) == Some(Sort::Test))?;
        let words = strip(&words).to_vec();
        let program = words.first()?.rsplit('/').next()?.to_owned();
        Some((program, words))
    };
    let (Some((program, words)), Some((other, _))) = (tested(later), tested(failed)) else { return false };
    let rest: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let only = |known: &[&str]| rest.iter().all(|word| known.contains(word));
    match program.as_str() {
        "go" => {
            program == other && only(&["test", "./...", "-v", "-race", "-count=1"]) && rest.contains(&"./...")
        }
        "cargo" => {
            let all = ["--workspace", "--all"];
            let others = ["test", "nextest", "run", "--all-targets", "--all-features", "--locked", "-q"];
            program == other
                && only(&[&all[..], &others].concat())
                && all.iter().any(|word| rest.contains(word))
        }
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" => {
            program == other && only(&["run", "-q", "-v", "-x", "--ci"])
        }
        "npm" | "pnpm" | "yarn" | "bun" => {
            let is_script = ["jest", "vitest", "mocha", "ava", "playwright"].contains(&other.as_str());
            (program == other || is_script) && is_task_for_all(&rest)
        }
        // Whatever the project is made of: its own way to run everything.
        "make" | "mise" | "just" | "task" => is_task_for_all(&rest),
        _ => false,
    }
}

/// `test`, `run test:ci`: a task that names no part of the tests, and is given none.
fn is_task_for_all(words: &[&str]) -> bool {
    let [task] = words.strip_prefix(&["run"]).unwrap_or(words) else { return false };
    task.split([':', '-', '_', '.'])
        .all(|part| matches!(part, "test" | "tests" | "check" | "verify" | "ci" | "all"))
}

fn sort_of(words: &[String]) -> Option<Sort> {
    let words: Vec<&str> = strip(words).iter().map(String::as_str).collect();
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let first = rest.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let is_fix = rest.iter().any(|word| matches!(*word, "--fix" | "--write" | "-w"));
    match program {
        "cargo" => match first {
            "test" | "t" | "nextest" => Some(Sort::Test),
            "build" | "b" | "check" | "c" => Some(Sort::Build),
            "clippy" | "deny" => Some(Sort::Lint),
            "fmt" if rest.contains(&"--check") => Some(Sort::Lint),
            "xtask" => script(rest.get(1).copied().unwrap_or_default()),
            _ => None,
        },
        "go" => match first {
            "test" => Some(Sort::Test),
            "build" => Some(Sort::Build),
            "vet" => Some(Sort::Lint),
            _ => None,
        },
        "npm" | "pnpm" | "yarn" | "bun" | "mise" | "just" | "task" | "rake" | "composer" | "deno" => {
            let name = if matches!(first, "run" | "run-script") {
                rest.iter().skip_while(|word| **word != first).nth(1).copied().unwrap_or_default()
            } else {
                first
            };
            if first == "t" && program == "npm" { Some(Sort::Test) } else { script(name) }
        }
        "make" | "ninja" => {
            if first.is_empty() {
                Some(Sort::Build)
            } else {
                script(first)
            }
        }
        "mvn" | "mvnw" | "gradle" | "gradlew" | "dotnet" | "swift" | "mix" | "bazel" | "zig" => script(first),
        "pytest" | "jest" | "vitest" | "mocha" | "rspec" | "phpunit" | "tox" | "nox" | "ctest" | "bats"
        | "ava" | "gotestsum" | "playwright" => Some(Sort::Test),
        "tsc" | "cmake" | "webpack" => Some(Sort::Build),
        "eslint" | "ruff" | "mypy" | "pyright" | "flake8" | "pylint" | "golangci-lint" | "shellcheck"
        | "biome" | "rubocop" | "staticcheck"
            if !is_fix =>
        {
            Some(Sort::Lint)
        }
        "prettier" | "black" | "gofmt"
            if rest.iter().any(|word| matches!(*word, "--check" | "-l" | "-d")) =>
        {
            Some(Sort::Lint)
        }
        _ => program.strip_suffix(".sh").or_else(|| program.strip_suffix(".py")).and_then(script),
    }
}

/// A task by its name: `test:unit`, `build-all`, `typecheck`.
fn script(name: &str) -> Option<Sort> {
    let name = name.rsplit('/').next().unwrap_or(name);
    let parts: Vec<&str> = name.split([':', '-', '_', '.']).collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    if has(&["test", "tests", "spec", "e2e", "check", "verify", "ci"]) {
        Some(Sort::Test)
    } else if has(&["build", "compile", "package", "all"]) {
        Some(Sort::Build)
    } else if has(&["lint", "typecheck", "types", "vet"]) {
        Some(Sort::Lint)
    } else {
        None
    }
}

/// Without variables in front, and without programs that only start another.
fn strip(mut words: &[String]) -> &[String] {
    loop {
        let skipped = match words.first().map(String::as_str) {
            Some("sudo" | "time" | "nice" | "npx" | "bunx" | "exec" | "env" | "command" | "xvfb-run") => 1,
            Some("timeout") => 2,
            Some("uv" | "poetry" | "pdm" | "pipenv" | "bundle" | "rtk")
                if words.get(1).is_some_and(|word| matches!(word.as_str(), "run" | "exec")) =>
            {
                2
            }
            Some(python) if python.starts_with("python") && words.get(1).is_some_and(|word| word == "-m") => {
                2
            }
            Some(word) if is_assignment(word) => 1,
            _ => return words,
        };
        words = words.get(skipped..).unwrap_or_default();
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

/// How the output of a test run ends: the last line in which a runner sums up, and whether any run in it failed.
pub fn ending(output: &str) -> Option<Ending> {
    let mut found: Option<Ending> = None;
    let mut next = 0;
    for whole in output.split_inclusive('\n') {
        let start = next + (whole.len() - whole.trim_start().len());
        let line = whole.trim();
        next += whole.len();
        if let Some(failed) = summary(line) {
            let failed_before = found.as_ref().is_some_and(|known| known.failed);
            // One package that failed is the news, also when others follow that passed.
            if failed || !failed_before {
                found = Some(Ending { line: start..start + line.len(), failed });
            }
        }
    }
    found
}

/// Whether a line sums up a run, and if so, whether the run failed.
fn summary(line: &str) -> Option<bool> {
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Some(rest.starts_with("FAILED")); // cargo test
    }
    if line.starts_with("Summary [") {
        return Some(number_before(line, "failed").is_some_and(|n| n > 0)); // nextest
    }
    if line == "FAIL" || line.starts_with("FAIL\t") || line.starts_with("--- FAIL:") {
        return Some(true); // go test
    }
    if line == "PASS" || line.starts_with("ok  \t") {
        return Some(false);
    }
    let runner =
        ["Tests:", "Test Suites:", "Tests  ", "Test Files  "].iter().any(|name| line.starts_with(name));
    let pytest = line.starts_with('=') && line.ends_with('=') && line.contains(" in ");
    let mocha = line.ends_with("passing") || line.contains(" passing (") || line.ends_with(" failing");
    let counted = number_before(line, "passed").is_some() || number_before(line, "failed").is_some();
    if mocha {
        return Some(line.contains("failing"));
    }
    if counted && (runner || pytest || (line.contains(" in ") && line.contains('s')) || line.contains(", ")) {
        let broken =
            ["failed", "error", "errors"].iter().any(|word| number_before(line, word).is_some_and(|n| n > 0));
        return Some(broken);
    }
    None
}

/// The number that stands right before a word: `3 failed`.
fn number_before(line: &str, word: &str) -> Option<u64> {
    let mut words = line.split([' ', ',', '=', '(', ')', '|']).filter(|part| !part.is_empty());
    let mut before = words.next()?;
    for part in words {
        if part.trim_end_matches([';', '.', ':']) == word
            && let Ok(number) = before.parse()
        {
            return Some(number);
        }
        before = part;
    }
    None
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
