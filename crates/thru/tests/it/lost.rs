//! Records that could not be written: the loss is noted if anything can be written at all, it is reported once, and
//! no hook fails.

use std::fs;

use serde_json::json;

use crate::call::Call;
use crate::env::TestEnv;

const SESSION: &str = "9487a9f7-611a-47e9-8202-df72ea246773";

/// Runs the same call with a limit on file sizes, in blocks of 512 bytes. Without root, this is as close to a full
/// disk as possible. At a write beyond the limit the kernel also sends a signal, which ends a process that does not
/// ignore it.
pub fn with_small_files(call: Call, blocks: u32) -> Call {
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    call.through("sh", &["-c".as_ref(), script.as_ref()])
}

fn tool(env: &TestEnv) -> String {
    let more = json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "true"}});
    env.payload(SESSION, "PostToolUse", more).to_string()
}

/// Makes the journal and the receipts as long as the limit allows.
fn fill_logs(env: &TestEnv) {
    for rel in [format!("sessions/{SESSION}.jsonl"), "indexes/receipts.jsonl".to_owned()] {
        let path = env.store().join(rel);
        let known = fs::read_to_string(&path).unwrap_or_default();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("{known}{}", "{}\n".repeat(4096))).unwrap();
    }
}

#[test]
fn a_write_beyond_the_limit_is_an_error_on_the_receipt() {
    let env = TestEnv::rooted();
    env.fire(SESSION, "UserPromptSubmit", json!({"prompt": "go"}));
    let journal = env.store().join(format!("sessions/{SESSION}.jsonl"));
    fs::write(&journal, "{}\n".repeat(4096)).unwrap();
    with_small_files(env.hook_call("PostToolUse", tool(&env)), 8).run().silent("SIGXFSZ");
    let receipt = env.receipts().pop().unwrap();
    assert_eq!((&receipt["event"], &receipt["outcome"]), (&json!("tool-done"), &json!("failed")));
    assert!(receipt["error"].as_str().unwrap().contains("too large"), "{receipt}");
}

#[test]
fn lost_records_are_noted_and_told_by_the_next_hook_that_can() {
    let env = TestEnv::rooted();
    env.fire(SESSION, "UserPromptSubmit", json!({"prompt": "finish the parser"}));
    env.fire(SESSION, "SessionStart", json!({"source": "startup"}));
    fill_logs(&env);
    let at = |time: &str| {
        let call = env.hook_call("PostToolUse", tool(&env)).var("THROUGHLINE_NOW", time);
        with_small_files(call, 8).run().silent("nothing can be written");
    };
    at("2026-11-15T19:22:10Z");
    at("2026-11-15T19:22:20Z");
    at("2026-11-15T19:23:00Z");
    let lost = "records were lost between 2026-11-15T19:22:10Z and 2026-11-15T19:23:00Z (3 of them)";
    // Commands report the loss even before a hook could report it.
    assert!(env.thru(&["status"]).ok().stdout.contains(lost));
    assert!(env.json(&["status"])["lost"].as_str().unwrap().contains(lost));
    assert!(env.thru(&["doctor"]).exits(1).stdout.contains(lost));
    // A successful tool call does not report the loss.
    env.hook("PostToolUse", &serde_json::from_str(&tool(&env)).unwrap()).silent("works again");
    let receipts = || fs::read_to_string(env.store().join("indexes/receipts.jsonl")).unwrap();
    assert!(!receipts().contains("records-lost"));
    let start = env.fire("another", "SessionStart", json!({"source": "startup"})).context();
    assert!(start.contains(lost), "{start}");
    assert_eq!(receipts().matches("records-lost").count(), 1);
    // A session start reports the loss only once. `status` and `doctor` still show it.
    let again = env.fire("a-third", "SessionStart", json!({"source": "startup"})).context();
    assert!(!again.contains("records were lost"), "{again}");
    assert_eq!(receipts().matches("records-lost").count(), 1);
    assert!(env.thru(&["status"]).ok().stdout.contains(lost));
    let doctor = env.thru(&["doctor"]).exits(1).stdout;
    assert!(doctor.contains(lost), "{doctor}");
    assert!(!doctor.contains("records-lost"), "it is no event of a harness: {doctor}");
}

