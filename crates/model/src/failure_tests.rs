use super::*;

#[test]
fn equal_messages_share_a_line() {
    let lines = [
        "src/a.go:57:3: too few arguments",
        "src/a.go:190:3: too few arguments",
        "undefined: x",
        "src/b.go:9:1: too few arguments",
        "src/b.go:12: other",
    ];
    assert_eq!(
        group_equal_messages(&lines),
        ["src/a.go:57, :190, src/b.go:9: too few arguments", "undefined: x", "src/b.go:12: other"]
    );
    assert_eq!(group_equal_messages(&["a.go:1:", "b.go:2:"]), ["a.go:1:", "b.go:2:"]);
}

fn error_lines(output: &str) -> String {
    super::error_lines(&Redacted::redact_whole(output, crate::redact::RedactOptions::default()))
}

#[test]
fn informative_lines_are_kept() {
    let cargo = "Exit code 101\n   Compiling x\nerror[E0308]: mismatched types\n  --> src/a.rs:3:5\n   |\nwarning: unused\nerror: could not compile `x`";
    assert_eq!(error_lines(cargo), "src/a.rs:3:5: error[E0308]: mismatched types");
    let plain = "Exit code 3\none\n\ntwo\nthree\nfour\n";
    assert_eq!(error_lines(plain), "two\nthree\nfour");
    assert_eq!(
        error_lines("x\n=== RUN Test_error\n--- PASS: Test_error\na.go:12:3: odd\ny"),
        "a.go:12:3: odd"
    );
    assert_eq!(error_lines("Exit code 1"), "");
    let lint = "go: downloading example.com/pkg/errors v0.9.1\na/b.go:3:9: unnamed result (gocritic)\nfunc Get() (Strategy, error) {\n\t^";
    assert_eq!(error_lines(lint), "a/b.go:3:9: unnamed result (gocritic)");
    assert_eq!(
        error_lines("error: expected `;`, found `{`\nSyntaxError: unexpected {"),
        "error: expected `;`, found `{`\nSyntaxError: unexpected {"
    );
    assert_eq!(
        error_lines("--- FAIL: TestX\nFAIL\nexit status 1\n[lint] ERROR task failed"),
        "--- FAIL: TestX"
    );
    assert_eq!(
        error_lines(
            "Auto-merging a.rs\nCONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed; fix conflicts"
        ),
        "CONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed; fix conflicts"
    );
    // A test's log messages have the same form as its failure messages, but they are left out.
    assert_eq!(
        error_lines(
            "--- FAIL: TestX\nx_test.go:9: Rewind output: reset\nx_test.go:12: Count = 3, want 4\nFAIL"
        ),
        "--- FAIL: TestX\nx_test.go:12: Count = 3, want 4"
    );
    // A test's helper may log what a program printed.
    assert_eq!(
        error_lines(
            "--- FAIL: TestX (0.4s)\n--- FAIL: TestX/part (0.4s)\nhooks.go:155: Hook stop output: 2026/01/14 11:53:39 INFO stop failed=0\n\
                 hooks.go:155: Hook stop output:\n2026/01/14 11:53:39 WARN no such session\nx_test.go:81: Received expected response\n\
                 helper.go:9: Expected 2 points, got 1\nFAIL\texample.com/x/y\t15.26s"
        ),
        "--- FAIL: TestX (0.4s)\nhelper.go:9: Expected 2 points, got 1"
    );
    assert_eq!(
        error_lines("Error: Not equal:\nexpected: 2\nactual  : 1\nTest: TestX"),
        "Error: Not equal:\nexpected: 2\nactual  : 1"
    );
    assert_eq!(error_lines("a_test.go:3: level = DEBUG, want INFO"), "a_test.go:3: level = DEBUG, want INFO");
    assert_eq!(error_lines("FAIL\nFAIL\texample.com/x/y\t15.26s"), "FAIL\texample.com/x/y\t15.26s");
    assert_eq!(error_lines("{\"level\":\"WARN\",\"msg\":\"not found\"}\nerror: odd"), "error: odd");
    assert_eq!(error_lines("FAIL\nexit status 1"), "FAIL");
    assert_eq!(
        error_lines("test result: ok. 3 passed; 0 failed\nlast"),
        "test result: ok. 3 passed; 0 failed\nlast"
    );
    assert_eq!(error_lines("a\n10 failed, 3 passed\nb"), "10 failed, 3 passed");
    assert_eq!(error_lines("error: no info file\nb"), "error: no info file");
}

#[test]
fn tests_that_failed_come_before_what_they_logged() {
    let logs = "hooks.go:155: error one\n".to_owned()
        + &(0..9).map(|n| format!("hooks.go:15{n}: error\n")).collect::<String>();
    let kept =
        error_lines(&format!("--- FAIL: TestA (0.1s)\n{logs}--- FAIL: TestB (0.1s)\nb_test.go:3: odd\nFAIL"));
    let lines: Vec<&str> = kept.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[5]), (6, "--- FAIL: TestA (0.1s)", "--- FAIL: TestB (0.1s)"));
    let names: String =
        (0..9).map(|n| format!("--- FAIL: Test{n} (0.1s)\na_test.go:{n}: got {n}, want 0\n")).collect();
    let kept = error_lines(&names);
    assert_eq!(kept.lines().filter(|line| line.contains("want 0")).count(), 3, "{kept}");
}

