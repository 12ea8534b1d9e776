//! Tests how the messages that a packet quotes are repeated to the sessions after it.

use serde_json::json;

use crate::env::TestEnv;
use crate::first_week::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use crate::packet_sweeps::mark_session_dead;

const QUESTION: &str =
    "`export` is written, but `test_export` fails: the header line is missing. Shall I add it?";

/// Session `s1` asked a question, the user answered it, and `s1` handed the work over.
fn env_with_answered_question() -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add an `export` command that prints the list as CSV with a header line.");
    edit_at(&env, "19:00:02", "s1", "shop.py");
    stop_at(&env, "19:00:03", "s1", QUESTION);
    ask_at(&env, "19:00:04", "s1", "Yes.");
    edit_at(&env, "19:00:05", "s1", "shop.py");
    env
}

#[test]
fn a_packet_that_is_done_is_told_without_its_quotations() {
    let env = env_with_answered_question();
    stop_at(&env, "19:00:06", "s1", "The header line is in.");
    thru_at(
        &env,
        "19:00:07",
        "s1",
        &["handoff", "merge the branch export into main and run the tests there"],
    );
    end_at(&env, "19:00:08", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/pickup");
    thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
    run_at(&env, "19:01:03", "s2", "git merge export", "Fast-forward");
    thru_at(&env, "19:01:04", "s2", &["packet", "done", "merge"]);
    stop_at(&env, "19:01:05", "s2", "Merged; the tests pass.");
    end_at(&env, "19:01:06", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("which is done by now; its goal was “merge the branch export"), "{told}");
    assert!(!told.contains("also quotes") && !told.contains("Shall I add it?"), "{told}");
}

/// The user's answer was the last thing that happened, so the question belongs to the work that the packet hands over.
#[test]
fn a_question_is_quoted_with_its_speaker_and_its_answer() {
    let env = env_with_answered_question();
    thru_at(&env, "19:00:07", "s1", &["handoff", "finish the export command"]);
    end_at(&env, "19:00:08", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/pickup");
    thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
    edit_at(&env, "19:01:03", "s2", "shop.py");
    let compacted = crate::first_week::handoffs::fire_at(
        &env,
        "19:01:04",
        "s2",
        "SessionStart",
        json!({"source": "compact"}),
    );
    assert!(compacted.contains("Shall I add it?”; The user's newest message"), "{compacted}");
    assert!(compacted.contains("“Yes.”"), "{compacted}");
    end_at(&env, "19:01:06", "s2");
    let brief = env.run_thru(&["brief", "--event", "startup", "--max-chars", "6000"]).assert_ok().stdout;
    let quoted = "it also quotes the user's “Yes.”, in answer to the agent's “`export` is written";
    assert!(brief.contains(quoted), "{brief}");
}

#[test]
fn the_prompt_of_a_loop_is_quoted_once() {
    let env = TestEnv::with_root();
    let prompt = "wire --json into src/cli.js with a test in test/cli.test.js";
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", &format!("/thru-loop {prompt} --promise OK --max-iterations 5"));
    thru_at(&env, "19:00:02", "s1", &["loop", "start", prompt, "--promise", "OK", "--max-iterations", "5"]);
    edit_at(&env, "19:00:03", "s1", "src/cli.js");
    mark_session_dead(&env, "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/pickup");
    thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
    edit_at(&env, "19:01:03", "s2", "test/cli.test.js");
    end_at(&env, "19:01:04", "s2");
    let brief = env.run_thru(&["brief", "--event", "startup", "--max-chars", "6000"]).assert_ok().stdout;
    let line =
        brief.lines().find(|line| line.contains("picked up packet")).unwrap_or_else(|| panic!("{brief}"));
    assert_eq!(line.matches("wire --json into").count(), 1, "{line}");
}
