use super::*;
use crate::redact::{RedactOptions, Redacted};

/// One shell call: its command, exit code and output.
type ShellCall<'a> = (&'a str, i64, &'a str);

/// The failed command and the alternative that worked.
type FailureAndAlternative = Option<(&'static str, &'static str)>;

const CHECKOUT: &str = "/home/u/app";

fn record_of_call<'a>((command, exit, output): ShellCall<'a>, id: String) -> JournalRecord<'a> {
    let failed = exit != 0;
    let verdict = run::decide_result(command, Some(exit), failed, output);
    let hidden = verdict.result == RunResult::Failed && !failed;
    JournalRecord {
        event: "tool-done".into(),
        tool: "Bash".into(),
        id: id.into(),
        worktree: CHECKOUT.into(),
        command: command.into(),
        ok: Some(!failed),
        exit: Some(exit),
        error: if failed || hidden { output } else { "" }.into(),
        ended: match verdict.result {
            RunResult::Unknown => "".into(),
            ended => ended.name().into(),
        },
        step: verdict.failed_check_index,
        counts: verdict.counts,
        checks_ended: verdict.checks_result.map_or("", RunResult::name).into(),
        parts: verdict
            .parts
            .into_iter()
            .map(|part| RecordedCheckOutcome {
                ended: part.result.map_or("", RunResult::name).to_owned(),
                exit: Some(exit).filter(|_| part.owns_exit_code),
                result: part.deciding_line.map(|line| output[line].to_owned()).unwrap_or_default(),
            })
            .collect(),
        result: verdict.deciding_line.map(|line| output[line].to_owned()).unwrap_or_default().into(),
        ..JournalRecord::default()
    }
}

fn fold_calls(calls: &[ShellCall]) -> Digest {
    let mut digest = Digest::new("s");
    for (n, call) in calls.iter().enumerate() {
        digest.fold_record(&record_of_call(*call, format!("t{n}")));
    }
    digest
}

fn open_failures(calls: &[ShellCall]) -> Vec<String> {
    fold_calls(calls).open_failures().map(Failure::command_to_repeat).collect()
}

#[test]
fn a_cut_output_keeps_the_error_of_the_earlier_run() {
    const TESTS: &str = "python3 -m unittest";
    const WHOLE: &str = "FAIL: test_a (t.T.test_a)\nAssertionError: 1 != 2\nFAILED (failures=1)";
    const CUT: ShellCall =
        ("python3 -m unittest 2>&1 | tail -3", 0, "Ran 2 tests in 0.001s\n\nFAILED (failures=1)");
    let whole: ShellCall = (TESTS, 1, WHOLE);
    let error = |calls: &[ShellCall]| {
        let digest = fold_calls(calls);
        let open: Vec<&Failure> = digest.open_failures().collect();
        assert_eq!(open.len(), 1, "{calls:?}");
        open[0].error.clone()
    };
    assert!(error(&[whole, CUT]).contains("AssertionError: 1 != 2"));
    assert!(error(&[whole, CUT, CUT]).contains("test_a"));
    assert!(error(&[whole, ("ls", 0, "a.py"), CUT]).contains("test_a"));
    // A file may have been changed, so another test may have failed.
    assert!(!error(&[whole, ("python3 fix.py", 0, ""), CUT]).contains("test_a"));
    assert!(!error(&[CUT]).contains("test_a"));
}

const FAILING_OUTPUT: &str = "--- FAIL: TestA (0.00s)\nFAIL\texample.com/x\t0.1s\nFAIL";
const PASSING_OUTPUT: &str = "ok  \texample.com/x\t0.1s";

