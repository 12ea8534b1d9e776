//! Tests for failures that were fixed, stages that passed, and workstreams that are finished.

use super::files_at_risk::repository_with_files;
use super::handoffs::{ask_at, edit_at, end_at, run_at, start_at, stop_at, thru_at};
use super::results_of_checks::fail_at;
use super::*;

const DURATIONS: &str = "parseDuration should also accept compound durations like '1h30m' and '2m5s'. Units must come in descending order, and each at most once; anything else is a TypeError. Please write tests first, and don't add dependencies.";
const RETRIES: &str = "Good. Commit that. Then add retries to Queue: `q.retry(job, {max: 3, backoff: '1s'})` pushes the job again with exponential backoff and throws RangeError after max attempts. Keep Queue free of timers: the clock is always passed in.";

/// Creates a project in which session `s1` made two changes, the second of which needed a fix.
fn env_with_fixed_retries() -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", DURATIONS);
    edit_at(&env, "19:00:02", "s1", "src/duration.js");
    run_at(&env, "19:00:03", "s1", "npm test", "# tests 6\n# pass 6\n# fail 0");
    stop_at(
        &env,
        "19:00:04",
        "s1",
        "Compound durations work: `1h30m`, `2m5s`; wrong order, repeats and the empty string are TypeErrors. All 6 tests pass. I used one regex with optional groups in descending order rather than a tokenizer, because order and uniqueness come for free.",
    );
    ask_at(&env, "19:01:01", "s1", RETRIES);
    edit_at(&env, "19:01:02", "s1", "src/queue.js");
    fail_at(
        &env,
        "19:01:03",
        "s1",
        "npm test",
        "Exit code 1\nnot ok 7 - retry backs off exponentially\n# tests 7\n# pass 6\n# fail 1",
    );
    stop_at(
        &env,
        "19:01:04",
        "s1",
        "`retry` is in place but its test fails: the first retry waits 2 s instead of 1 s. The exponent should be `n - 1`, I'll fix that next. Still open: resetting the attempt count when a job succeeds (`q.done(job)`), and the README.",
    );
    ask_at(&env, "19:02:01", "s1", "Go on.");
    edit_at(&env, "19:02:02", "s1", "src/queue.js");
    run_at(&env, "19:02:03", "s1", "npm test", "# tests 7\n# pass 7\n# fail 0");
    stop_at(
        &env,
        "19:02:04",
        "s1",
        "All 7 tests pass now. Open: `q.done(job)` to reset attempts, and the README section on retries. Nothing of the retry work is committed yet.",
    );
    env
}

#[test]
fn a_requirement_of_the_opening_request_is_not_cut_while_there_is_room() {
    let env = env_with_fixed_retries();
    end_at(&env, "19:02:05", "s1");
    let told = start_at(&env, "19:10:00", "s2");
    assert!(told.contains("Please write tests first, and don't add dependencies.”"), "{told}");
    let words = told.split("The user's words:\n").nth(1).unwrap_or_else(|| panic!("{told}"));
    assert!(words.lines().next().unwrap().contains("don't add dependencies"), "it lasts: {told}");
    thru_at(&env, "19:11:00", "s1", &["handoff", "reset the attempts", "--session", "s1"]);
    let packet = env.run_thru(&["packet", "show", "attempts"]).assert_ok().stdout;
    assert!(packet.contains(" … don't add dependencies.”\n"), "{packet}");
}

#[test]
fn a_failure_that_is_fixed_is_not_told_as_an_outcome() {
    let env = env_with_fixed_retries();
    end_at(&env, "19:02:05", "s1");
    let told = start_at(&env, "19:10:00", "s2");
    assert!(told.contains("`npm test` → passed"), "{told}");
    assert!(!told.contains("its test fails") && !told.contains("Still open:"), "{told}");
    assert!(told.contains("I used one regex with optional groups"), "{told}");
}

