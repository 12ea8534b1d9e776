//! Tests that the rules about the task of a packet no longer apply to new tasks after the packet is closed, and that rules
//! for the whole project still do.

use super::handoffs::{ask_at, edit_at, end_at, fire_at, run_at, start_at, stop_at, thru_at};
use super::*;

const RULE: &str = "Don't change the public API of the queue.";
const LATER_RULE: &str = "Don't change the clock of the tests.";
const LASTING_RULE: &str = "Never mock the clock in a test.";
const PUSH_RULE: &str = "Never push without asking me.";
const TASK: &str = "Let q.clear() empty the queue, with a test.";
const OTHER_TASK: &str = "Write a page about the formats of the export, with one example for each.";

fn packet_id(env: &TestEnv) -> String {
    env.run_thru_json(&["packet", "list"])[0]["id"].as_str().unwrap().to_owned()
}

/// The texts that a session can get about earlier work: its brief at a start, after a compaction and on request, and the
/// packet that it writes.
fn texts_about(env: &TestEnv, time: &str, session: &str) -> Vec<String> {
    let at = |n: u32| format!("{time}:{n:02}");
    let compacted = fire_at(env, &at(30), session, "SessionStart", json!({"source": "compact"}));
    let asked = thru_at(env, &at(31), session, &["brief"]).stdout;
    let written = thru_at(env, &at(32), session, &["handoff", "go on", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    end_at(env, &at(33), session);
    vec![compacted, asked, packet, start_at(env, &at(34), "s9")]
}

/// Creates a project in which the user gave `s1` a task with three rules, and `s1` handed the work over. Returns the
/// packet's id.
fn env_with_packet() -> (TestEnv, String) {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", &format!("{TASK} {RULE} {LASTING_RULE} {PUSH_RULE}"));
    edit_at(&env, "19:00:02", "s1", "src/queue.js");
    stop_at(&env, "19:00:03", "s1", "q.clear() is in; its test is not written yet.");
    thru_at(&env, "19:00:06", "s1", &["handoff", "write the test of q.clear()"]);
    let id = packet_id(&env);
    (env, id)
}

fn pick_up(env: &TestEnv, id: &str) {
    start_at(env, "19:01:00", "s2");
    ask_at(env, "19:01:01", "s2", "/pickup");
    thru_at(env, "19:01:02", "s2", &["pickup", "--claim", id]);
    run_at(env, "19:01:03", "s2", &format!("thru pickup --claim {id}"), "Picking up");
    ask_at(env, "19:01:04", "s2", &format!("Go on with it. {LATER_RULE}"));
    edit_at(env, "19:01:05", "s2", "test/queue.test.js");
    stop_at(env, "19:01:06", "s2", "The test of q.clear() is there and passes.");
}

/// Lets a session work on another task. Then asserts that the rules are in every text about the session if `are_told`
/// is true, and in none of them otherwise.
fn assert_rules_told(env: &TestEnv, session: &str, file: &str, rules: &[&str], are_told: bool) {
    ask_at(env, "19:02:01", session, OTHER_TASK);
    edit_at(env, "19:02:02", session, file);
    stop_at(env, "19:02:03", session, "The page has a section for each format; examples are missing.");
    for text in texts_about(env, "19:02", session) {
        // An answered request may be quoted as such.
        let is_answered = |line: &&str| line.contains(TASK) || line.contains("Go on with it.");
        let text: Vec<&str> = text.lines().filter(|line| !is_answered(line)).collect();
        for rule in rules {
            let is_told = text.iter().any(|line| line.contains(rule));
            assert_eq!(is_told, are_told, "{session} {rule}: {}", text.join("\n"));
        }
    }
}

#[test]
fn a_rule_of_a_closed_packet_is_not_carried_on_into_a_new_task() {
    // The session that finished the packet goes on with another task.
    let (env, id) = env_with_packet();
    end_at(&env, "19:00:07", "s1");
    pick_up(&env, &id);
    thru_at(&env, "19:01:10", "s2", &["packet", "done", &id]);
    assert_rules_told(&env, "s2", "docs/export.md", &[RULE, LATER_RULE], false);
    // Another session edits a file of the finished work.
    let (env, id) = env_with_packet();
    end_at(&env, "19:00:07", "s1");
    pick_up(&env, &id);
    thru_at(&env, "19:01:10", "s2", &["packet", "done", &id]);
    end_at(&env, "19:01:11", "s2");
    start_at(&env, "19:02:00", "s3");
    assert_rules_told(&env, "s3", "src/queue.js", &[RULE, LATER_RULE], false);
    // The session that wrote the packet goes on with another task. Rules for the whole project and rules about pushing
    // apply to every task, so the texts still contain them.
    let (env, id) = env_with_packet();
    env.thru_call(&["packet", "done", &id]).run().assert_ok();
    assert_rules_told(&env, "s1", "docs/export.md", &[RULE], false);
    let (env, id) = env_with_packet();
    env.thru_call(&["packet", "done", &id]).run().assert_ok();
    assert_rules_told(&env, "s1", "docs/export.md", &[LASTING_RULE, PUSH_RULE], true);
}

#[test]
fn a_rule_of_a_packet_that_is_open_still_applies() {
    let (env, _) = env_with_packet();
    assert_rules_told(&env, "s1", "docs/export.md", &[RULE, PUSH_RULE], true);
    let (env, id) = env_with_packet();
    end_at(&env, "19:00:07", "s1");
    pick_up(&env, &id);
    assert_rules_told(&env, "s2", "docs/export.md", &[LATER_RULE], true);
}

/// A message of thanks is not a new task, so the agent is still told the rules.
#[test]
fn a_rule_of_a_closed_packet_is_told_until_there_is_a_new_task() {
    let (env, id) = env_with_packet();
    end_at(&env, "19:00:07", "s1");
    pick_up(&env, &id);
    thru_at(&env, "19:01:10", "s2", &["packet", "done", &id]);
    ask_at(&env, "19:01:11", "s2", "thanks");
    let told = fire_at(&env, "19:01:12", "s2", "SessionStart", json!({"source": "compact"}));
    assert!(told.contains(LATER_RULE), "{told}");
}
