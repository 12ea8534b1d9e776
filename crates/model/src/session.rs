//! The lines of `indexes/sessions.jsonl`, the list of sessions.

use serde::Serialize;

use crate::event::{Event, StartSource};
use crate::journal::RecordPolicy;
use crate::time;

/// Whether a session is between a compaction and its brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingBrief {
    /// A compaction was announced but may never happen.
    Announced,
    /// The compaction happened, but no brief has been sent yet.
    Due,
}

#[derive(Debug, Serialize)]
struct StartLine<'a> {
    ts: String,
    session: &'a str,
    harness: &'a str,
    source: StartSource,
    worktree: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'a str>,
    /// The session that this one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<&'a str>,
    /// The harness's process, which shows whether the session is still alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a str>,
    /// Whether `thru gate run` launched the session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    launched: bool,
}

/// What started a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionOrigin<'a> {
    /// The harness's process.
    pub process: Option<&'a str>,
    /// Whether `thru gate run` launched the session rather than the user.
    pub launched: bool,
}

const MAX_REASON_BYTES: usize = 256;

#[derive(Debug, Serialize)]
struct EndLine<'a> {
    ts: String,
    session: &'a str,
    harness: &'a str,
    ended: &'a str,
}

/// Returns the line for a session that ended normally.
pub fn end_line(event: &Event, reason: Option<&str>, policy: &RecordPolicy) -> Vec<u8> {
    let reason = policy.redact_and_cut(reason.unwrap_or("ended"), MAX_REASON_BYTES);
    let line = EndLine {
        ts: time::to_rfc3339(policy.now),
        session: &event.session,
        harness: policy.harness,
        ended: &reason,
    };
    serde_json::to_vec(&line).unwrap_or_default()
}

/// Returns the line for a session that started, was resumed or was compacted.
pub fn start_line(
    event: &Event,
    source: StartSource,
    origin: SessionOrigin,
    policy: &RecordPolicy,
) -> Vec<u8> {
    let line = StartLine {
        ts: time::to_rfc3339(policy.now),
        session: &event.session,
        harness: policy.harness,
        source,
        worktree: policy.checkout,
        transcript: event.transcript.as_deref(),
        previous: event.previous.as_deref(),
        process: origin.process,
        launched: origin.launched,
    };
    serde_json::to_vec(&line).unwrap_or_default()
}
