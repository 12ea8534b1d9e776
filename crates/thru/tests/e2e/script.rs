//! The answers of the scripted model, as plain data.

use std::time::Duration;

use serde_json::Value;

/// The answers to requests of each kind, in order. When the answers are used up, a default answer is given.
#[derive(Debug, Default)]
pub struct ModelScript {
    pub main: Vec<ScriptStep>,
    pub subagent: Vec<ScriptStep>,
    pub compact: Vec<ScriptStep>,
}

/// One answer, which consists of text, tool calls or both.
#[derive(Clone, Debug, Default)]
pub struct ScriptStep {
    pub text: String,
    pub calls: Vec<ScriptedCall>,
    /// The size of the context that the model reports. Harnesses use it to decide when to compact.
    pub input_tokens: Option<u64>,
    pub delay: Duration,
    /// The HTTP status of an error that is returned instead of an answer.
    pub refusal: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct ScriptedCall {
    pub tool: &'static str,
    pub input: Value,
}

pub fn text_step(text: &str) -> ScriptStep {
    ScriptStep { text: text.to_owned(), ..ScriptStep::default() }
}

pub fn call_step(tool: &'static str, input: Value) -> ScriptStep {
    ScriptStep { calls: vec![ScriptedCall { tool, input }], ..ScriptStep::default() }
}

pub fn error_step(status: &'static str) -> ScriptStep {
    ScriptStep { refusal: Some(status), ..ScriptStep::default() }
}

impl ModelScript {
    pub fn main(steps: impl Into<Vec<ScriptStep>>) -> ModelScript {
        ModelScript { main: steps.into(), ..ModelScript::default() }
    }
}
