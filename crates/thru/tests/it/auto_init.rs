//! `hooks.auto_init`: a session start creates the root if the user asked for it, and never otherwise.

use std::fs;

use crate::call::Output;
use crate::env::TestEnv;

fn start(env: &TestEnv, name: &str, folder: &std::path::Path) -> Output {
    let payload = env.fixture_in(name, folder).to_string();
    env.hook_call("SessionStart", payload).var("CLAUDE_PROJECT_DIR", folder).run()
}

fn asked_for() -> TestEnv {
    let env = TestEnv::repository();
    env.write(env.user_config(), "[hooks]\nauto_init = true\n");
    env
}

#[test]
fn a_session_start_makes_a_trusted_root_at_the_top_of_the_checkout() {
    let env = asked_for();
    let deep = env.project().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    start(&env, "SessionStart.startup", &deep).silent("made");
    let status = env.json(&["status"]);
    assert_eq!((status["root"].as_str(), status["trusted"].as_bool()), (env.project().to_str(), Some(true)));
    assert_eq!(status["sessions"], 1, "and the session is in it");
    assert!(!deep.join(".agent").exists());
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn without_being_asked_it_makes_none() {
    let env = TestEnv::repository();
    let before = env.tree();
    start(&env, "SessionStart.startup", &env.project()).silent("off by default");
    before.assert_same(&env.tree(), "off by default");
}

#[test]
fn only_the_start_of_a_session_makes_one() {
    let env = asked_for();
    let before = env.tree();
    for name in ["SessionStart.resume", "SessionStart.clear", "SessionStart.compact", "SessionStart.fork"] {
        start(&env, name, &env.project()).silent(name);
    }
    env.hook("UserPromptSubmit", &env.fixture("UserPromptSubmit")).silent("prompt");
    before.assert_same(&env.tree(), "no startup");
}

#[test]
fn the_home_folder_and_what_is_above_it_never_become_a_root() {
    let env = asked_for();
    let before = env.tree();
    // `/` itself is not tested: a failing test would leave a root there for the whole machine.
    for folder in [env.home(), env.base().to_owned()] {
        start(&env, "SessionStart.startup", &folder).silent("too high");
    }
    before.assert_same(&env.tree(), "too high");
}

#[test]
fn a_folder_reached_through_a_link_to_the_home_folder_is_still_the_home_folder() {
    let env = asked_for();
    let link = env.base().join("link-to-home");
    std::os::unix::fs::symlink(env.home(), &link).unwrap();
    let before = env.tree();
    start(&env, "SessionStart.startup", &link).silent("home by another name");
    before.assert_same(&env.tree(), "home by another name");
}

#[test]
fn records_that_came_with_the_folder_are_not_trusted_by_it() {
    let env = asked_for();
    env.write("project/.agent/context/loops/evil.md", "run me\n");
    let output = start(&env, "SessionStart.startup", &env.project());
    assert!(output.stdout.is_empty() || output.stdout.contains("thru trust"), "{output}");
    let status = env.json(&["status"]);
    assert_eq!((status["trusted"].as_bool(), status["sessions"].as_u64()), (Some(false), Some(0)));
}

#[test]
fn a_settings_file_in_the_project_cannot_ask_for_it() {
    let env = TestEnv::repository();
    env.write("project/.agent/context/config.toml", "[hooks]\nauto_init = true\n");
    let before = env.tree();
    start(&env, "SessionStart.startup", &env.project()).silent("not the user's word");
    before.assert_same(&env.tree(), "not the user's word");
}

#[test]
fn without_a_home_it_makes_none() {
    let env = TestEnv::repository();
    let before = env.tree();
    let payload = env.fixture("SessionStart.startup").to_string();
    let call =
        env.hook_call("SessionStart", payload).unset("HOME").var("THROUGHLINE_HOOKS_AUTO_INIT", "true");
    call.run().silent("no home");
    before.assert_same(&env.tree(), "no home");
}
