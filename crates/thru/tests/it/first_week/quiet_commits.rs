//! Tests for commits that printed nothing and were followed by a failed command on the same line.

use std::path::Path;

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, fire_at, run_at, start_at, thru_at};
use super::*;

const PUSH_ERROR: &str =
    "fatal: 'origin' does not appear to be a git repository\nfatal: Could not read from remote repository.";

fn fail_at(env: &TestEnv, time: &str, session: &str, command: &str, output: &str) {
    let call = json!({"tool_name": "Bash", "tool_use_id": format!("{session}-{time}"),
        "tool_input": {"command": command}, "error": format!("Exit code 128\n{output}")});
    fire_at(env, time, session, "PostToolUseFailure", call);
}

/// Commits all changes in `folder`. `time` is a time of day on the test day.
fn commit_all_at(env: &TestEnv, folder: &Path, time: &str, arguments: &str) {
    env.run_git_in(folder, &["add", "-A"]);
    let alias =
        format!("alias.commit-at=!GIT_COMMITTER_DATE=2026-11-15T{time}Z git commit --quiet {arguments}");
    env.run_git_in(folder, &["-c", &alias, "commit-at"]);
}

/// Creates a repository in which a session edited `lib.py` on the branch `json`.
fn env_with_edit() -> TestEnv {
    let env = repository_with_files(&["lib.py", "README.md"]);
    env.run_git(&["switch", "--quiet", "-c", "json"]);
    commit_all_at(&env, &env.project_folder(), "18:00:00", "--allow-empty -m Before");
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Start on --json in lib.py, commit and push.");
    env.write_file("project/lib.py", "def to_json(): pass\n");
    edit_at(&env, "19:00:02", "s1", "lib.py");
    env
}

fn short_head(env: &TestEnv) -> String {
    env.run_git(&["rev-parse", "HEAD"])[..7].to_owned()
}

fn brief_at(env: &TestEnv, time: &str) -> String {
    thru_at(env, time, "s1", &["brief", "--session", "s1"]).stdout
}

fn packet_at(env: &TestEnv, time: &str) -> String {
    thru_at(env, time, "s1", &["handoff", "push the branch"]);
    env.run_thru(&["pickup"]).assert_ok().stdout
}

#[test]
fn a_quiet_commit_before_a_failed_push_is_the_commit_of_the_session() {
    let line = "git add -A && git commit -qm 'Start on --json' && git push origin HEAD";
    for (arguments, line) in [
        ("-m 'Start on --json'", line),
        ("-m 'Start on --json'", "git add -A; git commit -q -m 'Start on --json'; git push origin HEAD"),
        ("-m 'Start on --json'", "git add -A && git commit -q -F msg.txt && git push origin HEAD"),
        (
            "-m 'Start on --json'",
            "git commit -qam \"$(cat <<'E'\nStart on --json\n\nMore.\nE\n)\" && git push",
        ),
        ("--amend -m 'Start on --json'", "git add -A && git commit -q --amend --no-edit && git push -q"),
    ] {
        let env = env_with_edit();
        commit_all_at(&env, &env.project_folder(), "19:00:04", arguments);
        fail_at(&env, "19:00:05", "s1", line, PUSH_ERROR);
        let (told, id) = (brief_at(&env, "19:00:06"), short_head(&env));
        assert!(!told.contains("edited by the session"), "{line}\n{told}");
        assert!(!told.contains("moved outside"), "{line}\n{told}");
        assert!(told.contains(&format!("last commit {id}")), "{line}\n{told}");
        assert!(told.contains(&format!("{id} “Start on --json”")), "{line}\n{told}");
        let packet = packet_at(&env, "19:00:07");
        assert!(packet.contains(&id), "{line}\n{packet}");
        let begin = packet.lines().find(|line| line.starts_with("Begin with")).unwrap_or_default();
        assert!(!begin.contains("git commit") && !begin.contains("git add"), "{line}\n{packet}");
        assert!(begin.is_empty() || begin.contains("`git push"), "{line}\n{packet}");
    }
}

#[test]
fn a_later_push_shows_that_the_failed_one_is_made_good() {
    for line in ["git add -A && git commit -qm one && git push", "git commit -am one && git push"] {
        let env = env_with_edit();
        commit_all_at(&env, &env.project_folder(), "19:00:04", "-m one");
        let id = short_head(&env);
        let said = if line.contains("-q") { String::new() } else { format!("[json {id}] one\n") };
        fail_at(&env, "19:00:05", "s1", line, &format!("{said}{PUSH_ERROR}"));
        assert!(brief_at(&env, "19:00:06").contains("- `git push` (exit 128"), "{line}");
        env.run_git(&["remote", "add", "origin", "/o.git"]);
        env.run_git(&["update-ref", "refs/remotes/origin/json", "HEAD"]);
        run_at(&env, "19:00:07", "s1", "git push", "To /o.git\n * [new branch]      json -> json\n");
        let told = brief_at(&env, "19:00:08");
        assert!(!told.contains("Failing") && told.contains(&format!("last commit {id}, pushed")), "{told}");
    }
}

