//! Tests for the problems that the eleventh new user reported.

use super::seventh::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::*;
use crate::packet_sweeps::mark_session_dead;

const MEAN_RULE: &str = "mean() must ignore fields that are not numbers, like the header.";

/// Creates a project in which session `a` wrote a packet about [`MEAN_RULE`], and session `b` picked it up and edited a
/// file. Returns the packet's id.
fn env_with_packet_in_work() -> (TestEnv, String) {
    let env = TestEnv::with_root();
    start_at(&env, "08:00:00", "a");
    ask_at(&env, "08:00:01", "a", MEAN_RULE);
    edit_at(&env, "08:00:02", "a", "tests/stats.rs");
    stop_at(&env, "08:00:03", "a", "The test is there, and it fails. Next: change `mean` in src/stats.rs.");
    let written = thru_at(&env, "08:00:04", "a", &["handoff", "fix mean", "--json"]).json();
    let packet = written["id"].as_str().unwrap().to_owned();
    end_at(&env, "08:00:05", "a");
    start_at(&env, "08:01:00", "b");
    ask_at(&env, "08:01:01", "b", "/pickup");
    let pickup = "thru pickup --for claude-code --claim";
    thru_at(&env, "08:01:02", "b", &["pickup", "--claim"]);
    run_at(&env, "08:01:02", "b", pickup, "Picking up packet");
    edit_at(&env, "08:01:03", "b", "src/stats.rs");
    (env, packet)
}

fn statuses_of_packets(env: &TestEnv) -> Vec<(String, String)> {
    let listed = env.run_thru_json(&["packet", "list"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(|row| (text(&row["id"]), text(&row["status"]))).collect()
}

#[test]
fn after_a_crash_the_goal_of_the_packet_in_work_is_told() {
    let (env, packet) = env_with_packet_in_work();
    mark_session_dead(&env, "b");
    let preview = thru_at(&env, "08:02:00", "", &["brief", "--event", "startup"]).stdout;
    let goal = format!("the session picked up packet {packet}; its goal is “fix mean”");
    assert!(preview.contains(&goal) && preview.contains(MEAN_RULE), "{preview}");
    let told = start_at(&env, "08:02:00", "c");
    assert!(told.contains(&goal) && told.contains(MEAN_RULE), "{told}");
    // The session before that one left nothing new, so its work is still what the next session is told.
    end_at(&env, "08:02:01", "c");
    let told = start_at(&env, "08:03:00", "d");
    assert!(told.contains(&goal), "{told}");
}

#[test]
fn a_message_that_adds_to_the_packet_in_work_gives_no_other_task() {
    let (env, packet) = env_with_packet_in_work();
    stop_at(&env, "08:01:04", "b", "Picked up: `mean` is half changed. Shall I go on?");
    let addition = "Yes, go on. And --mean of an empty column must print n/a, not 0.";
    ask_at(&env, "08:01:05", "b", addition);
    edit_at(&env, "08:01:06", "b", "src/main.rs");
    mark_session_dead(&env, "b");
    let swept = thru_at(&env, "08:02:00", "", &["sweep", "--json"]).json();
    let crashed = swept[0]["packet"].as_str().unwrap().to_owned();
    assert!(crashed.ends_with("-fix-mean"), "{crashed}");
    let statuses = statuses_of_packets(&env);
    assert!(statuses.contains(&(packet, "done".into())), "{statuses:?}");
    assert!(statuses.contains(&(crashed.clone(), "draft".into())), "{statuses:?}");
    let text = env.run_thru(&["packet", "show", &crashed]).assert_ok().stdout;
    assert!(text.contains("must print n/a, not 0") && text.contains(MEAN_RULE), "{text}");
    let told = start_at(&env, "08:02:01", "c");
    assert!(told.contains("its goal is “fix mean”") && told.contains("must print n/a"), "{told}");
}
