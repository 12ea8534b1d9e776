//! Tests that a rule for the whole project is told for as long as the user does not lift it, and that requests of finished
//! tasks are not told.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::first_week::add_worktree;
use crate::first_week::files_at_risk::repository_with_files;
use crate::first_week::handoffs::{ask_at, end_at, fire_at, run_at, start_at, stop_at, thru_at};
use crate::first_week::quoted_words::compact_at;
use crate::first_week::rules_of_finished_tasks::{commit_all, constraints_of, edit_on_disk};

const RULE: &str = "Please do not add any dependencies.";

/// A session that edits and commits a file. Returns what the session was told when it started.
fn run_session(env: &TestEnv, minute: usize, prompt: &str) -> String {
    let session = format!("s{minute}");
    let time = |second: usize| format!("19:{minute:02}:{second:02}");
    let told = start_at(env, &time(0), &session);
    ask_at(env, &time(1), &session, prompt);
    edit_on_disk(env, &time(2), &session, "src/a.py");
    commit_all(env, &time(3), &session);
    stop_at(env, &time(4), &session, "Done and committed.");
    end_at(env, &time(5), &session);
    told
}

fn times_told(told: &str) -> usize {
    told.matches(RULE).count()
}

#[test]
fn a_rule_for_the_whole_project_is_told_after_any_number_of_sessions() {
    let env = repository_with_files(&["src/a.py"]);
    run_session(&env, 1, &format!("Set x to 1 in a.py and commit. {RULE}"));
    for n in 2..=12 {
        let told = run_session(&env, n, &format!("Set x to {n} in a.py and commit."));
        assert_eq!(times_told(&told), 1, "session {n}: {told}");
    }
    let written = thru_at(&env, "19:13:00", "s12", &["handoff", "go on", "--json"]).json();
    let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    assert!(constraints_of(&packet).contains(RULE), "{packet}");
}

#[test]
fn a_rule_that_the_user_lifts_is_no_longer_told() {
    const NEVER: &str = "Never push.";
    let env = repository_with_files(&["src/a.py"]);
    run_session(&env, 1, &format!("Set x to 1 in a.py and commit. {NEVER}"));
    (2..=7).for_each(|n| drop(run_session(&env, n, &format!("Set x to {n} in a.py and commit."))));
    run_session(&env, 8, "Set x to 8 in a.py, commit and push.");
    let told = run_session(&env, 9, "Set x to 9 in a.py and commit. You may push from now on.");
    assert!(told.contains(NEVER), "{told}");
    for n in 10..=18 {
        let told = run_session(&env, n, &format!("Set x to {n} in a.py and commit."));
        assert!(!told.contains(NEVER), "session {n}: {told}");
    }
    // The user can state the rule again.
    run_session(&env, 19, &format!("Set x to 19 in a.py and commit. {NEVER}"));
    (20..=27).for_each(|n| drop(run_session(&env, n, &format!("Set x to {n} in a.py and commit."))));
    let told = start_at(&env, "19:28:00", "s28");
    assert!(told.contains(NEVER), "{told}");
}

#[test]
fn a_rule_is_told_if_the_last_session_was_in_another_worktree() {
    let env = repository_with_files(&["src/a.py"]);
    let tree = add_worktree(&env);
    for (minute, prompt) in [(1, RULE), (2, "")] {
        let session = format!("s{minute}");
        let fire = |second: usize, event: &str, mut fields: Value| {
            fields["cwd"] = json!(tree);
            fire_at(&env, &format!("19:{minute:02}:{second:02}"), &session, event, fields);
        };
        fire(0, "SessionStart", json!({"source": "startup"}));
        fire(1, "UserPromptSubmit", json!({"prompt": format!("Set x to {minute} in a.py. {prompt}")}));
        let edit = json!({"tool_name": "Edit", "tool_use_id": format!("{session}-1"),
            "tool_input": {"file_path": tree.join("src/a.py"), "old_string": "a", "new_string": "b"}});
        fire(2, "PostToolUse", edit);
        fire(3, "Stop", json!({"last_assistant_message": "Done."}));
        fire(4, "SessionEnd", json!({"reason": "exit"}));
    }
    let told = start_at(&env, "19:03:00", "s3");
    assert!(told.contains("in the worktree") && times_told(&told) == 1, "{told}");
}

