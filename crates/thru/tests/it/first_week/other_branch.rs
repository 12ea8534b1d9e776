//! Tests what is said about work on a branch other than the one that is checked out.

use std::path::{Path, PathBuf};

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::*;

/// A session that committed `rounding.py` on the branch `round` and handed off. Afterwards, `main` is checked out.
fn env_with_commit_on_branch() -> TestEnv {
    let env = repository_with_files(&["README.md"]);
    let origin = env.base_folder().join("origin.git");
    env.run_git(&["clone", "--quiet", "--bare", ".", origin.to_str().unwrap()]);
    env.run_git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    env.run_git(&["fetch", "--quiet", "origin"]);
    env.run_git(&["checkout", "--quiet", "-b", "round"]);
    work_and_hand_off(&env);
    env.run_git(&["checkout", "--quiet", "main"]);
    env
}

fn work_and_hand_off(env: &TestEnv) {
    start_at(env, "19:00:00", "s1");
    ask_at(env, "19:00:01", "s1", "Add to_five(cents) to rounding.py, commit, then hand off.");
    env.write_file("project/rounding.py", "def to_five(cents):\n    return cents\n");
    edit_at(env, "19:00:02", "s1", "rounding.py");
    env.run_git(&["add", "rounding.py"]);
    env.run_git(&["commit", "-qm", "Round to five cents"]);
    let line = env.run_git(&["log", "--oneline", "-1"]);
    run_at(
        env,
        "19:00:03",
        "s1",
        "git add -A && git commit -qm 'Round to five cents' && git log --oneline -1",
        &line,
    );
    thru_at(env, "19:00:04", "s1", &["handoff", "get rid of the float in to_five"]);
    stop_at(env, "19:00:05", "s1", "Handed off.");
    end_at(env, "19:00:06", "s1");
}

#[test]
fn a_pickup_on_another_branch_says_where_the_files_are() {
    let env = env_with_commit_on_branch();
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!at.contains("gone"), "{at}");
    assert!(at.contains("on branch round, not on main"), "{at}");
    let first = "First: `git switch round`.";
    let place = at.find(first).unwrap_or_else(|| panic!("{at}"));
    assert!(place < at.find("Goal:").unwrap(), "{at}");

    // The branch is checked out in another worktree, so git refuses to switch to it here.
    let tree = env.base_folder().join("beside");
    env.run_git(&["worktree", "add", "--quiet", tree.to_str().unwrap(), "round"]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(at.contains(&format!("First: `cd {}`.", tree.display())), "{at}");
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);

    // The branch is gone, but its commit is still there.
    env.run_git(&["branch", "--quiet", "-D", "round"]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!at.contains("git switch") && !at.contains("rounding.py`: gone"), "{at}");
    assert!(at.contains("in commit ") && at.contains(", not on main"), "{at}");
}

