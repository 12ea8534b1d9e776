//! Tests briefs for sessions that hooks observed only partly or not at all.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Writes a Claude Code transcript with one prompt and one edited file.
fn write_transcript(env: &TestEnv, name: &str, prompt: &str, file: &str) -> PathBuf {
    let at = "2026-11-15T10:00:00Z";
    let input = json!({"file_path": env.project_folder().join(file)});
    let lines = [
        json!({"type": "user", "uuid": "a", "timestamp": at, "message": {"role": "user", "content": prompt}}),
        json!({"type": "assistant", "uuid": "b", "timestamp": at, "message": {"role": "assistant",
            "content": [{"type": "tool_use", "id": format!("call-{name}"), "name": "Edit", "input": input}]}}),
        json!({"type": "user", "uuid": "c", "timestamp": at, "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": format!("call-{name}"), "content": "ok"}]}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    env.write_file(format!("{name}.jsonl"), text)
}

#[test]
fn a_session_that_no_hook_saw_is_restored_from_its_transcript() {
    for source in ["resume", "compact", "fork"] {
        let env = TestEnv::with_root();
        let path = write_transcript(&env, "late", "Make the lexer fast", "src/lexer.rs");
        let start = json!({"source": source, "transcript_path": path});
        let told = env.fire_event("late", "SessionStart", start.clone()).stdout;
        // A resumed session still has its whole conversation and needs no brief, but the resume is recorded.
        assert_eq!(told.is_empty(), source != "compact", "{source}: {told}");
        let brief = env.run_thru(&["brief", "--session", "late", "--event", "compact"]).assert_ok().stdout;
        for fact in ["“Make the lexer fast”", "edited src/lexer.rs"] {
            assert!(brief.contains(fact), "{source}: {fact} in\n{brief}");
        }
        // Without this event, the next session start would count as a second report of the same compaction.
        env.fire_event("late", "PreCompact", json!({"trigger": "auto"}));
        env.fire_event("late", "SessionStart", start);
        let again = env.run_thru(&["brief", "--session", "late", "--event", "compact"]).assert_ok().stdout;
        assert!(again.contains("edited src/lexer.rs") && !again.contains("2×"), "told once: {again}");
        env.fire_event("late", "Stop", json!({"transcript_path": path}));
        let calls = env.read_journal("late").iter().filter(|line| line["event"] == "tool-done").count();
        assert_eq!(calls, 1, "{source}: and recorded once");
    }
}

#[test]
fn a_fork_is_given_its_own_transcript_and_nothing_of_its_parent() {
    let env = TestEnv::with_root();
    env.fire_event("parent", "UserPromptSubmit", json!({"prompt": "What only the parent was asked"}));
    let path = write_transcript(&env, "fork", "What the fork was asked", "src/fork.rs");
    let start = json!({"source": "fork", "transcript_path": path, "previous_session_id": "parent"});
    env.fire_event("fork", "SessionStart", start).assert_silent("the conversation is replayed");
    let brief = env.run_thru(&["brief", "--session", "fork", "--event", "compact"]).assert_ok().stdout;
    assert!(brief.contains("What the fork was asked") && brief.contains("src/fork.rs"), "{brief}");
    assert!(!brief.contains("only the parent"), "{brief}");
    let later = env.run_thru(&["brief", "--session", "fork"]).assert_ok().stdout;
    assert!(!later.contains("only the parent"), "{later}");
}

