//! Tests sessions that picked up a packet.

use super::handoffs::{ask_at, edit_at, end_at, fire_at, run_at, start_at, stop_at, thru_at};
use super::*;
use crate::packet_sweeps::mark_session_dead;

const HANDED_OVER: &str = "document q.clear in the README and add q.peek";

/// Creates a project in which session `s1` finished its task, got the user's thanks, and wrote a packet for other
/// work.
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
        assert!(text.contains("message, typed after `/pickup`: “clear"), "{text}");
        assert!(text.contains(HANDED_OVER), "the packet is still named: {text}");
    }
    assert!(told.contains("This session is working on packet"), "{told}");
    assert!(!told.contains("“thanks”"), "{told}");
    mark_session_dead(&env, "s2");
    let swept = env.run_thru_json(&["sweep"]);
    let id = swept[0]["packet"].as_str().unwrap_or_else(|| panic!("{swept}"));
    let packet = env.run_thru(&["packet", "show", id]).assert_ok().stdout;
    assert!(packet.contains("but skip the README, I do that myself; and q.peek must not"), "{packet}");
    assert!(packet.contains(&format!("purpose: {HANDED_OVER}")), "{packet}");
    assert!(packet.contains("The user asked, typed after `/pickup`, 2026"), "{packet}");
    let next = start_at(&env, "19:02:00", "s3");
    assert!(next.contains("but skip the README, I do that myself; and q.peek must not"), "{next}");

    // If only a word or two follow the command, they name the packet and are not a new request.
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

    // The session's only request is finished. The packet quotes this request, but the goal is the purpose of the
    // handoff.
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

#[test]
fn finished_work_is_not_told_as_work_that_is_continued() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add q.drain(now) that returns all due jobs in order");
    edit_at(&env, "19:00:02", "s1", "src/queue.js");
    mark_session_dead(&env, "s1");

    // The next session picks the work up, and finishes it.
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Hi, continue please.");
    thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
    run_at(&env, "19:01:03", "s2", "thru pickup --claim", "Picking up");
    edit_at(&env, "19:01:04", "s2", "src/queue.js");
    thru_at(&env, "19:01:05", "s2", &["packet", "done", "drain"]);
    stop_at(&env, "19:01:06", "s2", "q.drain is fixed and committed.");
    end_at(&env, "19:01:07", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(!told.contains("in session s1 the user asked"), "{told}");
    assert!(told.contains("which is done by now; its goal was “Add q.drain(now)"), "{told}");
    end_at(&env, "19:02:01", "s3");

    // A loop has its own goal, even if the user only typed "go".
    let start = ["loop", "start", "Write q.stats() with a test", "--promise", "STATS", "--next"];
    env.thru_call(&start).with_variable("THROUGHLINE_NOW", "2026-11-15T19:02:30Z").run().assert_ok();
    start_at(&env, "19:03:00", "s4");
    ask_at(&env, "19:03:01", "s4", "go");
    edit_at(&env, "19:03:02", "s4", "src/stats.js");
    stop_at(&env, "19:03:03", "s4", "Done. <promise>STATS</promise>");
    end_at(&env, "19:03:04", "s4");
    let told = start_at(&env, "19:04:00", "s5");
    assert!(told.contains("Write q.stats()"), "{told}");
    assert!(!told.contains("Earlier work being continued"), "{told}");
}

#[test]
fn the_work_of_a_session_that_picked_up_a_packet_is_the_packet() {
    let env = env_with_packet();
    pick_up(&env, "/pickup clear");
    stop_at(&env, "19:01:05", "s2", "q.peek is in. Shall I commit?");
    ask_at(&env, "19:01:06", "s2", "ok");
    stop_at(&env, "19:01:07", "s2", "Committed.");
    end_at(&env, "19:01:08", "s2");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(!told.contains("in session s1 the user asked"), "{told}");
    assert!(told.contains(&format!("its goal is “{HANDED_OVER}”")), "{told}");
}

