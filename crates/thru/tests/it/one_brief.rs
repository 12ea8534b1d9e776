//! For the same event, `thru brief` and the hook produce the same bytes, including the sections of all features.

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Creates a session about which every feature has something to report.
fn env_with_every_feature() -> TestEnv {
    let env = TestEnv::with_root();
    env.run_thru(&["resume", "new", "01-parser", "--name", "The parser", "--phase", "execution"]).assert_ok();
    env.run_thru(&["context", "new", "tester"]).assert_ok();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    for (id, path) in [("t1", "src/lexer.rs"), ("t2", ".agent/context/workstreams/01-parser/plan.md")] {
        let input = json!({"file_path": env.project_folder().join(path)});
        fire_event(&env, "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}));
    }
    let packet =
        env.run_thru(&["handoff", "Finish the lexer", "--session", "s1", "--json"]).assert_ok().json();
    env.run_thru(&["pickup", packet["id"].as_str().unwrap(), "--claim", "--session", "s1"]).assert_ok();
    env.run_thru(&["loop", "start", "Go on", "--promise", "DONE", "--session", "s1"]).assert_ok();
    env.run_thru(&["gate", "expect", "review", "--critical", "review-security.md"]).assert_ok();
    fire_event(&env, "PreCompact", json!({"trigger": "auto"}));
    env
}

fn fire_event(env: &TestEnv, event: &str, more: Value) -> crate::call::ThruOutput {
    let payload = env.event_payload("s1", event, more).to_string();
    env.hook_call(event, payload).with_variable("THROUGHLINE_ROLE", "tester").run()
}

fn run_brief(env: &TestEnv, words: &[&str]) -> String {
    let words = [&["brief", "--json"], words].concat();
    let shown = env.thru_call(&words).with_variable("THROUGHLINE_ROLE", "tester").run().assert_ok().json();
    shown["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_brief_is_what_a_hook_sends() {
    let sections = [
        "Loop:",
        "Role of this session:",
        "Workstream:",
        "Packet:",
        "Sub-agent outputs that are still open:",
    ];
    for (source, event) in [("compact", "compact"), ("resume", "resume")] {
        let env = env_with_every_feature();
        let shown = run_brief(&env, &["--session", "s1", "--event", event]);
        // A resumed session still has its whole conversation, so its brief is shorter.
        for section in sections.iter().filter(|_| event == "compact") {
            assert!(shown.lines().any(|line| line == *section), "{section} in\n{shown}");
        }
        assert!(shown.contains("Loop:"), "{shown}");
        let sent = fire_event(&env, "SessionStart", json!({"source": source})).context_for_model();
        assert_eq!(shown, sent, "{source}");
    }
}

#[test]
fn a_brief_that_comes_with_the_next_prompt_is_the_same() {
    let env = env_with_every_feature();
    fire_event(&env, "PostCompact", json!({"trigger": "auto"}));
    let shown = run_brief(&env, &["--session", "s1", "--event", "compact"]);
    assert_eq!(shown, fire_event(&env, "UserPromptSubmit", json!({"prompt": "Go on"})).context_for_model());
}

#[test]
fn a_new_session_is_told_what_the_brief_shows() {
    let env = env_with_every_feature();
    let shown = run_brief(&env, &["--event", "startup"]);
    assert!(shown.contains("Make the lexer fast") && shown.contains("review-security.md"), "{shown}");
    let payload = env.event_payload("s2", "SessionStart", json!({"source": "startup"})).to_string();
    let sent = env
        .hook_call("SessionStart", payload)
        .with_variable("THROUGHLINE_ROLE", "tester")
        .run()
        .context_for_model();
    assert_eq!(shown, sent);
}

/// The session's process has ended, and there is no packet yet. The hook and the command both name the packet that the
/// session start creates.
#[test]
fn a_crashed_session_is_offered_in_both() {
    let env = TestEnv::with_root();
    fire_event(&env, "SessionStart", json!({"source": "startup"}));
    fire_event(&env, "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    let input = json!({"file_path": env.project_folder().join("src/lexer.rs")});
    fire_event(&env, "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "t1", "tool_input": input}));
    let later = "2026-11-17T20:00:00Z";
    // If the process is unknown, a session counts as crashed after twelve hours without an event.
    let sessions = env.store_folder().join("indexes/sessions.jsonl");
    let lines = std::fs::read_to_string(&sessions).unwrap();
    let without: String = lines
        .lines()
        .map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("process");
            format!("{line}\n")
        })
        .collect();
    std::fs::write(&sessions, without).unwrap();
    let words = ["brief", "--json", "--event", "startup"];
    let shown = env.thru_call(&words).with_variable("THROUGHLINE_NOW", later).run().assert_ok().json();
    let shown = shown["text"].as_str().unwrap();
    assert!(shown.contains("`thru pickup "), "{shown}");
    let payload = env.event_payload("s2", "SessionStart", json!({"source": "startup"})).to_string();
    let sent = env
        .hook_call("SessionStart", payload)
        .with_variable("THROUGHLINE_NOW", later)
        .run()
        .context_for_model();
    assert_eq!(shown, sent);
    let payload = env.event_payload("s3", "SessionStart", json!({"source": "startup"})).to_string();
    let third = env.hook_call("SessionStart", payload).with_variable("THROUGHLINE_NOW", later).run();
    assert!(!third.stdout.contains("crashed;"), "told once: {third}");
    assert!(third.stdout.contains("on offer"), "{third}");
}

/// Some harnesses give a session a new id at every compaction. In this test, the session's state moves to a new id
/// twice.
#[test]
fn what_is_kept_of_a_session_goes_along_through_two_compactions() {
    let env = env_with_every_feature();
    let start = |session: &str, previous: &str| {
        let more = json!({"source": "compact", "previous_session_id": previous});
        let payload = env.event_payload(session, "SessionStart", more).to_string();
        env.thru_call(&["hook", "droid", "SessionStart"])
            .with_stdin(payload)
            .with_variable("FACTORY_PROJECT_DIR", env.project_folder())
            .run()
            .context_for_model()
    };
    let facts = ["Loop:", "tester; its context file", "01-parser", "This session is working on packet"];
    for (session, previous) in [("s2", "s1"), ("s3", "s2")] {
        let told = start(session, previous);
        for fact in facts {
            assert!(told.contains(fact), "{session}: {fact} in\n{told}");
        }
        let payload = env.event_payload(session, "PreCompact", json!({"trigger": "auto"})).to_string();
        env.thru_call(&["hook", "droid", "PreCompact"])
            .with_stdin(payload)
            .with_variable("FACTORY_PROJECT_DIR", env.project_folder())
            .run();
    }
}

#[test]
fn a_silent_hook_is_explained() {
    let env = env_with_every_feature();
    let explain = |words: &[&str], stdin: String| {
        let words = [&["debug", "hook", "--json"], words].concat();
        env.thru_call(&words)
            .with_stdin(stdin)
            .with_variable("CLAUDE_PROJECT_DIR", env.project_folder())
            .run()
            .assert_ok()
            .json()
    };
    let before = env.file_tree();
    let stop = env.event_payload("s1", "Stop", json!({"last_assistant_message": "Hm."})).to_string();
    let told = explain(&["claude-code", "Stop"], stop.clone());
    assert_eq!(
        (&told["applied"], &told["event"], &told["trusted"]),
        (&json!(false), &json!("stop"), &json!(true))
    );
    let loops = told["decisions"].as_array().unwrap().iter().find(|row| row["feature"] == "loops").unwrap();
    assert!(loops["why"].as_str().unwrap().contains("allows the stop"), "a compaction is announced: {told}");
    assert!(told["effects"][0].as_str().unwrap().starts_with("append to the journal"), "{told}");
    let why = |told: &Value| told["silent_because"].as_str().unwrap_or_default().to_owned();
    assert!(why(&told).contains("no feature"), "{told}");
    let cases = [
        (&["nobody", "Stop"][..], stop.clone(), "unknown harness `nobody`"),
        (&["claude-code", "Stop"], r#"{"cwd":"/"}"#.to_owned(), "has no session id"),
        (&["claude-code", "Stop"], "{}".to_owned(), "no fields"),
        (&["claude-code", "Stop"], "[".to_owned(), "not a JSON object"),
        (&["claude-code", "Stop"], stop.replace("\"s1\"", "\"../s1\""), "the session id"),
    ];
    for (words, stdin, expected) in cases {
        let told = explain(words, stdin);
        assert!(why(&told).contains(expected), "{expected}: {told}");
    }
    before.assert_unchanged(&env.file_tree(), "nothing is written without --apply");
    let lines = env.read_journal("s1").len();
    let words = ["debug", "hook", "claude-code", "Stop", "--apply"];
    let shown = env
        .thru_call(&words)
        .with_stdin(stop)
        .with_variable("CLAUDE_PROJECT_DIR", env.project_folder())
        .run()
        .assert_ok();
    assert!(shown.stdout.contains("Recorded") && shown.stdout.contains("loops"), "{shown}");
    assert_eq!(env.read_journal("s1").len(), lines + 1);
    let elsewhere = env
        .thru_call(&["debug", "hook", "claude-code", "Stop"])
        .with_stdin(r#"{"session_id":"x","cwd":"/tmp"}"#);
    assert!(elsewhere.run().assert_ok().stdout.contains("nothing: no root"), "said for people too");
}

#[test]
fn a_payload_without_a_folder_is_named_as_the_reason_for_silence() {
    let env = TestEnv::with_root();
    let explain = |payload: &str| {
        let call = env.thru_call(&["debug", "hook", "claude-code", "SessionStart"]);
        call.with_stdin(payload).run().assert_ok().stdout
    };
    let told = explain("{}");
    assert!(told.contains("the payload names no folder") && !told.contains("no root:"), "{told}");
    let told =
        explain(r#"{"session_id":"s1","cwd":"/","hook_event_name":"SessionStart","source":"startup"}"#);
    assert!(told.contains("no root:"), "{told}");
    let help = env.run_thru(&["debug", "hook", "--help"]).stdout;
    assert!(help.contains(r#""hook_event_name":"SessionStart""#), "{help}");
}
