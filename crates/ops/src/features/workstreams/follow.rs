//! Updates manifests when checkboxes in their steps files are ticked, and records the active workstream before a
//! compaction.

use std::collections::BTreeSet;

use jiff::Timestamp;
use model::digest::{Digest, FileUse};
use model::document::Document;
use model::event::{EventKind, TodoStatus};
use model::id::Id;
use model::journal::RecordedTodo;
use model::manifest;
use model::text::fnv_fingerprint;
use model::workstream::{self, DetectionConfidence, DetectionFacts, WorkstreamAtCompaction};
use store::{Durability, Result, layout};

use super::state::{ChosenWorkstream, TickedEntries, read_state, session_state};
use super::{MAX_WORKSTREAMS, OTHER_TOOLS_PROJECTS_FOLDER, Workstream, WorkstreamFinder, workstreams_folder};
use crate::hook::context::HookContext;
use crate::hook::deadline::Deadline;

/// Updates manifests from their steps files at a checkpoint. Before a compaction, also records the active workstream.
/// `Ok(Some(problem))` means that the update succeeded, but the receipt should mention the problem.
pub fn update_at_checkpoint(context: &HookContext, digest: &Digest) -> crate::Result<Option<String>> {
    let workstreams = &WorkstreamFinder::workstream_finder_of_project(&context.project);
    let (session, event, now) = (context.session, context.event, context.project.world.now);
    let deadline = context.deadline;
    let touched = digest.files.iter().any(|file| workstream::workstream_of_path(&file.path).is_some());
    let compacts = matches!(event.kind, EventKind::BeforeCompact { .. });
    let has_any = || {
        workstreams.absolute_path(&workstreams_folder()).is_dir()
            || workstreams.absolute_path(OTHER_TOOLS_PROJECTS_FOLDER).is_dir()
    };
    if !touched && !(compacts && (has_any() || !workstreams.settings.resume_globs.is_empty())) {
        return Ok(None);
    }
    let root = workstreams.store.read_marker()?.project_id;
    let cached =
        read_state(workstreams.store, layout::PRECOMPACT_STATE_FILE).and_then(std::result::Result::ok);
    let cached = cached.filter(|state| state.root_id.as_deref().is_none_or(|id| id == root.as_str()));
    // Ignore another session's state, because it does not show which workstream is active in this session.
    let cached = cached.filter(|state| state.session_id.as_deref().is_none_or(|id| id == session.as_str()));
    let cached = cached.and_then(|state| state.active_project_id).filter(|id| workstreams.has_workstream(id));
    let (mapped, unread) = workstream_naming_session(workstreams, session);
    let named: BTreeSet<&str> =
        digest.files.iter().filter_map(|file| workstream::workstream_of_path(&file.path)).collect();
    let there: Vec<String> =
        named.into_iter().filter(|id| workstreams.has_workstream(id)).map(str::to_owned).collect();
    let answered = session_state(workstreams.store, session.as_str()).and_then(std::result::Result::ok);
    // If the result of the last detection was not recorded, repeat the detection for the whole session.
    let whole = (answered.is_none() && digest.records_at_last_detection > 0).then(|| {
        let mut whole = digest.clone();
        whole.records_at_last_detection = 0;
        whole
    });
    let seen = whole.as_ref().unwrap_or(digest);
    let clues = DetectionFacts {
        workstream_naming_session: mapped.as_deref(),
        digest: seen,
        existing_workstreams: &there,
        last_detected: cached.as_deref(),
    };
    // Before a compaction, reuse the last result if nothing has happened since.
    let idle = digest.record_count <= digest.records_at_last_detection + 1
        && digest.last_work_record <= digest.records_at_last_detection;
    let repeated = answered.filter(|_| compacts && mapped.is_none() && idle);
    let detected = repeated.map_or_else(
        || workstream::detect_workstream(&clues),
        WorkstreamAtCompaction::into_detected_workstream,
    );
    // Do not tick checkboxes for a workstream that is only a guess.
    let sure = detected.id.as_deref().filter(|_| detected.confidence != DetectionConfidence::Low);
    let followed =
        SessionFollower { workstreams, session, digest, now, deadline }.update_touched_manifests(sure);
    if compacts {
        let bytes = WorkstreamAtCompaction::new(detected, session.as_str(), root.as_str(), now).to_bytes();
        for path in [&layout::workstream_at_compaction_path(session), layout::PRECOMPACT_STATE_FILE] {
            workstreams.store.dir().write_at_path(path, &bytes, Durability::Relaxed)?;
        }
    }
    Ok(followed.and(unread).err().map(|error| error.to_string()))
}

