//! `thru brief --as-sent` prints what a hook sent to a session, regardless of what the session has done since.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::env::TestEnv;

/// Runs a session with a task and an edit, up to and including a compaction. Returns what the hook sent after the
/// compaction.
fn compact_session(env: &TestEnv, session: &str) -> String {
    env.fire_event(session, "SessionStart", json!({"source": "startup"}));
    env.fire_event(session, "UserPromptSubmit", json!({"prompt": "Add class Coupon. Never use floats."}));
    let input = json!({"file_path": env.project_folder().join("coupon.py")});
    let edit = json!({"tool_name": "Edit", "tool_use_id": "t1", "tool_input": input});
    env.fire_event(session, "PostToolUse", edit);
    env.fire_event(session, "PreCompact", json!({"trigger": "manual"}));
    env.fire_event(session, "SessionStart", json!({"source": "compact"})).context_for_model()
}

#[test]
fn what_was_sent_after_a_compaction_is_shown_whole_after_the_session_went_on_and_ended() {
    let env = TestEnv::with_root();
    let sent = compact_session(&env, "s1");
    assert!(sent.contains("was compacted") && sent.contains("coupon.py"), "{sent}");
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Something else entirely"}));
    env.fire_event("s1", "SessionEnd", json!({"reason": "exit"}));
    let shown = env.run_thru(&["brief", "--as-sent"]).assert_ok();
    assert_eq!(shown.stdout, sent, "byte for byte");
    assert!(shown.stderr.contains("Sent to session s1 after its compaction, at 2026-11-15"), "{shown}");
    let json = env.run_thru_json(&["brief", "--as-sent", "--session", "s1"]);
    assert_eq!(json["text"], sent.as_str());
    assert_eq!((&json["occasion"], &json["at"]), (&json!("compact"), &json!("2026-11-15T19:22:00Z")));
    assert_eq!(json["harness"], "claude-code");
    let file = env.store_folder().join("state/sent/s1.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn each_occasion_keeps_the_text_that_was_sent_last() {
    let env = TestEnv::with_root();
    let compacted = compact_session(&env, "s1");
    env.fire_event("s1", "SessionEnd", json!({"reason": "exit"}));
    let started = env.fire_event("s2", "SessionStart", json!({"source": "startup"})).context_for_model();
    assert!(started.contains("Add class Coupon"), "{started}");
    env.fire_event("s2", "UserPromptSubmit", json!({"prompt": "Go on"}));
    env.fire_event("s2", "PreCompact", json!({"trigger": "manual"}));
    let second = env.fire_event("s2", "SessionStart", json!({"source": "compact"})).context_for_model();
    let show = |words: &[&str]| {
        let words = [&["brief", "--as-sent"], words].concat();
        env.run_thru(&words).assert_ok().stdout
    };
    assert_eq!(show(&["--session", "s2"]), second);
    assert_eq!(show(&["--session", "s2", "--event", "startup"]), started);
    assert_eq!(show(&["--session", "s1"]), compacted, "of another session");
}

/// If the harness reports no session start after a compaction, the brief comes with the next prompt.
#[test]
fn a_brief_that_came_with_a_prompt_is_kept() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Add class Coupon"}));
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s1", "PostCompact", json!({"trigger": "auto"}));
    let sent = env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Go on"})).context_for_model();
    assert!(sent.contains("was compacted"), "{sent}");
    assert_eq!(env.run_thru(&["brief", "--as-sent"]).assert_ok().stdout, sent);
}

#[test]
fn a_session_that_was_sent_nothing_is_an_error_with_a_way_out() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Add class Coupon"}));
    let refused = env.run_thru(&["brief", "--as-sent"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (10, ""), "{refused}");
    assert!(refused.stderr.contains("no hook sent session s1 a brief"), "{refused}");
    assert!(refused.stderr.contains("`thru brief --session s1`"), "{refused}");
    // A plain prompt writes no file, and neither does a session start that has nothing to report.
    assert!(!env.store_folder().join("state/sent").exists());
    let refused = env.run_thru(&["brief", "--as-sent", "--all"]);
    assert_eq!(refused.code, 2, "{refused}");
}
