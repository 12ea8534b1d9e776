//! Runs the real OpenCode, offline: `opencode run`, and `opencode serve` over its HTTP interface.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::available;
use crate::model::ScriptedModel;
use crate::process::{EndedProcess, TestProcess, WAIT_LIMIT};
use crate::scratch::ScratchProject;
use crate::script::{ScriptStep, call_step};
use crate::terminal::TestTerminal;

/// Where `thru install` puts the plugin in a project.
pub const PLUGIN_PATH: &str = ".opencode/plugins/throughline.js";

/// The name of a model for which OpenCode offers `apply_patch` instead of `edit` and `write`.
pub const PATCHING_MODEL: &str = "gpt-5-scripted";
const MODEL_NAME: &str = "scripted";

/// The size of the context above which OpenCode compacts, in tokens.
pub const CONTEXT_TOKENS: u64 = 20_000;

#[derive(Debug)]
pub struct OpenCode {
    binary: PathBuf,
}

/// `opencode serve`, which runs sessions in any folder.
#[derive(Debug)]
pub struct OpenCodeServer {
    address: String,
    /// The process is in a mutex because several tests may use the server at the same time.
    process: Mutex<TestProcess>,
}

#[derive(Debug)]
pub struct ServerSession {
    address: String,
    pub id: String,
    folder: PathBuf,
}

impl OpenCode {
    /// Finds OpenCode. Returns `None` if it is not installed, and the test is then reported as skipped.
    pub fn find_installed() -> Option<OpenCode> {
        available::find_harness("THRU_OPENCODE", "opencode").map(|binary| OpenCode { binary })
    }

    /// Installs the plugin, and makes it wait longer for `thru`. On a busy machine, a call could time out and be
    /// reported later, which would change the order of events. Other tests check the timeouts.
    pub fn install_plugin(scratch: &ScratchProject) {
        OpenCode::init_project(scratch);
        let path = scratch.project.join(PLUGIN_PATH);
        let source = std::fs::read_to_string(&path).expect("a plugin");
        let patient = source.replacen("const TIMEOUT = 2_000\n", "const TIMEOUT = 10_000\n", 1);
        assert_ne!(patient, source, "the plugin names its timeout");
        std::fs::write(path, patient).expect("a file");
    }

