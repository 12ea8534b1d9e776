//! Tests Factory Droid with payloads captured from version 0.225.2, and with events that only its transcript contains.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::call::ThruOutput;
use crate::env::{TestEnv, event_of_fixture, merge_fields, names_in};
use crate::packet_sweeps::mark_session_dead;

fn captured_payloads() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/droid/0.225.2");
    let names = names_in(&folder);
    assert!(names.len() >= 18, "the fixtures are gone: {names:?}");
    let read = |name: &String| serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap();
    names.iter().map(|name| (name.trim_end_matches(".json").to_owned(), read(name))).collect()
}

fn fire_event(env: &TestEnv, event: &str, payload: &Value) -> ThruOutput {
    let project = env.project_folder();
    env.thru_call(&["hook", "droid", event])
        .with_variable("FACTORY_PROJECT_DIR", project)
        .with_stdin(payload.to_string())
        .run()
}

#[test]
fn every_captured_payload_leaves_one_line() {
    let env = TestEnv::with_root();
    for (name, payload) in captured_payloads() {
        let session = payload["session_id"].as_str().unwrap().to_owned();
        let before = env.read_journal(&session).len();
        fire_event(&env, event_of_fixture(&name), &payload).assert_accepted_by_harness(&name);
        assert_eq!(env.read_journal(&session).len(), before + 1, "{name}");
        let line = env.read_journal(&session).pop().unwrap();
        assert_eq!(line["harness"], "droid", "{name}");
        let expected = match event_of_fixture(&name) {
            "SessionStart" => "session-start",
            "UserPromptSubmit" => "prompt",
            "PostToolUse" => "tool-done",
            "PreCompact" => "before-compact",
            "Stop" => "stop",
            "SessionEnd" => "session-end",
            _ => "other",
        };
        assert_eq!(line["event"], expected, "{name}");
    }
}

#[test]
fn any_field_may_be_missing_or_of_another_type() {
    let env = TestEnv::with_root();
    for (name, payload) in captured_payloads() {
        for field in payload.as_object().unwrap().keys() {
            for value in [Value::Null, json!(7), json!("x"), json!([1]), json!({"a": 1})] {
                let mut changed = payload.clone();
                changed[field] = value;
                fire_event(&env, event_of_fixture(&name), &changed)
                    .assert_accepted_by_harness(&format!("{name}: {field}"));
            }
            let mut changed = payload.clone();
            changed.as_object_mut().unwrap().remove(field);
            fire_event(&env, event_of_fixture(&name), &changed)
                .assert_accepted_by_harness(&format!("{name} without {field}"));
        }
    }
}

