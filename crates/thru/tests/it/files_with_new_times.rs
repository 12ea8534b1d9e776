//! Tests what a resumed session is told about files whose time changed but whose content did not.

use serde_json::json;

use crate::env::TestEnv;

/// A session reads README.md and ends. Then the file gets this content, and the session is resumed. Returns what the
/// agent is told.
fn told_after_resume(content: &str) -> String {
    let env = TestEnv::with_root();
    let readme = env.write_file("project/README.md", "# tinycalc\n");
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Explain the README."}));
    env.fire_event(
        "s1",
        "PostToolUse",
        json!({"tool_name": "Read", "tool_use_id": "t1", "tool_input": {"file_path": readme},
            "tool_response": {"type": "text", "file": {"filePath": readme, "content": "# tinycalc\n"}}}),
    );
    env.fire_event("s1", "Stop", json!({"last_assistant_message": "It names the project."}));
    env.fire_event("s1", "SessionEnd", json!({"reason": "exit"}));
    std::fs::write(&readme, content).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    std::fs::File::options().write(true).open(&readme).unwrap().set_modified(later).unwrap();
    env.fire_event("s1", "SessionStart", json!({"source": "resume"})).context_for_model()
}

#[test]
fn a_file_with_a_new_time_and_the_same_content_is_not_told_as_changed() {
    let told = told_after_resume("# tinycalc\n");
    assert!(!told.contains("Files changed"), "{told}");
    // The new content has the same size.
    let told = told_after_resume("# tinycalC\n");
    assert!(told.contains("Files changed: README.md"), "{told}");
}

#[test]
fn a_lost_edit_is_told_if_the_session_worked_after_an_earlier_end() {
    let env = TestEnv::with_root();
    let readme = env.write_file("project/README.md", "# tinycalc\n");
    let read = json!({"tool_name": "Read", "tool_use_id": "t1", "tool_input": {"file_path": readme},
        "tool_response": {"type": "text", "file": {"filePath": readme, "content": "# tinycalc\n"}}});
    env.fire_event("s1", "SessionStart", json!({"source": "startup"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Explain the README."}));
    env.fire_event("s1", "PostToolUse", read);
    env.fire_event("s1", "SessionEnd", json!({"reason": "exit"}));
    env.fire_event("s1", "SessionStart", json!({"source": "resume"}));
    env.fire_event("s1", "UserPromptSubmit", json!({"prompt": "Give it a better title."}));
    std::fs::write(&readme, "# tinycalc, a calculator\n").unwrap();
    env.fire_event(
        "s1",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": "t2",
            "tool_input": {"file_path": readme, "old_string": "# tinycalc", "new_string": "# tinycalc, a calculator"},
            "tool_response": {"filePath": readme}}),
    );
    // The harness is killed, and the user puts the file back.
    std::fs::write(&readme, "# tinycalc\n").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(3600);
    std::fs::File::options().write(true).open(&readme).unwrap().set_modified(later).unwrap();
    let told = env.fire_event("s1", "SessionStart", json!({"source": "resume"})).context_for_model();
    assert!(told.contains("Files changed: README.md"), "{told}");
}
