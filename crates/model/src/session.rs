//! The lines of `indexes/sessions.jsonl`, the list of sessions.

use serde::Serialize;

use crate::event::{Event, StartSource};
use crate::journal::RecordPolicy;
use crate::time;

/// Whether a session is between a compaction and the brief that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingBrief {
    /// A compaction was announced but may never happen.
    Announced,
    /// The compaction happened, but no brief has been sent yet.
    Due,
}

#[derive(Debug, Serialize)]
struct SessionStartLine<'a> {
    ts: String,
    session: &'a str,
    harness: &'a str,
    source: StartSource,
    worktree: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'a str>,
    /// The session that this one continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "previous")]
    previous_session: Option<&'a str>,
    /// Identifies the harness's process, to find out whether the session is still alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "process")]
    process_stamp: Option<&'a str>,
    /// Whether `thru gate run` launched the session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "launched")]
    by_gate_run: bool,
}

/// What started a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionOrigin<'a> {
    /// Identifies the harness's process.
    pub process_stamp: Option<&'a str>,
    /// Whether the session was launched by `thru gate run` and not by the user.
    pub by_gate_run: bool,
}

const MAX_SESSION_END_REASON_BYTES: usize = 256;

#[derive(Debug, Serialize)]
struct SessionEndLine<'a> {
    ts: String,
    session: &'a str,
    harness: &'a str,
    #[serde(rename = "ended")]
    end_reason: &'a str,
}

/// Returns the line for a session that ended normally.
pub fn session_end_line(event: &Event, reason: Option<&str>, policy: &RecordPolicy) -> Vec<u8> {
    let reason = policy.redact_and_cut(reason.unwrap_or("ended"), MAX_SESSION_END_REASON_BYTES);
    let line = SessionEndLine {
        ts: time::to_rfc3339(policy.now),
        session: &event.session,
        harness: policy.harness,
        end_reason: &reason,
    };
    serde_json::to_vec(&line).unwrap_or_default()
}

/// Returns the line for a session that started, was resumed or was compacted.
pub fn session_start_line(
    event: &Event,
    source: StartSource,
    origin: SessionOrigin,
    policy: &RecordPolicy,
) -> Vec<u8> {
    let line = SessionStartLine {
        ts: time::to_rfc3339(policy.now),
        session: &event.session,
        harness: policy.harness,
        source,
        worktree: policy.checkout,
        transcript: event.transcript.as_deref(),
        previous_session: event.previous_session.as_deref(),
        process_stamp: origin.process_stamp,
        by_gate_run: origin.by_gate_run,
    };
    serde_json::to_vec(&line).unwrap_or_default()
}