/// Writes a transcript in Droid's format: a prompt, a call that a hook also reported, and a failed call that no hook
/// reports.
fn write_transcript(env: &TestEnv) -> String {
    let message = |id: &str, role: &str, content: Value| {
        json!({"type": "message", "id": id, "timestamp": "2026-11-15T19:00:00.000Z",
            "message": {"role": role, "content": content}})
        .to_string()
    };
    let call = |id: &str, command: &str| json!([{"type": "tool_use", "id": id, "name": "Execute", "input": {"command": command}}]);
    let result = |id: &str, failed: bool, text: &str| json!([{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": text}]);
    let lines = [
        json!({"type": "session_start", "id": "s", "cwd": env.project_folder()}).to_string(),
        message("m1", "user", json!([{"type": "text", "text": "make it work"}])),
        message("m2", "assistant", call("call_1", "ls")),
        message("m3", "user", result("call_1", false, "a.txt\n\n[Process exited with code 0]")),
        message("m4", "assistant", call("call_2", "cargo test")),
        message("m5", "user", result("call_2", true, "error: no test\n[Process exited with code 101]")),
        message("m6", "assistant", json!([{"type": "text", "text": "the tests fail"}])),
    ];
    lines.join("\n") + "\n"
}

#[test]
fn what_no_hook_tells_is_found_in_the_transcript_once() {
    let env = TestEnv::with_root();
    let path = env.write_file("transcript.jsonl", write_transcript(&env));
    let common = json!({"session_id": "s", "cwd": env.project_folder(), "transcript_path": path});
    let with = |more: Value| merge_fields(&common, more);
    let told = json!({"tool_name": "Execute", "tool_input": {"command": "ls"},
        "tool_response": "a.txt\n\n[Process exited with code 0]"});
    fire_event(&env, "PostToolUse", &with(told)).assert_silent("a hook reported it");
    for _ in 0..3 {
        fire_event(&env, "Stop", &common).assert_silent("stop");
    }
    let shown = env.run_thru(&["journal", "--session", "s", "--json"]).assert_ok().stdout;
    let lines: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let commands: Vec<_> = lines.iter().filter(|line| line["event"] == "tool-done").collect();
    assert_eq!(commands.len(), 2, "{shown}");
    assert_eq!((&commands[0]["command"], &commands[0]["exit"]), (&json!("ls"), &json!(0)));
    assert_eq!((&commands[1]["command"], &commands[1]["exit"]), (&json!("cargo test"), &json!(101)));
    assert_eq!((&commands[1]["ok"], &commands[1]["error"]), (&json!(false), &json!("error: no test")));
    let prompts: Vec<_> =
        lines.iter().filter(|line| line["event"] == "prompt").map(|line| &line["text"]).collect();
    assert_eq!(prompts, [&json!("make it work")]);
    fire_event(&env, "SessionStart", &with(json!({"source": "resume"})))
        .assert_silent("the conversation is replayed");
    let brief = env.run_thru(&["brief", "--session", "s"]).assert_ok().stdout;
    for words in ["make it work", "cargo test", "error: no test", "the tests fail"] {
        assert!(brief.contains(words), "{words}: {brief}");
    }
}

#[test]
fn a_compaction_gives_a_new_session_all_that_the_old_one_knew() {
    let env = TestEnv::with_root();
    let old = json!({"session_id": "old", "cwd": env.project_folder()});
    let with = |more: Value| merge_fields(&old, more);
    fire_event(&env, "UserPromptSubmit", &with(json!({"prompt": "the goal"}))).assert_silent("prompt");
    fire_event(&env, "PreCompact", &with(json!({"trigger": "manual"})))
        .assert_silent("Droid does not take guidance");
    let first = with(json!({"session_id": "new", "previous_session_id": "old", "source": "compact"}));
    assert!(fire_event(&env, "SessionStart", &first).stdout.contains("the goal"));
    let second = with(json!({"session_id": "newer", "previous_session_id": "new", "source": "compact"}));
    assert!(fire_event(&env, "SessionStart", &second).stdout.contains("the goal"), "and so on");
    fire_event(&env, "UserPromptSubmit", &with(json!({"session_id": "newer", "prompt": "go on"})))
        .assert_silent("the brief was already sent");
    let edit =
        json!({"tool_name": "Edit", "tool_input": {"file_path": env.project_folder().join("src/a.rs")}});
    fire_event(&env, "PostToolUse", &with(edit)).assert_silent("in the first of them");
    let files = env.run_thru(&["files", "--session", "newer"]).assert_ok().stdout;
    assert!(files.contains("src/a.rs"), "{files}");
    let listed = env.run_thru_json(&["journal", "--list"]);
    let mut ended: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["ended"].as_str().unwrap()).collect();
    ended.sort_unstable();
    assert_eq!(ended, ["", "continued", "continued"], "one session, under three names: {listed}");
}

/// Droid's hooks report a result without the call's id, and Droid may be killed before it writes the result.
#[test]
fn a_call_whose_end_a_hook_reported_was_not_running() {
    for (has_second, response) in [
        (false, "b\n\n[Process exited with code 0]"),
        (false, "b\n\n[Process exited with code 2]"),
        (true, "b\n\n[Process exited with code 0]"),
    ] {
        let env = TestEnv::with_root();
        let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Execute", "input": {"command": "./migrate.sh"}}]);
        let line = |id: &str, role: &str, content: Value| {
            json!({"type": "message", "id": id, "timestamp": "2026-11-15T19:00:00.000Z",
                "message": {"role": role, "content": content}})
            .to_string()
                + "\n"
        };
        let mut lines =
            json!({"type": "session_start", "id": "s", "cwd": env.project_folder()}).to_string() + "\n";
        lines += &line("m1", "user", json!([{"type": "text", "text": "Migrate the data."}]));
        lines += &line("m2", "assistant", call("call_1"));
        if has_second {
            // The same command is running again.
            let result = json!([{"type": "tool_result", "tool_use_id": "call_1", "is_error": false, "content": response}]);
            lines += &line("m3", "user", result);
            lines += &line("m4", "assistant", call("call_2"));
        }
        let path = env.write_file("transcript.jsonl", lines);
        let common = json!({"session_id": "s", "cwd": env.project_folder(), "transcript_path": path});
        let with = |more: Value| merge_fields(&common, more);
        fire_event(&env, "SessionStart", &with(json!({"source": "startup"})));
        fire_event(&env, "UserPromptSubmit", &with(json!({"prompt": "Migrate the data."})));
        let told = json!({"tool_name": "Execute", "tool_input": {"command": "./migrate.sh"}, "tool_response": response});
        fire_event(&env, "PostToolUse", &with(told));
        mark_session_dead(&env, "s");
        let brief = env.run_thru(&["brief"]).assert_ok().stdout;
        env.run_thru(&["sweep"]).assert_ok();
        let picked = env.run_thru(&["pickup"]).assert_ok().stdout;
        for text in [&brief, &picked] {
            let is_running =
                text.contains("`./migrate.sh` was running") || text.contains("outcome of the call");
            assert_eq!(is_running, has_second, "{response}: {text}");
        }
    }
}
