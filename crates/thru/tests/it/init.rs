//! `thru init` creates one root, and only once.

use std::fs;

use insta::assert_snapshot;

use crate::env::{TEST_TIME, TestEnv};
use crate::tree::FileTree;

#[test]
fn init_makes_the_marker_and_says_what_is_next() {
    let env = TestEnv::new();
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["init"]).to_string()), @"
    exit: 0
    ---- stdout
    Created the root of project in $PROJECT/.agent/context
    Next: `thru install claude-code` or `thru install droid` or `thru install opencode` installs hooks anyway
    ---- stderr
    note: no harness was found, so no hooks were installed; looked for
          Claude Code: `claude` on the PATH, $HOME/.claude, $PROJECT/.claude
          Factory Droid: `droid` on the PATH, $HOME/.factory, $PROJECT/.factory
          OpenCode: `opencode` on the PATH, $HOME/.config/opencode, $PROJECT/.opencode
    ");
    let marker = env.read_marker();
    assert_eq!(marker["schema_version"], 1);
    assert_eq!(marker["name"], "project");
    assert_eq!(marker["created_at"], TEST_TIME);
    assert_eq!(marker["project_id"].as_str().unwrap().as_bytes()[14], b'7', "a uuid of version 7");
    assert_snapshot!(env.mask_variable_parts(&env.run_thru(&["init", "--json"]).stdout), @r#"
    {
      "root": "$PROJECT",
      "project_id": "<uuid>",
      "name": "project",
      "mode": "private",
      "created": false,
      "trusted": true,
      "wired": [],
      "not_wired": [],
      "looked_for": [
        "Claude Code: `claude` on the PATH, $HOME/.claude, $PROJECT/.claude",
        "Factory Droid: `droid` on the PATH, $HOME/.factory, $PROJECT/.factory",
        "OpenCode: `opencode` on the PATH, $HOME/.config/opencode, $PROJECT/.opencode"
      ]
    }
    "#);
    let env = TestEnv::new();
    let plain = env.run_thru(&["init", "--no-hooks"]).assert_ok();
    assert!(plain.stderr.is_empty() && plain.stdout.contains("installs the hooks"), "{plain}");
}

#[test]
fn an_empty_folder_is_no_sign_of_a_harness() {
    let env = TestEnv::new();
    env.run_thru(&["install", "droid"]).assert_ok();
    env.run_thru(&["uninstall", "droid"]).assert_ok();
    assert_eq!(env.run_thru_json(&["init"])["wired"], serde_json::json!([]));
    env.write_file("home/.factory/settings.json", "{}");
    assert_eq!(env.run_thru_json(&["init"])["wired"].as_array().map(Vec::len), Some(1));
}

#[test]
fn twice_is_the_same_as_once() {
    for words in [&["init"][..], &["context", "init"], &["init", "--name", "other"]] {
        let env = TestEnv::new();
        env.run_thru(words).assert_ok();
        let before = env.file_tree();
        let again = env.run_thru(words).assert_ok();
        before.assert_unchanged(&env.file_tree(), "again");
        assert!(again.stdout.contains("already"), "{again}");
    }
}

#[test]
fn init_touches_nothing_but_the_store_and_the_trust_record() {
    let env = TestEnv::with_repository();
    let before = env.file_tree();
    env.run_thru(&["init"]).assert_ok();
    let mut changes = before.changes_to(&env.file_tree());
    changes.retain(|change| {
        let path = &change[1..];
        !path.starts_with("/project/.agent") && !path.starts_with("/home/.local")
    });
    assert_eq!(changes, ["~/home", "~/project"], "new entries in these two, nothing else");
    assert_eq!(env.run_git(&["status", "--porcelain"]), "", "a private store does not show in git");
}

#[test]
fn the_name_can_be_given() {
    let env = TestEnv::new();
    env.run_thru(&["init", "--name", "Ünï \"quoted\""]).assert_ok();
    assert_eq!(env.run_thru_json(&["status"])["name"], "Ünï \"quoted\"");
}

