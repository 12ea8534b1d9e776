//! Events and replies in Claude Code's format. The reader is lenient, and the writer is strict.

use std::borrow::Cow;

use model::effect;
use model::event::{Event, EventKind, FileAction, StartSource, StopEvent, ToolDone, TouchedFile};
use model::reply::Reply;
use serde_json::{Value, json};

use super::transcript::declaration_around_edit;
use crate::fields::JsonFields;
use crate::transcript::walk::JsonWalk;
use crate::{UndecodablePayload, tools};

pub fn decode<'a>(payload: &'a [u8], word: &'a str) -> Result<Event<'a>, UndecodablePayload> {
    tools::build_event(payload, word, event_kind)
}

/// Encodes a reply. Before a compaction, Claude Code adds the hook's output to the summariser's instructions without
/// parsing it. The reply at that event is therefore plain text, not JSON.
pub fn encode(reply: &Reply, kind: &EventKind) -> Vec<u8> {
    match (reply, kind) {
        (Reply::GuideSummariser(text), EventKind::BeforeCompact { .. }) => text.clone().into_bytes(),
        (Reply::ReplaceToolOutput(text), EventKind::ToolDone(done)) => {
            replace_output(done, text).unwrap_or_default()
        }
        _ => tools::encode_common_reply(reply, kind),
    }
}

/// The part of a tool's result that a summary may replace. Results of tools that read files have no such part.
enum ReplaceableText {
    /// `stdout` and `stderr` of a command.
    StdoutAndStderr,
    /// One field of the result.
    ResultField(&'static str),
    /// The result itself, which is a string or a list with one text block.
    WholeResult,
}

fn replaceable_text_of_tool(tool: &str) -> Option<ReplaceableText> {
    match tool {
        "Bash" => Some(ReplaceableText::StdoutAndStderr),
        "Grep" => Some(ReplaceableText::ResultField("content")),
        "WebFetch" => Some(ReplaceableText::ResultField("result")),
        _ if tool.starts_with("mcp__") => Some(ReplaceableText::WholeResult),
        _ => None,
    }
}

pub fn replaceable_output<'a>(done: &ToolDone<'a>) -> Option<Cow<'a, str>> {
    let object = || JsonFields::parse(done.raw_result).0;
    match replaceable_text_of_tool(&done.tool)? {
        ReplaceableText::StdoutAndStderr => {
            let object = object();
            // An interrupted command counts as failed, and the output of a failed command is shown in full.
            let is_kept = ["isImage", "interrupted"].iter().any(|flag| object.boolean(flag) == Some(true));
            (!is_kept).then(|| stdout_and_stderr(&object).into_owned().into())
        }
        ReplaceableText::ResultField(name) => object().text(name),
        ReplaceableText::WholeResult => match serde_json::from_slice(done.raw_result).ok()? {
            Value::String(text) => Some(text.into()),
            Value::Array(blocks) => match blocks.as_slice() {
                [only] => Some(only.get("text")?.as_str()?.to_owned().into()),
                _ => None,
            },
            _ => None,
        },
    }
}

/// Returns the result with its text replaced by `text`. The structure stays the same, because Claude Code ignores a
/// result with another structure.
fn replace_output(done: &ToolDone, text: &str) -> Option<Vec<u8>> {
    let mut result: Value = serde_json::from_slice(done.raw_result).ok()?;
    match replaceable_text_of_tool(&done.tool)? {
        ReplaceableText::StdoutAndStderr => {
            result["stdout"] = text.into();
            result["stderr"] = "".into();
        }
        ReplaceableText::ResultField(name) => result[name] = text.into(),
        ReplaceableText::WholeResult if result.is_string() => result = text.into(),
        ReplaceableText::WholeResult => *result.get_mut(0)?.get_mut("text")? = text.into(),
    }
    let output = json!({ "hookEventName": "PostToolUse", "updatedToolOutput": result });
    Some(json!({ "hookSpecificOutput": output }).to_string().into_bytes())
}

/// Returns the kind of an event. Accepts both Claude Code's event names and ours, so that a hook can be tried by hand.
fn event_kind<'a>(fields: &JsonFields<'a>, name: Cow<'a, str>) -> EventKind<'a> {
    match name.as_ref() {
        "SessionStart" | "session-start" => {
            EventKind::SessionStart { source: StartSource::parse(&fields.text("source").unwrap_or_default()) }
        }
        "UserPromptSubmit" | "prompt" => tools::prompt_or_notice(fields.text("prompt").unwrap_or_default()),
        "PostToolUse" | "tool-done" => EventKind::ToolDone(Box::new(read_tool_done(fields, false))),
        "PostToolUseFailure" => EventKind::ToolDone(Box::new(read_tool_done(fields, true))),
        "PreCompact" | "before-compact" => EventKind::BeforeCompact {
            trigger: fields.text("trigger"),
            instructions: fields.text("custom_instructions"),
        },
        "PostCompact" | "after-compact" => EventKind::AfterCompact { trigger: fields.text("trigger") },
        "SubagentStart" | "subagent-start" => EventKind::SubagentStart,
        "SubagentStop" | "subagent-stop" => read_subagent_stop(fields),
        "Stop" | "stop" => EventKind::Stop(read_stop(fields)),
        "SessionEnd" | "session-end" => EventKind::SessionEnd { reason: fields.text("reason") },
        _ => EventKind::Other { name },
    }
}

