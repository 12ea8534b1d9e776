//! Tests of reversible summaries: the answers of hooks, the stored originals, and their retrieval.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, names_in};
use crate::lost::with_file_size_limit;

const CONFIG_FILE: &str = "project/.agent/context/config.toml";

fn project_with_summaries() -> TestEnv {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    env.write_file(CONFIG_FILE, "[summaries]\nenabled = true\n");
    env
}

/// Returns the output of a test run, with 1,002 lines and one error.
fn test_run_output() -> String {
    let mut text: String = (0..1_000).map(|n| format!("test parser::case_{n} ... ok\n")).collect();
    text.push_str("error: the parser stopped\nthe end\n");
    text
}

fn report_bash(env: &TestEnv, command: &str, stdout: &str) -> String {
    let response = json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false});
    report_tool_call(env, "Bash", json!({"command": command}), response)
}

fn report_tool_call(env: &TestEnv, tool: &str, input: Value, response: Value) -> String {
    let more =
        json!({"tool_name": tool, "tool_input": input, "tool_response": response, "tool_use_id": "t1"});
    env.fire_hook("PostToolUse", &env.event_payload("s1", "PostToolUse", more)).stdout
}

fn replaced_output(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    answer["hookSpecificOutput"]["updatedToolOutput"].clone()
}

fn original_id_in(summary: &str) -> String {
    let at = summary.find("o-").unwrap();
    summary[at..at + 18].to_owned()
}

#[test]
fn a_large_output_becomes_a_summary_that_can_be_undone() {
    let env = project_with_summaries();
    let run = test_run_output();
    let result = replaced_output(&report_bash(&env, "cargo test", &run));
    // Claude Code ignores a replacement that does not have the structure of the original result.
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["stdout", "stderr", "interrupted", "isImage", "noOutputExpected"]);
    let summary = result["stdout"].as_str().unwrap();
    assert!(summary.len() * 100 <= run.len() * 15, "{summary}");
    assert!(summary.contains("1001: error: the parser stopped\n"), "{summary}");
    let id = original_id_in(summary);

    assert_eq!(env.run_thru(&["swarm", "retrieve", &id]).assert_ok().stdout, run);
    let page =
        env.run_thru(&["swarm", "retrieve", &id, "--offset", "999", "--limit", "2"]).assert_ok().stdout;
    assert_eq!(page, "test parser::case_999 ... ok\nerror: the parser stopped\n");
    let found = env.run_thru(&["swarm", "retrieve", &id, "--grep", "^error|case_7 "]).assert_ok().stdout;
    assert_eq!(found, "8: test parser::case_7 ... ok\n1001: error: the parser stopped\n");
    let found = env
        .run_thru(&["swarm", "retrieve", &id, "--grep", "case_", "--offset", "1", "-n", "1", "--json"])
        .assert_ok()
        .json();
    assert_eq!((&found["text"], &found["lines"]), (&json!("2: test parser::case_1 ... ok\n"), &json!(1_002)));

    let status = env.run_thru(&["swarm", "status", "--json"]).assert_ok().json();
    let saved = &status["summaries"];
    assert_eq!((&saved["outputs"], &saved["bytes"]), (&json!(1), &json!(run.len())));
    assert_eq!(saved["saved_bytes"], json!(run.len() - summary.len()));
    assert!(saved["saved_tokens"].as_u64().unwrap() > 5_000, "{saved}");
    let shown = env.run_thru(&["swarm", "status"]).assert_ok().stdout;
    assert!(shown.contains("1 large output: "), "{shown}");
}

#[test]
fn what_is_never_summarised() {
    let env = project_with_summaries();
    let run = test_run_output();
    assert_eq!(report_bash(&env, "cargo test", &run[..20_000]), "", "under the threshold and a quarter");
    assert_eq!(report_bash(&env, "thru swarm retrieve o-0123456789abcdef", &run), "", "our own retrieval");
    let file = json!({"type": "text", "file": {"filePath": "a", "content": run}});
    assert_eq!(
        report_tool_call(&env, "Read", json!({"file_path": "a"}), file),
        "",
        "a file that was asked for"
    );
    let failed =
        json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "error": format!("Exit code 1\n{run}")});
    assert_eq!(
        env.fire_hook("PostToolUseFailure", &env.event_payload("s1", "PostToolUseFailure", failed)).stdout,
        ""
    );
    let interrupted = json!({"stdout": run, "stderr": "", "interrupted": true, "isImage": false});
    assert_eq!(
        report_tool_call(&env, "Bash", json!({"command": "x"}), interrupted),
        "",
        "a command that was interrupted"
    );
    let errors: String = (0..2_000).map(|n| format!("error: number {n}\n")).collect();
    assert_eq!(report_bash(&env, "make", &errors), "", "all of it is errors");
    assert!(!env.store_folder().join("summaries").exists());

    env.write_file(CONFIG_FILE, "[summaries]\nenabled = false\n");
    assert_eq!(report_bash(&env, "cargo test", &run), "", "it is off");
    env.write_file(CONFIG_FILE, "");
    assert_eq!(report_bash(&env, "cargo test", &run), "", "it is off unless somebody wants it");
    assert!(!env.store_folder().join("summaries").exists());
}

