use super::*;

#[test]
fn commands_that_check_something() {
    let (test, build, lint) = (Some(Sort::Test), Some(Sort::Build), Some(Sort::Lint));
    for (command, expected) in [
        ("cargo test -p model 2>&1 | tail -5", test),
        ("cd x && RUST_LOG=debug cargo nextest run", test),
        ("cargo clippy --all-targets", lint),
        ("cargo build && cargo test", test),
        ("cargo check", build),
        ("cargo fmt", None),
        ("cargo fmt --all --check", lint),
        ("go test ./... -count=1", test),
        ("go vet ./...", lint),
        ("npm run test:unit -- --watch=false", test),
        ("npm test", test),
        ("npm install", None),
        ("pnpm run build", build),
        ("mise run lint", lint),
        ("mise run test:ci 2>&1 | tail -20", test),
        ("make", build),
        ("make test", test),
        ("python3 -m pytest tests -q", test),
        ("uv run pytest", test),
        ("timeout 60 npx vitest run", test),
        ("./test.sh", test),
        ("scripts/build.sh", build),
        ("eslint --fix src", None),
        ("prettier --check .", lint),
        ("git commit -m 'cargo test passes'", None),
        ("grep -r test src", None),
        ("cat tests/a.rs", None),
        ("ls", None),
        ("", None),
    ] {
        assert_eq!(sort(command), expected, "{command}");
    }
}

#[test]
fn one_check_by_many_names() {
    for (command, expected) in [
        ("cd /x && cargo test -p a 2>&1 | tail -5", "cargo test -p a"),
        ("FOO=1 cargo test -p a", "cargo test -p a"),
        ("cargo test -p a; echo $?", "cargo test -p a"),
        ("cargo clippy && cargo test -v -p a", "cargo test -p a"),
        ("ls -l /x", "ls -l /x"),
    ] {
        assert_eq!(core(command), expected, "{command}");
    }
}

#[test]
fn how_a_run_ended() {
    for (output, expected) in [
        (
            "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored",
            Some((false, "test result: ok. 3 passed; 0 failed; 0 ignored")),
        ),
        (
            "test result: FAILED. 1 passed; 2 failed\ntest result: ok. 1 passed; 0 failed",
            Some((true, "test result: FAILED. 1 passed; 2 failed")),
        ),
        (
            "     Summary [   0.1s] 12 tests run: 11 passed, 1 failed, 0 skipped",
            Some((true, "Summary [   0.1s] 12 tests run: 11 passed, 1 failed, 0 skipped")),
        ),
        (
            "     Summary [   0.1s] 12 tests run: 12 passed, 0 skipped",
            Some((false, "Summary [   0.1s] 12 tests run: 12 passed, 0 skipped")),
        ),
        ("ok  \texample.com/a\t0.4s\nFAIL\texample.com/b\t0.2s\nFAIL", Some((true, "FAIL"))),
        ("ok  \texample.com/a\t0.4s", Some((false, "ok  \texample.com/a\t0.4s"))),
        (
            "=========== 2 failed, 10 passed in 1.2s ===========",
            Some((true, "=========== 2 failed, 10 passed in 1.2s ===========")),
        ),
        ("10 passed in 0.12s", Some((false, "10 passed in 0.12s"))),
        (
            "Tests:       1 failed, 4 passed, 5 total\nTime: 2s",
            Some((true, "Tests:       1 failed, 4 passed, 5 total")),
        ),
        ("Tests  5 passed (5)", Some((false, "Tests  5 passed (5)"))),
        ("  12 passing (30ms)\n  1 failing", Some((true, "1 failing"))),
        ("465 passed, 0 failed", Some((false, "465 passed, 0 failed"))),
        ("he passed 3 exams", None),
        ("", None),
    ] {
        let found = ending(output).map(|ending| (ending.failed, output[ending.line].to_owned()));
        assert_eq!(found, expected.map(|(failed, line)| (failed, line.to_owned())), "{output}");
    }
}

#[test]
fn what_shows_that_a_failure_is_over() {
    for (later, passed, failed, expected) in [
        ("make lint && make test", None, "make lint", true),
        ("mise run fmt && mise run lint && mise run test", None, "mise run fmt && mise run lint 2>&1", true),
        ("make test", None, "make lint", false),
        ("make lint", None, "make lint && make test", false),
        ("cargo test 2>&1 | tail -20", None, "cargo test", false),
        ("cargo test 2>&1 | tail -20", Some(true), "cargo test 2>&1 | tail -5", true),
        ("cargo test; true", None, "cargo test", false),
        ("cargo test || true", None, "cargo test", false),
        ("cd b && make", None, "make", false),
        ("cd a && make", None, "cd b && make", false),
        ("cd a && make && make test", None, "cd a && make", true),
        ("go test ./a", None, "go test ./...", false),
        ("ls", None, "", false),
    ] {
        assert_eq!(covers(later, passed, failed), expected, "{later} after {failed}");
    }
}

#[test]
fn what_a_packet_need_not_call_open() {
    let yes =
        |later: &str, passed, failed: &str| assert!(settles(later, passed, failed), "{later} → {failed}");
    let no =
        |later: &str, passed, failed: &str| assert!(!settles(later, passed, failed), "{later} → {failed}");
    yes("cd x && cargo test -q", None, "cargo test");
    yes("git pull --rebase origin a && git push origin a", None, "git push origin a");
    no("git pull --rebase origin a; git push origin a; echo", None, "git push origin a");
    no("git push origin a || true", None, "git push origin a");
    no("git push origin b", None, "git push origin a");
    yes("git add -A && git commit --no-edit", None, "git merge origin/main --no-edit 2>&1");
    yes("git merge --abort", None, "git merge origin/main");
    no("git commit -m x; true", None, "git merge origin/main");
    no("git commit -m x", None, "git rebase main");
    yes("mise run test:ci 2>&1", None, "go test ./x/... -run TestA");
    yes("mise run fmt && mise run test:ci 2>&1 | tail -20", Some(true), "go test ./x");
    no("mise run test:ci 2>&1 | tail -20", None, "go test ./x");
    no("mise run test -- -run TestA", None, "go test ./x");
    no("mise run test:unit", None, "go test ./x");
    no("mise run test:ci", None, "git push origin a");
    yes("go test ./...", None, "go test ./x -run TestA");
    no("go test ./x/...", None, "go test ./y");
    no("go test ./... -run TestA", None, "go test ./y");
    yes("cargo test --workspace", None, "cargo test -p parse");
    no("cargo test", None, "cargo test -p parse");
    no("cargo test --workspace", None, "go test ./x");
    yes("npm test", None, "npx jest a.test.ts");
    no("npm test", None, "cargo test -p parse");
    no("pytest tests/a.py", None, "pytest tests/b.py");
}