#[test]
fn a_pickup_after_a_merge_does_not_lead_away() {
    let env = env_with_commit_on_branch();
    env.run_git(&["merge", "--quiet", "round"]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!at.contains("git switch") && !at.contains("not on main"), "{at}");
    env.run_git(&["rm", "--quiet", "rounding.py"]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(at.contains("`rounding.py`: gone"), "{at}");
}

/// Creates a repository with the worktree `tips`, in which `tips.py` is not committed.
fn env_with_worktree() -> (TestEnv, PathBuf) {
    let env = repository_with_files(&["README.md"]);
    let tree = env.base_folder().join("tips");
    env.run_git(&["worktree", "add", "--quiet", "-b", "tips", tree.to_str().unwrap()]);
    fs::write(tree.join("tips.py"), "a\n").unwrap();
    (env, tree)
}

fn commit_in(env: &TestEnv, tree: &Path) {
    env.run_git_in(tree, &["add", "-A", "tips.py"]);
    env.run_git_in(tree, &["commit", "-qm", "Tips"]);
}

/// Writes a packet of a session that edited `tips.py` in the worktree.
fn hand_off_in(env: &TestEnv, tree: &Path) {
    let edit = json!({"file_path": tree.join("tips.py"), "old_string": "a", "new_string": "b"});
    for (event, more) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Add tips.py with the usual tips"})),
        ("PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "e", "tool_input": edit})),
        ("Stop", json!({"last_assistant_message": "tips.py is there."})),
    ] {
        let payload = crate::env::merge_fields(&env.event_payload("s2", event, more), json!({"cwd": tree}));
        let call = env.hook_call(event, payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", tree);
        call.run().assert_ok();
    }
    let call = env.thru_call(&["handoff", "add the tips"]).in_folder(tree);
    call.with_variable("CLAUDE_CODE_SESSION_ID", "s2").run().assert_ok();
}

#[test]
fn a_pickup_after_the_worktree_was_removed_names_its_branch() {
    let (env, tree) = env_with_worktree();
    commit_in(&env, &tree);
    hand_off_in(&env, &tree);
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!at.contains("`tips.py`: gone"), "{at}");
    assert!(at.contains("on branch tips, not on main") && at.contains("First: `git switch tips`."), "{at}");
}

#[test]
fn work_that_was_committed_in_another_worktree_is_not_called_uncommitted() {
    let (env, tree) = env_with_worktree();
    hand_off_in(&env, &tree);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(at.contains("not committed: tips.py"), "{at}");
    commit_in(&env, &tree);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!at.contains("not committed"), "{at}");
}

#[test]
fn a_session_start_names_the_branch_of_the_last_commits() {
    let env = env_with_commit_on_branch();
    let commit = env.run_git(&["rev-parse", "--short", "round"]).trim().to_owned();
    let head = env.run_git(&["rev-parse", "main"])[..10].to_owned();
    let told = start_at(&env, "20:00:00", "s2");
    let on_branch = format!("the session's last commit {commit} is on branch round");
    assert!(told.contains(&format!("- Git: branch main; HEAD {head}; {on_branch}, not on main\n")), "{told}");
    assert!(told.contains(&format!("- commit {commit} on round “Round to five cents”")), "{told}");
    assert!(told.contains(&format!("- commit {commit} on branch round is not pushed\n")), "{told}");
    assert!(!told.contains("moved outside"), "{told}");

    // After another commit on main, it is not known which commits main contains.
    env.write_file("project/README.md", "new\n");
    env.run_git(&["commit", "-qam", "Two"]);
    let told = start_at(&env, "20:01:00", "s3");
    assert!(told.contains(&format!("; {on_branch}\n")), "{told}");

    env.run_git(&["merge", "--quiet", "-m", "Merge branch 'round'", "round"]);
    let told = start_at(&env, "20:02:00", "s4");
    assert!(told.contains(&format!("; {on_branch}, which has been merged since\n")), "{told}");
}

