use super::*;

#[path = "run/pairs_tests.rs"]
mod pairs;

fn result_of(command: &str, exit: i64, output: &str) -> RunResult {
    decide_result(command, Some(exit), exit != 0, output).result
}

/// Tests a passing and a failing run of every runner, both alone and combined with everything that hides the exit
/// code.
#[test]
fn the_result_of_each_run_is_decided() {
    let mut seen = 0;
    for (command, passed, failed) in pairs::PASSED_AND_FAILED_OUTPUTS {
        for (output, expected) in [(passed, RunResult::Passed), (failed, RunResult::Failed)] {
            let code = i64::from(expected == RunResult::Failed);
            let check = |line: &str, exit: i64, expected: RunResult| {
                assert_eq!(result_of(line, exit, output), expected, "{line} (exit {exit}):\n{output}");
            };
            check(command, code, expected);
            check(&format!("cd sub && {command} 2>&1"), code, expected);
            for hidden in
                [" 2>&1 | tail -40", " | tee out.log", " || true", "; echo done", " 2>&1 | tail -40; ls"]
            {
                check(&format!("{command}{hidden}"), 0, expected);
            }
            // The output is not available, so the result is unknown.
            for hidden in [" > out.log 2>&1; ls", " > out.log 2>&1 &", " 2>&1 | grep -c zebra", " | wc -l"] {
                assert_eq!(
                    result_of(&format!("{command}{hidden}"), 0, "3"),
                    RunResult::Unknown,
                    "{command}{hidden}"
                );
            }
            seen += 1;
        }
    }
    assert!(seen >= 80, "{seen} pairs");
}

/// An output that contains a failure never counts as a pass.
#[test]
fn a_failure_in_the_output_is_never_a_pass() {
    let noise =
        ["", "compiling\n", "5 passed\n", "ok  \texample.com/b\t0.1s\n", "0 issues.\n", "Done in 1.2s.\n"];
    for (command, passed, failed) in pairs::PASSED_AND_FAILED_OUTPUTS {
        for before in noise.iter().chain([passed]) {
            for after in noise.iter().chain([passed]) {
                let output = format!("{before}\n{failed}\n{after}");
                for line in
                    [(*command).to_owned(), format!("{command} 2>&1 | tail -99"), format!("{command}; true")]
                {
                    assert_ne!(result_of(&line, 0, &output), RunResult::Passed, "{line}:\n{output}");
                }
            }
        }
    }
}

#[test]
fn what_hides_an_exit_code() {
    use RunResult::{Failed, Passed, Unknown};
    for (command, exit, output, expected) in [
        ("cargo test", 0, "", Passed),
        ("cargo test", 101, "", Failed),
        ("cargo test | tail -5", 0, "", Unknown),
        ("cargo test 2>&1 | tail -5", 0, "   Compiling x v0.1.0", Unknown),
        ("set -o pipefail; cargo test | tail -5", 0, "", Passed),
        ("set -o pipefail; cargo test | tail -5", 101, "", Failed),
        ("cargo test &", 0, "", Unknown),
        ("cargo test && cargo clippy", 0, "", Passed),
        ("cargo test && cargo clippy", 1, "", Failed),
        ("cargo test; cargo clippy", 0, "", Unknown),
        ("cd x; cargo test", 0, "", Passed),
        ("cargo test || echo broken", 0, "broken", Failed),
        ("cargo test && echo fine || echo broken", 0, "fine", Passed),
        ("cargo test && echo fine || echo broken", 0, "broken", Failed),
        ("cargo test > log 2>&1; echo \"exit: $?\"; tail log", 0, "exit: 101\nerror: x", Failed),
        ("cargo test > log 2>&1; echo \"exit: $?\"; tail log", 0, "exit: 0\nall", Passed),
        ("cargo test | tail -1; echo $?", 0, "0", Unknown),
        ("cargo test | tail -1; echo ${PIPESTATUS[0]}", 0, "x\n101", Failed),
        ("go test ./... | head -2", 0, "ok  \ta\t0.1s\nok  \tb\t0.1s", Unknown),
        ("go test ./... | head -20", 0, "ok  \ta\t0.1s\nok  \tb\t0.1s", Passed),
        ("go test ./... | grep ok", 0, "ok  \ta\t0.1s", Unknown),
        ("go test ./... | grep -E 'FAIL|ok'", 0, "ok  \ta\t0.1s", Passed),
        ("go test ./... | grep -v FAIL", 0, "ok  \ta\t0.1s", Unknown),
        ("go test ./... | grep zebra", 1, "", Unknown),
        ("for i in 1 2 3; do go test ./x; done", 0, "ok  \tx\t0.1s\nFAIL\tx\t0.1s", Failed),
        ("go build ./... 2>&1 | head -30", 0, "", Passed),
        ("go build ./... 2>&1 | grep x", 0, "", Unknown),
        ("make 2>&1 | tail -3", 0, "", Unknown),
        ("npm test", 0, "Tests:       1 failed, 4 passed, 5 total", Failed),
        (
            "cargo test",
            0,
            "test result: FAILED. 0 passed; 1 failed\ntest result: ok. 1 passed; 0 failed",
            Unknown,
        ),
        ("git push", 1, "rejected", Failed),
        ("ls | head", 0, "a", Unknown),
        ("go run ./x list | python3 -c 'print(1)'", 1, "SyntaxError", Unknown),
        ("gh api x | jq .y", 3, "jq: error", Unknown),
        ("echo y | docker build -", 1, "error", Failed),
        ("ls", 0, "a", Passed),
        ("", 0, "", Unknown),
    ] {
        assert_eq!(result_of(command, exit, output), expected, "{command} (exit {exit}): {output}");
    }
}

