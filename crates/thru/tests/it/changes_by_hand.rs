//! Tests that a change that the user made by hand is not called a session's work, and that it makes a passed check
//! doubtful.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::env::TestEnv;
use crate::first_week::changes_on_disk::write_at;
use crate::first_week::files_at_risk::repository_with_files;
use crate::first_week::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};

/// Session `s1` edits `test_a.py`, and session `s2` edits `a.py`.
fn two_sessions() -> TestEnv {
    let env = repository_with_files(&["a.py", "test_a.py"]);
    // Git's index contains the times of the files. They must be from before the sessions.
    ["a.py", "test_a.py"].iter().for_each(|file| write_at(&env, "18:00:00", file, "old\n"));
    env.run_git(&["add", "-A"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Change the test in test_a.py to expect 1.");
    write_at(&env, "19:00:02", "test_a.py", "expects 1\n");
    edit_at(&env, "19:00:02", "s1", "test_a.py");
    stop_at(&env, "19:00:03", "s1", "The test expects 1 now.");
    end_at(&env, "19:00:04", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Set x to 1 in a.py, test and commit all.");
    write_at(&env, "19:01:02", "a.py", "x = 1\n");
    edit_at(&env, "19:01:02", "s2", "a.py");
    env
}

fn end_second_session(env: &TestEnv) {
    stop_at(env, "19:01:06", "s2", "x is 1 now, tested and committed.");
    end_at(env, "19:01:07", "s2");
}

/// Changes a file as an editor does, a few seconds after everything that happened before.
fn change_by_hand(env: &TestEnv, path: &str) {
    let file = env.write_file(format!("project/{path}"), "changed by hand\n");
    let later = SystemTime::now() + Duration::from_secs(5);
    fs::File::options().append(true).open(file).unwrap().set_modified(later).unwrap();
}

fn line_about_earlier_sessions(told: &str) -> String {
    told.lines().filter(|line| line.contains("edited by earlier sessions, not committed")).collect()
}

#[test]
fn a_change_by_hand_after_a_commit_is_no_work_of_an_earlier_session() {
    // The files of the commit that `s2` makes, and whether the user then changes the file by hand.
    for (commit, is_changed, is_at_risk) in [
        ("-a", true, false),
        ("-a", false, false),
        // The change of `s1` is not in the commit.
        ("a.py", true, true),
        ("a.py", false, true),
        ("", true, true),
    ] {
        let env = two_sessions();
        if !commit.is_empty() {
            env.run_git(&["commit", "-qm", "Set x to 1", commit]);
            run_at(&env, "19:01:04", "s2", &format!("git commit -qm 'Set x to 1' {commit}"), "");
        }
        end_second_session(&env);
        if is_changed {
            change_by_hand(&env, "test_a.py");
        }
        let told = start_at(&env, "19:02:00", "s3");
        let line = line_about_earlier_sessions(&told);
        assert_eq!(line.contains("test_a.py"), is_at_risk, "{commit} {is_changed}: {told}");
    }
}

#[test]
fn a_commit_by_the_user_counts_too() {
    let env = two_sessions();
    end_second_session(&env);
    env.run_git(&["commit", "-qam", "Everything"]);
    change_by_hand(&env, "test_a.py");
    let told = start_at(&env, "19:02:00", "s3");
    assert_eq!(line_about_earlier_sessions(&told), "", "{told}");
    let written = thru_at(&env, "19:02:01", "s2", &["handoff", "go on", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    assert_eq!(line_about_earlier_sessions(&packet), "", "{packet}");
}

#[test]
fn a_passed_check_is_doubtful_if_a_file_of_an_earlier_session_was_changed_by_hand() {
    for is_changed in [false, true] {
        let env = two_sessions();
        run_at(&env, "19:01:03", "s2", "python3 -m unittest", "Ran 3 tests in 0.001s\n\nOK");
        env.run_git(&["commit", "-qam", "Set x to 1"]);
        run_at(&env, "19:01:04", "s2", "git commit -qam 'Set x to 1'", "");
        end_second_session(&env);
        if is_changed {
            write_at(&env, "19:01:30", "test_a.py", "expects 7\n");
        }
        let preview = thru_at(&env, "19:02:00", "", &["brief", "--event", "startup"]).stdout;
        let told = start_at(&env, "19:02:00", "s3");
        for text in [&preview, &told] {
            let check = text.lines().find(|line| line.contains("`python3 -m unittest` → passed"));
            let check = check.unwrap_or_else(|| panic!("{is_changed}: {text}"));
            assert_eq!(check.contains("files may have changed since"), is_changed, "{check}");
        }
    }
}