#[test]
fn which_failures_are_open() {
    for (calls, expected) in [
        (&[("go test ./x", 1, FAILING_OUTPUT)][..], &["go test ./x"][..]),
        (&[("go test ./x 2>&1 | tail -5", 0, FAILING_OUTPUT)], &["go test ./x"]),
        (&[("go test ./x", 1, FAILING_OUTPUT), ("go test ./x -v | tail", 0, PASSING_OUTPUT)], &[]),
        (&[("go test ./x", 1, FAILING_OUTPUT), ("go test ./x | wc -l", 0, "3")], &["go test ./x"]),
        (&[("go test ./x", 1, FAILING_OUTPUT), ("go test ./...", 0, PASSING_OUTPUT)], &[]),
        (&[("go test ./...", 1, "FAIL"), ("go test ./x", 0, PASSING_OUTPUT)], &["go test ./..."]),
        (&[("go test ./x", 1, FAILING_OUTPUT), ("cd /home/u/app && go test ./x", 0, PASSING_OUTPUT)], &[]),
        (
            &[("go test ./x", 1, FAILING_OUTPUT), ("cd sub && go test ./x", 0, PASSING_OUTPUT)],
            &["go test ./x"],
        ),
        // The check is recognised inside `bash -lc`.
        (&[("bash -lc 'go test ./x'", 1, FAILING_OUTPUT)], &["go test ./x"]),
        (
            &[
                ("go test ./x", 1, FAILING_OUTPUT),
                ("bash -lc \"go test ./x 2>&1 | tail -3\"", 0, PASSING_OUTPUT),
            ],
            &[],
        ),
        (
            &[
                ("sh -c 'cd sub && go test ./x'", 1, FAILING_OUTPUT),
                ("cd sub && go test ./x", 0, PASSING_OUTPUT),
            ],
            &[],
        ),
        // The failed test passes when run by name.
        (&[("make test | tail", 0, FAILING_OUTPUT), ("go test -run TestA ./x", 0, PASSING_OUTPUT)], &[]),
        (
            &[("make test | tail", 0, FAILING_OUTPUT), ("go test -run TestB ./x", 0, PASSING_OUTPUT)],
            &["make test"],
        ),
        // Repeated failures of one check share one entry, which has the latest error.
        (
            &[("go test ./x", 1, FAILING_OUTPUT), ("go test ./x 2>&1 | head -50", 0, FAILING_OUTPUT)],
            &["go test ./x"],
        ),
        // Each check of a command line is judged separately.
        (&[("make lint && make test", 1, "make: *** [Makefile:3: lint] Error 1"), ("make lint", 0, "")], &[]),
        (&[("make fmt && make lint", 1, "1 issues:"), ("make lint", 0, "")], &[]),
        (&[("make lint && make test", 1, "?"), ("make lint", 0, "")], &["make lint && make test"]),
        (&[("make lint && make test", 1, "?"), ("make lint", 0, ""), ("make test", 0, "")], &[]),
        // Tests and builds that use neither a Makefile nor a project script also count.
        (&[("python3 -m unittest", 1, "FAILED (failures=1)")], &["python3 -m unittest"]),
        (&[("docker build .", 1, "ERROR: failed to solve")], &["docker build ."]),
        (&[("docker build .", 1, "ERROR: failed to solve"), ("docker build -t x .", 0, "")], &[]),
        (&[("terraform plan", 1, "Error: no credentials")], &["terraform plan"]),
        (&[("git push", 1, "! [rejected]"), ("git pull --rebase", 0, "")], &["git push"]),
        (&[("git push", 1, "! [rejected]"), ("git pull --rebase && git push", 0, "")], &[]),
        (&[("git merge a 2>&1", 1, "CONFLICT (content): x"), ("git add x", 0, "")], &["git merge a"]),
        (&[("git merge a", 1, "CONFLICT (content): x"), ("git add x && git commit --no-edit", 0, "")], &[]),
        (&[("git rebase a", 1, "CONFLICT (content): x"), ("git rebase --abort", 0, "")], &[]),
        (&[("git push 2>&1 | tail -3", 0, " ! [rejected]  main -> main (fetch first)")], &["git push"]),
        (
            &[
                ("git checkout main", 128, "fatal: 'main' is already used by worktree"),
                ("git checkout -b x", 0, ""),
            ],
            &[],
        ),
        // These failures never count as open.
        (
            &[
                ("ls nowhere", 2, "No such file"),
                ("grep x y", 1, ""),
                ("gh pr view 3", 1, "no pull requests"),
            ],
            &[],
        ),
        (
            &[("jq .a b.json", 3, "jq: error"), ("test -f x", 1, ""), ("git rev-parse x", 128, "fatal: bad")],
            &[],
        ),
        (&[("cargo test --fast", 2, "error: unexpected argument '--fast' found")], &[]),
        (&[("cd /nowhere && make test", 1, "cd: no such file or directory: /nowhere")], &[]),
        (&[("mise run lint:full", 1, "mise ERROR no task lint:full found")], &[]),
        (&[("./app --bad", 2, "usage: app")], &[]),
        // A program that is tried out may be meant to fail.
        (
            &[
                ("cargo build -q && ./target/debug/app --since < /dev/null", 2, "app: --since needs a value"),
                ("ls", 0, ""),
            ],
            &["./target/debug/app --since < /dev/null"],
        ),
        (
            &[
                ("cargo build -q && cargo run -q -- --since", 2, "error: a value is required"),
                ("true", 0, ""),
                ("pip install y", 0, ""),
            ],
            &[],
        ),
        (&[("make && ./durfmt x", 2, "cc -c a.c\ndurfmt: bad"), ("pip install y", 0, "")], &[]),
        (
            &[
                ("./target/debug/app --since && cargo build", 2, "--since needs a value"),
                ("pip install y", 0, ""),
            ],
            &[],
        ),
        (&[("cargo build && ./target/debug/app a && cargo test", 2, "bad a"), ("pip install y", 0, "")], &[]),
        // The build failed, so the program did not run.
        (
            &[
                ("cargo build -q && ./target/debug/app a", 101, "error: could not compile `app`"),
                ("pip install y", 0, ""),
            ],
            &["cargo build -q && ./target/debug/app a"],
        ),
        (
            &[
                ("cargo build -q && ./target/debug/app a", 101, "error: could not compile `app`"),
                ("cargo build", 0, ""),
            ],
            &[],
        ),
        (
            &[
                (
                    "cargo build && ./target/debug/app a && cargo test",
                    101,
                    "test result: FAILED. 1 passed; 1 failed",
                ),
                ("cargo test", 0, ""),
            ],
            &[],
        ),
        (
            &[
                ("cargo build -q && ./target/debug/app a", 101, "thread 'main' panicked at src/main.rs:3:5"),
                ("pip install y", 0, ""),
            ],
            &["./target/debug/app a"],
        ),
        (&[("./app run", 101, "thread 'main' panicked at src/main.rs:3:5")], &["./app run"]),
        (&[("go run ./x", 1, "panic: nil"), ("go run ./x --json", 0, "")], &[]),
        // The last attempt is open until another attempt follows.
        (&[("python3 -c 'import y'", 1, "Traceback (most recent call last):")], &["python3 -c 'import y'"]),
        (
            &[("python3 -c 'import y'", 1, "ImportError: no y"), ("grep -r y .", 1, "")],
            &["python3 -c 'import y'"],
        ),
        (&[("python3 -c 'import y'", 1, "ImportError: no y"), ("pip install y", 0, "")], &[]),
        (&[("./deploy.sh staging", 1, "staging: credentials expired")], &["./deploy.sh staging"]),
        (&[("psql -f schema.sql", 3, "ERROR: relation users exists")], &["psql -f schema.sql"]),
        (&[("node migrate.js", 1, "0042 does not apply"), ("node migrate.js", 0, "")], &[]),
        (&[("./deploy.sh | tail -3", 0, "done")], &[]),
        (
            &[
                ("golangci-lint run ./...", 127, "command not found"),
                ("mise exec -- golangci-lint run ./...", 0, "0 issues."),
            ],
            &[],
        ),
    ] {
        assert_eq!(open_failures(calls), expected, "{calls:?}");
    }
}

