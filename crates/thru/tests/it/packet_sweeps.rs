//! Tests with crashed sessions. Each gets one packet, or keeps the packet of its handoff. A session that continued
//! after its handoff gets another packet.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::packets::{fire_event, report_tool_call, repository_with_session, write_handoff};

/// Changes the recorded process of every session, as if that process had ended and its id now belonged to another
/// process.
pub fn mark_process_dead(env: &TestEnv) {
    mark_processes_dead(env, |_| true);
}

/// Changes the recorded process of one session, as [`mark_process_dead`] does for all sessions.
pub fn mark_session_dead(env: &TestEnv, session: &str) {
    mark_processes_dead(env, |name| name == session);
}

/// A start time is a number, so no process can have the start time `earlier`.
fn mark_processes_dead(env: &TestEnv, is_meant: impl Fn(&str) -> bool) {
    let sessions = env.store_folder().join("indexes/sessions.jsonl");
    let text = fs::read_to_string(&sessions).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let is_meant = is_meant(line["session"].as_str().unwrap());
        if let Some(process) = line["process"].as_str().filter(|_| is_meant) {
            let parts: Vec<&str> = process.splitn(3, ':').collect();
            let [pid, _, namespace] = parts[..] else { panic!("not a stamp: {process}") };
            line["process"] = json!(format!("{pid}:earlier:{namespace}"));
        }
        format!("{line}\n")
    });
    fs::write(&sessions, lines.collect::<String>()).unwrap();
}

fn fire_at(env: &TestEnv, now: &str, event: &str, more: Value) {
    let payload = env.event_payload("s1", event, more);
    env.hook_call(event, payload.to_string())
        .with_variable("THROUGHLINE_NOW", now)
        .run()
        .assert_accepted_by_harness(event);
}

fn start_session(env: &TestEnv, session: &str) -> String {
    let payload = json!({"session_id": session, "cwd": env.project_folder(), "hook_event_name": "SessionStart", "source": "startup"});
    env.fire_hook("SessionStart", &payload).stdout
}

