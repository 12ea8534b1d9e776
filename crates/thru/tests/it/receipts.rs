//! Tests for receipts: every hook run leaves one, except after a successful tool call. Also tests appending to torn
//! logs.

use std::fs;

use serde_json::json;

use crate::env::{TEST_TIME, TestEnv, event_of_fixture, fixture_names};

#[test]
fn every_event_but_a_good_tool_call_leaves_one_receipt() {
    let env = TestEnv::with_root();
    for name in fixture_names() {
        let (before, payload) = (env.read_receipts().len(), env.captured_payload(&name));
        env.fire_hook(event_of_fixture(&name), &payload).assert_accepted_by_harness(&name);
        let receipts = env.read_receipts();
        let expected = usize::from(!name.starts_with("PostToolUse"));
        assert_eq!(receipts.len() - before, expected, "{name}");
        if expected == 1 {
            let receipt = receipts.last().unwrap();
            let journal = env.read_journal(payload["session_id"].as_str().unwrap());
            assert_eq!(receipt["event"], journal.last().unwrap()["event"], "{name}");
            assert_eq!(receipt["session"], payload["session_id"]);
            assert_eq!(receipt["outcome"], "ok");
            assert_eq!(receipt["harness"], "claude-code");
            assert_eq!(receipt["ts"], TEST_TIME);
            assert!(receipt["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{receipt}");
            assert!(receipt.get("error").is_none());
        }
    }
}

#[test]
fn a_tool_call_that_could_not_be_written_leaves_a_receipt() {
    let env = TestEnv::with_root();
    let payload = env.captured_payload("PostToolUse.Edit");
    let journal = format!("sessions/{}.jsonl", payload["session_id"].as_str().unwrap());
    fs::create_dir(env.store_folder().join(&journal)).unwrap();
    env.fire_hook("PostToolUse", &payload).assert_silent("a folder stands in the way");
    let receipt = env.read_receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&"tool-done".into(), &"failed".into()));
    assert!(receipt["error"].as_str().unwrap().contains(&journal), "{receipt}");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(
        doctor.stdout.contains("the claude-code hook for tool-done failed")
            && doctor.stdout.contains(&journal),
        "{doctor}"
    );
}

#[test]
fn a_torn_end_is_closed_by_the_next_line() {
    let env = TestEnv::with_root();
    let payload = env.captured_payload("PostToolUse.Edit");
    let path = env.store_folder().join(format!("sessions/{}.jsonl", payload["session_id"].as_str().unwrap()));
    env.fire_hook("PostToolUse", &payload).assert_silent("first");
    let whole = fs::read_to_string(&path).unwrap();
    for cut in 1..whole.len() {
        let torn = &whole[..cut];
        fs::write(&path, format!("{whole}{torn}")).unwrap();
        env.fire_hook("PostToolUse", &payload).assert_silent("after a crash");
        // If only the newline is missing, the line counts as complete.
        let expected = format!("{whole}{torn}\n{whole}");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "cut at {cut}");
    }
}

#[test]
fn torn_receipts_and_session_lists_are_closed_too() {
    let env = TestEnv::with_root();
    let payload = env.captured_payload("SessionStart.startup");
    for rel in ["indexes/receipts.jsonl", "indexes/sessions.jsonl"] {
        env.write_file(format!("project/.agent/context/{rel}"), "{\"ts\":\"20");
    }
    env.fire_hook("SessionStart", &payload).assert_silent("after a crash");
    for rel in ["indexes/receipts.jsonl", "indexes/sessions.jsonl"] {
        let text = fs::read_to_string(env.store_folder().join(rel)).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (2, "{\"ts\":\"20"), "{rel}");
        assert!(serde_json::from_str::<serde_json::Value>(lines[1]).is_ok(), "{rel}");
    }
}

#[test]
fn a_folder_that_somebody_cleaned_up_comes_back() {
    let env = TestEnv::with_root();
    for folder in ["sessions", "indexes", "state"] {
        fs::remove_dir_all(env.store_folder().join(folder)).unwrap();
    }
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("start");
    assert_eq!((env.count_journal_lines(), env.read_receipts().len()), (1, 1));
    assert_eq!(env.read_receipts()[0]["outcome"], "ok");
}

/// An event has one deadline, no matter how many locks it waits for. Before a compaction, the deadline is a quarter of
/// the usual deadline.
#[test]
fn waits_for_several_locks_add_up_to_no_more_than_the_deadline() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[hooks]\ndeadline_ms = 4000\n");
    env.run_thru(&["context", "new", "dev"]).assert_ok();
    env.fire_hook(
        "SessionStart",
        &json!({"session_id": "s1", "cwd": env.project_folder(), "source": "startup"}),
    );
    env.thru_call(&["role", "bind", "dev"]).with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok();
    let held: Vec<fs::File> = ["session-s1.lock", "lifecycle-dev.lock"]
        .map(|name| fs::File::create(env.store_folder().join("state/locks").join(name)).unwrap())
        .into();
    held.iter().for_each(|lock| lock.lock().unwrap());
    env.fire_hook("PreCompact", &json!({"session_id": "s1", "cwd": env.project_folder(), "trigger": "auto"}));
    let receipt = env.read_receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&json!("before-compact"), &json!("failed")));
    let ms = receipt["ms"].as_f64().unwrap();
    assert!((500.0..2000.0).contains(&ms), "1000 in all, 500 each: {receipt}");
}

#[test]
fn a_lock_that_somebody_holds_is_not_waited_for_long() {
    let env = TestEnv::with_root();
    let path = env.write_file("project/.agent/context/state/locks/root.lock", "");
    let held = fs::File::open(path).unwrap();
    held.lock().unwrap();
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("locked");
    assert_eq!(env.count_journal_lines(), 1, "what needs no lock is written");
    assert_eq!(env.read_log("indexes/sessions.jsonl").len(), 1);
    assert!(env.read_marker().get("last_session").is_none());
    let receipt = env.read_receipts().pop().unwrap();
    assert!(receipt["error"].as_str().unwrap().contains("root.lock"), "{receipt}");
    drop(held);
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("free");
    assert_eq!(env.read_receipts().pop().unwrap()["outcome"], "ok");
}

#[test]
fn a_payload_that_cannot_be_read_is_filed_under_the_same_event() {
    let env = TestEnv::with_root();
    env.hook_call("Stop", "no payload").run().assert_silent("Stop");
    assert_eq!(env.read_receipts()[0]["event"], "stop");
}

#[test]
fn lines_that_are_no_records_are_not_shown() {
    let env = TestEnv::with_root();
    env.fire_hook("PostToolUse", &env.captured_payload("PostToolUse.Edit"));
    let session = env.captured_payload("PostToolUse.Edit")["session_id"].as_str().unwrap().to_owned();
    let journal = env.store_folder().join(format!("sessions/{session}.jsonl"));
    let text = fs::read_to_string(&journal).unwrap() + "{\"foreign\":1}\n[]\n";
    fs::write(&journal, text).unwrap();
    let shown = env.run_thru(&["journal", "--session", &session]).assert_ok().stdout;
    assert_eq!(shown.lines().count(), 1, "{shown}");
    let unknown =
        env.thru_call(&["journal"]).with_variable("CLAUDE_CODE_SESSION_ID", "zzz").run().assert_exit_code(10);
    assert!(unknown.stderr.contains("zzz"), "{unknown}");
}
