use super::{TestCounts, counts_in_cut_output, counts_in_output, counts_only_some_tests};

fn test_counts(passed: u64, failed: u64) -> Option<TestCounts> {
    Some(TestCounts { passed: Some(passed), failed: Some(failed) })
}

#[test]
fn runners_count_in_their_own_words() {
    let passed = |n| Some(TestCounts { passed: Some(n), failed: None });
    let failed = |n| Some(TestCounts { passed: None, failed: Some(n) });
    let rows: &[(&str, Option<TestCounts>)] = &[
        (
            "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s",
            test_counts(5, 0),
        ),
        (
            "test result: FAILED. 4 passed; 1 failed; 0 ignored\n\ntest result: ok. 2 passed; 0 failed; 0 ignored",
            test_counts(6, 1),
        ),
        ("     Summary [   0.524s] 10 tests run: 9 passed (1 slow), 1 failed, 2 skipped", test_counts(9, 1)),
        ("     Summary [   0.524s] 10 tests run: 10 passed, 2 skipped", passed(10)),
        ("==== 2 failed, 10 passed, 1 skipped in 1.20s ====", test_counts(10, 2)),
        ("==== 10 passed in 1.20s ====", passed(10)),
        ("1 failed, 3 errors in 0.1s", failed(4)),
        (
            "Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 5 passed, 6 total\nSnapshots:   0 total",
            test_counts(5, 1),
        ),
        ("Tests:       2 failed, 2 total", test_counts(0, 2)),
        (" Test Files  1 passed (1)\n      Tests  1 failed | 5 passed (6)", test_counts(5, 1)),
        ("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL", test_counts(1, 1)),
        ("--- FAIL: TestB (0.00s)\nFAIL\tpkg\t0.1s", failed(1)),
        ("ok  \tpkg\t0.012s", None),
        ("?   \texample.com/a\t[no test files]\n?   \texample.com/b\t[no test files]", passed(0)),
        ("?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.012s", None),
        ("testing: warning: no tests to run\nPASS\nok  \tpkg\t0.002s [no tests to run]", passed(0)),
        ("===== no tests ran in 0.01s =====", passed(0)),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", passed(0)),
        ("Ran 0 tests in 0.000s\n\nOK", passed(0)),
        ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored", test_counts(0, 0)),
        ("No tests found, exiting with code 0", passed(0)),
        ("  0 passing (1ms)", passed(0)),
        ("# tests 0\n# pass 0\n# fail 0", test_counts(0, 0)),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)", test_counts(3, 2)),
        ("Ran 5 tests in 0.1s\n\nOK", passed(5)),
        ("OK (5 tests, 9 assertions)", test_counts(5, 0)),
        ("Tests: 5, Assertions: 9, Failures: 1.", test_counts(4, 1)),
        ("[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1", test_counts(2, 2)),
        ("5 tests completed, 1 failed", test_counts(4, 1)),
        (
            "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 9 ms",
            test_counts(5, 0),
        ),
        ("100% tests passed, 0 tests failed out of 5", test_counts(5, 0)),
        ("5 examples, 1 failure, 1 pending", test_counts(3, 1)),
        ("5 runs, 9 assertions, 1 failures, 0 errors, 1 skips", test_counts(3, 1)),
        ("5 tests, 0 failures", test_counts(5, 0)),
        ("# tests 6\n# pass 5\n# fail 1", test_counts(5, 1)),
        ("  5 passing (30ms)\n  1 failing", test_counts(5, 1)),
        (" 5 pass\n 0 fail", test_counts(5, 0)),
        ("  1 failed\n  5 passed (3.2s)", test_counts(5, 1)),
        ("ok | 5 passed | 0 failed (12ms)", test_counts(5, 0)),
        ("Executed 5 tests, with 1 failure (0 unexpected) in 0.1 seconds", test_counts(4, 1)),
        ("\u{1b}[32m5 passed\u{1b}[0m in 0.1s", passed(5)),
        (
            "<testsuite name=\"a\" tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"1\">",
            test_counts(2, 2),
        ),
        (
            "<testsuites tests='7' failures='0'><testsuite tests='3' failures='0'/></testsuites>",
            test_counts(7, 0),
        ),
        (
            "<testsuites>\n<testsuite tests=\"3\" failures=\"1\"/>\n<testsuite tests=\"2\"/></testsuites>",
            test_counts(4, 1),
        ),
        ("hello, 5 people passed by", None),
        ("compiled 5 files", None),
        ("", None),
    ];
    for (output, expected) in rows {
        assert_eq!(counts_in_output(output), *expected, "{output}");
    }
}

