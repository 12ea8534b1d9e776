//! Events and replies in Factory Droid's format. The reader is lenient, and the writer is strict.

use std::borrow::Cow;

use model::effect;
use model::event::{Event, EventKind, FileAction, StartSource, StopEvent, ToolDone, TouchedFile};
use model::reply::Reply;

use crate::fields::JsonFields;
use crate::{UndecodablePayload, tools};

pub fn decode<'a>(payload: &'a [u8], word: &'a str) -> Result<Event<'a>, UndecodablePayload> {
    tools::build_event(payload, word, event_kind)
}

pub fn encode(reply: &Reply, kind: &EventKind) -> Vec<u8> {
    tools::encode_common_reply(reply, kind)
}

fn event_kind<'a>(fields: &JsonFields<'a>, name: Cow<'a, str>) -> EventKind<'a> {
    match name.as_ref() {
        "SessionStart" | "session-start" => {
            EventKind::SessionStart { source: StartSource::parse(&fields.text("source").unwrap_or_default()) }
        }
        "UserPromptSubmit" | "prompt" => tools::prompt_or_notice(fields.text("prompt").unwrap_or_default()),
        "PostToolUse" | "tool-done" => EventKind::ToolDone(Box::new(read_tool_done(fields))),
        "PreCompact" | "before-compact" => EventKind::BeforeCompact {
            trigger: fields.text("trigger"),
            instructions: fields.text("custom_instructions"),
        },
        "SubagentStop" | "subagent-stop" => EventKind::SubagentStop {
            message: fields.text("task_result"),
            // `task_name` is the description of the call, or the droid's name if the call has no description.
            task: fields.text("task_name"),
        },
        // The payload does not contain the agent's last message. The transcript does.
        "Stop" | "stop" => EventKind::Stop(StopEvent {
            message_id: fields.text("message_id"),
            is_first_since_prompt: fields.boolean("stop_hook_active").map(|active| !active),
            ..StopEvent::default()
        }),
        "SessionEnd" | "session-end" => EventKind::SessionEnd { reason: fields.text("reason") },
        _ => EventKind::Other { name },
    }
}

/// Reads a finished tool call. The payload has no call id. The id is read from the transcript at the next stop.
fn read_tool_done<'a>(fields: &JsonFields<'a>) -> ToolDone<'a> {
    let tool = fields.text("tool_name").unwrap_or_default();
    let input = fields.object("tool_input");
    let response = fields.text("tool_response");
    let exit = match tool.as_ref() {
        "Execute" => response.as_deref().and_then(tools::exit_code_at_end),
        _ => None,
    };
    let failed = exit.is_some_and(|exit| exit != 0);
    let command = input.text("command");
    let output = match &command {
        Some(command) => response.clone().filter(|_| tools::is_command_output_needed(command)),
        None if effect::tool_acts(&tool) => fields.result_text("tool_response"),
        None => None,
    };
    ToolDone {
        output,
        input_text: tools::subject_of_external_call(&tool, &input),
        files: touched_files(&tool, &input),
        todo_change: tools::todo_change(&tool, &input, JsonFields::default),
        answers: tools::question_answers(&tool, || fields.object("tool_response")),
        delegated_work: None,
        proposed_plan: tools::plan_shown_to_user(&tool, &input, JsonFields::default),
        command,
        raw_result: &[],
        error: response.filter(|_| failed),
        call_id: None,
        duration_ms: None,
        tool,
        exit_code: exit,
        failed,
    }
}

fn touched_files<'a>(tool: &str, input: &JsonFields<'a>) -> Vec<TouchedFile<'a>> {
    let action = match tool {
        "Read" => FileAction::Read,
        "Create" => FileAction::Create,
        "Edit" | "MultiEdit" => FileAction::Edit,
        "ApplyPatch" => {
            return tools::files_in_patch(
                &input.text("input").or_else(|| input.text("patch")).unwrap_or_default(),
            );
        }
        _ => return Vec::new(),
    };
    let Some(path) = input.text("file_path") else { return Vec::new() };
    let mut file = TouchedFile::new(path, action);
    match action {
        FileAction::Read => file.lines = tools::lines_read(input),
        _ => {
            file.changed_names =
                tools::names_changed_by_edit(&file.path, input, action == FileAction::Create);
        }
    }
    vec![file]
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
