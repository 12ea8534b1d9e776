//! Tests briefs about a session whose agent has replied, and about a resumed session.

use serde_json::json;

use crate::env::TestEnv;
use crate::first_week::handoffs::{ask_at, edit_at, fire_at, start_at, stop_at, thru_at};

const QUESTION: &str = "Is z tested?";

/// The brief after a compaction. Before the compaction, the agent replies with this message and ends its turn.
fn brief_after_reply(reply: &str) -> String {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Set z to 3 in a.py.");
    edit_at(&env, "19:00:02", "s1", "a.py");
    stop_at(&env, "19:00:03", "s1", "z is 3 now.");
    ask_at(&env, "19:01:00", "s1", QUESTION);
    stop_at(&env, "19:01:02", "s1", reply);
    let payload = env.event_payload("s1", "PreCompact", json!({"trigger": "manual"}));
    let call = env.hook_call("PreCompact", payload.to_string());
    call.with_variable("THROUGHLINE_NOW", "2026-11-15T19:01:03Z").run();
    fire_at(&env, "19:01:04", "s1", "SessionStart", json!({"source": "compact"}))
}

#[test]
fn a_question_is_answered_even_if_the_reply_announces_something() {
    let told = brief_after_reply("No: z has no test yet. I will add one with the next step.");
    assert!(told.contains(&format!("Newest message, answered: “{QUESTION}”")), "{told}");
    assert!(told.contains("The agent has replied and announced: “No: z has no test yet."), "{told}");
    let told = brief_after_reply("No, z has no test.");
    assert!(told.contains(&format!("Newest message, answered: “{QUESTION}”")), "{told}");
    assert!(!told.contains("announced"), "{told}");
}

#[test]
fn a_preview_for_a_resumed_session_says_why_it_is_empty() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Set z to 3 in a.py.");
    edit_at(&env, "19:00:02", "s1", "a.py");
    stop_at(&env, "19:00:03", "s1", "z is 3 now.");
    let printed = thru_at(&env, "19:00:04", "s1", &["brief", "--event", "resume"]);
    assert_eq!(printed.stdout, "");
    assert!(printed.stderr.contains("a resumed session still has its conversation"), "{printed}");
}
