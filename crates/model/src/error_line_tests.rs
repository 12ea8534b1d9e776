use super::*;

/// Real lines from logs and test runs that report errors.
const ERROR_LINES: &[&str] = &[
    "Tests: 10 failed, 90 passed",
    "Found 20 errors in 3 files",
    "test result: FAILED. 5 passed; 10 failed; 0 ignored",
    "test result: FAILED. 0 passed; 0 failed; finished in 0.1s",
    "100 errors, 0 failed",
    "Failures: 3, Errors: 0, Skipped: 0",
    "errors=20",
    "2 tests failed",
    "error: could not load info file",
    "ERROR config: missing info section",
    "2026-01-01 INFO upload failed, giving up",
    "fatal: no error handler is registered",
    "retrying after connection refused ... ok? no: gave up, FAILED",
    "error while parsing {",
    "warning: unused result that must be used -> treated as error",
    "error: 0 is not a shard",
    "downloading failed: 403",
    "src/a.py:12: error: Incompatible return value type",
    "src/a.py:12: [E1101(no-member), f] has no member",
    "src/a.py:12:4: E1101: Module has no member (no-member)",
    "src/a.ts(12,3): error TS2322: Type 'x' is not assignable",
    "ValueError: bad shard 7",
    "AssertionError",
    "json.decoder.JSONDecodeError: Expecting value",
    "E       assert 3 == 4",
    "FAILED tests/test_a.py::test_b - x",
    "tests/test_a.py::test_b FAILED [ 3%]",
    "--- FAIL: TestX (0.1s)",
    "make: *** [all] Error 2",
    "bash: line 3: foo: command not found",
    "ls: /x: Permission denied",
    "find: '/x': No such file or directory",
    "npm ERR! code ELIFECYCLE",
    "process exited with code 137",
    "exit status 10",
    "panic: runtime error: index out of range",
    "thread 'main' panicked at src/a.rs:3:5",
    "time=1 level=error msg=x",
    "[ERROR] x",
    "not ok 3 - parses",
    "✗ parses",
    "syntax error near unexpected token",
    "Segmentation fault (core dumped)",
];

/// Lines that report no error.
const OTHER_LINES: &[&str] = &[
    "test result: ok. 3 passed; 0 failed; 0 ignored",
    "0 errors, 0 failures",
    "found 0 errors",
    "no errors found",
    "Failures: 0, Errors: 0, Skipped: 0",
    "errors=0",
    "0 tests failed",
    "test parser::error_case ... ok",
    "--- PASS: TestError (0.00s)",
    "=== RUN   TestError",
    "PASS src/error.test.js",
    "tests/test_a.py::test_error PASSED [ 3%]",
    "ok 3 - handles an error",
    "ok   example.com/pkg/errors   0.012s",
    "✓ handles an error (3 ms)",
    "func Get(name string) (Strategy, error) {",
    "exit status 0",
    "exited with code 0",
    "all is well",
    "",
];

#[test]
fn error_lines_are_told_from_other_log_lines() {
    for line in ERROR_LINES {
        assert!(is_error_line(line), "{line}");
    }
    for line in OTHER_LINES {
        assert!(!is_error_line(line), "{line}");
    }
}

#[test]
fn in_code_and_lists_only_reports_count() {
    for line in [
        "ValueError: bad shard 7",
        "AssertionError: 3 != 4",
        "FAILED tests/test_a.py::test_b",
        "error: could not compile",
        "src/a.py:12: error: x",
        "find: '/x': Permission denied",
        "2 tests failed",
        "make: *** [all] Error 2",
    ] {
        assert!(is_error_report(line), "{line}");
    }
    for line in [
        "src/a.rs:12:    let error = 3;",
        "return Err(Error::Usage { what: x });",
        "src/error/failed.rs",
        "// an error is not expected here",
        "def on_error(failed):",
        "} catch (error) {",
    ] {
        assert!(!is_error_report(line), "{line}");
    }
}

#[test]
fn warnings_are_recognised() {
    for (line, is_warning) in [
        (
            "/tmp/p/tests/test_cli.py:16: ResourceWarning: unclosed file <_io.TextIOWrapper name='a.csv'>",
            true,
        ),
        ("  tests/test_a.py:3: pytest.PytestUnknownMarkWarning: Unknown pytest.mark.slow", true),
        ("ResourceWarning: Enable tracemalloc to get the object allocation traceback", true),
        ("(node:7) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.", true),
        ("(node:7) ExperimentalWarning: x", true),
        // These lines are not mere warnings. Python prints them in this form if warnings are treated as errors
        // (`python -W error`).
        ("DeprecationWarning: invalid escape sequence", false),
        ("E   DeprecationWarning: invalid escape sequence", false),
        ("ResourceWarning: unclosed file", false),
        ("AssertionError: '4' != '3'", false),
        ("src/a.py:12: error: Incompatible return value type", false),
        ("src/a.go:12:3: unused variable", false),
    ] {
        assert_eq!(is_warning_line(line), is_warning, "{line}");
    }
}
