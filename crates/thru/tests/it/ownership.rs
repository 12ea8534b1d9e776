//! Tests that a state folder or a root is not trusted if it belongs to another user, or if other users can write to it.
//! Also tests that `thru trust` is refused inside a harness.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::call::ThruCall;
use crate::env::{TestEnv, event_of_fixture, fixture_names};
use crate::roots::status_in;

const STRANGER_UID: u32 = 4242;

/// Returns whether this test runs as root. Only root can change the owner of a file.
fn is_root(env: &TestEnv) -> bool {
    let root = fs::metadata(env.base_folder()).unwrap().uid() == 0;
    if !root {
        println!("skipped: only root can give files to somebody else");
    }
    root
}

fn chown_to_stranger(path: &Path) {
    chown(path, Some(STRANGER_UID), Some(STRANGER_UID)).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn untrusted_env() -> TestEnv {
    let env = TestEnv::with_root();
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    env
}

/// Copies a shell under another name, so that its process looks like a harness.
fn copy_shell_as(env: &TestEnv, rel: &str) -> PathBuf {
    let path = env.base_folder().join(rel);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("cp").arg("/bin/sh").arg(&path).status().unwrap().success());
    path
}

#[test]
fn trust_is_not_given_below_a_harness_whatever_the_environment_says() {
    let env = untrusted_env();
    let line = "\"$0\" \"$@\"; exit $?";
    let (claude, droid) = (copy_shell_as(&env, "bin/claude"), copy_shell_as(&env, "bin/droid"));
    let node = copy_shell_as(&env, "bin/node");
    let script = env.write_file("lib/node_modules/@anthropic-ai/claude-code/cli.js", "\"$@\"\nexit $?\n");
    let trust = || env.thru_call(&["trust"]);
    let dash_c: [&OsStr; 2] = ["-c".as_ref(), line.as_ref()];
    let calls: Vec<(&str, &str, ThruCall)> = vec![
        ("claude", "claude-code", trust().through_program(&claude, &dash_c)),
        ("droid", "droid", trust().through_program(&droid, &dash_c)),
        ("a script of node", "claude-code", trust().through_program(&node, &[script.as_os_str()])),
        (
            "a shell, without variables",
            "claude-code",
            trust()
                .through_program("env", &["-u".as_ref(), "CLAUDECODE".as_ref()])
                .through_program("sh", &dash_c)
                .through_program(&claude, &dash_c),
        ),
        (
            "a session of its own",
            "claude-code",
            trust().through_program("setsid", &["--wait".as_ref()]).through_program(&claude, &dash_c),
        ),
    ];
    let before = env.store_folder();
    for (about, harness, call) in calls {
        let refused = call.run();
        assert_eq!(refused.code, 15, "{about}: {refused}");
        assert!(refused.stderr.contains(harness) && refused.stderr.contains("process"), "{about}: {refused}");
        assert_eq!(env.run_thru_json(&["status"])["trusted"], false, "{about}");
    }
    assert!(before.exists());
    trust().through_program("sh", &dash_c).run().assert_ok();
    assert_eq!(env.run_thru_json(&["status"])["trusted"], true, "a shell alone is not a harness");
}

/// Asserts that hooks and commands do not trust a state folder that another user could have written to.
#[track_caller]
fn assert_state_not_trusted(env: &TestEnv, folder: &Path, about: &str) {
    let before = env.file_tree();
    for name in fixture_names().iter().filter(|name| !name.contains("subagent")) {
        env.fire_hook(event_of_fixture(name), &env.captured_payload(name))
            .assert_told_only_where_session_starts(name, folder.to_str().unwrap(), about);
    }
    before.assert_unchanged(&env.file_tree(), about);
    for words in [&["status"][..], &["trust"], &["doctor"]] {
        let output = env.run_thru(words);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert_ne!(output.code, 0, "{about}: {words:?}: {output}");
        assert!(said.contains(folder.to_str().unwrap()), "{about}: {words:?}: {output}");
    }
}

fn state_folder(env: &TestEnv, rel: &str) -> PathBuf {
    let state = env.home_folder().join(".local/state");
    if rel.is_empty() { state } else { state.join(rel) }
}

#[test]
fn a_state_folder_that_others_may_write_is_not_believed() {
    for rel in ["", "throughline", "throughline/trust"] {
        for mode in [0o777, 0o1777, 0o702] {
            let env = TestEnv::with_root();
            let folder = state_folder(&env, rel);
            set_mode(&folder, mode);
            assert_state_not_trusted(&env, folder.as_path(), &format!("{rel} {mode:o}"));
            set_mode(&folder, 0o755);
            env.run_thru(&["status"]).assert_ok();
        }
    }
}