#[test]
fn warnings_are_no_reasons() {
    let unittest = "/p/tests/test_cli.py:16: ResourceWarning: unclosed file <_io.TextIOWrapper name='a.csv'>\n  expected = open('a.csv').read()\n\
            ResourceWarning: Enable tracemalloc to get the object allocation traceback\n.F\n\
            ======\nFAIL: test_one_column (tests.test_cli.Cli.test_one_column)\n------\n\
            Traceback (most recent call last):\n  File \"/p/tests/test_cli.py\", line 20, in test_one_column\n\
            \x20   self.assertEqual(out, '3')\nAssertionError: '4' != '3'\n\nRan 2 tests in 0.1s\n\nFAILED (failures=1)";
    let kept = error_lines(unittest);
    assert_eq!(
        first_reason_line(&kept),
        "FAIL: test_one_column (tests.test_cli.Cli.test_one_column)",
        "{kept}"
    );
    assert!(kept.contains("AssertionError: '4' != '3'"), "{kept}");
    assert!(!kept.contains("Warning") && !kept.contains("open("), "{kept}");
    assert_eq!(error_lines("a.py:3: UserWarning: odd\n  f()\n"), "a.py:3: UserWarning: odd");
}

#[test]
fn neither_a_commands_echo_nor_a_compilers_warning_is_a_reason() {
    let lint = "cc -std=c11 -fsyntax-only -Wall -Werror src/*.c\nsrc/format.c:13:45: error: conversion [-Werror=sign]\n\
            cc1: all warnings being treated as errors\nmake: *** [Makefile:15: lint] Error 1";
    assert_eq!(first_reason_line(&error_lines(lint)), "src/format.c:13:45: error: conversion [-Werror=sign]");
    assert!(!error_lines(lint).contains("-fsyntax-only"), "{}", error_lines(lint));
    let test = "cc -O1 -Wall -o app src/main.c\nsrc/main.c:7:17: warning: variable set but not used [-Wunused]\n\
            FAIL: --round m: expected 1h30m, got 1h29m40s\nmake: *** [Makefile:12: test] Error 1";
    assert_eq!(first_reason_line(&error_lines(test)), "FAIL: --round m: expected 1h30m, got 1h29m40s");
    assert!(!error_lines(test).contains("warning"), "{}", error_lines(test));
    // If there is nothing else, a compiler's warnings are kept.
    let alone = "src/main.c:7:17: warning: variable set but not used";
    assert_eq!(error_lines(alone), alone);
    assert_eq!(error_lines("error -5 from the device"), "error -5 from the device");
}

#[test]
fn files_that_an_error_names() {
    let error = "src/a.rs:12:3: odd\nb.rs:3: odd\n/usr/c.rs:4: odd\nerror: src/d.rs\nx/y.go:7:1: undefined";
    assert_eq!(paths_in_error(error).collect::<Vec<_>>(), ["src/a.rs", "x/y.go"]);
}

#[test]
fn a_file_is_named_by_its_name_and_not_by_a_word() {
    for (error, path, expected) in [
        ("17 cases, 3 failed\nmake: *** [Makefile:11: test] Error 1", "tests/cases", false),
        ("17 cases, 3 failed\nmake: *** [Makefile:11: test] Error 1", "Makefile", false),
        ("tests/cases: line 3: odd", "tests/cases", true),
        ("Makefile:3: missing separator", "Makefile", true),
        ("src/a.rs:3:1: odd", "src/a.rs", true),
        ("a.rs:3:1: odd", "src/a.rs", true),
        ("src/data.rs:3:1: odd", "src/a.rs", false),
        ("src/a.rsx: odd", "src/a.rs", false),
    ] {
        assert_eq!(names_file(error, path), expected, "{error}: {path}");
    }
}

#[test]
fn an_exception_is_kept_without_the_calls_above_it() {
    let output = "E\n======\nERROR: test_json (tests.test_cli.Cli.test_json)\n------\n\
            Traceback (most recent call last):\n  File \"/p/tests/test_cli.py\", line 23, in test_json\n\
            \x20   main(['--json', '1h'])\n  File \"/usr/lib/python3.11/argparse.py\", line 2633, in error\n\
            \x20   self.exit(2, _('%(prog)s: error: %(message)s\\n') % args)\n\
            \x20   ^^^^^^^^\nSystemExit: 2\n\nRan 1 test in 0.1s\n\nFAILED (errors=1)";
    let kept = error_lines(output);
    assert!(kept.contains("ERROR: test_json") && kept.contains("SystemExit: 2"), "{kept}");
    assert!(
        !kept.contains("Traceback") && !kept.contains("self.exit") && !kept.contains("argparse"),
        "{kept}"
    );
    // If the end of a traceback is missing, the traceback is all that is known.
    let cut = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()";
    assert!(error_lines(cut).contains("Traceback"), "{}", error_lines(cut));
}

