//! The receipt that each hook run leaves, and torn logs.

use std::fs;

use serde_json::json;

use crate::env::{NOW, TestEnv, event_of, fixture_names};

#[test]
fn every_event_but_a_good_tool_call_leaves_one_receipt() {
    let env = TestEnv::rooted();
    for name in fixture_names() {
        let (before, payload) = (env.receipts().len(), env.fixture(&name));
        env.hook(event_of(&name), &payload).accepted(&name);
        let receipts = env.receipts();
        let expected = usize::from(!name.starts_with("PostToolUse"));
        assert_eq!(receipts.len() - before, expected, "{name}");
        if expected == 1 {
            let receipt = receipts.last().unwrap();
            let journal = env.journal(payload["session_id"].as_str().unwrap());
            assert_eq!(receipt["event"], journal.last().unwrap()["event"], "{name}");
            assert_eq!(receipt["session"], payload["session_id"]);
            assert_eq!(receipt["outcome"], "ok");
            assert_eq!(receipt["harness"], "claude-code");
            assert_eq!(receipt["ts"], NOW);
            assert!(receipt["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{receipt}");
            assert!(receipt.get("error").is_none());
        }
    }
}

#[test]
fn a_tool_call_that_could_not_be_written_leaves_a_receipt() {
    let env = TestEnv::rooted();
    let payload = env.fixture("PostToolUse.Edit");
    let journal = format!("sessions/{}.jsonl", payload["session_id"].as_str().unwrap());
    fs::create_dir(env.store().join(&journal)).unwrap();
    env.hook("PostToolUse", &payload).silent("a folder stands in the way");
    let receipt = env.receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&"tool-done".into(), &"failed".into()));
    assert!(receipt["error"].as_str().unwrap().contains(&journal), "{receipt}");
    let doctor = env.thru(&["doctor"]).exits(1);
    assert!(
        doctor.stdout.contains("tool-done of claude-code") && doctor.stdout.contains(&journal),
        "{doctor}"
    );
}

#[test]
fn a_torn_end_is_closed_by_the_next_line() {
    let env = TestEnv::rooted();
    let payload = env.fixture("PostToolUse.Edit");
    let path = env.store().join(format!("sessions/{}.jsonl", payload["session_id"].as_str().unwrap()));
    env.hook("PostToolUse", &payload).silent("first");
    let whole = fs::read_to_string(&path).unwrap();
    for cut in 1..whole.len() {
        let torn = &whole[..cut];
        fs::write(&path, format!("{whole}{torn}")).unwrap();
        env.hook("PostToolUse", &payload).silent("after a crash");
        // If only the line end was missing, the line is complete.
        let expected = format!("{whole}{torn}\n{whole}");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "cut at {cut}");
    }
}

#[test]
fn torn_receipts_and_session_lists_are_closed_too() {
    let env = TestEnv::rooted();
    let payload = env.fixture("SessionStart.startup");
    for rel in ["indexes/receipts.jsonl", "indexes/sessions.jsonl"] {
        env.write(format!("project/.agent/context/{rel}"), "{\"ts\":\"20");
    }
    env.hook("SessionStart", &payload).silent("after a crash");
    for rel in ["indexes/receipts.jsonl", "indexes/sessions.jsonl"] {
        let text = fs::read_to_string(env.store().join(rel)).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (2, "{\"ts\":\"20"), "{rel}");
        assert!(serde_json::from_str::<serde_json::Value>(lines[1]).is_ok(), "{rel}");
    }
}

#[test]
fn a_folder_that_somebody_cleaned_up_comes_back() {
    let env = TestEnv::rooted();
    for folder in ["sessions", "indexes", "state"] {
        fs::remove_dir_all(env.store().join(folder)).unwrap();
    }
    env.hook("SessionStart", &env.fixture("SessionStart.startup")).silent("start");
    assert_eq!((env.journal_lines(), env.receipts().len()), (1, 1));
    assert_eq!(env.receipts()[0]["outcome"], "ok");
}

/// An event has one deadline, however many locks it waits for. Before a compaction this is a quarter of the usual
/// deadline.
#[test]
fn waits_for_several_locks_add_up_to_no_more_than_the_deadline() {
    let env = TestEnv::rooted();
    env.write("project/.agent/context/config.toml", "[hooks]\ndeadline_ms = 4000\n");
    env.thru(&["context", "new", "dev"]).ok();
    env.hook("SessionStart", &json!({"session_id": "s1", "cwd": env.project(), "source": "startup"}));
    env.call(&["role", "bind", "dev"]).var("CLAUDE_CODE_SESSION_ID", "s1").run().ok();
    let held: Vec<fs::File> = ["session-s1.lock", "lifecycle-dev.lock"]
        .map(|name| fs::File::create(env.store().join("state/locks").join(name)).unwrap())
        .into();
    held.iter().for_each(|lock| lock.lock().unwrap());
    env.hook("PreCompact", &json!({"session_id": "s1", "cwd": env.project(), "trigger": "auto"}));
    let receipt = env.receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&json!("before-compact"), &json!("failed")));
    let ms = receipt["ms"].as_f64().unwrap();
    assert!((500.0..2000.0).contains(&ms), "1000 in all, 500 each: {receipt}");
}

#[test]
fn a_lock_that_somebody_holds_is_not_waited_for_long() {
    let env = TestEnv::rooted();
    let path = env.write("project/.agent/context/state/locks/root.lock", "");
    let held = fs::File::open(path).unwrap();
    held.lock().unwrap();
    env.hook("SessionStart", &env.fixture("SessionStart.startup")).silent("locked");
    assert_eq!(env.journal_lines(), 1, "what needs no lock is written");
    assert_eq!(env.log("indexes/sessions.jsonl").len(), 1);
    assert!(env.marker().get("last_session").is_none());
    let receipt = env.receipts().pop().unwrap();
    assert!(receipt["error"].as_str().unwrap().contains("root.lock"), "{receipt}");
    drop(held);
    env.hook("SessionStart", &env.fixture("SessionStart.startup")).silent("free");
    assert_eq!(env.receipts().pop().unwrap()["outcome"], "ok");
}

#[test]
fn a_payload_that_cannot_be_read_is_filed_under_the_same_event() {
    let env = TestEnv::rooted();
    env.hook_call("Stop", "no payload").run().silent("Stop");
    assert_eq!(env.receipts()[0]["event"], "stop");
}

#[test]
fn lines_that_are_no_records_are_not_shown() {
    let env = TestEnv::rooted();
    env.hook("PostToolUse", &env.fixture("PostToolUse.Edit"));
    let session = env.fixture("PostToolUse.Edit")["session_id"].as_str().unwrap().to_owned();
    let journal = env.store().join(format!("sessions/{session}.jsonl"));
    let text = fs::read_to_string(&journal).unwrap() + "{\"foreign\":1}\n[]\n";
    fs::write(&journal, text).unwrap();
    let shown = env.thru(&["journal", "--session", &session]).ok().stdout;
    assert_eq!(shown.lines().count(), 1, "{shown}");
    let unknown = env.call(&["journal"]).var("CLAUDE_CODE_SESSION_ID", "zzz").run().exits(10);
    assert!(unknown.stderr.contains("zzz"), "{unknown}");
}