#[test]
fn it_stays_open_through_compactions_and_goes_on_in_another_session() {
    let mut digest = fold_calls(&[("go test ./x", 1, FAILING_OUTPUT), ("docker build .", 1, "failed")]);
    digest.fold_record(&JournalRecord {
        event: "summary".into(),
        text: "all is well".into(),
        ..JournalRecord::default()
    });
    digest.fold_record(&record_of_call(("ls", 0, ""), "later".into()));
    assert_eq!(digest.open_failures().count(), 2);
    let goes_on = |calls: &[ShellCall]| -> Vec<String> {
        fold_calls(calls)
            .append_to_earlier_digest(digest.clone())
            .open_failures()
            .map(Failure::command_to_repeat)
            .collect()
    };
    assert_eq!(goes_on(&[("ls", 0, "")]), ["docker build .", "go test ./x"]);
    assert_eq!(goes_on(&[("go test ./...", 0, PASSING_OUTPUT)]), ["docker build ."]);
    assert_eq!(
        goes_on(&[("go test ./x | tail", 0, FAILING_OUTPUT), ("docker build . -q", 0, "")]),
        ["go test ./x"]
    );
}

#[test]
fn the_latest_error_counts() {
    let digest = fold_calls(&[("make test", 2, "FAILED one"), ("make test 2>&1 | tail", 0, "FAILED two")]);
    let errors: Vec<&str> = digest.open_failures().map(|failure| failure.error.as_str()).collect();
    assert_eq!(errors, ["FAILED two"]);
}

