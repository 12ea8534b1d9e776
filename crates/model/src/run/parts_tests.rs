use super::super::{RunResult, decide_result};

/// The names of the results. `-` stands for a check that did not run, or that may not have run.
fn parts_of(command: &str, exit: i64, output: &str) -> String {
    let verdict = decide_result(command, Some(exit), exit != 0, output);
    let name = |result: Option<RunResult>| result.map_or("-", RunResult::name);
    verdict.parts.iter().map(|part| name(part.result)).collect::<Vec<_>>().join(" ")
}

const MAKE_TEST: &str =
    "FAIL: --round m: expected 1h30m, got 1h29m40s\nmake: *** [Makefile:12: test] Error 1\n";
const MAKE_LINT: &str = "cc -Werror src/*.c\nsrc/main.c:7:17: error: variable set but not used\nmake: *** [Makefile:15: lint] Error 1\n";
const PYTEST: &str = "FAILED tests/test_a.py::test_b - assert 1 == 2\n==== 1 failed, 2 passed in 0.1s ====\n";
const CARGO_OK: &str = "test result: ok. 3 passed; 0 failed; 0 ignored\n";
const CARGO_FAILED: &str = "test a ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\nerror: test failed, to rerun pass `--lib`\n";
const CLIPPY: &str = "error: unused variable: `x`\n --> src/a.rs:3:5\nerror: could not compile `a` (lib) due to 1 previous error\n";

#[test]
fn an_exit_code_counts_only_for_the_command_it_is_of() {
    let make_both = &format!("{MAKE_TEST}{MAKE_LINT}");
    let make_reversed = &format!("{MAKE_LINT}{MAKE_TEST}");
    let make_needed = "make: *** [Makefile:8: build/app] Error 1\nmake: *** [Makefile:15: lint] Error 1\n3 cases, 0 failed\n";
    let cargo_both = &format!("{CARGO_FAILED}{CLIPPY}");
    let cargo_lint = &format!("{CARGO_OK}{CLIPPY}");
    for (command, exit, output, expected) in [
        // `A; B`, on one line or on two.
        ("make test; make lint", 2, make_both.as_str(), "failed failed"),
        ("make lint; make test", 2, make_reversed, "failed failed"),
        ("make test\nmake lint", 2, make_both, "failed failed"),
        ("cd sub && make test; make lint", 2, make_both, "failed failed"),
        ("make test; make lint", 2, MAKE_LINT, "ran failed"),
        ("make test; make lint", 0, MAKE_TEST, "failed passed"),
        ("make test; make lint", 0, "", "ran passed"),
        ("make test; make lint", 2, "", "ran failed"),
        ("make test; make lint", 2, make_needed, "ran failed"),
        ("npm test; npm run lint", 1, "npm error code 1\n", "ran failed"),
        (
            "npm test; npm run lint",
            1,
            "Tests:       1 failed, 4 passed, 5 total\nnpm error code 1\n",
            "failed failed",
        ),
        ("npm test; npm run lint", 1, "Tests:       5 passed, 5 total\nnpm error code 1\n", "passed failed"),
        ("pytest; ruff check .", 1, PYTEST, "failed failed"),
        ("pytest; ruff check .", 0, PYTEST, "failed passed"),
        ("pytest; ruff check .", 1, "2 passed in 0.1s\nFound 1 error.\n", "passed failed"),
        ("pytest a; pytest b", 1, PYTEST, "ran failed"),
        ("cargo test; cargo clippy", 101, cargo_both, "failed failed"),
        ("cargo test; cargo clippy", 101, cargo_lint, "passed failed"),
        ("cargo test; cargo clippy", 101, CLIPPY, "ran failed"),
        ("cargo clippy; cargo test", 0, CARGO_OK, "ran passed"),
        ("cargo clippy; cargo test", 0, cargo_lint, "ran passed"),
        ("./gen.sh; make test", 2, MAKE_TEST, "ran failed"),
        // After `set -e`, commands that are separated by `;` behave as if they were joined by `&&`.
        ("set -e; cargo clippy; cargo test", 0, "", "passed passed"),
        ("set -euo pipefail\ncargo clippy\ncargo test", 101, CARGO_FAILED, "passed failed"),
        ("set -o errexit; cargo clippy; cargo test", 0, "", "passed passed"),
        ("set +o errexit; cargo clippy; cargo test", 0, "", "ran passed"),
        ("set -e; set +e; cargo clippy; cargo test", 0, "", "ran passed"),
        // The shell does not stop at a failure before `&&`.
        ("set -e; cargo clippy && cargo fmt --check; cargo test", 0, "", "ran ran passed"),
        // `A && B`
        ("make test && make lint", 0, "", "passed passed"),
        ("make test && make lint", 2, MAKE_LINT, "passed failed"),
        ("make test && make lint", 2, MAKE_TEST, "failed -"),
        ("make test && make lint", 2, "", "- -"),
        ("cargo test && cargo clippy", 101, cargo_lint, "passed failed"),
        ("cargo test && cargo clippy", 101, CLIPPY, "- -"),
        ("cargo clippy && cargo test", 101, CLIPPY, "failed -"),
        ("pytest && ruff check .", 1, PYTEST, "failed -"),
        ("cargo build && ./target/debug/a", 101, CLIPPY, "failed -"),
        ("cargo build && ./target/debug/a", 2, "a: no file\n", "- -"),
        ("npm test && npm run lint", 1, "npm error code 1\n", "- -"),
        ("make lint; pytest && ruff check .", 1, PYTEST, "ran failed -"),
        // `A || B`
        ("make test || make lint", 0, "", "ran ran"),
        ("make test || make lint", 2, "", "failed failed"),
        ("pytest || ruff check .", 0, PYTEST, "failed ran"),
        ("pytest && ruff check . || make lint", 2, "", "ran ran failed"),
        // `A & B`
        ("make test & make lint", 0, "", "ran passed"),
        ("make test & make lint", 2, MAKE_TEST, "failed failed"),
        ("make test & make lint &", 0, "", "ran ran"),
        // Pipes, loops and groups
        ("make test | tail -5; make lint | tail -5", 0, "", "ran ran"),
        ("make test | tail -5; make lint | tail -5", 0, make_both, "failed failed"),
        ("pytest | grep -c x; make lint", 0, "2 passed in 0.1s\n", "ran passed"),
        ("make test && (make lint; make build)", 2, "", "ran ran -"),
        ("for x in a b; do make test; make lint; done", 2, "", "ran ran"),
        ("make test; make lint; true", 0, "", "ran ran"),
        ("make test; make lint && ls x", 1, "", "ran -"),
    ] {
        assert_eq!(parts_of(command, exit, output), expected, "{command} (exit {exit}):\n{output}");
    }
}

