//! Ways to switch hooks off, and settings that must not switch them off.

use std::fs;

use crate::call::Call;
use crate::env::{TestEnv, event_of};

const OFF: &str = "[hooks]\nenabled = false\n";

fn prompt(env: &TestEnv) -> Call {
    env.hook_call("UserPromptSubmit", env.fixture("UserPromptSubmit").to_string())
}

#[test]
fn a_variable_switches_everything_off() {
    let env = TestEnv::rooted();
    let before = env.tree();
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
            let payload = env.fixture(fixture).to_string();
            env.hook_call(event_of(fixture), payload).var(name, value).run().silent(fixture);
        }
        env.hook_call("Stop", "[]").var(name, value).run().silent("junk");
        before.assert_same(&env.tree(), &format!("{name}={value}"));
    }
}

#[test]
fn a_switch_that_is_not_on_changes_nothing() {
    let env = TestEnv::rooted();
    let not_off = [
        ("THROUGHLINE_DISABLE", "0"),
        ("THROUGHLINE_DISABLE", ""),
        ("THROUGHLINE_HOOK", "0"),
        ("THROUGHLINE_HOOKS_ENABLED", "true"),
        ("THROUGHLINE_HOOKS_ENABLED", "1"),
        ("THROUGHLINE_HOOKS_ENABLED", "rubbish"),
    ];
    for (at, (name, value)) in not_off.into_iter().enumerate() {
        prompt(&env).var(name, value).run().silent(name);
        assert_eq!(env.journal_lines(), at + 1, "{name}={value}");
    }
}

#[test]
fn the_users_settings_switch_hooks_off() {
    let env = TestEnv::rooted();
    env.write(env.user_config(), OFF);
    let before = env.tree();
    prompt(&env).run().silent("off");
    before.assert_same(&env.tree(), "the user's settings");
    prompt(&env).var("THROUGHLINE_HOOKS_ENABLED", "true").run().silent("the variable wins");
    assert_eq!(env.journal_lines(), 1);
}

#[test]
fn the_users_settings_are_where_the_config_folder_is() {
    let env = TestEnv::rooted();
    env.write("xdg/throughline/config.toml", OFF);
    prompt(&env).var("XDG_CONFIG_HOME", env.base().join("xdg")).run().silent("off");
    assert_eq!(env.journal_lines(), 0);
    prompt(&env).var("XDG_CONFIG_HOME", "xdg").run().silent("a relative folder is nobody's");
    assert_eq!(env.journal_lines(), 1);
}

#[test]
fn the_projects_settings_switch_hooks_off() {
    let env = TestEnv::rooted();
    env.write("project/.agent/context/config.toml", OFF);
    let before = env.tree();
    prompt(&env).run().silent("off");
    before.assert_same(&env.tree(), "the project's settings");
    env.write(env.user_config(), "[hooks]\nenabled = true\n");
    prompt(&env).run().silent("the project goes before the user");
    assert_eq!(env.journal_lines(), 0);
}

#[test]
fn switched_off_the_user_is_not_told_about_trust_either() {
    let env = TestEnv::rooted();
    env.thru(&["trust", "--revoke"]).ok();
    let start = || env.hook_call("SessionStart", env.fixture("SessionStart.startup").to_string());
    assert!(start().run().stdout.contains("thru trust"));
    start().var("THROUGHLINE_DISABLE", "1").run().silent("off");
    env.write(env.user_config(), OFF);
    start().run().silent("off in the user's settings");
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
        let env = TestEnv::rooted();
        env.write(env.user_config(), bytes);
        env.write("project/.agent/context/config.toml", bytes);
        prompt(&env).run().silent(&String::from_utf8_lossy(bytes));
        assert_eq!(env.journal_lines(), 1, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_folder_in_place_of_the_settings_does_not_stop_a_hook() {
    let env = TestEnv::rooted();
    fs::create_dir_all(env.user_config()).unwrap();
    fs::create_dir_all(env.store().join("config.toml")).unwrap();
    prompt(&env).run().silent("folders");
    assert_eq!(env.journal_lines(), 1);
}

#[test]
fn unknown_harnesses_are_ignored() {
    let env = TestEnv::rooted();
    let before = env.tree();
    let payload = env.fixture("UserPromptSubmit").to_string();
    for harness in ["codex", "claude", "CLAUDE-CODE", "", "../x"] {
        env.call(&["hook", harness, "UserPromptSubmit"]).stdin(payload.clone()).run().silent(harness);
    }
    env.assert_state_receipts_only(&before, "unknown harness");
    let doctor = env.thru(&["doctor"]).exits(1);
    assert!(doctor.stdout.contains("unknown harness `codex`"), "{doctor}");
}

#[test]
fn an_unknown_event_is_written_down_by_its_name() {
    let env = TestEnv::rooted();
    let payload = serde_json::json!({"session_id": "s", "cwd": env.project()});
    env.hook("FromTheFuture", &payload).silent("unknown event");
    let line = env.journal("s").remove(0);
    assert_eq!((&line["event"], &line["name"]), (&"other".into(), &"FromTheFuture".into()));
}

/// For Claude Code the exit code 2 is a veto. A typing error in somebody's settings must not block every tool call.
#[test]
fn whatever_follows_the_word_hook_the_exit_code_is_0() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    let env = TestEnv::rooted();
    let payload = env.fixture("UserPromptSubmit").to_string();
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
        let output = env.call(&words).stdin(payload.clone()).run();
        if (output.code, output.stdout.as_str()) != (0, "") {
            wrong.push(format!("{words:?}: {output}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