#[test]
fn prose_is_no_summary() {
    for line in [
        "he passed 3 exams",
        "2026-01-01 ERROR task=3 failed to open a file",
        "3 failed attempts to log in were seen by the server yesterday evening, nothing else happened",
        "    a_test.go:12: log of a test that goes well",
        "\t/usr/lib/go/src/testing/testing.go:1872 +0x190",
        "12:30:01 INFO started",
        "=== RUN   TestError",
        "--- PASS: TestFailed (0.00s)",
    ] {
        assert_eq!(result_of("make test | tail -5", 0, line), RunResult::Unknown, "{line}");
    }
}

#[test]
fn which_check_of_a_line_failed() {
    let step = |command: &str, output: &str| decide_result(command, Some(1), true, output).failed_check_index;
    assert_eq!(
        step("mise run test && mise run lint 2>&1 | tail", "1 issues:\n[lint] ERROR task failed"),
        Some(1)
    );
    assert_eq!(step("go build ./... && mise run lint", "[lint:go] ERROR task failed"), Some(1));
    assert_eq!(step("make lint && make test", "make: *** [Makefile:3: test] Error 1"), Some(1));
    assert_eq!(step("go build ./... && go test ./...", "--- FAIL: TestA (0.00s)\nFAIL"), Some(1));
    assert_eq!(step("make a && cargo test", ""), Some(0));
    assert_eq!(step("cargo clippy && cargo test", "something"), None);
}

#[test]
fn all_summaries_are_counted_and_an_empty_one_is_not_the_result() {
    let output = "test result: ok. 57 passed; 0 failed; 1 ignored\n\n   Doc-tests thing\n\nrunning 0 tests\n\n\
                  test result: ok. 0 passed; 0 failed; 0 ignored\n";
    let verdict = decide_result("cargo test", Some(0), false, output);
    assert_eq!(verdict.counts, TestCounts { passed: Some(57), failed: Some(0) });
    assert_eq!(
        verdict.deciding_line.map(|line| &output[line]),
        Some("test result: ok. 57 passed; 0 failed; 1 ignored")
    );
    let two = "test result: ok. 3 passed; 0 failed\ntest result: ok. 4 passed; 0 failed\n";
    assert_eq!(decide_result("cargo test", Some(0), false, two).counts.passed, Some(7));
    let none = "test result: ok. 0 passed; 0 failed; 0 ignored\n";
    assert_eq!(decide_result("cargo test", Some(0), false, none).counts.tests_run(), Some(0));
    assert!(decide_result("cargo build", Some(0), false, two).counts.is_none(), "a build counts no tests");
}

