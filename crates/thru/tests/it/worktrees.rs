//! A git worktree uses the root of its main checkout. Records from a worktree outlive the worktree.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::env::TestEnv;
use crate::roots::{project_identity, status_in};

/// Adds one worktree next to the main checkout and one inside it.
fn add_worktrees(env: &TestEnv) -> [PathBuf; 2] {
    let trees = [env.base_folder().join("beside"), env.project_folder().join("trees/inside")];
    for tree in &trees {
        env.run_git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
        fs::create_dir_all(tree.join("a/b")).unwrap();
    }
    trees
}

fn commit_store(env: &TestEnv) {
    env.run_git(&["add", ".agent"]);
    env.run_git(&["commit", "--quiet", "--message", "records"]);
}

fn fire_hook_in(env: &TestEnv, folder: &Path, fixture: &str, event: &str) -> Value {
    let payload = env.captured_payload_in(fixture, folder);
    let call = env.hook_call(event, payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", folder);
    call.run().assert_silent(fixture);
    payload
}

#[test]
fn a_worktree_names_the_root_of_its_main_checkout() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    let main = project_identity(&status_in(&env, &env.project_folder()));
    for tree in add_worktrees(&env) {
        assert!(!tree.join(".agent").exists(), "a private store is not checked out");
        for folder in [tree.clone(), tree.join("a/b")] {
            let status = status_in(&env, &folder);
            assert_eq!(project_identity(&status), main, "{}", folder.display());
            assert_eq!(status["worktree"], tree.to_str().unwrap());
            assert_eq!(status["trusted"], true);
        }
    }
}

#[test]
fn a_worktree_with_a_checked_out_marker_names_the_root_of_its_main_checkout() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init", "--shared"]).assert_ok();
    commit_store(&env);
    let main = project_identity(&status_in(&env, &env.project_folder()));
    for tree in add_worktrees(&env) {
        assert!(tree.join(".agent/context/root.json").exists(), "the marker is in git");
        assert_eq!(project_identity(&status_in(&env, &tree.join("a/b"))), main, "{}", tree.display());
    }
}

#[test]
fn a_worktree_with_the_marker_of_another_project_is_its_own_root() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init", "--shared"]).assert_ok();
    commit_store(&env);
    for tree in add_worktrees(&env) {
        let marker = tree.join(".agent/context/root.json");
        let mut fields: Value = serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
        let other = "0199f0a2-1111-7abc-8def-0123456789ab";
        fields["project_id"] = other.into();
        fs::write(&marker, fields.to_string()).unwrap();
        let status = status_in(&env, &tree.join("a/b"));
        assert_eq!(project_identity(&status), (tree.to_str().unwrap().to_owned(), other.to_owned()));
        assert_eq!(status["trusted"], false, "nobody vouched for that one");
    }
}

#[test]
fn removing_a_worktree_loses_nothing() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for tree in add_worktrees(&env) {
        let payload = fire_hook_in(&env, &tree, "PostToolUse.Edit", "PostToolUse");
        let line = env.read_journal(payload["session_id"].as_str().unwrap()).pop().unwrap();
        assert_eq!(line["worktree"], tree.to_str().unwrap());
        assert_eq!(line["files"][0]["path"], "new.txt");
        assert!(!tree.join(".agent").exists(), "nothing is kept in the worktree");
        let before = crate::tree::FileTree::read_folder(&env.store_folder());
        env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
        before.assert_unchanged(&crate::tree::FileTree::read_folder(&env.store_folder()), "after removal");
    }
    assert_eq!(env.count_journal_lines(), 2);
    fire_hook_in(&env, &env.project_folder(), "PostToolUse.Edit", "PostToolUse");
    assert_eq!(env.count_journal_lines(), 3, "and the journal goes on");
}

