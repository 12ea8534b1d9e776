//! Runs the real Claude Code, offline.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::available;
use crate::hooks::{self, HookReport, HookRun};
use crate::journal::JournalLines;
use crate::model::ScriptedModel;
use crate::process::{EndedProcess, TestProcess, TimedLine};
use crate::scratch::ScratchProject;

#[derive(Debug)]
pub struct ClaudeCode {
    binary: PathBuf,
}

/// A session in a single process, to which the test sends one prompt after another.
#[derive(Debug)]
pub struct Conversation {
    process: TestProcess,
}

impl ClaudeCode {
    /// Finds Claude Code. Returns `None` if it is not installed, and the test is then reported as skipped.
    pub fn find_installed() -> Option<ClaudeCode> {
        available::find_harness("THRU_CLAUDE", "claude").map(|binary| ClaudeCode { binary })
    }

    /// Runs `thru init`, which detects Claude Code and installs hooks.
    pub fn init_project(scratch: &ScratchProject) {
        std::fs::create_dir_all(scratch.home.join(".claude/projects")).expect("a folder");
        scratch.run_thru_successfully(&["init"]);
        let settings = scratch.project.join(".claude/settings.local.json");
        assert!(settings.exists(), "init wires what is in use");
    }

    pub fn run_prompt(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
        prompt: &str,
        arguments: &[&str],
    ) -> EndedProcess {
        let mut command = self.claude_command(scratch, model);
        command.arg(prompt).args(arguments);
        TestProcess::start(command).close_and_wait()
    }

    pub fn start_conversation(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
        arguments: &[&str],
    ) -> Conversation {
        let mut command = self.claude_command(scratch, model);
        command.args(["--input-format", "stream-json"]).args(arguments);
        Conversation { process: TestProcess::start(command) }
    }

    /// Starts a conversation in plan mode. The user is asked for permissions, and the agent gets the todo list tools
    /// that it usually has only on a terminal.
    pub fn start_conversation_in_plan_mode(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
    ) -> Conversation {
        let mut command = self.command_with_permissions(scratch, model);
        command.env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1").args(["--input-format", "stream-json"]);
        command.args(["--permission-mode", "plan", "--permission-prompt-tool", "stdio"]);
        command.args(["--allowedTools", "TaskCreate,TaskUpdate"]);
        Conversation { process: TestProcess::start(command) }
    }

    /// Runs one of Claude Code's own commands, such as `plugin`, without a model or a session.
    pub fn run_claude_command(&self, scratch: &ScratchProject, words: &[&str]) -> Output {
        self.offline_command(scratch).args(words).output().expect("it starts")
    }

    pub fn claude_command(&self, scratch: &ScratchProject, model: &ScriptedModel) -> Command {
        let mut command = self.command_with_permissions(scratch, model);
        command.arg("--dangerously-skip-permissions");
        command
    }

    /// Like [`ClaudeCode::claude_command`], but the agent may use only the allowed tools.
    pub fn command_with_permissions(&self, scratch: &ScratchProject, model: &ScriptedModel) -> Command {
        let mut command = self.offline_command(scratch);
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
    pub fn terminal_command(&self, scratch: &ScratchProject, model: &ScriptedModel) -> Command {
        let mut command = self.offline_command(scratch);
        command.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "dummy");
        command.env("TERM", "xterm-256color").args(["--permission-mode", "manual"]);
        command
    }

    /// Returns the command with variables that keep it offline. The last two variables have other purposes:
    /// `IS_SANDBOX` lets root skip permissions, and `CLAUDE_CODE_TMPDIR` keeps files out of /tmp.
    fn offline_command(&self, scratch: &ScratchProject) -> Command {
        let mut command = scratch.command_in_project(&self.binary.to_string_lossy());
        command
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("IS_SANDBOX", "1")
            .env("CLAUDE_CODE_TMPDIR", scratch.tmp_folder());
        command
    }
}

impl Conversation {
    pub fn send_and_wait(&mut self, text: &str) -> Value {
        self.send_prompt(text);
        self.process.wait_for("result", |line| line["type"] == "result")
    }

    /// Sends a prompt without waiting for the end of the turn.
    pub fn send_prompt(&mut self, text: &str) {
        self.process.send(&json!({ "type": "user", "message": { "role": "user", "content": text } }));
    }

    /// Sends a prompt and answers the question that the agent asks the user.
    pub fn send_and_answer_question(&mut self, text: &str, answers: &Value) -> Value {
        self.send_prompt(text);
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

    /// Sends a prompt and gives the permission that the agent asks for. If the agent presents a plan, this approves the
    /// plan.
    pub fn send_and_give_permission(&mut self, text: &str) -> Value {
        self.send_prompt(text);
        let asked = self.process.wait_for("question", |line| line["type"] == "control_request");
        let request = &asked["request"];
        assert_eq!(request["subtype"], "can_use_tool", "{asked}");
        self.process.send(&json!({ "type": "control_response", "response": {
            "subtype": "success", "request_id": asked["request_id"],
            "response": { "behavior": "allow", "updatedInput": request["input"] },
        }}));
        self.process.wait_for("result", |line| line["type"] == "result")
    }

    pub fn end(self) -> EndedProcess {
        self.process.close_and_wait()
    }

    pub fn kill(self) -> EndedProcess {
        self.process.kill()
    }
}

/// Returns the hook runs that Claude Code reported. It does not report hooks around a compaction.
pub fn hook_runs(ended: &EndedProcess) -> Vec<HookRun> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    hooks::pair_hook_runs(ended, |TimedLine { json, .. }| match json["subtype"].as_str()? {
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

pub fn session_id_of_result(result: &Value) -> String {
    result["session_id"].as_str().expect("a result names its session").to_owned()
}

/// Returns Claude Code's own record of a session, which shows how it handled a hook's reply.
pub fn read_transcript(scratch: &ScratchProject, session: &str) -> JournalLines {
    JournalLines::read(&transcript_folder(scratch).join(format!("{session}.jsonl")))
}

pub fn transcript_paths(scratch: &ScratchProject) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(transcript_folder(scratch)).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect()
}

fn transcript_folder(scratch: &ScratchProject) -> PathBuf {
    let project = scratch.project.to_string_lossy().replace(['/', '.'], "-");
    scratch.home.join(".claude/projects").join(project)
}
