//! Tests which folder is used as the root.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::env::{TestEnv, event_of_fixture, fixture_names};

pub fn status_in(env: &TestEnv, folder: &Path) -> Value {
    env.thru_call(&["status", "--json"]).in_folder(folder).run().assert_ok().json()
}

pub fn project_identity(status: &Value) -> (String, String) {
    let text =
        |field: &str| status[field].as_str().unwrap_or_else(|| panic!("no {field}: {status}")).to_owned();
    (text("root"), text("project_id"))
}

#[test]
fn a_subfolder_three_levels_down_has_the_same_root() {
    let env = TestEnv::with_root();
    let deep = env.project_folder().join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    let here = project_identity(&status_in(&env, &env.project_folder()));
    assert_eq!(here.0, env.project_folder().to_str().unwrap());
    assert_eq!(here.1, env.read_marker()["project_id"].as_str().unwrap());
    assert_eq!(project_identity(&status_in(&env, &deep)), here);
}

#[test]
fn the_nearest_marker_wins() {
    let env = TestEnv::with_root();
    let inner = env.project_folder().join("inner");
    fs::create_dir_all(inner.join("deep")).unwrap();
    env.thru_call(&["init", "--nested"]).in_folder(&inner).run().assert_ok();
    assert_eq!(status_in(&env, &inner.join("deep"))["root"], inner.to_str().unwrap());
    assert_eq!(status_in(&env, &env.project_folder())["root"], env.project_folder().to_str().unwrap());
}

#[test]
fn without_a_marker_the_git_top_level_is_named() {
    let env = TestEnv::with_repository();
    let deep = env.project_folder().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let status = status_in(&env, &deep);
    assert_eq!(status["root"], env.project_folder().to_str().unwrap());
    assert_eq!(status["marked"], false);
}

#[test]
fn without_a_marker_and_outside_git_the_folder_itself_is_named() {
    let env = TestEnv::new();
    let deep = env.project_folder().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(status_in(&env, &deep)["root"], deep.to_str().unwrap());
}

#[test]
fn a_submodule_is_a_top_level_of_its_own_until_a_root_is_above() {
    let env = TestEnv::with_repository();
    let module = env.project_folder().join("module");
    fs::create_dir_all(env.project_folder().join(".git/modules/module")).unwrap();
    env.write_file("project/module/.git", "gitdir: ../.git/modules/module\n");
    assert_eq!(status_in(&env, &module)["root"], module.to_str().unwrap());
    env.run_thru(&["init"]).assert_ok();
    let status = status_in(&env, &module);
    assert_eq!(status["root"], env.project_folder().to_str().unwrap());
    assert_eq!(status["marked"], true);
}

#[test]
fn the_flag_goes_before_the_variable_and_the_variable_before_the_folder() {
    let env = TestEnv::with_root();
    let [flag, variable] = ["flag", "variable"].map(|name| {
        let folder = env.base_folder().join(name);
        fs::create_dir(&folder).unwrap();
        env.thru_call(&["init"]).in_folder(&folder).run().assert_ok();
        folder
    });
    let status = || env.thru_call(&["status", "--json"]);
    let root =
        |call: crate::call::ThruCall| call.run().assert_ok().json()["root"].as_str().unwrap().to_owned();
    let by_variable = || status().with_variable("THROUGHLINE_ROOT", &variable);
    assert_eq!(root(by_variable().with_argument("--root").with_argument(&flag)), flag.to_str().unwrap());
    assert_eq!(root(by_variable()), variable.to_str().unwrap());
    assert_eq!(root(status().with_variable("THROUGHLINE_ROOT", "")), env.project_folder().to_str().unwrap());
    assert_eq!(
        root(status().with_argument("--root").with_argument("../flag")),
        flag.to_str().unwrap(),
        "relative to here"
    );
}

#[test]
fn a_named_root_is_taken_as_it_is() {
    let env = TestEnv::with_root();
    let inside = env.project_folder().join("inside");
    fs::create_dir(&inside).unwrap();
    let status = env.run_thru_json(&["status", "--root", inside.to_str().unwrap()]);
    assert_eq!((status["root"].as_str(), status["marked"].as_bool()), (inside.to_str(), Some(false)));
    env.run_thru(&["status", "--root", "no-such-folder"]).assert_exit_code(10);
}

