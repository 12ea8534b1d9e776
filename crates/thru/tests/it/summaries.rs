//! Reversible summaries through the binary: what a hook answers, what is stored, and that everything can be retrieved.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};
use crate::lost::with_small_files;

const CONFIG: &str = "project/.agent/context/config.toml";

fn project() -> TestEnv {
    let env = TestEnv::new();
    env.thru(&["init"]).ok();
    env.write(CONFIG, "[summaries]\nenabled = true\n");
    env
}

/// A test run of 1,002 lines with one error.
fn test_run() -> String {
    let mut text: String = (0..1_000).map(|n| format!("test parser::case_{n} ... ok\n")).collect();
    text.push_str("error: the parser stopped\nthe end\n");
    text
}

fn bash(env: &TestEnv, command: &str, stdout: &str) -> String {
    let response = json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false});
    tool(env, "Bash", json!({"command": command}), response)
}

fn tool(env: &TestEnv, tool: &str, input: Value, response: Value) -> String {
    let more =
        json!({"tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": "t1"});
    env.hook("PostToolUse", &env.payload("s1", "PostToolUse", more)).stdout
}

fn replaced(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    answer["hookSpecificOutput"]["updatedToolOutput"].clone()
}

fn id_in(summary: &str) -> String {
    let at = summary.find("o-").unwrap();
    summary[at..at + 18].to_owned()
}

#[test]
fn a_large_output_becomes_a_summary_that_can_be_undone() {
    let env = project();
    let run = test_run();
    let result = replaced(&bash(&env, "cargo test", &run));
    // Claude Code ignores a replacement that does not have the form of the original result.
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["stdout", "stderr", "interrupted", "isImage", "noOutputExpected"]);
    let summary = result["stdout"].as_str().unwrap();
    assert!(summary.len() * 100 <= run.len() * 15, "{summary}");
    assert!(summary.contains("1001: error: the parser stopped\n"), "{summary}");
    let id = id_in(summary);

    assert_eq!(env.thru(&["swarm", "retrieve", &id]).ok().stdout, run);
    let page = env.thru(&["swarm", "retrieve", &id, "--offset", "999", "--limit", "2"]).ok().stdout;
    assert_eq!(page, "test parser::case_999 ... ok\nerror: the parser stopped\n");
    let found = env.thru(&["swarm", "retrieve", &id, "--grep", "^error|case_7 "]).ok().stdout;
    assert_eq!(found, "8: test parser::case_7 ... ok\n1001: error: the parser stopped\n");
    let found = env
        .thru(&["swarm", "retrieve", &id, "--grep", "case_", "--offset", "1", "-n", "1", "--json"])
        .ok()
        .json();
    assert_eq!((&found["text"], &found["lines"]), (&json!("2: test parser::case_1 ... ok\n"), &json!(1_002)));

    let status = env.thru(&["swarm", "status", "--json"]).ok().json();
    let saved = &status["summaries"];
    assert_eq!((&saved["outputs"], &saved["bytes"]), (&json!(1), &json!(run.len())));
    assert_eq!(saved["saved_bytes"], json!(run.len() - summary.len()));
    assert!(saved["saved_tokens"].as_u64().unwrap() > 5_000, "{saved}");
    let shown = env.thru(&["swarm", "status"]).ok().stdout;
    assert!(shown.contains("1 large output: "), "{shown}");
}

#[test]
fn what_is_never_summarised() {
    let env = project();
    let run = test_run();
    assert_eq!(bash(&env, "cargo test", &run[..20_000]), "", "under the threshold and a quarter");
    assert_eq!(bash(&env, "thru swarm retrieve o-0123456789abcdef", &run), "", "our own retrieval");
    let file = json!({"type": "text", "file": {"filePath": "a", "content": run}});
    assert_eq!(tool(&env, "Read", json!({"file_path": "a"}), file), "", "a file that was asked for");
    let failed =
        json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "error": format!("Exit code 1\n{run}")});
    assert_eq!(env.hook("PostToolUseFailure", &env.payload("s1", "PostToolUseFailure", failed)).stdout, "");
    let interrupted = json!({"stdout": run, "stderr": "", "interrupted": true, "isImage": false});
    assert_eq!(
        tool(&env, "Bash", json!({"command": "x"}), interrupted),
        "",
        "a command that was interrupted"
    );
    let errors: String = (0..2_000).map(|n| format!("error: number {n}\n")).collect();
    assert_eq!(bash(&env, "make", &errors), "", "all of it is errors");
    assert!(!env.store().join("summaries").exists());

    env.write(CONFIG, "[summaries]\nenabled = false\n");
    assert_eq!(bash(&env, "cargo test", &run), "", "it is off");
    env.write(CONFIG, "");
    assert_eq!(bash(&env, "cargo test", &run), "", "it is off unless somebody wants it");
    assert!(!env.store().join("summaries").exists());
}

