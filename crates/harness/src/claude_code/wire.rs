//! Events and replies in Claude Code's format. Lenient when reading, strict when writing.

use std::borrow::Cow;

use model::effect;
use model::event::{Action, Event, Kind, Source, Stop, ToolDone, Touched};
use model::reply::Reply;
use serde_json::{Value, json};

use crate::fields::Fields;
use crate::{Undecodable, tools};

pub fn decode<'a>(payload: &'a [u8], word: &'a str) -> Result<Event<'a>, Undecodable> {
    tools::event(payload, word, kind)
}

/// Encodes a reply. At a compaction, plain text becomes part of the summariser's instructions; JSON would be pasted
/// there unparsed.
pub fn encode(reply: &Reply, kind: &Kind) -> Vec<u8> {
    match (reply, kind) {
        (Reply::Guidance(text), Kind::BeforeCompact { .. }) => text.clone().into_bytes(),
        (Reply::Output(text), Kind::ToolDone(done)) => replaced(done, text).unwrap_or_default(),
        _ => tools::encode(reply, kind),
    }
}

/// Which text of a tool's result a summary may replace. Tools that read files have no slot.
enum Slot {
    /// `stdout` and `stderr` of a command.
    Printed,
    /// One field of the result.
    Field(&'static str),
    /// The result itself: a text, or a list with one block of text.
    Whole,
}

fn slot(tool: &str) -> Option<Slot> {
    match tool {
        "Bash" => Some(Slot::Printed),
        "Grep" => Some(Slot::Field("content")),
        "WebFetch" => Some(Slot::Field("result")),
        _ if tool.starts_with("mcp__") => Some(Slot::Whole),
        _ => None,
    }
}

pub fn replaceable<'a>(done: &ToolDone<'a>) -> Option<Cow<'a, str>> {
    let object = || Fields::parse(done.result).0;
    match slot(&done.tool)? {
        Slot::Printed => {
            let object = object();
            // A command that was interrupted failed, and failures are shown whole.
            let is_kept = ["isImage", "interrupted"].iter().any(|flag| object.flag(flag) == Some(true));
            (!is_kept).then(|| printed(&object).into_owned().into())
        }
        Slot::Field(name) => object().text(name),
        Slot::Whole => match serde_json::from_slice(done.result).ok()? {
            Value::String(text) => Some(text.into()),
            Value::Array(blocks) => match blocks.as_slice() {
                [only] => Some(only.get("text")?.as_str()?.to_owned().into()),
                _ => None,
            },
            _ => None,
        },
    }
}

/// Returns the result with `text` in place of its own text. Claude Code ignores a result that has another form.
fn replaced(done: &ToolDone, text: &str) -> Option<Vec<u8>> {
    let mut result: Value = serde_json::from_slice(done.result).ok()?;
    match slot(&done.tool)? {
        Slot::Printed => {
            result["stdout"] = text.into();
            result["stderr"] = "".into();
        }
        Slot::Field(name) => result[name] = text.into(),
        Slot::Whole if result.is_string() => result = text.into(),
        Slot::Whole => *result.get_mut(0)?.get_mut("text")? = text.into(),
    }
    let output = json!({ "hookEventName": "PostToolUse", "updatedToolOutput": result });
    Some(json!({ "hookSpecificOutput": output }).to_string().into_bytes())
}

/// Returns the kind of an event. Accepts Claude Code's event names and ours, so that a hook can be tried by hand.
fn kind<'a>(fields: &Fields<'a>, name: Cow<'a, str>) -> Kind<'a> {
    match name.as_ref() {
        "SessionStart" | "session-start" => {
            Kind::SessionStart { source: Source::parse(&fields.text("source").unwrap_or_default()) }
        }
        "UserPromptSubmit" | "prompt" => tools::prompt(fields.text("prompt").unwrap_or_default()),
        "PostToolUse" | "tool-done" => Kind::ToolDone(Box::new(tool_done(fields, false))),
        "PostToolUseFailure" => Kind::ToolDone(Box::new(tool_done(fields, true))),
        "PreCompact" | "before-compact" => Kind::BeforeCompact {
            trigger: fields.text("trigger"),
            instructions: fields.text("custom_instructions"),
        },
        "PostCompact" | "after-compact" => Kind::AfterCompact { trigger: fields.text("trigger") },
        "SubagentStart" | "subagent-start" => Kind::SubagentStart,
        "SubagentStop" | "subagent-stop" => subagent_stop(fields),
        "Stop" | "stop" => Kind::Stop(stop(fields)),
        "SessionEnd" | "session-end" => Kind::SessionEnd { reason: fields.text("reason") },
        _ => Kind::Other { name },
    }
}

