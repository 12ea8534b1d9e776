//! Events and replies as Claude Code spells them. Lenient in, strict out.

use std::borrow::Cow;

use model::event::{Action, Agent, Event, Kind, Source, ToolDone, Touched};
use model::reply::Reply;

use crate::Undecodable;
use crate::fields::Fields;

pub fn decode<'a>(payload: &'a str, event: &'a str) -> Result<Event<'a>, Undecodable> {
    let (fields, problem) = Fields::parse(payload);
    if fields.is_empty() {
        let why = problem.map_or_else(|| "it has no fields".to_owned(), |p| p.to_string());
        return Err(Undecodable::NotAnObject(why));
    }
    let session = fields.text("session_id").filter(|id| !id.is_empty()).ok_or(Undecodable::NoSession)?;
    let name = fields.text("hook_event_name").unwrap_or(Cow::Borrowed(event));
    Ok(Event {
        session,
        cwd: fields.text("cwd"),
        transcript: fields.text("transcript_path"),
        agent: fields
            .text("agent_id")
            .map(|id| Agent { id, kind: fields.text("agent_type").unwrap_or_default() }),
        kind: kind(&fields, name),
    })
}

/// Only what Claude Code accepts at every event: a message for the user, or nothing.
pub fn encode(reply: &Reply) -> Vec<u8> {
    match reply {
        Reply::Silent => Vec::new(),
        Reply::TellUser(text) => serde_json::json!({ "systemMessage": text }).to_string().into_bytes(),
    }
}

/// Its own names, and ours, so that a hook can be tried by hand.
fn kind<'a>(fields: &Fields<'a>, name: Cow<'a, str>) -> Kind<'a> {
    match name.as_ref() {
        "SessionStart" | "session-start" => {
            Kind::SessionStart { source: Source::parse(&fields.text("source").unwrap_or_default()) }
        }
        "UserPromptSubmit" | "prompt" => Kind::Prompt { text: fields.text("prompt").unwrap_or_default() },
        "PostToolUse" | "tool-done" => Kind::ToolDone(tool_done(fields, false)),
        "PostToolUseFailure" => Kind::ToolDone(tool_done(fields, true)),
        "PreCompact" | "before-compact" => Kind::BeforeCompact { trigger: fields.text("trigger") },
        "PostCompact" | "after-compact" => Kind::AfterCompact { trigger: fields.text("trigger") },
        "SubagentStart" | "subagent-start" => Kind::SubagentStart,
        "SubagentStop" | "subagent-stop" => Kind::SubagentStop,
        "Stop" | "stop" => Kind::Stop,
        "SessionEnd" | "session-end" => Kind::SessionEnd { reason: fields.text("reason") },
        _ => Kind::Other { name },
    }
}

fn tool_done<'a>(fields: &Fields<'a>, failed: bool) -> ToolDone<'a> {
    let tool = fields.text("tool_name").unwrap_or_default();
    let input = fields.object("tool_input");
    let error = fields.text("error");
    let exit = match (&error, failed) {
        (Some(error), _) => exit_code(error),
        (None, false) if tool == "Bash" => Some(0),
        _ => None,
    };
    ToolDone {
        files: touched(&tool, &input, fields),
        command: input.text("command"),
        id: fields.text("tool_use_id"),
        ms: fields.number("duration_ms"),
        tool,
        error,
        exit,
        failed,
    }
}

fn touched<'a>(tool: &str, input: &Fields<'a>, fields: &Fields<'a>) -> Vec<Touched<'a>> {
    let (field, action) = match tool {
        "Read" => ("file_path", Action::Read),
        "Edit" | "MultiEdit" => ("file_path", Action::Edit),
        "NotebookEdit" => ("notebook_path", Action::Edit),
        // The answer is looked into for Write only: it can be megabytes.
        "Write" => match fields.object("tool_response").text("type").as_deref() {
            Some("create") => ("file_path", Action::Create),
            _ => ("file_path", Action::Edit),
        },
        _ => return Vec::new(),
    };
    input.text(field).map(|path| Touched { path, action }).into_iter().collect()
}

/// `Exit code 3`, followed by whatever the command printed.
fn exit_code(error: &str) -> Option<i64> {
    let rest = error.strip_prefix("Exit code ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
    digits.parse().ok()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