#[test]
fn the_line_has_passed_only_if_each_check_has() {
    let result =
        |command: &str, exit: i64, output: &str| decide_result(command, Some(exit), exit != 0, output).result;
    for (command, exit, output, expected) in [
        ("cargo clippy; cargo test", 0, CARGO_OK, RunResult::Unknown),
        ("pytest; ruff check .", 0, "2 passed in 0.1s\nAll checks passed!\n", RunResult::Passed),
        ("cargo clippy && cargo test", 0, CARGO_OK, RunResult::Passed),
        ("set -e; cargo clippy; cargo test", 0, CARGO_OK, RunResult::Passed),
        ("make test; make lint", 0, MAKE_TEST, RunResult::Failed),
    ] {
        assert_eq!(result(command, exit, output), expected, "{command} (exit {exit}):\n{output}");
    }
}

#[test]
fn each_check_has_the_line_of_its_own_output_and_its_own_exit_code() {
    let told = |command: &str, exit: i64, output: &str| {
        let verdict = decide_result(command, Some(exit), exit != 0, output);
        let one = |part: &super::PartVerdict| {
            let line = part.deciding_line.clone().map_or("", |line| &output[line]);
            (line.to_owned(), part.owns_exit_code)
        };
        verdict.parts.iter().map(one).collect::<Vec<_>>()
    };
    let (fail, error) = (
        "FAIL: --round m: expected 1h30m, got 1h29m40s",
        "src/main.c:7:17: error: variable set but not used",
    );
    let row = |line: &str, owns: bool| (line.to_owned(), owns);
    assert_eq!(
        told("make test; make lint", 2, &format!("{MAKE_TEST}{MAKE_LINT}")),
        [row(fail, false), row(error, true)]
    );
    assert_eq!(
        told("make lint; make test", 2, &format!("{MAKE_LINT}{MAKE_TEST}")),
        [row(error, false), row(fail, true)]
    );
    assert_eq!(
        told("make lint && make test", 0, "cc -c\nlint ok\n13 cases, 0 failed\n"),
        [row("", true), row("13 cases, 0 failed", true)]
    );
    assert_eq!(told("make test && make lint", 2, MAKE_LINT), [row("", false), row(error, true)]);
}
