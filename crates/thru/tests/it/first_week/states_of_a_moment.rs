//! Tests that a statement that was true only for a moment is not repeated once the work has moved on.

use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::*;

const BROKEN: &str = "tests/cli.rs does not compile at the moment: run() must take bytes.";
const PASSED: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";

/// Works in two steps. The first ends with code that is broken, and `mend` repairs it in the second.
fn work_in_two_steps(mend: impl Fn(&TestEnv)) -> Vec<String> {
    let env = TestEnv::with_root();
    env.write_file("project/tests/cli.rs", "a test\n");
    start_at(&env, "08:00:00", "a");
    ask_at(&env, "08:00:01", "a", "Make run() take bytes and add a test with empty input.");
    edit_at(&env, "08:00:02", "a", "tests/cli.rs");
    stop_at(&env, "08:00:03", "a", BROKEN);
    ask_at(&env, "08:01:00", "a", "now the second step");
    mend(&env);
    stop_at(&env, "08:01:05", "a", "Step two is done.");
    ask_at(&env, "08:02:00", "a", "thanks");
    stop_at(&env, "08:02:01", "a", "You're welcome.");
    let brief = thru_at(&env, "08:02:02", "a", &["brief"]).assert_ok().stdout;
    let written = thru_at(&env, "08:02:03", "a", &["handoff", "go on", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    end_at(&env, "08:02:04", "a");
    vec![brief, packet, start_at(&env, "08:03:00", "b")]
}

#[test]
fn a_state_of_the_moment_is_not_told_once_the_work_went_on() {
    let by_tool = |env: &TestEnv| edit_at(env, "08:01:01", "a", "tests/cli.rs");
    let tested = |env: &TestEnv| {
        by_tool(env);
        run_at(env, "08:01:02", "a", "cargo test", PASSED);
    };
    let by_command = |env: &TestEnv| {
        run_at(
            env,
            "08:01:01",
            "a",
            "sed -i 's/input/input.as_ref()/' tests/cli.rs && cargo test -q",
            PASSED,
        );
    };
    for texts in [work_in_two_steps(by_tool), work_in_two_steps(tested), work_in_two_steps(by_command)] {
        for text in texts {
            assert!(!text.contains("does not compile"), "{text}");
            assert!(text.contains("“now the second step” → “Step two is done.”"), "{text}");
        }
    }
}

#[test]
fn a_state_of_the_moment_is_told_while_nothing_was_changed() {
    let reads = |env: &TestEnv| run_at(env, "08:01:01", "a", "cat src/lib.rs", "fn run() {}");
    for text in work_in_two_steps(reads) {
        assert!(text.contains(BROKEN), "{text}");
    }
}