fn packet_ids(env: &TestEnv) -> Vec<String> {
    let listed = env.run_thru_json(&["packet", "list"]);
    listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_session_that_was_handed_off_leaves_no_second_packet() {
    let env = repository_with_session();
    let (id, _) = write_handoff(&env, "finish the parser");
    // Fire the events that follow a handoff: the call that ran it, and a last message.
    let call =
        json!({"tool_name": "Bash", "tool_use_id": "h1", "tool_input": {"command": "thru handoff finish"}});
    fire_event(&env, "PostToolUse", call);
    fire_event(&env, "Stop", json!({"last_assistant_message": "Handed off."}));
    mark_process_dead(&env);
    assert_eq!(env.run_thru_json(&["sweep"]), json!([]));
    let told = start_session(&env, "s2");
    assert!(told.contains(&format!("thru pickup {id}")), "{told}");
    assert_eq!(packet_ids(&env), [id.as_str()]);
    let third = start_session(&env, "s3");
    assert!(!third.contains("crashed;") && third.contains("on offer"), "once: {third}");
    assert!(env.run_thru(&["pickup"]).assert_ok().stdout.contains("Goal: finish the parser"));
}

/// The packet of the handoff does not contain later work, so the crashed session gets another packet.
#[test]
fn a_session_that_went_on_after_its_handoff_leaves_a_fresh_packet() {
    for by_start in [false, true] {
        let env = repository_with_session();
        let (old, _) = write_handoff(&env, "finish the parser");
        let later = "2026-11-15T20:00:00Z";
        let prompt = "Rename f to answer everywhere, and delete nothing.";
        fire_at(&env, later, "UserPromptSubmit", json!({"prompt": prompt}));
        let edit = json!({"tool_name": "Write", "tool_use_id": "w1", "tool_input": {"file_path": env.project_folder().join("src/print.rs")}});
        fire_at(&env, later, "PostToolUse", edit);
        mark_process_dead(&env);
        assert!(env.run_thru(&["status"]).assert_ok().stdout.contains("`thru sweep` writes a packet"));
        if !by_start {
            assert_eq!(env.run_thru_json(&["sweep"]).as_array().unwrap().len(), 1);
            assert_eq!(env.run_thru_json(&["sweep"]), json!([]), "once");
        }
        let told = start_session(&env, "s2");
        let new = packet_ids(&env).into_iter().find(|id| *id != old).unwrap();
        assert!(told.contains(&format!("crashed; `thru pickup {new} --claim`")), "{told}");
        let pickup = env.run_thru(&["pickup", &new]).assert_ok().stdout;
        assert!(pickup.contains("delete nothing") && pickup.contains("src/print.rs"), "{pickup}");
        assert!(!start_session(&env, "s3").contains("crashed;"), "once");
        assert_eq!(packet_ids(&env).len(), 2);
    }
}

#[test]
fn a_packet_that_is_done_is_not_offered() {
    let env = repository_with_session();
    let (id, _) = write_handoff(&env, "finish the parser");
    env.run_thru(&["packet", "done", &id]).assert_ok();
    mark_process_dead(&env);
    assert!(!start_session(&env, "s2").contains(&id));
    assert_eq!(packet_ids(&env), [id]);
}

#[test]
fn a_session_that_was_taken_up_again_is_swept_again() {
    let env = repository_with_session();
    mark_process_dead(&env);
    let marker = env.store_folder().join("root.json");
    fs::rename(&marker, env.base_folder().join("root.json")).unwrap();
    assert!(env.run_thru(&["sweep"]).assert_exit_code(15).stderr.contains("`thru init`"), "of no project");
    fs::rename(env.base_folder().join("root.json"), &marker).unwrap();
    let first = env.run_thru_json(&["sweep"])[0]["packet"].as_str().unwrap().to_owned();
    assert_eq!(env.run_thru_json(&["sweep"]), json!([]), "once");

    let later = "2026-11-15T20:00:00Z";
    fire_at(&env, later, "SessionStart", json!({"source": "resume"}));
    mark_process_dead(&env);
    assert_eq!(env.run_thru_json(&["sweep"]), json!([]), "it came back and did nothing");
    fire_at(&env, later, "UserPromptSubmit", json!({"prompt": "Now write the printer as well."}));
    let edit = json!({"tool_name": "Write", "tool_use_id": "w1", "tool_input": {"file_path": env.project_folder().join("src/print.rs")}});
    fire_at(&env, later, "PostToolUse", edit);
    let sweep = |env: &TestEnv| {
        env.thru_call(&["sweep", "--json"])
            .with_variable("THROUGHLINE_NOW", "2026-11-15T21:00:00Z")
            .run()
            .assert_ok()
            .json()
    };
    let swept = sweep(&env);
    let second = swept[0]["packet"].as_str().unwrap();
    assert_ne!(second, first);
    let text = env.run_thru(&["packet", "show", second]).assert_ok().stdout;
    assert!(text.contains("Now write the printer as well.") && text.contains("src/print.rs"), "{text}");
    assert_eq!(sweep(&env), json!([]), "once more");
}

/// The end of the transcript contains what hooks did not report: the last message, and the call that was running.
#[test]
fn a_killed_session_leaves_its_last_message_and_the_running_command() {
    for by_start in [false, true] {
        let env = TestEnv::with_root();
        let at = "2026-11-15T19:22:00Z";
        let mut lines = vec![
            json!({"type": "user", "timestamp": at, "message": {"role": "user", "content": "Build the parser."}}),
        ];
        let path = env.write_file("s1.jsonl", "");
        env.fire_event("s1", "SessionStart", json!({"source": "startup", "transcript_path": path}));
        env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Build the parser.", "prompt_id": "p1"}));
        let input = json!({"file_path": env.project_folder().join("src/parse.rs")});
        env.fire_event(
            "s1",
            "PostToolUse",
            json!({"tool_name": "Edit", "tool_use_id": "t1", "tool_input": input}),
        );
        let secret = format!("--token ghp_{}", "a1B2".repeat(9));
        for content in [
            json!([{"type": "tool_use", "id": "t1", "name": "Edit", "input": input}]),
            json!([{"type": "text", "text": "The lexer is in the way, so I run its tests first."}]),
            json!([{"type": "tool_use", "id": "t2", "name": "Bash",
                "input": {"command": format!("cargo test -p lexer {secret}")}}]),
        ] {
            let message = json!({"role": "assistant", "id": format!("m{}", lines.len()), "content": content});
            lines.push(json!({"type": "assistant", "timestamp": at, "message": message}));
        }
        let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]);
        lines.insert(
            2,
            json!({"type": "user", "timestamp": at, "message": {"role": "user", "content": result}}),
        );
        fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        mark_process_dead(&env);
        if by_start {
            start_session(&env, "s2");
        } else {
            assert_eq!(env.run_thru_json(&["sweep"]).as_array().unwrap().len(), 1);
        }
        let id = packet_ids(&env).remove(0);
        let packet = env.run_thru(&["packet", "show", &id]).assert_ok().stdout;
        assert!(packet.contains("so I run its tests first."), "{packet}");
        assert!(packet.contains("Running when the session ended, outcome unknown"), "{packet}");
        assert!(packet.contains("cargo test -p lexer") && !packet.contains("a1B2"), "{packet}");
        let prompts = env.read_journal("s1").iter().filter(|line| line["event"] == "prompt").count();
        assert_eq!(prompts, 1, "what hooks reported is not recorded again");
        let pickup = env.run_thru(&["pickup", &id]).assert_ok().stdout;
        assert!(pickup.contains("was running when the session ended; its outcome is unknown"), "{pickup}");
    }
}