#[test]
fn a_run_without_tests_has_not_passed() {
    let cargo =
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\n";
    let doc_tests =
        "test result: ok. 2 passed; 0 failed\nrunning 0 tests\ntest result: ok. 0 passed; 0 failed\n";
    let rows = [
        ("python3 -m unittest", "Ran 0 tests in 0.000s\n\nOK\n", RunResult::Unknown),
        ("python3 -m unittest", "Ran 2 tests in 0.000s\n\nOK\n", RunResult::Passed),
        ("pytest | tail -1", "==== no tests ran in 0.01s ====\n", RunResult::Unknown),
        ("cargo test nothing", cargo, RunResult::Unknown),
        ("cargo test", doc_tests, RunResult::Passed),
        ("cargo clippy && cargo test", cargo, RunResult::Passed),
        ("go test ./...", "?   \ta/b\t[no test files]\n", RunResult::Unknown),
        ("go test ./...", "?   \ta/b\t[no test files]\nok  \ta/c\t0.1s\n", RunResult::Passed),
        ("npx jest --passWithNoTests", "No tests found, exiting with code 0\n", RunResult::Unknown),
    ];
    for (command, output, expected) in rows {
        let verdict = decide_result(command, Some(0), false, output);
        assert_eq!(verdict.result, expected, "{command}: {output}");
    }
    // These runners exit with an error if they find no tests.
    assert_eq!(decide_result("pytest", Some(5), true, "no tests ran in 0.01s\n").result, RunResult::Failed);
}

#[test]
fn a_cut_output_without_counted_tests_proves_nothing() {
    use RunResult::{Failed, Passed, Unknown};
    let doc_tests =
        "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; finished in 0.00s\n\n";
    let nothing = "   Doc-tests x\nrunning 0 tests\n";
    let both = format!("test result: ok. 3 passed; 0 failed\n{doc_tests}");
    let failed = format!("test result: FAILED. 2 passed; 1 failed\n{doc_tests}");
    let dotnet = "No test is available in /p/B.dll.\nPassed!  - Failed:     0, Passed:     0, Skipped:     0, Total:     0, Duration: 1 ms - B.dll\n";
    let maven = "[INFO] Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n[INFO] BUILD SUCCESS\n";
    for (command, output, expected) in [
        // The exit code is that of the filter, and the visible lines say that no tests ran.
        ("cargo test 2>&1 | tail -5", doc_tests, Unknown),
        ("cargo test -q 2>&1 | tail -n 3", doc_tests, Unknown),
        ("cargo test 2>&1 | grep -E 'FAILED|test result' | tail -1", doc_tests, Unknown),
        ("cargo test > log 2>&1; tail -5 log", doc_tests, Unknown),
        ("sh -c 'cargo test 2>&1 | tail -5'", doc_tests, Unknown),
        ("cargo test 2>&1 | Select-Object -Last 5", doc_tests, Unknown),
        ("go test ./... | tail -1", "?   \ta/b\t[no test files]\n", Unknown),
        ("go test -run X ./... | tail -1", "ok  \ta/b\t0.1s [no tests to run]\n", Unknown),
        ("dotnet test | tail -2", dotnet, Unknown),
        ("mvn test | tail -3", maven, Unknown),
        ("ctest | tail -1", "No tests were found!!!\n", Unknown),
        ("bun test | tail -3", " 0 pass\n 0 fail\nRan 0 tests across 1 file.\n", Unknown),
        // The exit code is known.
        ("set -o pipefail; cargo test 2>&1 | tail -5", doc_tests, Passed),
        ("cargo test > log 2>&1; echo \"exit: $?\"; tail -4 log", &format!("exit: 0{doc_tests}"), Passed),
        ("cargo test | tail -4; echo ${PIPESTATUS[0]}", &format!("{doc_tests}0\n"), Passed),
        // The visible lines show the result.
        ("cargo test 2>&1 | tail -5", &both, Passed),
        ("cargo test 2>&1 | tail -5", &failed, Failed),
        // The output has fewer lines than the filter prints, so it is whole.
        ("cargo test nothing | tail -20", doc_tests, Unknown),
        ("cargo test nothing", doc_tests, Unknown),
    ] {
        let verdict = decide_result(command, Some(0), false, output);
        assert_eq!(verdict.result, expected, "{command}: {output}");
        let is_whole = command.contains("nothing");
        assert_eq!(verdict.counts.tests_run() == Some(0), is_whole, "{command}: {output}");
        assert_eq!(verdict.is_doubtful, is_whole, "{command}: {output}");
        let line = verdict.deciding_line.map_or("", |line| &output[line]);
        assert!(expected == Failed || !line.contains("test result"), "{command}: {line}");
    }
    assert_eq!(result_of("cargo test 2>&1 | tail -5", 0, nothing), Unknown);
}

