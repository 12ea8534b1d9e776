//! A session that hooks have not seen from its start: its transcript is read once, far back, and the events are
//! recorded in chronological order.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{NOW, TestEnv};

/// Builds a transcript of Claude Code.
struct Transcript {
    text: String,
    calls: usize,
}

impl Transcript {
    fn new() -> Transcript {
        Transcript { text: String::new(), calls: 0 }
    }

    fn line(&mut self, kind: &str, content: Value) {
        let at = format!("2026-11-15T10:{:02}:{:02}Z", self.calls / 60 % 60, self.calls % 60);
        let role = json!({"role": kind, "content": content, "id": format!("msg-{}", self.calls)});
        let line = json!({"type": kind, "uuid": format!("{kind}-{}", self.text.len()), "timestamp": at,
            "sessionId": "late", "message": role});
        self.text.push_str(&format!("{line}\n"));
    }

    fn prompt(&mut self, text: &str) {
        self.line("user", json!(text));
    }

    fn say(&mut self, text: &str) {
        self.line("assistant", json!([{"type": "text", "text": text}]));
    }

    fn begin(&mut self, tool: &str, input: Value) -> String {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        self.line("assistant", json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]));
        id
    }

    fn end(&mut self, id: &str, output: &str) {
        self.line("user", json!([{"type": "tool_result", "tool_use_id": id, "content": output}]));
    }

    fn call(&mut self, tool: &str, input: Value, output: &str) {
        let id = self.begin(tool, input);
        self.end(&id, output);
    }

    /// Adds calls that do not matter, with this many bytes in total.
    fn fill(&mut self, bytes: usize) {
        let (end, output) = (self.text.len() + bytes, "a line of output\n".repeat(4_000));
        while self.text.len() < end {
            self.call("Bash", json!({"command": "make -s quiet"}), &output);
        }
    }

    fn write(&self, env: &TestEnv) -> PathBuf {
        env.write("late.jsonl", &self.text)
    }
}

fn edit(env: &TestEnv, file: &str) -> Value {
    json!({"file_path": env.project().join(file), "old_string": "a", "new_string": "b"})
}

/// A long session whose first part is more than 1.5 MB before the end. Earlier versions of the hooks stopped
/// reading at that point.
fn long_session(env: &TestEnv) -> Transcript {
    let mut transcript = Transcript::new();
    transcript.prompt("Build the parser, and never use regular expressions in it");
    for number in 0..12 {
        transcript.call("Edit", edit(env, &format!("src/early{number}.rs")), "ok");
    }
    transcript.fill(2 * 1024 * 1024);
    transcript.prompt("Now the printer");
    for number in 0..12 {
        transcript.call(
            "Read",
            json!({"file_path": env.project().join(format!("src/late{number}.rs"))}),
            "x",
        );
    }
    transcript.say("The printer is half done.");
    transcript
}

fn named(text: &str) -> usize {
    let files = (0..12).flat_map(|number| [format!("early{number}.rs"), format!("late{number}.rs")]);
    files.filter(|file| text.contains(file.as_str())).count()
}

fn brief(env: &TestEnv, words: &[&str]) -> String {
    let words = [&["brief", "--event", "compact", "--max-chars", "9500"], words].concat();
    env.thru(&words).ok().stdout
}

fn from_transcript(env: &TestEnv, path: &Path) -> String {
    brief(env, &["--transcript", path.to_str().unwrap()])
}

