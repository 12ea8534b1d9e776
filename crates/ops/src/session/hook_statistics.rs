//! Statistics from the hooks' records: which events fired and when, how long handling them took, and whether a brief
//! followed each compaction.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use model::event::EventName;
use model::id::Id;
use model::receipt::{RECORDS_LOST_EVENT, Receipt};
use model::text::fnv_fingerprint;
use serde::{Deserialize, Serialize};
use store::{Store, layout};

use crate::Result;
use crate::session::list;

/// The statistics for one event of one harness.
#[derive(Clone, Debug, Serialize)]
pub struct EventStatistics {
    pub harness: String,
    pub event: String,
    pub runs: usize,
    pub last_at: String,
    /// The median duration. `None` for tool calls, because their journal lines serve as receipts and contain no
    /// duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
}

/// The facts about hooks that `thru doctor` needs. They are collected in one pass.
#[derive(Debug, Default)]
pub struct HookStatistics {
    pub fired_events: Vec<EventStatistics>,
    /// The sessions that were compacted and have not received a brief yet.
    pub sessions_awaiting_brief: Vec<String>,
    /// The sessions that were compacted and ended without a brief.
    pub sessions_ended_without_brief: Vec<String>,
    pub receipts: Vec<Receipt>,
    /// The types of transcript lines that this version does not know, each with the number of such lines.
    pub unknown_line_types: BTreeMap<String, u64>,
    /// How many bytes of transcripts were skipped.
    pub unread_transcript_bytes: u64,
}

#[derive(Default)]
struct HookRunTimes {
    runs: usize,
    last_at: String,
    ms: Vec<f64>,
}

pub fn read_hook_statistics(store: &Store) -> Result<HookStatistics> {
    let mut firing = HookStatistics::default();
    let mut runs: BTreeMap<(String, String), HookRunTimes> = BTreeMap::new();
    let (mut announced, mut waiting) = (BTreeSet::<String>::new(), BTreeSet::<String>::new());
    store.each_receipt(|receipt| {
        if receipt.event == RECORDS_LOST_EVENT {
            // This receipt is about lost records and not about an event from a harness, so it is not counted as a run.
            return firing.receipts.push(receipt);
        }
        let entry = runs.entry((receipt.harness.clone(), receipt.event.clone())).or_default();
        entry.runs += 1;
        entry.last_at.clone_from(&receipt.ts);
        entry.ms.push(receipt.ms);
        match EventName::parse(&receipt.event) {
            Some(EventName::BeforeCompact) => drop(announced.insert(receipt.session.clone())),
            Some(EventName::Summary) => drop(waiting.insert(receipt.session.clone())),
            // If the compaction was announced and no session start or prompt has followed, this event confirms it.
            Some(EventName::AfterCompact) if announced.contains(&receipt.session) => {
                waiting.insert(receipt.session.clone());
            }
            Some(EventName::SessionStart | EventName::Prompt) => {
                announced.remove(&receipt.session);
                waiting.remove(&receipt.session);
            }
            Some(EventName::SessionEnd) if waiting.remove(&receipt.session) => {
                firing.sessions_ended_without_brief.push(receipt.session.clone());
            }
            Some(
                EventName::ToolDone
                | EventName::AfterCompact
                | EventName::SubagentStart
                | EventName::SubagentStop
                | EventName::Stop
                | EventName::SessionEnd
                | EventName::Other,
            )
            | None => {}
        }
        firing.receipts.push(receipt);
    })?;
    firing.sessions_awaiting_brief = waiting.into_iter().collect();
    for session in list::all_session_ids(store)? {
        // Skip an unreadable journal, because another check reports it.
        firing.unread_transcript_bytes +=
            count_tool_calls(store, &session, &mut runs, &mut firing.unknown_line_types).unwrap_or(0);
    }
    firing.fired_events =
        runs.into_iter().map(|((harness, event), runs)| runs.into_statistics(harness, event)).collect();
    Ok(firing)
}

/// Counts the tool calls in a session's journal, because a successful tool call leaves no receipt. Returns how many
/// bytes of the transcript were skipped.
fn count_tool_calls(
    store: &Store,
    session: &Id,
    runs: &mut BTreeMap<(String, String), HookRunTimes>,
    unknown: &mut BTreeMap<String, u64>,
) -> Result<u64> {
    #[derive(Deserialize)]
    struct ReceiptLine {
        event: String,
        ts: String,
        harness: String,
        #[serde(default)]
        from: String,
        #[serde(default)]
        id: String,
    }
    let mut known = HashSet::new();
    store.dir().each_record(&layout::journal_path(session), |line: ReceiptLine| {
        // If hooks are installed twice, each call is recorded twice but must be counted once.
        let new = line.id.is_empty() || known.insert(fnv_fingerprint([line.id.as_str()]));
        if line.event == EventName::ToolDone.name() && line.from.is_empty() && new {
            let entry = runs.entry((line.harness, line.event)).or_default();
            entry.runs += 1;
            entry.last_at = entry.last_at.clone().max(line.ts);
        }
    })?;
    let digest = store.current_digest(session, |_| {})?;
    for (kind, times) in digest.unknown_line_types {
        *unknown.entry(kind).or_default() += times;
    }
    Ok(digest.unread_transcript_bytes)
}

impl HookRunTimes {
    fn into_statistics(mut self, harness: String, event: String) -> EventStatistics {
        self.ms.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (share * self.ms.len() as f64).ceil() as usize;
            self.ms.get(place.saturating_sub(1)).copied()
        };
        let (p50_ms, p99_ms) = (at(0.5), at(0.99));
        let told = event != EventName::ToolDone.name();
        EventStatistics {
            harness,
            event,
            runs: self.runs,
            last_at: self.last_at,
            p50_ms: p50_ms.filter(|_| told),
            p99_ms: p99_ms.filter(|_| told),
        }
    }
}
