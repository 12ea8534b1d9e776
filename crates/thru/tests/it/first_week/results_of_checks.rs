//! Tests the results of checks and calls, and the goal of a session that began with a command.

use super::handoffs::{ask_at, edit_at, end_at, fire_at, run_at, start_at, stop_at, thru_at};
use super::*;
use crate::packet_sweeps::mark_session_dead;

/// Reports a failed call. If `output` has no line `Exit code`, the harness refused the call.
pub(super) fn fail_at(env: &TestEnv, time: &str, session: &str, command: &str, output: &str) {
    let call = json!({"tool_name": "Bash", "tool_use_id": format!("{session}-{time}"),
        "tool_input": {"command": command}, "error": output});
    fire_at(env, time, session, "PostToolUseFailure", call);
}

pub(super) fn read_at(env: &TestEnv, time: &str, session: &str, path: &str) {
    let call = json!({"tool_name": "Read", "tool_use_id": format!("{session}-{time}"),
        "tool_input": {"file_path": env.project_folder().join(path)},
        "tool_response": {"type": "text", "file": {"filePath": path, "content": "x"}}});
    fire_at(env, time, session, "PostToolUse", call);
}

const MAKE_TEST: &str = "src/main.c:7:17: warning: variable ‘round’ set but not used [-Wunused-but-set-variable]\nFAIL: --round m 1h29m40s: expected 1h30m, got 1h29m40s\nmake: *** [Makefile:12: test] Error 1\n";
const MAKE_LINT: &str = "cc -std=c11 -fsyntax-only -Wall -Werror src/*.c\nsrc/main.c:7:17: error: variable ‘round’ set but not used [-Werror=unused-but-set-variable]\ncc1: all warnings being treated as errors\nmake: *** [Makefile:15: lint] Error 1\n";

/// Creates a project in which the user asked session `s1` for something, and `s1` edited a file.
fn env_with_edit() -> TestEnv {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Round the durations to minutes");
    edit_at(&env, "19:00:02", "s1", "src/main.c");
    env
}

#[test]
fn in_a_list_of_checks_each_has_its_own_result() {
    let (fail, error) =
        ("`FAIL: --round m 1h29m40s: expected 1h30m, got 1h29m40s`", "`src/main.c:7:17: error: ");
    for (command, output) in [
        ("make test; make lint", format!("Exit code 2\n{MAKE_TEST}{MAKE_LINT}")),
        ("make lint; make test", format!("Exit code 2\n{MAKE_LINT}{MAKE_TEST}")),
    ] {
        let env = env_with_edit();
        fail_at(&env, "19:00:03", "s1", command, &output);
        thru_at(&env, "19:00:04", "s1", &["handoff", "finish rounding"]);
        let packet = env.run_thru(&["packet", "show", "rounding"]).assert_ok().stdout;
        let line_of = |check: &str| {
            let start = format!("- [ ] `{check}` — ");
            let found = packet.lines().find(|line| line.starts_with(&start));
            found.unwrap_or_else(|| panic!("no {check}: {packet}")).to_owned()
        };
        assert!(line_of("make test").contains("— failed") && line_of("make test").contains(fail), "{packet}");
        assert!(
            line_of("make lint").contains("— failed") && line_of("make lint").contains(error),
            "{packet}"
        );
        let with_exit = packet.lines().filter(|line| line.contains("— failed (exit 2)")).count();
        assert_eq!(with_exit, 1, "the exit code is of one of them: {packet}");
        let picked = env.run_thru(&["pickup", "rounding"]).assert_ok().stdout;
        assert!(!picked.contains("verified: passed"), "{picked}");
    }
}