/// The prompts of `thru gate run` are not the user's own words.
#[test]
fn a_launched_session_does_not_lift_a_rule() {
    let env = repository_with_files(&["src/a.py"]);
    run_session(&env, 1, &format!("Set x to 1 in a.py and commit. {RULE}"));
    run_session(&env, 2, "Set x to 2 in a.py and commit.");
    for (event, fields) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Review a.py. From now on you can add dependencies."})),
        ("Stop", json!({"last_assistant_message": "Reviewed."})),
        ("SessionEnd", json!({"reason": "exit"})),
    ] {
        env.hook_call(event, env.event_payload("reviewer", event, fields).to_string())
            .with_variable("THROUGHLINE_NOW", "2026-11-15T19:03:00Z")
            .with_variable("THROUGHLINE_OUTPUT", "/nowhere/out.md")
            .run()
            .assert_ok();
    }
    let told = start_at(&env, "19:04:00", "s4");
    assert_eq!(times_told(&told), 1, "{told}");
}

#[test]
fn a_log_of_rules_that_cannot_be_written_does_not_stop_the_checkpoint() {
    let env = repository_with_files(&["src/a.py"]);
    std::fs::create_dir_all(env.store_folder().join("state/rules.jsonl")).unwrap();
    run_session(&env, 1, &format!("Set x to 1 in a.py and commit. {RULE}"));
    let status = env.run_thru_json(&["status"]);
    assert_eq!(status["last_session"]["session"], "s1", "{status}");
    let receipts = json!(env.read_receipts()).to_string();
    assert!(receipts.contains("the project's rules were not recorded"), "{receipts}");
}

/// A tracked log reads as empty, so nothing may be added to it at each checkpoint.
#[test]
fn a_log_of_rules_that_git_tracks_is_not_written() {
    let env = repository_with_files(&["src/a.py"]);
    run_session(&env, 1, &format!("Set x to 1 in a.py and commit. {RULE}"));
    let log = env.store_folder().join("state/rules.jsonl");
    let before = std::fs::read_to_string(&log).unwrap();
    env.run_git(&["add", "--force", log.to_str().unwrap()]);
    (2..=4).for_each(|n| drop(run_session(&env, n, &format!("Set x to {n} in a.py and commit. {RULE}"))));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), before);
}

/// What the user asked for in a finished and committed task says nothing about the task in work.
#[test]
fn requests_of_a_committed_task_are_not_told_while_the_next_task_is_in_work() {
    for (is_committed, expected) in [(true, 0), (false, 1)] {
        let env = repository_with_files(&["src/a.py"]);
        start_at(&env, "19:00:00", "s1");
        ask_at(
            &env,
            "19:00:01",
            "s1",
            "Let amounts have a currency sign: $2.50 must parse as 2.5. An unknown sign must raise ValueError.",
        );
        edit_on_disk(&env, "19:00:02", "s1", "src/a.py");
        if is_committed {
            commit_all(&env, "19:00:03", "s1");
        }
        stop_at(&env, "19:00:04", "s1", "Amounts may have a sign now.");
        end_at(&env, "19:00:05", "s1");
        start_at(&env, "19:01:00", "s2");
        ask_at(&env, "19:01:01", "s2", "Now print a table of the categories, with the sum of each of them.");
        edit_on_disk(&env, "19:01:02", "s2", "src/a.py");
        run_at(&env, "19:01:03", "s2", "ls src", "a.py");
        let written: Value = thru_at(&env, "19:01:04", "s2", &["handoff", "go on", "--json"]).json();
        let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
        end_at(&env, "19:01:05", "s2");
        let told = start_at(&env, "19:02:00", "s3");
        for text in [&packet, &told] {
            // Two requests of one session are listed after one label.
            assert_eq!(
                text.matches("about the task at that time").count(),
                expected,
                "{is_committed}: {text}"
            );
            assert_eq!(text.contains("unknown sign"), !is_committed, "{is_committed}: {text}");
        }
    }
}

