//! Tests what briefs and packets say if several sessions work on the same task, one after the other.

use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;
use crate::packet_sweeps::mark_session_dead;

const MEAN_RULE: &str = "mean() must ignore fields that are not numbers, like the header.";

/// Creates a project in which session `a` wrote a packet about [`MEAN_RULE`], and session `b` picked it up and edited a
/// file. Returns the packet's id.
fn env_with_packet_in_work() -> (TestEnv, String) {
    let env = TestEnv::with_root();
    start_at(&env, "08:00:00", "a");
    ask_at(&env, "08:00:01", "a", MEAN_RULE);
    edit_at(&env, "08:00:02", "a", "tests/stats.rs");
    stop_at(&env, "08:00:03", "a", "The test is there, and it fails. Next: change `mean` in src/stats.rs.");
    let written = thru_at(&env, "08:00:04", "a", &["handoff", "fix mean", "--json"]).json();
    let packet = written["id"].as_str().unwrap().to_owned();
    end_at(&env, "08:00:05", "a");
    start_at(&env, "08:01:00", "b");
    ask_at(&env, "08:01:01", "b", "/pickup");
    let pickup = "thru pickup --for claude-code --claim";
    thru_at(&env, "08:01:02", "b", &["pickup", "--claim"]);
    run_at(&env, "08:01:02", "b", pickup, "Picking up packet");
    edit_at(&env, "08:01:03", "b", "src/stats.rs");
    (env, packet)
}

