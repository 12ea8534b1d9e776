//! `thru brief` and the hook give the same bytes on the same occasion, whatever features add to them.

use serde_json::{Value, json};

use crate::env::TestEnv;

/// A session about which every feature has something to report.
fn everything() -> TestEnv {
    let env = TestEnv::rooted();
    env.thru(&["resume", "new", "01-parser", "--name", "The parser", "--phase", "execution"]).ok();
    env.thru(&["context", "new", "tester"]).ok();
    fire(&env, "SessionStart", json!({"source": "startup"}));
    fire(&env, "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    for (id, path) in [("t1", "src/lexer.rs"), ("t2", ".agent/context/workstreams/01-parser/plan.md")] {
        let input = json!({"file_path": env.project().join(path)});
        fire(&env, "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": input}));
    }
    let packet = env.thru(&["handoff", "Finish the lexer", "--session", "s1", "--json"]).ok().json();
    env.thru(&["pickup", packet["id"].as_str().unwrap(), "--claim", "--session", "s1"]).ok();
    env.thru(&["loop", "start", "Go on", "--promise", "DONE", "--session", "s1"]).ok();
    env.thru(&["gate", "expect", "review", "--critical", "review-security.md"]).ok();
    fire(&env, "PreCompact", json!({"trigger": "auto"}));
    env
}

fn fire(env: &TestEnv, event: &str, more: Value) -> crate::call::Output {
    let payload = env.payload("s1", event, more).to_string();
    env.hook_call(event, payload).var("THROUGHLINE_ROLE", "tester").run()
}