#[test]
fn what_an_exit_code_does_not_prove_is_not_verified() {
    let env = env_with_edit();
    fail_at(&env, "19:00:03", "s1", "make test", &format!("Exit code 2\n{MAKE_TEST}"));
    run_at(&env, "19:00:04", "s1", "make test; make lint", "lint ok");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("`make test`") && brief.contains("FAIL: --round"), "still fails: {brief}");
    run_at(&env, "19:00:05", "s1", "make lint && make test", "lint ok\n13 cases, 0 failed");
    thru_at(&env, "19:00:06", "s1", &["handoff", "finish rounding"]);
    let packet = env.run_thru(&["packet", "show", "rounding"]).assert_ok().stdout;
    let lint = packet.lines().find(|line| line.starts_with("- [ ] `make lint`")).unwrap();
    assert!(lint.contains("passed") && !lint.contains("13 cases"), "{lint}");
    assert!(packet.contains("`13 cases, 0 failed`"), "{packet}");
}

#[test]
fn a_call_that_the_harness_refused_leaves_the_failure_as_it_is() {
    let env = env_with_edit();
    fail_at(&env, "19:00:03", "s1", "make test", &format!("Exit code 2\n{MAKE_TEST}"));
    let refusal =
        "Blocked: sleep 30 followed by: make test. To wait for a condition, use Monitor with an until-loop.";
    fail_at(&env, "19:00:04", "s1", "sleep 30; make test", refusal);
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains("FAIL: --round m") && !brief.contains("Failing:\n- `sleep 30"), "{brief}");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("failing      `make test`"), "{status}");
    let journal = env.run_thru(&["journal"]).assert_ok().stdout;
    assert!(journal.contains("did not run Blocked: sleep 30"), "{journal}");
}

#[test]
fn a_killed_session_that_only_picked_up_a_packet_gets_a_packet() {
    let env = env_with_edit();
    thru_at(&env, "19:00:03", "s1", &["handoff", "finish negative durations"]);
    end_at(&env, "19:00:04", "s1");
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "/pickup finish-negative");
    thru_at(&env, "19:01:02", "s2", &["pickup", "negative", "--claim"]);
    run_at(&env, "19:01:03", "s2", "thru pickup negative --claim", "Picking up");
    edit_at(&env, "19:01:04", "s2", "tests/cases");
    fail_at(&env, "19:01:05", "s2", "make test", &format!("Exit code 2\n{MAKE_TEST}"));
    mark_session_dead(&env, "s2");
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("crashed"), "{status}");
    let told = start_at(&env, "19:02:00", "s3");
    assert!(told.contains("s2") && told.contains("crashed"), "{told}");
    let packets = env.run_thru(&["packet", "list"]).assert_ok().stdout;
    assert!(packets.matches("-finish-negative-durations  ").count() == 2, "{packets}");

    // This session has claimed nothing. It edited a file and was killed while it was idle.
    start_at(&env, "19:02:30", "s5");
    ask_at(&env, "19:02:31", "s5", "/pickup");
    edit_at(&env, "19:02:32", "s5", "src/format.c");
    stop_at(&env, "19:02:33", "s5", "The formatter is next.");
    mark_session_dead(&env, "s5");
    let swept = env.run_thru(&["sweep"]).assert_ok().stdout;
    assert!(swept.contains("-the-work-on-src-format-c"), "{swept}");

    // A session that was only asked to pick up a packet, and did nothing else, has nothing to hand over.
    start_at(&env, "19:03:00", "s4");
    ask_at(&env, "19:03:01", "s4", "/pickup");
    run_at(&env, "19:03:02", "s4", "thru pickup", "Picking up");
    mark_session_dead(&env, "s4");
    let swept = env.run_thru(&["sweep"]).assert_ok().stdout;
    assert!(swept.contains("nothing to hand over"), "{swept}");
}