#[test]
fn the_reason_is_not_pythons_heading() {
    let trace =
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nAssertionError: odd\n";
    assert_eq!(first_reason_line(&error_lines(trace)), "AssertionError: odd");
    assert_eq!(first_reason_line("Traceback (most recent call last):"), "Traceback (most recent call last):");
    assert_eq!((first_reason_line("error: x\nerror: y"), first_reason_line("")), ("error: x", ""));
}

#[test]
fn pytest_is_quoted_with_the_error_and_not_with_its_rulers() {
    let failed = "\
.F                                                                       [100%]
=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert p.returncode == 0, p.stderr
E       AssertionError: usage: app [-h] log
E         app: error: unrecognized arguments: --total
E       assert 2 == 0
E        +  where 2 = CompletedProcess(args=['app.py'], stderr='app: error: unrecognized').returncode

tests/test_app.py:11: AssertionError
=========================== short test summary info ============================
FAILED tests/test_app.py::test_total - AssertionError: usage: app [-h] log
1 failed, 1 passed in 0.20s
";
    assert_eq!(
        error_lines(failed),
        "E       AssertionError: usage: app [-h] log\n\
             E         app: error: unrecognized arguments: --total\n\
             E       assert 2 == 0\n\
             tests/test_app.py:11: AssertionError\n\
             FAILED tests/test_app.py::test_total - AssertionError: usage: app [-h] log\n\
             1 failed, 1 passed in 0.20s"
    );
    assert!(!run::is_mistyped_or_interrupted_command_error(&error_lines(failed)));
    let collection = "\
==================================== ERRORS ====================================
______________________ ERROR collecting tests/test_app.py ______________________
ImportError while importing test module '/p/tests/test_app.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/test_app.py:1: in <module>
    import helper
E   ModuleNotFoundError: No module named 'helper'
=========================== short test summary info ============================
ERROR tests/test_app.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in 0.26s
";
    let told = error_lines(collection);
    assert!(told.starts_with("E   ModuleNotFoundError: No module named 'helper'"), "{told}");
}

#[test]
fn an_error_that_was_cut_says_less() {
    let whole = "FAIL: test_three (tests.test_settle.Settle.test_three)\nAssertionError: 1 != 2";
    for (error, earlier, expected) in [
        ("FAILED (failures=1)", whole, true),
        ("Ran 2 tests in 0.001s\nFAILED (failures=1)", whole, true),
        ("AssertionError: 1 != 2\nFAILED (failures=1)", whole, true),
        ("make: *** [Makefile:3: test] Error 1\nFAILED (failures=1)", whole, false),
        // A different number of tests failed.
        ("FAILED (failures=2)", whole, false),
        // The run failed for another reason.
        ("ModuleNotFoundError: No module named 'x'", whole, false),
        ("fatal: No space left on device", whole, false),
        ("Out of memory", whole, false),
        (whole, whole, false),
        (whole, "FAILED (failures=1)", false),
        ("FAILED (failures=1)", "FAILED (failures=1)", false),
        ("FAIL", "--- FAIL: TestA (0.00s)\na_test.go:3: got 1, want 2", true),
    ] {
        assert_eq!(says_less_than(error, earlier), expected, "{error} / {earlier}");
    }
}

#[test]
fn the_error_lines_stay_small() {
    assert!(error_lines(&"error: x".repeat(10_000)).len() <= 300);
    assert!(error_lines(&"error: something\n".repeat(10_000)).len() <= MAX_FAILURE_LINES_BYTES);
}

#[test]
fn the_place_of_a_rustc_error_is_kept_and_noise_is_dropped() {
    let output = "   Compiling tinycalc v0.1.0 (/p)\nerror[E0004]: non-exhaustive patterns: `Op::Mod` not covered\n  --> src/lib.rs:15:15\n   |\n15 |         match op {\n   |               ^^ pattern `Op::Mod` not covered\n   |\nnote: `Op` defined here\n  --> src/ops.rs:1:10\n\nerror[E0308]: mismatched types\n --> src/a.rs:3:5\n\nerror[E0308]: mismatched types\n --> src/b.rs:4:6\n\nSome errors have detailed explanations: E0004, E0308.\nFor more information about an error, try `rustc --explain E0004`.\nFor more information about this error, try `rustc --explain E0004`.\nerror: could not compile `tinycalc` (lib test) due to 1 previous error\nwarning: build failed, waiting for other jobs to finish...\nerror: could not compile `tinycalc` (lib) due to 1 previous error\n";
    assert_eq!(
        error_lines(output),
        "src/lib.rs:15:15: error[E0004]: non-exhaustive patterns: `Op::Mod` not covered\nsrc/a.rs:3:5: error[E0308]: mismatched types\nsrc/b.rs:4:6: error[E0308]: mismatched types"
    );
    let alone = "error: could not compile `tinycalc` (lib) due to 1 previous error\n";
    assert!(error_lines(alone).contains("could not compile"));
}
