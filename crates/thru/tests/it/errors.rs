//! Tests the four kinds of problems with a record, each with its exit code, its message and its JSON.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::Value;

use crate::env::{TestEnv, names_in};

fn env_with_marker(text: &str) -> TestEnv {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/root.json", text);
    env
}

/// Returns the fields by which programs recognise an error.
#[track_caller]
fn error_fields(env: &TestEnv, words: &[&str], code: i32) -> Value {
    let output = env.thru_call(words).with_argument("--json").run().assert_exit_code(code);
    assert_eq!(output.stderr, "", "errors are data too");
    let error = output.json()["error"].clone();
    assert_eq!(error["exit_code"], code);
    error
}

#[test]
fn an_absent_root_is_exit_code_10() {
    let env = TestEnv::new();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["trust"]).to_string()), @"
    exit: 10
    ---- stderr
    error: $PROJECT: not in a root: there is no .agent/context/root.json in this folder or above it
    hint:  run `thru init` in your project's folder to create one
    ");
    let error = error_fields(&env, &["trust"], 10);
    assert_eq!((&error["kind"], &error["file"]), (&"absent".into(), &env.project_folder().to_str().into()));
    assert!(error["hint"].as_str().unwrap().contains("thru init"));
    let error = error_fields(&env, &["status", "--root", "gone"], 10);
    assert_eq!((&error["kind"], &error["file"]), (&"absent".into(), &"gone".into()));
}

#[test]
fn an_unreadable_marker_is_exit_code_11() {
    let env = TestEnv::with_root();
    let marker = env.store_folder().join("root.json");
    fs::set_permissions(&marker, fs::Permissions::from_mode(0o000)).unwrap();
    let output = env.call_bound_by_modes(&["status"]).run().assert_exit_code(11);
    assert_snapshot!(env.mask_variable_parts(&output.to_string()), @"
    exit: 11
    ---- stderr
    error: $PROJECT/.agent/context/root.json: no permission to read (Permission denied (os error 13))
    hint:  make it accessible to this user, or work in a folder that is
    ");
    let error =
        env.call_bound_by_modes(&["status", "--json"]).run().assert_exit_code(11).json()["error"].clone();
    assert_eq!((&error["kind"], &error["exit_code"]), (&"denied".into(), &11.into()));
    assert_eq!(error["file"], marker.to_str().unwrap());
    assert!(error["hint"].is_string());
}

#[test]
fn a_damaged_marker_is_exit_code_12() {
    let env = env_with_marker("{\n  \"schema_version\": 1,\n  \"project_id\": oops\n}\n");
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status"]).to_string()), @"
    exit: 12
    ---- stderr
    error: $PROJECT/.agent/context/root.json:3: damaged: not a valid marker: expected value at line 3 column 17
    hint:  fix the file, or run `thru init`, which keeps the damaged file next to a new one; no records are lost, and hooks run again after `thru trust`
    ");
    let error = error_fields(&env, &["status"], 12);
    assert_eq!((&error["kind"], &error["line"]), (&"damaged".into(), &3.into()));
    assert_eq!(error["file"], env.store_folder().join("root.json").to_str().unwrap());
    assert!(error["hint"].is_string());
}

#[test]
fn a_marker_of_a_newer_version_is_exit_code_13() {
    let env = TestEnv::with_root();
    let mut marker = env.read_marker();
    marker["schema_version"] = 2.into();
    env.write_file("project/.agent/context/root.json", marker.to_string());
    let before = env.file_tree();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["status"]).to_string()), @"
    exit: 13
    ---- stderr
    error: $PROJECT/.agent/context/root.json: written by another program or another version of thru: schema_version is 2; this version of thru supports up to 1
    hint:  use the version of thru that wrote it, or a newer one
    ");
    let error = error_fields(&env, &["status"], 13);
    assert_eq!(error["kind"], "foreign");
    assert_eq!(error["file"], env.store_folder().join("root.json").to_str().unwrap());
    assert!(error["hint"].as_str().unwrap().contains("newer"));
    env.run_thru(&["init"]).assert_exit_code(13);
    env.run_thru(&["trust", "--revoke"]).assert_exit_code(13);
    env.run_thru(&["doctor"]).assert_exit_code(1);
    env.fire_hook("UserPromptSubmit", &env.captured_payload("UserPromptSubmit")).assert_silent("newer");
    before.assert_unchanged(&env.file_tree(), "a newer store is left as it is");
}

#[test]
fn a_refused_command_is_exit_code_15() {
    let env = TestEnv::with_root();
    fs::create_dir(env.project_folder().join("sub")).unwrap();
    let error = error_fields(&env, &["init", "--root", "sub"], 15);
    assert_eq!(error["kind"], "refused");
    assert!(error["hint"].as_str().unwrap().contains("--nested"));
}