#[test]
fn older_journals_are_read() {
    let mut digest = Digest::new("s");
    let old = |id: &'static str, command: &'static str, ok, passed| JournalRecord {
        event: "tool-done".into(),
        tool: "Bash".into(),
        id: id.into(),
        command: command.into(),
        ok: Some(ok),
        exit: Some(i64::from(!ok)),
        passed,
        ..JournalRecord::default()
    };
    digest.fold_record(&old("1", "cargo test | tail", true, Some(false)));
    digest.fold_record(&old("2", "cargo clippy", false, None));
    digest.fold_record(&old("3", "cargo build | tail", true, None));
    let open: Vec<String> = digest.open_failures().map(Failure::command_to_repeat).collect();
    assert_eq!(open, ["cargo clippy", "cargo test"]);
    assert_eq!(digest.commands[2].last_result, RunResult::Unknown);
}

#[test]
fn checks_once_each_with_their_last_result() {
    let digest = fold_calls(&[
        ("go test ./x -run TestA | tail", 0, FAILING_OUTPUT),
        ("mise run fmt && mise run lint 2>&1 | tail -5", 0, "0 issues."),
        ("mise run test 2>&1 | tail -30", 0, FAILING_OUTPUT),
        ("mise run test 2>&1 | tail -3", 0, PASSING_OUTPUT),
        ("cd web && npm run build | tail", 0, "bundling"),
    ]);
    let told: Vec<(&str, &str, RunResult)> = digest
        .check_runs()
        .iter()
        .map(|used| (used.run.as_str(), used.folder.as_str(), used.last_result))
        .collect();
    assert_eq!(
        told,
        [
            ("mise run test", "", RunResult::Passed),
            ("npm run build", "web", RunResult::Unknown),
            ("mise run lint", "", RunResult::Passed),
            ("mise run fmt", "", RunResult::Passed),
        ]
    );
}