#[test]
fn an_edit_after_the_quiet_commit_is_at_risk() {
    let env = env_with_edit();
    commit_all_at(&env, &env.project_folder(), "19:00:04", "-m one");
    fail_at(&env, "19:00:05", "s1", "git add -A && git commit -qm one && git push", PUSH_ERROR);
    env.write_file("project/README.md", "new\n");
    edit_at(&env, "19:00:06", "s1", "README.md");
    let (told, id) = (brief_at(&env, "19:00:07"), short_head(&env));
    let risk = format!("1 file edited by the session, not committed since {id}: README.md\n");
    assert!(told.contains(&risk), "{told}");
}

#[test]
fn a_commit_that_did_not_happen_is_not_claimed() {
    // The hook of the repository rejected the commit.
    let env = env_with_edit();
    env.run_git(&["add", "-A"]);
    fail_at(&env, "19:00:05", "s1", "git add -A && git commit -qm one && git push", "lint: line too long");
    let told = brief_at(&env, "19:00:06");
    assert!(told.contains("1 file edited by the session, not committed: lib.py\n"), "{told}");
    assert!(!told.contains("commit by the session"), "{told}");
    // Somebody else commits later, with another message.
    commit_all_at(&env, &env.project_folder(), "19:30:00", "-m theirs");
    let told = brief_at(&env, "19:31:00");
    assert!(told.contains("moved outside the session"), "{told}");
    assert!(!told.contains("last commit by the session") && !told.contains("theirs"), "{told}");
}

#[test]
fn without_gits_record_of_moves_nothing_is_claimed() {
    let env = env_with_edit();
    env.run_git(&["config", "core.logAllRefUpdates", "false"]);
    fs::remove_dir_all(env.project_folder().join(".git/logs")).unwrap();
    commit_all_at(&env, &env.project_folder(), "19:00:04", "-m one");
    fail_at(&env, "19:00:05", "s1", "git add -A && git commit -qm one && git push", PUSH_ERROR);
    let told = brief_at(&env, "19:00:06");
    assert!(!told.contains("not in any commit") && !told.contains("moved outside"), "{told}");
    let packet = packet_at(&env, "19:00:07");
    let begin = packet.lines().find(|line| line.starts_with("Begin with")).unwrap_or_default();
    assert!(begin.is_empty() || begin.contains("do not repeat it as a whole"), "{packet}");
}

#[test]
fn a_line_whose_first_part_has_taken_effect_is_not_to_be_run_again() {
    let env = env_with_edit();
    let line = "echo rej >> README.md && git add -A && git commit -qm 'Document rej' && git push -q";
    commit_all_at(&env, &env.project_folder(), "19:00:04", "-m 'Document rej'");
    fail_at(&env, "19:00:05", "s1", line, "error: failed to push some refs to 'origin'");
    let packet = packet_at(&env, "19:00:07");
    assert!(packet.contains("Begin with: the failing command `git push -q` (see Failing)."), "{packet}");

    // The part that only edits a file is not quoted.
    let env = env_with_edit();
    fail_at(&env, "19:00:05", "s1", "echo rej >> README.md && ./deploy.sh prod", "deploy: no such host");
    let packet = packet_at(&env, "19:00:07");
    let begin = packet.lines().find(|line| line.starts_with("Begin with")).unwrap();
    assert!(
        begin.contains("`./deploy.sh prod`") && !packet.contains("Begin with: the failing command `echo"),
        "{packet}"
    );
}

#[test]
fn the_commit_is_known_after_its_worktree_was_removed() {
    let env = repository_with_files(&["lib.py"]);
    let tree = env.base_folder().join("tree");
    env.run_git(&["worktree", "add", "--quiet", "-b", "json", tree.to_str().unwrap()]);
    fs::write(tree.join("json.py"), "new\n").unwrap();
    commit_all_at(&env, &tree, "19:00:04", "-m json");
    let edit = json!({"file_path": tree.join("json.py"), "old_string": "a", "new_string": "b"});
    let line = "git add -A && git commit -qm json && git push origin HEAD";
    let fail = json!({"tool_name": "Bash", "tool_use_id": "b", "tool_input": {"command": line},
        "error": format!("Exit code 128\n{PUSH_ERROR}")});
    for (time, event, more) in [
        ("19:00:00", "SessionStart", json!({"source": "startup"})),
        ("19:00:01", "UserPromptSubmit", json!({"prompt": "Add json.py and push"})),
        ("19:00:02", "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "e", "tool_input": edit})),
        ("19:00:05", "PostToolUseFailure", fail),
        ("19:00:06", "Stop", json!({"last_assistant_message": "The push failed."})),
    ] {
        let payload = crate::env::merge_fields(&env.event_payload("s1", event, more), json!({"cwd": tree}));
        let call = env.hook_call(event, payload.to_string()).with_variable("CLAUDE_PROJECT_DIR", &tree);
        call.with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z")).run().assert_ok();
    }
    let call = env.thru_call(&["handoff", "push it"]).in_folder(&tree);
    call.with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok();
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    let at = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!at.contains("`json.py`: gone"), "{at}");
    assert!(at.contains("on branch json"), "{at}");
}
