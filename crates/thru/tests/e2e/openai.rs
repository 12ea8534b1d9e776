//! OpenAI chat completions, as Droid and OpenCode use them with a custom model.

use serde_json::{Value, json};

use crate::http::{Piece, Request};
use crate::model::Kind;
use crate::script::Step;

/// Returns the kind of a request. Requests of the agent have tools; requests for summaries and titles do not.
/// OpenCode marks a sub-agent with a header.
pub fn kind(request: &Request) -> Kind {
    let is_title = request.body["messages"][0]["content"]
        .as_str()
        .is_some_and(|text| text.starts_with("You are a title generator"));
    if is_title {
        Kind::Side
    } else if request.header("x-parent-session-id").is_some() {
        Kind::Subagent
    } else if request.body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        Kind::Main
    } else if request.body["messages"].to_string().contains("summar") {
        Kind::Compact
    } else {
        Kind::Side
    }
}

pub fn pieces(step: &Step, model: &Value, number: usize) -> Vec<Piece> {
    let chunk = |choices: Value, usage: Value| {
        let data = json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": model, "choices": choices, "usage": usage,
        });
        Piece { name: None, data: data.to_string() }
    };
    let delta = |delta: Value, finish: Value| {
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": finish }]), Value::Null)
    };
    let mut pieces = vec![delta(json!({ "role": "assistant", "content": "" }), Value::Null)];
    if !step.text.is_empty() {
        pieces.push(delta(json!({ "content": step.text }), Value::Null));
    }
    if !step.calls.is_empty() {
        pieces.push(delta(json!({ "tool_calls": calls(step, number) }), Value::Null));
    }
    let reason = if step.calls.is_empty() { "stop" } else { "tool_calls" };
    pieces.push(delta(json!({}), reason.into()));
    pieces.push(chunk(json!([]), usage(step)));
    pieces.push(Piece { name: None, data: "[DONE]".to_owned() });
    pieces
}

/// Returns the same answer for a request without streaming.
pub fn whole(step: &Step, model: &Value, number: usize) -> Value {
    json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 1_700_000_000, "model": model,
        "choices": [{
            "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": step.text },
        }],
        "usage": usage(step),
    })
}

fn calls(step: &Step, number: usize) -> Vec<Value> {
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

fn usage(step: &Step) -> Value {
    let input = step.input_tokens.unwrap_or(1000);
    json!({ "prompt_tokens": input, "completion_tokens": 50, "total_tokens": input + 50 })
}
