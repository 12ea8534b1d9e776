//! Tests for claims: whether a session may claim a packet, and when its claim ends.

use std::fs;

use serde_json::{Value, json};

use crate::call::{ThruCall, ThruOutput};
use crate::env::TestEnv;
use crate::moves::MovedProject;

fn as_session(call: ThruCall, session: &str) -> ThruOutput {
    call.with_variable("CLAUDE_CODE_SESSION_ID", session).run()
}

fn claim_in(env: &TestEnv, session: &str) -> ThruOutput {
    as_session(env.thru_call(&["pickup", "--claim"]), session)
}

/// Creates a project in which session `s1` handed its work over and ended.
fn env_with_packet() -> TestEnv {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    env.run_thru(&["handoff", "finish the lexer"]).assert_ok();
    env.fire_event("s1", "SessionEnd", json!({"reason": "other"}));
    env
}

#[test]
fn no_session_claims_a_packet_in_a_moved_project() {
    let moved = MovedProject::moved_after(|env| {
        env.run_thru(&["handoff", "finish the lexer"]).assert_ok();
    });
    let call = |words: &[&str]| moved.env.thru_call(words).in_folder(&moved.new);
    for words in
        [&["pickup", "--claim"][..], &["pickup", "--take-over"], &["pickup", "--claim", "--session", "s1"]]
    {
        let refused = as_session(call(words), "s2").assert_exit_code(15);
        assert!(refused.stderr.contains("because this project was moved from"), "{refused}");
        assert!(refused.stderr.contains("`thru trust --moved`"), "{refused}");
    }
    // The packet can still be read, and stays on offer.
    let shown = as_session(call(&["pickup"]), "s2").assert_ok();
    assert!(shown.stdout.contains("finish the lexer"), "{shown}");
    assert!(!shown.stderr.contains("--claim`"), "a claim would be refused: {shown}");
    moved.run_thru(&["trust", "--moved"]).assert_ok();
    let told = moved.text_at_session_start("s3");
    assert!(told.contains("finish the lexer"), "{told}");
    as_session(call(&["pickup", "--claim"]), "s3").assert_ok();
}

#[test]
fn no_session_claims_a_packet_while_hooks_are_off_or_the_records_are_not_trusted() {
    let env = env_with_packet();
    env.write_file(env.user_config_path(), "[hooks]\nenabled = false\n");
    let refused = claim_in(&env, "s2").assert_exit_code(15);
    assert!(refused.stderr.contains("switched off") && refused.stderr.contains("`thru config`"), "{refused}");
    let json = as_session(env.thru_call(&["pickup", "--claim", "--json"]), "s2").assert_exit_code(15).json();
    assert!(json["error"]["message"].as_str().unwrap().contains("was not claimed"), "{json}");
    fs::remove_file(env.user_config_path()).unwrap();

    let disabled = env.thru_call(&["pickup", "--claim"]).with_variable("THROUGHLINE_DISABLE", "1");
    as_session(disabled, "s2").assert_exit_code(15);

    env.run_thru(&["trust", "--revoke"]).assert_ok();
    let refused = claim_in(&env, "s2").assert_exit_code(15);
    assert!(refused.stderr.contains("not trusted on this machine"), "{refused}");
    assert!(refused.stderr.contains("run `thru trust`"), "{refused}");
    assert_eq!(env.run_thru_json(&["packet", "list"])[0]["status"], "draft");
    // A user without a session does not need hooks.
    env.run_thru(&["pickup", "--claim"]).assert_ok();
}

/// Replaces the start time in the stamp of the process that claimed a packet. No process has this start time.
fn end_claiming_process(env: &TestEnv, session: &str) {
    let path = env.store_folder().join(format!("state/claims/{session}"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let parts: Vec<&str> = lines[2].splitn(3, ':').collect();
    lines[2] = format!("{}:earlier:{}", parts[0], parts[2]);
    fs::write(&path, lines.join("\n")).unwrap();
}

#[test]
fn the_claim_of_a_session_that_was_never_recorded_ends_with_its_process() {
    let env = env_with_packet();
    claim_in(&env, "ghost").assert_ok();
    // While the process runs, the claim holds.
    let refused = claim_in(&env, "s3").assert_exit_code(15);
    assert!(refused.stderr.contains("was claimed by ghost"), "{refused}");
    end_claiming_process(&env, "ghost");
    let listed = env.run_thru_json(&["packet", "list"]);
    assert_eq!(listed[0]["claim_is_over"], true, "{listed}");
    let told = env.fire_event("s3", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(told.contains("finish the lexer"), "the packet is on offer again: {told}");
    claim_in(&env, "s3").assert_ok();
}

#[test]
fn a_store_that_cannot_be_written_keeps_its_packet_free() {
    use std::os::unix::fs::PermissionsExt;
    let env = env_with_packet();
    let packets = env.store_folder().join("packets");
    let set_mode = |mode| fs::set_permissions(&packets, fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o500);
    let refused = claim_in(&env, "s2");
    set_mode(0o700);
    // Permissions do not apply to root, who can claim the packet.
    if refused.code != 0 {
        assert!(refused.stderr.starts_with("error:"), "{refused}");
        assert_eq!(env.run_thru_json(&["packet", "list"])[0]["status"], "draft");
    }
}

/// Droid sets no variable with the session's id. The claim goes to the session that runs in the same process.
#[test]
fn a_harness_without_a_session_variable_claims_for_its_own_session() {
    let env = env_with_packet();
    let fire = |session: &str, event: &str, fields: Value| {
        let payload = env.event_payload(session, event, fields).to_string();
        env.thru_call(&["hook", "droid", event]).with_stdin(payload).run().assert_ok();
    };
    let droid = |words: &[&str]| {
        env.thru_call(words).with_variable("FACTORY_PROJECT_DIR", env.project_folder()).run()
    };
    fire("d1", "SessionStart", json!({"source": "startup"}));
    droid(&["pickup", "--claim"]).assert_ok();
    let listed = env.run_thru_json(&["packet", "list"]);
    assert_eq!(
        (&listed[0]["claimed_by"], &listed[0]["claim_is_over"]),
        (&json!("d1"), &Value::Null),
        "{listed}"
    );
    fire("d1", "SessionEnd", json!({"reason": "other"}));
    assert_eq!(env.run_thru_json(&["packet", "list"])[0]["claim_is_over"], true);
    env.write_file(env.user_config_path(), "[hooks]\nenabled = false\n");
    let refused = droid(&["pickup", "--claim"]).assert_exit_code(15);
    assert!(refused.stderr.contains("was not claimed"), "{refused}");
}

/// The settings no longer call thru, but a plugin of the harness may still call it.
#[test]
fn a_session_that_a_plugin_records_can_claim() {
    let env = env_with_packet();
    env.run_thru(&["install", "claude-code", "--local"]).assert_ok();
    env.write_file("project/.claude/settings.local.json", "{}\n");
    let refused = claim_in(&env, "s2").assert_exit_code(15);
    assert!(
        refused.stderr.contains("no settings file calls thru") && refused.stderr.contains("`thru init`"),
        "{refused}"
    );
    env.fire_event("s2", "SessionStart", json!({"source": "startup"}));
    claim_in(&env, "s2").assert_ok();
}
