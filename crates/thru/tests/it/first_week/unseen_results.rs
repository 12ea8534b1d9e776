//! Tests for checks that failed and were run again, with a result that the records do not show.

use super::handoffs::{ask_at, edit_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;

/// What `cargo test` prints in the end for a library: the empty block of the documentation tests.
const DOC_TESTS: &str = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";

/// Records a failure, an edit of `src/lex.rs`, and a run of the same check with this command line.
fn run_again_after_edit(command: &str) -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Accept tabs in the lexer.");
    edit_at(&env, "19:00:02", "s1", "src/lex.rs");
    fail_at(
        &env,
        "19:00:03",
        "s1",
        "cargo test",
        "Exit code 101\ntest accepts_tabs ... FAILED\nassertion `left == right` failed\ntest result: FAILED. 7 passed; 1 failed; 0 ignored",
    );
    edit_at(&env, "19:00:04", "s1", "src/lex.rs");
    run_at(&env, "19:00:05", "s1", command, DOC_TESTS);
    stop_at(&env, "19:00:06", "s1", "All tests pass.");
    env
}

#[test]
fn a_failure_that_was_run_again_unseen_is_not_told_as_failing() {
    for command in ["cargo test 2>&1 | tail -5", "cargo test 2>&1 | tail -5 && git commit -qam 'Accept tabs'"]
    {
        let env = run_again_after_edit(command);
        let words = "ran again after the last edit; its result was not visible (`| tail -5`)";
        let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
        assert!(brief.contains(words) && brief.contains("accepts_tabs"), "{command}: {brief}");
        let status = thru_at(&env, "19:00:07", "s2", &["status"]).assert_ok().stdout;
        assert!(status.contains("`cargo test`, ran again after the last edit"), "{command}: {status}");
        assert!(!status.contains("failing  "), "{command}: {status}");
        let start = start_at(&env, "19:00:08", "s2");
        assert!(start.contains("its result was not visible"), "{command}: {start}");
        let handoff = thru_at(&env, "19:00:09", "s1", &["handoff", "finish the lexer"]).assert_ok().stdout;
        assert!(!handoff.contains("failing"), "{command}: {handoff}");
        let written = thru_at(&env, "19:00:09", "s1", &["handoff", "finish the lexer", "--json"]).json();
        let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
        assert!(packet.contains(words), "{command}: {packet}");
        let begin = "Begin with: run `cargo test`, whose last result was not visible";
        assert!(packet.contains(begin) && !packet.contains("the failing command"), "{command}: {packet}");
    }
}

#[test]
fn a_run_of_fewer_tests_or_a_run_without_an_edit_changes_nothing() {
    let env = run_again_after_edit("cargo test other_test 2>&1 | tail -5");
    let brief = thru_at(&env, "19:00:07", "s1", &["brief"]).assert_ok().stdout;
    assert!(brief.contains("before the last edit") && !brief.contains("ran again"), "{brief}");
    let env = run_again_after_edit("cargo test 2>&1 | tail -5");
    run_at(&env, "19:00:07", "s1", "cargo test", "test result: ok. 8 passed; 0 failed; 0 ignored");
    let brief = thru_at(&env, "19:00:08", "s1", &["brief"]).assert_ok().stdout;
    assert!(!brief.contains("not visible") && brief.contains("`cargo test` → passed"), "{brief}");
}

#[test]
fn an_output_that_may_be_cut_does_not_show_that_no_tests_ran() {
    // The harness removes the blank lines at both ends, so fewer lines than `tail -3` prints are left.
    let last =
        "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
    let quiet = format!("running 0 tests\n\n{last}");
    for (command, output, filter) in [
        ("cargo test -q 2>&1 | tail -3", last, "| tail -3"),
        ("cargo test -q 2>&1 | tail -5", &quiet, "| tail -5"),
        ("cargo test 2>&1 | grep 'test result' | tail -1", last, "| grep 'test result' | tail -1"),
        ("go test ./... 2>&1 | tail -3", "?   \ta/b\t[no test files]", "| tail -3"),
        ("go test ./... 2>&1 | sed -n '$p'", "?   \ta/b\t[no test files]", "| sed -n '$p'"),
    ] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Add --since to the log filter, with tests.");
        edit_at(&env, "19:00:02", "s1", "src/range.rs");
        run_at(&env, "19:00:03", "s1", command, output);
        stop_at(&env, "19:00:04", "s1", "Done.");
        let brief = thru_at(&env, "19:00:05", "s1", &["brief"]).stdout;
        assert!(!brief.contains("no tests"), "{command}: {brief}");
        assert!(brief.contains(&format!("→ ran, result not visible (`{filter}`)")), "{command}: {brief}");
    }
}

#[test]
fn a_packet_counts_a_piped_failure_that_ran_again_unseen_apart() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Accept tabs in the lexer.");
    edit_at(&env, "19:00:02", "s1", "src/lex.rs");
    let output = "test accepts_tabs ... FAILED\nassertion `left == right` failed\ntest result: FAILED. 7 passed; 1 failed; 0 ignored";
    run_at(&env, "19:00:03", "s1", "cargo test 2>&1 | tail -15", output);
    edit_at(&env, "19:00:04", "s1", "src/lex.rs");
    run_at(&env, "19:00:05", "s1", "cargo test 2>&1 | tail -5", DOC_TESTS);
    stop_at(&env, "19:00:06", "s1", "All tests pass.");
    let written = thru_at(&env, "19:00:07", "s1", &["handoff", "finish the lexer", "--json"]).json();
    assert_eq!((&written["failing"], &written["unseen"]), (&json!(0), &json!(1)), "{written}");
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    assert!(packet.contains("Begin with: run `cargo test`, whose last result was not visible"), "{packet}");
}

#[test]
fn only_files_edited_after_the_unseen_run_are_said_to_be_newer() {
    let env = run_again_after_edit("cargo test 2>&1 | tail -5");
    edit_at(&env, "19:00:07", "s1", "src/parse.rs");
    let words = "before the last edit to src/parse.rs, ran again before that; its result was not visible";
    let brief = thru_at(&env, "19:00:08", "s1", &["brief"]).assert_ok().stdout;
    assert!(brief.contains(words), "{brief}");
    let status = thru_at(&env, "19:00:08", "s1", &["status"]).assert_ok().stdout;
    assert!(status.contains("before the last edit, ran again before that"), "{status}");
}

#[test]
fn failures_without_room_in_the_packet_are_counted_too() {
    /// With their errors, so many failures are longer than a packet's facts may be.
    const FAILURES: usize = 50;
    let env = run_again_after_edit("cargo test 2>&1 | tail -5");
    for number in 0..FAILURES {
        let command = format!(
            "./tools/check-the-tables-of-region-{number}.sh --strict --all-years --sources official,archive,newspapers --output /tmp/tables"
        );
        let why = format!(
            "Exit code 1\nerror: region {number} has no table for the year 19{number:02}, and neither the archive nor the newspapers name a source from which the table could be made"
        );
        fail_at(&env, &format!("19:01:{number:02}"), "s1", &command, &why);
    }
    let written = thru_at(&env, "19:02:00", "s1", &["handoff", "finish the lexer", "--json"]).json();
    assert_eq!((&written["failing"], &written["unseen"]), (&json!(FAILURES), &json!(1)), "{written}");
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    let shown = (0..FAILURES).filter(|number| packet.contains(&format!("region-{number}.sh"))).count();
    assert!(shown < FAILURES, "the packet has room for all failures: {packet}");
}
