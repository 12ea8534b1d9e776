//! The arguments and stdin with which the tests run each command. Every command has one or more rows.

use super::corpus::corpus_part;
use super::stores::{DECISION_ID, LOOP_ID_PREFIX, ORIGINAL_ID, PACKET_ID, RUN_FOLDER};
use crate::env::TestEnv;

pub struct CommandRow {
    /// The name of the command, such as `packet show`.
    pub path: &'static str,
    pub words: Vec<String>,
    pub stdin: Vec<u8>,
    /// Whether the command prints data, which reaches a pipe byte for byte.
    pub is_data: bool,
    /// Whether the command prints messages to stderr even with `--json`.
    pub prints_messages: bool,
}

impl CommandRow {
    pub fn new(path: &'static str, words: &[&str]) -> CommandRow {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        CommandRow { path, words, stdin: Vec::new(), is_data: false, prints_messages: false }
    }

    fn with_stdin(mut self, text: impl Into<Vec<u8>>) -> CommandRow {
        self.stdin = text.into();
        self
    }

    fn printing_data(mut self) -> CommandRow {
        self.is_data = true;
        self
    }

    fn printing_messages(mut self) -> CommandRow {
        self.prints_messages = true;
        self
    }
}

pub fn all_rows(env: &TestEnv) -> Vec<CommandRow> {
    let row = CommandRow::new;
    let words = corpus_part(3, 20);
    let words = words.as_str();
    let project = env.project_folder();
    let file = |name: &str| project.join(name).to_str().unwrap().to_owned();
    let plan = file("plan.md");
    let (handoff, transcript) = (file("handoff.md"), file("transcript.jsonl"));
    let manifest = file(".agent/context/workstreams/01-parser/resume-context.md");
    let event = |event: &str, more: serde_json::Value| env.event_payload("s1", event, more).to_string();
    let compacted = event("SessionStart", serde_json::json!({"source": "compact"}));
    let status_input = serde_json::json!({"session_id": "s1", "context_window": {"used_percentage": 7},
        "workspace": {"project_dir": project, "current_dir": project}})
    .to_string();
    let started = event("SessionStart", serde_json::json!({"source": "startup"}));
    vec![
        row("init", &["--name", words]),
        row("install", &["claude-code", "--dry-run"]),
        row("install", &["droid", "--dry-run"]),
        row("uninstall", &["claude-code", "--dry-run"]),
        row("status", &[]),
        row("statusline", &[]).with_stdin(status_input),
        row("statusline", &[]).with_stdin(words),
        row("install", &["claude-code", "--statusline", "--dry-run"]),
        row("packet list", &["-n", "0"]),
        row("packet show", &[PACKET_ID]),
        row("packet show", &["evil"]),
        row("packet open", &[PACKET_ID]),
        row("packet activate", &[PACKET_ID]),
        row("packet block", &[PACKET_ID, "--reason", words]),
        row("packet done", &[PACKET_ID]),
        row("packet confirm", &[PACKET_ID, words]),
        row("packet unconfirm", &[PACKET_ID, words]),
        row("packet set", &[PACKET_ID, "--section", "Notes"]).with_stdin(words),
        row("packet set", &[PACKET_ID, "--section", words]).with_stdin(words),
        row("packet validate", &["--all"]),
        row("packet import", &[&handoff, "--dry-run"]).printing_messages(),
        row("packet import", &[words]),
        row("pickup", &[PACKET_ID]),
        row("sweep", &["--dry-run"]),
        row("plan import", &[&plan, "--replace"]).printing_messages(),
        row("plan import", &[words]),
        row("plan import", &["--from-session", "--session", "s1", "--append"]).printing_messages(),
        row("import agents", &["--dry-run"]).printing_messages(),
        row("import swarm", &[&file("swarm"), "--dry-run"]).printing_messages(),
        row("task add", &[words, "--id", "9.1", "--acceptance", words, "--file", words]).printing_messages(),
        row("task add", &[words, "--id", words]),
        row("plan add", &[words]),
        row("plan set", &["9.1", "--description", words]).printing_messages(),
        row("task block", &["9.1", words]).printing_messages(),
        row("task unblock", &["9.1"]),
        row("task start", &["9.1", "--session", "s1"]),
        row("task start", &["9.1", "--session", "s2"]),
        row(
            "evidence add",
            &["9.1", "--summary", words, "--agent", words, "--issue", words, "--failure", words],
        )
        .printing_messages(),
        row(
            "evidence add",
            &["9.1", "--type", "diff", "--patch", &plan, "--meta", &format!("{words}={words}")],
        )
        .printing_messages(),
        row("evidence add", &["9.1", "--type", words]),
        row("evidence add", &[words, "--summary", "x"]),
        row("evidence run", &["9.1", "--", "printf", "%s", words]).printing_messages(),
        row("evidence run", &["9.1", "--file", words, "--", "true"]),
        row("evidence run", &["9.1", "--", words]),
        row("evidence list", &[]),
        row("evidence show", &["1.1"]),
        row("evidence show", &["9.1"]),
        row("evidence show", &[words]),
        row("evidence archive", &["--keep", "1"]),
        row("evidence show", &["1.1", "--archived"]),
        row("task done", &["9.1", "--without-evidence", words]).printing_messages(),
        row("task show", &["9.1"]),
        row("task show", &[words]),
        row("plan show", &["--all"]).printing_messages(),
        row("plan show", &["--graph"]).printing_messages(),
        row("plan next", &[]),
        row("plan check", &[]),
        row("plan log", &["-n", "0"]),
        row("plan init", &[words, "--phase", words, "--replace"]).printing_messages(),
        row("decide", &[words, "--why", words]).printing_messages(),
        row("decide", &["-"]).with_stdin(words).printing_messages(),
        row("decide", &["x", "--supersedes", words]),
        row("decide", &["x", "--expires", words]),
        row("decisions list", &["--all", "-n", "0"]),
        row("decisions list", &["--suggested", "-n", "0"]),
        row("decisions show", &[DECISION_ID]),
        row("decisions show", &[words]),
        row("decisions supersede", &[DECISION_ID, words, "--why", words]).printing_messages(),
        row("decisions supersede", &["d-111111111111", "--why", words]).printing_messages(),
        row("decisions accept", &[words]),
        row("loop start", &["--next", "--promise", "all done", words]).printing_messages(),
        row("loop list", &[]),
        row("loop show", &[LOOP_ID_PREFIX]),
        row("loop activate", &[LOOP_ID_PREFIX, "--session", "s1"]),
        row("loop pause", &[LOOP_ID_PREFIX]),
        row("loop resume", &[LOOP_ID_PREFIX, "--session", "s1"]),
        row("loop log", &[LOOP_ID_PREFIX]),
        row("loop adopt", &[LOOP_ID_PREFIX]),
        row("loop cancel", &[LOOP_ID_PREFIX]),
        row("swarm install", &["--harness", "claude-code", "--swarm", words]),
        row("swarm install", &["--harness", "claude-code", "--local"]).printing_messages(),
        row("swarm install", &["--harness", "opencode", "--user"]).printing_messages(),
        row("swarm list", &[]).printing_messages(),
        row("swarm agents", &[]),
        row("swarm agents", &["architect"]),
        row("swarm agents", &["--swarm", words]),
        row("swarm plan", &["--all"]).printing_messages(),
        row("swarm plan", &["--adopt"]).printing_messages(),
        row("swarm diagnose", &[]),
        row("swarm uninstall", &["--force"]).printing_messages(),
        row("swarm status", &["-n", "0"]),
        row("swarm status", &["--session", words]),
        row("swarm benchmark", &[]),
        row("swarm extract", &["--dry-run"])
            .with_stdin(format!("{words}\n```{words}\n{words}\n```\n`{words}.rs`\n```\n{words}\n```\n")),
        row("swarm domains", &[words]),
        row("swarm retrieve", &[words]),
        row("swarm retrieve", &[ORIGINAL_ID]).printing_data(),
        row("swarm retrieve", &[ORIGINAL_ID, "--grep", "."]).printing_data(),
        row("swarm retrieve", &[ORIGINAL_ID, "--grep", words]),
        row("swarm retrieve", &["o-fedcba9876543210"]),
        row("files", &["-n", "0"]),
        row("gate expect", &["review", "review-b.md", "--prompt", words, "--input", "plan.md"]),
        row("gate expect", &["review", words]),
        row("gate check", &[]),
        row("gate run", &[]).printing_messages(),
        row("gate prompt", &["review-a.md"]),
        row("gate prompt", &[words]),
        row("gate seal", &[&format!("{RUN_FOLDER}/review-c.md")]),
        row("gate live", &[]),
        row("journal", &["--session", "s1"]),
        row("journal", &["--list"]),
        row("import ralph", &["--dry-run"]),
        row("import factory", &["--dry-run"]),
        row("brief", &["--all"]),
        row("brief", &["--as-sent"]),
        row("brief", &["--all", "--explain"]),
        row("brief", &["--all", "--explain", "--scoring", "on"]),
        row("brief", &["--transcript", &transcript, "--for", "claude-code", "--all"]),
        row("resume new", &["02-evil", "--name", words]),
        row("resume list", &[]),
        row("resume show", &["01-parser"]),
        row("resume show", &[]),
        row("resume use", &["01-parser"]),
        row("resume validate", &["--all"]),
        row("resume validate", &[&manifest]),
        row("resume update", &["01-parser", "--task-done"]),
        row("resume migrate", &["--dry-run"]),
        row("resume gate", &["01-parser"]),
        row("config", &[]),
        row("trust", &["--list"]),
        row("trust", &[]),
        row("doctor", &[]),
        row("redact", &[]).with_stdin(words).printing_data(),
        row("context init", &["--name", words]),
        row("context validate", &["--all"]),
        row("context validate", &[words]),
        row("context schema", &[]),
        row("context new", &["tester"]),
        row("context new", &[words]),
        row("context fix", &["tester", "--dry-run"]),
        row("context lifecycle init", &["tester"]),
        row("context lifecycle save", &["tester"]),
        row("context lifecycle status", &["tester"]),
        row("context lifecycle pre-compact", &["tester"]),
        row("context lifecycle recover", &["tester"]),
        row("context recover", &["tester"]),
        row("role bind", &["tester", "--session", "s1"]),
        row("role list", &[]),
        row("role unbind", &["--session", "s1"]),
        row("lifecycle init", &["tester"]),
        row("lifecycle save", &["tester"]),
        row("lifecycle status", &[]),
        row("lifecycle pre-compact", &["tester"]),
        row("lifecycle recover", &["tester"]),
        row("recover", &["tester"]),
        row("recover", &[words]),
        row("harness list", &[]),
        row("harness show", &["opencode"]),
        row("completions", &["bash"]),
        row("handoff", &[words, "--session", "s1"]).printing_messages(),
        row("hook", &["claude-code", "PreCompact"])
            .with_stdin(event("PreCompact", serde_json::json!({"trigger": "auto"})))
            .printing_messages(),
        row("debug hook", &["claude-code", "SessionStart"]).with_stdin(compacted.clone()).printing_messages(),
        row("debug hook", &[words, words]).with_stdin(words).printing_messages(),
        row("loop adopt", &[words]),
        row("loop adopt", &[LOOP_ID_PREFIX]),
        row("gate run", &["--adopt"]),
        row("hook", &["claude-code", "SessionStart"]).with_stdin(compacted),
        row("hook", &["claude-code", "UserPromptSubmit"])
            .with_stdin(event("UserPromptSubmit", serde_json::json!({"prompt": words}))),
        row("hook", &["claude-code", "SubagentStart"])
            .with_stdin(event("SubagentStart", serde_json::json!({"agent_id": "a", "agent_type": words}))),
        row("hook", &["claude-code", "Stop"]).with_stdin(event(
            "Stop",
            serde_json::json!({"stop_hook_active": false, "last_assistant_message": words}),
        )),
        row("hook", &["claude-code", "SessionStart"]).with_stdin(started),
    ]
}
