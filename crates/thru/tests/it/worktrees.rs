//! A git worktree uses the root of its main checkout. Records that were written from a worktree outlive it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::env::TestEnv;
use crate::roots::{identity, status_in};

/// Adds one worktree next to the main checkout and one inside it.
fn worktrees(env: &TestEnv) -> [PathBuf; 2] {
    let trees = [env.base().join("beside"), env.project().join("trees/inside")];
    for tree in &trees {
        env.git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap()]);
        fs::create_dir_all(tree.join("a/b")).unwrap();
    }
    trees
}

fn commit_store(env: &TestEnv) {
    env.git(&["add", ".agent"]);
    env.git(&["commit", "--quiet", "--message", "records"]);
}

fn hook_from(env: &TestEnv, folder: &Path, fixture: &str, event: &str) -> Value {
    let payload = env.fixture_in(fixture, folder);
    let call = env.hook_call(event, payload.to_string()).var("CLAUDE_PROJECT_DIR", folder);
    call.run().silent(fixture);
    payload
}

#[test]
fn a_worktree_names_the_root_of_its_main_checkout() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    let main = identity(&status_in(&env, &env.project()));
    for tree in worktrees(&env) {
        assert!(!tree.join(".agent").exists(), "a private store is not checked out");
        for folder in [tree.clone(), tree.join("a/b")] {
            let status = status_in(&env, &folder);
            assert_eq!(identity(&status), main, "{}", folder.display());
            assert_eq!(status["worktree"], tree.to_str().unwrap());
            assert_eq!(status["trusted"], true);
        }
    }
}

#[test]
fn so_does_a_worktree_that_has_the_marker_checked_out() {
    let env = TestEnv::repository();
    env.thru(&["init", "--shared"]).ok();
    commit_store(&env);
    let main = identity(&status_in(&env, &env.project()));
    for tree in worktrees(&env) {
        assert!(tree.join(".agent/context/root.json").exists(), "the marker is in git");
        assert_eq!(identity(&status_in(&env, &tree.join("a/b"))), main, "{}", tree.display());
    }
}

#[test]
fn a_worktree_with_the_marker_of_another_project_is_its_own_root() {
    let env = TestEnv::repository();
    env.thru(&["init", "--shared"]).ok();
    commit_store(&env);
    for tree in worktrees(&env) {
        let marker = tree.join(".agent/context/root.json");
        let mut fields: Value = serde_json::from_slice(&fs::read(&marker).unwrap()).unwrap();
        let other = "0199f0a2-1111-7abc-8def-0123456789ab";
        fields["project_id"] = other.into();
        fs::write(&marker, fields.to_string()).unwrap();
        let status = status_in(&env, &tree.join("a/b"));
        assert_eq!(identity(&status), (tree.to_str().unwrap().to_owned(), other.to_owned()));
        assert_eq!(status["trusted"], false, "nobody vouched for that one");
    }
}

#[test]
fn removing_a_worktree_loses_nothing() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    for tree in worktrees(&env) {
        let payload = hook_from(&env, &tree, "PostToolUse.Edit", "PostToolUse");
        let line = env.journal(payload["session_id"].as_str().unwrap()).pop().unwrap();
        assert_eq!(line["worktree"], tree.to_str().unwrap());
        assert_eq!(line["files"][0]["path"], "new.txt");
        assert!(!tree.join(".agent").exists(), "nothing is kept in the worktree");
        let before = crate::tree::Tree::of(&env.store());
        env.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
        before.assert_same(&crate::tree::Tree::of(&env.store()), "after removal");
    }
    assert_eq!(env.journal_lines(), 2);
    hook_from(&env, &env.project(), "PostToolUse.Edit", "PostToolUse");
    assert_eq!(env.journal_lines(), 3, "and the journal goes on");
}