#[test]
fn a_named_root_that_is_a_file_is_refused() {
    let env = TestEnv::new();
    env.write_file("project/file", "x");
    for words in [["status", "--root", "file"], ["init", "--root", "file"]] {
        env.run_thru(&words).assert_exit_code(15);
    }
}

#[test]
fn a_hook_asks_the_project_folder_before_the_working_directory() {
    let env = TestEnv::with_root();
    let other = env.base_folder().join("other");
    fs::create_dir(&other).unwrap();
    env.thru_call(&["init"]).in_folder(&other).run().assert_ok();
    // A session that started in the project changes to another project with `cd ../other`. All its records stay in the
    // first project.
    let payload = env.captured_payload_in("UserPromptSubmit", &other);
    env.fire_hook("UserPromptSubmit", &payload).assert_silent("project folder");
    let session = payload["session_id"].as_str().unwrap();
    assert_eq!(env.read_journal(session).len(), 1);
    assert_eq!(env.read_journal(session)[0]["cwd"], other.to_str().unwrap());
    // Without the harness's variable, only the payload contains the folder.
    env.hook_call("UserPromptSubmit", payload.to_string())
        .without_variable("CLAUDE_PROJECT_DIR")
        .run()
        .assert_silent("cwd");
    assert_eq!(env.read_journal(session).len(), 1);
    assert!(other.join(format!(".agent/context/sessions/{session}.jsonl")).exists());
}

#[test]
fn a_hook_heeds_the_root_variable() {
    let env = TestEnv::with_root();
    let elsewhere = env.base_folder().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let payload = env.captured_payload_in("Stop.first", &elsewhere);
    let call = env.hook_call("Stop", payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", &elsewhere);
    call.with_variable("THROUGHLINE_ROOT", env.project_folder()).run().assert_silent("by variable");
    assert_eq!(env.read_journal(payload["session_id"].as_str().unwrap()).len(), 1);
}

#[test]
fn read_commands_in_an_unmarked_folder_write_nothing() {
    let env = TestEnv::with_repository();
    let before = env.file_tree();
    env.run_thru(&["status"]).assert_ok();
    env.run_thru(&["config"]).assert_ok();
    env.run_thru(&["trust", "--list"]).assert_ok();
    env.run_thru(&["doctor"]).assert_exit_code(1);
    env.run_thru(&["trust"]).assert_exit_code(10);
    before.assert_unchanged(&env.file_tree(), "unmarked");
}

#[test]
fn hooks_in_an_unmarked_folder_write_nothing_and_say_nothing() {
    let env = TestEnv::with_repository();
    let before = env.file_tree();
    for name in fixture_names() {
        env.fire_hook(event_of_fixture(&name), &env.captured_payload(&name)).assert_silent(&name);
    }
    before.assert_unchanged(&env.file_tree(), "unmarked");
}

#[test]
fn no_command_makes_a_second_root_below_a_marked_one() {
    let env = TestEnv::with_root();
    let inner = env.project_folder().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    let before = env.file_tree();
    let named = env.run_thru(&["--root", "a/b", "handoff", "x"]).assert_exit_code(15);
    assert!(named.stderr.contains("--nested"), "{named}");
    env.thru_call(&["handoff", "x"]).with_variable("THROUGHLINE_ROOT", &inner).run().assert_exit_code(15);
    before.assert_unchanged(&env.file_tree(), "no second root");
    env.run_thru(&["--root", "a/b", "context", "init", "--nested"]).assert_ok();
    env.run_thru(&["--root", "a/b", "handoff", "x"]).assert_ok();
}

#[test]
fn records_without_a_marker_are_read_and_that_is_told() {
    let env = TestEnv::with_root();
    env.fire_hook("PostToolUse", &env.captured_payload("PostToolUse.Edit"));
    env.run_thru(&["handoff", "finish it"]).assert_ok();
    fs::remove_file(env.store_folder().join("root.json")).unwrap();
    let before = env.file_tree();
    let commands: [&[&str]; 6] =
        [&["packet", "list"], &["pickup"], &["files"], &["journal"], &["journal", "--list"], &["status"]];
    for words in commands {
        let read = env.run_thru(words).assert_ok();
        assert!(read.stderr.contains("no root.json"), "{words:?}: {read}");
        assert!(!read.stdout.is_empty(), "{words:?}: {read}");
    }
    before.assert_unchanged(&env.file_tree(), "reading marks nothing");
}