    /// Runs `thru init`, which detects OpenCode and installs the plugin.
    pub fn init_project(scratch: &ScratchProject) {
        let folder = scratch.home.join(".config/opencode");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("opencode.json"), "{}").expect("a file");
        scratch.run_thru_successfully(&["init"]);
        assert!(scratch.project.join(PLUGIN_PATH).exists(), "init wires what is in use");
    }

    pub fn run_prompt(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
        words: &[&str],
    ) -> EndedProcess {
        self.start_prompt(scratch, model, words).close_and_wait()
    }

    pub fn start_prompt(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
        words: &[&str],
    ) -> TestProcess {
        let mut command = self.opencode_command(scratch, model);
        command.args(["run", "--format", "json"]).args(words);
        let mut process = TestProcess::start(command);
        // OpenCode reads a prompt from stdin until stdin is closed.
        process.close_stdin();
        process
    }

    /// Opens OpenCode's own user interface on a terminal.
    pub fn open_terminal(&self, scratch: &ScratchProject, model: &ScriptedModel) -> TestTerminal {
        TestTerminal::start(self.opencode_command(scratch, model))
    }

    pub fn start_server(
        &self,
        scratch: &ScratchProject,
        model: &ScriptedModel,
        folder: &Path,
    ) -> OpenCodeServer {
        let mut command = self.opencode_command(scratch, model);
        command.args(["serve", "--port", "0"]).current_dir(folder);
        let mut process = TestProcess::start(command);
        let line =
            process.wait_for("address", |line| line.as_str().is_some_and(|line| line.contains("http://")));
        let line = line.as_str().unwrap_or_default();
        let (_, address) = line.split_once("http://").expect("just seen");
        OpenCodeServer {
            address: address.trim().trim_end_matches('/').to_owned(),
            process: Mutex::new(process),
        }
    }

    /// Returns the command with variables that keep it offline. Without `enabled_providers`, it would use hosted
    /// models. Without `npm_config_offline`, it would install a package before it loads a plugin.
    pub fn opencode_command(&self, scratch: &ScratchProject, model: &ScriptedModel) -> Command {
        let limit = json!({ "context": CONTEXT_TOKENS, "output": 1_000 });
        let settings = json!({
            "$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled",
            "model": format!("local/{MODEL_NAME}"), "small_model": format!("local/{MODEL_NAME}"),
            "enabled_providers": ["local"], "permission": { "*": "allow", "webfetch": "ask" },
            "provider": { "local": {
                "npm": "@ai-sdk/openai-compatible", "name": "Local",
                "options": { "baseURL": format!("{}/v1", model.url()), "apiKey": "none" },
                "models": {
                    MODEL_NAME: { "name": "Scripted", "limit": limit },
                    PATCHING_MODEL: { "name": "Patching", "limit": limit },
                },
            } },
        });
        // Each scripted model has its own settings file, because two processes may run at the same time.
        let port = model.url().rsplit(':').next().unwrap_or_default().to_owned();
        let file = scratch.tmp_folder().join(format!("opencode-{port}.json"));
        std::fs::write(&file, settings.to_string()).expect("a file");
        let mut command = scratch.command_in_project(&self.binary.to_string_lossy());
        for variable in [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
            "OPENCODE_DISABLE_CLAUDE_CODE",
            "OPENCODE_DISABLE_EXTERNAL_SKILLS",
            "OPENCODE_DISABLE_SHARE",
        ] {
            command.env(variable, "1");
        }
        command.env("OPENCODE_CONFIG", file).env("npm_config_offline", "true");
        command
    }

    /// Queries OpenCode's own database.
    pub fn query_database(&self, scratch: &ScratchProject, query: &str) -> Vec<Value> {
        let mut command = scratch.command_in_project(&self.binary.to_string_lossy());
        let output = command.args(["db", query, "--format", "json"]).output().expect("it starts");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{query}: {output:?}"))
    }

    /// Returns the error lines in the logs of all OpenCode processes.
    pub fn logged_errors(scratch: &ScratchProject) -> Vec<String> {
        let folder = scratch.home.join(".local/share/opencode/log");
        let files = std::fs::read_dir(&folder).expect("it writes a log").flatten();
        let logs = files.map(|file| std::fs::read(file.path()).unwrap_or_default());
        let texts = logs.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        texts
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .filter(|line| is_error_line(line))
            .collect()
    }

    /// Puts OpenCode on the PATH of `thru`, under its usual name.
    pub fn put_on_path(&self, scratch: &ScratchProject) {
        std::os::unix::fs::symlink(&self.binary, scratch.bin_folder().join("opencode")).expect("a link");
    }
}

fn is_error_line(line: &str) -> bool {
    line.contains("level=ERROR") || line.starts_with("ERROR")
}

/// Returns a step with a call that needs permission, which the tests never grant.
pub fn step_without_permission() -> ScriptStep {
    call_step("webfetch", json!({ "url": "http://127.0.0.1:9/", "format": "text", "timeout": 5 }))
}

/// Returns the id of the session that `opencode run` reported.
pub fn reported_session(ended: &EndedProcess) -> String {
    let id = ended.lines.iter().find_map(|line| line.json["sessionID"].as_str());
    id.unwrap_or_else(|| panic!("no session in\n{ended}")).to_owned()
}

impl OpenCodeServer {
    pub fn create_session(&self, folder: &Path) -> ServerSession {
        let mut session =
            ServerSession { address: self.address.clone(), id: String::new(), folder: folder.to_path_buf() };
        let made = session.request("POST", "/session", &json!({}));
        session.id = made["id"].as_str().unwrap_or_else(|| panic!("no session in {made}")).to_owned();
        session
    }

    pub fn open_session(&self, id: &str, folder: &Path) -> ServerSession {
        ServerSession { address: self.address.clone(), id: id.to_owned(), folder: folder.to_path_buf() }
    }