#[test]
fn other_tools_keep_their_form() {
    let env = project();
    let run = test_run();
    let found = replaced(&tool(
        &env,
        "Grep",
        json!({"pattern": "x"}),
        json!({"mode": "content", "numFiles": 3, "content": run}),
    ));
    assert_eq!((&found["mode"], &found["numFiles"]), (&json!("content"), &json!(3)));
    assert!(found["content"].as_str().unwrap().starts_with("[Throughline summary"));
    let whole = replaced(&tool(&env, "mcp__build__log", json!({}), json!(run)));
    assert!(whole.as_str().unwrap().starts_with("[Throughline summary"), "{whole}");
    let blocks = replaced(&tool(&env, "mcp__build__log", json!({}), json!([{"type": "text", "text": run}])));
    assert_eq!(blocks[0]["type"], "text");
    assert!(blocks[0]["text"].as_str().unwrap().starts_with("[Throughline summary"), "{blocks}");
    assert_eq!(tool(&env, "mcp__x__retrieve", json!({}), json!(run)), "");
    assert_eq!(
        tool(&env, "Agent", json!({"description": "d"}), json!({"content": [{"type": "text", "text": run}]})),
        ""
    );
}

#[test]
fn secrets_are_stored_and_shown_redacted() {
    let env = project();
    let secret = ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let run = format!("error: token {secret}\n{}", test_run());
    let summary = bash(&env, "cargo test", &run);
    assert!(summary.contains("1: error: token [REDACTED:"), "{summary}");
    let stored = env.thru(&["swarm", "retrieve", &id_in(&summary)]).ok().stdout;
    assert!(stored.starts_with("error: token [REDACTED:") && stored.ends_with("the end\n"));
    for entry in fs::read_dir(env.store().join("summaries")).unwrap() {
        assert!(!fs::read_to_string(entry.unwrap().path()).unwrap().contains(&secret));
    }
}

#[test]
fn an_output_that_cannot_be_stored_stays_as_it_is() {
    let env = project();
    env.write("project/.agent/context/summaries", "not a folder");
    assert_eq!(bash(&env, "cargo test", &test_run()), "");
    let receipts = fs::read_to_string(env.store().join("indexes/receipts.jsonl")).unwrap();
    assert!(receipts.contains("summaries"), "{receipts}");
}

/// The disk is full after the first 4 KiB of the original. The model gets the whole output, the call is in the journal,
/// and no incomplete file is left.
#[test]
fn on_a_full_disk_an_output_stays_as_it_is() {
    let env = project();
    let response = json!({"stdout": test_run(), "stderr": "", "interrupted": false, "isImage": false});
    let input = json!({"command": "cargo test"});
    let more =
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": response, "tool_use_id": "t1"});
    let call = || env.hook_call("PostToolUse", env.payload("s1", "PostToolUse", more.clone()).to_string());
    with_small_files(call(), 8).run().silent("the original cannot be stored");
    let receipt = env.receipts().pop().unwrap();
    assert!(receipt.to_string().contains("summaries/"), "{receipt}");
    let originals =
        || names_in(&env.store().join("summaries")).into_iter().filter(|name| name.ends_with(".txt"));
    assert_eq!(originals().count(), 0, "{:?}", names_in(&env.store().join("summaries")));
    let journal = fs::read_to_string(env.store().join("sessions/s1.jsonl")).unwrap();
    assert!(journal.contains("cargo test"), "{journal}");
    // When there is space again, the same output is summarised and can be retrieved.
    let summary = replaced(&call().run().ok().stdout);
    let id = id_in(summary["stdout"].as_str().unwrap());
    assert_eq!(env.thru(&["swarm", "retrieve", &id]).ok().stdout, test_run());
}