#[test]
fn a_state_folder_of_somebody_else_is_not_believed() {
    for rel in ["", "throughline", "throughline/trust"] {
        let env = TestEnv::with_root();
        if !is_root(&env) {
            return;
        }
        let folder = state_folder(&env, rel);
        chown_to_stranger(&folder);
        assert_state_not_trusted(&env, &folder, rel);
    }
}

#[test]
fn a_project_cannot_vouch_for_itself() {
    let env = TestEnv::with_root();
    let state = env.project_folder().join("state");
    fs::create_dir_all(&state).unwrap();
    let from = env.home_folder().join(".local/state/throughline");
    assert!(Command::new("cp").arg("-r").arg(&from).arg(&state).status().unwrap().success());
    symlink(&state, env.base_folder().join("link")).unwrap();
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    let winding = env.project_folder().join("../project/state");
    for forged in [state, env.base_folder().join("link"), winding, "/proc/self/cwd/state".into()] {
        let before = env.file_tree();
        let payload = env.captured_payload("UserPromptSubmit").to_string();
        let hook = env.hook_call("UserPromptSubmit", payload).with_variable("XDG_STATE_HOME", &forged).run();
        hook.assert_silent("forged");
        before.assert_unchanged(&env.file_tree(), "forged");
        let status =
            env.thru_call(&["status"]).with_variable("XDG_STATE_HOME", &forged).run().assert_exit_code(15);
        assert!(status.stderr.contains("inside the project"), "{status}");
    }
}

/// Creates a root at `folder`, with `--root`.
fn create_root_at(env: &TestEnv, folder: &Path) {
    env.run_thru(&["--root", folder.to_str().unwrap(), "context", "init"]).assert_ok();
}