/// A command can restore a deleted file without naming it. Only files that exist are listed.
#[test]
fn a_file_that_is_there_is_listed_and_a_deleted_one_is_not() {
    let env = TestEnv::with_root();
    let tool = |id: &str, tool: &str, input: Value| {
        env.fire_event(
            "s1",
            "PostToolUse",
            json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}),
        );
    };
    for name in ["back.rs", "away.rs"] {
        tool(name, "Edit", json!({"file_path": env.project_folder().join("src").join(name)}));
    }
    tool("t3", "Bash", json!({"command": "rm src/back.rs src/away.rs"}));
    tool("t4", "Bash", json!({"command": "git checkout -- ."}));
    env.write_file("project/src/back.rs", "fn back() {}\n");
    let brief = env.fire_event("s1", "SessionStart", json!({"source": "compact"})).context_for_model();
    assert!(brief.ends_with("Files:\n- edited src/back.rs\n"), "{brief}");
    env.run_thru(&["handoff", "The end"]).assert_ok();
    let packet = env.run_thru(&["packet", "show", "end"]).assert_ok().stdout;
    assert!(packet.contains("- `src/back.rs` — edited\n"), "{packet}");
    assert!(packet.contains("- `src/away.rs` — edited, gone\n"), "{packet}");
}

#[test]
fn a_compaction_that_nobody_was_told_about_is_named() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Fix it"}));
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s1", "PostCompact", json!({"trigger": "auto", "compact_summary": "x"}));
    env.fire_event("s1", "Stop", json!({}));
    let doctor = || env.run_thru(&["doctor"]).stdout;
    assert!(doctor().contains("s1 was compacted, and no session start has followed yet"), "{}", doctor());
    env.fire_event("s1", "SessionEnd", json!({"reason": "other"}));
    assert!(doctor().contains("s1 ended after a compaction, but no session start followed"), "{}", doctor());
    env.fire_event("s2", "UserPromptSubmit", json!({"prompt": "Fix it"}));
    env.fire_event("s2", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s2", "SessionStart", json!({"source": "compact"}));
    env.fire_event("s2", "PostCompact", json!({"trigger": "auto", "compact_summary": "x"}));
    env.fire_event("s2", "SessionEnd", json!({"reason": "other"}));
    assert!(!doctor().contains("s2 was compacted"), "{}", doctor());
}

/// The event after a compaction shows that the compaction happened, even if no summary was reported.
#[test]
fn a_brief_is_due_once_the_compaction_is_over() {
    let env = TestEnv::with_root();
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Make the lexer fast"}));
    env.fire_event("s1", "PreCompact", json!({"trigger": "auto"}));
    env.fire_event("s1", "PostCompact", json!({"trigger": "auto"}));
    let brief = env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Go on"})).context_for_model();
    assert!(brief.contains("was compacted") && brief.contains("Make the lexer fast"), "{brief}");
}

#[test]
fn states_that_cannot_be_used_are_named() {
    let env = TestEnv::with_root();
    let clean = env.run_thru(&["doctor"]).stdout;
    assert!(!clean.contains("precompact"), "{clean}");
    env.write_file("project/.agent/context/state/precompact_state.json", "{garbage");
    env.write_file("project/.agent/context/state/precompact/s1.json", "{}");
    let doctor = env.run_thru(&["doctor"]).assert_exit_code(1).stdout;
    assert!(doctor.contains("state/precompact_state.json") && doctor.contains("not JSON"), "{doctor}");
    assert!(doctor.contains("state/precompact/s1.json") && doctor.contains("is missing"), "{doctor}");
}

#[test]
fn skipped_lines_of_a_transcript_are_counted() {
    let env = TestEnv::with_root();
    let path = write_transcript(&env, "t", "Make the lexer fast", "src/lexer.rs");
    let whole = std::fs::read_to_string(&path).unwrap();
    let torn = "{\"type\":\"assistant\",\"message\":{\"role\"";
    let strange = "{\"type\":\"never-heard-of\",\"uuid\":\"x\"}";
    std::fs::write(&path, format!("{whole}not json at all\n{strange}\n{torn}\n")).unwrap();
    let words = ["brief", "--transcript", path.to_str().unwrap()];
    let report = env.run_thru_json(&words);
    assert_eq!(report["skipped"]["unknown"], 1, "{report}");
    assert!(report["skipped"]["torn"].as_u64().unwrap() >= 1, "{report}");
    let said = env.run_thru(&words).assert_ok();
    assert!(said.stderr.contains("1 of unknown types"), "{}", said.stderr);
}