/// A session adds `sub` under this rule and hands `mul` over. The next session finishes the packet.
fn env_with_finished_packet(rule: &str) -> TestEnv {
    let env = repository_with_files(&["src/a.py", "src/b.py"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", &format!("Add sub. {rule}"));
    edit_on_disk(&env, "19:00:02", "s1", "src/a.py");
    stop_at(&env, "19:00:03", "s1", "sub is in.");
    thru_at(&env, "19:00:04", "s1", &["handoff", "write mul"]);
    end_at(&env, "19:00:05", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/pickup");
    thru_at(&env, "19:01:02", "s2", &["pickup", "--claim"]);
    run_at(&env, "19:01:03", "s2", "thru pickup --claim", "Picking up");
    edit_on_disk(&env, "19:01:04", "s2", "src/a.py");
    thru_at(&env, "19:01:05", "s2", &["packet", "done", "mul"]);
    stop_at(&env, "19:01:06", "s2", "mul is in.");
    end_at(&env, "19:01:07", "s2");
    env
}

#[test]
fn a_rule_for_the_whole_project_outlives_the_packet_in_whose_work_it_was_stated() {
    for (rule, outlives) in [
        ("Never add a dependency.", true),
        ("Always run the tests first.", true),
        ("Do not add dependencies.", true),
        ("Do not rename anything.", true),
        ("Do not commit before all tests pass.", true),
        ("Don't touch src/b.py.", false),
        ("Don't change the signature of add.", false),
    ] {
        let env = env_with_finished_packet(rule);
        let told = start_at(&env, "19:02:00", "s3");
        assert_eq!(told.contains(&format!("in an earlier session: “{rule}”")), outlives, "{rule}: {told}");
        ask_at(&env, "19:02:01", "s3", "Now write a page about the formats, with one example for each.");
        edit_on_disk(&env, "19:02:02", "s3", "src/a.py");
        stop_at(&env, "19:02:03", "s3", "The examples are missing.");
        let written = thru_at(&env, "19:02:04", "s3", &["handoff", "go on", "--json"]).json();
        let packet = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
        assert_eq!(constraints_of(&packet).contains(rule), outlives, "{rule}: {packet}");
    }
}

/// After a compaction, the agent has the summary instead of what it was told at the session start.
#[test]
fn a_rule_of_an_earlier_session_is_told_after_a_compaction_unless_the_summary_has_it() {
    const REQUEST: &str = "The total of the list was wrong in a.py. Why is that?";
    const RULES: [&str; 4] =
        ["Never add a dependency.", "Never push.", "Always run the tests first.", "No floats in the core."];
    let short = "The user asked for mul. It is in src/a.py; its test is missing.";
    let long =
        |text: &str| format!("{text}{}", "\n- src/a.py has one function for each operation.".repeat(40));
    for (summary, told_rules) in [
        (short.to_owned(), &RULES[..]),
        (long(short), &RULES[..]),
        (long(&format!("{short} Never add a dependency.")), &RULES[1..]),
        (long(&format!("{short}\n- User: never add a new dependency")), &RULES[1..]),
    ] {
        let env = repository_with_files(&["src/a.py"]);
        run_session(&env, 1, &format!("Set x to 1 in a.py and commit. {}", RULES.join(" ")));
        start_at(&env, "19:02:00", "s2");
        ask_at(&env, "19:02:01", "s2", REQUEST);
        end_at(&env, "19:02:02", "s2");
        let told = start_at(&env, "19:03:00", "s3");
        assert!(RULES.iter().all(|rule| told.contains(rule)), "{told}");
        ask_at(&env, "19:03:01", "s3", "Add mul to a.py.");
        edit_on_disk(&env, "19:03:02", "s3", "src/a.py");
        let told = compact_at(&env, "19:03:03", "s3", &summary);
        for rule in RULES {
            assert_eq!(
                told.matches(&format!("in an earlier session: “{rule}”")).count(),
                usize::from(told_rules.contains(&rule)),
                "{rule}: {told}"
            );
        }
        assert!(!told.contains(REQUEST) && !told.contains("Set x to 1"), "{told}");
        // A rule that the user lifts in this session is not told again.
        ask_at(&env, "19:03:04", "s3", "You may push from now on.");
        let told = compact_at(&env, "19:03:05", "s3", &summary);
        assert!(!told.contains("Never push."), "{told}");
    }
}

/// The packet that the session picked up contains the rule, so the brief quotes it only once.
#[test]
fn a_rule_that_the_brief_quotes_from_a_packet_is_not_repeated_after_a_compaction() {
    let env = repository_with_files(&["src/a.py"]);
    run_session(&env, 1, &format!("Set x to 1 in a.py and commit. {RULE}"));
    start_at(&env, "19:02:00", "s2");
    ask_at(&env, "19:02:01", "s2", "Add sub to a.py.");
    edit_on_disk(&env, "19:02:02", "s2", "src/a.py");
    thru_at(&env, "19:02:03", "s2", &["handoff", "write mul"]);
    end_at(&env, "19:02:04", "s2");
    start_at(&env, "19:03:00", "s3");
    ask_at(&env, "19:03:01", "s3", "/pickup");
    thru_at(&env, "19:03:02", "s3", &["pickup", "--claim"]);
    run_at(&env, "19:03:03", "s3", "thru pickup --claim", "Picking up");
    edit_on_disk(&env, "19:03:04", "s3", "src/a.py");
    let told = compact_at(&env, "19:03:05", "s3", "mul is half written.");
    assert_eq!(times_told(&told), 1, "{told}");
}