#[test]
fn in_a_subfolder_of_a_root_that_root_is_reported() {
    let env = TestEnv::with_root();
    let sub = env.project_folder().join("a/b");
    fs::create_dir_all(&sub).unwrap();
    let before = env.file_tree();
    let report = env.thru_call(&["init", "--json"]).in_folder(&sub).run().assert_ok().json();
    assert_eq!(report["root"], env.project_folder().to_str().unwrap());
    assert_eq!(report["created"], false);
    before.assert_unchanged(&env.file_tree(), "init in a subfolder");
}

#[test]
fn a_second_root_below_one_is_refused_however_it_is_named() {
    let env = TestEnv::with_root();
    let sub = env.project_folder().join("a/b");
    fs::create_dir_all(&sub).unwrap();
    let before = env.file_tree();
    let by_flag = env.run_thru(&["init", "--root", sub.to_str().unwrap()]).assert_exit_code(15);
    assert!(by_flag.stderr.contains("--nested"), "{by_flag}");
    before.assert_unchanged(&env.file_tree(), "--root");
    let by_variable = env.thru_call(&["init"]).with_variable("THROUGHLINE_ROOT", &sub).run();
    before.assert_unchanged(&env.file_tree(), "THROUGHLINE_ROOT");
    by_variable.assert_exit_code(15);
}

#[test]
fn nested_makes_one_and_leaves_the_outer_one_alone() {
    let env = TestEnv::with_root();
    let outer = FileTree::read_folder(&env.store_folder());
    let [here, named] = ["here", "named"].map(|name| env.project_folder().join(name));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&named).unwrap();
    env.thru_call(&["init", "--nested"]).in_folder(&here).run().assert_ok();
    env.run_thru(&["init", "--nested", "--root", named.to_str().unwrap()]).assert_ok();
    for inner in [&here, &named] {
        let status = env.thru_call(&["status", "--json"]).in_folder(inner).run().assert_ok().json();
        assert_eq!(status["root"], inner.to_str().unwrap());
        assert_eq!(status["trusted"], true);
        assert_ne!(status["project_id"], env.read_marker()["project_id"]);
    }
    outer.assert_unchanged(&FileTree::read_folder(&env.store_folder()), "the outer root");
}

#[test]
fn unknown_keys_of_the_marker_survive_a_session_start() {
    let env = TestEnv::with_root();
    let marker = env.store_folder().join("root.json");
    let mut fields = env.read_marker();
    fields["zebra"] = serde_json::json!({ "b": [1, 2.5, null], "a": "ü" });
    fields["apple"] = 1.into();
    fs::write(&marker, format!("{fields:#}\n")).unwrap();
    let payload = env.captured_payload("SessionStart.startup");
    env.fire_hook("SessionStart", &payload).assert_silent("start");
    fields["last_session"] = payload["session_id"].clone();
    assert_eq!(fs::read_to_string(&marker).unwrap(), format!("{fields:#}\n"), "the same, with one more key");
}

#[test]
fn the_last_session_is_noted_once() {
    let env = TestEnv::with_root();
    let payload = env.captured_payload("SessionStart.startup");
    env.fire_hook("SessionStart", &payload).assert_silent("start");
    assert_eq!(env.read_marker()["last_session"], payload["session_id"]);
    let before = FileTree::read_folder(&env.store_folder().join("root.json"));
    env.fire_hook("SessionStart", &env.captured_payload("UserPromptSubmit")).assert_silent("another event");
    env.fire_hook("SessionStart", &payload).assert_silent("the same session");
    before.assert_unchanged(
        &FileTree::read_folder(&env.store_folder().join("root.json")),
        "nothing new to note",
    );
}

#[test]
fn init_over_a_store_that_was_left_half_made_completes_it() {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    fs::remove_file(env.store_folder().join("root.json")).unwrap();
    fs::remove_dir(env.store_folder().join("packets")).unwrap();
    env.write_file("project/.agent/context/.root.json.77-0.tmp", "{");
    let report = env.run_thru_json(&["init"]);
    assert_eq!((report["created"].as_bool(), report["trusted"].as_bool()), (Some(true), Some(true)));
    let env = TestEnv::new();
    env.write_file("project/.agent/context/.gitignore", "# lets everything into git\n");
    assert_eq!(
        env.run_thru_json(&["init"])["trusted"],
        false,
        "an ignore file that is not ours came from somebody"
    );
}