#[test]
fn other_tools_keep_their_form() {
    let env = project_with_summaries();
    let run = test_run_output();
    let found = replaced_output(&report_tool_call(
        &env,
        "Grep",
        json!({"pattern": "x"}),
        json!({"mode": "content", "numFiles": 3, "content": run}),
    ));
    assert_eq!((&found["mode"], &found["numFiles"]), (&json!("content"), &json!(3)));
    assert!(found["content"].as_str().unwrap().starts_with("[Throughline summary"));
    let whole = replaced_output(&report_tool_call(&env, "mcp__build__log", json!({}), json!(run)));
    assert!(whole.as_str().unwrap().starts_with("[Throughline summary"), "{whole}");
    let blocks = replaced_output(&report_tool_call(
        &env,
        "mcp__build__log",
        json!({}),
        json!([{"type": "text", "text": run}]),
    ));
    assert_eq!(blocks[0]["type"], "text");
    assert!(blocks[0]["text"].as_str().unwrap().starts_with("[Throughline summary"), "{blocks}");
    assert_eq!(report_tool_call(&env, "mcp__x__retrieve", json!({}), json!(run)), "");
    assert_eq!(
        report_tool_call(
            &env,
            "Agent",
            json!({"description": "d"}),
            json!({"content": [{"type": "text", "text": run}]})
        ),
        ""
    );
}

#[test]
fn secrets_are_stored_and_shown_redacted() {
    let env = project_with_summaries();
    let secret = ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let run = format!("error: token {secret}\n{}", test_run_output());
    let summary = report_bash(&env, "cargo test", &run);
    assert!(summary.contains("1: error: token [REDACTED:"), "{summary}");
    let stored = env.run_thru(&["swarm", "retrieve", &original_id_in(&summary)]).assert_ok().stdout;
    assert!(stored.starts_with("error: token [REDACTED:") && stored.ends_with("the end\n"));
    for entry in fs::read_dir(env.store_folder().join("summaries")).unwrap() {
        assert!(!fs::read_to_string(entry.unwrap().path()).unwrap().contains(&secret));
    }
}

#[test]
fn an_output_that_cannot_be_stored_stays_as_it_is() {
    let env = project_with_summaries();
    env.write_file("project/.agent/context/summaries", "not a folder");
    assert_eq!(report_bash(&env, "cargo test", &test_run_output()), "");
    let receipts = fs::read_to_string(env.store_folder().join("indexes/receipts.jsonl")).unwrap();
    assert!(receipts.contains("summaries"), "{receipts}");
}

/// The disk is full after the first 4 KiB of the original. The model gets the whole output, the call is in the journal,
/// and no incomplete file remains.
#[test]
fn on_a_full_disk_an_output_stays_as_it_is() {
    let env = project_with_summaries();
    let response = json!({"stdout": test_run_output(), "stderr": "", "interrupted": false, "isImage": false});
    let input = json!({"command": "cargo test"});
    let more =
        json!({"tool_name": "Bash", "tool_input": input, "tool_response": response, "tool_use_id": "t1"});
    let call =
        || env.hook_call("PostToolUse", env.event_payload("s1", "PostToolUse", more.clone()).to_string());
    with_file_size_limit(call(), 8).run().assert_silent("the original cannot be stored");
    let receipt = env.read_receipts().pop().unwrap();
    assert!(receipt.to_string().contains("summaries/"), "{receipt}");
    let originals =
        || names_in(&env.store_folder().join("summaries")).into_iter().filter(|name| name.ends_with(".txt"));
    assert_eq!(originals().count(), 0, "{:?}", names_in(&env.store_folder().join("summaries")));
    let journal = fs::read_to_string(env.store_folder().join("sessions/s1.jsonl")).unwrap();
    assert!(journal.contains("cargo test"), "{journal}");
    // When there is space again, the same output is summarised and can be retrieved.
    let summary = replaced_output(&call().run().assert_ok().stdout);
    let id = original_id_in(summary["stdout"].as_str().unwrap());
    assert_eq!(env.run_thru(&["swarm", "retrieve", &id]).assert_ok().stdout, test_run_output());
}

