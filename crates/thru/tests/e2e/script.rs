//! What the scripted model answers, as plain data.

use std::time::Duration;

use serde_json::Value;

/// Each list is used up from the front by requests of its kind; after its end a polite default is given.
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
    /// How large the context is said to be; harnesses believe it.
    pub input_tokens: Option<u64>,
    pub delay: Duration,
    /// An error instead of an answer, as a status line has it.
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

/// An answer that is none.
pub fn refuse(status: &'static str) -> Step {
    Step { refusal: Some(status), ..Step::default() }
}

impl Script {
    pub fn main(steps: impl Into<Vec<Step>>) -> Script {
        Script { main: steps.into(), ..Script::default() }
    }
}
