//! What agents know of each other: the log of their calls, `thru swarm status`, and what they are told.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::env::TestEnv;

/// A call of a session's main agent, or of a sub-agent of type `agent`.
fn call(env: &TestEnv, session: &str, id: &str, agent: &str, fields: Value) {
    let mut payload = env.payload(session, "PostToolUse", fields);
    payload["tool_use_id"] = json!(id);
    if !agent.is_empty() {
        payload["agent_id"] = json!(format!("{agent}-1"));
        payload["agent_type"] = json!(agent);
    }
    env.hook("PostToolUse", &payload).silent("a tool call");
}

fn edit(env: &TestEnv, session: &str, id: &str, agent: &str, file: &str) {
    let input = json!({"file_path": env.project().join(file), "old_string": "a", "new_string": "b"});
    call(env, session, id, agent, json!({"tool_name": "Edit", "tool_input": input, "duration_ms": 10}));
}

fn stop(env: &TestEnv, session: &str) {
    env.fire(session, "Stop", json!({"stop_hook_active": false, "last_assistant_message": "done"}));
}

/// Two sessions: one with a coder and a failed command, one with a role.
fn two_sessions() -> TestEnv {
    let env = TestEnv::rooted();
    for session in ["one", "two"] {
        env.fire(session, "SessionStart", json!({"source": "startup"}));
    }
    env.write(
        "project/.agent/context/agents/tester.context.md",
        include_str!("../../../model/src/role/good.context.md"),
    );
    env.thru(&["role", "bind", "tester", "--session", "two"]).ok();
    edit(&env, "one", "t1", "", "src/a.rs");
    edit(&env, "one", "t2", "coder", "src/b.rs");
    let failed = env.payload(
        "one",
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_use_id": "t3", "tool_input": {"command": "cargo test"},
            "error": "Exit code 101\nerror: it failed", "duration_ms": 1500}),
    );
    env.hook("PostToolUseFailure", &failed).silent("a failed call");
    edit(&env, "two", "t4", "", "src/a.rs");
    env
}

fn counts(report: &Value, part: &str) -> Vec<(String, u64, u64, u64)> {
    let row = |row: &Value| {
        let number = |key: &str| row[key].as_u64().unwrap();
        (row["name"].as_str().unwrap().to_owned(), number("calls"), number("ok"), number("failed"))
    };
    report[part].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn calls_are_counted_by_tool_agent_and_session() {
    let env = two_sessions();
    assert_snapshot!(env.shown(&env.thru(&["swarm", "status"]).to_string()), @r"
    exit: 0
    ---- stdout
    tool      calls      ok  failed   average
    Edit          3       3       0     10 ms
    Bash          1       0       1     1.5 s

    agent     calls      ok  failed   average
    main          2       1       1    755 ms
    coder         1       1       0     10 ms
    tester        1       1       0     10 ms

    session   calls      ok  failed   average
    one           3       2       1    506 ms  claude-code, with coder; 2 files changed; just now
    two           1       1       0     10 ms  claude-code, role tester; 1 file changed; just now
    ");
    let report = env.json(&["swarm", "status"]);
    assert_eq!(counts(&report, "tools"), [("Edit".into(), 3, 3, 0), ("Bash".into(), 1, 0, 1)]);
    assert_eq!(
        counts(&report, "agents"),
        [("main".into(), 2, 1, 1), ("coder".into(), 1, 1, 0), ("tester".into(), 1, 1, 0)]
    );
    let one = env.json(&["swarm", "status", "--session", "one"]);
    assert_eq!((one["session"].as_str(), one["calls"].as_u64()), (Some("one"), Some(3)));
    assert_eq!(env.thru(&["swarm", "status", "--session", "three"]).code, 10);
}

#[test]
fn the_log_is_written_at_a_checkpoint_and_can_be_deleted() {
    let env = two_sessions();
    let log = env.store().join("indexes/activity.jsonl");
    assert!(!log.exists(), "a tool call writes only to its journal");
    let before = env.json(&["swarm", "status"]);
    stop(&env, "one");
    stop(&env, "two");
    let lines = env.log("indexes/activity.jsonl");
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[1]["agent"]["type"], "coder");
    assert_eq!(lines[3]["role"], "tester");
    assert_eq!(env.json(&["swarm", "status"]), before);
    // A later call is not in the log yet, and counts.
    edit(&env, "one", "t5", "", "src/c.rs");
    let with_one_more = env.json(&["swarm", "status"]);
    assert_eq!(with_one_more["calls"], 5);
    // Without the log, or with half of it, the journals say the same.
    let whole = fs::read_to_string(&log).unwrap();
    fs::write(&log, whole.lines().next().unwrap()).unwrap();
    assert_eq!(env.json(&["swarm", "status"]), with_one_more);
    fs::remove_file(&log).unwrap();
    assert_eq!(env.json(&["swarm", "status"]), with_one_more);
    // The same lines twice, as a crash between log and digest leaves them.
    fs::write(&log, format!("{whole}{whole}")).unwrap();
    assert_eq!(env.json(&["swarm", "status"]), with_one_more);
}

#[test]
fn a_project_without_sessions_says_so() {
    let env = TestEnv::rooted();
    let output = env.thru(&["swarm", "status"]).ok();
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("", "Hooks have not reported any tool call yet.\n")
    );
    assert_eq!(env.json(&["swarm", "status"])["calls"], 0);
}
