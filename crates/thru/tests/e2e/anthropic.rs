//! Implements the Anthropic Messages API for Claude Code.

use serde_json::{Value, json};

use crate::http::{Request, StreamPiece};
use crate::model::RequestKind;
use crate::script::ScriptStep;

/// Returns the kind of a request. A header marks the requests of sub-agents. A request for a summary has no such mark
/// and is recognised by its text.
pub fn request_kind(request: &Request) -> RequestKind {
    let asked = last_user_text(&request.body);
    if asked.contains("create a detailed summary") && asked.contains("<summary>") {
        RequestKind::Compact
    } else if request.header("x-claude-code-agent-id").is_some() {
        RequestKind::Subagent
    } else if request.body["tools"].as_array().is_none_or(Vec::is_empty) {
        RequestKind::Side
    } else {
        RequestKind::Main
    }
}

pub fn answer_pieces(step: &ScriptStep, model: &Value, number: usize) -> Vec<StreamPiece> {
    let input = step.input_tokens.unwrap_or(1000);
    let usage = |output: u64| {
        json!({
            "input_tokens": input, "output_tokens": output,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        })
    };
    let mut pieces = vec![event_piece(
        "message_start",
        json!({ "message": {
            "id": format!("msg_{number:06}"), "type": "message", "role": "assistant", "model": model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(1),
        }}),
    )];
    for (index, (start, delta)) in content_blocks(step, number).into_iter().enumerate() {
        pieces.push(event_piece("content_block_start", json!({ "index": index, "content_block": start })));
        pieces.push(event_piece("content_block_delta", json!({ "index": index, "delta": delta })));
        pieces.push(event_piece("content_block_stop", json!({ "index": index })));
    }
    let reason = if step.calls.is_empty() { "end_turn" } else { "tool_use" };
    pieces.push(event_piece(
        "message_delta",
        json!({ "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": usage(50) }),
    ));
    pieces.push(event_piece("message_stop", json!({})));
    pieces
}

/// Returns the content blocks of an answer. Each block has a start and one delta with its whole content.
fn content_blocks(step: &ScriptStep, number: usize) -> Vec<(Value, Value)> {
    let mut blocks = Vec::new();
    if !step.text.is_empty() {
        blocks.push((
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": step.text }),
        ));
    }
    for (index, call) in step.calls.iter().enumerate() {
        let id = format!("toolu_{number:04}_{index}");
        blocks.push((
            json!({ "type": "tool_use", "id": id, "name": call.tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": call.input.to_string() }),
        ));
    }
    blocks
}

fn event_piece(name: &'static str, mut data: Value) -> StreamPiece {
    data["type"] = name.into();
    StreamPiece { name: Some(name), data: data.to_string() }
}

fn last_user_text(body: &Value) -> String {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(last) = messages.iter().rev().find(|message| message["role"] == "user") else {
        return String::new();
    };
    match &last["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}
