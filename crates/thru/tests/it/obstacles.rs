//! Tests with links, pipes, files and folders in unexpected places, with closed streams and with a read-only disk.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::env::{TestEnv, event_of_fixture};

const SESSION_ID: &str = "9487a9f7-611a-47e9-8202-df72ea246773";
const SOME_FIXTURES: [&str; 4] =
    ["SessionStart.startup", "UserPromptSubmit", "PostToolUse.Edit", "SessionEnd.other"];

pub fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Asserts that some events print nothing and change nothing except the `allowed` files.
fn assert_silent_and_unchanged(env: &TestEnv, about: &str, allowed: &[&str]) {
    let before = env.file_tree();
    for name in SOME_FIXTURES {
        let output = env.fire_hook(event_of_fixture(name), &env.captured_payload(name));
        // The user gets a message saying that nothing is recorded. The agent gets no message.
        if name == "SessionStart.startup" && output.stdout.contains("systemMessage") {
            output.assert_told_only_where_session_starts(name, "session is not captured", about);
            continue;
        }
        output.assert_silent(about);
    }
    let mut changes = before.changes_to(&env.file_tree());
    changes.retain(|change| !allowed.iter().any(|allowed| change[1..].starts_with(allowed)));
    assert_eq!(changes, [""; 0], "{about}");
}

/// Asserts that the user is told at the start of a session why nothing is captured.
#[track_caller]
fn assert_user_is_told(env: &TestEnv, part: &str) {
    let name = "SessionStart.startup";
    env.fire_hook("SessionStart", &env.captured_payload(name))
        .assert_told_only_where_session_starts(name, part, "told");
}

/// Moves a folder out of the project and returns its new path, so that a test can create a link to it.
fn move_outside_project(env: &TestEnv, rel: &str) -> std::path::PathBuf {
    let away = env.base_folder().join("away");
    fs::rename(env.project_folder().join(rel), &away).unwrap();
    away
}

#[test]
fn a_file_called_agent_is_somebody_elses() {
    let env = TestEnv::new();
    env.write_file("project/.agent", "my notes\n");
    assert_silent_and_unchanged(&env, ".agent is a file", &[]);
    env.run_thru(&["init"]).assert_exit_code(15);
    assert_eq!(fs::read_to_string(env.project_folder().join(".agent")).unwrap(), "my notes\n");
}

#[test]
fn a_link_on_the_way_to_the_store_is_not_followed() {
    for rel in [".agent", ".agent/context"] {
        let env = TestEnv::with_root();
        let away = move_outside_project(&env, rel);
        symlink(&away, env.project_folder().join(rel)).unwrap();
        assert_silent_and_unchanged(&env, rel, &[]);
        assert_user_is_told(&env, "the records here cannot be used");
        let status = env.run_thru(&["status"]).assert_exit_code(15);
        assert!(status.stderr.contains("link"), "{status}");
    }
}

#[test]
fn a_link_in_place_of_a_folder_of_the_store_is_not_followed() {
    let env = TestEnv::with_root();
    let away = move_outside_project(&env, ".agent/context/sessions");
    symlink(&away, env.store_folder().join("sessions")).unwrap();
    let indexes = "/project/.agent/context/indexes";
    // Files that are not behind the link are still written.
    let elsewhere = ["/project/.agent/context/root.json", "/project/.agent/context/state", indexes];
    let own = format!("~{}", "/project/.agent/context");
    assert_silent_and_unchanged(&env, "sessions is a link", &[&elsewhere[..], &[&own[1..]]].concat());
    assert_eq!(fs::read_dir(&away).unwrap().count(), 0);
    assert!(env.read_receipts().iter().all(|receipt| receipt["outcome"] == "failed"));
    env.run_thru(&["doctor"]).assert_exit_code(1);
}

#[test]
fn a_link_in_place_of_a_journal_is_not_followed() {
    let env = TestEnv::with_root();
    let target = env.write_file("precious.txt", "precious\n");
    symlink(&target, env.store_folder().join(format!("sessions/{SESSION_ID}.jsonl"))).unwrap();
    env.fire_hook("PostToolUse", &env.captured_payload("PostToolUse.Edit"))
        .assert_silent("journal is a link");
    assert_eq!(fs::read_to_string(&target).unwrap(), "precious\n");
    assert_eq!(env.read_receipts()[0]["outcome"], "failed");
}

#[test]
fn a_link_in_place_of_the_marker_is_not_followed() {
    let env = TestEnv::with_root();
    let away = move_outside_project(&env, ".agent/context/root.json");
    symlink(&away, env.store_folder().join("root.json")).unwrap();
    assert_silent_and_unchanged(&env, "root.json is a link", &[]);
    assert_user_is_told(&env, "the records here cannot be used");
    env.run_thru(&["status"]).assert_exit_code(15);
}

#[test]
fn a_pipe_or_a_folder_in_place_of_the_marker_holds_nobody_up() {
    for how in ["pipe", "folder", "empty file"] {
        let env = TestEnv::with_root();
        let marker = env.store_folder().join("root.json");
        fs::remove_file(&marker).unwrap();
        match how {
            "pipe" => make_pipe(&marker),
            "folder" => fs::create_dir(&marker).unwrap(),
            _ => fs::write(&marker, "").unwrap(),
        }
        assert_silent_and_unchanged(&env, how, &[]);
        assert_user_is_told(&env, "root.json");
        let code = env.run_thru(&["status"]).code;
        assert!([12, 15].contains(&code), "{how}: {code}");
        env.run_thru(&["doctor"]).assert_exit_code(1);
    }
}

