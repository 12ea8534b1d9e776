//! A log that has reached its limit is renamed, and no line of it is lost.

use serde_json::json;

use crate::env::{TestEnv, names_in};

#[test]
fn a_journal_is_rotated_and_nothing_is_lost() {
    let env = TestEnv::rooted();
    env.write("project/.agent/context/config.toml", "[hooks]\nlog_limit_kib = 64\n");
    let filler = "some words ".repeat(2_000);
    for number in 0..20 {
        let payload =
            json!({"session_id": "s", "cwd": env.project(), "prompt": format!("{number}: {filler}")});
        env.hook("UserPromptSubmit", &payload).silent("prompt");
    }
    let parts = names_in(&env.store().join("sessions"));
    assert_eq!(
        parts,
        [
            "s.jsonl",
            "s~0001.jsonl",
            "s~0002.jsonl",
            "s~0003.jsonl",
            "s~0004.jsonl",
            "s~0005.jsonl",
            "s~0006.jsonl"
        ]
    );
    let numbers: Vec<usize> = env
        .journal("s")
        .iter()
        .map(|line| line["text"].as_str().unwrap().split(':').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>(), "all there, in their order");
    assert_eq!(env.json(&["status"])["sessions"], 1, "parts are no sessions");
    env.thru(&["doctor"]).ok();
}

#[test]
fn receipts_and_sessions_are_rotated_too() {
    let env = TestEnv::rooted();
    env.write(env.user_config(), "[hooks]\nlog_limit_kib = 64\n");
    let line = format!("{{\"ts\":\"2026-11-01T00:00:00Z\",\"filler\":\"{}\"}}\n", "x".repeat(100));
    let full = line.repeat(64 * 1024 / line.len() + 1);
    for name in ["receipts", "sessions"] {
        env.write(format!("project/.agent/context/indexes/{name}.jsonl"), &full);
    }
    env.hook("SessionStart", &env.fixture("SessionStart.startup")).silent("start");
    for name in ["receipts", "sessions"] {
        let parts = names_in(&env.store().join("indexes"));
        assert!(parts.contains(&format!("{name}~0001.jsonl")), "{parts:?}");
        let lines = env.log(&format!("indexes/{name}.jsonl"));
        assert_eq!(lines.len(), full.lines().count() + 1, "{name}");
    }
}

#[test]
fn a_part_that_is_there_is_never_overwritten() {
    let env = TestEnv::rooted();
    env.write(env.user_config(), "[hooks]\nlog_limit_kib = 64\n");
    env.write("project/.agent/context/sessions/s~0007.jsonl", "{\"old\":true}\n");
    env.write("project/.agent/context/sessions/s.jsonl", format!("{{\"x\":\"{}\"}}\n", "x".repeat(70_000)));
    env.hook("Stop", &json!({"session_id": "s", "cwd": env.project()})).silent("stop");
    let parts = names_in(&env.store().join("sessions"));
    assert_eq!(parts, ["s.jsonl", "s~0007.jsonl", "s~0008.jsonl"]);
    assert_eq!(env.journal("s").len(), 3);
}

#[test]
fn last_session_survives_the_rotation_of_the_session_list() {
    let env = TestEnv::rooted();
    env.write(env.user_config(), "[hooks]\nlog_limit_kib = 64\n");
    env.hook("SessionStart", &env.fixture("SessionStart.startup")).silent("start");
    let list = env.store().join("indexes/sessions.jsonl");
    std::fs::rename(&list, env.store().join("indexes/sessions~0001.jsonl")).unwrap();
    assert_eq!(env.json(&["status"])["last_session"]["session"], "9487a9f7-611a-47e9-8202-df72ea246773");
}
