//! Tests which folder is the root.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::env::{TestEnv, event_of, fixture_names};

pub fn status_in(env: &TestEnv, folder: &Path) -> Value {
    env.call(&["status", "--json"]).dir(folder).run().ok().json()
}

/// Returns the two fields that identify the project.
pub fn identity(status: &Value) -> (String, String) {
    let text =
        |field: &str| status[field].as_str().unwrap_or_else(|| panic!("no {field}: {status}")).to_owned();
    (text("root"), text("project_id"))
}

#[test]
fn a_subfolder_three_levels_down_has_the_same_root() {
    let env = TestEnv::rooted();
    let deep = env.project().join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    let here = identity(&status_in(&env, &env.project()));
    assert_eq!(here.0, env.project().to_str().unwrap());
    assert_eq!(here.1, env.marker()["project_id"].as_str().unwrap());
    assert_eq!(identity(&status_in(&env, &deep)), here);
}

#[test]
fn the_nearest_marker_wins() {
    let env = TestEnv::rooted();
    let inner = env.project().join("inner");
    fs::create_dir_all(inner.join("deep")).unwrap();
    env.call(&["init", "--nested"]).dir(&inner).run().ok();
    assert_eq!(status_in(&env, &inner.join("deep"))["root"], inner.to_str().unwrap());
    assert_eq!(status_in(&env, &env.project())["root"], env.project().to_str().unwrap());
}

#[test]
fn without_a_marker_the_git_top_level_is_named() {
    let env = TestEnv::repository();
    let deep = env.project().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let status = status_in(&env, &deep);
    assert_eq!(status["root"], env.project().to_str().unwrap());
    assert_eq!(status["marked"], false);
}

#[test]
fn without_a_marker_and_outside_git_the_folder_itself_is_named() {
    let env = TestEnv::new();
    let deep = env.project().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(status_in(&env, &deep)["root"], deep.to_str().unwrap());
}

#[test]
fn a_submodule_is_a_top_level_of_its_own_until_a_root_is_above() {
    let env = TestEnv::repository();
    let module = env.project().join("module");
    fs::create_dir_all(env.project().join(".git/modules/module")).unwrap();
    env.write("project/module/.git", "gitdir: ../.git/modules/module\n");
    assert_eq!(status_in(&env, &module)["root"], module.to_str().unwrap());
    env.thru(&["init"]).ok();
    let status = status_in(&env, &module);
    assert_eq!(status["root"], env.project().to_str().unwrap());
    assert_eq!(status["marked"], true);
}

#[test]
fn the_flag_goes_before_the_variable_and_the_variable_before_the_folder() {
    let env = TestEnv::rooted();
    let [flag, variable] = ["flag", "variable"].map(|name| {
        let folder = env.base().join(name);
        fs::create_dir(&folder).unwrap();
        env.call(&["init"]).dir(&folder).run().ok();
        folder
    });
    let status = || env.call(&["status", "--json"]);
    let root = |call: crate::call::Call| call.run().ok().json()["root"].as_str().unwrap().to_owned();
    let by_variable = || status().var("THROUGHLINE_ROOT", &variable);
    assert_eq!(root(by_variable().word("--root").word(&flag)), flag.to_str().unwrap());
    assert_eq!(root(by_variable()), variable.to_str().unwrap());
    assert_eq!(root(status().var("THROUGHLINE_ROOT", "")), env.project().to_str().unwrap());
    assert_eq!(root(status().word("--root").word("../flag")), flag.to_str().unwrap(), "relative to here");
}

#[test]
fn a_named_root_is_taken_as_it_is() {
    let env = TestEnv::rooted();
    let inside = env.project().join("inside");
    fs::create_dir(&inside).unwrap();
    let status = env.json(&["status", "--root", inside.to_str().unwrap()]);
    assert_eq!((status["root"].as_str(), status["marked"].as_bool()), (inside.to_str(), Some(false)));
    env.thru(&["status", "--root", "no-such-folder"]).exits(10);
}