#[test]
fn the_most_informative_line_is_found() {
    let told = |command: &str, output: &str| {
        let verdict = decide_result(command, Some(0), false, output);
        verdict.deciding_line.map(|line| output[line].to_owned()).unwrap_or_default()
    };
    let cargo = "running 2 tests\ntest a ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\nerror: test failed";
    assert_eq!(told("cargo test | tail", cargo), "test result: FAILED. 1 passed; 1 failed; 0 ignored");
    assert_eq!(
        told("cargo test", "x\n  test result: ok. 3 passed; 0 failed\n"),
        "test result: ok. 3 passed; 0 failed"
    );
    assert_eq!(
        told("mise run test | tail", "FAIL\texample.com/b\t0.2s\nFAIL\n[test] ERROR task failed"),
        "FAIL\texample.com/b\t0.2s"
    );
    let long = format!("{}\n5 passed in 0.1s\n", "é".repeat(20_000));
    assert_eq!(told("pytest | tail -500", &long), "5 passed in 0.1s");
}

#[test]
fn the_kind_of_each_command_is_recognised() {
    use CommandKind::{Build, Format, Lint, Run, Test};
    for (command, expected) in [
        ("cargo test -p model 2>&1 | tail -5", Some(Test)),
        ("cd x && RUST_LOG=debug cargo nextest run", Some(Test)),
        ("cargo clippy --all-targets", Some(Lint)),
        ("cargo build && cargo test", Some(Test)),
        ("cargo check", Some(Build)),
        ("cargo fmt", Some(Format)),
        ("cargo fmt --all --check", Some(Lint)),
        ("go test ./... -count=1", Some(Test)),
        ("go vet ./...", Some(Lint)),
        ("go run ./cmd/x list", Some(Run)),
        ("npm run test:unit -- --watch=false", Some(Test)),
        ("npm test", Some(Test)),
        ("npm install", None),
        ("pnpm run build", Some(Build)),
        ("pnpm exec tsc --noEmit", Some(Build)),
        ("mise run lint", Some(Lint)),
        ("mise exec -- golangci-lint run ./...", Some(Lint)),
        ("mise run test:ci 2>&1 | tail -20", Some(Test)),
        ("make", Some(Build)),
        ("make test", Some(Test)),
        ("python3 -m pytest tests -q", Some(Test)),
        ("python3 -m unittest", Some(Test)),
        ("python manage.py test app", Some(Test)),
        ("python3 -c 'print(1)'", None),
        ("uv run pytest", Some(Test)),
        ("timeout 60 npx vitest run", Some(Test)),
        ("./test.sh", Some(Test)),
        ("./gradlew :app:test", Some(Test)),
        ("dotnet build", Some(Build)),
        ("scripts/build.sh", Some(Build)),
        ("eslint --fix src", Some(Format)),
        ("prettier --check .", Some(Lint)),
        ("node --test", Some(Test)),
        ("node server.js", Some(Run)),
        ("git commit -m 'cargo test passes'", None),
        ("grep -r test src", None),
        ("cat tests/a.rs", None),
        ("golangci-lint --version", None),
        ("/usr/bin/grep x", None),
        ("ls", None),
        ("", None),
    ] {
        assert_eq!(command_kind(command), expected, "{command}");
        if expected.is_some_and(CommandKind::is_check) {
            assert!(may_report_result(command), "{command}");
        }
    }
}

#[test]
fn spellings_of_one_check_have_one_key() {
    let key = |command: &str, cwd: &str| checks_of_command(command, cwd)[0].identity_key();
    let same = |one: &str, other: &str| assert_eq!(key(one, ""), key(other, ""), "{one} / {other}");
    same("cargo test -p a", "cargo test -p a 2>&1 | tail -5");
    same("cargo test -p a", "FOO=1 time cargo test -v -p a > log; echo $?");
    same("go test ./x -run 'TestA|TestB' -v -count=1", "go test -run \"TestA|TestB\" ./x");
    same("golangci-lint run ./...", "mise exec -- golangci-lint run --timeout=30m ./...");
    same("pytest -q tests", "python3 -m pytest tests --tb=short -x");
    same("npx vitest run --reporter=dot", "vitest run");
    same("./x list", "./x list --json");
    assert_eq!(key("cd a && make", ""), key("make", "a"));
    assert_eq!(
        key("cd a && make", "a"),
        key("make", "a"),
        "some harnesses tell the folder after it was entered"
    );
    assert_eq!(key("cd /top/a && make", "b"), key("make", "/top/a"));
    for (one, other) in [
        ("make a_test", "make b_test"),
        ("cargo test -p a", "cargo test -p b"),
        ("cd a && make", "cd b && make"),
    ] {
        assert_ne!(key(one, ""), key(other, ""));
    }
}