#[test]
fn after_a_week_an_original_is_removed_and_that_is_told() {
    let env = project_with_summaries();
    let id = original_id_in(&report_bash(&env, "cargo test", &test_run_output()));
    let end = |env: &TestEnv| {
        env.fire_hook("SessionEnd", &env.event_payload("s1", "SessionEnd", json!({"reason": "other"})))
    };
    let index = env.store_folder().join("summaries/index.jsonl");
    let mut line: Value = serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    end(&env);
    env.run_thru(&["swarm", "retrieve", &id]).assert_ok();
    line["ts"] = json!("2001-01-01T00:00:00Z");
    fs::write(&index, format!("{line}\n")).unwrap();
    end(&env);
    let gone = env.run_thru(&["swarm", "retrieve", &id]);
    assert!(gone.code != 0 && gone.stderr.contains("originals are kept for 7 days"), "{}", gone.stderr);
    let archived = fs::read_to_string(env.store_folder().join("summaries/archive.jsonl")).unwrap();
    assert!(archived.contains(&id) && archived.contains("\"digest\":\""), "{archived}");
    // If the same output occurs again, it is stored again.
    assert_eq!(original_id_in(&report_bash(&env, "cargo test", &test_run_output())), id);
    assert_eq!(env.run_thru(&["swarm", "retrieve", &id]).assert_ok().stdout, test_run_output());
}

/// Retention does not depend on whether summaries are on. Stored and imported originals are removed when their
/// retention time has passed.
#[test]
fn old_originals_are_removed_while_summaries_are_off() {
    let env = project_with_summaries();
    let id = original_id_in(&report_bash(&env, "cargo test", &test_run_output()));
    env.write_file(CONFIG_FILE, "");
    let index = env.store_folder().join("summaries/index.jsonl");
    let mut line: Value = serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    line["ts"] = json!("2001-01-01T00:00:00Z");
    fs::write(&index, format!("{line}\n")).unwrap();
    env.fire_hook("SessionEnd", &env.event_payload("s1", "SessionEnd", json!({"reason": "other"})));
    let gone = env.run_thru(&["swarm", "retrieve", &id]);
    assert!(gone.code != 0 && gone.stderr.contains("originals are kept for 7 days"), "{}", gone.stderr);
}

/// An imported output saved no tokens in this project. After its removal, another import stores it again.
#[test]
fn an_imported_output_is_not_counted_as_saved_and_can_be_restored() {
    let env = TestEnv::new();
    env.run_thru(&["init"]).assert_ok();
    let text = test_run_output();
    env.write_file(
        "project/.swarm/summaries/S1.json",
        json!({"id": "S1", "toolName": "bash", "fullOutput": text}).to_string(),
    );
    let done = env.run_thru_json(&["import", "swarm"]);
    let id = done["summaries"]["outputs"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(env.run_thru_json(&["swarm", "status"])["summaries"]["outputs"], json!(0));
    let index = env.store_folder().join("summaries/index.jsonl");
    let mut line: Value = serde_json::from_str(&fs::read_to_string(&index).unwrap()).unwrap();
    assert_eq!(line["imported"], json!(true));
    line["ts"] = json!("2001-01-01T00:00:00Z");
    fs::write(&index, format!("{line}\n")).unwrap();
    env.fire_hook("SessionEnd", &env.event_payload("s1", "SessionEnd", json!({"reason": "other"})));
    assert!(env.run_thru(&["swarm", "retrieve", &id]).code != 0, "it was removed after a week");
    assert_eq!(env.run_thru_json(&["import", "swarm"])["summaries"]["new"], json!(1));
    assert_eq!(env.run_thru(&["swarm", "retrieve", &id]).assert_ok().stdout, text);
    assert_eq!(env.run_thru_json(&["import", "swarm"])["summaries"]["new"], json!(0));
}

#[test]
fn bad_ids_and_patterns_are_explained() {
    let env = project_with_summaries();
    for (words, told) in [
        (&["o-1"][..], "is not the id of an output"),
        (&["../../root.json"], "is not the id of an output"),
        (&["o-0123456789abcdef"], "there is no output o-0123456789abcdef"),
        (&["o-0123456789abcdef", "--grep", "(a"], "--grep is not a regular expression"),
    ] {
        let answer = env.run_thru(&[&["swarm", "retrieve"], words].concat());
        assert!(answer.code != 0 && answer.stderr.contains(told), "{words:?}: {}", answer.stderr);
    }
}
