//! A loop sends the agent the same prompt repeatedly until the agent gives a promise. This module defines the state of
//! a loop, and [`engine`] decides what happens at a stop.

pub mod engine;
pub mod last_turn;
pub mod log;
pub mod pointer;
pub mod promise;
pub mod record;
mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::time;

pub use record::{LoopRecord, LoopRecordDamage};
pub use words::{
    ResumeCommand, ValidatorFailure, command_to_resume, continuation_text, describe_end_of_loop,
    describe_turn, how_to_end_loop,
};

/// The state of a loop. It is stored as a [`LoopRecord`], a document that people may read and edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub id: String,
    pub created_at: String,
    pub updated_at: String,
    pub status: LoopStatus,
    /// The current iteration, counted from 1.
    pub iteration: u64,
    /// The maximum number of iterations. 0 means no limit.
    pub max_iterations: u64,
    pub promises: Vec<Promise>,
    pub source_packet_id: Option<String>,
    /// Where an imported loop comes from, or `None` for any other loop.
    pub imported_from: Option<String>,
    /// The only session that gets this loop's prompt.
    pub session: Option<String>,
    pub end_reason: Option<EndReason>,
    /// Details about how the loop ended.
    pub ended_detail: Option<String>,
    /// Shell lines that must pass before a promise is accepted.
    pub validators: Vec<String>,
    pub deadline: Option<String>,
    /// A digest of the agent's last message, used to recognise a repeated message.
    pub last_message_digest: Option<String>,
    pub last_stop: Option<LastStop>,
    /// The prompt, verbatim.
    pub prompt: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopStatus {
    Active,
    Paused,
    Done,
    Cancelled,
}

/// Text that ends the loop when the agent writes it between `<promise>` and `</promise>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    pub text: String,
    pub outcome: PromiseOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PromiseOutcome {
    Done,
    /// The agent cannot continue without the user.
    Blocked,
}

/// Why a loop no longer continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    Promise,
    Blocked,
    #[serde(rename = "limit")]
    IterationLimit,
    #[serde(rename = "time")]
    TimeLimit,
    NoProgress,
    Cancelled,
    /// The harness ended the turn although the hook told it to continue.
    #[serde(rename = "harness-cap")]
    HarnessLimit,
    Error,
}

/// The last stop at which the agent got the prompt again. The fields serve to recognise a repeated report of the same
/// stop, and to detect a loop without progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastStop {
    /// The harness's id for the message before the stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The time of the newest stop-hook message that was in the transcript when the agent stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "feedback")]
    pub feedback_time: Option<String>,
    /// The time of the stop, to the millisecond, such as `2026-11-15T19:22:00.918Z`.
    pub at: String,
    /// Why the turn did not end the loop, as a short phrase.
    #[serde(rename = "why")]
    pub continue_reason: String,
    /// The failed validator. It is shown again if this stop is reported again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<ValidatorFailure>,
    /// The number of consecutive turns without progress.
    #[serde(rename = "idle")]
    pub idle_turns: u64,
    /// How many times in a row the agent was told to continue and made no tool call.
    #[serde(rename = "unaided")]
    pub continued_without_calls: u64,
    /// The position in the session when the agent stopped, or `None` if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "mark")]
    pub session_position: Option<SessionPosition>,
}

/// A position in a session, expressed as counts from the session's digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPosition {
    pub calls: u64,
    pub records: u64,
}

impl Loop {
    /// Returns the progress, such as `3 of 30`, or `3` if there is no limit.
    pub fn iteration_progress(&self) -> String {
        match self.max_iterations {
            0 => self.iteration.to_string(),
            most => format!("{} of {most}", self.iteration),
        }
    }

    pub fn has_used_up_iterations(&self) -> bool {
        self.max_iterations > 0 && self.iteration >= self.max_iterations
    }

    pub fn is_out_of_time(&self, now: Timestamp) -> bool {
        self.deadline.as_deref().and_then(time::parse_time).is_some_and(|deadline| deadline <= now)
    }

    pub fn end_with_reason(&mut self, why: EndReason, detail: Option<String>) {
        self.status = match why {
            EndReason::Promise => LoopStatus::Done,
            EndReason::Cancelled => LoopStatus::Cancelled,
            _ => LoopStatus::Paused,
        };
        self.end_reason = Some(why);
        self.ended_detail = detail;
    }

    /// Returns the packet from which the loop was made, if the loop has finished its work: the agent gave the promise,
    /// and the validators passed. A loop without validators does not count, because its promise is only a claim by the
    /// agent.
    pub fn finished_packet(&self) -> Option<&str> {
        let is_validated = self.status == LoopStatus::Done && !self.validators.is_empty();
        self.source_packet_id.as_deref().filter(|_| is_validated)
    }

    /// Updates the time of the last change. That time never moves back, even if the clock does.
    pub fn set_updated_time(&mut self, now: Timestamp) {
        let now = time::to_rfc3339(now);
        if self.updated_at < now {
            self.updated_at = now;
        }
    }
}

impl LoopStatus {
    pub fn name(self) -> &'static str {
        match self {
            LoopStatus::Active => "active",
            LoopStatus::Paused => "paused",
            LoopStatus::Done => "done",
            LoopStatus::Cancelled => "cancelled",
        }
    }

    fn parse(text: &str) -> Option<LoopStatus> {
        [LoopStatus::Active, LoopStatus::Paused, LoopStatus::Done, LoopStatus::Cancelled]
            .into_iter()
            .find(|status| status.name() == text)
    }
}

impl EndReason {
    pub const ALL: [EndReason; 8] = [
        EndReason::Promise,
        EndReason::Blocked,
        EndReason::IterationLimit,
        EndReason::TimeLimit,
        EndReason::NoProgress,
        EndReason::Cancelled,
        EndReason::HarnessLimit,
        EndReason::Error,
    ];

    pub fn name(self) -> &'static str {
        match self {
            EndReason::Promise => "promise",
            EndReason::Blocked => "blocked",
            EndReason::IterationLimit => "limit",
            EndReason::TimeLimit => "time",
            EndReason::NoProgress => "no-progress",
            EndReason::Cancelled => "cancelled",
            EndReason::HarnessLimit => "harness-cap",
            EndReason::Error => "error",
        }
    }

    fn parse(text: &str) -> Option<EndReason> {
        EndReason::ALL.into_iter().find(|ended| ended.name() == text)
    }
}
