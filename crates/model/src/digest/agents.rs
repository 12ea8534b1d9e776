//! Work done by sub-agents, and the plan that the user approved.

use serde::{Deserialize, Serialize};

use super::statements::first_sentences_within;
use super::{Digest, keep_last};
use crate::journal::{self, JournalRecord};
use crate::statement;
use crate::text::shorten_to_bytes;

const MAX_SUBAGENTS_KEPT: usize = 20;
const MAX_SUBAGENT_TASK_BYTES: usize = 160;
const MAX_SUBAGENT_ANSWER_BYTES: usize = 900;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegatedTask {
    pub record: u64,
    #[serde(rename = "asked")]
    pub task: String,
    /// The condensed answer, or empty while the sub-agent is working.
    pub answer: String,
    /// The id of the sub-agent, if its answer was reported when it stopped. Empty if the answer was the result
    /// of the call.
    #[serde(rename = "by", skip_serializing_if = "String::is_empty")]
    pub agent_id: String,
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
        self.push_agent(&record.asked, &answer, "");
    }

    /// Adds what a sub-agent answered when it stopped. If it works in the background, the result of its call only says
    /// that it was launched.
    pub(super) fn add_answer_of_stopped_agent(&mut self, record: &JournalRecord) {
        let said = record.text.trim();
        if record.name.is_empty() || said.is_empty() {
            return;
        }
        let condensed = statement::condense_message(said);
        let answer = if condensed.is_empty() { said } else { &condensed };
        let agent_id = record.agent.as_ref().map_or("", |agent| agent.id.as_str());
        let task = &*shorten_to_bytes(&record.name, MAX_SUBAGENT_TASK_BYTES);
        // A hook may have made the sub-agent continue, so it may stop more than once.
        let has_stopped = |known: &DelegatedTask| !agent_id.is_empty() && known.agent_id == agent_id;
        let is_awaited = |known: &DelegatedTask| known.answer.is_empty() && known.task == task;
        let place = self.agents.iter().position(has_stopped);
        if let Some(place) = place.or_else(|| self.agents.iter().position(is_awaited)) {
            self.agents.remove(place);
        }
        self.push_agent(&record.name, answer, agent_id);
    }

    /// Adds a task and its answer. A harness may report the answer twice: as the result of the call and when the
    /// agent stops.
    fn push_agent(&mut self, task: &str, answer: &str, agent_id: &str) {
        let task = &*shorten_to_bytes(task, MAX_SUBAGENT_TASK_BYTES);
        let answer = first_sentences_within(answer, MAX_SUBAGENT_ANSWER_BYTES);
        let is_same = |known: &DelegatedTask| known.task == task && known.answer == answer;
        if !answer.is_empty() && self.agents.iter().any(is_same) {
            return;
        }
        let (record, task, agent_id) = (self.record_count, task.to_owned(), agent_id.to_owned());
        self.agents.push(DelegatedTask { record, task, answer, agent_id });
        keep_last(&mut self.agents, MAX_SUBAGENTS_KEPT);
    }

    pub(super) fn add_approved_plan(&mut self, record: &JournalRecord) {
        if record.name == journal::APPROVED_PLAN_TOOL && !record.text.trim().is_empty() {
            let text = shorten_to_bytes(record.text.trim(), journal::MAX_APPROVED_PLAN_BYTES).into_owned();
            self.plan = Some(ApprovedPlan { record: self.record_count, text });
        }
    }
}
