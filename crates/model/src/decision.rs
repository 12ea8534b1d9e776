//! Decisions, each with its text, author and reason. `decisions.jsonl` only grows. A superseded or expired decision
//! stays in the file but is left out of the brief.

mod outline;
mod standing;
mod stated;
mod view;

use serde::{Deserialize, Deserializer, Serialize};

pub use outline::{OutlineWarning, OutlinedDecision, OutlinedDecisions, read_decisions as read_context};
pub use standing::{DecisionStanding, DecisionState, fold_decisions};
pub use stated::{StatedDecision, find_stated_decisions};
pub use view::{ContextViewContents, SessionActivity, is_context_view_unedited, render_context_view};

use crate::journal::RecordedAnswer;
use crate::prompt;
use crate::render::{in_quotation_marks, inline_for_model};
use crate::text::{fnv_fingerprint, shorten_to_bytes};

/// The version that this build writes. A line with a later version is ignored.
pub const DECISION_FORMAT_VERSION: u8 = 1;

/// The maximum length of a decision's text and of its reason, in bytes.
pub const MAX_DECISION_TEXT_BYTES: usize = 8 * 1024;

/// One line of `decisions.jsonl`. A line without text withdraws the decision that it supersedes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision {
    pub v: u8,
    #[serde(deserialize_with = "null_as_empty")]
    pub id: String,
    #[serde(deserialize_with = "null_as_empty")]
    pub ts: String,
    #[serde(skip_serializing_if = "DecisionKind::is_decision")]
    pub kind: DecisionKind,
    #[serde(deserialize_with = "null_as_empty")]
    pub text: String,
    #[serde(deserialize_with = "null_as_empty", skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The id of a session, or `user`.
    #[serde(deserialize_with = "null_as_empty")]
    #[serde(rename = "by")]
    pub author: String,
    /// The phase of the plan that was current when the decision was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<u32>,
    #[serde(deserialize_with = "null_as_empty", skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// The id of the decision that this one supersedes.
    #[serde(deserialize_with = "null_as_empty", skip_serializing_if = "String::is_empty")]
    pub supersedes: String,
    #[serde(deserialize_with = "null_as_empty", skip_serializing_if = "String::is_empty")]
    pub expires_at: String,
    pub source: DecisionSource,
    /// The session in which the decision was made.
    #[serde(deserialize_with = "null_as_empty", skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The question that the user was asked. A later answer to the same question supersedes this decision.
    #[serde(deserialize_with = "null_as_empty", skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The heading above the decision in an imported file.
    #[serde(deserialize_with = "null_as_empty", skip_serializing_if = "String::is_empty")]
    pub topic: String,
}

/// Whether a decision is about one case or about how something is always done in this project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionKind {
    Pattern,
    #[default]
    #[serde(other)]
    Decision,
}

impl DecisionKind {
    pub fn is_decision(&self) -> bool {
        *self == DecisionKind::Decision
    }

    pub fn name(self) -> &'static str {
        match self {
            DecisionKind::Decision => "decision",
            DecisionKind::Pattern => "pattern",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionSource {
    /// The user answered a question.
    Answer,
    /// An agent stated the decision, and a person accepted it.
    Statement,
    Import,
    /// A person ran `thru decide`.
    #[default]
    #[serde(other)]
    Command,
}

impl DecisionSource {
    pub fn name(self) -> &'static str {
        match self {
            DecisionSource::Command => "command",
            DecisionSource::Answer => "answer",
            DecisionSource::Statement => "statement",
            DecisionSource::Import => "import",
        }
    }
}

impl Decision {
    /// Returns whether the decision belongs to a plan, that is, whether it was imported, or was made for a phase or a
    /// task.
    pub fn belongs_to_plan(&self) -> bool {
        self.source == DecisionSource::Import || self.phase.is_some() || !self.task.is_empty()
    }