#[test]
fn hooks_name_as_many_files_as_the_command_line() {
    for (event, more) in [
        ("PreCompact", json!({"trigger": "auto"})),
        ("Stop", json!({"last_assistant_message": "The printer is half done."})),
        ("SessionStart", json!({"source": "resume"})),
        ("SessionStart", json!({"source": "fork"})),
    ] {
        let env = TestEnv::rooted();
        let path = long_session(&env).write(&env);
        let whole = from_transcript(&env, &path);
        assert_eq!(named(&whole), 24, "{whole}");
        let more = crate::env::merged(&more, json!({"transcript_path": path}));
        env.fire("late", event, more);
        let told = brief(&env, &["--session", "late"]);
        assert_eq!(named(&told), 24, "{event}: {told}");
        for words in ["Build the parser", "Now the printer", "The printer is half done."] {
            assert!(told.contains(words), "{event}: {words} in\n{told}");
        }
        // The prompts are in chronological order, so the early prompt is not taken for the newest.
        let prompts: Vec<String> = env
            .journal("late")
            .iter()
            .filter(|line| line["event"] == "prompt")
            .map(|line| line["text"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(prompts.len(), 2, "{prompts:?}");
        // The transcript is read once: the next event continues where the reading ended.
        let size = std::fs::metadata(&path).unwrap().len();
        let cursor = std::fs::read_to_string(env.store().join("state/cursors/late.json")).unwrap();
        let cursor: Value = serde_json::from_str(&cursor).unwrap();
        assert_eq!(cursor["offset"], size, "{event}");
    }
}

#[test]
fn what_hooks_told_before_the_first_contact_stays_the_newest() {
    let env = TestEnv::rooted();
    let mut transcript = Transcript::new();
    transcript.prompt("Build the parser, and never use regular expressions in it");
    transcript.call("Edit", edit(&env, "src/old.rs"), "ok");
    let path = transcript.write(&env);
    // Hooks were installed in the middle of the session, so they reported only the last prompt and one call.
    env.fire("late", "UserPromptSubmit", json!({"prompt": "Now write the printer as well, please"}));
    let input = json!({"file_path": env.project().join("src/new.rs")});
    env.fire(
        "late",
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_use_id": "call-9", "tool_input": input}),
    );
    env.fire("late", "PreCompact", json!({"trigger": "auto", "transcript_path": path}));
    let lines = env.journal("late");
    let order: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(order, ["prompt", "tool-done", "prompt", "tool-done", "before-compact"]);
    let times: Vec<&str> = lines.iter().map(|line| line["ts"].as_str().unwrap()).collect();
    assert!(times.is_sorted() && times[4] == NOW, "{times:?}");
    let packet = env.json(&["handoff", "the rest", "--session", "late"]);
    let next = packet["next_prompt"].as_str().unwrap();
    assert!(next.contains("“Now write the printer as well"), "{next}");
    // A digest that is rebuilt from the journal gives the same brief.
    let told = brief(&env, &["--session", "late"]);
    std::fs::remove_file(env.store().join("state/digest/late.json")).unwrap();
    assert_eq!(brief(&env, &["--session", "late"]), told);
    // The session is in the list, although no hook saw it start.
    assert_eq!(env.json(&["status"])["last_session"]["session"], "late");
}

#[test]
fn what_was_not_read_is_said() {
    let env = TestEnv::rooted();
    let mut transcript = Transcript::new();
    transcript.call("Edit", edit(&env, "src/early.rs"), "ok");
    transcript.fill(17 * 1024 * 1024);
    transcript.call("Edit", edit(&env, "src/late.rs"), "ok");
    let path = transcript.write(&env);
    env.fire("late", "PreCompact", json!({"trigger": "auto", "transcript_path": path}));
    let told = env.fire("late", "SessionStart", json!({"source": "compact"})).context();
    assert!(told.contains("src/late.rs") && !told.contains("early.rs"), "{told}");
    assert!(told.contains("MB at the beginning of the transcript were not read"), "{told}");
}

/// A call that was killed never gets a result. The rest of the transcript must still be read.
#[test]
fn a_call_that_never_ends_does_not_make_every_event_a_first_contact() {
    let env = TestEnv::rooted();
    let mut transcript = Transcript::new();
    transcript.prompt("Build the parser");
    transcript.begin("Bash", json!({"command": "sleep 1000"}));
    let path = transcript.write(&env);
    let stop = |env: &TestEnv| {
        env.fire("late", "Stop", json!({"transcript_path": path}));
        let text = std::fs::read_to_string(env.store().join("state/cursors/late.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["offset"].as_u64().unwrap()
    };
    let waiting = stop(&env);
    assert!(waiting > 0 && waiting < transcript.text.len() as u64, "its line is read again");
    transcript.fill(512 * 1024);
    transcript.write(&env);
    assert_eq!(stop(&env), transcript.text.len() as u64, "it is waited for no longer");
    let calls = env.journal("late").iter().filter(|line| line["command"] == "make -s quiet").count();
    assert_eq!(calls, transcript.calls - 1, "each told once");
}
