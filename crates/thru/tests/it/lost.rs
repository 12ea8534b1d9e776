//! Tests with records that cannot be written. The loss is recorded if possible and reported once, and no hook fails.

use std::fs;

use serde_json::json;

use crate::call::ThruCall;
use crate::env::TestEnv;

const SESSION_ID: &str = "9487a9f7-611a-47e9-8202-df72ea246773";

/// Returns `call` with a limit on file sizes, in blocks of 512 bytes. Without root privileges, this is the closest
/// simulation of a full disk. A write beyond the limit also sends a signal, which kills a process that does not ignore
/// it.
pub fn with_file_size_limit(call: ThruCall, blocks: u32) -> ThruCall {
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    call.through_program("sh", &["-c".as_ref(), script.as_ref()])
}

fn report_tool_call(env: &TestEnv) -> String {
    let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "true"}});
    env.event_payload(SESSION_ID, "PostToolUse", more).to_string()
}

/// Fills the journal and the receipts, so that they are larger than the file size limit of the tests.
fn fill_logs(env: &TestEnv) {
    for rel in [format!("sessions/{SESSION_ID}.jsonl"), "indexes/receipts.jsonl".to_owned()] {
        let path = env.store_folder().join(rel);
        let known = fs::read_to_string(&path).unwrap_or_default();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{known}{}", "{}\n".repeat(4096))).unwrap();
    }
}

#[test]
fn a_write_beyond_the_limit_is_an_error_on_the_receipt() {
    let env = TestEnv::with_root();
    env.fire_event(SESSION_ID, "UserPromptSubmit", json!({"prompt": "go"}));
    let journal = env.store_folder().join(format!("sessions/{SESSION_ID}.jsonl"));
    fs::write(&journal, "{}\n".repeat(4096)).unwrap();
    with_file_size_limit(env.hook_call("PostToolUse", report_tool_call(&env)), 8)
        .run()
        .assert_silent("SIGXFSZ");
    let receipt = env.read_receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&json!("tool-done"), &json!("failed")));
    assert!(receipt["error"].as_str().unwrap().contains("too large"), "{receipt}");
}

#[test]
fn lost_records_are_noted_and_told_by_the_next_hook_that_can() {
    let env = TestEnv::with_root();
    env.fire_event(SESSION_ID, "UserPromptSubmit", json!({"prompt": "finish the parser"}));
    env.fire_event(SESSION_ID, "SessionStart", json!({"source": "startup"}));
    fill_logs(&env);
    let at = |time: &str| {
        let call =
            env.hook_call("PostToolUse", report_tool_call(&env)).with_variable("THROUGHLINE_NOW", time);
        with_file_size_limit(call, 8).run().assert_silent("nothing can be written");
    };
    at("2026-11-15T19:22:10Z");
    at("2026-11-15T19:22:20Z");
    at("2026-11-15T19:23:00Z");
    let lost = "records were lost between 2026-11-15T19:22:10Z and 2026-11-15T19:23:00Z (3 of them)";
    // Commands report the loss even before a hook has reported it.
    let shown = "records were lost between 2026-11-15 19:22 UTC and 2026-11-15 19:23 UTC (3 of them)";
    assert!(env.run_thru(&["status"]).assert_ok().stdout.contains(shown));
    assert!(env.run_thru_json(&["status"])["lost"].as_str().unwrap().contains(lost));
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1).stdout;
    assert!(doctor.contains(shown), "{doctor}");
    assert!(env.run_thru(&["doctor", "--json"]).stdout.contains(lost));
    // The hook of a successful tool call does not report the loss.
    env.fire_hook("PostToolUse", &serde_json::from_str(&report_tool_call(&env)).unwrap())
        .assert_silent("works again");
    let receipts = || fs::read_to_string(env.store_folder().join("indexes/receipts.jsonl")).unwrap();
    assert!(!receipts().contains("records-lost"));
    let start = env.fire_event("another", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(start.contains(lost), "{start}");
    assert_eq!(receipts().matches("records-lost").count(), 1);
    // A session start reports the loss only once. `status` and `doctor` still show it.
    let again = env.fire_event("a-third", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(!again.contains("records were lost"), "{again}");
    assert_eq!(receipts().matches("records-lost").count(), 1);
    assert!(env.run_thru(&["status"]).assert_ok().stdout.contains(shown));
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1).stdout;
    assert!(doctor.contains(shown), "{doctor}");
    assert!(!doctor.contains("records-lost"), "it is not an event of a harness: {doctor}");
}

