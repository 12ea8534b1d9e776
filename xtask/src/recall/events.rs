//! Reads the events of a session from its transcript.
//!
//! This module shares no code with the readers that are used for briefs, because briefs are judged by its results. It
//! may be slow and simple, so it parses every line completely.

use std::collections::BTreeSet;

use serde_json::Value;

/// An event in the main conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptEvent {
    /// The line of the transcript, counted from 0.
    pub line: usize,
    pub kind: EventKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Text that a person typed, including text typed with a refusal or while the agent was working.
    Prompt(String),
    AgentMessage(String),
    Call(ToolCall),
    Result {
        call_id: String,
        end: CallOutcome,
        text: String,
    },
    Compaction,
    Summary(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub tool: String,
    pub input: Value,
    /// The files that are inputs of the call.
    pub files: Vec<FileInToolCall>,
    pub command: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInToolCall {
    pub path: String,
    pub edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Done,
    Failed,
    /// The user refused the call, or the harness never ran it.
    NotRun,
}

impl TranscriptEvent {
    pub fn as_call(&self) -> Option<&ToolCall> {
        match &self.kind {
            EventKind::Call(call) => Some(call),
            _ => None,
        }
    }

    pub fn called_files(&self) -> &[FileInToolCall] {
        self.as_call().map_or(&[], |call| &call.files)
    }

    pub fn as_shell_command(&self) -> Option<&str> {
        self.as_call()?.command.as_deref()
    }
}

/// Tools with one input file, by lower-case name, and whether they change the file.
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

/// The beginnings of messages that have the user's role although nobody typed them.
const NOT_TYPED_STARTS: [&str; 12] = [
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

/// The beginnings of the results of refused calls.
const REFUSAL_STARTS: [&str; 3] = ["The user doesn't want to", "[Request interrupted", "Tool use rejected"];
/// The text before the user's reason for a refusal.
const REFUSAL_REASON_START: &str = "the user said:\n";
const CANCELLED_MARK: &str = "Sibling tool call errored";

/// Returns the events of a transcript, in order. A call, a result or a prompt that occurs twice is returned once.
pub fn read_events(lines: &[&[u8]]) -> Vec<TranscriptEvent> {
    let mut reading = EventReader::default();
    for (number, line) in lines.iter().enumerate() {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        reading.read_line(number, &value);
    }
    reading.events
}

#[derive(Default)]
struct EventReader {
    events: Vec<TranscriptEvent>,
    /// The ids of the lines, calls and results that have been read.
    ids_read: BTreeSet<String>,
    /// Queued prompts, which the agent has not received yet.
    queued: Vec<String>,
}

impl EventReader {
    fn read_line(&mut self, number: usize, value: &Value) {
        let text = |key: &str| value[key].as_str().unwrap_or_default();
        let is = |key: &str| value[key].as_bool().unwrap_or_default();
        if is("isSidechain") || is("isMeta") && text("type") != "system" {
            return;
        }
        if !text("uuid").is_empty() && !self.ids_read.insert(format!("line {}", text("uuid"))) {
            return;
        }
        let mut add = |what: EventKind| self.events.push(TranscriptEvent { line: number, kind: what });
        match text("type") {
            "system" if text("subtype") == "compact_boundary" => add(EventKind::Compaction),
            "queue-operation" if text("operation") == "enqueue" => {
                if let Some(words) = prompt_typed_by_person(text("content")) {
                    self.queued.push(words.clone());
                    add(EventKind::Prompt(words));
                }
            }
            "user" | "assistant" | "message" => {
                let message = &value["message"];
                let is_agent = message["role"] == "assistant";
                if is_agent && (is("isApiErrorMessage") || message["model"] == "<synthetic>") {
                    return;
                }
                for block in content_blocks(&message["content"]) {
                    self.read_block(number, &block, is_agent, is("isCompactSummary"));
                }
            }
            _ => {}
        }
    }

    fn read_block(&mut self, number: usize, block: &Value, is_agent: bool, is_summary: bool) {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let kind = match block["type"].as_str().unwrap_or_default() {
            "text" if text("text").trim().is_empty() => return,
            "text" if is_summary => EventKind::Summary(text("text")),
            "text" if is_agent => EventKind::AgentMessage(text("text")),
            "text" => {
                let Some(words) = prompt_typed_by_person(&text("text")) else { return };
                // The prompt was already counted when it was queued, so it is not counted again.
                if let Some(place) = self.queued.iter().position(|queued| has_same_words(queued, &words)) {
                    self.queued.remove(place);
                    return;
                }
                EventKind::Prompt(words)
            }
            "tool_use" if self.ids_read.insert(format!("call {}", text("id"))) => {
                EventKind::Call(parse_call(block))
            }
            "tool_result" if self.ids_read.insert(format!("result {}", text("tool_use_id"))) => {
                let given: Vec<String> = content_blocks(&block["content"])
                    .iter()
                    .filter_map(|part| Some(part["text"].as_str()?.to_owned()))
                    .collect();
                let given = given.join("\n");
                let is_refused = REFUSAL_STARTS.iter().any(|start| given.starts_with(start));
                let end = match block["is_error"].as_bool().unwrap_or_default() {
                    true if is_refused || given.contains(CANCELLED_MARK) => CallOutcome::NotRun,
                    true => CallOutcome::Failed,
                    false => CallOutcome::Done,
                };
                let reason = given.split_once(REFUSAL_REASON_START).map(|(_, words)| words.trim().to_owned());
                let call = text("tool_use_id");
                self.events.push(TranscriptEvent {
                    line: number,
                    kind: EventKind::Result { call_id: call, end, text: given },
                });
                match reason.filter(|words| is_refused && !words.is_empty()) {
                    Some(words) => EventKind::Prompt(words),
                    None => return,
                }
            }
            _ => return,
        };
        self.events.push(TranscriptEvent { line: number, kind });
    }
}

/// Returns the content of a message or a result as blocks. In the transcript, the content is either a string or a
/// list of blocks.
fn content_blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({ "type": "text", "text": text })],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// Returns the text if a person typed it for the agent. Commands that control the harness are left out. A project's
/// own command is included if it has arguments.
fn prompt_typed_by_person(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(command) = text_between(text, "<command-name>", "</command-name>") {
        let words = text_between(text, "<command-args>", "</command-args>").unwrap_or_default().trim();
        return (!words.is_empty()).then(|| format!("{} {words}", command.trim()));
    }
    let is_data = text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok();
    let is_steering = text.starts_with('/') && !text.contains(char::is_whitespace);
    let is_theirs = NOT_TYPED_STARTS.iter().any(|start| text.starts_with(start));
    (!text.is_empty() && !is_data && !is_steering && !is_theirs).then(|| text.to_owned())
}

fn text_between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

fn has_same_words(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

fn parse_call(block: &Value) -> ToolCall {
    let input = &block["input"];
    let tool = block["name"].as_str().unwrap_or_default();
    let lower = tool.to_lowercase();
    let path = ["file_path", "notebook_path", "path"].iter().find_map(|key| input[*key].as_str());
    let kind = FILE_TOOLS.iter().find(|(name, _)| *name == lower);
    let file = |(_, edited): &(&str, bool)| Some(FileInToolCall { path: path?.to_owned(), edited: *edited });
    let command = input["command"].as_str().filter(|_| SHELL_TOOLS.contains(&lower.as_str()));
    ToolCall {
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