#[test]
fn repeated_failures_become_traps() {
    let told = |calls: &[ShellCall]| -> Vec<(String, String, u32)> {
        let traps = fold_calls(calls).traps();
        traps.into_iter().map(|trap| (trap.what, trap.worked, trap.times)).collect()
    };
    let lint = [
        ("golangci-lint run ./...", 127, "command not found: golangci-lint"),
        ("ls", 0, ""),
        ("mise exec -- golangci-lint run ./...", 0, "0 issues."),
    ];
    let worked = "mise exec -- golangci-lint run ./...".to_owned();
    assert_eq!(told(&lint), [("golangci-lint run ./...".to_owned(), worked, 1)]);
    assert_eq!(told(&lint[..1]), [], "a slip that came once, and nothing is known to work instead");
    let twice = [("./run --port 3000", 1, "Error: listen EADDRINUSE: address already in use"); 2];
    assert_eq!(told(&twice).len(), 1);
    assert_eq!(
        told(&[("make test", 1, "FAIL"), ("make test", 1, "FAIL")]),
        [],
        "a failing test is not a trap"
    );
    let pairs: [(&str, &str, &str, FailureAndAlternative); 7] = [
        // Only two parts are recorded: the part of the line that the error is about, and the part that replaced it.
        (
            "cd web && lint run && make test",
            "bash: line 1: lint: command not found",
            "echo x; npx lint run | tail",
            Some(("lint run", "npx lint run")),
        ),
        (
            "make fmt && gh pr view --bogus",
            "gh: unknown flag: --bogus",
            "gh pr view --json title",
            Some(("gh pr view --bogus", "gh pr view --json title")),
        ),
        // It is unknown which of the two commands failed.
        ("make fmt && gh pr view", "unknown flag: --bogus", "gh pr view --json title", None),
        ("lint run", "command not found: lint", "npx lint version", None),
        // The folder was wrong, not the command.
        ("cd /tmp/x && git log", "(eval):cd:1: no such file or directory: /tmp/x", "git log --oneline", None),
        ("$TOOL run", "(eval):1: permission denied:", "tool run --x", None),
        ("lint run", "command not found: lint", "make lint", None),
    ];
    for (failed, error, next, expected) in pairs {
        let found = told(&[(failed, 127, error), (next, 0, "")]);
        let expected: Vec<_> =
            expected.into_iter().map(|(what, worked)| (what.to_owned(), worked.to_owned(), 1)).collect();
        assert_eq!(found, expected, "{failed}");
    }
    let folder = [("cd /tmp/x && git log", 1, "(eval):cd:1: no such file or directory: /tmp/x"); 2];
    assert_eq!(told(&folder), [("cd /tmp/x".to_owned(), String::new(), 2)]);
    let mut digest = Digest::new("s");
    for (n, error) in ["File has not been read yet. Read it first.", "String to replace not found in file."]
        .iter()
        .enumerate()
    {
        for again in 0..2 {
            let id = format!("e{n}{again}").into();
            let record = JournalRecord {
                event: "tool-done".into(),
                tool: "Edit".into(),
                ok: Some(false),
                id,
                error: (*error).into(),
                ..JournalRecord::default()
            };
            digest.fold_record(&record);
        }
    }
    let traps = digest.traps();
    assert_eq!(traps.len(), 1);
    assert_eq!(
        (traps[0].what.as_str(), traps[0].times, traps[0].worked.as_str()),
        ("Edit", 2, "reading it first")
    );
}

#[test]
fn edits_after_a_run() {
    let mut digest = fold_calls(&[("make test", 0, "")]);
    assert_eq!(digest.last_file_edited_after(1), None);
    assert_eq!(digest.files_changed_after_check(1), [""; 0]);
    for (id, path) in [("e1", "a.rs"), ("e2", "b.rs"), ("e3", "a.rs"), ("e4", "README.md")] {
        let files = vec![crate::journal::RecordedFile::new(path.into(), crate::event::FileAction::Edit)];
        digest.fold_record(&JournalRecord {
            event: "tool-done".into(),
            tool: "Edit".into(),
            id: id.into(),
            ok: Some(true),
            worktree: CHECKOUT.into(),
            files,
            ..JournalRecord::default()
        });
    }
    assert_eq!(digest.last_file_edited_after(1), Some("README.md"));
    assert_eq!(digest.files_changed_after_check(1), ["README.md", "a.rs", "b.rs"]);
}

