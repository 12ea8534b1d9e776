//! Tests that `thru status` always says what to do next.

use serde_json::json;

use crate::env::TestEnv;
use crate::first_week::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};

/// Asserts that the text and the JSON name this command as the next step.
#[track_caller]
fn assert_next(env: &TestEnv, command: &str, why: &str) {
    let text = env.run_thru(&["status"]).assert_ok().stdout;
    assert_eq!(text.lines().last(), Some(format!("Next: `{command}` {why}").as_str()), "{text}");
    let status = env.run_thru_json(&["status"]);
    assert_eq!(
        (&status["next"], &status["next_step"]),
        (&json!("nothing"), &json!({"command": command, "why": why}))
    );
}

#[test]
fn a_session_that_only_finished_a_packet_is_followed_by_a_next_step() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add a `list` command.");
    thru_at(&env, "19:00:02", "s1", &["handoff", "implement the list command in shop.py"]);
    end_at(&env, "19:00:03", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/pickup");
    thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
    run_at(&env, "19:01:02", "s2", "thru pickup --claim", "Picking up");
    edit_at(&env, "19:01:03", "s2", "shop.py");
    thru_at(&env, "19:01:04", "s2", &["packet", "done", "list"]);
    stop_at(&env, "19:01:05", "s2", "The list command is in.");
    end_at(&env, "19:01:06", "s2");
    assert_next(&env, "thru brief", "shows where session s2 left off");
}

#[test]
fn a_session_without_a_prompt_is_followed_by_a_next_step() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    end_at(&env, "19:00:03", "s1");
    assert_next(&env, "thru journal", "shows what has been captured from session s1");
    // The list of sessions can be deleted.
    std::fs::remove_file(env.store_folder().join("indexes/sessions.jsonl")).unwrap();
    let text = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(text.lines().last().unwrap().starts_with("Next: `thru "), "{text}");
}