#[test]
fn commands_are_shown_as_they_would_be_typed_again() {
    for (command, expected) in [
        ("cd /x && FOO=1 cargo test -p 'a b' 2>&1 | tail -5", "FOO=1 cargo test -p 'a b'"),
        ("timeout 60 go test ./... -run \"TestA|TestB\" | head", "go test ./... -run \"TestA|TestB\""),
        ("mise exec -- golangci-lint run", "mise exec -- golangci-lint run"),
        ("uv run pytest \\\n  -q > log", "uv run pytest -q"),
        ("npx jest a.test.ts; echo $?", "npx jest a.test.ts"),
    ] {
        assert_eq!(checks_of_command(command, "")[0].command_to_repeat, expected, "{command}");
    }
    for (command, expected) in [
        ("cd /x && make lint && make test 2>&1 | tail -5", "make lint && make test"),
        ("# a comment\ngo vet ./...", "go vet ./..."),
        ("docker build . > log 2>&1; echo done", "docker build ."),
    ] {
        assert_eq!(command_to_repeat(command), expected, "{command}");
    }
}

#[test]
fn a_pass_that_covers_a_failure_solves_it() {
    let one = |command: &str| checks_of_command(command, "").remove(0);
    let yes =
        |passed: &str, failed: &str| assert!(proves_fixed(&one(passed), &one(failed)), "{passed} → {failed}");
    let no = |passed: &str, failed: &str| {
        assert!(!proves_fixed(&one(passed), &one(failed)), "{passed} → {failed}");
    };
    yes("cargo test -q", "cargo test");
    no("cd x && cargo test", "cargo test");
    no("make test", "make lint");
    yes("mise run test:ci", "go test ./x/... -run TestA");
    yes("mise run test:ci", "mise run test:integration");
    no("mise run test", "mise run test:integration");
    no("mise run test:integration", "mise run test");
    no("mise run test -- -run TestA", "go test ./x");
    no("mise run test:unit", "go test ./x");
    yes("mise run lint", "golangci-lint run ./x/...");
    yes("mise run test", "go build ./...");
    yes("go test ./...", "go test ./x -run TestA");
    yes("go test ./x/...", "go test ./x/y");
    yes("go test ./x -run TestA", "go test ./x -run TestABig");
    yes("go test ./x -run 'TestA|TestB'", "go test ./x -run TestB");
    yes("go test ./x", "go test ./x -run TestB");
    no("go test ./x -run TestABig", "go test ./x -run TestA");
    no("go test ./x/...", "go test ./y");
    no("go test ./x", "go test ./x/...");
    no("go test ./... -run TestA", "go test ./y");
    no("go test ./...", "go test -tags=integration ./x");
    yes("go build ./cmd/...", "go build ./cmd/a/b/");
    yes("cargo test --workspace", "cargo test -p parse");
    no("cargo test", "cargo test -p parse");
    no("cargo test --workspace", "go test ./x");
    yes("npm test", "npx jest a.test.ts");
    yes("node --test", "npm test");
    no("node --test test/a.test.js", "npm test");
    no("node --test --test-name-pattern=total", "npm test");
    no("node --test", "make test");
    no("npm test", "cargo test -p parse");
    yes("pytest", "pytest tests/a.py::test_x");
    yes("pytest tests", "pytest tests/a.py");
    yes("pytest tests/a.py", "pytest tests/a.py::test_x");
    yes("pytest tests/a.py", "pytest tests/a.py -k name");
    no("pytest tests/a.py", "pytest tests/b.py");
    no("go test ./... -run TestA", "go build ./...");
}

#[test]
fn the_names_of_failed_tests_are_read() {
    let names = |error: &str| failed_test_names(error).unwrap_or_default();
    assert_eq!(names("--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL"), ["TestA"]);
    assert_eq!(names("FAILED tests/a.py::test_x - assert 1 == 2"), ["tests/a.py::test_x"]);
    assert_eq!(names("test parse::odd ... FAILED"), ["parse::odd"]);
    assert_eq!(failed_test_names("FAIL"), None);
    assert_eq!(failed_test_names(&"--- FAIL: TestA (0.00s)\n".repeat(6)), None, "there may be more");
    let one = |command: &str| checks_of_command(command, "").remove(0);
    assert!(one("go test -run '^TestA$' ./x").selects_test("TestA"));
    assert!(!one("go test -run TestAB ./x").selects_test("TestA"));
    assert!(!one("go test ./x").selects_test("TestA"));
    assert!(one("pytest tests/a.py::test_x").selects_test("tests/a.py::test_x"));
    assert!(one("cargo test parse::odd").selects_test("parse::odd"));
}