#[test]
fn a_file_that_a_command_edits_counts_as_edited() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Rename the field at to dueAt");
    let call = json!({"tool_name": "Read", "tool_use_id": "r1",
        "tool_input": {"file_path": env.project_folder().join("src/queue.js")},
        "tool_response": {"type": "text", "file": {"filePath": "src/queue.js", "content": "x"}}});
    fire_at(&env, "19:00:02", "s1", "PostToolUse", call);
    env.write_file("project/src/queue.js", "x\n");
    run_at(&env, "19:00:03", "s1", "sed -i s/at/dueAt/ src/queue.js", "");
    let handoff = thru_at(&env, "19:00:04", "s1", &["handoff", "finish the rename"]);
    let printed = format!("{}{}", handoff.stdout, handoff.stderr);
    assert!(printed.contains("1 file edited"), "{printed}");
    let packet = env.run_thru(&["packet", "show", "rename"]).assert_ok().stdout;
    assert!(packet.contains("`src/queue.js` — edited by a command, read"), "{packet}");
    end_at(&env, "19:00:05", "s1");
    let told = start_at(&env, "19:01:00", "s2");
    assert!(told.contains("Files:\n- edited src/queue.js"), "{told}");
}

#[test]
fn the_packet_of_a_crash_continues_the_packet_that_the_session_had_claimed() {
    let env = env_with_packet();
    pick_up(&env, "/pickup");
    mark_session_dead(&env, "s2");
    let swept = env.run_thru_json(&["sweep"]);
    let id = swept[0]["packet"].as_str().unwrap_or_else(|| panic!("{swept}")).to_owned();
    let listed = env.run_thru_json(&["packet", "list"]);
    let open: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["status"] != "done")
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    assert_eq!(open, [id.as_str()], "{listed}");
    let packet = env.run_thru(&["packet", "show", &id]).assert_ok().stdout;
    assert!(packet.contains(HANDED_OVER), "{packet}");

    // If the session is resumed, it still works on what it had claimed.
    fire_at(&env, "19:03:00", "s2", "SessionStart", json!({"source": "resume"}));
    let told = brief_after_compaction(&env, "19:03:05", "s2");
    assert!(told.contains(HANDED_OVER), "{told}");
}

/// Two sessions in a row crash during the same work. The second packet continues the first, so only the second is on
/// offer. What the user typed in the second session does not matter.
#[test]
fn after_two_crashes_only_the_newest_packet_is_on_offer() {
    for prompt in ["/pickup", "Now print the age of each job as well."] {
        let env = TestEnv::with_root();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Add q.drain(now) that returns all due jobs in order");
        edit_at(&env, "19:00:02", "s1", "src/queue.js");
        mark_session_dead(&env, "s1");
        start_at(&env, "19:01:00", "s2");
        let first = env.run_thru_json(&["packet", "list"])[0]["id"].as_str().unwrap().to_owned();
        ask_at(&env, "19:01:01", "s2", prompt);
        thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
        run_at(&env, "19:01:03", "s2", "thru pickup --claim", "Picking up");
        edit_at(&env, "19:01:04", "s2", "src/age.js");
        mark_session_dead(&env, "s2");

        let preview = ["brief", "--event", "startup"];
        let preview = thru_at(&env, "19:02:00", "", &preview).stdout;
        let told = start_at(&env, "19:02:00", "s3");
        assert!(told.contains(preview.trim()), "{preview}\n{told}");
        let listed = env.run_thru_json(&["packet", "list"]);
        let rows = listed.as_array().unwrap();
        let old = rows.iter().find(|row| row["id"] == first.as_str()).unwrap();
        let new = rows.iter().find(|row| row["id"] != first.as_str()).unwrap();
        assert_eq!(
            (rows.len(), &old["status"], &new["status"]),
            (2, &json!("done"), &json!("draft")),
            "{listed}"
        );
        assert!(told.contains(new["id"].as_str().unwrap()), "{told}");
        assert!(!told.contains(&format!("thru pickup {first}")), "{told}");
        assert_eq!(old["continued_by"], new["id"], "{listed}");
        let text = env.run_thru(&["packet", "list"]).assert_ok().stdout;
        assert!(text.contains(&format!("continued by {}", new["id"].as_str().unwrap())), "{text}");
        let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
        assert!(picked.contains("Add q.drain(now)") && picked.contains("src/age.js"), "{picked}");
        if prompt != "/pickup" {
            assert!(picked.contains(prompt), "{picked}");
        }
    }
}