#[test]
fn a_brief_in_a_new_worktree_names_its_own_branch() {
    let env = repository_with_files(&["README.md"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Which functions do we have?");
    stop_at(&env, "19:00:02", "s1", "split_even and split_weighted.");
    end_at(&env, "19:00:03", "s1");
    let tree = env.base_folder().join("beside");
    env.run_git(&["worktree", "add", "--quiet", "-b", "tips", tree.to_str().unwrap()]);
    let call = env.thru_call(&["brief", "--event", "startup"]).in_folder(&tree);
    let told = call.run().assert_ok().stdout;
    assert!(told.contains("- branch tips is checked out here; that session was in the worktree "), "{told}");
    assert!(told.contains("- Git in that worktree: branch main; HEAD "), "{told}");
    assert!(!told.contains("- Git: branch main"), "{told}");
}

#[test]
fn a_pickup_on_a_branch_that_contains_the_packet_does_not_lead_to_the_base_branch() {
    let env = repository_with_files(&["README.md", "tips.py"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Move the tips from tips.py to rounding.py.");
    edit_at(&env, "19:00:02", "s1", "tips.py");
    env.write_file("project/rounding.py", "def to_five(cents):\n    return cents\n");
    edit_at(&env, "19:00:03", "s1", "rounding.py");
    thru_at(&env, "19:00:04", "s1", &["handoff", "delete tips.py"]);
    end_at(&env, "19:00:05", "s1");
    env.run_git(&["checkout", "--quiet", "-b", "topic"]);
    env.run_git(&["rm", "--quiet", "tips.py"]);
    env.run_git(&["commit", "-qm", "Delete the tips"]);
    env.run_git(&["checkout", "--quiet", "main"]);
    env.write_file("project/README.md", "new\n");
    env.run_git(&["commit", "-qam", "Two"]);
    env.run_git(&["checkout", "--quiet", "topic"]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!at.contains("git switch") && !at.contains("not on topic"), "{at}");
    assert!(at.contains("`tips.py`: gone"), "{at}");

    // The packet's other file was committed on main after the handoff.
    env.run_git(&["checkout", "--quiet", "main"]);
    env.run_git(&["add", "rounding.py"]);
    env.run_git(&["commit", "-qm", "Round to five cents"]);
    env.run_git(&["checkout", "--quiet", "topic"]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(at.contains("on branch main, not on topic") && at.contains("First: `git switch main`."), "{at}");
    assert!(at.contains("`tips.py`: gone"), "{at}");
}

#[test]
fn a_commit_that_was_merged_on_the_forge_is_not_reported_as_unpushed() {
    let env = env_with_commit_on_branch();
    let forge = env.base_folder().join("forge");
    env.run_git(&["push", "--quiet", "origin", "round"]);
    env.run_git(&["clone", "--quiet", "../origin.git", forge.to_str().unwrap()]);
    env.run_git_in(&forge, &["merge", "--quiet", "--no-ff", "-m", "Merge pull request #1", "origin/round"]);
    env.run_git_in(&forge, &["push", "--quiet", "origin", "main"]);
    env.run_git_in(&forge, &["push", "--quiet", "origin", "--delete", "round"]);
    env.run_git(&["branch", "--quiet", "--set-upstream-to=origin/main", "main"]);
    env.run_git(&["pull", "--quiet", "--prune"]);
    // The times in git's reflog are whole seconds.
    let fetched =
        fs::File::options().append(true).open(env.project_folder().join(".git/FETCH_HEAD")).unwrap();
    fetched.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(2)).unwrap();
    let told = start_at(&env, "20:00:00", "s2");
    assert!(told.contains(" is on branch round\n"), "{told}");
    assert!(!told.contains("not pushed"), "{told}");
}

#[test]
fn of_several_commits_with_one_subject_the_last_one_is_named() {
    let env = repository_with_files(&["README.md"]);
    env.run_git(&["checkout", "--quiet", "-b", "round"]);
    let commit_at = |time: &str| {
        env.write_file("project/README.md", format!("{time}\n"));
        let commit = format!("alias.commit-at=!GIT_COMMITTER_DATE=2026-11-15T{time}Z git commit -qam wip");
        env.run_git(&["-c", &commit, "commit-at"]);
    };
    commit_at("18:00:00");
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Shorten README.md and commit.");
    run_at(&env, "19:00:01", "s1", "git switch round", "Switched to branch 'round'");
    for (edited, committed) in [("19:00:02", "19:00:03"), ("19:00:04", "19:00:05")] {
        edit_at(&env, edited, "s1", "README.md");
        commit_at(committed);
        run_at(&env, committed, "s1", "git commit -qam wip", "");
    }
    end_at(&env, "19:00:06", "s1");
    let commit = env.run_git(&["rev-parse", "round"])[..7].to_owned();
    env.run_git(&["checkout", "--quiet", "main"]);
    let told = start_at(&env, "20:00:00", "s2");
    assert!(told.contains(&format!("the session's last commit {commit} is on branch round")), "{told}");
}
