//! Recognises repeated reports of an event: a hook may fire twice, and the transcript also contains the events that
//! hooks reported.

use super::{
    Digest, MAX_CALL_IDS, MAX_RECENT_EVENTS, MAX_SAME_EVENT_GAP, RecentEvent, WORK_OR_START, keep_last,
};
use crate::event::EventName;
use crate::journal::JournalRecord;
use crate::text::fnv_fingerprint;
use crate::time;

impl Digest {
    /// Returns whether the record is a repeated report. Records with an id are compared by id. Hook reports without an
    /// id are matched with transcript records by shape, and vice versa.
    pub(super) fn is_repeated_report(&mut self, record: &JournalRecord) -> bool {
        let shape = hash_event_content(record);
        let told_by_both = matches!(record.event_name(), Some(EventName::ToolDone | EventName::Prompt));
        if !record.id.is_empty() && !self.is_new_id(record) {
            return true;
        }
        if self.was_just_reported(record) {
            return true;
        }
        self.remember_event(record);
        if !told_by_both {
            return false;
        }
        let (mine, other) = match (record.from.as_ref(), record.id.is_empty()) {
            ("transcript", _) => (&mut self.shapes_only_in_transcript, &mut self.shapes_reported_without_id),
            (_, true) => (&mut self.shapes_reported_without_id, &mut self.shapes_only_in_transcript),
            // A hook report with an id was already compared by id.
            (_, false) => return false,
        };
        if let Some(place) = other.iter().position(|known| *known == shape) {
            other.remove(place);
            return true;
        }
        mine.push(shape);
        keep_last(mine, MAX_CALL_IDS);
        false
    }

    /// Returns whether a hook reported the same event a moment ago. This happens if hooks are installed in two
    /// places.
    pub fn was_just_reported(&self, record: &JournalRecord) -> bool {
        if !has_no_id(record) || self.recent_events_without_id.is_empty() {
            return false;
        }
        let print = hash_record(record);
        let together = |at: &str| {
            let (Some(one), Some(other)) = (time::parse_time(at), time::parse_time(&record.ts)) else {
                return false;
            };
            other.duration_since(one).abs() <= MAX_SAME_EVENT_GAP
        };
        self.recent_events_without_id.iter().any(|heard| heard.fingerprint == print && together(&heard.at))
    }

    fn remember_event(&mut self, record: &JournalRecord) {
        if record.event_name().is_some_and(|event| WORK_OR_START.contains(event)) {
            // An identical report after new work is a new event.
            self.recent_events_without_id.clear();
        }
        if has_no_id(record) {
            self.recent_events_without_id
                .push(RecentEvent { at: record.ts.to_string(), fingerprint: hash_record(record) });
            keep_last(&mut self.recent_events_without_id, MAX_RECENT_EVENTS);
        }
    }

    pub fn is_record_already_counted(&self, record: &JournalRecord) -> bool {
        self.counted_call_ids.contains(&hash_record_id(record))
    }

    /// Returns whether a hook has reported the end of a call, and if so, marks the call as ended. `begun` is the record of
    /// the call's beginning, which comes from the transcript. A harness that was killed right after a call may not have
    /// written the result there. A report without an id is recognised by its content, so the calls whose results are in
    /// the transcript must be folded first.
    pub fn end_call_if_reported(&mut self, begun: &JournalRecord) -> bool {
        let call = hash_call_id(&begun.id);
        let failed = JournalRecord { ok: Some(false), ..begun.clone() };
        let shapes = [hash_event_content(begun), hash_event_content(&failed)];
        let has_ended = call != 0 && self.counted_call_ids.contains(&call)
            || shapes.iter().any(|shape| self.shapes_reported_without_id.contains(shape));
        if has_ended && self.open_call == call {
            self.open_call = 0;
        }
        has_ended
    }

    /// Returns the hash of a call's id, or zero if the id is empty or the call has ended.
    pub(super) fn hash_of_call_id_if_open(&self, call_id: &str) -> u64 {
        let id = hash_call_id(call_id);
        if self.counted_call_ids.contains(&id) { 0 } else { id }
    }

    /// Marks the call that followed the agent's last message as ended if this record reports its end.
    pub(super) fn end_open_call(&mut self, record: &JournalRecord) {
        // In a record from the transcript, a missing result means that the call is still running.
        let is_running = record.ok.is_none() && !record.from.is_empty();
        let has_ended = || record.event_name() == Some(EventName::ToolDone) && !is_running;
        if self.open_call != 0 && has_ended() && hash_record_id(record) == self.open_call {
            self.open_call = 0;
        }
    }

    fn is_new_id(&mut self, record: &JournalRecord) -> bool {
        if self.known.len() < self.counted_call_ids.len() {
            self.known = self.counted_call_ids.iter().copied().collect();
        }
        let id = hash_record_id(record);
        if !self.known.insert(id) {
            return false;
        }
        self.counted_call_ids.push(id);
        keep_last(&mut self.counted_call_ids, MAX_CALL_IDS);
        true
    }
}

/// Returns the hash of a call's id, or zero if the id is empty.
pub(super) fn hash_call_id(call_id: &str) -> u64 {
    if call_id.is_empty() { 0 } else { fnv_fingerprint([call_id, ""]) }
}

/// Hashes a record's id. For a prompt, the text is included, because a stop hook's message can have the same id as a
/// prompt.
fn hash_record_id(record: &JournalRecord) -> u64 {
    let words = if record.event_name() == Some(EventName::Prompt) { record.text.as_ref() } else { "" };
    fnv_fingerprint([record.id.as_ref(), words])
}

/// Returns whether the record is a hook report without an id. Calls are excluded, because the transcript supplies
/// their ids.
fn has_no_id(record: &JournalRecord) -> bool {
    record.id.is_empty() && record.from.is_empty() && record.event_name() != Some(EventName::ToolDone)
}

/// Hashes a record, ignoring its time and duration.
fn hash_record(record: &JournalRecord) -> u64 {
    let timeless = JournalRecord { ts: "".into(), ms: None, ..record.clone() };
    fnv_fingerprint([String::from_utf8_lossy(&timeless.to_json_line()).as_ref()])
}

/// Hashes the content that all reports of an event share: the tool, the command, the text, the files, and whether the
/// call failed.
fn hash_event_content(record: &JournalRecord) -> u64 {
    let end = if record.ok == Some(false) { "failed" } else { "" };
    let files = record.files.iter().filter(|file| !file.guess).map(|file| file.path.as_str());
    fnv_fingerprint(
        [record.tool.as_ref(), record.command.as_ref(), record.text.trim(), end].into_iter().chain(files),
    )
}
