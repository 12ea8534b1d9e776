//! Tests with a session that began before hooks were installed. A large part of its transcript is read once, and the events
//! are recorded in chronological order.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{TEST_TIME, TestEnv};

struct TranscriptBuilder {
    text: String,
    calls: usize,
}

impl TranscriptBuilder {
    fn new() -> TranscriptBuilder {
        TranscriptBuilder { text: String::new(), calls: 0 }
    }

    fn push_line(&mut self, kind: &str, content: Value) {
        let at = format!("2026-11-15T10:{:02}:{:02}Z", self.calls / 60 % 60, self.calls % 60);
        let role = json!({"role": kind, "content": content, "id": format!("msg-{}", self.calls)});
        let line = json!({"type": kind, "uuid": format!("{kind}-{}", self.text.len()), "timestamp": at,
            "sessionId": "late", "message": role});
        self.text.push_str(&format!("{line}\n"));
    }

    fn push_prompt(&mut self, text: &str) {
        self.push_line("user", json!(text));
    }

    fn push_agent_text(&mut self, text: &str) {
        self.push_line("assistant", json!([{"type": "text", "text": text}]));
    }

    fn push_call_start(&mut self, tool: &str, input: Value) -> String {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        self.push_line("assistant", json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]));
        id
    }

    fn push_call_result(&mut self, id: &str, output: &str) {
        self.push_line("user", json!([{"type": "tool_result", "tool_use_id": id, "content": output}]));
    }

    fn push_call(&mut self, tool: &str, input: Value, output: &str) {
        let id = self.push_call_start(tool, input);
        self.push_call_result(&id, output);
    }

    /// Adds irrelevant calls with this many bytes in total.
    fn push_filler(&mut self, bytes: usize) {
        let (end, output) = (self.text.len() + bytes, "a line of output\n".repeat(4_000));
        while self.text.len() < end {
            self.push_call("Bash", json!({"command": "make -s quiet"}), &output);
        }
    }

    fn write_to_file(&self, env: &TestEnv) -> PathBuf {
        env.write_file("late.jsonl", &self.text)
    }
}

fn edit_input(env: &TestEnv, file: &str) -> Value {
    json!({"file_path": env.project_folder().join(file), "old_string": "a", "new_string": "b"})
}

/// Builds a long session whose first part is more than 1.5 MB away from the end. Earlier versions of the hooks did not
/// read that far back.
fn long_session(env: &TestEnv) -> TranscriptBuilder {
    let mut transcript = TranscriptBuilder::new();
    transcript.push_prompt("Build the parser, and never use regular expressions in it");
    // Create the files, because hooks do not list files that do not exist.
    for number in 0..12 {
        env.write_file(format!("project/src/early{number}.rs"), "");
        env.write_file(format!("project/src/late{number}.rs"), "");
    }
    for number in 0..12 {
        transcript.push_call("Edit", edit_input(env, &format!("src/early{number}.rs")), "ok");
    }
    transcript.push_filler(2 * 1024 * 1024);
    transcript.push_prompt("Now the printer");
    for number in 0..12 {
        transcript.push_call(
            "Read",
            json!({"file_path": env.project_folder().join(format!("src/late{number}.rs"))}),
            "x",
        );
    }
    transcript.push_agent_text("The printer is half done.");
    transcript
}

fn count_names(text: &str) -> usize {
    let files = (0..12).flat_map(|number| [format!("early{number}.rs"), format!("late{number}.rs")]);
    files.filter(|file| text.contains(file.as_str())).count()
}

fn run_brief(env: &TestEnv, words: &[&str]) -> String {
    let words = [&["brief", "--event", "compact", "--max-chars", "9500"], words].concat();
    env.run_thru(&words).assert_ok().stdout
}

fn brief_from_transcript(env: &TestEnv, path: &Path) -> String {
    run_brief(env, &["--transcript", path.to_str().unwrap()])
}

