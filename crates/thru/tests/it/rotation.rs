//! A log that has reached its limit is renamed without losing a line.

use serde_json::json;

use crate::env::{TestEnv, names_in};

#[test]
fn a_journal_is_rotated_and_nothing_is_lost() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[hooks]\nlog_limit_kib = 64\n");
    let filler = "some words ".repeat(2_000);
    for number in 0..20 {
        let payload =
            json!({"session_id": "s", "cwd": env.project_folder(), "prompt": format!("{number}: {filler}")});
        env.fire_hook("UserPromptSubmit", &payload).assert_silent("prompt");
    }
    let parts = names_in(&env.store_folder().join("sessions"));
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
        .read_journal("s")
        .iter()
        .map(|line| line["text"].as_str().unwrap().split(':').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>(), "all there, in their order");
    assert_eq!(env.run_thru_json(&["status"])["sessions"], 1, "parts are no sessions");
    env.run_thru(&["doctor"]).assert_ok();
}

#[test]
fn receipts_and_sessions_are_rotated_too() {
    let env = TestEnv::with_root();
    env.write_file(env.user_config_path(), "[hooks]\nlog_limit_kib = 64\n");
    let line = format!("{{\"ts\":\"2026-11-01T00:00:00Z\",\"filler\":\"{}\"}}\n", "x".repeat(100));
    let full = line.repeat(64 * 1024 / line.len() + 1);
    for name in ["receipts", "sessions"] {
        env.write_file(format!("project/.agent/context/indexes/{name}.jsonl"), &full);
    }
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("start");
    for name in ["receipts", "sessions"] {
        let parts = names_in(&env.store_folder().join("indexes"));
        assert!(parts.contains(&format!("{name}~0001.jsonl")), "{parts:?}");
        let lines = env.read_log(&format!("indexes/{name}.jsonl"));
        assert_eq!(lines.len(), full.lines().count() + 1, "{name}");
    }
}

#[test]
fn a_part_that_is_there_is_never_overwritten() {
    let env = TestEnv::with_root();
    env.write_file(env.user_config_path(), "[hooks]\nlog_limit_kib = 64\n");
    env.write_file("project/.agent/context/sessions/s~0007.jsonl", "{\"old\":true}\n");
    env.write_file(
        "project/.agent/context/sessions/s.jsonl",
        format!("{{\"x\":\"{}\"}}\n", "x".repeat(70_000)),
    );
    env.fire_hook("Stop", &json!({"session_id": "s", "cwd": env.project_folder()})).assert_silent("stop");
    let parts = names_in(&env.store_folder().join("sessions"));
    assert_eq!(parts, ["s.jsonl", "s~0007.jsonl", "s~0008.jsonl"]);
    assert_eq!(env.read_journal("s").len(), 3);
}

#[test]
fn last_session_survives_the_rotation_of_the_session_list() {
    let env = TestEnv::with_root();
    env.write_file(env.user_config_path(), "[hooks]\nlog_limit_kib = 64\n");
    env.fire_hook("SessionStart", &env.captured_payload("SessionStart.startup")).assert_silent("start");
    let list = env.store_folder().join("indexes/sessions.jsonl");
    std::fs::rename(&list, env.store_folder().join("indexes/sessions~0001.jsonl")).unwrap();
    assert_eq!(
        env.run_thru_json(&["status"])["last_session"]["session"],
        "9487a9f7-611a-47e9-8202-df72ea246773"
    );
}
