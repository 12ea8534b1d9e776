//! Runs the real Factory Droid, offline and without a login, with a custom model.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::available;
use crate::hooks::{self, HookReport, HookRun};
use crate::model::ScriptedModel;
use crate::process::{EndedProcess, TestProcess, TimedLine};
use crate::scratch::ScratchProject;

/// An address on this machine at which no program listens. Its port is that of the discard service.
const UNUSED_ADDRESS: &str = "http://127.0.0.1:9";

pub const ONE_SHOT_ARGUMENTS: &[&str] =
    &["--auto", "low", "--model", "custom:scripted", "--output-format", "stream-json"];

#[derive(Debug)]
pub struct Droid {
    binary: PathBuf,
    compact_at: Option<u64>,
}

/// A session in a single process, controlled through Droid's protocol for editors.
#[derive(Debug)]
pub struct Conversation {
    process: TestProcess,
    requests: u32,
}

impl Droid {
    /// Finds Droid. Returns `None` if it is not installed, and the test is then reported as skipped.
    pub fn find_installed() -> Option<Droid> {
        available::find_harness("THRU_DROID", "droid").map(|binary| Droid { binary, compact_at: None })
    }

    /// Runs `thru init`, which detects Droid and installs hooks.
    pub fn init_project(scratch: &ScratchProject) {
        let folder = scratch.home.join(".factory");
        std::fs::create_dir_all(folder.join("sessions")).expect("a folder");
        scratch.run_thru_successfully(&["init"]);
        assert!(folder.join("hooks.json").exists(), "init wires what is in use");
    }

    /// Makes Droid compact when the context reaches this many tokens.
    pub fn compacting_at(self, tokens: u64) -> Droid {
        Droid { compact_at: Some(tokens), ..self }
    }

    /// Sends one prompt in a separate process. In this mode, Droid fires no event for the prompt.
    pub fn run_prompt(&self, scratch: &ScratchProject, model: &ScriptedModel, prompt: &str) -> EndedProcess {
        let mut command = self.droid_command(scratch, model);
        command.args(ONE_SHOT_ARGUMENTS).arg(prompt);
        TestProcess::start(command).close_and_wait()
    }

    /// Starts a conversation. Returns it with the id of its session.
    pub fn start_conversation(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
    ) -> (Conversation, String) {
        let mut command = self.droid_command(scratch, model);
        command.args(["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]);
        let mut talk = Conversation { process: TestProcess::start(command), requests: 0 };
        let session = json!({
            "machineId": "test", "cwd": scratch.project, "modelId": "custom:Scripted-0",
            "autonomyLevel": "high", "interactionMode": "auto",
        });
        let answer = talk.request("droid.initialize_session", &session);
        let id = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("no session in {answer}"));
        (talk, id.to_owned())
    }

    pub fn resume_conversation(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
        session: &str,
    ) -> Conversation {
        let mut command = self.droid_command(scratch, model);
        command.args(["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"]);
        let mut talk = Conversation { process: TestProcess::start(command), requests: 0 };
        let answer = talk.request("droid.load_session", &json!({ "sessionId": session }));
        assert!(answer["result"].is_object(), "{answer}");
        talk
    }

    pub fn droid_command(&self, scratch: &ScratchProject, model: &ScriptedModel) -> Command {
        let mut settings = json!({
            "customModels": [{
                "model": "scripted", "displayName": "Scripted", "baseUrl": format!("{}/v1", model.url()),
                "apiKey": "dummy", "provider": "generic-chat-completion-api", "maxOutputTokens": 4096,
            }],
        });
        if let Some(tokens) = self.compact_at {
            settings["compactionTokenLimit"] = tokens.into();
        }
        let folder = scratch.home.join(".factory");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("settings.json"), settings.to_string()).expect("a file");
        let mut command = scratch.command_in_project(&self.binary.to_string_lossy());
        // Droid has no option for running offline. Therefore, these variables name a proxy that does not exist, so that
        // no request reaches another machine. Two telemetry senders ignore proxies, so further variables set their
        // target to the same unused address.
        for variable in
            ["HTTP_PROXY", "HTTPS_PROXY", "FACTORY_TELEMETRY_INGEST_BASE_URL", "OTEL_CUSTOMER_ENDPOINT"]
        {
            command.env(variable, UNUSED_ADDRESS);
        }
        command.env("NO_PROXY", "127.0.0.1").env("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false").arg("exec");
        command
    }
}

impl Conversation {
    /// Sends a prompt and waits until Droid is idle again.
    pub fn send_and_wait(&mut self, text: &str) {
        self.send("droid.add_user_message", &json!({ "text": text }));
        let note = |line: &Value| line["params"]["notification"].clone();
        self.process.wait_for("end of the turn", |line| note(line)["type"] == "agent_turn_completed");
        self.process.wait_for("idle", |line| note(line)["newState"] == "idle");
    }

    /// Compacts the session and continues in the new session. Returns the new session's id.
    pub fn compact(&mut self, instructions: &str) -> String {
        let answer = self.request("droid.compact_session", &json!({ "customInstructions": instructions }));
        let session = answer["result"]["newSessionId"].as_str().expect("a new session").to_owned();
        self.request("droid.load_session", &json!({ "sessionId": session }));
        session
    }

    pub fn end(mut self) -> EndedProcess {
        self.request("droid.close_session", &json!({ "reason": "prompt_input_exit" }));
        self.process.close_and_wait()
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.process.wait_for(method, |line| line["type"] == "response" && line["id"] == id.as_str())
    }

    fn send(&mut self, method: &str, params: &Value) -> String {
        self.requests += 1;
        let id = self.requests.to_string();
        self.process.send(&json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request",
            "id": id, "method": method, "params": params,
        }));
        id
    }
}

/// Returns the hook runs that Droid reported. Droid reports them only in a conversation.
pub fn hook_runs(ended: &EndedProcess) -> Vec<HookRun> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    hooks::pair_hook_runs(ended, |TimedLine { json, .. }| {
        let note = &json["params"]["notification"];
        match note["type"].as_str()? {
            "hook_execution_started" => Some(HookReport::Started { id: text(&note["hookId"]) }),
            "hook_execution_completed" => Some(HookReport::Ended {
                id: text(&note["hookId"]),
                event: text(&note["hookEventName"]),
                exit: note["hookResults"][0]["exitCode"].as_i64(),
                stdout: text(&note["hookResults"][0]["stdout"]),
                stderr: text(&note["hookResults"][0]["stderr"]),
            }),
            _ => None,
        }
    })
}
