//! Tests for runs whose output was cut. Such a run must not hide what an earlier run of the same check showed. The
//! part that is visible must not be taken for the whole output.

use super::changes_on_disk::write_at;
use super::handoffs::{ask_at, edit_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;

const WHOLE: &str = "Exit code 1\n.F\n======\nFAIL: test_three (tests.test_settle.Settle.test_three)\n------\nTraceback (most recent call last):\n  File \"/p/tests/test_settle.py\", line 11, in test_three\n    self.assertEqual(a, b)\nAssertionError: Lists differ: [('ann', 300)] != [('ann', 300), ('bob', 200)]\n\n------\nRan 2 tests in 0.001s\n\nFAILED (failures=1)";
const CUT: &str = "Ran 2 tests in 0.001s\n\nFAILED (failures=1)";

/// Runs a check twice. The first output shows the failed test; the second is cut and does not show it. If `edited`
/// names a file, the file is edited between the two runs. Returns the brief and the packet.
fn told_after_two_runs(edited: Option<&str>) -> [String; 2] {
    told_after_two_runs_with_change(edited, None)
}

/// Like `told_after_two_runs`, but if `changed_at` is given, somebody else also changed a file at that time.
fn told_after_two_runs_with_change(edited: Option<&str>, changed_at: Option<&str>) -> [String; 2] {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add settle(balances), with tests.");
    edit_at(&env, "19:00:02", "s1", "splitbill/settle.py");
    fail_at(&env, "19:00:03", "s1", "python3 -m unittest tests.test_settle", WHOLE);
    edited.into_iter().for_each(|path| edit_at(&env, "19:00:04", "s1", path));
    run_at(&env, "19:00:05", "s1", "python3 -m unittest tests.test_settle 2>&1 | tail -3", CUT);
    stop_at(&env, "19:00:06", "s1", "It fails.");
    changed_at.into_iter().for_each(|time| write_at(&env, time, "splitbill/settle.py", "new\n"));
    let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
    let written = thru_at(&env, "19:00:07", "s1", &["handoff", "finish settle", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    [brief, packet]
}

#[test]
fn the_failed_test_of_the_earlier_run_is_still_told() {
    for text in told_after_two_runs(None) {
        assert!(text.contains("test_three") && text.contains("Lists differ"), "{text}");
    }
}

#[test]
fn after_an_edit_the_earlier_error_is_not_told() {
    for text in told_after_two_runs(Some("splitbill/settle.py")) {
        assert!(text.contains("FAILED (failures=1)") && !text.contains("Lists differ"), "{text}");
    }
}

#[test]
fn after_a_change_on_disk_the_earlier_error_is_not_told() {
    for text in told_after_two_runs_with_change(None, Some("19:00:04")) {
        assert!(text.contains("FAILED (failures=1)") && !text.contains("Lists differ"), "{text}");
    }
    for text in told_after_two_runs_with_change(None, Some("19:00:01")) {
        assert!(text.contains("Lists differ"), "{text}");
    }
}

/// The last lines that `cargo test -q` prints for a library without documentation tests. They count only
/// documentation tests, so every count is zero.
const DOC_TESTS: &str = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

/// Returns the brief and the packet after a run.
fn told_after_run(command: &str, output: &str) -> [String; 2] {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add --since to the log filter, with tests.");
    edit_at(&env, "19:00:02", "s1", "src/range.rs");
    run_at(&env, "19:00:03", "s1", command, output);
    stop_at(&env, "19:00:04", "s1", "Done.");
    let brief = thru_at(&env, "19:00:05", "s1", &["brief"]).stdout;
    let written = thru_at(&env, "19:00:06", "s1", &["handoff", "describe --since", "--json"]).json();
    [brief, env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout]
}

#[test]
fn a_count_of_zero_in_a_cut_output_proves_nothing() {
    for (command, output, result) in [
        ("cargo test -q 2>&1 | tail -5", format!("\n{DOC_TESTS}\n"), "ran, result not visible (`| tail -5`)"),
        ("cargo test > log 2>&1; tail -3 log", DOC_TESTS.to_owned(), "ran, result unknown"),
        ("set -o pipefail; cargo test -q 2>&1 | tail -3", DOC_TESTS.to_owned(), "passed"),
        ("cargo test > log 2>&1; echo \"exit: $?\"; tail -3 log", format!("exit: 0\n{DOC_TESTS}"), "passed"),
        (
            "go test ./... 2>&1 | tail -1",
            "?   \ta/b\t[no test files]\n".to_owned(),
            "ran, result not visible (`| tail -1`)",
        ),
        ("cargo test nothing 2>&1 | tail -20", DOC_TESTS.to_owned(), "ran no tests"),
    ] {
        let [brief, packet] = told_after_run(command, &output);
        assert!(brief.contains(&format!(" → {result}")), "{command}: {brief}");
        if result != "ran no tests" {
            for text in [brief, packet] {
                assert!(!text.contains("no tests") && !text.contains("0 passed"), "{command}: {text}");
            }
        }
    }
}

#[test]
fn one_of_several_summaries_is_not_the_result() {
    let block = |n: u32| format!("test result: ok. {n} passed; 0 failed; 0 ignored; finished in 0.00s\n");
    let output = format!("{}{}{}{DOC_TESTS}", block(3), block(0), block(8));
    let [_, packet] = told_after_run("cargo test", &output);
    assert!(packet.contains("`cargo test` — passed at") && packet.contains(": 11 passed"), "{packet}");
    assert!(!packet.contains("8 passed"), "{packet}");
    let [_, packet] = told_after_run("cargo test 2>&1 | tail -6", &format!("\n\n{}{DOC_TESTS}", block(8)));
    assert!(packet.contains("`cargo test` — passed at") && !packet.contains("8 passed"), "{packet}");
    let [_, packet] = told_after_run("cargo test --lib", &block(3));
    assert!(packet.contains("`test result: ok. 3 passed; 0 failed"), "{packet}");
    let dotnet = |n: u32| {
        format!(
            "Passed!  - Failed:     0, Passed:     {n}, Skipped:     0, Total:     {n}, Duration: 9 ms - A.dll\n"
        )
    };
    let [_, packet] = told_after_run("dotnet test", &format!("{}{}", dotnet(5), dotnet(2)));
    assert!(packet.contains(": 7 passed") && !packet.contains("Passed:"), "{packet}");
}