#[test]
fn several_summaries_are_added_up() {
    let dotnet = |n: u64, dll: &str| {
        format!(
            "Passed!  - Failed:     0, Passed:     {n}, Skipped:     0, Total:     {n}, Duration: 9 ms - {dll}\n"
        )
    };
    let maven = "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in a.ATest\n\
                 [INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.01 s -- in a.BTest\n\
                 [INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n\
                 [INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in b.CTest\n\
                 [INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0\n";
    let rows = [
        (format!("{}{}", dotnet(5, "A.dll"), dotnet(0, "B.dll")), test_counts(5, 0)),
        (maven.to_owned(), test_counts(9, 0)),
        (maven.lines().take(2).collect::<Vec<_>>().join("\n"), test_counts(5, 0)),
        // Packages of a workspace.
        ("Tests:       5 passed, 5 total\nTests:       1 failed, 2 passed, 3 total".to_owned(), test_counts(7, 1)),
        (" 5 pass\n 0 fail\nRan 5 tests across 1 file.\n 2 pass\n 1 fail\nRan 3 tests across 1 file.".to_owned(), test_counts(7, 1)),
        ("# pass 5\n# fail 0\n# pass 3\n# fail 0".to_owned(), test_counts(8, 0)),
        // The last summary is the sum of the others.
        ("3 examples, 0 failures\n4 examples, 1 failure\n7 examples, 1 failure".to_owned(), test_counts(6, 1)),
        ("Executed 2 tests, with 0 failures\nExecuted 3 tests, with 0 failures\nExecuted 5 tests, with 0 failures".to_owned(), test_counts(5, 0)),
        ("Executed 2 tests, with 0 failures\nExecuted 2 tests, with 0 failures".to_owned(), test_counts(2, 0)),
    ];
    for (output, expected) in rows {
        assert_eq!(counts_in_output(&output), expected, "{output}");
    }
}

#[test]
fn a_cut_output_shows_only_totals() {
    let passed = |n| Some(TestCounts { passed: Some(n), failed: None });
    for (output, expected) in [
        // One of several summaries.
        ("test result: ok. 8 passed; 0 failed; 0 ignored", None),
        ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored", None),
        (
            "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 9 ms - A.dll",
            None,
        ),
        ("[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0", None),
        ("--- PASS: TestA (0.00s)\nok  \ta\t0.1s", None),
        ("?   \ta/b\t[no test files]", None),
        ("===== no tests ran in 0.01s =====", None),
        (" 0 pass\n 0 fail", None),
        ("No tests were found!!!", None),
        // A total.
        ("===== 5 passed in 0.01s =====", passed(5)),
        ("Tests:       1 failed, 5 passed, 6 total", test_counts(5, 1)),
        ("100% tests passed, 0 tests failed out of 5", test_counts(5, 0)),
        (" 5 pass\n 0 fail\nRan 5 tests across 1 file.", test_counts(5, 0)),
    ] {
        assert_eq!(counts_in_cut_output(output), expected, "{output}");
    }
}

#[test]
fn a_line_may_count_only_some_tests() {
    let counts = TestCounts { passed: Some(11), failed: Some(0) };
    for (line, expected) in [
        ("test result: ok. 8 passed; 0 failed; 0 ignored", true),
        ("test result: ok. 11 passed; 0 failed; 0 ignored", false),
        ("11 passed in 0.1s", false),
        ("FAILED tests/a.py::test_b", false),
        ("--- FAIL: TestA (0.00s)", false),
        ("PASS", false),
    ] {
        assert_eq!(counts_only_some_tests(line, counts), expected, "{line}");
    }
}

#[test]
fn counts_are_told_in_words() {
    let rows = [
        (TestCounts { passed: Some(5), failed: Some(0) }, "5 passed"),
        (TestCounts { passed: Some(5), failed: Some(2) }, "5 passed, 2 failed"),
        (TestCounts { passed: None, failed: Some(2) }, "2 failed"),
    ];
    for (counts, expected) in rows {
        assert_eq!(counts.to_string(), expected);
    }
    assert_eq!(TestCounts { passed: Some(0), failed: Some(0) }.tests_run(), Some(0));
    assert_eq!(TestCounts { passed: None, failed: Some(1) }.tests_run(), None);
}
