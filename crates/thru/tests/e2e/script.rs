//! The answers of the scripted model, as plain data.

use std::time::Duration;

use serde_json::Value;

/// The answers to requests of each kind, in order. After the last answer, a default answer is given.
#[derive(Debug, Default)]
pub struct Script {
    pub main: Vec<Step>,
    pub subagent: Vec<Step>,
    pub compact: Vec<Step>,
}

/// One answer: text, tool calls, or both.
#[derive(Clone, Debug, Default)]
pub struct Step {
    pub text: String,
    pub calls: Vec<Call>,
    /// The size of the context that the model reports. Harnesses rely on it.
    pub input_tokens: Option<u64>,
    pub delay: Duration,
    /// An error instead of an answer, as the status of the HTTP response.
    pub refusal: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Call {
    pub tool: &'static str,
    pub input: Value,
}

pub fn say(text: &str) -> Step {
    Step { text: text.to_owned(), ..Step::default() }
}

pub fn call(tool: &'static str, input: Value) -> Step {
    Step { calls: vec![Call { tool, input }], ..Step::default() }
}

/// Returns an error in place of an answer.
pub fn refuse(status: &'static str) -> Step {
    Step { refusal: Some(status), ..Step::default() }
}

impl Script {
    pub fn main(steps: impl Into<Vec<Step>>) -> Script {
        Script { main: steps.into(), ..Script::default() }
    }
}