#[test]
fn a_session_in_a_worktree_leaves_its_checked_out_marker_alone() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init", "--shared"]).assert_ok();
    commit_store(&env);
    let [tree, _] = add_worktrees(&env);
    let payload = fire_hook_in(&env, &tree, "SessionStart.startup", "SessionStart");
    assert_eq!(env.run_git_in(&tree, &["status", "--porcelain"]), "");
    assert_eq!(env.read_log("indexes/sessions.jsonl")[0]["worktree"], tree.to_str().unwrap());
    assert_eq!(env.read_log("indexes/sessions.jsonl")[0]["session"], payload["session_id"]);
}

#[test]
fn a_session_that_enters_a_worktree_says_so_in_its_journal() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for tree in add_worktrees(&env) {
        // The harness's project folder is still the folder in which the session started. Only `cwd` has changed.
        let payload = env.captured_payload_in("PostToolUse.Edit", &tree);
        env.fire_hook("PostToolUse", &payload).assert_silent("in the worktree");
        let line = env.read_journal(payload["session_id"].as_str().unwrap()).pop().unwrap();
        assert_eq!(line["worktree"], tree.to_str().unwrap(), "{line}");
        assert_eq!(line["files"][0]["path"], "new.txt", "{line}");
    }
}

#[test]
fn init_in_a_worktree_makes_the_root_in_the_main_checkout() {
    let env = TestEnv::with_repository();
    let [tree, _] = add_worktrees(&env);
    let report = env.thru_call(&["init", "--json"]).in_folder(&tree).run().assert_ok().json();
    assert_eq!(report["root"], env.project_folder().to_str().unwrap());
    assert!(env.store_folder().join("root.json").exists() && !tree.join(".agent").exists());
}

/// Claude Code runs the hooks of the main checkout's local settings in every worktree (see `e2e::install_tests`).
#[test]
fn a_worktree_that_was_added_later_is_wired_as_its_harness_has_it() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for harness in ["claude-code", "opencode"] {
        env.run_thru(&["install", harness, "--local"]).assert_ok();
    }
    let [tree, inside] = add_worktrees(&env);
    let settings = env.project_folder().join(".claude/settings.local.json");
    for tree in [&tree, &inside] {
        assert_eq!(status_in(&env, tree)["wired"], serde_json::json!(["claude-code"]), "{}", tree.display());
        let doctor = env.thru_call(&["doctor"]).in_folder(tree).run().assert_ok().stdout;
        assert!(doctor.contains(&format!("hooks in {} (10)", settings.display())), "{doctor}");
        assert!(!doctor.contains("(plugin "), "the plugin is in the main checkout only: {doctor}");
    }
    let installed = env.thru_call(&["install", "claude-code"]).in_folder(&tree).run().assert_ok();
    assert!(installed.stderr.contains("runs the hooks of the main checkout"), "{installed}");
    let installed = env.thru_call(&["install", "opencode"]).in_folder(&tree).run().assert_ok();
    assert!(installed.stderr.contains("run `thru init` in each worktree that you add later"), "{installed}");
    assert_eq!(status_in(&env, &tree)["wired"], serde_json::json!(["claude-code", "opencode"]));
    let doctor = env.thru_call(&["doctor"]).in_folder(&tree).run().assert_ok().stdout;
    assert!(!doctor.contains("wired more than once"), "the harness runs equal hooks once: {doctor}");
    env.run_thru(&["uninstall", "claude-code"]).assert_ok();
    assert_eq!(status_in(&env, &inside)["wired"], serde_json::json!(["opencode"]));
}

#[test]
fn a_folder_that_only_claims_to_be_a_worktree_does_not_write_into_a_trusted_root() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    // An archive could contain a folder like this one. It points to the repository, but the repository does not list it
    // as a worktree.
    env.write_file("hostile/.git", "gitdir: gitdir\n");
    env.write_file("hostile/gitdir/commondir", format!("{}\n", env.project_folder().join(".git").display()));
    let before = env.file_tree();
    fire_hook_in(&env, &env.base_folder().join("hostile"), "UserPromptSubmit", "UserPromptSubmit");
    before.assert_unchanged(&env.file_tree(), "a false worktree");
}
