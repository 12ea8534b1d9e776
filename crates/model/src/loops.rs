//! Loops: a prompt that is fed again until a promise holds. What a loop is; what becomes of it at a stop is in [`engine`].

pub mod engine;
pub mod last_turn;
pub mod log;
pub mod pointer;
pub mod promise;
pub mod record;
mod words;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use record::{Damage, Record};
pub use words::{Failure, feeding, promise_words, turn_words};

/// Where a loop stands. Kept as a [`Record`], a document that people may read and edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    pub id: String,
    pub created_at: String,
    pub updated_at: String,
    pub status: Status,
    /// The run that is going on; the first counts.
    pub iteration: u64,
    /// 0 is without limit.
    pub max_iterations: u64,
    pub promises: Vec<Promise>,
    pub source_packet_id: Option<String>,
    /// What it was made from, where it came from another tool.
    pub imported_from: Option<String>,
    /// Its owner: the only session that it holds.
    pub session: Option<String>,
    pub ended: Option<Ended>,
    /// What there is to say about the end beyond its kind.
    pub ended_detail: Option<String>,
    /// Shell lines that must pass before a promise is believed.
    pub validators: Vec<String>,
    pub deadline: Option<String>,
    /// Of the last thing said, to know it again.
    pub last_message_digest: Option<String>,
    pub last_stop: Option<LastStop>,
    /// Verbatim.
    pub prompt: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Active,
    Paused,
    Done,
    Cancelled,
}

/// A text that ends the loop when the agent says it between `<promise>` and `</promise>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    pub text: String,
    pub outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Done,
    /// The agent cannot go on by itself.
    Blocked,
}

/// Why a loop is not fed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    Promise,
    Blocked,
    Limit,
    Time,
    NoProgress,
    Cancelled,
    /// The harness ended the turn although it was told to go on.
    HarnessCap,
    Error,
}

/// What is remembered of the last stop that fed the prompt: enough to know the same stop again, and to see a loop that
/// gets nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastStop {
    /// The harness's id of the message it came after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// When the newest word of a stop hook was written into the transcript, as seen then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// To the millisecond: `2026-11-15T19:22:00.918Z`.
    pub at: String,
    /// Why the turn did not end the loop, in a few words.
    pub why: String,
    /// The validator that did not pass, to be told again with the same stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Turns in a row that got nowhere.
    pub idle: u64,
    /// Times in a row that the agent was sent on without having called a tool.
    pub unaided: u64,
    /// How much the session had done by then; none where that was not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<SessionPosition>,
}

/// A place in a session's past, by its digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPosition {
    pub calls: u64,
    pub records: u64,
}

impl Loop {
    /// `3 of 30`, `3` where there is no limit.
    pub fn progress(&self) -> String {
        match self.max_iterations {
            0 => self.iteration.to_string(),
            most => format!("{} of {most}", self.iteration),
        }
    }

    /// The end it comes to for `why`.
    pub fn end(&mut self, why: Ended, detail: Option<String>) {
        self.status = match why {
            Ended::Promise => Status::Done,
            Ended::Cancelled => Status::Cancelled,
            _ => Status::Paused,
        };
        self.ended = Some(why);
        self.ended_detail = detail;
    }

    /// Notes a change. A clock that went back does not take the record with it.
    pub fn touch(&mut self, now: Timestamp) {
        let now = crate::time::rfc3339(now);
        if self.updated_at < now {
            self.updated_at = now;
        }
    }
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Paused => "paused",
            Status::Done => "done",
            Status::Cancelled => "cancelled",
        }
    }

    fn parse(text: &str) -> Option<Status> {
        [Status::Active, Status::Paused, Status::Done, Status::Cancelled]
            .into_iter()
            .find(|status| status.name() == text)
    }
}

impl Ended {
    pub const ALL: [Ended; 8] = [
        Ended::Promise,
        Ended::Blocked,
        Ended::Limit,
        Ended::Time,
        Ended::NoProgress,
        Ended::Cancelled,
        Ended::HarnessCap,
        Ended::Error,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Ended::Promise => "promise",
            Ended::Blocked => "blocked",
            Ended::Limit => "limit",
            Ended::Time => "time",
            Ended::NoProgress => "no-progress",
            Ended::Cancelled => "cancelled",
            Ended::HarnessCap => "harness-cap",
            Ended::Error => "error",
        }
    }

    fn parse(text: &str) -> Option<Ended> {
        Ended::ALL.into_iter().find(|ended| ended.name() == text)
    }
}