#[test]
fn hooks_name_as_many_files_as_the_command_line() {
    for (event, more) in [
        ("PreCompact", json!({"trigger": "auto"})),
        ("Stop", json!({"last_assistant_message": "The printer is half done."})),
        ("SessionStart", json!({"source": "resume"})),
        ("SessionStart", json!({"source": "fork"})),
    ] {
        let env = TestEnv::with_root();
        let path = long_session(&env).write_to_file(&env);
        let whole = brief_from_transcript(&env, &path);
        assert_eq!(count_names(&whole), 24, "{whole}");
        let more = crate::env::merge_fields(&more, json!({"transcript_path": path}));
        env.fire_event("late", event, more);
        let told = run_brief(&env, &["--session", "late"]);
        assert_eq!(count_names(&told), 24, "{event}: {told}");
        for words in ["Build the parser", "Now the printer", "The printer is half done."] {
            assert!(told.contains(words), "{event}: {words} in\n{told}");
        }
        // The prompts are in chronological order, so the early prompt is not treated as the newest.
        let prompts: Vec<String> = env
            .read_journal("late")
            .iter()
            .filter(|line| line["event"] == "prompt")
            .map(|line| line["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(prompts.len(), 2, "{prompts:?}");
        // The transcript is read once. The next event continues at the cursor.
        let size = std::fs::metadata(&path).unwrap().len();
        let cursor = std::fs::read_to_string(env.store_folder().join("state/cursors/late.json")).unwrap();
        let cursor: Value = serde_json::from_str(&cursor).unwrap();
        assert_eq!(cursor["offset"], size, "{event}");
    }
}

#[test]
fn what_hooks_told_before_the_first_contact_stays_the_newest() {
    let env = TestEnv::with_root();
    let mut transcript = TranscriptBuilder::new();
    transcript.push_prompt("Build the parser, and never use regular expressions in it");
    transcript.push_call("Edit", edit_input(&env, "src/old.rs"), "ok");
    let path = transcript.write_to_file(&env);
    // Hooks were installed in the middle of the session, so they reported only the last prompt and one call.
    env.fire_event("late", "UserPromptSubmit", json!({"prompt": "Now write the printer as well, please"}));
    let input = json!({"file_path": env.project_folder().join("src/new.rs")});
    env.fire_event(
        "late",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": "call-9", "tool_input": input}),
    );
    env.fire_event("late", "PreCompact", json!({"trigger": "auto", "transcript_path": path}));
    let lines = env.read_journal("late");
    let order: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(order, ["prompt", "tool-done", "prompt", "tool-done", "before-compact"]);
    let times: Vec<&str> = lines.iter().map(|line| line["ts"].as_str().unwrap()).collect();
    assert!(times.is_sorted() && times[4] == TEST_TIME, "{times:?}");
    let packet = env.run_thru_json(&["handoff", "the rest", "--session", "late"]);
    let next = packet["next_prompt"].as_str().unwrap();
    assert!(next.contains("“Now write the printer as well"), "{next}");
    // A digest that is rebuilt from the journal gives the same brief.
    let told = run_brief(&env, &["--session", "late"]);
    std::fs::remove_file(env.store_folder().join("state/digest/late.json")).unwrap();
    assert_eq!(run_brief(&env, &["--session", "late"]), told);
    // The session is listed, although no hook observed its start.
    assert_eq!(env.run_thru_json(&["status"])["last_session"]["session"], "late");
}

#[test]
fn what_was_not_read_is_said() {
    let env = TestEnv::with_root();
    let mut transcript = TranscriptBuilder::new();
    transcript.push_call("Edit", edit_input(&env, "src/early.rs"), "ok");
    transcript.push_filler(17 * 1024 * 1024);
    transcript.push_call("Edit", edit_input(&env, "src/late.rs"), "ok");
    let path = transcript.write_to_file(&env);
    env.fire_event("late", "PreCompact", json!({"trigger": "auto", "transcript_path": path}));
    let told = env.fire_event("late", "SessionStart", json!({"source": "compact"})).context_for_model();
    assert!(told.contains("src/late.rs") && !told.contains("early.rs"), "{told}");
    assert!(told.contains("MB of the transcript were not read"), "{told}");
}

/// A call that was killed never gets a result. The transcript after that call must still be read.
#[test]
fn a_call_that_never_ends_does_not_make_every_event_a_first_contact() {
    let env = TestEnv::with_root();
    let mut transcript = TranscriptBuilder::new();
    transcript.push_prompt("Build the parser");
    transcript.push_call_start("Bash", json!({"command": "sleep 1000"}));
    let path = transcript.write_to_file(&env);
    let stop = |env: &TestEnv| {
        env.fire_event("late", "Stop", json!({"transcript_path": path}));
        let text = std::fs::read_to_string(env.store_folder().join("state/cursors/late.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["offset"].as_u64().unwrap()
    };
    let waiting = stop(&env);
    assert!(waiting > 0 && waiting < transcript.text.len() as u64, "its line is read again");
    transcript.push_filler(512 * 1024);
    transcript.write_to_file(&env);
    assert_eq!(stop(&env), transcript.text.len() as u64, "it is waited for no longer");
    let calls = env.read_journal("late").iter().filter(|line| line["command"] == "make -s quiet").count();
    assert_eq!(calls, transcript.calls - 1, "each call is recorded once");
}