#[test]
fn the_request_after_a_role_is_the_goal() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "You are the tester. Add cases for repeated units.");
    edit_at(&env, "19:00:02", "s1", "tests/cases");
    stop_at(&env, "19:00:03", "s1", "I have added three cases.");
    ask_at(&env, "19:00:04", "s1", "Which of them fail?");
    stop_at(&env, "19:00:05", "s1", "None of them.");
    end_at(&env, "19:00:06", "s1");
    let told = start_at(&env, "19:01:00", "s2");
    assert!(!told.contains("“”") && told.contains("Add cases for repeated units"), "{told}");
}

#[test]
fn a_word_in_the_output_is_no_file() {
    let env = TestEnv::with_root();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Accept negative durations");
    edit_at(&env, "19:00:02", "s1", "tests/cases");
    let output = "Exit code 2\nFAIL: durfmt -90m: expected -1h30m, got !\n17 cases, 3 failed\nmake: *** [Makefile:11: test] Error 1";
    fail_at(&env, "19:00:03", "s1", "make test", output);
    thru_at(&env, "19:00:04", "s1", &["handoff", "finish negative durations"]);
    let packet = env.run_thru(&["packet", "show", "negative"]).assert_ok().stdout;
    assert!(packet.contains("`tests/cases` — ") && !packet.contains("names it"), "{packet}");
}

#[test]
fn the_journal_shows_the_reason_and_not_the_command_that_make_prints() {
    let env = env_with_edit();
    fail_at(&env, "19:00:03", "s1", "make lint", &format!("Exit code 2\n{MAKE_LINT}"));
    fail_at(&env, "19:00:04", "s1", "make test", &format!("Exit code 2\n{MAKE_TEST}"));
    let journal = env.run_thru(&["journal"]).assert_ok().stdout;
    let line_of = |check: &str| journal.lines().find(|line| line.contains(check)).unwrap().to_owned();
    assert!(line_of("make lint").contains("src/main.c:7:17: error:"), "{journal}");
    assert!(line_of("make test").contains("FAIL: --round m"), "{journal}");
}

#[test]
fn a_removed_worktree_whose_branch_was_merged_is_no_lost_work() {
    let env = TestEnv::with_repository();
    env.run_thru(&["init"]).assert_ok();
    start_at(&env, "19:00:00", "s1");
    ask_at(&env, "19:00:01", "s1", "Round the durations");
    edit_at(&env, "19:00:02", "s1", "README.md");
    end_at(&env, "19:00:03", "s1");
    let tree = env.base_folder().join("zero");
    env.run_git(&["worktree", "add", "--quiet", "-b", "zero", tree.to_str().unwrap()]);
    for (time, event, more) in [
        ("19:01:00", "SessionStart", json!({"source": "startup"})),
        ("19:01:01", "UserPromptSubmit", json!({"prompt": "Print zero as 0s"})),
        (
            "19:01:02",
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": "e", "tool_input": {"file_path": tree.join("README.md"), "old_string": "a", "new_string": "b"}}),
        ),
        ("19:01:03", "SessionEnd", json!({"reason": "other"})),
    ] {
        let payload = crate::env::merge_fields(&env.event_payload("s2", event, more), json!({"cwd": tree}));
        env.hook_call(event, payload.to_string())
            .with_variable("CLAUDE_PROJECT_DIR", &tree)
            .with_variable("THROUGHLINE_NOW", format!("2026-11-15T{time}Z"))
            .run();
    }
    fs::write(tree.join("zero.txt"), "0s\n").unwrap();
    env.run_git_in(&tree, &["add", "-A"]);
    env.run_git_in(&tree, &["commit", "-qm", "Zero"]);
    // The session's events have simulated times, but git would use the real clock. So the merge gets an explicit time.
    let merge = "alias.merge-later=!GIT_COMMITTER_DATE=2026-11-15T19:01:30Z git merge --quiet";
    env.run_git(&["-c", merge, "merge-later", "zero"]);
    env.run_git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    env.run_git(&["branch", "-d", "zero"]);
    let told = start_at(&env, "19:02:00", "s3");
    let expected = format!(
        "until 2026-11-15T19:01:03Z, session s2 worked in the worktree {}, which has since been removed after its branch zero was merged",
        tree.display()
    );
    assert!(told.contains(&expected), "{told}");
}

