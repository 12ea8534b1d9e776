//! The list of sessions, `indexes/sessions.jsonl`.

use serde::Serialize;

use crate::event::{Event, Source};
use crate::journal::Scene;
use crate::time;

/// Where a session stands between a compaction and its brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// A compaction was announced. It may never come.
    Announced,
    /// It came, and no brief has been given yet.
    Due,
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    ts: String,
    session: &'a str,
    harness: &'a str,
    source: Source,
    worktree: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<&'a str>,
}

/// One session that started, resumed or came back from a compaction.
pub fn line(event: &Event, source: Source, scene: &Scene) -> Vec<u8> {
    let line = Line {
        ts: time::rfc3339(scene.now),
        session: &event.session,
        harness: scene.harness,
        source,
        worktree: scene.checkout,
        transcript: event.transcript.as_deref(),
    };
    serde_json::to_vec(&line).unwrap_or_default()
}