#[test]
fn a_loss_is_told_where_no_session_could_be_recorded() {
    let env = TestEnv::rooted();
    fill_logs(&env);
    with_small_files(env.hook_call("PostToolUse", tool(&env)), 8).run().silent("nothing can be written");
    // A stop can write again, but nobody reads its reply.
    env.fire(SESSION, "Stop", json!({})).silent("stop");
    let start = env.fire("another", "SessionStart", json!({"source": "startup"})).context();
    assert!(start.contains("1 record was lost between"), "{start}");
    env.fire("a-third", "SessionStart", json!({"source": "startup"})).silent("told once");
}

#[test]
fn without_the_reserved_file_the_note_is_in_the_state_folder() {
    let env = TestEnv::rooted();
    env.fire(SESSION, "UserPromptSubmit", json!({"prompt": "finish the parser"}));
    fill_logs(&env);
    fs::remove_file(env.store().join("state/reserved.json")).unwrap();
    fs::create_dir(env.store().join("state/reserved.json")).unwrap();
    with_small_files(env.hook_call("PostToolUse", tool(&env)), 8).run().silent("nothing can be written");
    let folder = env.home().join(".local/state/throughline/lost");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    env.fire("another", "SessionStart", json!({"source": "startup"}));
    let receipts = fs::read_to_string(env.store().join("indexes/receipts.jsonl")).unwrap();
    assert_eq!(receipts.matches("records-lost").count(), 1);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_store_of_an_older_version_gets_the_reserved_file_at_a_session_start() {
    let env = TestEnv::rooted();
    let reserved = env.store().join("state/reserved.json");
    fs::remove_file(&reserved).unwrap();
    env.fire(SESSION, "UserPromptSubmit", json!({"prompt": "go"}));
    assert!(!reserved.exists());
    env.fire(SESSION, "SessionStart", json!({"source": "startup"}));
    assert_eq!(fs::metadata(&reserved).unwrap().len(), 4096);
    let text = fs::read_to_string(&reserved).unwrap();
    assert_eq!(text.trim(), r#"{"reserved":"for a note on a full disk; nothing was lost"}"#);
}

#[test]
fn the_doctor_writes_to_see_whether_that_works() {
    let env = TestEnv::rooted();
    let before = env.tree();
    let healthy = env.thru(&["doctor"]);
    assert!(healthy.stdout.contains("records can be written"), "{healthy}");
    let changed = before.changes(&env.tree());
    assert_eq!(changed, ["~/project/.agent/context/scratch"], "the file is removed again");
    let full = with_small_files(env.call(&["doctor"]), 8).run().exits(1);
    assert!(full.stdout.contains("records cannot be written") && full.stdout.contains("too large"), "{full}");
    assert!(full.stdout.contains(".agent/context/scratch"), "it names the folder: {full}");
    // A store that is not trusted is only read, so writing to it is not tested.
    env.thru(&["trust", "--revoke"]).ok();
    assert!(!env.thru(&["doctor"]).stdout.contains("records can be written"));
}

#[test]
fn the_doctor_names_a_folder_that_may_not_be_written() {
    let env = TestEnv::rooted();
    let call = env.call_bound_by_modes(&["doctor"]);
    let locked = |mode: &str, folder: &std::path::Path| {
        let done = std::process::Command::new("chmod").args(["-R", mode]).arg(folder).status().unwrap();
        assert!(done.success());
    };
    locked("a-w,a+rX", &env.store().join("sessions"));
    locked("a+rX", &env.home());
    let output = call.run().exits(1);
    assert!(output.stdout.contains("records cannot be written"), "{output}");
    assert!(output.stdout.contains("no permission to write"), "{output}");
}