fn brief(env: &TestEnv, words: &[&str]) -> String {
    let words = [&["brief", "--json"], words].concat();
    let shown = env.call(&words).var("THROUGHLINE_ROLE", "tester").run().ok().json();
    shown["text"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_brief_is_what_a_hook_sends() {
    let sections = ["Loop:", "Role:", "Workstream:", "Packet:", "Outputs of sub-agents that are still open:"];
    for (source, event) in [("compact", "compact"), ("resume", "resume")] {
        let env = everything();
        let shown = brief(&env, &["--session", "s1", "--event", event]);
        // A resumed session still has its whole conversation, so it is told less.
        for section in sections.iter().filter(|_| event == "compact") {
            assert!(shown.lines().any(|line| line == *section), "{section} in\n{shown}");
        }
        assert!(shown.contains("Loop:"), "{shown}");
        let sent = fire(&env, "SessionStart", json!({"source": source})).context();
        assert_eq!(shown, sent, "{source}");
    }
}

#[test]
fn a_brief_that_comes_with_the_next_prompt_is_the_same() {
    let env = everything();
    fire(&env, "PostCompact", json!({"trigger": "auto"}));
    let shown = brief(&env, &["--session", "s1", "--event", "compact"]);
    assert_eq!(shown, fire(&env, "UserPromptSubmit", json!({"prompt": "Go on"})).context());
}

#[test]
fn a_new_session_is_told_what_the_brief_shows() {
    let env = everything();
    let shown = brief(&env, &["--event", "startup"]);
    assert!(shown.contains("Make the lexer fast") && shown.contains("review-security.md"), "{shown}");
    let payload = env.payload("s2", "SessionStart", json!({"source": "startup"})).to_string();
    let sent = env.hook_call("SessionStart", payload).var("THROUGHLINE_ROLE", "tester").run().context();
    assert_eq!(shown, sent);
}

/// The session's process has ended, and there is no packet yet. Both the hook and the command name the packet that
/// the session start creates.
#[test]
fn a_crashed_session_is_offered_in_both() {
    let env = TestEnv::rooted();
    fire(&env, "SessionStart", json!({"source": "startup"}));
    fire(&env, "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    let input = json!({"file_path": env.project().join("src/lexer.rs")});
    fire(&env, "PostToolUse", json!({"tool_name": "Edit", "tool_use_id": "t1", "tool_input": input}));
    let later = "2026-11-17T20:00:00Z";
    // If the process is not known, a session counts as crashed after twelve hours of silence.
    let sessions = env.store().join("indexes/sessions.jsonl");
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
    let shown = env.call(&words).var("THROUGHLINE_NOW", later).run().ok().json();
    let shown = shown["text"].as_str().unwrap();
    assert!(shown.contains("`thru pickup "), "{shown}");
    let payload = env.payload("s2", "SessionStart", json!({"source": "startup"})).to_string();
    let sent = env.hook_call("SessionStart", payload).var("THROUGHLINE_NOW", later).run().context();
    assert_eq!(shown, sent);
    let payload = env.payload("s3", "SessionStart", json!({"source": "startup"})).to_string();
    let third = env.hook_call("SessionStart", payload).var("THROUGHLINE_NOW", later).run();
    assert!(!third.stdout.contains("crashed;"), "told once: {third}");
    assert!(third.stdout.contains("on offer"), "{third}");
}

/// Some harnesses give a session a new id at every compaction. Its state moves to the new id, here twice.
#[test]
fn what_is_kept_of_a_session_goes_along_through_two_compactions() {
    let env = everything();
    let start = |session: &str, previous: &str| {
        let more = json!({"source": "compact", "previous_session_id": previous});
        let payload = env.payload(session, "SessionStart", more).to_string();
        env.call(&["hook", "droid", "SessionStart"])
            .stdin(payload)
            .var("FACTORY_PROJECT_DIR", env.project())
            .run()
            .context()
    };
    let facts = ["Loop:", "tester; its context file", "01-parser", "This session works on packet"];
    for (session, previous) in [("s2", "s1"), ("s3", "s2")] {
        let told = start(session, previous);
        for fact in facts {
            assert!(told.contains(fact), "{session}: {fact} in\n{told}");
        }
        let payload = env.payload(session, "PreCompact", json!({"trigger": "auto"})).to_string();
        env.call(&["hook", "droid", "PreCompact"])
            .stdin(payload)
            .var("FACTORY_PROJECT_DIR", env.project())
            .run();
    }
}

#[test]
fn a_silent_hook_is_explained() {
    let env = everything();
    let explain = |words: &[&str], stdin: String| {
        let words = [&["debug", "hook", "--json"], words].concat();
        env.call(&words).stdin(stdin).var("CLAUDE_PROJECT_DIR", env.project()).run().ok().json()
    };
    let before = env.tree();
    let stop = env.payload("s1", "Stop", json!({"last_assistant_message": "Hm."})).to_string();
    let told = explain(&["claude-code", "Stop"], stop.clone());
    assert_eq!(
        (&told["applied"], &told["event"], &told["trusted"]),
        (&json!(false), &json!("stop"), &json!(true))
    );
    let loops = told["decisions"].as_array().unwrap().iter().find(|row| row["feature"] == "loops").unwrap();
    assert!(loops["why"].as_str().unwrap().contains("allows it"), "a compaction is announced: {told}");
    assert!(told["effects"][0].as_str().unwrap().starts_with("append to the journal"), "{told}");
    let why = |told: &Value| told["silent_because"].as_str().unwrap_or_default().to_owned();
    assert!(why(&told).contains("no feature"), "{told}");
    let cases = [
        (&["nobody", "Stop"][..], stop.clone(), "unknown harness `nobody`"),
        (&["claude-code", "Stop"], r#"{"cwd":"/"}"#.to_owned(), "names no session"),
        (&["claude-code", "Stop"], "{}".to_owned(), "no fields"),
        (&["claude-code", "Stop"], "[".to_owned(), "not a JSON object"),
        (&["claude-code", "Stop"], stop.replace("\"s1\"", "\"../s1\""), "the session id"),
    ];
    for (words, stdin, expected) in cases {
        let told = explain(words, stdin);
        assert!(why(&told).contains(expected), "{expected}: {told}");
    }
    before.assert_same(&env.tree(), "nothing is written without --apply");
    let lines = env.journal("s1").len();
    let words = ["debug", "hook", "claude-code", "Stop", "--apply"];
    let shown = env.call(&words).stdin(stop).var("CLAUDE_PROJECT_DIR", env.project()).run().ok();
    assert!(shown.stdout.contains("Recorded") && shown.stdout.contains("loops"), "{shown}");
    assert_eq!(env.journal("s1").len(), lines + 1);
    let elsewhere =
        env.call(&["debug", "hook", "claude-code", "Stop"]).stdin(r#"{"session_id":"x","cwd":"/tmp"}"#);
    assert!(elsewhere.run().ok().stdout.contains("nothing: no root"), "said for people too");
}