#[test]
fn a_named_root_that_is_a_file_is_refused() {
    let env = TestEnv::new();
    env.write("project/file", "x");
    for words in [["status", "--root", "file"], ["init", "--root", "file"]] {
        env.thru(&words).exits(15);
    }
}

#[test]
fn a_hook_asks_the_project_folder_before_the_working_directory() {
    let env = TestEnv::rooted();
    let other = env.base().join("other");
    fs::create_dir(&other).unwrap();
    env.call(&["init"]).dir(&other).run().ok();
    // A session that began in the project runs `cd ../other`. Its records stay together.
    let payload = env.fixture_in("UserPromptSubmit", &other);
    env.hook("UserPromptSubmit", &payload).silent("project folder");
    let session = payload["session_id"].as_str().unwrap();
    assert_eq!(env.journal(session).len(), 1);
    assert_eq!(env.journal(session)[0]["cwd"], other.to_str().unwrap());
    // Without the harness's variable, only the payload names the folder.
    env.hook_call("UserPromptSubmit", payload.to_string()).unset("CLAUDE_PROJECT_DIR").run().silent("cwd");
    assert_eq!(env.journal(session).len(), 1);
    assert!(other.join(format!(".agent/context/sessions/{session}.jsonl")).exists());
}

#[test]
fn a_hook_heeds_the_root_variable() {
    let env = TestEnv::rooted();
    let elsewhere = env.base().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let payload = env.fixture_in("Stop.first", &elsewhere);
    let call = env.hook_call("Stop", payload.to_string()).var("CLAUDE_PROJECT_DIR", &elsewhere);
    call.var("THROUGHLINE_ROOT", env.project()).run().silent("by variable");
    assert_eq!(env.journal(payload["session_id"].as_str().unwrap()).len(), 1);
}

#[test]
fn read_commands_in_an_unmarked_folder_write_nothing() {
    let env = TestEnv::repository();
    let before = env.tree();
    env.thru(&["status"]).ok();
    env.thru(&["config"]).ok();
    env.thru(&["trust", "--list"]).ok();
    env.thru(&["doctor"]).exits(1);
    env.thru(&["trust"]).exits(10);
    before.assert_same(&env.tree(), "unmarked");
}

#[test]
fn hooks_in_an_unmarked_folder_write_nothing_and_say_nothing() {
    let env = TestEnv::repository();
    let before = env.tree();
    for name in fixture_names() {
        env.hook(event_of(&name), &env.fixture(&name)).silent(&name);
    }
    before.assert_same(&env.tree(), "unmarked");
}

#[test]
fn no_command_makes_a_second_root_below_a_marked_one() {
    let env = TestEnv::rooted();
    let inner = env.project().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    let before = env.tree();
    let named = env.thru(&["--root", "a/b", "handoff", "x"]).exits(15);
    assert!(named.stderr.contains("--nested"), "{named}");
    env.call(&["handoff", "x"]).var("THROUGHLINE_ROOT", &inner).run().exits(15);
    before.assert_same(&env.tree(), "no second root");
    env.thru(&["--root", "a/b", "context", "init", "--nested"]).ok();
    env.thru(&["--root", "a/b", "handoff", "x"]).ok();
}

#[test]
fn records_without_a_marker_are_read_and_that_is_told() {
    let env = TestEnv::rooted();
    env.hook("PostToolUse", &env.fixture("PostToolUse.Edit"));
    env.thru(&["handoff", "finish it"]).ok();
    fs::remove_file(env.store().join("root.json")).unwrap();
    let before = env.tree();
    let commands: [&[&str]; 6] =
        [&["packet", "list"], &["pickup"], &["files"], &["journal"], &["journal", "--list"], &["status"]];
    for words in commands {
        let read = env.thru(words).ok();
        assert!(read.stderr.contains("no root.json"), "{words:?}: {read}");
        assert!(!read.stdout.is_empty(), "{words:?}: {read}");
    }
    before.assert_same(&env.tree(), "reading marks nothing");
}
