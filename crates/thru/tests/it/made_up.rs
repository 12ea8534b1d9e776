//! Tests with complete invented sessions. `THRU_BLESS=1 cargo test -p thru --test it made_up` rewrites the expected
//! briefs. Afterwards, read the briefs as if you were an agent that remembers nothing.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::TestEnv;

/// Builds a transcript in Claude Code's format, line by line.
struct TranscriptBuilder {
    lines: Vec<String>,
    calls: usize,
}

impl TranscriptBuilder {
    fn new() -> TranscriptBuilder {
        TranscriptBuilder { lines: Vec::new(), calls: 0 }
    }

    fn push_line(&mut self, kind: &str, content: &Value) {
        let second = self.lines.len();
        let at = format!("2026-11-15T18:{:02}:{:02}.000Z", second / 60, second % 60);
        let line = json!({"parentUuid": null, "isSidechain": false, "cwd": "/srv/shop", "sessionId": "made-up",
            "gitBranch": "main", "type": kind, "uuid": format!("u{second}"), "timestamp": at,
            "message": {"role": kind, "content": content}});
        self.lines.push(line.to_string());
    }

    fn push_prompt(&mut self, text: &str) {
        self.push_line("user", &json!(text));
    }

    fn push_queued_prompt(&mut self, text: &str) {
        let line = json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-15T18:00:00.000Z",
            "content": text, "sessionId": "made-up"});
        self.lines.push(line.to_string());
    }

    fn push_agent_text(&mut self, text: &str) {
        self.push_line("assistant", &json!([{"type": "text", "text": text}]));
    }

    fn push_call(&mut self, tool: &str, input: &Value, result: &str, failed: bool) {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        self.push_line("assistant", &json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]));
        let result =
            json!([{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}]);
        self.push_line("user", &result);
    }

    fn push_edit(&mut self, path: &str) {
        let input = json!({"file_path": format!("/srv/shop/{path}"), "old_string": "a", "new_string": "b"});
        self.push_call("Edit", &input, "The file has been updated.", false);
    }

    fn push_read(&mut self, path: &str) {
        self.push_call("Read", &json!({"file_path": format!("/srv/shop/{path}")}), "1→text", false);
    }

    fn push_command(&mut self, command: &str, printed: &str) {
        self.push_call("Bash", &json!({"command": command}), printed, false);
    }

    fn push_failed_command(&mut self, command: &str, printed: &str) {
        self.push_call("Bash", &json!({"command": command}), &format!("Exit code 1\n{printed}"), true);
    }

    fn push_refused_command(&mut self, command: &str, words: &str) {
        let text = format!(
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{words}"
        );
        self.push_call("Bash", &json!({"command": command}), &text, true);
    }

    /// Adds a sub-agent's call. Older versions of Claude Code wrote such calls to the main transcript.
    fn push_subagent_call(&mut self, tool: &str, input: &Value, result: &str) {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": input}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]});
        for message in [call, result] {
            let second = self.lines.len();
            let at = format!("2026-11-15T18:{:02}:{:02}.000Z", second / 60, second % 60);
            let line = json!({"parentUuid": null, "isSidechain": false, "cwd": "/srv/shop", "sessionId": "made-up",
                "gitBranch": "main", "type": "progress", "data": {"message": {"type": message["role"], "message": message},
                "type": "agent_progress", "agentId": "a1"}, "uuid": format!("u{second}"), "timestamp": at});
            self.lines.push(line.to_string());
        }
    }

    fn write_to_file(&self, env: &TestEnv) -> PathBuf {
        env.write_file("made-up.jsonl", self.lines.join("\n") + "\n")
    }
}

