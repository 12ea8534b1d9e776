//! Tests the ways to switch hooks off, and settings that must not switch them off.

use std::fs;

use crate::call::ThruCall;
use crate::env::{TestEnv, event_of_fixture};

const HOOKS_OFF: &str = "[hooks]\nenabled = false\n";

fn prompt_call(env: &TestEnv) -> ThruCall {
    env.hook_call("UserPromptSubmit", env.captured_payload("UserPromptSubmit").to_string())
}

#[test]
fn a_variable_switches_everything_off() {
    let env = TestEnv::with_root();
    let before = env.file_tree();
    let switches = [
        ("THROUGHLINE_DISABLE", "1"),
        ("THROUGHLINE_HOOK", "1"),
        ("THROUGHLINE_HOOKS_ENABLED", "false"),
        ("THROUGHLINE_HOOKS_ENABLED", "off"),
        ("THROUGHLINE_HOOKS_ENABLED", "NO"),
        ("THROUGHLINE_HOOKS_ENABLED", "0"),
    ];
    for (name, value) in switches {
        for fixture in ["SessionStart.startup", "UserPromptSubmit", "PostToolUse.Edit", "SessionEnd.other"] {
            let payload = env.captured_payload(fixture).to_string();
            env.hook_call(event_of_fixture(fixture), payload)
                .with_variable(name, value)
                .run()
                .assert_silent(fixture);
        }
        env.hook_call("Stop", "[]").with_variable(name, value).run().assert_silent("junk");
        before.assert_unchanged(&env.file_tree(), &format!("{name}={value}"));
    }
}

#[test]
fn a_switch_that_is_not_on_changes_nothing() {
    let env = TestEnv::with_root();
    let not_off = [
        ("THROUGHLINE_DISABLE", "0"),
        ("THROUGHLINE_DISABLE", ""),
        ("THROUGHLINE_HOOK", "0"),
        ("THROUGHLINE_HOOKS_ENABLED", "true"),
        ("THROUGHLINE_HOOKS_ENABLED", "1"),
        ("THROUGHLINE_HOOKS_ENABLED", "rubbish"),
    ];
    for (at, (name, value)) in not_off.into_iter().enumerate() {
        prompt_call(&env).with_variable(name, value).run().assert_silent(name);
        assert_eq!(env.count_journal_lines(), at + 1, "{name}={value}");
    }
}

#[test]
fn the_users_settings_switch_hooks_off() {
    let env = TestEnv::with_root();
    env.write_file(env.user_config_path(), HOOKS_OFF);
    let before = env.file_tree();
    prompt_call(&env).run().assert_silent("off");
    before.assert_unchanged(&env.file_tree(), "the user's settings");
    prompt_call(&env)
        .with_variable("THROUGHLINE_HOOKS_ENABLED", "true")
        .run()
        .assert_silent("the variable wins");
    assert_eq!(env.count_journal_lines(), 1);
}

#[test]
fn the_users_settings_are_where_the_config_folder_is() {
    let env = TestEnv::with_root();
    env.write_file("xdg/throughline/config.toml", HOOKS_OFF);
    prompt_call(&env)
        .with_variable("XDG_CONFIG_HOME", env.base_folder().join("xdg"))
        .run()
        .assert_silent("off");
    assert_eq!(env.count_journal_lines(), 0);
    prompt_call(&env)
        .with_variable("XDG_CONFIG_HOME", "xdg")
        .run()
        .assert_silent("a relative folder is nobody's");
    assert_eq!(env.count_journal_lines(), 1);
}

#[test]
fn the_projects_settings_switch_hooks_off() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", HOOKS_OFF);
    let before = env.file_tree();
    prompt_call(&env).run().assert_silent("off");
    before.assert_unchanged(&env.file_tree(), "the project's settings");
    env.write_file(env.user_config_path(), "[hooks]\nenabled = true\n");
    prompt_call(&env).run().assert_silent("the project goes before the user");
    assert_eq!(env.count_journal_lines(), 0);
}