#[test]
fn a_change_of_a_record_makes_no_check_obsolete() {
    let env = TestEnv::with_root();
    let record = ".agent/context/agents/tester.context.md";
    for file in [record, "src/queue.js"] {
        env.write_file(format!("project/{file}"), "a\n");
    }
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Let q.clear() empty the queue");
    edit_at(&env, "19:00:02", "s1", record);
    edit_at(&env, "19:00:03", "s1", "src/queue.js");
    fail_at(&env, "19:00:04", "s1", "npm test", "Exit code 1\nnot ok 5 - clear empties the queue");
    end_at(&env, "19:00:05", "s1");
    std::thread::sleep(std::time::Duration::from_millis(20));
    env.write_file(format!("project/{record}"), "b\n");
    let told = start_at(&env, "19:10:00", "s2");
    assert!(told.contains("`npm test` (exit 1)"), "{told}");
    env.write_file("project/src/queue.js", "b\n");
    let told = start_at(&env, "19:11:00", "s3");
    assert!(told.contains("`npm test` (exit 1, before later changes)"), "{told}");
}

#[test]
fn uncommitted_files_that_are_all_unchanged_are_verified() {
    let env = repository_with_files(&["src/queue.js", "test/queue.test.js"]);
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Let q.clear() empty the queue, with a test");
    for (time, file) in [("19:00:02", "src/queue.js"), ("19:00:03", "test/queue.test.js")] {
        env.write_file(format!("project/{file}"), "new\n");
        edit_at(&env, time, "s1", file);
    }
    thru_at(&env, "19:00:04", "s1", &["handoff", "document q.clear"]);
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(!picked.contains("unverified"), "{picked}");
    env.write_file("project/src/queue.js", "newer\n");
    let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
    assert!(picked.contains("unverified: uncommitted files: 2 files uncommitted then and now"), "{picked}");
}

#[test]
fn a_stage_that_passed_stays_passed_when_its_inputs_are_edited() {
    let env = TestEnv::with_root();
    env.write_file("project/src/queue.js", "old\n");
    start_at(&env, "19:00:00", "s1");
    let expect = ["gate", "expect", "review", "--critical", "review-a.md", "--input", "src/queue.js"];
    let made = thru_at(&env, "19:00:01", "s1", &[&expect[..], &["--json"]].concat()).json();
    let output = Path::new(made["run"].as_str().unwrap()).join("review-a.md");
    fs::write(&output, "Fine.\n\n<!-- AGENT_COMPLETE -->\n").unwrap();
    let check = thru_at(&env, "19:00:05", "s1", &["gate", "check"]);
    assert!(check.stdout.contains("PERSISTENCE_GATE=PASS"), "{check}");
    env.write_file("project/src/queue.js", "new\n");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(!status.contains("open") && !status.contains("Next: `thru gate check`"), "{status}");
    let story = "stage review passed at 2026-11-15 19:00 UTC; inputs changed since: src/queue.js; the outputs are stale";
    assert!(status.contains(story), "{status}");
    end_at(&env, "19:00:06", "s1");
    let told = start_at(&env, "19:10:00", "s2");
    assert!(!told.contains("review-a.md"), "{told}");
    // `thru gate check` judges the outputs again, and so does the next `thru gate expect`.
    let check = env.run_thru(&["gate", "check"]);
    assert!(check.stdout.contains("inputs have changed"), "{check}");
}

#[test]
fn status_says_how_a_waiting_loop_begins() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    env.run_thru(&["loop", "start", "Write the docs", "--promise", "DONE", "--next"]).assert_ok();
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    let how = "start your harness here and send any message, such as `go`, to run it";
    assert!(status.contains(how), "{status}");
}

#[test]
fn a_finished_workstream_is_shown_as_finished() {
    let env = TestEnv::with_root();
    let folder = "project/.agent/context/workstreams/07-safe-durations";
    env.write_file(format!("{folder}/steps.md"), "- [x] parse\n- [ ] print\n");
    env.run_thru(&["resume", "new", "07-safe-durations"]).assert_ok();
    env.run_thru(&["resume", "update", "--task-done"]).assert_ok();
    let list = env.run_thru(&["resume", "list"]).assert_ok().stdout;
    assert!(list.contains("finished") && !list.contains("planning"), "{list}");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("07-safe-durations (finished)"), "{status}");
}
