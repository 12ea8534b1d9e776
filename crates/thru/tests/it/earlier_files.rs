//! Tests that uncommitted files of earlier sessions are told for as long as nobody commits them.

use crate::env::TestEnv;
use crate::first_week::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at};

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
