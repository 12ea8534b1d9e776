//! What a session is given back that the hooks saw little or nothing of, and what it is not.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::call::Output;
use crate::env::TestEnv;

fn fire(env: &TestEnv, session: &str, event: &str, more: Value) -> Output {
    let mut payload = json!({"session_id": session, "cwd": env.project(), "hook_event_name": event});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let output = env.hook(event, &payload);
    output.accepted(event);
    output
}

fn context(output: &Output) -> String {
    if output.stdout.is_empty() {
        return String::new();
    }
    output.json()["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

/// A transcript of Claude Code: one prompt, and one file that was edited.
fn transcript(env: &TestEnv, name: &str, prompt: &str, file: &str) -> PathBuf {
    let at = "2026-11-15T10:00:00Z";
    let input = json!({"file_path": env.project().join(file)});
    let lines = [
        json!({"type": "user", "uuid": "a", "timestamp": at, "message": {"role": "user", "content": prompt}}),
        json!({"type": "assistant", "uuid": "b", "timestamp": at, "message": {"role": "assistant",
            "content": [{"type": "tool_use", "id": format!("call-{name}"), "name": "Edit", "input": input}]}}),
        json!({"type": "user", "uuid": "c", "timestamp": at, "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": format!("call-{name}"), "content": "ok"}]}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    env.write(format!("{name}.jsonl"), text)
}

#[test]
fn a_session_that_no_hook_saw_is_restored_from_its_transcript() {
    for source in ["resume", "compact", "fork"] {
        let env = TestEnv::rooted();
        let path = transcript(&env, "late", "Make the lexer fast", "src/lexer.rs");
        let start = json!({"source": source, "transcript_path": path});
        let brief = context(&fire(&env, "late", "SessionStart", start.clone()));
        for fact in ["“Make the lexer fast”", "edited src/lexer.rs"] {
            assert!(brief.contains(fact), "{source}: {fact} in\n{brief}");
        }
        let again = context(&fire(&env, "late", "SessionStart", start));
        assert!(again.contains("edited src/lexer.rs") && !again.contains("2×"), "told once: {again}");
        fire(&env, "late", "Stop", json!({"transcript_path": path}));
        let calls = env.journal("late").iter().filter(|line| line["event"] == "tool-done").count();
        assert_eq!(calls, 1, "{source}: and recorded once");
    }
}

#[test]
fn a_fork_is_given_its_own_transcript_and_nothing_of_its_parent() {
    let env = TestEnv::rooted();
    fire(&env, "parent", "UserPromptSubmit", json!({"prompt": "What only the parent was asked"}));
    let path = transcript(&env, "fork", "What the fork was asked", "src/fork.rs");
    let start = json!({"source": "fork", "transcript_path": path, "previous_session_id": "parent"});
    let brief = context(&fire(&env, "fork", "SessionStart", start));
    assert!(brief.contains("What the fork was asked") && brief.contains("src/fork.rs"), "{brief}");
    assert!(!brief.contains("only the parent"), "{brief}");
    let later = env.thru(&["brief", "--session", "fork"]).ok().stdout;
    assert!(!later.contains("only the parent"), "{later}");
}

/// A deleted file can come back by a command that names no file.
#[test]
fn a_file_that_is_there_is_not_called_gone() {
    let env = TestEnv::rooted();
    let tool = |id: &str, tool: &str, input: Value| {
        fire(&env, "s1", "PostToolUse", json!({"tool_name": tool, "tool_use_id": id, "tool_input": input}));
    };
    for name in ["back.rs", "away.rs"] {
        tool(name, "Edit", json!({"file_path": env.project().join("src").join(name)}));
    }
    tool("t3", "Bash", json!({"command": "rm src/back.rs src/away.rs"}));
    tool("t4", "Bash", json!({"command": "git checkout -- ."}));
    env.write("project/src/back.rs", "fn back() {}\n");
    let brief = context(&fire(&env, "s1", "SessionStart", json!({"source": "resume"})));
    assert!(brief.contains("away.rs (gone)") && !brief.contains("back.rs (gone)"), "{brief}");
    let packet = env.thru(&["handoff", "The end"]).ok().stdout;
    assert!(!packet.contains("back.rs (gone)"), "{packet}");
}
