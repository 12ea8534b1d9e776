//! Tests that the user's answer counts as work, even in a session whose agent only ran `thru`.

use crate::env::TestEnv;
use crate::first_week::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};

const QUESTION: &str = "Open: should the stack trace for a missing file be hidden?";

/// Session `s1` ended with a question, and `s2` recovered its role.
fn env_with_open_question() -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    thru_at(&env, "19:00:01", "s1", &["role", "bind", "tester"]);
    thru_at(&env, "19:00:01", "s1", &["context", "new", "tester"]);
    ask_at(&env, "19:00:02", "s1", "Add tests for usage errors of the CLI.");
    edit_at(&env, "19:00:03", "s1", "test/cli.test.js");
    stop_at(&env, "19:00:04", "s1", &format!("Both error paths are tested and committed. {QUESTION}"));
    end_at(&env, "19:00:05", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/recover tester");
    run_at(&env, "19:01:02", "s2", "thru recover 'tester'", "Recovery of the role tester");
    env
}

#[test]
fn an_answered_question_is_not_asked_again() {
    for answer in ["Thanks. Leave it as it is; that's all.", "yes"] {
        let env = env_with_open_question();
        stop_at(&env, "19:01:03", "s2", &format!("Both are tested. {QUESTION}"));
        ask_at(&env, "19:01:04", "s2", answer);
        stop_at(&env, "19:01:05", "s2", "Noted: the stack trace stays.");
        end_at(&env, "19:01:06", "s2");
        let told = start_at(&env, "19:02:00", "s3");
        assert!(told.contains("the last session that did any work here was s2"), "{answer}: {told}");
        assert!(
            !told.contains("was waiting for the user. Its last message: “Both error"),
            "{answer}: {told}"
        );
        assert!(told.contains(answer), "{told}");
        let status = env.run_thru(&["status"]).assert_ok().stdout;
        assert!(status.contains("most recent work: s2"), "{status}");
    }
}

#[test]
fn a_session_that_only_recovered_a_role_is_no_work() {
    let env = env_with_open_question();
    stop_at(&env, "19:01:03", "s2", &format!("Both are tested. {QUESTION}"));
    end_at(&env, "19:01:06", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("the last session that did any work here was s1"), "{told}");
    assert!(told.contains("should the stack trace"), "the question is still open: {told}");
}
