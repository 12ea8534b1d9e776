//! Tests for the complaints of the sixth newcomer.

use super::*;
use crate::packet_sweeps::mark_session_dead;

/// Fires an event of a session at a time on the test day, such as `19:30:05`.
fn fire_at(env: &TestEnv, time: &str, session: &str, event: &str, fields: Value) -> String {
    let payload = env.event_payload(session, event, fields);
    let call = env.hook_call(event, payload.to_string());
    let output = call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z")).run();
    output.assert_accepted_by_harness(event);
    output.context_for_model()
}

fn start_at(env: &TestEnv, time: &str, session: &str) -> String {
    fire_at(env, time, session, "SessionStart", json!({"source": "startup"}))
}

fn ask_at(env: &TestEnv, time: &str, session: &str, prompt: &str) -> String {
    fire_at(env, time, session, "UserPromptSubmit", json!({"prompt": prompt}))
}

fn edit_at(env: &TestEnv, time: &str, session: &str, path: &str) {
    let file = env.project_folder().join(path);
    let call = json!({"tool_name": "Edit", "tool_use_id": format!("{session}-{time}"),
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"}});
    fire_at(env, time, session, "PostToolUse", call);
}

fn end_at(env: &TestEnv, time: &str, session: &str) {
    fire_at(env, time, session, "SessionEnd", json!({"reason": "exit"}));
}

/// Creates a project in which session `s1` edited a file and was killed, and `s2` came later and ended.
fn env_with_killed_and_ended_session() -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Sum each column of the table");
    edit_at(&env, "19:00:02", "s1", "Makefile");
    mark_session_dead(&env, "s1");
    start_at(&env, "19:00:05", "s2");
    ask_at(&env, "19:00:06", "s2", "Name the file of each table");
    end_at(&env, "19:00:07", "s2");
    env
}

#[test]
fn a_killed_session_gets_no_role_no_loop_no_stage_and_no_workstream() {
    let env = env_with_killed_and_ended_session();
    let bind = env.run_thru(&["role", "bind", "tester"]).assert_exit_code(15);
    assert!(bind.stderr.contains("no session is running here"), "{bind}");
    assert!(bind.stderr.contains("THROUGHLINE_ROLE=tester"), "{bind}");
    let bind = env.run_thru(&["role", "bind", "tester", "--session", "s1"]).assert_exit_code(15);
    assert!(bind.stderr.contains("session s1 has crashed"), "{bind}");
    let begin = env.run_thru(&["loop", "start", "x", "--promise", "y"]).assert_exit_code(2);
    assert!(begin.stderr.contains("use --next") && !begin.stderr.contains("s1"), "{begin}");
    let named = env.run_thru(&["loop", "start", "x", "--promise", "y", "--session", "s1"]).assert_ok();
    assert!(named.stderr.contains("session s1 has crashed; the loop goes on if"), "{named}");
    let expect = env.run_thru(&["gate", "expect", "review", "--critical", "a.md"]).assert_ok();
    assert!(!expect.stderr.contains("is told"), "{expect}");

    start_at(&env, "19:10:00", "s3");
    mark_session_dead(&env, "s1");
    for (words, field) in [
        (&["role", "bind", "tester"][..], "session"),
        (&["gate", "expect", "second", "--critical", "b.md"], "session"),
    ] {
        assert_eq!(env.run_thru_json(words)[field], "s3", "{words:?}");
    }
    mark_session_dead(&env, "s3");
    let roles = env.run_thru_json(&["role", "list"]);
    assert_eq!(roles[0]["ended_sessions"], json!(["s3"]), "{roles}");
    let lifecycle = env.run_thru(&["lifecycle", "status"]).assert_ok();
    assert!(lifecycle.stdout.contains("ended") && !lifecycle.stdout.contains("s3"), "{lifecycle}");
}

#[test]
fn the_files_of_a_killed_session_are_no_clash_for_the_next_one() {
    let env = env_with_killed_and_ended_session();
    start_at(&env, "19:00:10", "s3");
    ask_at(&env, "19:00:11", "s3", "Sum each row as well");
    edit_at(&env, "19:00:20", "s3", "Makefile");
    let told = ask_at(&env, "19:00:30", "s3", "Now name the columns");
    assert!(!told.contains("edited Makefile"), "{told}");

    // This session edits the file while s3 is running, and is killed afterwards.
    start_at(&env, "19:00:40", "s4");
    ask_at(&env, "19:00:41", "s4", "Name the rows");
    edit_at(&env, "19:00:42", "s4", "Makefile");
    mark_session_dead(&env, "s4");
    let told = ask_at(&env, "19:00:50", "s3", "Go on with the columns");
    assert!(told.contains("session s4 (Claude Code), which has ended since, edited Makefile"), "{told}");
}
