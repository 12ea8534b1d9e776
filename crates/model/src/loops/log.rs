//! A loop's log, `loops/<id>.log.jsonl`. It has one line for every iteration and for every command that changes the
//! loop.

use serde::{Deserialize, Serialize};

use super::EndReason;
use crate::transcript::TokenUsage;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopLogEntry {
    pub ts: String,
    pub event: LoopEvent,
    /// The number of the iteration that ended. For a start or a change, this is the number of the current iteration.
    pub iteration: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Why the loop ended, or `None` if it has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// A description of the event.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The digest of the agent's last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// The first few files that were changed in this iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How many files are known to have changed, or `None` if the calls of this iteration are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<usize>,
    /// Whether a command ran that may have changed other files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_more: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TurnTokens>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopEvent {
    Started,
    /// A session claimed the waiting loop.
    Claimed,
    /// The agent got the prompt again.
    #[serde(rename = "fed")]
    PromptSent,
    Ended,
    Paused,
    Resumed,
    Activated,
    /// The session continues under another id.
    #[serde(rename = "moved")]
    SessionIdChanged,
    Cancelled,
}

/// The tokens of a turn. `input` includes cache reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTokens {
    pub input: u64,
    pub output: u64,
}

impl LoopLogEntry {
    pub fn new(ts: &str, event: LoopEvent, iteration: u64) -> LoopLogEntry {
        LoopLogEntry {
            ts: ts.to_owned(),
            event,
            iteration,
            session: None,
            reason: None,
            detail: String::new(),
            message: None,
            calls: None,
            files: Vec::new(),
            changed: None,
            may_be_more: false,
            tokens: None,
        }
    }

    pub fn to_json_line(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

impl TurnTokens {
    pub fn from_usage(usage: &TokenUsage) -> Option<TurnTokens> {
        let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        (input + usage.output > 0).then_some(TurnTokens { input, output: usage.output })
    }
}

/// Returns the time at which the loop last continued a session at a stop. Returns `None` if it has never done so,
/// or if it ended at a later stop of that session. Other events, such as a later pause, are ignored.
pub fn last_continuation<'e>(entries: &'e [LoopLogEntry], session: &str) -> Option<&'e str> {
    let of_stop = |entry: &&LoopLogEntry| {
        matches!(entry.event, LoopEvent::PromptSent | LoopEvent::Ended)
            && entry.session.as_deref() == Some(session)
    };
    let last = entries.iter().rfind(of_stop)?;
    (last.event == LoopEvent::PromptSent).then_some(&last.ts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_session_itself_ends_what_the_loop_continued() {
        use LoopEvent::{Activated, Ended, Paused, PromptSent, Started};
        let at = |minute: usize, event, session: &str| LoopLogEntry {
            session: (!session.is_empty()).then(|| session.to_owned()),
            ..LoopLogEntry::new(&format!("19:0{minute}"), event, 1)
        };
        for (log, expected) in [
            (&[][..], None),
            (&[(Started, "s1")], None),
            (&[(Started, "s1"), (PromptSent, "s1")], Some("19:01")),
            (&[(PromptSent, "s1"), (PromptSent, "s1")], Some("19:01")),
            (&[(PromptSent, "s1"), (Ended, "s1")], None),
            (&[(PromptSent, "s1"), (Activated, "")], Some("19:00")),
            (&[(PromptSent, "s1"), (Activated, "s2"), (PromptSent, "s2"), (Ended, "s2")], Some("19:00")),
            (&[(PromptSent, "s1"), (Paused, "s1")], Some("19:00")),
            (&[(PromptSent, "s2")], None),
        ] {
            let entries: Vec<LoopLogEntry> = log
                .iter()
                .enumerate()
                .map(|(minute, (event, session))| at(minute, *event, session))
                .collect();
            assert_eq!(last_continuation(&entries, "s1"), expected, "{log:?}");
        }
    }
}