fn read_stop<'a>(fields: &JsonFields<'a>) -> StopEvent<'a> {
    // Count only agents, because an agent reports back when it is done. A server that runs in the background is no
    // reason to wait.
    let tasks = fields.objects("background_tasks");
    let is_at_work = |task: &&JsonFields| {
        let is = |name: &str, word: &str| task.text(name).is_some_and(|text| text.contains(word));
        is("type", "agent")
            && !["completed", "failed", "killed", "stopped"].iter().any(|end| is("status", end))
    };
    StopEvent {
        message: fields.text("last_assistant_message"),
        prompt: fields.text("prompt_id"),
        is_first_since_prompt: fields.boolean("stop_hook_active").map(|active| !active),
        running_subagents: tasks.iter().filter(is_at_work).count(),
        ..StopEvent::default()
    }
}

/// Reads the event that reports that a sub-agent has stopped. A sub-agent with an empty type wrote the
/// summary for a compaction.
fn read_subagent_stop<'a>(fields: &JsonFields<'a>) -> EventKind<'a> {
    let message = fields.text("last_assistant_message");
    match (fields.text("agent_type").as_deref(), message) {
        (Some(""), Some(text)) => EventKind::Summary { text },
        (_, message) => EventKind::SubagentStop { message, task: background_task(fields) },
    }
}

/// Returns the description of the sub-agent's task if the sub-agent works in the background. Such a sub-agent is still
/// in the list of background tasks when it stops. The answer of any other sub-agent is in the result of its call.
fn background_task<'a>(fields: &JsonFields<'a>) -> Option<Cow<'a, str>> {
    let agent = fields.text("agent_id")?;
    let tasks = fields.objects("background_tasks");
    tasks.iter().find(|task| task.text("id").as_ref() == Some(&agent))?.text("description")
}

fn read_tool_done<'a>(fields: &JsonFields<'a>, failed: bool) -> ToolDone<'a> {
    let tool = fields.text("tool_name").unwrap_or_default();
    let input = fields.object("tool_input");
    // The response is parsed only for the tools that need it, because it can be megabytes long.
    let response = || fields.object("tool_response");
    let error = fields.text("error");
    let exit_code = match (&error, failed) {
        (Some(error), _) => tools::split_leading_exit_code(error).map(|(code, _)| code),
        // A command in the background has only been started.
        (None, false) if tool == "Bash" && input.boolean("run_in_background") != Some(true) => Some(0),
        _ => None,
    };
    let command = input.text("command");
    let output = match &command {
        Some(command) if tools::is_command_output_needed(command) => {
            error.clone().or_else(|| Some(stdout_and_stderr(&response())))
        }
        None if effect::tool_acts(&tool) => error.clone().or_else(|| fields.result_text("tool_response")),
        _ => None,
    };
    ToolDone {
        output,
        input_text: tools::subject_of_external_call(&tool, &input),
        files: touched_files(&tool, &input, fields.raw_bytes("tool_response")),
        todo_change: tools::todo_change(&tool, &input, response),
        answers: tools::question_answers(&tool, response),
        delegated_work: tools::delegated_work(&tool, &input, response),
        proposed_plan: tools::plan_shown_to_user(&tool, &input, response),
        raw_result: fields.raw_bytes("tool_response"),
        command,
        call_id: fields.text("tool_use_id"),
        duration_ms: fields.number("duration_ms"),
        tool,
        error,
        exit_code,
        failed,
    }
}

/// Returns what a command printed to stdout and stderr. Git and other programs print their results to stderr.
fn stdout_and_stderr<'a>(response: &JsonFields<'a>) -> Cow<'a, str> {
    let (out, err) =
        (response.text("stdout").unwrap_or_default(), response.text("stderr").unwrap_or_default());
    match (out.is_empty(), err.is_empty()) {
        (_, true) => out,
        (true, false) => err,
        (false, false) => Cow::Owned(format!("{out}\n{err}")),
    }
}

fn touched_files<'a>(tool: &str, input: &JsonFields<'a>, response: &'a [u8]) -> Vec<TouchedFile<'a>> {
    let mut original = None;
    let (field, action) = match tool {
        "Read" => ("file_path", FileAction::Read),
        "Edit" | "MultiEdit" => ("file_path", FileAction::Edit),
        "NotebookEdit" => ("notebook_path", FileAction::Edit),
        "Write" => {
            let report = JsonFields::parse(response).0;
            original = report.string_bytes("originalFile");
            match report.text("type").as_deref() {
                Some("create") => ("file_path", FileAction::Create),
                _ => ("file_path", FileAction::Edit),
            }
        }
        _ => return Vec::new(),
    };
    let Some(path) = input.text(field) else { return Vec::new() };
    let mut file = TouchedFile::new(path, action);
    match (tool, action) {
        (_, FileAction::Read) => file.lines = tools::lines_read(input),
        ("Write", FileAction::Edit) => {
            file.changed_names = tools::names_changed_by_rewrite(&file.path, input, original);
        }
        _ => {
            let is_new = action == FileAction::Create;
            file.changed_names = tools::names_changed_by_edit(&file.path, input, is_new);
        }
    }
    if file.changed_names.begins_inside {
        let mut walk = JsonWalk::new(response);
        file.changed_names
            .set_enclosing_declaration(walk.enter_object().then(|| declaration_around_edit(walk)).flatten());
    }
    vec![file]
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