    /// Returns the server's stderr so far. It includes the stack trace of an error that a plugin throws in an event.
    pub fn stderr(&self) -> String {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).stderr()
    }

    /// Kills the server, to simulate a crash.
    pub fn kill(self) {
        self.process.into_inner().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

impl ServerSession {
    pub fn send_and_wait(&self, text: &str) -> Value {
        self.send_to_model(text, MODEL_NAME)
    }

    pub fn send_to_model(&self, text: &str, model: &str) -> Value {
        self.request("POST", &self.request_path("message"), &prompt_body(text, model))
    }

    pub fn send_prompt(&self, text: &str) {
        self.request("POST", &self.request_path("prompt_async"), &prompt_body(text, MODEL_NAME));
    }

    pub fn summarize(&self) {
        let model = json!({ "providerID": "local", "modelID": MODEL_NAME });
        assert_eq!(self.request("POST", &self.request_path("summarize"), &model), json!(true));
    }

    pub fn run_slash_command(&self, name: &str, arguments: &str) -> Value {
        let body = json!({ "command": name, "arguments": arguments, "model": format!("local/{MODEL_NAME}") });
        self.request("POST", &self.request_path("command"), &body)
    }

    pub fn abort(&self) {
        self.request("POST", &self.request_path("abort"), &json!({}));
    }

    pub fn delete(&self) {
        self.request("DELETE", &format!("/session/{}", self.id), &json!({}));
    }

    /// Answers the next question that the agent asks.
    pub fn answer_question(&self, answer: &str) {
        let mut asked = Value::Null;
        wait_until("a question", || {
            asked = self.request("GET", "/question", &Value::Null);
            asked[0]["id"].is_string()
        });
        let id = asked[0]["id"].as_str().expect("just seen");
        self.request("POST", &format!("/question/{id}/reply"), &json!({ "answers": [[answer]] }));
    }

    /// Refuses the next permission that the agent asks for.
    pub fn refuse_permission(&self) {
        let mut asked = Value::Null;
        wait_until("a permission is asked for", || {
            asked = self.request("GET", "/permission", &Value::Null);
            asked[0]["id"].is_string()
        });
        let id = asked[0]["id"].as_str().expect("just seen");
        self.request("POST", &format!("/permission/{id}/reply"), &json!({ "reply": "reject" }));
    }

    pub fn is_idle(&self) -> bool {
        let status = self.request("GET", "/session/status", &Value::Null);
        status[&self.id]["type"].as_str().is_none_or(|word| word == "idle")
    }

    fn request_path(&self, verb: &str) -> String {
        format!("/session/{}/{verb}", self.id)
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        let path = format!("{path}?directory={}", self.folder.display());
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = send_request(&self.address, method, &path, &body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }
}

fn prompt_body(text: &str, model: &str) -> Value {
    json!({
        "model": { "providerID": "local", "modelID": model }, "parts": [{ "type": "text", "text": text }],
    })
}

/// Sends one request on a new connection.
fn send_request(address: &str, method: &str, path: &str, body: &str) -> std::io::Result<Value> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(WAIT_LIMIT))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )?;
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line)? > 2 {
        head.push_str(&line.to_ascii_lowercase());
        line.clear();
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    if head.contains("transfer-encoding: chunked") {
        body = read_chunked(&mut reader)?;
    }
    if !head.split(' ').nth(1).unwrap_or_default().starts_with('2') {
        return Err(std::io::Error::other(format!("{head}\n{}", String::from_utf8_lossy(&body))));
    }
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}

/// Reads up to the empty last chunk, because the connection may stay open after it.
fn read_chunked(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
        let start = whole.len();
        whole.resize(start + size + 2, 0);
        reader.read_exact(&mut whole[start..])?;
        whole.truncate(start + size);
        if size == 0 {
            return Ok(whole);
        }
    }
}

pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + WAIT_LIMIT;
    while !is_so() {
        assert!(Instant::now() < limit, "{what} within {WAIT_LIMIT:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
