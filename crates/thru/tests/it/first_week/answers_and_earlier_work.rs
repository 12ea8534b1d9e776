//! Tests the user's answers and agreements, and the work of earlier sessions.

use super::previews_and_titles::{ask, edit_file, stop};
use super::starts_of_sessions::{brief_after_compaction, run_command};
use super::*;

/// Writes a file of the project and reports it as an edit by the session.
fn edit(env: &TestEnv, session: &str, path: &str) {
    env.write_file(format!("project/{path}"), format!("{session}\n"));
    edit_file(env, session, &format!("{session}-{path}"), path);
}

fn start_brief(env: &TestEnv) -> String {
    env.run_thru(&["brief", "--event", "startup"]).assert_ok().stdout
}

const REQUEST: &str = "money.parse('1.234') must raise ValueError instead of giving 334. Also '1.' should be accepted \
                       as 100. Tell me your plan before you write code.";
const PLAN: &str =
    "Plan: check the whole text with one regex, `(\\d+)(\\.\\d{0,2})?`, and keep the arithmetic. OK?";
const AGREEMENT: &str =
    "Yes, do it that way, but keep _WHOLE as a separate name because export will need it.";

/// The goal contains the request, the plan and the condition, both during the work and after the agent has reported on
/// it.
#[test]
fn agreement_with_a_condition_does_not_replace_the_task() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_session(&env, "s1");
    ask(&env, "s1", REQUEST);
    stop(&env, "s1", PLAN);
    ask(&env, "s1", AGREEMENT);
    edit(&env, "s1", "money.py");
    let goal = ["'1.' should be accepted as 100", "check the whole text with one regex", "keep _WHOLE"];
    let assert_goal = |text: &str| {
        for part in goal {
            assert!(text.contains(part), "{part}: {text}");
        }
    };
    assert_goal(&env.run_thru(&["brief"]).assert_ok().stdout);
    stop(&env, "s1", "1.234 raises now. A test for `1.` is still to be written.");
    env.run_thru(&["handoff", "write the test for '1.'", "--session", "s1"]).assert_ok();
    end_session(&env, "s1");
    assert_goal(&start_brief(&env));
    let picked = env.run_thru(&["pickup", "write-the-test"]).assert_ok().stdout;
    assert_goal(&picked);
    env.run_thru(&["handoff", "go on", "--session", "s1"]).assert_ok();
    let packet = env.run_thru(&["packet", "show", "go-on"]).assert_ok().stdout;
    assert!(packet.contains("Goal: “money.parse('1.234') must raise"), "{packet}");
}

#[test]
fn an_answer_to_a_question_is_told_with_the_question() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Give the tool a command line with one command for each report");
    stop(&env, "s1", "I can build it with argparse or with click. Which of the two do you prefer?");
    ask(&env, "s1", "Yes, argparse.");
    edit(&env, "s1", "cli.py");
    stop(&env, "s1", "The parser is there. The reports are not connected yet.");
    end_session(&env, "s1");
    let told = start_brief(&env);
    assert!(told.contains("one command for each report"), "{told}");
    assert!(told.contains("Which of the two do you prefer?") && told.contains("Yes, argparse."), "{told}");
}

/// Two spaces may be part of the format that the user asks for.
#[test]
fn the_users_words_keep_their_spaces() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Print each total like 'food  6.00'. The amounts stand below each other.");
    edit(&env, "s1", "report.py");
    env.run_thru(&["handoff", "go on", "--session", "s1"]).assert_ok();
    end_session(&env, "s1");
    let packet = env.run_thru(&["packet", "show", "go-on"]).assert_ok().stdout;
    for text in [start_brief(&env), env.run_thru(&["status"]).assert_ok().stdout, packet] {
        assert!(text.contains("'food  6.00'"), "{text}");
    }
}

#[test]
fn a_session_that_is_told_where_to_start_continues_nothing() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Add ledger.by_month(lines) to the ledger");
    edit(&env, "s1", "ledger.py");
    stop(&env, "s1", "All 12 tests pass.");
    end_session(&env, "s1");
    start_session(&env, "s2");
    ask(&env, "s2", "Start with the three decimal places.");
    edit(&env, "s2", "places.py");
    let brief = brief_after_compaction(&env, "s2");
    assert!(!brief.contains("Earlier work being continued"), "{brief}");
    end_session(&env, "s2");
    let next = start_brief(&env);
    assert!(
        !next.contains("Earlier work being continued") && next.contains("three decimal places"),
        "{next}"
    );
}