#[test]
fn a_damaged_marker_is_named_and_left_as_it_is() {
    for text in
        ["", "{", "[]", "null", "{}", "{\"schema_version\":1}", "\u{0}\u{0}", "{\"schema_version\":\"x\"}"]
    {
        let env = env_with_marker(text);
        let before = env.file_tree();
        let status = env.run_thru(&["status"]).assert_exit_code(12);
        assert!(status.stderr.contains("root.json:1: damaged"), "{text:?}: {status}");
        let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
        assert!(doctor.stdout.contains("root.json:1: damaged"), "{text:?}: {doctor}");
        env.run_thru(&["trust"]).assert_exit_code(12);
        before.assert_unchanged(&env.file_tree(), text);
    }
}

#[test]
fn init_sets_a_damaged_marker_aside_and_grants_no_trust() {
    let env = env_with_marker("{ torn");
    let output = env.run_thru(&["init"]).assert_ok();
    assert_snapshot!(env.mask_variable_parts(&output.to_string()), @"
    exit: 0
    ---- stdout
    Created the root of project in $PROJECT/.agent/context
    Its records are not trusted on this machine, so hooks do nothing here.
    Next: look at them, then run `thru trust`
    ---- stderr
    warning: root.json was damaged; it is kept as root.json.damaged-20261115T192200Z
    note: no harness was found, so no hooks were installed; looked for
          Claude Code: `claude` on the PATH, $HOME/.claude, $PROJECT/.claude
          Factory Droid: `droid` on the PATH, $HOME/.factory, $PROJECT/.factory
          OpenCode: `opencode` on the PATH, $HOME/.config/opencode, $PROJECT/.opencode
    ");
    let kept = env.store_folder().join("root.json.damaged-20261115T192200Z");
    assert_eq!(fs::read_to_string(kept).unwrap(), "{ torn");
    assert_eq!(env.run_thru_json(&["status"])["trusted"], false);
    let doctor = env.run_thru(&["doctor"]);
    assert!(doctor.stdout.contains("root.json.damaged-20261115T192200Z"), "{doctor}");
}

#[test]
fn damage_set_aside_in_the_same_second_is_not_overwritten() {
    let env = env_with_marker("first");
    env.run_thru(&["init"]).assert_ok();
    env.write_file("project/.agent/context/root.json", "second");
    let _ = env.run_thru(&["init"]);
    let names = names_in(&env.store_folder());
    let kept = names.iter().filter(|name| name.starts_with("root.json"));
    let texts: Vec<_> = kept.map(|name| fs::read_to_string(env.store_folder().join(name)).unwrap()).collect();
    for text in ["first", "second"] {
        assert!(texts.iter().any(|kept| kept == text), "{text} is lost: {names:?}");
    }
}

#[test]
fn a_deleted_working_directory_is_named() {
    let env = TestEnv::with_root();
    let gone = env.base_folder().join("gone");
    fs::create_dir(&gone).unwrap();
    let script = "rmdir \"$PWD\" && exec \"$0\" \"$@\"";
    let in_gone = |words: &[&str]| {
        fs::create_dir_all(&gone).unwrap();
        env.thru_call(words).in_folder(&gone).through_program("sh", &["-c".as_ref(), script.as_ref()]).run()
    };
    for words in [&["status"][..], &["init"], &["init", "--nested"], &["trust"]] {
        let output = in_gone(words).assert_exit_code(15);
        assert!(output.stderr.contains("working directory"), "{words:?}: {output}");
    }
    let named = in_gone(&["status", "--root", env.project_folder().to_str().unwrap()]).assert_ok();
    assert!(named.stdout.contains("trusted"), "{named}");
    in_gone(&["config"]).assert_ok();
    in_gone(&["doctor"]).assert_exit_code(1);
    let payload = env.captured_payload("UserPromptSubmit").to_string();
    fs::create_dir_all(&gone).unwrap();
    let call = env.hook_call("UserPromptSubmit", payload).in_folder(&gone);
    call.through_program("sh", &["-c".as_ref(), script.as_ref()])
        .run()
        .assert_silent("a hook does not need one");
    assert_eq!(env.count_journal_lines(), 1);
}

#[test]
fn a_reader_that_went_away_is_no_error_and_a_full_disk_is_one() {
    let env = TestEnv::with_root();
    env.fire_hook("PostToolUse", &env.captured_payload("PostToolUse.Edit"));
    let packet = env.run_thru_json(&["handoff", "finish it"])["id"].as_str().unwrap().to_owned();
    let sh = |script: &str, words: &[&str]| {
        let script = ["-c", script].map(std::ffi::OsStr::new);
        env.thru_call(words).through_program("bash", &script).run()
    };
    for words in
        [&["packet", "show", packet.as_str()][..], &["pickup"], &["brief"], &["status"], &["files", "--json"]]
    {
        let gone = sh("exec \"$0\" \"$@\" > >(exec true) 3>&1; ", words);
        // A note on stderr is not an error. For example, `thru brief` notes which event it previews.
        let notes = env.run_thru(words).assert_ok().stderr;
        assert_eq!((gone.code, gone.stderr), (0, notes), "{words:?}");
    }
    // Only Linux has `/dev/full`. Every write to it fails as on a full disk.
    if cfg!(target_os = "linux") {
        let full = sh("exec \"$0\" \"$@\" >/dev/full", &["status"]).assert_exit_code(16);
        assert!(full.stderr.contains("stdout"), "{full}");
    }
}