#[test]
fn after_a_week_an_original_is_removed_and_that_is_told() {
    let env = project();
    let id = id_in(&bash(&env, "cargo test", &test_run()));
    let end =
        |env: &TestEnv| env.hook("SessionEnd", &env.payload("s1", "SessionEnd", json!({"reason": "other"})));
    let index = env.store().join("summaries/index.jsonl");
    let mut line: Value = serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    end(&env);
    env.thru(&["swarm", "retrieve", &id]).ok();
    line["ts"] = json!("2001-01-01T00:00:00Z");
    fs::write(&index, format!("{line}\n")).unwrap();
    end(&env);
    let gone = env.thru(&["swarm", "retrieve", &id]);
    assert!(gone.code != 0 && gone.stderr.contains("originals are kept for 7 days"), "{}", gone.stderr);
    let archived = fs::read_to_string(env.store().join("summaries/archive.jsonl")).unwrap();
    assert!(archived.contains(&id) && archived.contains("\"digest\":\""), "{archived}");
    // The same output is stored again.
    assert_eq!(id_in(&bash(&env, "cargo test", &test_run())), id);
    assert_eq!(env.thru(&["swarm", "retrieve", &id]).ok().stdout, test_run());
}

/// Retention does not depend on the setting: what was stored, or imported, is removed in time.
#[test]
fn old_originals_are_removed_while_summaries_are_off() {
    let env = project();
    let id = id_in(&bash(&env, "cargo test", &test_run()));
    env.write(CONFIG, "");
    let index = env.store().join("summaries/index.jsonl");
    let mut line: Value = serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    line["ts"] = json!("2001-01-01T00:00:00Z");
    fs::write(&index, format!("{line}\n")).unwrap();
    env.hook("SessionEnd", &env.payload("s1", "SessionEnd", json!({"reason": "other"})));
    let gone = env.thru(&["swarm", "retrieve", &id]);
    assert!(gone.code != 0 && gone.stderr.contains("originals are kept for 7 days"), "{}", gone.stderr);
}

/// An imported output saved nothing here. When it has been removed, importing it again stores it again.
#[test]
fn an_imported_output_is_not_counted_as_saved_and_can_be_restored() {
    let env = TestEnv::new();
    env.thru(&["init"]).ok();
    let text = test_run();
    env.write(
        "project/.swarm/summaries/S1.json",
        json!({"id": "S1", "toolName": "bash", "fullOutput": text}).to_string(),
    );
    let done = env.json(&["import", "swarm"]);
    let id = done["summaries"]["outputs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(env.json(&["swarm", "status"])["summaries"]["outputs"], json!(0));
    let index = env.store().join("summaries/index.jsonl");
    let mut line: Value = serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    assert_eq!(line["imported"], json!(true));
    line["ts"] = json!("2001-01-01T00:00:00Z");
    fs::write(&index, format!("{line}\n")).unwrap();
    env.hook("SessionEnd", &env.payload("s1", "SessionEnd", json!({"reason": "other"})));
    assert!(env.thru(&["swarm", "retrieve", &id]).code != 0, "it was removed after a week");
    assert_eq!(env.json(&["import", "swarm"])["summaries"]["new"], json!(1));
    assert_eq!(env.thru(&["swarm", "retrieve", &id]).ok().stdout, text);
    assert_eq!(env.json(&["import", "swarm"])["summaries"]["new"], json!(0));
}

#[test]
fn bad_ids_and_patterns_are_explained() {
    let env = project();
    for (words, told) in [
        (&["o-1"][..], "is not the id of an output"),
        (&["../../root.json"], "is not the id of an output"),
        (&["o-0123456789abcdef"], "there is no output o-0123456789abcdef"),
        (&["o-0123456789abcdef", "--grep", "(a"], "--grep is not a regular expression"),
    ] {
        let answer = env.thru(&[&["swarm", "retrieve"], words].concat());
        assert!(answer.code != 0 && answer.stderr.contains(told), "{words:?}: {}", answer.stderr);
    }
}