#[test]
fn the_purpose_of_each_command_is_recognised() {
    let look =
        |command: &str| assert_eq!(command_purpose(command, ""), CommandPurpose::ReadOnly, "{command}");
    for command in [
        "ls x",
        "cat a | grep b",
        "rg x",
        "find . -name y",
        "test -f z",
        "which go",
        "git rev-parse HEAD",
        "gh pr view 3",
        "jq . a.json",
        "git log --oneline",
        "git branch --show-current",
        "git -C x status",
        "gh api repos/a/b/pulls/1/comments | jq .",
        "rm -f a",
        "curl localhost:3000",
        "python3 -c 'import x'",
        "python3 - <<'E'\nx\nE",
        "go list ./...",
        "for f in a b; do cat $f; done",
        "docker ps",
        "sed -n 1,3p a",
        "cd /nowhere",
        "echo a; sleep 3",
        "x=$(gh pr view 3)",
        "golangci-lint version",
        "",
    ] {
        look(command);
    }
    assert_eq!(
        command_purpose("git fetch && git rebase origin/main 2>&1", ""),
        CommandPurpose::Git(vec![GitCommandFamily::Other, GitCommandFamily::Join])
    );
    assert_eq!(
        command_purpose("git -C x push | tail -3", ""),
        CommandPurpose::Git(vec![GitCommandFamily::Push])
    );
    assert_eq!(
        command_purpose("docker build -t a .", ""),
        CommandPurpose::Other(vec!["docker build".into()])
    );
    assert_eq!(
        command_purpose("terraform plan -out p", ""),
        CommandPurpose::Other(vec!["terraform plan".into()])
    );
    assert!(matches!(command_purpose("gh api x -X POST -f body=y", ""), CommandPurpose::Other(_)));
    assert!(matches!(command_purpose("python3 -m unittest", ""), CommandPurpose::Checks(_)));
    assert!(
        GitCommandFamily::Commit.makes_up_for(GitCommandFamily::Join)
            && !GitCommandFamily::Join.makes_up_for(GitCommandFamily::Push)
            && GitCommandFamily::Join.makes_up_for(GitCommandFamily::Other)
    );
}

#[test]
fn odd_command_lines_are_survived() {
    for line in [
        "'", "\"", "\\", "&&", "| |", ">", "((", "a |", "&& a", "echo $?", "; ;", "a <<", "| tail",
        "timeout", "cargo",
    ] {
        let _ = (
            decide_result(line, Some(0), false, line),
            command_purpose(line, ""),
            command_to_repeat(line),
            checks_of_command(line, ""),
        );
    }
}

#[test]
fn the_filter_that_may_hide_a_result_is_found() {
    for (command, filter) in [
        ("cargo test 2>&1 | tail -5", Some("| tail -5")),
        ("cd a && cargo test -q 2>&1 | grep x | tail -1 && git commit -m b", Some("| grep x | tail -1")),
        ("make lint; npm test |& head -3", Some("| head -3")),
        ("cargo test 2>&1 | tee log", None),
        ("cargo test; ls | tail -5", None),
        ("cargo test && git log | head -3", None),
        ("ls | tail -5", None),
    ] {
        assert_eq!(filter_after_checks(command).as_deref(), filter, "{command}");
    }
}

#[test]
fn blank_lines_that_the_harness_removed_count_as_lines_of_a_filter() {
    let last =
        "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    for (command, is_believed) in [
        ("cargo test -q 2>&1 | tail -3", false),
        ("cargo test -q 2>&1 | tail -5", false),
        ("cargo test -q 2>&1 | tail -40", true),
        ("cargo test -q", true),
    ] {
        let counts = decide_result(command, Some(0), false, last).counts;
        assert_eq!(counts.tests_run() == Some(0), is_believed, "{command}");
    }
    // The harness may also cut the output.
    for mark in ["... [120 lines truncated] ...", "[4000 characters truncated]", "<persisted-output>"] {
        let counts = decide_result("cargo test", Some(0), false, &format!("{mark}\n{last}")).counts;
        assert_eq!(counts.tests_run(), None, "{mark}");
    }
}
