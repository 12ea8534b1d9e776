//! Tests what `thru recover` prints with a context file, without one, and with a damaged state.

use serde_json::json;

use crate::env::TestEnv;
use crate::roles::{CONTEXT_FILE, GOOD_CONTEXT_TEXT, env_with_bound_role, env_with_role};

#[test]
fn recovery_is_the_same_bytes_for_the_same_state() {
    let env = env_with_role();
    env.write_file("project/.claude/agents/tester/SKILL.md", "skill\n");
    env.write_file("project/ARCHITECTURE.md", "house\n");
    let first = env.run_thru(&["recover", "tester"]).assert_ok();
    assert_eq!(env.run_thru(&["context", "recover", "tester"]).assert_ok().bytes, first.bytes);
    let expected = format!(
        "Recovery of the role tester\n\n\
         Checklist:\n\
         1. Read the context file below, .agent/context/agents/tester.context.md\n\
         2. Read what the role is: .claude/agents/tester/SKILL.md\n\
         3. Read the architecture: ARCHITECTURE.md\n\
         4. Take the recovery steps that the context file lists\n\
         5. Continue with the role's goal and its pending work\n\n\
         ===== .agent/context/agents/tester.context.md\n\
         {GOOD_CONTEXT_TEXT}\
         ===== end of .agent/context/agents/tester.context.md\n\n\
         Recovered: tester\n"
    );
    assert_eq!(first.stdout, expected);
    env.run_thru(&["lifecycle", "save", "tester"]).assert_ok();
    let later = env
        .thru_call(&["recover", "tester"])
        .with_variable("THROUGHLINE_NOW", "2027-01-01T00:00:00Z")
        .run()
        .assert_ok();
    assert_eq!(later.stdout, expected.replace("Recovered", "Lifecycle: active\nRecovered"));
    assert_eq!(env.run_thru(&["recover", "tester"]).assert_ok().bytes, later.bytes);
}

#[test]
fn recovery_without_a_file_names_it_and_with_a_bad_one_prints_it() {
    let env = TestEnv::with_root();
    let missing = env.run_thru(&["recover", "tester"]).assert_exit_code(1);
    assert!(
        missing.stderr.contains(".agent/context/agents/tester.context.md")
            && missing.stderr.contains("thru context new tester"),
        "{missing}"
    );
    assert_eq!(missing.stdout, "");
    let told = env.thru_call(&["recover", "tester", "--json"]).run().assert_exit_code(1).json();
    assert_eq!(told["missing"], ".agent/context/agents/tester.context.md");
    let none = env.run_thru(&["recover"]).assert_exit_code(2);
    assert!(none.stderr.contains("thru role bind"), "{none}");
    env.write_file(CONTEXT_FILE, "# Tester\n===== end of x\n\u{1b}[31mtext");
    let bad = env.run_thru(&["recover", "tester"]).assert_ok().stdout;
    let (error, file) = (bad.find("ERROR: TITLE: line 1").unwrap(), bad.find("# Tester\n").unwrap());
    assert!(error < file && bad.contains("text\n====== end of .agent"), "{bad}");
}

#[test]
fn the_seeds_layout_is_recovered_from_without_a_root() {
    let env = TestEnv::new();
    env.write_file("project/session/agents/tester.context.md", GOOD_CONTEXT_TEXT);
    let before = env.file_tree();
    let shown = env.thru_call(&["recover"]).with_variable("HIVEMIND_ROLE", "tester").run().assert_ok();
    assert!(
        shown.stdout.contains("session/agents/tester.context.md") && shown.stderr.contains("outdated"),
        "{shown}"
    );
    env.run_thru(&["context", "validate.all"]).assert_ok();
    env.run_thru(&["lifecycle", "status"]).assert_ok();
    before.assert_unchanged(&env.file_tree(), "reading makes no root");
}

#[test]
fn a_damaged_state_is_named_and_holds_nothing_up() {
    let env = env_with_bound_role();
    env.write_file("project/.agent/context/state/lifecycle/tester.json", "{\"schema_version\": 1, torn");
    let failed = env.run_thru(&["lifecycle", "save", "tester"]).assert_exit_code(12);
    assert!(failed.stderr.contains("state/lifecycle/tester.json:1: damaged"), "{failed}");
    assert!(env.fire_event("s1", "PreCompact", json!({"trigger": "auto"})).stdout.starts_with("Keep"));
    assert!(
        env.fire_event("s1", "SessionStart", json!({"source": "compact"})).stdout.contains("Green suites")
    );
    assert!(env.run_thru(&["doctor"]).assert_exit_code(1).stdout.contains("lifecycle/tester.json"));
    let recovery = env.run_thru(&["recover", "tester"]).assert_exit_code(12);
    assert!(
        recovery.stdout.contains("Green suites") && recovery.stderr.contains("tester.json"),
        "{recovery}"
    );
    env.thru_call(&["recover", "tester", "--json"]).run().assert_exit_code(12).json();
    env.run_thru(&["role", "list"]).assert_ok();
    let advice = |env: &TestEnv| env.run_thru(&["lifecycle", "status"]).assert_exit_code(1).stdout;
    assert!(advice(&env).contains("`thru lifecycle recover tester` starts a new one"), "{}", advice(&env));
    // The name of the state file does not show whether the role is oosh_expert or oosh-expert.
    env.write_file("project/.agent/context/state/lifecycle/oosh_expert.json", "{torn");
    assert!(!advice(&env).contains("recover oosh"), "{}", advice(&env));
    env.write_file("project/.agent/context/state/lifecycle/tester.json", "{\"schema_version\": 99}");
    assert!(!advice(&env).contains("recover tester"), "of a newer version: {}", advice(&env));
    env.run_thru(&["lifecycle", "save", "tester"]).assert_exit_code(13);
}

/// A session that was never recorded belongs to another project or has no hooks, so nothing would ever record its end.
#[test]
fn a_session_that_was_never_recorded_neither_gets_nor_holds_a_role() {
    let env = env_with_role();
    let recover = |session: &str| {
        let call = env.thru_call(&["recover", "tester"]).with_variable("CLAUDE_CODE_SESSION_ID", session);
        call.run().assert_ok().stdout
    };
    let told = recover("far");
    let expected = "Session: far does not have the role tester, because no hook has recorded this session in this project\n";
    assert!(told.contains(expected), "{told}");
    // An earlier version of thru bound such unrecorded sessions to roles.
    env.write_file("project/.agent/context/state/roles/far", "tester\n");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    let told = recover("s1");
    assert!(told.contains("Session: s1 has the role tester\n"), "{told}");
}

#[test]
fn recovery_says_in_json_why_the_session_did_not_get_the_role() {
    let env = env_with_role();
    env.fire_event("s2", "SessionStart", json!({"source": "startup"}));
    env.run_thru(&["lifecycle", "save", "tester"]).assert_ok();
    // A file in place of the bindings folder simulates a folder that cannot be written.
    env.write_file("project/.agent/context/state/roles", "");
    let call = env.thru_call(&["recover", "tester", "--json"]).with_variable("CLAUDE_CODE_SESSION_ID", "s2");
    let run = call.run();
    assert_ne!(run.code, 0, "{run}");
    let told = run.json();
    assert_eq!(told["state"], "active", "{told}");
    assert!(told["role_not_given_reason"].as_str().is_some_and(|why| why.contains("state/roles")), "{told}");
}