#[test]
fn uncommitted_work_of_all_recent_sessions_is_at_risk() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for (session, request, files) in [
        ("s1", "Parse one decimal place of an amount", &["money.py", "notes.py", "done.py"][..]),
        ("s2", "Support separators for thousands", &["separators.py", "money.py"]),
    ] {
        start_session(&env, session);
        ask(&env, session, request);
        files.iter().for_each(|file| edit(&env, session, file));
        end_session(&env, session);
    }
    // The user commits one of the files.
    env.run_git(&["add", "done.py"]);
    env.run_git(&["commit", "-qm", "Done", "done.py"]);
    let told = start_brief(&env);
    assert!(told.contains("- 2 files edited by that session, not"), "{told}");
    assert!(told.contains("- 1 more file edited by earlier sessions, not committed: notes.py"), "{told}");
    let sent = env.fire_event("s3", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(sent.contains("- 1 more file edited by earlier sessions, not committed: notes.py"), "{sent}");
    env.run_git(&["add", "."]);
    env.run_git(&["commit", "-qm", "All"]);
    let told = start_brief(&env);
    assert!(!told.contains("edited by"), "{told}");
}

#[test]
fn files_that_earlier_sessions_staged_are_at_risk_until_they_are_committed() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    for (session, request, file, staged) in [
        ("s1", "Parse one decimal place of an amount", "money.py", "money.py"),
        // The second session stages one of its own files and one that the first session left.
        ("s2", "Write down how amounts are parsed", "notes.py", "notes.py left.py"),
        ("s3", "Support separators for thousands", "separators.py", ""),
    ] {
        start_session(&env, session);
        ask(&env, session, request);
        edit(&env, session, file);
        if session == "s1" {
            edit(&env, session, "left.py");
        }
        if !staged.is_empty() {
            let command = format!("git add {staged}");
            env.run_git(&command.split(' ').skip(1).collect::<Vec<_>>());
            run_command(&env, session, &format!("{session}-add"), &command, "");
        }
        end_session(&env, session);
    }
    let told = start_brief(&env);
    let line = told.lines().find(|line| line.contains("edited by earlier sessions, not committed"));
    let line = line.unwrap_or_else(|| panic!("{told}"));
    assert!(line.starts_with("- 3 more files"), "{line}");
    assert!(["money.py", "left.py", "notes.py"].iter().all(|file| line.contains(file)), "{line}");
    env.run_git(&["commit", "-qm", "The user commits what is staged"]);
    let told = start_brief(&env);
    assert!(!told.contains("edited by earlier sessions"), "{told}");
}

#[test]
fn a_session_that_only_picked_up_a_packet_has_the_goal_of_the_packet() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Support separators for thousands in money.parse");
    edit(&env, "s1", "money.py");
    env.run_thru(&["handoff", "finish the separators", "--session", "s1"]).assert_ok();
    end_session(&env, "s1");
    start_session(&env, "s2");
    ask(&env, "s2", "/pickup");
    claim_packet(&env, "separators", "s2", &["--claim"]).assert_ok();
    edit(&env, "s2", "tests.py");
    let assert_goal = |state: &str, is_request_quoted: bool| {
        let told = start_brief(&env);
        assert!(told.contains("the session picked up packet") && told.contains(state), "{told}");
        assert!(told.contains("finish the separators"), "{told}");
        let request = "Support separators for thousands in money.parse";
        assert_eq!(told.contains(request), is_request_quoted, "{told}");
    };
    end_session(&env, "s2");
    assert_goal("; its goal is “", true);
    env.run_thru(&["packet", "done", "separators"]).assert_ok();
    assert_goal(", which is done by now; its goal was “", false);
}

/// If the agent ran the whole line again, it would tick off the next step.
#[test]
fn a_check_is_told_without_the_call_of_thru_after_it() {
    let env = TestEnv::with_root();
    start_session(&env, "s1");
    ask(&env, "s1", "Write the export to a file");
    let line = "python3 -m unittest tests.test_export && thru resume update --task-done";
    run_command(&env, "s1", "b1", line, "Ran 3 tests in 0.001s\n\nOK\n");
    stop(&env, "s1", "The export is written to a file.");
    end_session(&env, "s1");
    let told = start_brief(&env);
    assert!(told.contains("`python3 -m unittest tests.test_export`"), "{told}");
    assert!(!told.contains("--task-done"), "{told}");
}