#[track_caller]
fn assert_no_root(env: &TestEnv, start: &Path, about: &str) {
    let payload = env.captured_payload_in("UserPromptSubmit", start);
    let before = env.file_tree();
    let call =
        env.hook_call("UserPromptSubmit", payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", start);
    call.run().assert_silent(about);
    before.assert_unchanged(&env.file_tree(), about);
    let debug = env.thru_call(&["debug", "hook", "claude-code", "UserPromptSubmit", "--json"]);
    let debug = debug.with_stdin(payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", start).run();
    let why = debug.assert_ok().json()["silent_because"].as_str().unwrap().to_owned();
    assert!(why.starts_with("no root: the one in /") && why.contains(" is not used: "), "{about}: {why}");
    let status = status_in(env, start);
    assert_eq!(status["marked"], false, "{about}: {status}");
    let doctor = env.thru_call(&["doctor"]).in_folder(start).run().assert_exit_code(1);
    assert!(doctor.stdout.contains("is not used for the current folder: "), "{about}: {doctor}");
}

#[test]
fn a_root_is_looked_for_within_the_working_tree() {
    let env = TestEnv::with_root();
    let inner = env.project_folder().join("vendor/inner");
    fs::create_dir_all(&inner).unwrap();
    assert_eq!(status_in(&env, &inner)["marked"], true, "a plain folder");
    env.run_git_in(&inner, &["init", "--quiet"]);
    assert_no_root(&env, &inner, "a repository of its own");
    env.thru_call(&["init"]).in_folder(&inner).run().assert_ok();
    assert!(inner.join(".agent/context/root.json").exists());
}

#[test]
fn a_world_writable_folder_above_holds_no_root() {
    let env = TestEnv::new();
    let (shared, mine) = (env.base_folder().join("shared"), env.base_folder().join("shared/mine"));
    fs::create_dir_all(&mine).unwrap();
    create_root_at(&env, &shared);
    assert_eq!(status_in(&env, &mine)["marked"], true);
    for mode in [0o1777, 0o777] {
        set_mode(&shared, mode);
        assert_no_root(&env, &mine, "shared");
        env.write_file("home/.claude/x", "");
        for words in [&["init"][..], &["install", "claude-code"]] {
            let refused = env.thru_call(words).in_folder(&shared).run().assert_exit_code(15);
            let named = refused.stderr.contains("roots") && refused.stderr.contains("other users may write");
            assert!(named, "{words:?}: {refused}");
            assert!(!shared.join(".claude").exists(), "{words:?}");
        }
    }
    // A damaged marker in a shared folder affects nobody.
    fs::write(shared.join(".agent/context/root.json"), "{").unwrap();
    assert_no_root(&env, &mine, "broken");
    env.thru_call(&["init"]).in_folder(&mine).run().assert_ok();
    assert!(mine.join(".agent/context/root.json").exists() && mine.join(".claude").exists());
}

#[test]
fn home_and_what_is_above_it_hold_no_root() {
    let env = TestEnv::new();
    let work = env.home_folder().join("work");
    fs::create_dir_all(&work).unwrap();
    for folder in [env.home_folder(), env.base_folder().to_owned()] {
        let before = env.file_tree();
        let refused = env.thru_call(&["init"]).in_folder(&folder).run().assert_exit_code(15);
        assert!(refused.stderr.contains("home") && refused.stderr.contains("[roots] allow"), "{refused}");
        before.assert_unchanged(&env.file_tree(), "refused");
        create_root_at(&env, &folder);
        assert_no_root(&env, &work, "home");
        let named =
            env.thru_call(&["status", "--json", "--root", folder.to_str().unwrap()]).run().assert_ok().json();
        assert_eq!(named["marked"], true, "what is named is taken");
    }
    let refused = env.thru_call(&["init"]).in_folder("/").run().assert_exit_code(15);
    assert!(refused.stderr.contains("top of the file system"), "{refused}");
    env.write_file(
        env.user_config_path(),
        format!("[roots]\nallow = [\"{}\"]\n", env.home_folder().display()),
    );
    assert_eq!(status_in(&env, &work)["root"], env.home_folder().to_str().unwrap(), "allowed");
}

#[test]
fn only_the_users_own_settings_can_allow_a_root() {
    let env = TestEnv::with_root();
    create_root_at(&env, &env.home_folder());
    let allow = format!("[roots]\nallow = [\"{}\"]\n", env.home_folder().display());
    env.write_file("project/.agent/context/config.toml", &allow);
    env.write_file("home/.agent/context/config.toml", &allow);
    let told = env.run_thru(&["config"]).assert_ok();
    assert!(told.stderr.contains("`roots.allow` is allowed only in your own settings file"), "{told}");
    let by_variable = env
        .thru_call(&["status"])
        .in_folder(env.home_folder())
        .with_variable("THROUGHLINE_ROOTS_ALLOW", env.home_folder());
    by_variable.run().assert_exit_code(15);
    env.write_file(env.user_config_path(), "[roots]\nallow = [\"relative\"]\n");
    let told = env.run_thru(&["config"]).assert_ok();
    assert!(told.stderr.contains("absolute paths"), "{told}");
}

#[test]
fn a_root_of_somebody_else_is_refused() {
    let env = TestEnv::with_root();
    if !is_root(&env) {
        return;
    }
    let sub = env.project_folder().join("sub");
    fs::create_dir(&sub).unwrap();
    chown_to_stranger(&env.project_folder());
    let refused = env.run_thru(&["status"]).assert_exit_code(15);
    assert!(refused.stderr.contains("another user") && refused.stderr.contains("roots"), "{refused}");
    assert_no_root(&env, &sub, "foreign");
    env.run_thru(&["handoff", "x"]).assert_exit_code(15);
    env.run_thru(&["init"]).assert_exit_code(15);
    env.write_file(
        env.user_config_path(),
        format!("[roots]\nallow = [\"{}\"]\n", env.project_folder().display()),
    );
    assert_eq!(status_in(&env, &sub)["trusted"], true);
}

#[test]
fn a_store_of_somebody_else_in_a_folder_of_ones_own_is_refused() {
    let env = TestEnv::with_root();
    set_mode(&env.store_folder(), 0o777);
    let refused = env.run_thru(&["status"]).assert_exit_code(15);
    assert!(refused.stderr.contains(".agent/context") && refused.stderr.contains("may write"), "{refused}");
    env.fire_hook("UserPromptSubmit", &env.captured_payload("UserPromptSubmit"))
        .assert_silent("writable by others");
    assert_eq!(env.count_journal_lines(), 0);
    set_mode(&env.store_folder(), 0o755);
    assert_eq!(status_in(&env, &env.project_folder())["trusted"], true);
    if is_root(&env) {
        chown_to_stranger(&env.store_folder());
        env.run_thru(&["status"]).assert_exit_code(15);
    }
}

#[test]
fn outside_git_the_search_ends_where_the_owner_changes() {
    let env = TestEnv::with_root();
    if !is_root(&env) {
        return;
    }
    let theirs = env.project_folder().join("theirs");
    fs::create_dir_all(theirs.join("sub")).unwrap();
    chown_to_stranger(&theirs);
    assert_no_root(&env, &theirs.join("sub"), "behind a folder of somebody else");
    env.run_git(&["init", "--quiet"]);
    assert_eq!(status_in(&env, &theirs.join("sub"))["marked"], true, "one working tree");
}
