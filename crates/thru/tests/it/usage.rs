//! Tests usage errors, help, and the appearance of the output.

use insta::assert_snapshot;

use crate::env::TestEnv;

#[test]
fn usage_errors_exit_2_and_change_nothing() {
    let env = TestEnv::with_root();
    let before = env.file_tree();
    let wrong: [&[&str]; 11] = [
        &[],
        &["no-such-command"],
        &["status", "--no-such-flag"],
        &["status", "extra"],
        &["init", "--root"],
        &["init", "--name"],
        &["completions"],
        &["completions", "no-such-shell"],
        &["trust", "--revoke", "--list"],
        &["context"],
        &["help", "no-such-command"],
    ];
    for words in wrong {
        let output = env.run_thru(words).assert_exit_code(2);
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{words:?}: {output}");
    }
    before.assert_unchanged(&env.file_tree(), "usage errors");
}

#[test]
fn a_misspelt_command_gets_a_suggestion() {
    let env = TestEnv::new();
    for (typed, meant) in
        [("statsu", "status"), ("confg", "config"), ("docter", "doctor"), ("redcat", "redact")]
    {
        let output = env.run_thru(&[typed]).assert_exit_code(2);
        assert!(output.stderr.contains(&format!("'{meant}'")), "{output}");
    }
}

#[test]
fn with_json_a_usage_error_is_json_too() {
    let env = TestEnv::new();
    for words in [&["--json", "no-such-command"][..], &["status", "--json", "--no-such-flag"]] {
        let output = env.run_thru(words).assert_exit_code(2);
        assert_eq!(output.json()["error"]["kind"], "usage", "{words:?}");
    }
}

