//! Finds the workstream that an earlier session worked on, and the newest workstream that is still open.

use jiff::{SignedDuration, Timestamp};
use model::id::Id;
use model::manifest::Manifest;
use model::time;
use model::workstream::{self, DetectionConfidence, DetectionFacts, workstream_of_path};

use super::follow::workstream_naming_session;
use super::{MAX_WORKSTREAMS, Workstream, WorkstreamFinder, session_state};

/// A workstream that was not updated for longer than this was probably abandoned, so it is not mentioned.
const MAX_IDLE_DAYS: i64 = 30;

impl WorkstreamFinder<'_> {
    /// Returns the workstream that a session works on, if it is still open. Errors count as no workstream, because a
    /// session can work without one.
    pub(super) fn open_workstream_of_session(
        &self,
        session: &Id,
        now: Timestamp,
    ) -> Option<(Workstream, Manifest)> {
        let (named, _) = workstream_naming_session(self, session);
        let id = named.or_else(|| self.detect_from_records(session))?;
        let found = self.find_by_id(&id).ok()??;
        let manifest = self.up_to_date_manifest(&found, now).ok()?;
        (!manifest.is_finished()).then_some((found, manifest))
    }

    /// Returns the workstream that was active at the session's last compaction or, if the session was never compacted,
    /// the one whose files it used.
    fn detect_from_records(&self, session: &Id) -> Option<String> {
        if let Some(Ok(state)) = session_state(self.store, session.as_str()) {
            return state.active_project_id;
        }
        let digest = self.store.current_digest(session, |_| {}).ok()?;
        let mut there: Vec<String> = Vec::new();
        for id in digest.files.iter().filter_map(|file| workstream_of_path(&file.path)) {
            if !there.iter().any(|known| known == id) && self.has_workstream(id) {
                there.push(id.to_owned());
            }
        }
        let detected = workstream::detect_workstream(&DetectionFacts {
            workstream_naming_session: None,
            digest: &digest,
            existing_workstreams: &there,
            last_detected: None,
        });
        detected.id.filter(|_| detected.confidence != DetectionConfidence::Low)
    }

    /// Returns the open workstream that was updated last.
    pub(super) fn newest_open_workstream(&self, now: Timestamp) -> Option<(Workstream, Manifest)> {
        let limit = SignedDuration::from_hours(24 * MAX_IDLE_DAYS);
        let open = |found: Workstream| {
            let manifest = self.up_to_date_manifest(&found, now).ok()?;
            let updated = time::parse_time(&manifest.last_updated)?;
            (!manifest.is_finished() && now.duration_since(updated) <= limit)
                .then_some((updated, (found, manifest)))
        };
        let all = self.list_each().ok()?.into_iter().flatten().take(MAX_WORKSTREAMS);
        all.filter_map(open).max_by_key(|(updated, _)| *updated).map(|(_, found)| found)
    }
}
