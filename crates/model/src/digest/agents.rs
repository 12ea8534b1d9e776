//! Work that was delegated to sub-agents, and the plan that the user approved.

use serde::{Deserialize, Serialize};

use super::statements::shortened;
use super::{Digest, keep_last};
use crate::journal::{self, Record};
use crate::statement;
use crate::text::cut;

const MOST_AGENTS: usize = 20;
const ASKED_BYTES: usize = 160;
const ANSWER_BYTES: usize = 900;

/// What a sub-agent was asked, and its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentUse {
    pub record: u64,
    pub asked: String,
    /// The condensed answer; empty while the sub-agent is working.
    pub answer: String,
}

/// A plan that the user approved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    pub record: u64,
    pub text: String,
}

impl Digest {
    pub(super) fn add_agent(&mut self, record: &Record) {
        if record.asked.is_empty() {
            return;
        }
        // The sub-agent runs in the background, and its answer comes later as a separate message.
        let launched = record.text.starts_with("Async agent launched");
        let answer = if launched { String::new() } else { statement::condense(&record.text) };
        self.agents.push(AgentUse {
            record: self.records,
            asked: cut(&record.asked, ASKED_BYTES).to_owned(),
            answer: shortened(&answer, ANSWER_BYTES),
        });
        keep_last(&mut self.agents, MOST_AGENTS);
    }

    pub(super) fn add_plan(&mut self, record: &Record) {
        if record.name == journal::PLAN && !record.text.trim().is_empty() {
            let text = cut(record.text.trim(), journal::PLAN_BYTES).to_owned();
            self.plan = Some(Plan { record: self.records, text });
        }
    }
}
