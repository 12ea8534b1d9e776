//! Manifests follow the work: ticked boxes update them, and before a compaction the active one is recorded.

use std::collections::BTreeSet;

use jiff::Timestamp;
use model::digest::{Digest, FileUse};
use model::document::Document;
use model::event::{Kind, TodoStatus};
use model::id::Id;
use model::journal::TodoField;
use model::manifest;
use model::text::fingerprint;
use model::workstream::{self, Confidence, DetectionFacts, State};
use store::{Durability, Result, layout};

use super::state::{Ticked, Used, own_state, state_of};
use super::{MOST, PROJECTS, Workstream, Workstreams, layout_home};
use crate::hook::context::HookContext;
use crate::hook::deadline::Deadline;

/// At a checkpoint, updates manifests from their steps. Before a compaction, also records the active workstream.
/// `Ok(Some(problem))` means that this was done, apart from this problem.
pub fn follow(context: &HookContext, digest: &Digest) -> crate::Result<Option<String>> {
    let place = &Workstreams::of(&context.project);
    let (session, event, now) = (context.session, context.event, context.project.world.now);
    let deadline = context.deadline;
    let touched = digest.files.iter().any(|file| workstream::of_path(&file.path).is_some());
    let compacts = matches!(event.kind, Kind::BeforeCompact { .. });
    let has_any = || place.full(&layout_home()).is_dir() || place.full(PROJECTS).is_dir();
    if !touched && !(compacts && (has_any() || !place.settings.resume_globs.is_empty())) {
        return Ok(None);
    }
    let root = place.store.marker()?.project_id;
    let cached = state_of(place.store, layout::PRECOMPACT_STATE).and_then(std::result::Result::ok);
    let cached = cached.filter(|state| state.root_id.as_deref().is_none_or(|id| id == root.as_str()));
    // The workstream of another session says nothing about this one.
    let cached = cached.filter(|state| state.session_id.as_deref().is_none_or(|id| id == session.as_str()));
    let cached = cached.and_then(|state| state.active_project_id).filter(|id| place.has(id));
    let (mapped, unread) = mapped(place, session);
    let named: BTreeSet<&str> =
        digest.files.iter().filter_map(|file| workstream::of_path(&file.path)).collect();
    let there: Vec<String> = named.into_iter().filter(|id| place.has(id)).map(str::to_owned).collect();
    let answered = own_state(place.store, session.as_str()).and_then(std::result::Result::ok);
    // If the last detection was never recorded, it is repeated with everything that happened.
    let whole = (answered.is_none() && digest.detected > 0).then(|| {
        let mut whole = digest.clone();
        whole.detected = 0;
        whole
    });
    let seen = whole.as_ref().unwrap_or(digest);
    let clues =
        DetectionFacts { mapped: mapped.as_deref(), digest: seen, there: &there, cached: cached.as_deref() };
    // If nothing happened since the last detection, a compaction uses its answer again.
    let idle = digest.records <= digest.detected + 1 && digest.worked <= digest.detected;
    let repeated = answered.filter(|_| compacts && mapped.is_none() && idle);
    let detected = repeated.map_or_else(|| workstream::detect(&clues), State::answer);
    // A workstream that was only guessed must not get its boxes ticked.
    let sure = detected.id.as_deref().filter(|_| detected.confidence != Confidence::Low);
    let followed = Following { place, session, digest, now, deadline }.steps(sure);
    if compacts {
        let bytes = State::new(detected, session.as_str(), root.as_str(), now).bytes();
        for path in [&layout::precompact(session), layout::PRECOMPACT_STATE] {
            place.store.dir().put(path, &bytes, Durability::Relaxed)?;
        }
    }
    Ok(followed.and(unread).err().map(|error| error.to_string()))
}

/// Returns the workstream whose manifest names this session, and the first read error. A manifest that cannot be read
/// does not stop the search.
fn mapped(place: &Workstreams, session: &Id) -> (Option<String>, Result<()>) {
    if let Ok(Some(Used { id })) = place.store.session(session).get::<Used>() {
        return (Some(id), Ok(()));
    }
    let all = match place.each() {
        Ok(all) => all,
        Err(error) => return (None, Err(error)),
    };
    let mut unread = Ok(());
    for workstream in all.into_iter().take(MOST) {
        match workstream.and_then(|found| Ok((place.manifest(&found)?.1.session_ids, found.id))) {
            Ok((sessions, id)) if sessions.iter().any(|known| known == session.as_str()) => {
                return (Some(id), unread);
            }
            Ok(_) => {}
            Err(error) => unread = unread.and(Err(error)),
        }
    }
    (None, unread)
}