/// Returns the workstream that was chosen for this session, or else the workstream whose manifest names the session.
/// Also returns the first read error. The search continues after a read error.
pub(super) fn workstream_naming_session(
    place: &WorkstreamFinder,
    session: &Id,
) -> (Option<String>, Result<()>) {
    if let Ok(Some(ChosenWorkstream { id })) =
        place.store.session_state(session).read_state::<ChosenWorkstream>()
    {
        return (Some(id), Ok(()));
    }
    let all = match place.list_each_workstream_or_error() {
        Ok(all) => all,
        Err(error) => return (None, Err(error)),
    };
    let mut unread = Ok(());
    for workstream in all.into_iter().take(MAX_WORKSTREAMS) {
        match workstream.and_then(|found| Ok((place.read_manifest(&found)?.1.session_ids, found.id))) {
            Ok((sessions, id)) if sessions.iter().any(|known| known == session.as_str()) => {
                return (Some(id), unread);
            }
            Ok(_) => {}
            Err(error) => unread = unread.and(Err(error)),
        }
    }
    (None, unread)
}

struct SessionFollower<'a> {
    workstreams: &'a WorkstreamFinder<'a>,
    session: &'a Id,
    digest: &'a Digest,
    now: Timestamp,
    deadline: Deadline,
}

impl SessionFollower<'_> {
    /// Updates the manifest of each workstream whose files were edited. If the harness's own task list has completed
    /// entries, also updates the manifest of the active workstream.
    fn update_touched_manifests(&self, active: Option<&str>) -> Result<()> {
        let edited = |file: &&FileUse| file.is_edited();
        let files = self.digest.files.iter().filter(edited);
        let mut ids: BTreeSet<&str> =
            files.filter_map(|file| workstream::workstream_of_path(&file.path)).collect();
        let ticked = self.ticked_entries()?;
        let has_list = !ticked.is_empty() || self.completed_entries().next().is_some();
        ids.extend(active.filter(|_| has_list));
        for id in ids {
            let Some(found) = self.workstreams.find_by_id(id)? else { continue };
            if !self.is_in_store(&found)? {
                continue;
            }
            let _lock = self.workstreams.lock_manifests(self.deadline.lock_wait())?;
            match Some(id) == active {
                true => self.tick_completed_entries(&found, &ticked)?,
                false => tick_and_update_manifest(self.workstreams, &found, |_| false, self.now).map(drop)?,
            }
        }
        Ok(())
    }

    fn completed_entries(&self) -> impl Iterator<Item = &str> {
        let completed = |todo: &&RecordedTodo| todo.status == Some(TodoStatus::Completed);
        self.digest.todos.iter().filter(completed).map(|todo| todo.text.trim())
    }

    /// Returns whether the workstream's files are in the store. Hooks do not write files outside the store. Only
    /// `thru resume update` does.
    fn is_in_store(&self, found: &Workstream) -> Result<bool> {
        let (_, manifest) = self.workstreams.read_manifest(found)?;
        let steps = self.workstreams.find_steps_file(found, &manifest)?;
        let home = format!("{}/", layout::STORE_FOLDER);
        Ok(steps.iter().chain([&found.manifest]).all(|path| path.starts_with(&home)))
    }

    /// Ticks the checkboxes of completed entries, but each checkbox only once. If somebody unticks a checkbox, it stays
    /// open until its entry in the task list is reopened and completed again.
    fn tick_completed_entries(&self, found: &Workstream, ticked: &BTreeSet<String>) -> Result<()> {
        let own = format!("{} ", found.id);
        let mark = |text: &str| format!("{own}{:016x}", fnv_fingerprint([text]));
        let new = self.completed_entries().filter(|text| !ticked.contains(&mark(text)));
        tick_and_update_manifest(
            self.workstreams,
            found,
            |steps| manifest::tick_named_boxes(steps, new),
            self.now,
        )?;
        let elsewhere = ticked.iter().filter(|mark| !mark.starts_with(&own)).cloned();
        let marks: BTreeSet<String> = elsewhere.chain(self.completed_entries().map(mark)).collect();
        if marks == *ticked {
            return Ok(());
        }
        self.workstreams
            .store
            .session_state(self.session)
            .write_state(&TickedEntries { entry_fingerprints: marks })
    }

    fn ticked_entries(&self) -> Result<BTreeSet<String>> {
        Ok(self
            .workstreams
            .store
            .session_state(self.session)
            .read_state::<TickedEntries>()?
            .unwrap_or_default()
            .entry_fingerprints)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatedManifest {
    pub steps_file: Option<String>,
    pub changed: bool,
}

/// Ticks checkboxes with `tick`, and then updates the manifest. The caller must hold the lock.
pub fn tick_and_update_manifest(
    place: &WorkstreamFinder,
    workstream: &Workstream,
    tick: impl FnOnce(&mut Document) -> bool,
    now: Timestamp,
) -> Result<UpdatedManifest> {
    let (mut document, manifest) = place.read_manifest(workstream)?;
    let Some(path) = place.find_steps_file(workstream, &manifest)? else {
        return Ok(UpdatedManifest { steps_file: None, changed: false });
    };
    let mut steps = Document::parse(place.read_file(&path)?);
    if tick(&mut steps) {
        place.write_file(&path, steps.bytes())?;
    }
    let changed = manifest::update_from_steps(&mut document, &steps, now);
    if changed {
        place.write_file(&workstream.manifest, document.bytes())?;
    }
    Ok(UpdatedManifest { steps_file: Some(path), changed })
}