    /// Returns one line of JSON without a trailing newline.
    pub fn to_json_line(&self) -> Vec<u8> {
        // Serialising strings and numbers cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Parses a line of the log. Returns `None` for a line that is torn, is in another format or has a later version.
    pub fn parse_line(line: &[u8]) -> Option<Decision> {
        serde_json::from_slice(line).ok().filter(Decision::is_complete_and_of_known_version)
    }

    pub fn is_complete_and_of_known_version(&self) -> bool {
        !self.id.is_empty()
            && self.v <= DECISION_FORMAT_VERSION
            && (!self.text.is_empty() || self.is_withdrawal())
    }

    /// Returns whether the line withdraws a decision without replacing it.
    pub fn is_withdrawal(&self) -> bool {
        self.text.is_empty() && !self.supersedes.is_empty()
    }

    /// Describes the decision and its reason in one line for a model.
    pub fn describe_for_model(&self, most: usize) -> String {
        let text = match (self.user_answer(), self.kind) {
            (Some(answer), _) => {
                format!(
                    "asked {}, the user chose {}",
                    in_quotation_marks(&self.question, most),
                    in_quotation_marks(answer, most)
                )
            }
            (None, DecisionKind::Decision) => inline_for_model(&self.text, most),
            (None, DecisionKind::Pattern) => format!("pattern: {}", inline_for_model(&self.text, most)),
        };
        match self.why.is_empty() {
            true => text,
            false => format!("{text}, because {}", inline_for_model(&self.why, most)),
        }
    }

    /// Returns the user's answer, or `None` if the decision is not an answer.
    pub fn user_answer(&self) -> Option<&str> {
        let rest = self.text.strip_prefix(self.question.as_str()).filter(|_| !self.question.is_empty())?;
        rest.strip_prefix(ANSWER_ARROW)
    }
}

/// Returns an id that depends only on the source and the text, so that the same answer, statement or import always
/// gets the same id.
pub fn id_from_content(source: DecisionSource, text: &str) -> String {
    id_from_hash(&["", source.name(), text.trim()])
}

/// Returns the id of a decision whose text was typed by a person.
pub fn id_of_typed_decision(ts: &str, by: &str, text: &str, supersedes: &str) -> String {
    id_from_hash(&[ts, by, text, supersedes])
}

fn id_from_hash(parts: &[&str]) -> String {
    // With twelve hex digits, the probability that two of 100,000 decisions get the same id is about 1 in 50,000.
    format!("d-{:012x}", fnv_fingerprint(parts) >> 16)
}

/// Creates a decision from an answer. Returns `None` if the user gave no answer or replied with a question.
pub fn decision_from_answer(answer: &RecordedAnswer) -> Option<Decision> {
    let (question, chosen) = (answer.question.trim(), answer.answer.trim());
    if chosen.is_empty()
        || question.is_empty()
        || prompt::classify_prompt(chosen) == prompt::PromptKind::Question
    {
        return None;
    }
    let text = question_and_answer(answer);
    Some(Decision {
        v: DECISION_FORMAT_VERSION,
        id: id_from_content(DecisionSource::Answer, &text),
        question: shorten_to_bytes(question, MAX_DECISION_TEXT_BYTES).into_owned(),
        text,
        author: "user".to_owned(),
        source: DecisionSource::Answer,
        ..Decision::default()
    })
}

/// Returns the question and the answer as one string, such as `Which database? → SQLite`.
fn question_and_answer(answer: &RecordedAnswer) -> String {
    format!("{}{ANSWER_ARROW}{}", answer.question.trim(), answer.answer.trim())
}

/// The separator between a question and its answer.
const ANSWER_ARROW: &str = " → ";

/// Returns the id of the decision that is created from this answer.
pub fn decision_id_of_answer(answer: &RecordedAnswer) -> String {
    id_from_content(DecisionSource::Answer, &question_and_answer(answer))
}

/// Reads null as an empty string, because other programs write null.
fn null_as_empty<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(from)?.unwrap_or_default())
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
