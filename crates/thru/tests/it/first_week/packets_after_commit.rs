//! Tests what `thru pickup` says after the user has committed the work that a packet describes.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::*;

const TESTS_PASSED: &str = "# tests 3\n# pass 3\n# fail 0";

/// Changes a file, and reports the change as an edit of the session.
fn change_at(env: &TestEnv, time: &str, session: &str, path: &str, content: &str) {
    env.write_file(format!("project/{path}"), content);
    edit_at(env, time, session, path);
}

fn pick_up(env: &TestEnv) -> String {
    env.run_thru(&["pickup"]).assert_ok().stdout
}

/// Creates a repository in which session `s1` changed `src/div.js`, the tests passed, and a packet was written. The
/// session's last command also wrote a file that no hook reported.
fn repository_with_tested_change() -> TestEnv {
    let env = repository_with_files(&["src/div.js", "src/old.js"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Add div() too.");
    change_at(&env, "19:00:02", "s1", "src/div.js", "div\n");
    env.write_file("project/src/sub.js", "sub\n");
    env.run_git(&["rm", "-q", "src/old.js"]);
    run_at(&env, "19:00:03", "s1", "npm test", TESTS_PASSED);
    stop_at(&env, "19:00:04", "s1", "Added div.");
    thru_at(&env, "19:00:05", "s1", &["handoff", "document the new functions"]);
    env
}

fn commit_all(env: &TestEnv) {
    env.run_git(&["add", "-A"]);
    env.run_git(&["commit", "-qm", "Two"]);
}

#[test]
fn committed_files_of_earlier_sessions_are_not_at_risk() {
    let env = repository_with_files(&["src/index.js"]);
    for (session, time, file) in [("s1", "19:00", "src/mul.js"), ("s2", "19:01", "src/div.js")] {
        start_at(&env, &format!("{time}:00"), session);
        ask_at(&env, &format!("{time}:01"), session, &format!("Write {file}."));
        change_at(&env, &format!("{time}:02"), session, file, "new\n");
        stop_at(&env, &format!("{time}:03"), session, "It is written.");
        if session == "s1" {
            end_at(&env, &format!("{time}:04"), session);
        }
    }
    thru_at(&env, "19:01:05", "s2", &["handoff", "document the new functions"]);
    assert!(pick_up(&env).contains("edited by earlier sessions, not committed: src/mul.js"));
    commit_all(&env);
    let picked = pick_up(&env);
    assert!(!picked.contains("not committed") && !picked.contains("At risk:"), "{picked}");
    // A packet that is written after the commit does not say that the first session's file is uncommitted.
    thru_at(&env, "19:01:06", "s2", &["handoff", "write the changelog"]);
    let picked = pick_up(&env);
    assert!(!picked.contains("not committed"), "{picked}");
}

#[test]
fn a_run_is_still_valid_after_a_commit_of_the_same_files() {
    let env = repository_with_tested_change();
    commit_all(&env);
    let picked = pick_up(&env);
    let expected =
        "- `npm test`: verified: passed at 2026-11-15T19:00:03Z; the files have not changed since\n";
    assert!(picked.contains(expected), "{picked}");
    assert!(picked.contains("- changed: uncommitted files: 3 files uncommitted then, 0 now"), "{picked}");
    assert!(picked.contains("2 verified.\n"), "{picked}");
    for (path, content) in [("src/sub.js", "other\n"), ("src/new.js", "new\n")] {
        let before = fs::read(env.project_folder().join(path)).ok();
        env.write_file(format!("project/{path}"), content);
        let picked = pick_up(&env);
        assert!(
            picked.contains("`npm test`: unverified: passed at 2026-11-15T19:00:03Z, before"),
            "{picked}"
        );
        match before {
            Some(bytes) => fs::write(env.project_folder().join(path), bytes).unwrap(),
            None => fs::remove_file(env.project_folder().join(path)).unwrap(),
        }
    }
    assert!(pick_up(&env).contains(expected));
}

#[test]
fn a_run_is_before_another_commit() {
    let env = repository_with_tested_change();
    env.write_file("project/src/other.js", "other\n");
    commit_all(&env);
    let picked = pick_up(&env);
    let expected =
        "- `npm test`: unverified: passed at 2026-11-15T19:00:03Z, before HEAD moved; run it again\n";
    assert!(picked.contains(expected), "{picked}");
}

/// A new modification time alone does not count as a change. For example, an editor may have saved the file unchanged.
#[test]
fn a_valid_run_stays_valid_if_a_file_only_has_a_new_time() {
    let env = repository_with_tested_change();
    let touch = |content: &str| {
        let file = env.write_file("project/src/div.js", content);
        let at: jiff::Timestamp = "2026-11-15T19:00:06Z".parse().unwrap();
        fs::File::options().append(true).open(file).unwrap().set_modified(at.into()).unwrap();
    };
    let pick_up = || thru_at(&env, "19:00:07", "s2", &["pickup"]).assert_ok().stdout;
    touch("div\n");
    assert!(pick_up().contains(" verified: passed at"), "{}", pick_up());
    touch("other\n");
    assert!(!pick_up().contains(" verified: passed at"), "{}", pick_up());
}