#[test]
fn pipes_in_place_of_logs_and_settings_hold_nobody_up() {
    let env = TestEnv::with_root();
    fs::create_dir_all(env.user_config_path().parent().unwrap()).unwrap();
    make_pipe(&env.user_config_path());
    make_pipe(&env.store_folder().join("config.toml"));
    for rel in ["indexes/receipts.jsonl", "indexes/sessions.jsonl"] {
        make_pipe(&env.store_folder().join(rel));
    }
    make_pipe(&env.store_folder().join(format!("sessions/{SESSION_ID}.jsonl")));
    assert_silent_and_unchanged(
        &env,
        "pipes everywhere",
        &["/project/.agent/context/root.json", "/project/.agent/context/state", "/project/.agent/context"],
    );
    env.run_thru(&["doctor"]).assert_exit_code(1);
    env.run_thru(&["config"]).assert_exit_code(1);
}

#[test]
fn a_read_only_store_is_left_alone() {
    let env = TestEnv::with_root();
    let locked = |mode: &str| {
        assert!(Command::new("chmod").args(["-R", mode]).arg(env.store_folder()).status().unwrap().success());
    };
    let call = env.call_bound_by_modes(&["hook", "claude-code", "UserPromptSubmit"]);
    locked("a-w,a+rX");
    assert!(Command::new("chmod").args(["-R", "a+rX"]).arg(env.home_folder()).status().unwrap().success());
    let before = env.file_tree();
    let payload = env.captured_payload("UserPromptSubmit").to_string();
    call.with_stdin(payload)
        .with_variable("CLAUDE_PROJECT_DIR", env.project_folder())
        .run()
        .assert_silent("read-only");
    // The loss of a record is recorded outside the store.
    let touched = before.changes_to(&env.file_tree());
    let state = "/home/.local/state/throughline";
    assert!(touched.iter().all(|path| path[1..].starts_with(state)), "{touched:?}");
    assert!(touched.iter().any(|path| path.contains("/lost/")), "{touched:?}");
    let status = env.call_bound_by_modes(&["status", "--json"]).run().assert_ok().json();
    assert_eq!(status["trusted"], true, "so it was the disk, not trust");
}

#[test]
fn an_unreadable_marker_is_not_taken_for_no_marker() {
    let env = TestEnv::with_root();
    fs::set_permissions(env.store_folder().join("root.json"), fs::Permissions::from_mode(0o000)).unwrap();
    let start = env.call_bound_by_modes(&["hook", "claude-code", "SessionStart"]);
    let payload = env.captured_payload("SessionStart.startup").to_string();
    let start = start
        .with_variable("THROUGHLINE_HOOKS_AUTO_INIT", "true")
        .with_variable("CLAUDE_PROJECT_DIR", env.project_folder());
    start.with_stdin(payload).run().assert_told_only_where_session_starts(
        "SessionStart.startup",
        "root.json: no permission",
        "unreadable",
    );
    assert_eq!(env.count_journal_lines(), 0);
    env.call_bound_by_modes(&["status"]).run().assert_exit_code(11);
    env.call_bound_by_modes(&["init"]).run().assert_exit_code(11);
}

#[test]
fn closed_streams_do_no_harm() {
    let env = TestEnv::with_root();
    let payload = env.base_folder().join("payload.json");
    fs::write(&payload, env.captured_payload("SessionStart.startup").to_string()).unwrap();
    let cases = [("<&-", 0), (">&-", 1), ("2>&-", 1), (">&- 2>&-", 1), ("<&- >&- 2>&-", 0)];
    let mut lines = 0;
    for (closed, more) in cases {
        let script = format!("exec \"$0\" \"$@\" <'{}' {closed}", payload.display());
        let call = env.hook_call("SessionStart", "");
        call.through_program("sh", &[OsStr::new("-c"), OsStr::new(&script)]).run().assert_silent(closed);
        lines += more;
        assert_eq!(env.count_journal_lines(), lines, "{closed}");
    }
    // A file that is opened after a stream was closed could get the stream's descriptor. The reply must not be written
    // to such a file.
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    let before = env.file_tree();
    let script = format!("exec \"$0\" \"$@\" <'{}' >&-", payload.display());
    let call = env.hook_call("SessionStart", "");
    call.through_program("sh", &[OsStr::new("-c"), OsStr::new(&script)])
        .run()
        .assert_silent("nobody listens");
    before.assert_unchanged(&env.file_tree(), "untrusted");
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let env = TestEnv::with_root();
    for words in ["help", "completions bash", "status", "config"] {
        let script = format!("\"$0\" {words} | true; exit ${{PIPESTATUS[0]}}");
        let output = env
            .thru_call::<&str>(&[])
            .through_program("bash", &[OsStr::new("-c"), OsStr::new(&script)])
            .run();
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{words}");
    }
}
