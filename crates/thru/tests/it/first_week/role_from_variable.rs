//! Tests what a session is told about a role that an environment variable names.

use super::handoffs::{ask_at, edit_at, end_at, start_at};
use super::*;

/// The heading of the brief is about the previous session.
#[test]
fn the_role_of_a_new_session_is_not_taken_for_the_role_of_the_one_before() {
    let env = TestEnv::with_root();
    env.run_thru(&["context", "new", "tester"]).assert_ok();
    start_at(&env, "19:30:00", "s1");
    ask_at(&env, "19:30:01", "s1", "Make inferTypes keep leading zeros in src/infer.js.");
    edit_at(&env, "19:30:02", "s1", "src/infer.js");
    end_at(&env, "19:30:05", "s1");
    let payload = env.event_payload("s2", "SessionStart", json!({"source": "startup"}));
    let call = env.hook_call("SessionStart", payload.to_string()).with_variable("THROUGHLINE_ROLE", "tester");
    let told = call.run().context_for_model();
    assert!(told.contains("the last session that did any work here was s1"), "{told}");
    assert!(told.contains("Role of this session:\n- tester"), "{told}");
}