/// Builds a session with several requests. All are answered except the last, which is in progress. A test fails.
fn session_with_requests() -> TranscriptBuilder {
    let mut session = TranscriptBuilder::new();
    session
        .push_prompt("Add a discount to the basket: orders over 100 get 5 % off. Don't touch the tax code.");
    session.push_read("src/basket.py");
    session.push_agent_text("The total is computed in `Basket.total()`, before tax. Let me change it.");
    session.push_edit("src/basket.py");
    session.push_command("python3 -m pytest tests/test_basket.py", "===== 12 passed in 0.31s =====");
    session.push_agent_text(
        "Done! `Basket.total()` in src/basket.py now takes 5 % off orders over 100. All tests pass.",
    );
    session.push_prompt("why is the total rounded twice?");
    session.push_read("src/money.py");
    session.push_agent_text(
        "It is a leftover: `Money.__init__` rounds, and `Basket.total()` rounds again. The second one changes nothing.",
    );
    session.push_queued_prompt(r#"{"task_id":"b7","status":"completed"}"#);
    session.push_prompt("ok remove the second rounding, and use banker's rounding in Money");
    session.push_agent_text("I'll change both places.");
    session.push_edit("src/basket.py");
    session.push_edit("src/money.py");
    session.push_failed_command(
        "python3 -m pytest tests",
        "FAILED tests/test_money.py::test_half_up - assert Decimal('0.12') == Decimal('0.13')\n1 failed, 30 passed in 0.52s",
    );
    session.push_read("tests/test_money.py");
    session
}

/// Builds a session with a plan, a todo list, a sub-agent, a refused call and a remark by the user.
fn session_with_plan() -> TranscriptBuilder {
    let mut session = TranscriptBuilder::new();
    let steps: String = (1..=14).map(|n| format!("### {n}. `src/importer/step_{n}.py`\n- move the reader of step {n} here\n- keep its tests green\n\n")).collect();
    session.push_prompt(&format!(
        "Implement the following plan:\n\n# Plan: split the importer\n\n## Summary\nThe importer is one file of 3,000 lines.\n\n{steps}## Verification\n```\nmake lint test\n```"
    ));
    let todos = |done: usize| {
        let status = |n: usize| if n < done { "completed" } else { "pending" };
        let list: Vec<Value> =
            (0..4).map(|n| json!({"content": format!("Move step {}", n + 1), "status": status(n), "activeForm": "x"})).collect();
        json!({"todos": list})
    };
    session.push_call("TodoWrite", &todos(0), "ok", false);
    let asked =
        json!({"description": "Find callers of the importer", "subagent_type": "explorer", "prompt": "…"});
    session.push_call(
        "Task",
        &asked,
        "Only src/cli.py and src/api/upload.py call `Importer.run()`; both pass a path.",
        false,
    );
    session.push_edit("src/importer/step_1.py");
    session.push_queued_prompt("please don't rename the public functions");
    session
        .push_refused_command("git commit -am 'Move step 1'", "not yet, I want to commit all steps at once");
    session.push_agent_text("Understood. Step 1 is moved; the tests for it live in tests/importer/test_step_1.py. Next is step 2.");
    session.push_call("TodoWrite", &todos(1), "ok", false);
    session.push_read("src/importer/step_2.py");
    session
}

/// Builds a session whose last prompt is only a yes. What the user wants is in the agent's proposal.
fn session_ending_with_yes() -> TranscriptBuilder {
    let mut session = TranscriptBuilder::new();
    session.push_prompt(
        "The nightly export takes two hours. Can you find out why and tell me what to do about it?",
    );
    session.push_read("src/export.py");
    session.push_agent_text("The export opens a connection for every row. I propose: 1. one connection for the whole export; 2. batches of 500 rows; 3. an index on orders.exported_at. Shall I do that?");
    session.push_prompt("yes, do 1 and 2");
    session
}

fn brief_from_transcript(session: &TranscriptBuilder, more: &[&str]) -> String {
    let env = TestEnv::new();
    let path = session.write_to_file(&env);
    let path = path.to_string_lossy();
    let words: Vec<&str> =
        ["brief", "--transcript", &path, "--event", "compact"].iter().chain(more).copied().collect();
    env.run_thru(&words).assert_ok().stdout
}

#[track_caller]
fn check_snapshot(name: &str, told: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/made_up/{name}.txt"));
    if std::env::var_os("THRU_BLESS").is_some() {
        std::fs::write(&path, told).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(told, expected, "THRU_BLESS=1 writes it anew");
}

#[test]
fn a_brief_tells_requests_with_their_outcomes() {
    check_snapshot("requests", &brief_from_transcript(&session_with_requests(), &["--max-chars", "9500"]));
    check_snapshot(
        "requests-2000",
        &brief_from_transcript(&session_with_requests(), &["--max-chars", "2000"]),
    );
}

#[test]
fn a_brief_tells_a_plan_under_way() {
    check_snapshot("plan", &brief_from_transcript(&session_with_plan(), &["--max-chars", "9500"]));
    check_snapshot("plan-2000", &brief_from_transcript(&session_with_plan(), &["--max-chars", "2000"]));
}

#[test]
fn a_yes_is_told_with_the_proposal_it_accepts() {
    check_snapshot("yes", &brief_from_transcript(&session_ending_with_yes(), &["--max-chars", "2000"]));
}

#[test]
fn what_a_sub_agent_changed_belongs_to_the_session() {
    let mut session = TranscriptBuilder::new();
    session.push_prompt("Let a sub-agent split the importer, one commit for each of its steps");
    session.push_edit("src/importer/step_1.py");
    let edit =
        |path: &str| json!({"file_path": format!("/srv/shop/{path}"), "old_string": "a", "new_string": "b"});
    session.push_subagent_call("Edit", &edit("src/importer/step_2.py"), "The file has been updated.");
    session.push_subagent_call("Read", &json!({"file_path": "/srv/shop/src/only_read.py"}), "1→text");
    let printed = "[main 3696270] Move steps 1 and 2\n 2 files changed, 4 insertions(+)";
    session.push_subagent_call(
        "Bash",
        &json!({"command": "git add -A && git commit -m 'Move steps 1 and 2'"}),
        printed,
    );
    session.push_subagent_call("Edit", &edit("src/importer/step_3.py"), "The file has been updated.");
    let told = brief_from_transcript(&session, &["--max-chars", "9500"]);
    assert!(
        told.contains("1 file edited by this session, not committed since 3696270: src/importer/step_3.py"),
        "{told}"
    );
    assert!(told.contains("commit 3696270 on main") && !told.contains("only_read.py"), "{told}");
}

#[test]
fn beside_a_summary_only_what_it_lacks() {
    let env = TestEnv::new();
    let summary = format!(
        "The user asked: \"Add a discount to the basket: orders over 100 get 5 % off.\" `Basket.total()` in src/basket.py was \
         changed. Then \"ok remove the second rounding, and use banker's rounding in Money\": src/money.py was edited. {}",
        "The rest of the summary speaks of other things at length. ".repeat(40)
    );
    let file = env.write_file("summary.txt", summary);
    let told = brief_from_transcript(&session_with_requests(), &["--summary", &file.to_string_lossy()]);
    check_snapshot("beside", &told);
    assert!(!told.contains("orders over 100 get") && told.contains("test_half_up"), "{told}");
    assert!(told.lines().count() <= 12, "{told}");
}

#[test]
fn what_was_tried_last_and_failed_is_told_beside_a_summary() {
    let env = TestEnv::new();
    let words = "The user wants the shop deployed to staging, and the agent was about to do that. ";
    let file = env.write_file("summary.txt", words.repeat(40));
    for (command, printed, expected) in [
        ("make deploy", "Error: no context staging", "- `make deploy` (exit 1): `Error: no context staging`"),
        (
            "cd /srv/shop/app && docker build -t shop .",
            "ERROR: failed to solve: npm ci",
            "- `docker build -t shop .` in app (exit 1): `ERROR: failed to solve: npm ci`",
        ),
        (
            "python3 -c 'import shop; shop.check()'",
            "ConnectionRefusedError: port 5432",
            "- `python3 -c 'import shop; shop.check()'` (exit 1): `ConnectionRefusedError: port 5432`",
        ),
        (
            "./deploy.sh staging",
            "credentials expired",
            "- `./deploy.sh staging` (exit 1): `credentials expired`",
        ),
    ] {
        let mut session = TranscriptBuilder::new();
        session.push_prompt("Deploy the shop to staging and check that it answers");
        session.push_failed_command(command, printed);
        let told = brief_from_transcript(&session, &["--summary", &file.to_string_lossy()]);
        assert!(told.contains(&format!("Failing:\n{expected}\n")), "{told}");
        // Once another command has run, the result of an earlier probe no longer describes the current state.
        session.push_command("./deploy.sh production", "deployed");
        let told = brief_from_transcript(&session, &["--summary", &file.to_string_lossy()]);
        assert_eq!(told.contains("Failing:"), !command.starts_with("python3"), "{command}: {told}");
    }
}

#[test]
fn never_wider_than_asked_and_always_the_same() {
    for session in [session_with_requests(), session_with_plan(), session_ending_with_yes()] {
        for chars in ["300", "700", "1200", "2000", "4000"] {
            let told = brief_from_transcript(&session, &["--max-chars", chars]);
            assert!(told.trim_end().encode_utf16().count() <= chars.parse().unwrap(), "{chars}: {told}");
            assert_eq!(told, brief_from_transcript(&session, &["--max-chars", chars]));
        }
    }
}
