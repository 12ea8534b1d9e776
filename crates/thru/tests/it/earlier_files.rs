//! Tests that uncommitted files of earlier sessions are reported until somebody commits them.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::env::TestEnv;
use crate::first_week::handoffs::{ask_at, edit_at, end_at, fire_at, run_at, start_at, stop_at};

#[test]
fn a_file_that_a_command_changed_two_sessions_ago_is_at_risk() {
    for command in ["sed -i s/1/2/ config.txt", "npx prettier --write config.txt", "echo 2 >> config.txt"] {
        let env = TestEnv::with_repository();
        env.write_file("project/config.txt", "1\n");
        env.run_git(&["add", "."]);
        env.run_git(&["commit", "-qm", "config"]);
        env.run_thru(&["context", "init"]).assert_ok();
        start_at(&env, "19:00:00", "s1");
        ask_at(&env, "19:00:01", "s1", "Change the config");
        env.write_file("project/config.txt", "12\n");
        run_at(&env, "19:00:02", "s1", command, "");
        stop_at(&env, "19:00:03", "s1", "Changed.");
        end_at(&env, "19:00:04", "s1");
        for (session, minute) in [("s2", 1), ("s3", 2)] {
            let file = format!("{session}.js");
            env.write_file(format!("project/{file}"), "new\n");
            start_at(&env, &format!("19:0{minute}:00"), session);
            ask_at(&env, &format!("19:0{minute}:01"), session, "Add a file");
            edit_at(&env, &format!("19:0{minute}:02"), session, &file);
            end_at(&env, &format!("19:0{minute}:03"), session);
        }
        let told = start_at(&env, "19:03:00", "s4");
        let line = told.lines().find(|line| line.contains("by earlier sessions, not committed"));
        let line = line.unwrap_or_else(|| panic!("{command}: {told}"));
        assert!(line.contains("2 more files") && line.contains("config.txt"), "{command}: {line}");
    }
}

/// The command does not name the file, so only the time of the file shows that the command changed it.
#[test]
fn a_file_that_a_script_changed_in_the_last_session_is_at_risk() {
    let env = TestEnv::with_repository();
    env.write_file("project/config.txt", "1\n");
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "-qm", "config"]);
    env.run_thru(&["context", "init"]).assert_ok();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Change the config");
    let file = env.project_folder().join("config.txt");
    let read = json!({"tool_name": "Read", "tool_use_id": "r1", "tool_input": {"file_path": file}});
    fire_at(&env, "19:00:02", "s1", "PostToolUse", read);
    env.write_file("project/config.txt", "12\n");
    // 2026-11-15T19:00:03Z
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_769_203);
    fs::File::options().write(true).open(&file).unwrap().set_modified(written).unwrap();
    run_at(&env, "19:00:04", "s1", "python3 gen.py", "");
    stop_at(&env, "19:00:05", "s1", "Changed.");
    end_at(&env, "19:00:06", "s1");
    let told = start_at(&env, "19:01:00", "s2");
    assert!(told.contains("1 file edited by that session, not committed: config.txt"), "{told}");
}