/// What happened in a session, for the manifests it touched.
struct Following<'a> {
    place: &'a Workstreams<'a>,
    session: &'a Id,
    digest: &'a Digest,
    now: Timestamp,
    deadline: Deadline,
}

impl Following<'_> {
    /// Updates the manifest of each workstream whose steps were ticked by hand or completed in the harness's own list.
    fn steps(&self, active: Option<&str>) -> Result<()> {
        let edited = |file: &&FileUse| file.edits > 0;
        let files = self.digest.files.iter().filter(edited);
        let mut ids: BTreeSet<&str> = files.filter_map(|file| workstream::of_path(&file.path)).collect();
        let ticked = self.ticked()?;
        let has_list = !ticked.is_empty() || self.done().next().is_some();
        ids.extend(active.filter(|_| has_list));
        for id in ids {
            let Some(found) = self.place.find(id)? else { continue };
            if !self.is_in_store(&found)? {
                continue;
            }
            let _lock = self.place.lock(self.deadline.wait())?;
            match Some(id) == active {
                true => self.follow_list(&found, &ticked)?,
                false => advance(self.place, &found, |_| false, self.now).map(drop)?,
            }
        }
        Ok(())
    }

    /// Returns the entries that are completed in the harness's own list.
    fn done(&self) -> impl Iterator<Item = &str> {
        let completed = |todo: &&TodoField| todo.status == Some(TodoStatus::Completed);
        self.digest.todos.iter().filter(completed).map(|todo| todo.text.trim())
    }

    /// Returns whether the workstream's files are in the store. Elsewhere a hook writes nothing; `thru resume update`
    /// does.
    fn is_in_store(&self, found: &Workstream) -> Result<bool> {
        let (_, manifest) = self.place.manifest(found)?;
        let steps = self.place.steps(found, &manifest)?;
        let home = format!("{}/", layout::STORE);
        Ok(steps.iter().chain([&found.manifest]).all(|path| path.starts_with(&home)))
    }

    /// Ticks the boxes of completed entries, each once. If a box is open again, somebody opened it, and it stays open
    /// until its entry in the list is opened and completed again.
    fn follow_list(&self, found: &Workstream, ticked: &BTreeSet<String>) -> Result<()> {
        let own = format!("{} ", found.id);
        let mark = |text: &str| format!("{own}{:016x}", fingerprint([text]));
        let new = self.done().filter(|text| !ticked.contains(&mark(text)));
        advance(self.place, found, |steps| manifest::tick_done(steps, new), self.now)?;
        let elsewhere = ticked.iter().filter(|mark| !mark.starts_with(&own)).cloned();
        let marks: BTreeSet<String> = elsewhere.chain(self.done().map(mark)).collect();
        if marks == *ticked {
            return Ok(());
        }
        self.place.store.session(self.session).put(&Ticked { marks })
    }

    /// Returns the entries of the list whose boxes were ticked so far.
    fn ticked(&self) -> Result<BTreeSet<String>> {
        Ok(self.place.store.session(self.session).get::<Ticked>()?.unwrap_or_default().marks)
    }
}

/// The result of updating a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advanced {
    pub steps: Option<String>,
    pub changed: bool,
}

/// Ticks boxes with `tick`, then updates the manifest. The caller holds the lock.
pub fn advance(
    place: &Workstreams,
    workstream: &Workstream,
    tick: impl FnOnce(&mut Document) -> bool,
    now: Timestamp,
) -> Result<Advanced> {
    let (mut document, manifest) = place.manifest(workstream)?;
    let Some(path) = place.steps(workstream, &manifest)? else {
        return Ok(Advanced { steps: None, changed: false });
    };
    let mut steps = Document::parse(place.read(&path)?);
    if tick(&mut steps) {
        place.write(&path, steps.bytes())?;
    }
    let changed = manifest::follow(&mut document, &steps, now);
    if changed {
        place.write(&workstream.manifest, document.bytes())?;
    }
    Ok(Advanced { steps: Some(path), changed })
}