#[test]
fn a_session_in_a_worktree_leaves_its_checked_out_marker_alone() {
    let env = TestEnv::repository();
    env.thru(&["init", "--shared"]).ok();
    commit_store(&env);
    let [tree, _] = worktrees(&env);
    let payload = hook_from(&env, &tree, "SessionStart.startup", "SessionStart");
    assert_eq!(env.git_in(&tree, &["status", "--porcelain"]), "");
    assert_eq!(env.log("indexes/sessions.jsonl")[0]["worktree"], tree.to_str().unwrap());
    assert_eq!(env.log("indexes/sessions.jsonl")[0]["session"], payload["session_id"]);
}

#[test]
fn a_session_that_enters_a_worktree_says_so_in_its_journal() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    for tree in worktrees(&env) {
        // The harness's project folder is still the folder where the session began. Only `cwd` has moved.
        let payload = env.fixture_in("PostToolUse.Edit", &tree);
        env.hook("PostToolUse", &payload).silent("in the worktree");
        let line = env.journal(payload["session_id"].as_str().unwrap()).pop().unwrap();
        assert_eq!(line["worktree"], tree.to_str().unwrap(), "{line}");
        assert_eq!(line["files"][0]["path"], "new.txt", "{line}");
    }
}

#[test]
fn init_in_a_worktree_makes_the_root_in_the_main_checkout() {
    let env = TestEnv::repository();
    let [tree, _] = worktrees(&env);
    let report = env.call(&["init", "--json"]).dir(&tree).run().ok().json();
    assert_eq!(report["root"], env.project().to_str().unwrap());
    assert!(env.store().join("root.json").exists() && !tree.join(".agent").exists());
}

/// Claude Code runs the hooks of the main checkout's local settings in every worktree (`e2e::install_tests` shows it).
#[test]
fn a_worktree_that_was_added_later_is_wired_as_its_harness_has_it() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    for harness in ["claude-code", "opencode"] {
        env.thru(&["install", harness, "--local"]).ok();
    }
    let [tree, inside] = worktrees(&env);
    let settings = env.project().join(".claude/settings.local.json");
    for tree in [&tree, &inside] {
        assert_eq!(status_in(&env, tree)["wired"], serde_json::json!(["claude-code"]), "{}", tree.display());
        let doctor = env.call(&["doctor"]).dir(tree).run().ok().stdout;
        assert!(doctor.contains(&format!("hooks in {} (10)", settings.display())), "{doctor}");
        assert!(!doctor.contains("(plugin "), "the plugin is in the main checkout only: {doctor}");
    }
    let installed = env.call(&["install", "claude-code"]).dir(&tree).run().ok();
    assert!(installed.stderr.contains("runs the hooks of the main checkout"), "{installed}");
    let installed = env.call(&["install", "opencode"]).dir(&tree).run().ok();
    assert!(installed.stderr.contains("run `thru init` in one that you add later"), "{installed}");
    assert_eq!(status_in(&env, &tree)["wired"], serde_json::json!(["claude-code", "opencode"]));
    let doctor = env.call(&["doctor"]).dir(&tree).run().ok().stdout;
    assert!(!doctor.contains("wired more than once"), "the harness runs equal hooks once: {doctor}");
    env.thru(&["uninstall", "claude-code"]).ok();
    assert_eq!(status_in(&env, &inside)["wired"], serde_json::json!(["opencode"]));
}

#[test]
fn a_folder_that_only_claims_to_be_a_worktree_does_not_write_into_a_trusted_root() {
    let env = TestEnv::repository();
    env.thru(&["init"]).ok();
    // An archive could contain such a folder. It points to the repository, but the repository does not list it as a
    // worktree.
    env.write("hostile/.git", "gitdir: gitdir\n");
    env.write("hostile/gitdir/commondir", format!("{}\n", env.project().join(".git").display()));
    let before = env.tree();
    hook_from(&env, &env.base().join("hostile"), "UserPromptSubmit", "UserPromptSubmit");
    before.assert_same(&env.tree(), "a false worktree");
}
