//! Finds the workstream that an earlier session worked on.

use jiff::Timestamp;
use model::id::Id;
use model::manifest::Manifest;
use model::workstream::{self, DetectionConfidence, DetectionFacts, workstream_of_path};

use super::follow::workstream_naming_session;
use super::{Workstream, WorkstreamFinder, session_state};

impl WorkstreamFinder<'_> {
    /// Returns the workstream that a session works on, if it is still open. If an error occurs, returns `None`,
    /// because a session can work without a workstream.
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

    /// Returns the workstream that was active at the session's last compaction. If the session was never compacted,
    /// returns the workstream whose files the session used.
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
}
