//! The input of every command, in one or more rows.

use super::corpus::some;
use super::stores::{DECISION, LOOP, ORIGINAL, PACKET, RUN};
use crate::env::TestEnv;

pub struct Row {
    /// The name of the command: `packet show`.
    pub path: &'static str,
    /// The arguments of the command.
    pub words: Vec<String>,
    pub stdin: Vec<u8>,
    /// Whether the command prints data, which goes to a pipe byte for byte.
    pub is_data: bool,
    /// Whether the command prints something on stderr even with --json.
    pub talks: bool,
}

impl Row {
    pub fn new(path: &'static str, words: &[&str]) -> Row {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Row { path, words, stdin: Vec::new(), is_data: false, talks: false }
    }

    fn stdin(mut self, text: impl Into<Vec<u8>>) -> Row {
        self.stdin = text.into();
        self
    }

    fn data(mut self) -> Row {
        self.is_data = true;
        self
    }

    fn talks(mut self) -> Row {
        self.talks = true;
        self
    }
}

pub fn rows(env: &TestEnv) -> Vec<Row> {
    let row = Row::new;
    let words = some(3, 20);
    let words = words.as_str();
    let project = env.project();
    let file = |name: &str| project.join(name).to_str().unwrap().to_owned();
    let plan = file("plan.md");
    let (handoff, transcript) = (file("handoff.md"), file("transcript.jsonl"));
    let manifest = file(".agent/context/workstreams/01-parser/resume-context.md");
    let event = |event: &str, more: serde_json::Value| env.payload("s1", event, more).to_string();
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
        row("statusline", &[]).stdin(status_input),
        row("statusline", &[]).stdin(words),
        row("install", &["claude-code", "--statusline", "--dry-run"]),
        row("packet list", &["-n", "0"]),
        row("packet show", &[PACKET]),
        row("packet show", &["evil"]),
        row("packet open", &[PACKET]),
        row("packet activate", &[PACKET]),
        row("packet block", &[PACKET, "--reason", words]),
        row("packet done", &[PACKET]),
        row("packet confirm", &[PACKET, words]),
        row("packet unconfirm", &[PACKET, words]),
        row("packet set", &[PACKET, "--section", "Notes"]).stdin(words),
        row("packet set", &[PACKET, "--section", words]).stdin(words),
        row("packet validate", &["--all"]),
        row("packet import", &[&handoff, "--dry-run"]).talks(),
        row("packet import", &[words]),
        row("pickup", &[PACKET]),
        row("sweep", &["--dry-run"]),
        row("plan import", &[&plan, "--replace"]).talks(),
        row("plan import", &[words]),
        row("plan import", &["--from-session", "--session", "s1", "--append"]).talks(),
        row("import agents", &["--dry-run"]).talks(),
        row("import swarm", &[&file("swarm"), "--dry-run"]).talks(),
        row("task add", &[words, "--id", "9.1", "--acceptance", words, "--file", words]).talks(),
        row("task add", &[words, "--id", words]),
        row("plan add", &[words]),
        row("plan set", &["9.1", "--description", words]).talks(),
        row("task block", &["9.1", words]).talks(),
        row("task unblock", &["9.1"]),
        row("task start", &["9.1", "--session", "s1"]),
        row("task start", &["9.1", "--session", "s2"]),
        row(
            "evidence add",
            &["9.1", "--summary", words, "--agent", words, "--issue", words, "--failure", words],
        )
        .talks(),
        row(
            "evidence add",
            &["9.1", "--type", "diff", "--patch", &plan, "--meta", &format!("{words}={words}")],
        )
        .talks(),
        row("evidence add", &["9.1", "--type", words]),
        row("evidence add", &[words, "--summary", "x"]),
        row("evidence run", &["9.1", "--", "printf", "%s", words]).talks(),
        row("evidence run", &["9.1", "--file", words, "--", "true"]),
        row("evidence run", &["9.1", "--", words]),
        row("evidence list", &[]),
        row("evidence show", &["1.1"]),
        row("evidence show", &["9.1"]),
        row("evidence show", &[words]),
        row("evidence archive", &["--keep", "1"]),
        row("evidence show", &["1.1", "--archived"]),
        row("task done", &["9.1", "--without-evidence", words]).talks(),
        row("task show", &["9.1"]),
        row("task show", &[words]),
        row("plan show", &["--all"]).talks(),
        row("plan show", &["--graph"]).talks(),
        row("plan next", &[]),
        row("plan check", &[]),
        row("plan log", &["-n", "0"]),
        row("plan init", &[words, "--phase", words, "--replace"]).talks(),
        row("decide", &[words, "--why", words]).talks(),
        row("decide", &["-"]).stdin(words).talks(),
        row("decide", &["x", "--supersedes", words]),
        row("decide", &["x", "--expires", words]),
        row("decisions list", &["--all", "-n", "0"]),
        row("decisions list", &["--suggested", "-n", "0"]),
        row("decisions show", &[DECISION]),
        row("decisions show", &[words]),
        row("decisions supersede", &[DECISION, words, "--why", words]).talks(),
        row("decisions supersede", &["d-111111111111", "--why", words]).talks(),
        row("decisions accept", &[words]),
        row("loop start", &["--next", "--promise", "all done", words]).talks(),
        row("loop list", &[]),
        row("loop show", &[LOOP]),
        row("loop activate", &[LOOP, "--session", "s1"]),
        row("loop pause", &[LOOP]),
        row("loop resume", &[LOOP, "--session", "s1"]),
        row("loop log", &[LOOP]),
        row("loop adopt", &[LOOP]),
        row("loop cancel", &[LOOP]),
        row("swarm install", &["--harness", "claude-code", "--swarm", words]),
        row("swarm install", &["--harness", "claude-code", "--local"]).talks(),
        row("swarm install", &["--harness", "opencode", "--user"]).talks(),
        row("swarm list", &[]).talks(),
        row("swarm agents", &[]),
        row("swarm agents", &["architect"]),
        row("swarm agents", &["--swarm", words]),
        row("swarm plan", &["--all"]).talks(),
        row("swarm plan", &["--adopt"]).talks(),
        row("swarm diagnose", &[]),
        row("swarm uninstall", &["--force"]).talks(),
        row("swarm status", &["-n", "0"]),
        row("swarm status", &["--session", words]),
        row("swarm benchmark", &[]),
        row("swarm extract", &["--dry-run"])
            .stdin(format!("{words}\n```{words}\n{words}\n```\n`{words}.rs`\n```\n{words}\n```\n")),
        row("swarm domains", &[words]),
        row("swarm retrieve", &[words]),
        row("swarm retrieve", &[ORIGINAL]).data(),
        row("swarm retrieve", &[ORIGINAL, "--grep", "."]).data(),
        row("swarm retrieve", &[ORIGINAL, "--grep", words]),
        row("swarm retrieve", &["o-fedcba9876543210"]),
        row("files", &["-n", "0"]),
        row("gate expect", &["review", "review-b.md", "--prompt", words, "--input", "plan.md"]),
        row("gate expect", &["review", words]),
        row("gate check", &[]),
        row("gate run", &[]).talks(),
        row("gate prompt", &["review-a.md"]),
        row("gate prompt", &[words]),
        row("gate seal", &[&format!("{RUN}/review-c.md")]),
        row("gate live", &[]),
        row("journal", &["--session", "s1"]),
        row("journal", &["--list"]),
        row("import ralph", &["--dry-run"]),
        row("import factory", &["--dry-run"]),
        row("brief", &["--all"]),
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
        row("redact", &[]).stdin(words).data(),
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
        row("handoff", &[words, "--session", "s1"]).talks(),
        row("hook", &["claude-code", "PreCompact"])
            .stdin(event("PreCompact", serde_json::json!({"trigger": "auto"})))
            .talks(),
        row("debug hook", &["claude-code", "SessionStart"]).stdin(compacted.clone()).talks(),
        row("debug hook", &[words, words]).stdin(words).talks(),
        row("loop adopt", &[words]),
        row("loop adopt", &[LOOP]),
        row("gate run", &["--adopt"]),
        row("hook", &["claude-code", "SessionStart"]).stdin(compacted),
        row("hook", &["claude-code", "UserPromptSubmit"])
            .stdin(event("UserPromptSubmit", serde_json::json!({"prompt": words}))),
        row("hook", &["claude-code", "SubagentStart"])
            .stdin(event("SubagentStart", serde_json::json!({"agent_id": "a", "agent_type": words}))),
        row("hook", &["claude-code", "Stop"]).stdin(event(
            "Stop",
            serde_json::json!({"stop_hook_active": false, "last_assistant_message": words}),
        )),
        row("hook", &["claude-code", "SessionStart"]).stdin(started),
    ]
}