fn stop<'a>(fields: &Fields<'a>) -> Stop<'a> {
    // Count only agents, which report back by themselves. A server in the background is no reason to wait.
    let tasks = fields.objects("background_tasks");
    let is_at_work = |task: &&Fields| {
        let is = |name: &str, word: &str| task.text(name).is_some_and(|text| text.contains(word));
        is("type", "agent")
            && !["completed", "failed", "killed", "stopped"].iter().any(|end| is("status", end))
    };
    Stop {
        message: fields.text("last_assistant_message"),
        prompt: fields.text("prompt_id"),
        first: fields.flag("stop_hook_active").map(|active| !active),
        agents: tasks.iter().filter(is_at_work).count(),
        ..Stop::default()
    }
}

/// Reads the stop of a sub-agent. A sub-agent whose type is empty writes the summary of a compaction.
fn subagent_stop<'a>(fields: &Fields<'a>) -> Kind<'a> {
    let message = fields.text("last_assistant_message");
    match (fields.text("agent_type").as_deref(), message) {
        (Some(""), Some(text)) => Kind::Summary { text },
        (_, message) => Kind::SubagentStop { message, asked: None },
    }
}

fn tool_done<'a>(fields: &Fields<'a>, failed: bool) -> ToolDone<'a> {
    let tool = fields.text("tool_name").unwrap_or_default();
    let input = fields.object("tool_input");
    // The response is parsed only for the tools that need it, because it can be megabytes long.
    let response = || fields.object("tool_response");
    let error = fields.text("error");
    let exit = match (&error, failed) {
        (Some(error), _) => tools::exit_code_before(error).map(|(code, _)| code),
        (None, false) if tool == "Bash" => Some(0),
        _ => None,
    };
    let command = input.text("command");
    let output = match &command {
        Some(command) if tools::wants_output(command) => error.clone().or_else(|| Some(printed(&response()))),
        None if effect::tool_acts(&tool) => error.clone().or_else(|| fields.given("tool_response")),
        _ => None,
    };
    ToolDone {
        output,
        asked: tools::asked(&tool, &input),
        files: touched(&tool, &input, response),
        todos: tools::todos(&tool, &input, response),
        answers: tools::answers(&tool, response),
        delegated: tools::delegated(&tool, &input, response),
        plan: tools::plan(&tool, &input, response),
        result: fields.unread("tool_response"),
        command,
        id: fields.text("tool_use_id"),
        ms: fields.number("duration_ms"),
        tool,
        error,
        exit,
        failed,
    }
}

/// Returns what a command printed to stdout and stderr. Git and other programs report on stderr what they did.
fn printed<'a>(response: &Fields<'a>) -> Cow<'a, str> {
    let (out, err) =
        (response.text("stdout").unwrap_or_default(), response.text("stderr").unwrap_or_default());
    match (out.is_empty(), err.is_empty()) {
        (_, true) => out,
        (true, false) => err,
        (false, false) => Cow::Owned(format!("{out}\n{err}")),
    }
}

fn touched<'a>(tool: &str, input: &Fields<'a>, response: impl FnOnce() -> Fields<'a>) -> Vec<Touched<'a>> {
    let (field, action) = match tool {
        "Read" => ("file_path", Action::Read),
        "Edit" | "MultiEdit" => ("file_path", Action::Edit),
        "NotebookEdit" => ("notebook_path", Action::Edit),
        "Write" => match response().text("type").as_deref() {
            Some("create") => ("file_path", Action::Create),
            _ => ("file_path", Action::Edit),
        },
        _ => return Vec::new(),
    };
    input.text(field).map(|path| Touched { path, action }).into_iter().collect()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
