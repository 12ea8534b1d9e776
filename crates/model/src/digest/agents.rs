//! Work done by sub-agents, and the plan that the user approved.

use serde::{Deserialize, Serialize};

use super::statements::first_sentences_within;
use super::{Digest, keep_last};
use crate::journal::{self, JournalRecord};
use crate::statement;
use crate::text::cut_to_bytes;

const MAX_AGENTS: usize = 20;
const MAX_REQUEST_BYTES: usize = 160;
const MAX_ANSWER_BYTES: usize = 900;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegatedTask {
    pub record: u64,
    #[serde(rename = "asked")]
    pub task: String,
    /// The condensed answer, or empty while the sub-agent is working.
    pub answer: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovedPlan {
    pub record: u64,
    pub text: String,
}

impl Digest {
    pub(super) fn add_agent(&mut self, record: &JournalRecord) {
        if record.asked.is_empty() {
            return;
        }
        // A background sub-agent answers later, in a separate message, so this text is not its answer.
        let launched = record.text.starts_with("Async agent launched");
        let answer = if launched { String::new() } else { statement::condense_message(&record.text) };
        self.agents.push(DelegatedTask {
            record: self.record_count,
            task: cut_to_bytes(&record.asked, MAX_REQUEST_BYTES).to_owned(),
            answer: first_sentences_within(&answer, MAX_ANSWER_BYTES),
        });
        keep_last(&mut self.agents, MAX_AGENTS);
    }

    pub(super) fn add_plan(&mut self, record: &JournalRecord) {
        if record.name == journal::APPROVED_PLAN_TOOL && !record.text.trim().is_empty() {
            let text = cut_to_bytes(record.text.trim(), journal::MAX_PLAN_BYTES).to_owned();
            self.plan = Some(ApprovedPlan { record: self.record_count, text });
        }
    }
}
