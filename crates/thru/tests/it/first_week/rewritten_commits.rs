//! Tests what `thru` says about stashes and about commits that were rebased or reset. The tests really run the git
//! commands, because `thru` trusts git's own files more than the recorded commands.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, thru_at};
use super::*;

/// Runs a command in the project and reports it to the hooks with its output.
fn do_at(env: &TestEnv, time: &str, session: &str, command: &str) -> String {
    let script = format!("alias.run=!exec 2>&1; export GIT_COMMITTER_DATE=2026-11-15T{time}Z; {command}");
    let output = env.run_git(&["-c", &script, "run"]);
    run_at(env, time, session, command, &output);
    output
}

/// Writes a file and reports the edit to the hooks.
fn write_at(env: &TestEnv, time: &str, session: &str, path: &str, text: &str) {
    env.write_file(format!("project/{path}"), text);
    edit_at(env, time, session, path);
}

fn brief(env: &TestEnv) -> String {
    env.run_thru(&["brief"]).assert_ok().stdout
}

fn startup_brief(env: &TestEnv) -> String {
    env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout
}

fn short_id(env: &TestEnv, commit: &str) -> String {
    env.run_git(&["rev-parse", "--short=7", commit]).trim().to_owned()
}

/// Creates a repository in which session `s1` has committed a change to `calc.py`. The remote has one commit that the
/// repository does not have.
fn env_with_commit() -> TestEnv {
    let env = repository_with_files(&["calc.py", "more.py"]);
    let origin = env.base_folder().join("origin.git");
    let other = env.base_folder().join("other");
    env.run_git(&["clone", "--quiet", "--bare", ".", origin.to_str().unwrap()]);
    env.run_git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    env.run_git(&["fetch", "--quiet", "origin"]);
    env.run_git(&["branch", "--quiet", "--set-upstream-to=origin/main"]);
    env.run_git(&["clone", "--quiet", origin.to_str().unwrap(), other.to_str().unwrap()]);
    env.run_git_in(&other, &["commit", "--quiet", "--allow-empty", "-m", "Other"]);
    env.run_git_in(&other, &["push", "--quiet"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Swap the operands in calc.py and commit.");
    write_at(&env, "19:00:02", "s1", "calc.py", "swapped\n");
    do_at(&env, "19:00:03", "s1", "git commit -am Swap");
    env
}

#[test]
fn a_commit_that_a_rebase_replaced_is_named_by_its_new_id() {
    for command in
        ["git pull --rebase && git push", "git pull --rebase -q && git push -q", "git pull --rebase -q"]
    {
        let env = env_with_commit();
        let old = short_id(&env, "HEAD");
        do_at(&env, "19:00:04", "s1", command);
        let new = short_id(&env, "HEAD");
        let told = brief(&env);
        assert!(!told.contains(&old) && !told.contains("moved outside"), "{told}");
        assert!(told.contains(&format!("commit {new} on main “Swap”")), "{told}");
        let pushed = if command.contains("push") { ", pushed" } else { "" };
        assert!(told.contains(&format!("Git: branch main; last commit {new}{pushed}\n")), "{told}");
        assert_eq!(told.contains("not pushed"), pushed.is_empty(), "{told}");
        assert!(!startup_brief(&env).contains(&old), "{told}");
    }
}

#[test]
fn a_merged_and_deleted_branch_leaves_one_merge_commit() {
    let env = repository_with_files(&["calc.py"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Swap the operands in calc.py on a branch and merge it.");
    do_at(&env, "19:00:02", "s1", "git checkout -b swap");
    write_at(&env, "19:00:03", "s1", "calc.py", "swapped\n");
    do_at(&env, "19:00:04", "s1", "git commit -am Swap");
    do_at(
        &env,
        "19:00:05",
        "s1",
        "git checkout main && git merge --no-ff --no-edit swap && git branch -d swap",
    );
    let told = brief(&env);
    assert!(!told.contains("2 branches") && !told.contains("moved outside"), "{told}");
    assert!(!told.contains("last commit by the session “swap”"), "{told}");
    assert!(!told.contains("At risk"), "{told}");
}

#[test]
fn a_pushed_commit_that_was_amended_is_not_called_pushed() {
    let env = repository_with_files(&["calc.py"]);
    let origin = env.base_folder().join("origin.git");
    env.run_git(&["clone", "--quiet", "--bare", ".", origin.to_str().unwrap()]);
    env.run_git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Swap the operands in calc.py and commit.");
    write_at(&env, "19:00:02", "s1", "calc.py", "swapped\n");
    do_at(&env, "19:00:03", "s1", "git commit -am Swap && git push -u origin main");
    let old = short_id(&env, "HEAD");
    assert!(brief(&env).contains(&format!("last commit {old}, pushed")), "{}", brief(&env));
    // The user amends the commit in another terminal.
    env.run_git(&["commit", "--quiet", "--amend", "-m", "Exchange"]);
    let (told, new) = (brief(&env), short_id(&env, "HEAD"));
    assert!(!told.contains(&format!("commit {old}")) && !told.contains(", pushed"), "{told}");
    assert!(told.contains(&format!("commit {new} on main “Exchange”")), "{told}");
    assert!(told.contains(&format!("commit {new} is not pushed")), "{told}");
}

#[test]
fn a_commit_that_was_undone_is_not_the_last_and_its_file_is_at_risk() {
    for (command, by_user) in
        [("git reset --soft HEAD~1", false), ("git reset HEAD~1", false), ("git reset HEAD~1", true)]
    {
        let env = env_with_commit();
        let old = short_id(&env, "HEAD");
        if by_user {
            env.run_git(&["reset", "--quiet", "HEAD~1"]);
        } else {
            do_at(&env, "19:00:04", "s1", command);
        }
        for told in [brief(&env), startup_brief(&env)] {
            let rest = told.replace(&format!("Git: commits since removed by a reset: {old}"), "");
            assert!(!rest.contains(&old), "{command}: {told}");
            assert!(told.contains("At risk:\n- 1 file edited by"), "{command}: {told}");
            assert!(told.contains(": calc.py\n"), "{command}: {told}");
        }
        // The change is committed again.
        do_at(&env, "19:00:05", "s1", "git commit -qam 'Swap again' && git log --oneline -1");
        let told = brief(&env);
        assert!(!told.contains("1 file edited by"), "{command}: {told}");
    }
    // The user commits the change in another terminal.
    let env = env_with_commit();
    do_at(&env, "19:00:04", "s1", "git reset --soft HEAD~1");
    env.run_git(&["commit", "--quiet", "-m", "Swap again"]);
    assert!(!brief(&env).contains("1 file edited by"), "{}", brief(&env));
    // Nothing is left to commit after a hard reset.
    let env = env_with_commit();
    env.run_git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert!(!brief(&env).contains("At risk"), "{}", brief(&env));
}

/// A session that edited two files and stashed one of them.
fn env_with_stash(command: &str) -> TestEnv {
    let env = repository_with_files(&["calc.py", "more.py"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Swap the operands in calc.py and more.py.");
    write_at(&env, "19:00:02", "s1", "calc.py", "swapped\n");
    write_at(&env, "19:00:03", "s1", "more.py", "more\n");
    do_at(&env, "19:00:04", "s1", command);
    env
}

#[test]
fn only_the_files_that_a_stash_command_names_are_in_the_stash() {
    for command in
        ["git stash push -- calc.py", "git stash push -q -m 'one file' calc.py", "git stash -- ./calc.py"]
    {
        let env = env_with_stash(command);
        let told = brief(&env);
        assert!(told.contains("- 1 file in a stash, not in any commit: calc.py\n"), "{command}: {told}");
        assert!(told.contains(", not committed: more.py\n"), "{command}: {told}");
    }
    // Only git knows what this stash contains.
    let env = env_with_stash("git add calc.py && git stash push --staged");
    let told = brief(&env);
    assert!(!told.contains("in a stash"), "{told}");
    assert!(told.contains(", not committed: more.py\n"), "{told}");
    // Thrown away, not stashed.
    let env = env_with_stash("git stash push -- calc.py && git checkout -- more.py");
    let told = brief(&env);
    assert!(told.contains("- 1 file in a stash, not in any commit: calc.py\n"), "{told}");
    assert!(!told.contains("not committed"), "{told}");
}

#[test]
fn a_stash_that_a_later_session_applied_is_no_stash() {
    for (stash, end, at_risk) in [
        ("git stash push -- calc.py", "git stash pop", Some("calc.py, more.py")),
        ("git stash", "git stash pop -q", Some("calc.py, more.py")),
        ("git stash", "git stash apply", Some("calc.py, more.py")),
        ("git stash", "git stash drop", None),
    ] {
        let env = env_with_stash(stash);
        end_at(&env, "19:00:05", "s1");
        start_at(&env, "19:01:00", "s2");
        ask_at(&env, "19:01:01", "s2", "Look at the stash.");
        do_at(&env, "19:01:02", "s2", end);
        let is_told = |told: &str| {
            let names = |list: &str| told.contains(&format!("committed: {list}\n"));
            match at_risk {
                Some("calc.py, more.py") => names("calc.py, more.py") || names("more.py, calc.py"),
                _ => !told.contains("ot committed"),
            }
        };
        let told = startup_brief(&env);
        assert!(is_told(&told) && !told.contains("in a stash"), "{stash}, {end}: {told}");
        thru_at(&env, "19:01:03", "s1", &["handoff", "swap", "--session", "s1"]);
        let told = env.run_thru(&["pickup"]).assert_ok().stdout;
        assert!(is_told(&told) && !told.contains("in a stash"), "{stash}, {end}: {told}");
    }
}