#[test]
fn a_loss_is_told_where_no_session_could_be_recorded() {
    let env = TestEnv::with_root();
    fill_logs(&env);
    with_file_size_limit(env.hook_call("PostToolUse", report_tool_call(&env)), 8)
        .run()
        .assert_silent("nothing can be written");
    // The stop hook runs without the file size limit, so it can write. But nobody reads its reply, so the loss is
    // reported at the next session start.
    env.fire_event(SESSION_ID, "Stop", json!({})).assert_silent("stop");
    let start = env.fire_event("another", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(start.contains("1 record was lost between"), "{start}");
    env.fire_event("a-third", "SessionStart", json!({"source": "startup"}))
        .assert_silent("the loss is reported only once");
}

#[test]
fn without_the_reserved_file_the_note_is_in_the_state_folder() {
    let env = TestEnv::with_root();
    env.fire_event(SESSION_ID, "UserPromptSubmit", json!({"prompt": "finish the parser"}));
    fill_logs(&env);
    fs::remove_file(env.store_folder().join("state/reserved.json")).unwrap();
    fs::create_dir(env.store_folder().join("state/reserved.json")).unwrap();
    with_file_size_limit(env.hook_call("PostToolUse", report_tool_call(&env)), 8)
        .run()
        .assert_silent("nothing can be written");
    let folder = env.home_folder().join(".local/state/throughline/lost");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    env.fire_event("another", "SessionStart", json!({"source": "startup"}));
    let receipts = fs::read_to_string(env.store_folder().join("indexes/receipts.jsonl")).unwrap();
    assert_eq!(receipts.matches("records-lost").count(), 1);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_store_of_an_older_version_gets_the_reserved_file_at_a_session_start() {
    let env = TestEnv::with_root();
    let reserved = env.store_folder().join("state/reserved.json");
    fs::remove_file(&reserved).unwrap();
    env.fire_event(SESSION_ID, "UserPromptSubmit", json!({"prompt": "go"}));
    assert!(!reserved.exists());
    env.fire_event(SESSION_ID, "SessionStart", json!({"source": "startup"}));
    assert_eq!(fs::metadata(&reserved).unwrap().len(), 4096);
    let text = fs::read_to_string(&reserved).unwrap();
    assert_eq!(text.trim(), r#"{"reserved":"for a note on a full disk; nothing was lost"}"#);
}

#[test]
fn the_doctor_writes_to_see_whether_that_works() {
    let env = TestEnv::with_root();
    let before = env.file_tree();
    let healthy = env.run_thru(&["doctor"]);
    assert!(healthy.stdout.contains("records can be written"), "{healthy}");
    let changed = before.changes_to(&env.file_tree());
    assert_eq!(changed, ["~/project/.agent/context/scratch"], "the file is removed again");
    let full = with_file_size_limit(env.thru_call(&["doctor"]), 8).run().assert_exit_code(1);
    assert!(full.stdout.contains("records cannot be written") && full.stdout.contains("too large"), "{full}");
    assert!(full.stdout.contains(".agent/context/scratch"), "it names the folder: {full}");
    // An untrusted store is only read, so writing to it is not tested.
    env.run_thru(&["trust", "--revoke"]).assert_ok();
    assert!(!env.run_thru(&["doctor"]).stdout.contains("records can be written"));
}

#[test]
fn the_doctor_names_a_folder_that_may_not_be_written() {
    let env = TestEnv::with_root();
    let call = env.call_bound_by_modes(&["doctor"]);
    let locked = |mode: &str, folder: &std::path::Path| {
        let done = std::process::Command::new("chmod").args(["-R", mode]).arg(folder).status().unwrap();
        assert!(done.success());
    };
    locked("a-w,a+rX", &env.store_folder().join("sessions"));
    locked("a+rX", &env.home_folder());
    let output = call.run().assert_exit_code(1);
    assert!(output.stdout.contains("records cannot be written"), "{output}");
    assert!(output.stdout.contains("no permission to write"), "{output}");
}
