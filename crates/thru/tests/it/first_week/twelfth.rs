//! Tests for the problems that the ninth new user reported.

use super::seventh::{ask_at, edit_at, end_at, fire_at, run_at, start_at, stop_at, thru_at};
use super::*;
use crate::packet_sweeps::mark_session_dead;

const HANDED_OVER: &str = "document q.clear in the README and add q.peek";

/// Creates a project in which session `s1` finished its task, was thanked, and handed other work over.
fn env_with_packet() -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Let q.clear() empty the queue, with a test.");
    edit_at(&env, "19:00:02", "s1", "src/queue.js");
    stop_at(&env, "19:00:03", "s1", "q.clear() is in, and its test passes.");
    ask_at(&env, "19:00:04", "s1", "thanks");
    stop_at(&env, "19:00:05", "s1", "You're welcome.");
    thru_at(&env, "19:00:06", "s1", &["handoff", HANDED_OVER]);
    end_at(&env, "19:00:07", "s1");
    env
}

/// Lets session `s2` pick up the packet and edit a file. The user typed `prompt`.
fn pick_up(env: &TestEnv, prompt: &str) {
    start_at(env, "19:01:00", "s2");
    ask_at(env, "19:01:01", "s2", prompt);
    thru_at(env, "19:01:02", "s2", &["pickup", "--claim", "clear"]);
    run_at(env, "19:01:03", "s2", "thru pickup --claim clear", "Picking up");
    edit_at(env, "19:01:04", "s2", "src/peek.js");
}

fn brief_after_compaction(env: &TestEnv, time: &str, session: &str) -> String {
    fire_at(env, time, session, "SessionStart", json!({"source": "compact"}))
}

#[test]
fn what_the_user_types_after_pickup_is_told() {
    let env = env_with_packet();
    pick_up(&env, "/pickup clear  but skip the README, I do that myself; and q.peek must not remove the job");
    let told = brief_after_compaction(&env, "19:01:05", "s2");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    for text in [&told, &brief] {
        assert!(text.contains("but skip the README, I do that myself; and q.peek must not"), "{text}");
        assert!(text.contains(HANDED_OVER), "the packet is still named: {text}");
    }
    assert!(told.contains("This session works on packet"), "{told}");
    assert!(!told.contains("“thanks”"), "{told}");
    mark_session_dead(&env, "s2");
    let swept = env.run_thru_json(&["sweep"]);
    let id = swept[0]["packet"].as_str().unwrap_or_else(|| panic!("{swept}"));
    let packet = env.run_thru(&["packet", "show", id]).assert_ok().stdout;
    assert!(packet.contains("but skip the README, I do that myself; and q.peek must not"), "{packet}");
    assert!(packet.contains(&format!("purpose: {HANDED_OVER}")), "{packet}");
    let next = start_at(&env, "19:02:00", "s3");
    assert!(next.contains("but skip the README, I do that myself; and q.peek must not"), "{next}");

    // A word or two after the command only name the packet.
    let env = env_with_packet();
    pick_up(&env, "/pickup clear");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(!brief.contains("“clear”"), "{brief}");
}

#[test]
fn the_goal_of_a_picked_up_packet_is_what_was_handed_over() {
    let env = env_with_packet();
    pick_up(&env, "/pickup");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains(&format!("its goal is “{HANDED_OVER}”")), "{brief}");
    assert!(!brief.contains("thanks"), "{brief}");

    // The only request of the session is finished. The packet quotes it, but the goal is another one.
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Let q.clear() empty the queue, with a test.");
    edit_at(&env, "19:00:02", "s1", "src/queue.js");
    stop_at(&env, "19:00:03", "s1", "q.clear() is in, and its test passes.");
    thru_at(&env, "19:00:06", "s1", &["handoff", "write a page about retries"]);
    end_at(&env, "19:00:07", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/pickup");
    thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
    edit_at(&env, "19:01:04", "s2", "docs/retries.md");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    let goal = "its goal is “write a page about retries”; it also quotes “Let q.clear() empty the queue, with a test.”";
    assert!(brief.contains(goal), "{brief}");
}