#[test]
fn a_clock_that_is_no_clock_is_a_usage_error() {
    let env = TestEnv::with_root();
    let output =
        env.thru_call(&["status"]).with_variable("THROUGHLINE_NOW", "yesterday").run().assert_exit_code(2);
    assert_snapshot!(output.to_string(), @"
    exit: 2
    ---- stderr
    error: THROUGHLINE_NOW is `yesterday`, which is not a valid time
    hint:  write it like 2026-11-15T19:22:00Z, or unset it
    ");
    let error = env
        .thru_call(&["status", "--json"])
        .with_variable("THROUGHLINE_NOW", "")
        .run()
        .assert_exit_code(2)
        .json();
    assert_eq!(error["error"]["kind"], "usage");
    let payload = env.captured_payload("UserPromptSubmit").to_string();
    env.hook_call("UserPromptSubmit", payload)
        .with_variable("THROUGHLINE_NOW", "yesterday")
        .run()
        .assert_silent("a hook goes on");
    assert_eq!(env.count_journal_lines(), 1);
}

#[test]
fn the_clock_may_be_anywhere() {
    let env = TestEnv::with_root();
    for now in ["1970-01-01T00:00:00Z", "2025-11-15T19:22:00Z", "9999-12-30T00:00:00Z"] {
        let payload = env.captured_payload("SessionStart.startup").to_string();
        env.hook_call("SessionStart", payload).with_variable("THROUGHLINE_NOW", now).run().assert_silent(now);
        env.thru_call(&["status"]).with_variable("THROUGHLINE_NOW", now).run().assert_ok();
        let other = env.base_folder().join(&now[..4]);
        std::fs::create_dir(&other).unwrap();
        env.thru_call(&["init"]).in_folder(&other).with_variable("THROUGHLINE_NOW", now).run().assert_ok();
    }
    assert_eq!(env.count_journal_lines(), 3);
    assert_eq!(
        env.run_thru_json(&["trust", "--list"]).as_array().unwrap().len(),
        4,
        "ids made at any time are ids"
    );
}

#[test]
fn the_version_is_one_line() {
    let env = TestEnv::new();
    for flag in ["--version", "-V"] {
        let output = env.run_thru(&[flag]).assert_ok();
        assert_eq!(output.stdout, format!("thru {}\n", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn no_colour_goes_into_a_pipe_unless_it_is_asked_for() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/packets/link.tmp", "x");
    for words in [&["status"][..], &["doctor"], &["config"], &["init"], &["trust", "--list"], &["help"]] {
        let plain = env.run_thru(words);
        assert!(!(plain.stdout.clone() + &plain.stderr).contains('\x1b'), "{words:?}: {plain}");
        let forced = env.thru_call(words).with_variable("TERM", "xterm-256color").run();
        assert!(!forced.stdout.contains('\x1b'), "{words:?} with a TERM");
    }
    env.write_file(env.user_config_path(), "[output]\ncolor = \"always\"\n");
    for words in [&["status"][..], &["doctor"], &["config"], &["init"]] {
        assert!(env.run_thru(words).stdout.contains("\x1b["), "{words:?}");
    }
    let error = env.run_thru(&["init", "--shared"]).assert_exit_code(15);
    assert!(error.stderr.contains("\x1b["), "{error}");
    let never = env.thru_call(&["status"]).with_variable("THROUGHLINE_OUTPUT_COLOR", "never").run();
    assert!(!never.stdout.contains('\x1b'), "the variable wins");
    for words in [&["status"][..], &["doctor"], &["config"]] {
        let json = env.thru_call(words).with_argument("--json").run();
        assert!(!json.stdout.contains('\x1b'), "JSON is never coloured: {words:?}");
    }
}

#[test]
fn what_config_shows_is_what_holds() {
    let env = TestEnv::with_root();
    env.write_file("project/.agent/context/config.toml", "[output]\ncolor = \"always\"\n");
    let config = env.run_thru(&["config"]).assert_ok();
    assert!(config.stdout.contains("always"), "{config}");
    assert!(
        env.run_thru(&["status"]).stdout.contains("\x1b["),
        "the project's colour setting is shown, and not used"
    );
}

#[test]
fn every_command_speaks_json() {
    let env = TestEnv::with_root();
    // Install the hooks, because `doctor` exits with 1 as long as no harness calls `thru`.
    env.run_thru(&["install", "claude-code"]).assert_ok();
    let commands: [&[&str]; 9] = [
        &["init"],
        &["context", "init"],
        &["status"],
        &["config"],
        &["trust"],
        &["trust", "--list"],
        &["doctor"],
        &["redact"],
        &["completions", "fish"],
    ];
    for words in commands {
        let output = env.thru_call(words).with_argument("--json").run().assert_ok();
        let value = output.json();
        assert!(value.is_object() || value.is_array(), "{words:?}");
        assert_eq!(output.stderr, "", "{words:?}");
    }
}

#[test]
fn a_name_for_a_root_that_has_one_is_not_dropped_silently() {
    let env = TestEnv::with_root();
    let output = env.run_thru(&["init", "--name", "other"]);
    assert!(env.read_marker()["name"] == "other" || output.stderr.contains("name"), "{output}");
}

#[test]
fn one_is_told_as_one_and_nothing_asked_for_is_everything() {
    let env = TestEnv::with_root();
    let read = |path: &str| {
        serde_json::json!({"session_id": "s1", "cwd": env.project_folder(), "tool_name": "Read",
        "tool_use_id": path, "tool_input": {"file_path": env.project_folder().join(path)}})
    };
    env.fire_hook("PostToolUse", &read("a.rs"));
    let one = env.run_thru(&["journal", "--list"]).assert_ok();
    assert!(one.stdout.contains(" 1 record "), "{one}");
    env.fire_hook("PostToolUse", &read("b.rs"));
    assert!(env.run_thru(&["journal", "--list"]).assert_ok().stdout.contains(" 2 records "));
    let all = env.run_thru(&["files", "-n", "0"]).assert_ok();
    assert!(all.stdout.contains("a.rs") && all.stdout.contains("b.rs") && all.stderr.is_empty(), "{all}");
    let first = env.run_thru(&["files", "-n", "1"]).assert_ok();
    assert!(first.stderr.contains("and 1 other file; -n 0 shows all"), "{first}");
}
