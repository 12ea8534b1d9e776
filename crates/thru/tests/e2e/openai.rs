//! Implements the OpenAI chat completions API, which Droid and OpenCode use for a custom model.

use serde_json::{Value, json};

use crate::http::{Request, StreamPiece};
use crate::model::RequestKind;
use crate::script::ScriptStep;

/// Returns the kind of a request. Requests from the agent contain tools; requests for summaries and titles do not.
/// OpenCode marks the requests of a sub-agent with a header.
pub fn request_kind(request: &Request) -> RequestKind {
    let is_title = request.body["messages"][0]["content"]
        .as_str()
        .is_some_and(|text| text.starts_with("You are a title generator"));
    if is_title {
        RequestKind::Side
    } else if request.header("x-parent-session-id").is_some() {
        RequestKind::Subagent
    } else if request.body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        RequestKind::Main
    } else if request.body["messages"].to_string().contains("summar") {
        RequestKind::Compact
    } else {
        RequestKind::Side
    }
}

pub fn answer_pieces(step: &ScriptStep, model: &Value, number: usize) -> Vec<StreamPiece> {
    let chunk = |choices: Value, usage: Value| {
        let data = json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": model, "choices": choices, "usage": usage,
        });
        StreamPiece { name: None, data: data.to_string() }
    };
    let delta = |delta: Value, finish: Value| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), Value::Null)
    };
    let mut pieces = vec![delta(json!({ "role": "assistant", "content": "" }), Value::Null)];
    if !step.text.is_empty() {
        pieces.push(delta(json!({ "content": step.text }), Value::Null));
    }
    if !step.calls.is_empty() {
        pieces.push(delta(json!({ "tool_calls": tool_calls(step, number) }), Value::Null));
    }
    let reason = if step.calls.is_empty() { "stop" } else { "tool_calls" };
    pieces.push(delta(json!({}), reason.into()));
    pieces.push(chunk(json!([]), token_usage(step)));
    pieces.push(StreamPiece { name: None, data: "[DONE]".to_owned() });
    pieces
}

/// Returns the whole answer at once, for a request without streaming.
pub fn complete_answer(step: &ScriptStep, model: &Value, number: usize) -> Value {
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 1_700_000_000, "model": model,
        "choices": [{
            "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": step.text },
        }],
        "usage": token_usage(step),
    })
}

fn tool_calls(step: &ScriptStep, number: usize) -> Vec<Value> {
    let calls = step.calls.iter().enumerate();
    calls
        .map(|(index, call)| {
            json!({
                "index": index, "id": format!("call_{number:04}_{index}"), "type": "function",
                "function": { "name": call.tool, "arguments": call.input.to_string() },
            })
        })
        .collect()
}

fn token_usage(step: &ScriptStep) -> Value {
    let input = step.input_tokens.unwrap_or(1000);
    json!({ "prompt_tokens": input, "completion_tokens": 50, "total_tokens": input + 50 })
}
