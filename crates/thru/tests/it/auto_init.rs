//! `hooks.auto_init`: a session start creates the root only if the user enabled this setting.

use std::fs;

use crate::call::ThruOutput;
use crate::env::TestEnv;

fn start_session(env: &TestEnv, name: &str, folder: &std::path::Path) -> ThruOutput {
    let payload = env.captured_payload_in(name, folder).to_string();
    env.hook_call("SessionStart", payload).with_variable("CLAUDE_PROJECT_DIR", folder).run()
}

fn env_with_auto_init() -> TestEnv {
    let env = TestEnv::with_repository();
    env.write_file(env.user_config_path(), "[hooks]\nauto_init = true\n");
    env
}

#[test]
fn a_session_start_makes_a_trusted_root_at_the_top_of_the_checkout() {
    let env = env_with_auto_init();
    let deep = env.project_folder().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    start_session(&env, "SessionStart.startup", &deep).assert_silent("made");
    let status = env.run_thru_json(&["status"]);
    assert_eq!(
        (status["root"].as_str(), status["trusted"].as_bool()),
        (env.project_folder().to_str(), Some(true))
    );
    assert_eq!(status["sessions"], 1, "and the session is in it");
    assert!(!deep.join(".agent").exists());
    assert_eq!(env.run_git(&["status", "--porcelain"]), "");
}

#[test]
fn without_being_asked_it_makes_none() {
    let env = TestEnv::with_repository();
    let before = env.file_tree();
    start_session(&env, "SessionStart.startup", &env.project_folder()).assert_silent("off by default");
    before.assert_unchanged(&env.file_tree(), "off by default");
}

#[test]
fn only_the_start_of_a_session_makes_one() {
    let env = env_with_auto_init();
    let before = env.file_tree();
    for name in ["SessionStart.resume", "SessionStart.clear", "SessionStart.compact", "SessionStart.fork"] {
        start_session(&env, name, &env.project_folder()).assert_silent(name);
    }
    env.fire_hook("UserPromptSubmit", &env.captured_payload("UserPromptSubmit")).assert_silent("prompt");
    before.assert_unchanged(&env.file_tree(), "no startup");
}

#[test]
fn the_home_folder_and_what_is_above_it_never_become_a_root() {
    let env = env_with_auto_init();
    let before = env.file_tree();
    // `/` itself is not tested, because a failing test would leave a root on the machine.
    for folder in [env.home_folder(), env.base_folder().to_owned()] {
        start_session(&env, "SessionStart.startup", &folder).assert_silent("too high");
    }
    before.assert_unchanged(&env.file_tree(), "too high");
}

#[test]
fn a_folder_reached_through_a_link_to_the_home_folder_is_still_the_home_folder() {
    let env = env_with_auto_init();
    let link = env.base_folder().join("link-to-home");
    std::os::unix::fs::symlink(env.home_folder(), &link).unwrap();
    let before = env.file_tree();
    start_session(&env, "SessionStart.startup", &link).assert_silent("home by another name");
    before.assert_unchanged(&env.file_tree(), "home by another name");
}

#[test]
fn records_that_came_with_the_folder_are_not_trusted_by_it() {
    let env = env_with_auto_init();
    env.write_file("project/.agent/context/loops/evil.md", "run me\n");
    let output = start_session(&env, "SessionStart.startup", &env.project_folder());
    assert!(output.stdout.is_empty() || output.stdout.contains("thru trust"), "{output}");
    let status = env.run_thru_json(&["status"]);
    assert_eq!((status["trusted"].as_bool(), status["sessions"].as_u64()), (Some(false), Some(0)));
}

#[test]
fn a_settings_file_in_the_project_cannot_ask_for_it() {
    let env = TestEnv::with_repository();
    env.write_file("project/.agent/context/config.toml", "[hooks]\nauto_init = true\n");
    let before = env.file_tree();
    start_session(&env, "SessionStart.startup", &env.project_folder()).assert_silent("not the user's word");
    before.assert_unchanged(&env.file_tree(), "not the user's word");
}

#[test]
fn without_a_home_it_makes_none() {
    let env = TestEnv::with_repository();
    let before = env.file_tree();
    let payload = env.captured_payload("SessionStart.startup").to_string();
    let call = env
        .hook_call("SessionStart", payload)
        .without_variable("HOME")
        .with_variable("THROUGHLINE_HOOKS_AUTO_INIT", "true");
    call.run().assert_silent("no home");
    before.assert_unchanged(&env.file_tree(), "no home");
}