/// Asserts that every command uses this session if the user names none.
fn assert_last_session(env: &TestEnv, time: &str, session: &str, prompt: &str) {
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains(&format!("most recent work: {session} in")), "{status}");
    assert!(status.contains(&format!("last prompt  “{prompt}”")), "{status}");
    let journal = env.run_thru(&["journal"]).assert_ok();
    let all = format!("{}{}", journal.stdout, journal.stderr);
    assert!(all.contains(&format!("session {session} (the last session that did any work here; ")), "{all}");
    let brief = env.run_thru(&["brief"]).assert_ok().stdout;
    assert!(brief.contains(prompt), "{brief}");
    let told = start_at(env, time, &format!("new-{session}"));
    assert!(told.contains(prompt), "{told}");
    end_at(env, time, &format!("new-{session}"));
}

#[test]
fn the_last_session_is_the_one_that_was_last_about_something() {
    let env = env_with_edit();
    end_at(&env, "19:00:05", "s1");
    assert_last_session(&env, "19:00:10", "s1", "Round the durations to minutes");

    // This session only reads a file and answers.
    start_at(&env, "19:01:00", "s2");
    ask_at(&env, "19:01:01", "s2", "Explain how the parser treats spaces");
    read_at(&env, "19:01:02", "s2", "src/parse.c");
    stop_at(&env, "19:01:03", "s2", "It skips them.");
    end_at(&env, "19:01:04", "s2");
    assert_last_session(&env, "19:01:10", "s2", "Explain how the parser treats spaces");

    // One session answers a question without any call, and another one only runs thru.
    start_at(&env, "19:02:00", "s3");
    ask_at(&env, "19:02:01", "s3", "What is a monad?");
    stop_at(&env, "19:02:02", "s3", "A monoid in the category of endofunctors.");
    end_at(&env, "19:02:03", "s3");
    start_at(&env, "19:03:00", "s4");
    ask_at(&env, "19:03:01", "s4", "Run thru status");
    run_at(&env, "19:03:02", "s4", "thru status", "trusted");
    end_at(&env, "19:03:03", "s4");
    assert_last_session(&env, "19:03:10", "s2", "Explain how the parser treats spaces");

    // The agent answers two requests of this session without calling any tool.
    start_at(&env, "19:04:00", "s5");
    ask_at(&env, "19:04:01", "s5", "Design a flag for the width of the output");
    stop_at(&env, "19:04:02", "s5", "Let us call it --width.");
    ask_at(&env, "19:04:03", "s5", "Which default should the width have");
    stop_at(&env, "19:04:04", "s5", "Eighty.");
    end_at(&env, "19:04:05", "s5");
    assert_last_session(&env, "19:04:10", "s5", "Which default should the width have");
}

/// Parentheses in quotes are part of the edit, which the reader need not repeat.
#[test]
fn a_check_that_passed_after_an_edit_on_the_same_line_is_told() {
    let edit =
        "sed -i \"s/^const json = .*/&\\nconst total = args.includes('--total');/; s/a(b)/c(d)/\" src/cli.js";
    for command in [
        format!("{edit} && npm test"),
        format!("cat > src/total.js <<'EOF'\nexport const total = () => (1);\nEOF\n{edit} && npm test"),
        format!("{edit}; npm test 2>&1 | tail -5"),
    ] {
        let env = env_with_edit();
        run_at(&env, "19:00:03", "s1", &command, "# tests 7\n# pass 7\n# fail 0");
        let brief = env.run_thru(&["brief"]).assert_ok().stdout;
        assert!(brief.contains("Checks:\n- `npm test"), "{command}: {brief}");
        assert!(brief.contains("` → passed\n"), "{command}: {brief}");
    }
}