/// The packet of a killed session mentions the loop that the session left behind. It does not matter whether a session
/// start or `thru sweep` writes the packet.
#[test]
fn the_packet_of_a_killed_session_has_its_loop_however_it_is_written() {
    let packet_of_killed_session = |by_start: bool| {
        let env = TestEnv::with_root();
        fire_event(&env, "SessionStart", json!({"source": "startup"}));
        fire_event(&env, "UserPromptSubmit", json!({"prompt": "Go."}));
        let words = ["loop", "start", "Make the lexer fast.", "--promise", "FAST", "--validator", "true"];
        env.thru_call(&words).with_variable("CLAUDE_CODE_SESSION_ID", "s1").run().assert_ok();
        report_tool_call(&env, "Edit", json!({"file_path": env.project_folder().join("src/lexer.rs")}));
        mark_process_dead(&env);
        if by_start {
            start_session(&env, "s2");
        } else {
            env.run_thru_json(&["sweep"]);
        }
        let id = packet_ids(&env).remove(0);
        (env.run_thru(&["packet", "show", &id]).assert_ok().stdout, env)
    };
    let (swept, _) = packet_of_killed_session(false);
    let (written_by_start, env) = packet_of_killed_session(true);
    assert!(written_by_start.contains("> Make the lexer fast."), "{written_by_start}");
    let command =
        written_by_start.split("`thru ").find_map(|part| part.strip_prefix("loop activate ")).unwrap();
    let id = command.split('`').next().unwrap();
    let own_lines = |text: &str| {
        let is_of_project = |line: &&str| !line.starts_with("project_id:");
        text.lines().filter(is_of_project).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(own_lines(&swept), own_lines(&written_by_start));
    let words = ["loop", "activate", id, "--json"];
    let taken = env.thru_call(&words).with_variable("CLAUDE_CODE_SESSION_ID", "s2").run().assert_ok().json();
    assert_eq!((&taken["loop"]["session"], &taken["loop"]["validators"]), (&json!("s2"), &json!(["true"])));
}
