//! `thru init` creates one root, once.

use std::fs;

use insta::assert_snapshot;

use crate::env::{NOW, TestEnv};
use crate::tree::Tree;

#[test]
fn init_makes_the_marker_and_says_what_is_next() {
    let env = TestEnv::new();
    assert_snapshot!(env.shown(&env.thru(&["init"]).to_string()), @"
    exit: 0
    ---- stdout
    Created the root of project in $PROJECT/.agent/context
    Next: `thru install claude-code` or `thru install droid` or `thru install opencode` sets its hooks anyway
    ---- stderr
    note: no harness was found, so no hooks were set; looked for
          Claude Code: `claude` on the PATH, $HOME/.claude, $PROJECT/.claude
          Factory Droid: `droid` on the PATH, $HOME/.factory, $PROJECT/.factory
          OpenCode: `opencode` on the PATH, $HOME/.config/opencode, $PROJECT/.opencode
    ");
    let marker = env.marker();
    assert_eq!(marker["schema_version"], 1);
    assert_eq!(marker["name"], "project");
    assert_eq!(marker["created_at"], NOW);
    assert_eq!(marker["project_id"].as_str().unwrap().as_bytes()[14], b'7', "a uuid of version 7");
    assert_snapshot!(env.shown(&env.thru(&["init", "--json"]).stdout), @r#"
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
    let plain = env.thru(&["init", "--no-hooks"]).ok();
    assert!(plain.stderr.is_empty() && plain.stdout.contains("sets the hooks"), "{plain}");
}

#[test]
fn an_empty_folder_is_no_sign_of_a_harness() {
    let env = TestEnv::new();
    env.thru(&["install", "droid"]).ok();
    env.thru(&["uninstall", "droid"]).ok();
    assert_eq!(env.json(&["init"])["wired"], serde_json::json!([]));
    env.write("home/.factory/settings.json", "{}");
    assert_eq!(env.json(&["init"])["wired"].as_array().map(Vec::len), Some(1));
}

#[test]
fn twice_is_the_same_as_once() {
    for words in [&["init"][..], &["context", "init"], &["init", "--name", "other"]] {
        let env = TestEnv::new();
        env.thru(words).ok();
        let before = env.tree();
        let again = env.thru(words).ok();
        before.assert_same(&env.tree(), "again");
        assert!(again.stdout.contains("already"), "{again}");
    }
}

#[test]
fn init_touches_nothing_but_the_store_and_the_trust_record() {
    let env = TestEnv::repository();
    let before = env.tree();
    env.thru(&["init"]).ok();
    let mut changes = before.changes(&env.tree());
    changes.retain(|change| {
        let path = &change[1..];
        !path.starts_with("/project/.agent") && !path.starts_with("/home/.local")
    });
    assert_eq!(changes, ["~/home", "~/project"], "new entries in these two, nothing else");
    assert_eq!(env.git(&["status", "--porcelain"]), "", "a private store does not show in git");
}

#[test]
fn the_name_can_be_given() {
    let env = TestEnv::new();
    env.thru(&["init", "--name", "Ünï \"quoted\""]).ok();
    assert_eq!(env.json(&["status"])["name"], "Ünï \"quoted\"");
}

#[test]
fn in_a_subfolder_of_a_root_that_root_is_reported() {
    let env = TestEnv::rooted();
    let sub = env.project().join("a/b");
    fs::create_dir_all(&sub).unwrap();
    let before = env.tree();
    let report = env.call(&["init", "--json"]).dir(&sub).run().ok().json();
    assert_eq!(report["root"], env.project().to_str().unwrap());
    assert_eq!(report["created"], false);
    before.assert_same(&env.tree(), "init in a subfolder");
}

#[test]
fn a_second_root_below_one_is_refused_however_it_is_named() {
    let env = TestEnv::rooted();
    let sub = env.project().join("a/b");
    fs::create_dir_all(&sub).unwrap();
    let before = env.tree();
    let by_flag = env.thru(&["init", "--root", sub.to_str().unwrap()]).exits(15);
    assert!(by_flag.stderr.contains("--nested"), "{by_flag}");
    before.assert_same(&env.tree(), "--root");
    let by_variable = env.call(&["init"]).var("THROUGHLINE_ROOT", &sub).run();
    before.assert_same(&env.tree(), "THROUGHLINE_ROOT");
    by_variable.exits(15);
}

#[test]
fn nested_makes_one_and_leaves_the_outer_one_alone() {
    let env = TestEnv::rooted();
    let outer = Tree::of(&env.store());
    let [here, named] = ["here", "named"].map(|name| env.project().join(name));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&named).unwrap();
    env.call(&["init", "--nested"]).dir(&here).run().ok();
    env.thru(&["init", "--nested", "--root", named.to_str().unwrap()]).ok();
    for inner in [&here, &named] {
        let status = env.call(&["status", "--json"]).dir(inner).run().ok().json();
        assert_eq!(status["root"], inner.to_str().unwrap());
        assert_eq!(status["trusted"], true);
        assert_ne!(status["project_id"], env.marker()["project_id"]);
    }
    outer.assert_same(&Tree::of(&env.store()), "the outer root");
}

#[test]
fn unknown_keys_of_the_marker_survive_a_session_start() {
    let env = TestEnv::rooted();
    let marker = env.store().join("root.json");
    let mut fields = env.marker();
    fields["zebra"] = serde_json::json!({ "b": [1, 2.5, null], "a": "ü" });
    fields["apple"] = 1.into();
    fs::write(&marker, format!("{fields:#}\n")).unwrap();
    let payload = env.fixture("SessionStart.startup");
    env.hook("SessionStart", &payload).silent("start");
    fields["last_session"] = payload["session_id"].clone();
    assert_eq!(fs::read_to_string(&marker).unwrap(), format!("{fields:#}\n"), "the same, with one more key");
}

#[test]
fn the_last_session_is_noted_once() {
    let env = TestEnv::rooted();
    let payload = env.fixture("SessionStart.startup");
    env.hook("SessionStart", &payload).silent("start");
    assert_eq!(env.marker()["last_session"], payload["session_id"]);
    let before = Tree::of(&env.store().join("root.json"));
    env.hook("SessionStart", &env.fixture("UserPromptSubmit")).silent("another event");
    env.hook("SessionStart", &payload).silent("the same session");
    before.assert_same(&Tree::of(&env.store().join("root.json")), "nothing new to note");
}

#[test]
fn init_over_a_store_that_was_left_half_made_completes_it() {
    let env = TestEnv::new();
    env.thru(&["init"]).ok();
    fs::remove_file(env.store().join("root.json")).unwrap();
    fs::remove_dir(env.store().join("packets")).unwrap();
    env.write("project/.agent/context/.root.json.77-0.tmp", "{");
    let report = env.json(&["init"]);
    assert_eq!((report["created"].as_bool(), report["trusted"].as_bool()), (Some(true), Some(true)));
    let env = TestEnv::new();
    env.write("project/.agent/context/.gitignore", "# lets everything into git\n");
    assert_eq!(env.json(&["init"])["trusted"], false, "an ignore file that is not ours came from somebody");
}
