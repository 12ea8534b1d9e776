//! Tests commands in projects where hooks do nothing. There, a command must not promise that a hook will do something.

use std::fs;

use serde_json::json;

use crate::call::ThruOutput;
use crate::env::TestEnv;
use crate::moves::MovedProject;

/// Commands that normally say what a hook will do. If hooks do nothing, the command must print the text next to it
/// instead.
const PROMISES: &[(&[&str], &str)] = &[
    (&["handoff", "the rest"], "No session is told about this packet"),
    (&["role", "bind", "tester", "--session", "s2"], "The session is told nothing about its role until"),
    (&["resume", "use", "01", "--session", "s2"], "The session is told nothing about the workstream until"),
    (&["brief", "--event", "startup"], "No session is told any of this until"),
];

/// More such commands. They are not tested in a moved project, where they fail or do not name a session.
const PROMISES_IN_TRUSTED_ROOT: &[(&[&str], &str)] = &[
    (&["loop", "start", "--next", "go on", "--promise", "OK"], "The loop does not run until"),
    (&["loop", "list"], "No loop runs until"),
    (&["loop", "activate", "go-on", "--next"], "The loop does not run until"),
    (
        &["gate", "expect", "review", "--critical", "review-a.md"],
        "The session is not told which outputs are missing until",
    ),
];

/// Promises that are true only while hooks work.
const BROKEN: &[&str] = &["the next session here is told", "s2 is told which outputs are missing"];

fn assert_no_promise(
    promises: &[(&[&str], &str)],
    run: impl Fn(&[&str]) -> ThruOutput,
    (reason, way_out): (&str, &str),
) {
    for (words, consequence) in promises {
        let output = run(words).assert_ok();
        let said = &output.stderr;
        assert!(
            said.contains(consequence) && said.contains(reason) && said.contains(way_out),
            "{words:?}: {output}"
        );
        for broken in BROKEN {
            assert!(!format!("{}{said}", output.stdout).contains(broken), "{words:?}: {output}");
        }
    }
}

fn open_session_and_workstream(env: &TestEnv) {
    env.fire_event("s2", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s2", "UserPromptSubmit", json!({"prompt": "Add a test for the lexer"}));
    env.run_thru(&["resume", "new", "01-lexer"]).assert_ok();
}

#[test]
fn a_moved_project_promises_nothing() {
    let moved = MovedProject::moved_after(open_session_and_workstream);
    let why = ("this project was moved from", "`thru trust --moved`");
    assert_no_promise(PROMISES, |words| moved.run_thru(words), why);
    moved.run_thru(&["trust", "--moved"]).assert_ok();
    let handoff = moved.run_thru(&["handoff", "more"]).assert_ok();
    assert!(handoff.stderr.contains("the next session here is told about it"), "{handoff}");
    assert!(!handoff.stderr.contains("hooks do nothing"), "{handoff}");
}

#[test]
fn switched_off_hooks_promise_nothing() {
    let env = TestEnv::with_root();
    open_session_and_workstream(&env);
    env.write_file(env.user_config_path(), "[hooks]\nenabled = false\n");
    let why = ("they are switched off", "`thru config` shows where");
    assert_no_promise(PROMISES, |words| env.run_thru(words), why);
    assert_no_promise(PROMISES_IN_TRUSTED_ROOT, |words| env.run_thru(words), why);
    let status = env.run_thru(&["status"]).assert_ok().stdout;
    assert!(status.contains("Next: `thru config` shows where hooks are switched off"), "{status}");
    assert_eq!(env.run_thru_json(&["status"])["next"], "switch-on");
    fs::remove_file(env.user_config_path()).unwrap();
    for (words, _) in PROMISES.iter().chain(PROMISES_IN_TRUSTED_ROOT) {
        let output = env.run_thru(words).assert_ok();
        assert!(!output.stderr.contains("hooks do nothing"), "{words:?}: {output}");
    }
}

#[test]
fn untrusted_records_promise_nothing() {
    let env = TestEnv::with_root();
    open_session_and_workstream(&env);
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    assert_no_promise(
        PROMISES,
        |words| env.run_thru(words),
        ("not trusted on this machine", "run `thru trust`"),
    );
}

/// Nothing has been captured, and no settings file calls thru.
#[test]
fn a_project_without_hooks_promises_nothing() {
    let env = TestEnv::with_root();
    for (words, consequence) in [
        (&["handoff", "the rest"][..], "No session is told about this packet"),
        (&["loop", "start", "--next", "go on"], "The loop does not run until you run `thru init`."),
    ] {
        let output = env.run_thru(words).assert_ok();
        assert!(output.stderr.contains(consequence), "{words:?}: {output}");
        assert!(!output.stderr.contains("the next session here is told"), "{words:?}: {output}");
    }
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    let output = env.run_thru(&["handoff", "more"]).assert_ok();
    assert!(output.stderr.contains("the next session here is told"), "a plugin may call thru: {output}");
}
