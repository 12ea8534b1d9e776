//! Drives the real Claude Code, offline.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::available;
use crate::hooks::{self, HookReport, HookRun};
use crate::journal::Lines;
use crate::model::Model;
use crate::process::{Ended, Line, Process};
use crate::scratch::Scratch;

#[derive(Debug)]
pub struct ClaudeCode {
    binary: PathBuf,
}

/// A session in one process, which takes one prompt after another.
#[derive(Debug)]
pub struct Conversation {
    process: Process,
}

impl ClaudeCode {
    /// Returns `None` if Claude Code is not installed; the test has then been reported as skipped.
    pub fn find() -> Option<ClaudeCode> {
        available::harness("THRU_CLAUDE", "claude").map(|binary| ClaudeCode { binary })
    }

    /// Runs `thru init`, which notices that Claude Code is in use and installs hooks, as it does for a user.
    pub fn init(scratch: &Scratch) {
        std::fs::create_dir_all(scratch.home.join(".claude/projects")).expect("a folder");
        scratch.thru_ok(&["init"]);
        let settings = scratch.project.join(".claude/settings.local.json");
        assert!(settings.exists(), "init wires what is in use");
    }

    /// Sends one prompt in a separate process.
    pub fn ask(&self, scratch: &Scratch, model: &Model, prompt: &str, arguments: &[&str]) -> Ended {
        let mut command = self.command(scratch, model);
        command.arg(prompt).args(arguments);
        Process::start(command).finish()
    }

    pub fn converse(&self, scratch: &Scratch, model: &Model, arguments: &[&str]) -> Conversation {
        let mut command = self.command(scratch, model);
        command.args(["--input-format", "stream-json"]).args(arguments);
        Conversation { process: Process::start(command) }
    }

    /// Starts a conversation in plan mode, in which the user is asked for permissions. The agent also gets its todo
    /// list, which it otherwise has only on a terminal.
    pub fn converse_in_plan_mode(&self, scratch: &Scratch, model: &Model) -> Conversation {
        let mut command = self.asking(scratch, model);
        command.env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1").args(["--input-format", "stream-json"]);
        command.args(["--permission-mode", "plan", "--permission-prompt-tool", "stdio"]);
        command.args(["--allowedTools", "TaskCreate,TaskUpdate"]);
        Conversation { process: Process::start(command) }
    }

    /// Runs one of Claude Code's own commands, such as `plugin`, without a model or a session.
    pub fn verb(&self, scratch: &Scratch, words: &[&str]) -> Output {
        self.bare(scratch).args(words).output().expect("it starts")
    }

    pub fn command(&self, scratch: &Scratch, model: &Model) -> Command {
        let mut command = self.asking(scratch, model);
        command.arg("--dangerously-skip-permissions");
        command
    }

    /// Like [`ClaudeCode::command`], but the agent may use only the tools that were allowed.
    pub fn asking(&self, scratch: &Scratch, model: &Model) -> Command {
        let mut command = self.bare(scratch);
        command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "dummy").args([
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-hook-events",
        ]);
        command
    }

    /// Returns the command that a person types in a terminal.
    pub fn on_terminal(&self, scratch: &Scratch, model: &Model) -> Command {
        let mut command = self.bare(scratch);
        command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "dummy");
        command.env("TERM", "xterm-256color").args(["--permission-mode", "manual"]);
        command
    }

    /// Returns the command with variables that keep it offline. The last two have other purposes: root cannot skip
    /// permissions without `IS_SANDBOX`, and `CLAUDE_CODE_TMPDIR` keeps files out of /tmp.
    fn bare(&self, scratch: &Scratch) -> Command {
        let mut command = scratch.command(&self.binary.to_string_lossy());
        command
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("IS_SANDBOX", "1")
            .env("CLAUDE_CODE_TMPDIR", scratch.tmp());
        command
    }
}

impl Conversation {
    /// Sends a prompt and waits until the turn is over.
    pub fn say(&mut self, text: &str) -> Value {
        self.start_saying(text);
        self.process.wait_for("result", |line| line["type"] == "result")
    }

    /// Sends a prompt without waiting for the end of the turn.
    pub fn start_saying(&mut self, text: &str) {
        self.process.send(&json!({ "type": "user", "message": { "role": "user", "content": text } }));
    }

    /// Sends a prompt and answers the question that the agent asks the user.
    pub fn say_and_answer(&mut self, text: &str, answers: &Value) -> Value {
        self.start_saying(text);
        let asked = self.process.wait_for("question", |line| line["type"] == "control_request");
        let request = &asked["request"];
        assert_eq!(request["subtype"], "can_use_tool", "{asked}");
        let mut input = request["input"].clone();
        input["answers"] = answers.clone();
        self.process.send(&json!({ "type": "control_response", "response": {
            "subtype": "success", "request_id": asked["request_id"],
            "response": { "behavior": "allow", "updatedInput": input },
        }}));
        self.process.wait_for("result", |line| line["type"] == "result")
    }

    /// Sends a prompt and gives the permission that the agent asks for. If the agent asks about a plan, this
    /// approves the plan.
    pub fn say_and_allow(&mut self, text: &str) -> Value {
        self.start_saying(text);
        let asked = self.process.wait_for("question", |line| line["type"] == "control_request");
        let request = &asked["request"];
        assert_eq!(request["subtype"], "can_use_tool", "{asked}");
        self.process.send(&json!({ "type": "control_response", "response": {
            "subtype": "success", "request_id": asked["request_id"],
            "response": { "behavior": "allow", "updatedInput": request["input"] },
        }}));
        self.process.wait_for("result", |line| line["type"] == "result")
    }

    pub fn end(self) -> Ended {
        self.process.finish()
    }

    pub fn kill(self) -> Ended {
        self.process.kill()
    }
}

/// Returns the hooks that Claude Code reported. It reports no hooks around a compaction.
pub fn hook_runs(ended: &Ended) -> Vec<HookRun> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    hooks::runs(ended, |Line { json, .. }| match json["subtype"].as_str()? {
        "hook_started" => Some(HookReport::Started { id: text(&json["hook_id"]) }),
        "hook_response" => Some(HookReport::Ended {
            id: text(&json["hook_id"]),
            event: text(&json["hook_event"]),
            exit: json["exit_code"].as_i64(),
            stdout: text(&json["stdout"]),
            stderr: text(&json["stderr"]),
        }),
        _ => None,
    })
}

/// Returns the id of the session from the result.
pub fn session(result: &Value) -> String {
    result["session_id"].as_str().expect("a result names its session").to_owned()
}

/// Returns Claude Code's own record of a session, which shows what it did with a hook's reply.
pub fn transcript(scratch: &Scratch, session: &str) -> Lines {
    Lines::read(&transcript_folder(scratch).join(format!("{session}.jsonl")))
}

/// Returns the transcripts of all sessions in this project so far.
pub fn transcripts(scratch: &Scratch) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(transcript_folder(scratch)).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect()
}

fn transcript_folder(scratch: &Scratch) -> PathBuf {
    let project = scratch.project.to_string_lossy().replace(['/', '.'], "-");
    scratch.home.join(".claude/projects").join(project)
}