fn statuses_of_packets(env: &TestEnv) -> Vec<(String, String)> {
    let listed = env.run_thru_json(&["packet", "list"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(|row| (text(&row["id"]), text(&row["status"]))).collect()
}

#[test]
fn after_a_crash_the_goal_of_the_packet_in_work_is_told() {
    let (env, packet) = env_with_packet_in_work();
    mark_session_dead(&env, "b");
    let preview = thru_at(&env, "08:02:00", "", &["brief", "--event", "startup"]).stdout;
    let goal = format!("the session picked up packet {packet}; its goal is “fix mean”");
    assert!(preview.contains(&goal) && preview.contains(MEAN_RULE), "{preview}");
    let told = start_at(&env, "08:02:00", "c");
    assert!(told.contains(&goal) && told.contains(MEAN_RULE), "{told}");
    // Session `c` did no work, so the next session is still told about the work of session `b`.
    end_at(&env, "08:02:01", "c");
    let told = start_at(&env, "08:03:00", "d");
    assert!(told.contains(&goal), "{told}");
}

#[test]
fn a_message_that_adds_to_the_packet_in_work_gives_no_other_task() {
    let (env, packet) = env_with_packet_in_work();
    stop_at(&env, "08:01:04", "b", "Picked up: `mean` is half changed. Shall I go on?");
    let addition = "Yes, go on. And --mean of an empty column must print n/a, not 0.";
    ask_at(&env, "08:01:05", "b", addition);
    edit_at(&env, "08:01:06", "b", "src/main.rs");
    mark_session_dead(&env, "b");
    let swept = thru_at(&env, "08:02:00", "", &["sweep", "--json"]).json();
    let crashed = swept[0]["packet"].as_str().unwrap().to_owned();
    assert!(crashed.ends_with("-fix-mean"), "{crashed}");
    let statuses = statuses_of_packets(&env);
    assert!(statuses.contains(&(packet, "done".into())), "{statuses:?}");
    assert!(statuses.contains(&(crashed.clone(), "draft".into())), "{statuses:?}");
    let text = env.run_thru(&["packet", "show", &crashed]).assert_ok().stdout;
    assert!(text.contains("must print n/a, not 0") && text.contains(MEAN_RULE), "{text}");
    let told = start_at(&env, "08:02:01", "c");
    assert!(told.contains("its goal is “fix mean”") && told.contains("must print n/a"), "{told}");
}

const FAILED_CLI_TEST: &str = "Exit code 101\nrunning 1 test\ntest prints_mean ... FAILED\n\nfailures:\n\n---- prints_mean stdout ----\n\n\
    thread 'prints_mean' panicked at tests/cli.rs:9:5:\nassertion `left == right` failed\n  left: 6\n right: 7\n\n\
    failures:\n    prints_mean\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n\n\
    error: test failed, to rerun pass `--test cli`";

#[test]
fn a_check_that_failed_stays_failing_until_a_session_runs_it() {
    let env = TestEnv::with_root();
    let check = "cargo test --offline --test cli";
    env.write_file("project/tests/cli.rs", "a test\n");
    start_at(&env, "08:00:00", "x");
    ask_at(&env, "08:00:01", "x", "Print the mean of a column with the new flag --mean.");
    edit_at(&env, "08:00:02", "x", "tests/cli.rs");
    fail_at(&env, "08:00:03", "x", check, FAILED_CLI_TEST);
    end_at(&env, "08:00:04", "x");
    // The next session only reads, and the one after it edits without testing.
    start_at(&env, "08:01:00", "y");
    ask_at(&env, "08:01:01", "y", "What was going on here? Don't change anything.");
    run_at(&env, "08:01:02", "y", "cat src/main.rs", "fn main() {}");
    stop_at(&env, "08:01:03", "y", "The flag --mean is being added.");
    end_at(&env, "08:01:04", "y");
    let is_told = |session: &str, time: &str, expected: &str| {
        let failing = env.run_thru_json(&["status"])["failing"].clone();
        assert_eq!(failing, json!([check]), "{session}");
        let told = start_at(&env, time, session);
        assert!(told.contains(&format!("Failing:\n- `{check}` ({expected}")), "{told}");
        assert!(told.contains("prints_mean"), "{told}");
    };
    is_told("z", "08:02:00", "exit 101, in an earlier session)");
    ask_at(&env, "08:02:01", "z", "Go on with the flag in src/main.rs, please.");
    edit_at(&env, "08:02:02", "z", "src/main.rs");
    let packet = thru_at(&env, "08:02:03", "z", &["handoff", "finish --mean", "--json"]).json();
    let text = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
    assert!(text.contains("in an earlier session, before the edits to src/main.rs"), "{text}");
    let validators = text.split("## Validators").nth(1).unwrap();
    assert!(!validators.contains(check), "the earlier session may have worked on something else: {text}");
    run_at(&env, "08:02:03", "z", "pytest", "===== 4 passed in 0.10s =====");
    let packet = thru_at(&env, "08:02:03", "z", &["handoff", "go on", "--json"]).json();
    let text = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
    let step =
        format!("Begin with: `{check}`, which failed in an earlier session and has not been run since;");
    assert!(text.contains(&step), "{text}");
    end_at(&env, "08:02:04", "z");
    is_told("v", "08:03:00", "exit 101, in an earlier session, before the edits to src/main.rs)");
    ask_at(&env, "08:03:01", "v", "Run the tests of the command line.");
    run_at(&env, "08:03:02", "v", check, "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured");
    end_at(&env, "08:03:03", "v");
    assert_eq!(env.run_thru_json(&["status"])["failing"], Value::Null);
    let told = start_at(&env, "08:04:00", "w");
    assert!(!told.contains("Failing:"), "{told}");
}

#[test]
fn a_check_that_another_session_passed_since_is_not_failing() {
    const PASSED: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured";
    let check = "cargo test --offline --test cli";
    let env = TestEnv::with_root();
    start_at(&env, "08:00:00", "x");
    ask_at(&env, "08:00:01", "x", "Print the mean of a column with the new flag --mean.");
    fail_at(&env, "08:10:00", "x", check, FAILED_CLI_TEST);
    fail_at(&env, "08:11:00", "x", "cargo clippy", "Exit code 101\nerror: unused variable: `mean`");
    // The second session begins and ends while the first one goes on.
    start_at(&env, "08:30:00", "y");
    ask_at(&env, "08:30:01", "y", "Fix the test of the command line.");
    run_at(&env, "08:40:00", "y", check, PASSED);
    end_at(&env, "09:00:00", "y");
    stop_at(&env, "09:59:00", "x", "The flag --mean is being added.");
    end_at(&env, "10:00:00", "x");
    start_at(&env, "10:01:00", "z");
    ask_at(&env, "10:01:01", "z", "What does src/main.rs do?");
    run_at(&env, "10:01:02", "z", "cat src/main.rs", "fn main() {}");
    end_at(&env, "10:01:03", "z");
    let told = start_at(&env, "10:02:00", "v");
    assert!(!told.contains(check) && told.contains("Failing:\n- `cargo clippy`"), "{told}");
    // A session that is still running passes the other check.
    ask_at(&env, "10:02:01", "v", "Remove the unused variable.");
    run_at(&env, "10:02:02", "v", "cargo clippy", "    Finished `dev` profile in 0.10s");
    let told = start_at(&env, "10:02:03", "w");
    assert!(!told.contains("Failing:"), "{told}");
}

#[test]
fn a_failure_is_told_as_before_the_edits_only_if_the_session_began_after_it() {
    for (failed, expected) in [
        ("08:00:30", "exit 101, in an earlier session, before the edits to src/main.rs)"),
        ("08:30:00", "exit 101, in an earlier session)"),
    ] {
        let env = TestEnv::with_root();
        let check = "cargo test --offline --test cli";
        start_at(&env, "08:00:00", "x");
        ask_at(&env, "08:00:01", "x", "Print the mean of a column with the new flag --mean.");
        if failed < "08:01:00" {
            fail_at(&env, failed, "x", check, FAILED_CLI_TEST);
        }
        start_at(&env, "08:01:00", "y");
        ask_at(&env, "08:01:01", "y", "Go on with the flag in src/main.rs, please.");
        edit_at(&env, "08:01:02", "y", "src/main.rs");
        if failed > "08:01:00" {
            fail_at(&env, failed, "x", check, FAILED_CLI_TEST);
        }
        end_at(&env, "08:40:00", "x");
        stop_at(&env, "08:50:00", "y", "The flag --mean is half done.");
        end_at(&env, "08:50:01", "y");
        let told = start_at(&env, "09:00:00", "z");
        assert!(told.contains(&format!("Failing:\n- `{check}` ({expected}")), "{failed}: {told}");
    }
}

#[test]
fn a_packet_of_a_session_that_goes_on_repeats_what_the_user_said_before() {
    let env = TestEnv::with_root();
    start_at(&env, "08:00:00", "a");
    ask_at(&env, "08:00:01", "a", MEAN_RULE);
    edit_at(&env, "08:00:02", "a", "tests/stats.rs");
    stop_at(&env, "08:00:03", "a", "The test is there.");
    ask_at(&env, "08:00:04", "a", "Never add dependencies.");
    stop_at(&env, "08:00:05", "a", "I will not.");
    let result = "Return Option<f64>, None when there is no number. Also mention it in the README.";
    ask_at(&env, "08:00:06", "a", result);
    edit_at(&env, "08:00:07", "a", "README.md");
    stop_at(&env, "08:00:08", "a", "The README says it. Next: change `mean` in src/stats.rs.");
    end_at(&env, "08:00:09", "a");
    start_at(&env, "08:01:00", "b");
    ask_at(&env, "08:01:01", "b", "Go on with mean: do the change in stats.rs.");
    edit_at(&env, "08:01:02", "b", "src/stats.rs");
    let packet = thru_at(&env, "08:01:03", "b", &["handoff", "finish mean", "--json"]).json();
    let text = env.run_thru(&["packet", "show", packet["id"].as_str().unwrap()]).assert_ok().stdout;
    assert!(text.contains("The session continues session a, in which the user asked:"), "{text}");
    assert!(text.contains(result), "{text}");
    let constraints = text.split("## Constraints").nth(1).unwrap().split("\n## ").next().unwrap();
    assert!(constraints.contains("“Never add dependencies.”"), "{constraints}");
    let prompt = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(prompt.contains("Never add dependencies.") && prompt.contains("Return Option<f64>"), "{prompt}");
}

#[test]
fn only_a_question_is_told_as_answered() {
    let env = TestEnv::with_root();
    let request = "Return Option<f64>, None when there is no number. Also mention it in the README.";
    for (session, hour, asked, expected) in [
        ("a", "08", request, "Newest message (the agent has replied): “Return Option<f64>"),
        ("b", "09", "Which function reads the header?", "Newest message, answered: “Which function"),
    ] {
        start_at(&env, &format!("{hour}:00:00"), session);
        ask_at(&env, &format!("{hour}:00:01"), session, MEAN_RULE);
        edit_at(&env, &format!("{hour}:00:02"), session, "tests/stats.rs");
        stop_at(
            &env,
            &format!("{hour}:00:03"),
            session,
            "The test for `mean` is there, and it fails as it should.",
        );
        ask_at(&env, &format!("{hour}:00:04"), session, asked);
        edit_at(&env, &format!("{hour}:00:05"), session, "README.md");
        stop_at(
            &env,
            &format!("{hour}:00:06"),
            session,
            "The README says it now: `mean` reads numbers only.",
        );
        end_at(&env, &format!("{hour}:00:07"), session);
        let told = start_at(&env, &format!("{hour}:01:00"), &format!("{session}2"));
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn the_request_of_a_session_in_another_worktree_is_no_filler() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_at(&env, "08:00:00", "a");
    ask_at(&env, "08:00:01", "a", MEAN_RULE);
    edit_at(&env, "08:00:02", "a", "src/stats.rs");
    end_at(&env, "08:00:03", "a");
    let tree = env.base_folder().join("beside");
    env.run_git(&["worktree", "add", "--quiet", "-b", "negative", tree.to_str().unwrap()]);
    let edited = json!({"file_path": tree.join("README.md"), "old_string": "a", "new_string": "b"});
    for (time, event, more) in [
        ("08:01:00", "SessionStart", json!({"source": "startup"})),
        (
            "08:01:01",
            "UserPromptSubmit",
            json!({"prompt": "Accounting notation: (2) means -2, in sum_column and mean."}),
        ),
        ("08:01:02", "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "e", "tool_input": edited})),
        ("08:01:03", "Stop", json!({"last_assistant_message": "The test is there."})),
        ("08:01:04", "UserPromptSubmit", json!({"prompt": "go on, but only read"})),
        ("08:01:05", "SessionEnd", json!({"reason": "other"})),
    ] {
        let payload = crate::env::merge_fields(&env.event_payload("b", event, more), json!({"cwd": tree}));
        env.hook_call(event, payload.to_string())
            .with_variable("CLAUDE_PROJECT_DIR", &tree)
            .with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z"))
            .run();
    }
    let told = start_at(&env, "08:02:00", "c");
    assert!(told.contains("(branch negative); the user asked “Accounting notation: (2) means -2"), "{told}");
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    let told = start_at(&env, "08:03:00", "d");
    assert!(
        told.contains("which has since been removed (its branch was negative); the user asked"),
        "{told}"
    );
}

/// Lets the user of a session state two lasting instructions, and then give another task.
fn give_rules_and_task(env: &TestEnv, session: &str) {
    ask_at(env, "08:00:01", session, "Add the flag --mean. Don't commit yet. Never use regular expressions.");
    edit_at(env, "08:00:02", session, "src/main.rs");
    stop_at(env, "08:00:03", session, "The flag is there.");
    ask_at(env, "08:00:04", session, MEAN_RULE);
    edit_at(env, "08:00:05", session, "src/stats.rs");
}

/// Returns the constraints in a packet that session `b` writes.
fn constraints_of_packet(env: &TestEnv, time: &str, purpose: &str) -> String {
    let written = thru_at(env, time, "b", &["handoff", purpose, "--json"]).json();
    let text = env.run_thru(&["packet", "show", written["id"].as_str().unwrap()]).assert_ok().stdout;
    text.split("## Constraints").nth(1).unwrap().split("\n## ").next().unwrap().to_owned()
}

#[test]
fn an_instruction_of_an_earlier_session_is_dropped_once_it_is_lifted() {
    let env = TestEnv::with_root();
    start_at(&env, "08:00:00", "a");
    give_rules_and_task(&env, "a");
    end_at(&env, "08:00:07", "a");
    start_at(&env, "08:01:00", "b");
    ask_at(&env, "08:01:01", "b", "Go on.");
    let before = constraints_of_packet(&env, "08:01:02", "go on");
    assert!(before.contains("Don't commit yet") && before.contains("regular expressions"), "{before}");
    ask_at(&env, "08:01:03", "b", "commit this");
    let after = constraints_of_packet(&env, "08:01:04", "go on once more");
    assert!(!after.contains("Don't commit yet") && after.contains("regular expressions"), "{after}");
}

#[test]
fn an_instruction_of_a_packet_is_lifted_only_by_words_about_the_packet() {
    for (before, after, is_kept) in [
        (Some("commit this"), None, true),
        (Some("/pickup and commit this"), None, false),
        (None, Some("commit this"), false),
        (None, Some("don't commit that either"), true),
    ] {
        let env = TestEnv::with_root();
        start_at(&env, "08:00:00", "a");
        give_rules_and_task(&env, "a");
        thru_at(&env, "08:00:06", "a", &["handoff", "fix mean"]);
        end_at(&env, "08:00:07", "a");
        start_at(&env, "08:01:00", "b");
        before.into_iter().for_each(|prompt| drop(ask_at(&env, "08:01:01", "b", prompt)));
        thru_at(&env, "08:01:02", "b", &["pickup", "--claim"]);
        after.into_iter().for_each(|prompt| drop(ask_at(&env, "08:01:03", "b", prompt)));
        let constraints = constraints_of_packet(&env, "08:01:04", "finish mean");
        assert_eq!(constraints.contains("Don't commit yet"), is_kept, "{before:?} {after:?}: {constraints}");
        assert!(constraints.contains("regular expressions"), "{before:?} {after:?}: {constraints}");
    }
}