#[test]
fn each_check_of_a_list_has_its_own_result() {
    let output = "FAIL: --round m: expected 1h30m, got 1h29m40s\nmake: *** [Makefile:12: test] Error 1\n\
                  src/main.c:7:17: error: variable set but not used\nmake: *** [Makefile:15: lint] Error 1\n";
    let digest = fold_calls(&[("make test; make lint", 2, output)]);
    let rows: Vec<(&str, RunResult, Option<i64>, &str)> = digest
        .check_runs()
        .iter()
        .map(|used| (used.run.as_str(), used.last_result, used.exit, used.result_line.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("make test", RunResult::Failed, None, "FAIL: --round m: expected 1h30m, got 1h29m40s"),
            ("make lint", RunResult::Failed, Some(2), "src/main.c:7:17: error: variable set but not used"),
        ]
    );
    // A check stays open until it is proved to have passed.
    let calls = [("make test", 2, "FAIL: a"), ("make test; make lint", 0, "")];
    assert_eq!(open_failures(&calls), ["make test"]);
    let calls = [("make test", 2, "FAIL: a"), ("make test; make lint", 2, "error: unused")];
    assert_eq!(open_failures(&calls), ["make test; make lint", "make test"]);
}

#[test]
fn a_call_that_never_ran_replaces_no_failure() {
    let blocked = "Blocked: sleep 30 followed by: make test. To wait for a condition, use Monitor";
    for refusal in [
        blocked,
        "Permission to use Bash with command sleep 30 has been denied.",
        "PreToolUse:Bash hook error: no sleeping here",
        "<tool_use_error>Cancelled: parallel tool call Bash(make lint) errored</tool_use_error>",
        "Sibling tool call errored",
        "The user doesn't want to proceed with this tool use.",
    ] {
        let mut digest = fold_calls(&[("make test", 2, "FAIL: a")]);
        digest.fold_record(&JournalRecord {
            exit: None,
            ended: "failed".into(), // written by older versions
            step: Some(0),
            ..record_of_call(("sleep 30; make test", 1, refusal), "t9".to_owned())
        });
        let open: Vec<&str> = digest.open_failures().map(|failure| failure.error.as_str()).collect();
        assert_eq!(open, ["FAIL: a"], "{refusal}");
        let rows: Vec<_> = digest.check_runs().iter().map(|used| (used.last_result, used.exit)).collect();
        assert_eq!(rows, [(RunResult::Failed, Some(2))], "{refusal}");
    }
    // The command may have run and printed the same words itself.
    let digest = fold_calls(&[("make test", 2, blocked)]);
    assert_eq!(digest.open_failures().count(), 1);
}

#[test]
fn the_files_of_an_error_that_are_left_to_fix_are_named() {
    let error = "CONFLICT (content): Merge conflict in src/reader.py\nCONFLICT (content): Merge conflict in \
                 src/writer.py\nsrc/main.py:3:1: odd\nsrc/main.py:9:1: odd";
    let failure = Failure { error: error.into(), record: 10, ..Failure::default() };
    for (path, edited_at, expected) in [
        ("src/reader.py", 11, &["src/main.py", "src/writer.py"][..]),
        // Nothing has been edited since, so the error itself says what is left.
        ("src/reader.py", 9, &[]),
        ("src/other.py", 11, &[]),
    ] {
        let mut digest = Digest::new("s");
        let file = crate::digest::FileUse { path: path.into(), edits: 1, edited_at, ..Default::default() };
        digest.files = vec![file];
        assert_eq!(digest.files_left_to_fix(&failure), expected, "{path} {edited_at}");
    }
}

