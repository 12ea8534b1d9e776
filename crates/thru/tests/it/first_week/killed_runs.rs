//! Tests what a packet says about a command that was running when its session was killed.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;
use crate::packet_sweeps::mark_session_dead;

/// Writes the transcript of a session that was killed while `command` was running.
fn write_transcript_with_running_command(path: &Path, command: &str) {
    let at = "2026-11-15T19:00:05Z";
    let call = json!([{"type": "tool_use", "id": "t9", "name": "Bash", "input": {"command": command}}]);
    let lines = [
        json!({"type": "user", "timestamp": at, "message": {"role": "user", "content": "Add strings, with a test."}}),
        json!({"type": "assistant", "timestamp": at, "message": {"role": "assistant", "id": "m1", "content": call}}),
    ];
    fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

/// Returns what `thru pickup` prints about a session that was killed while `command` was running. `npm test` had failed
/// before.
fn pickup_of_killed_session(env: &TestEnv, command: &str) -> String {
    let path = env.write_file("s1.jsonl", "");
    env.fire_event("s1", "SessionStart", json!({"source": "startup", "transcript_path": path}));
    ask_at(env, "19:00:01", "s1", "Add strings, with a test.");
    env.write_file("project/test/b.test.js", "new\n");
    edit_at(env, "19:00:02", "s1", "test/b.test.js");
    fail_at(env, "19:00:03", "s1", "npm test", "Exit code 1\nnot ok 2 - strings\n# fail 1");
    write_transcript_with_running_command(&path, command);
    mark_session_dead(env, "s1");
    start_at(env, "19:00:08", "s2");
    env.run_thru(&["pickup"]).assert_ok().stdout
}

#[test]
fn only_a_command_that_ran_before_has_a_last_run() {
    for (command, expected) in [
        ("npm test", "its run before that failed, see Failing"),
        ("sleep 20 && npm test", "it includes `npm test`, which failed, see Failing"),
        (
            "for i in 1 2 3; do npm test >/dev/null; sleep 2; done",
            "it includes `npm test`, which failed, see Failing",
        ),
    ] {
        let env = TestEnv::with_root();
        let picked = pickup_of_killed_session(&env, command);
        let expected = format!(
            "\n`{command}` was running when the session ended; its outcome is unknown, so check its effects \
             before running it again ({expected}).\n"
        );
        assert!(picked.contains(&expected), "{expected}: {picked}");
    }
}

#[test]
fn committed_files_of_a_killed_session_are_not_at_risk() {
    let env = repository_with_files(&["test/b.test.js"]);
    let picked = pickup_of_killed_session(&env, "npm test");
    assert!(picked.contains("not committed: test/b.test.js"), "{picked}");
    env.run_git(&["commit", "-qam", "Two"]);
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!picked.contains("not committed"), "{picked}");
    assert!(picked.contains("uncommitted files: 0 now"), "{picked}");
}

#[test]
fn an_interrupted_call_is_not_listed_as_failing() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Make the parser faster.");
    edit_at(&env, "19:00:02", "s1", "src/parse.rs");
    fail_at(&env, "19:00:03", "s1", "cargo test", "Tool call interrupted by the user");
    stop_at(&env, "19:00:04", "s1", "I stopped the tests.");
    for words in [&["brief"][..], &["status"]] {
        let told = thru_at(&env, "19:00:05", "s1", words).stdout;
        assert!(!told.to_lowercase().contains("failing"), "{told}");
    }
}
