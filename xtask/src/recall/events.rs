//! What happened in a session, read from its transcript.
//!
//! Briefs are judged by what this file finds, so it shares no code with the readers that briefs are made with. It
//! may be slow and simple: every line is parsed completely.

use std::collections::BTreeSet;

use serde_json::Value;

/// Something that happened in the main conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The line of the transcript, counted from 0.
    pub line: usize,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Words that a person typed, even if they came with a refusal or while the agent was working.
    Prompt(String),
    Said(String),
    Call(Call),
    Result {
        call: String,
        end: End,
        text: String,
    },
    Compaction,
    Summary(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    pub id: String,
    pub tool: String,
    pub input: Value,
    /// The files that are inputs of the call.
    pub files: Vec<File>,
    pub command: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Failed,
    /// The user refused the call, or the harness never ran it.
    NotRun,
}

impl Event {
    pub fn call(&self) -> Option<&Call> {
        match &self.what {
            What::Call(call) => Some(call),
            _ => None,
        }
    }

    pub fn files(&self) -> &[File] {
        self.call().map_or(&[], |call| &call.files)
    }

    pub fn command(&self) -> Option<&str> {
        self.call()?.command.as_deref()
    }
}

/// Tools with one input file, by lower-case name, and whether they change it.
const FILE_TOOLS: [(&str, bool); 8] = [
    ("read", false),
    ("edit", true),
    ("write", true),
    ("create", true),
    ("multiedit", true),
    ("notebookedit", true),
    ("notebookread", false),
    ("view", false),
];

const SHELL_TOOLS: [&str; 3] = ["bash", "execute", "shell"];

/// How messages in the user's role begin if nobody typed them.
const NOT_TYPED: [&str; 12] = [
    "<local-command",
    "<command-message>",
    "<command-name>",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below",
    "[Request interrupted",
    "Stop hook feedback",
    "This session is being continued",
    "Base directory for this skill",
];

/// How the result of a refused call begins.
const REFUSED: [&str; 3] = ["The user doesn't want to", "[Request interrupted", "Tool use rejected"];
/// The words that come before the user's reason.
const REASON: &str = "the user said:\n";
const CANCELLED: &str = "Sibling tool call errored";

/// Returns the events of a transcript, in order. A call, a result or a prompt that occurs twice counts once.
pub fn read(lines: &[&[u8]]) -> Vec<Event> {
    let mut reading = Reading::default();
    for (number, line) in lines.iter().enumerate() {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        reading.line(number, &value);
    }
    reading.events
}

#[derive(Default)]
struct Reading {
    events: Vec<Event>,
    /// The ids of the lines, calls and results that have been read.
    known: BTreeSet<String>,
    /// Prompts that are queued: the agent has not received them yet.
    queued: Vec<String>,
}

impl Reading {
    fn line(&mut self, number: usize, value: &Value) {
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        let is = |key: &str| value[key].as_bool().unwrap_or_default();
        if is("isSidechain") || is("isMeta") && text("type") != "system" {
            return;
        }
        if !text("uuid").is_empty() && !self.known.insert(format!("line {}", text("uuid"))) {
            return;
        }
        let mut add = |what: What| self.events.push(Event { line: number, what });
        match text("type") {
            "system" if text("subtype") == "compact_boundary" => add(What::Compaction),
            "queue-operation" if text("operation") == "enqueue" => {
                if let Some(words) = typed(text("content")) {
                    self.queued.push(words.clone());
                    add(What::Prompt(words));
                }
            }
            "user" | "assistant" | "message" => {
                let message = &value["message"];
                let is_agent = message["role"] == "assistant";
                if is_agent && (is("isApiErrorMessage") || message["model"] == "<synthetic>") {
                    return;
                }
                for block in blocks(&message["content"]) {
                    self.block(number, &block, is_agent, is("isCompactSummary"));
                }
            }
            _ => {}
        }
    }

    fn block(&mut self, number: usize, block: &Value, is_agent: bool, is_summary: bool) {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let what = match block["type"].as_str().unwrap_or_default() {
            "text" if text("text").trim().is_empty() => return,
            "text" if is_summary => What::Summary(text("text")),
            "text" if is_agent => What::Said(text("text")),
            "text" => {
                let Some(words) = typed(&text("text")) else { return };
                // The prompt was already counted when it was queued.
                if let Some(place) = self.queued.iter().position(|queued| same_words(queued, &words)) {
                    self.queued.remove(place);
                    return;
                }
                What::Prompt(words)
            }
            "tool_use" if self.known.insert(format!("call {}", text("id"))) => What::Call(call(block)),
            "tool_result" if self.known.insert(format!("result {}", text("tool_use_id"))) => {
                let given: Vec<String> = blocks(&block["content"])
                    .iter()
                    .filter_map(|part| Some(part["text"].as_str()?.to_owned()))
                    .collect();
                let given = given.join("\n");
                let is_refused = REFUSED.iter().any(|start| given.starts_with(start));
                let end = match block["is_error"].as_bool().unwrap_or_default() {
                    true if is_refused || given.contains(CANCELLED) => End::NotRun,
                    true => End::Failed,
                    false => End::Done,
                };
                let reason = given.split_once(REASON).map(|(_, words)| words.trim().to_owned());
                let call = text("tool_use_id");
                self.events.push(Event { line: number, what: What::Result { call, end, text: given } });
                match reason.filter(|words| is_refused && !words.is_empty()) {
                    Some(words) => What::Prompt(words),
                    None => return,
                }
            }
            _ => return,
        };
        self.events.push(Event { line: number, what });
    }
}

/// Returns the content of a message or a result as blocks. The content is a text or a list of blocks.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({ "type": "text", "text": text })],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// Returns the words if a person typed them for the agent. Commands that control the harness do not count. The
/// project's own commands count if they have arguments.
fn typed(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(command) = between(text, "<command-name>", "</command-name>") {
        let words = between(text, "<command-args>", "</command-args>").unwrap_or_default().trim();
        return (!words.is_empty()).then(|| format!("{} {words}", command.trim()));
    }
    let is_data = text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok();
    let is_steering = text.starts_with('/') && !text.contains(char::is_whitespace);
    let is_theirs = NOT_TYPED.iter().any(|start| text.starts_with(start));
    (!text.is_empty() && !is_data && !is_steering && !is_theirs).then(|| text.to_owned())
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

fn same_words(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

fn call(block: &Value) -> Call {
    let input = &block["input"];
    let tool = block["name"].as_str().unwrap_or_default();
    let lower = tool.to_lowercase();
    let path = ["file_path", "notebook_path", "path"].iter().find_map(|key| input[*key].as_str());
    let kind = FILE_TOOLS.iter().find(|(name, _)| *name == lower);
    let file = |(_, edited): &(&str, bool)| Some(File { path: path?.to_owned(), edited: *edited });
    let command = input["command"].as_str().filter(|_| SHELL_TOOLS.contains(&lower.as_str()));
    Call {
        id: block["id"].as_str().unwrap_or_default().to_owned(),
        tool: tool.to_owned(),
        files: kind.and_then(file).into_iter().collect(),
        command: command.map(str::to_owned),
        input: input.clone(),
    }
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