#[test]
fn a_failed_test_run_counts_whatever_its_tests_print() {
    const UNITTEST: &str = "\
usage: python3 -m unittest [-h]
python3 -m unittest: error: unrecognized arguments: --json
E....
======================================================================
ERROR: test_json (tests.test_cli.TestCli.test_json)
----------------------------------------------------------------------
Traceback (most recent call last):
  File \"/p/tests/test_cli.py\", line 9, in test_json
    p2.main([\"--json\"])
SystemExit: 2

----------------------------------------------------------------------
Ran 5 tests in 0.004s

FAILED (errors=1)
";
    const CARGO: &str = "\
running 1 test
error: unexpected argument '--json' found
test json ... FAILED
test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
";
    const JEST: &str = "\
error: unknown option '--json'
Tests:       1 failed, 4 passed, 5 total
";
    const MOCHA: &str = "error: unknown option '--json'\n\n  4 passing (8ms)\n  1 failing\n";
    const GO: &str = "\
flag provided but not defined: -json
--- FAIL: TestJson (0.00s)
FAIL\texample.com/x\t0.1s
";
    const PYTEST: &str =
        "app: error: unrecognized arguments: --json\n========= 1 failed, 4 passed in 0.20s =========\n";
    for (command, output, after) in [
        ("python3 -m unittest", UNITTEST, "python3 -B -m unittest"),
        ("cargo test", CARGO, "cargo test --quiet"),
        ("npx jest", JEST, "npx jest --silent"),
        ("npx mocha", MOCHA, "npx mocha --bail"),
        ("go test ./...", GO, "go test -count=1 ./..."),
        ("python3 -m pytest", PYTEST, "python3 -m pytest -q"),
    ] {
        let output_to_keep = Redacted::redact_whole(output, RedactOptions::default());
        let error = failure::error_lines(&output_to_keep);
        let mut record = record_of_call((command, 1, output), "t0".into());
        record.error = error.into();
        let mut digest = Digest::new("s");
        digest.fold_record(&record);
        let open: Vec<String> = digest.open_failures().map(Failure::command_to_repeat).collect();
        assert_eq!(open, [command], "{:?}", record.error);
        digest.fold_record(&record_of_call((after, 0, ""), "t1".into()));
        assert_eq!(digest.traps(), [], "{command}");
    }
    // No test ran, so the arguments were wrong.
    for (command, output) in [
        ("python3 -m unittest --json", "python3 -m unittest: error: unrecognized arguments: --json"),
        ("cargo test --json", "error: unexpected argument '--json' found"),
    ] {
        assert_eq!(open_failures(&[(command, 2, output)]), [""; 0], "{command}");
    }
}

#[test]
fn tests_that_were_called_in_the_wrong_way_are_a_trap() {
    const NO_MODULE: &str = "\
ERROR: test_cli (unittest.loader._FailedTest.test_cli)
ModuleNotFoundError: No module named 'test_cli'
FAILED (errors=1)
";
    for (failed, after, expected) in [
        ("python3 -m unittest test_cli", "python3 -m unittest tests.test_cli", true),
        ("python3 -m unittest", ".venv/bin/python3 -m unittest", true),
        // The module was written in between.
        ("python3 -m unittest", "python3 -B -m unittest", false),
    ] {
        let traps = fold_calls(&[(failed, 1, NO_MODULE), (after, 0, "OK")]).traps();
        assert_eq!(!traps.is_empty(), expected, "{failed}, {after}");
    }
}

#[test]
fn an_answer_of_thru_is_no_failure_in_any_part_of_a_line() {
    const GATE: &str = "2: 1 file still to read";
    for (line, error, is_open) in [
        ("thru resume gate 2", GATE, false),
        ("git status -s && thru resume gate 2", GATE, false),
        ("git add a && thru resume gate 2", GATE, false),
        ("git add a && /home/u/.local/bin/thru resume gate 2", GATE, false),
        ("git commit -qm x; thru resume gate 2", GATE, false),
        ("git commit -qm x\nthru resume update --task-done; thru resume gate", GATE, false),
        ("git push origin main; cd web && thru resume gate", GATE, false),
        // The other command may have failed.
        ("git push; thru resume gate 2", "fatal: unable to access 'https://x.y/z'", true),
        ("git add a && thru resume gate 2", "error: open(\"a\"): Permission denied", true),
        ("git commit -qm x && thru resume gate 2", "the hook said no", true),
        ("thru resume gate 2; git push", GATE, true),
    ] {
        assert_eq!(!open_failures(&[(line, 1, error)]).is_empty(), is_open, "{line}: {error}");
    }
}