#[test]
fn switched_off_the_user_is_not_told_about_trust_either() {
    let env = TestEnv::with_root();
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    let start = || env.hook_call("SessionStart", env.captured_payload("SessionStart.startup").to_string());
    assert!(start().run().stdout.contains("thru trust"));
    start().with_variable("THROUGHLINE_DISABLE", "1").run().assert_silent("off");
    env.write_file(env.user_config_path(), HOOKS_OFF);
    start().run().assert_silent("off in the user's settings");
}

#[test]
fn settings_that_cannot_be_read_do_not_stop_a_hook() {
    let broken: [&[u8]; 6] = [
        b"[hooks\nenabled = false",
        b"hooks = 7\n",
        b"[hooks]\nenabled = \"no\"\n",
        b"\xff\xfe",
        b"[hooks]\nenabled = false\nenabled = false\n",
        b"a.b.c = [[[[",
    ];
    for bytes in broken {
        let env = TestEnv::with_root();
        env.write_file(env.user_config_path(), bytes);
        env.write_file("project/.agent/context/config.toml", bytes);
        prompt_call(&env).run().assert_silent(&String::from_utf8_lossy(bytes));
        assert_eq!(env.count_journal_lines(), 1, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_folder_in_place_of_the_settings_does_not_stop_a_hook() {
    let env = TestEnv::with_root();
    fs::create_dir_all(env.user_config_path()).unwrap();
    fs::create_dir_all(env.store_folder().join("config.toml")).unwrap();
    prompt_call(&env).run().assert_silent("folders");
    assert_eq!(env.count_journal_lines(), 1);
}

#[test]
fn unknown_harnesses_are_ignored() {
    let env = TestEnv::with_root();
    let before = env.file_tree();
    let payload = env.captured_payload("UserPromptSubmit").to_string();
    for harness in ["codex", "claude", "CLAUDE-CODE", "", "../x"] {
        env.thru_call(&["hook", harness, "UserPromptSubmit"])
            .with_stdin(payload.clone())
            .run()
            .assert_silent(harness);
    }
    env.assert_state_receipts_only(&before, "unknown harness");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1);
    assert!(doctor.stdout.contains("unknown harness `codex`"), "{doctor}");
}

#[test]
fn an_unknown_event_is_written_down_by_its_name() {
    let env = TestEnv::with_root();
    let payload = serde_json::json!({"session_id": "s", "cwd": env.project_folder()});
    env.fire_hook("FromTheFuture", &payload).assert_silent("unknown event");
    let line = env.read_journal("s").remove(0);
    assert_eq!((&line["event"], &line["name"]), (&"other".into(), &"FromTheFuture".into()));
}

/// For Claude Code, the exit code 2 is a veto. A typo in a user's settings must not veto every tool call.
#[test]
fn whatever_follows_the_word_hook_the_exit_code_is_0() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    let env = TestEnv::with_root();
    let payload = env.captured_payload("UserPromptSubmit").to_string();
    let endings: [&[&[u8]]; 9] = [
        &[],
        &[b""],
        &[b"claude-code"],
        &[b"claude-code", b""],
        &[b"claude-code", b"--json"],
        &[b"claude-code", b"--no-such-flag"],
        &[b"--no-such-flag"],
        &[b"claude-code", b"Prompt\xff"],
        &[b"claude-code", b"Stop", b"--no-such-flag", b"more"],
    ];
    let mut wrong = Vec::new();
    for ending in endings {
        let mut words = vec![OsString::from("hook")];
        words.extend(ending.iter().map(|word| OsStr::from_bytes(word).to_owned()));
        let output = env.thru_call(&words).with_stdin(payload.clone()).run();
        if (output.code, output.stdout.as_str()) != (0, "") {
            wrong.push(format!("{words:?}: {output}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
