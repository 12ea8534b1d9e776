//! Events and replies in Factory Droid's format. Lenient when reading, strict when writing.

use std::borrow::Cow;

use model::effect;
use model::event::{Action, Event, Kind, Source, Stop, ToolDone, Touched};
use model::reply::Reply;

use crate::fields::Fields;
use crate::{Undecodable, tools};

pub fn decode<'a>(payload: &'a [u8], word: &'a str) -> Result<Event<'a>, Undecodable> {
    tools::event(payload, word, kind)
}

pub fn encode(reply: &Reply, kind: &Kind) -> Vec<u8> {
    tools::encode(reply, kind)
}

fn kind<'a>(fields: &Fields<'a>, name: Cow<'a, str>) -> Kind<'a> {
    match name.as_ref() {
        "SessionStart" | "session-start" => {
            Kind::SessionStart { source: Source::parse(&fields.text("source").unwrap_or_default()) }
        }
        "UserPromptSubmit" | "prompt" => tools::prompt(fields.text("prompt").unwrap_or_default()),
        "PostToolUse" | "tool-done" => Kind::ToolDone(Box::new(tool_done(fields))),
        "PreCompact" | "before-compact" => Kind::BeforeCompact {
            trigger: fields.text("trigger"),
            instructions: fields.text("custom_instructions"),
        },
        "SubagentStop" | "subagent-stop" => Kind::SubagentStop {
            message: fields.text("task_result"),
            // `task_name` is the description of the call or, if it has none, the droid's name.
            asked: fields.text("task_name"),
        },
        // The payload contains no message, but the transcript does.
        "Stop" | "stop" => Kind::Stop(Stop {
            id: fields.text("message_id"),
            first: fields.flag("stop_hook_active").map(|active| !active),
            ..Stop::default()
        }),
        "SessionEnd" | "session-end" => Kind::SessionEnd { reason: fields.text("reason") },
        _ => Kind::Other { name },
    }
}

/// Reads a finished tool call. The payload has no call id; the transcript supplies it at the stop.
fn tool_done<'a>(fields: &Fields<'a>) -> ToolDone<'a> {
    let tool = fields.text("tool_name").unwrap_or_default();
    let input = fields.object("tool_input");
    let response = fields.text("tool_response");
    let exit = match tool.as_ref() {
        "Execute" => response.as_deref().and_then(tools::exit_code_behind),
        _ => None,
    };
    let failed = exit.is_some_and(|exit| exit != 0);
    let command = input.text("command");
    let output = match &command {
        Some(command) => response.clone().filter(|_| tools::wants_output(command)),
        None if effect::tool_acts(&tool) => fields.given("tool_response"),
        None => None,
    };
    ToolDone {
        output,
        asked: tools::asked(&tool, &input),
        files: touched(&tool, &input),
        todos: tools::todos(&tool, &input, Fields::default),
        answers: tools::answers(&tool, || fields.object("tool_response")),
        delegated: None,
        plan: tools::plan(&tool, &input, Fields::default),
        command,
        result: &[],
        error: response.filter(|_| failed),
        id: None,
        ms: None,
        tool,
        exit,
        failed,
    }
}

fn touched<'a>(tool: &str, input: &Fields<'a>) -> Vec<Touched<'a>> {
    let action = match tool {
        "Read" => Action::Read,
        "Create" => Action::Create,
        "Edit" | "MultiEdit" => Action::Edit,
        "ApplyPatch" => {
            return tools::patched(&input.text("input").or_else(|| input.text("patch")).unwrap_or_default());
        }
        _ => return Vec::new(),
    };
    input.text("file_path").map(|path| Touched { path, action }).into_iter().collect()
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
