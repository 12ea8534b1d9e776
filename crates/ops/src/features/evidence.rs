//! Evidence: records showing that a task is done. All new entries are written by the functions in this file. The
//! submodules contain the commands, the freshness check, the brief and the hooks.

pub mod add;
pub mod archive;
pub(crate) mod brief;
pub mod import;
mod judge;
mod observe;
mod report;
pub mod run;
pub mod show;
mod verdicts;

use std::time::Duration;

use jiff::Timestamp;
use model::event::{EventName, EventSet};
use model::evidence::{
    EvidenceBundle, EvidenceEntry, FileListing, MAX_BUNDLE_BYTES, MAX_ENTRIES_PER_BUNDLE,
    MAX_EVIDENCE_BYTES_PER_TASK, TrimmedBundle, archive_entries_over_limits, max_old_entries_beside_new_ones,
    trim_to_count,
};
use model::id::Id;
use model::plan::Plan;
use model::time;
use store::{Store, layout};

use crate::features::{Feature, plan};
use crate::project::Project;
use crate::session::list;
use crate::{Error, Result, World};

pub(crate) use judge::FreshnessJudge;
pub(crate) use observe::record_new_runs;
pub(crate) use show::describe_rejection;

pub const FEATURE_ROW: Feature = Feature {
    name: "evidence",
    wanted_events: EventSet::from_names(&[EventName::SubagentStop]),
    decide: verdicts::decide,
    update_at_checkpoint: observe::update_at_checkpoint,
    brief_candidates: brief::brief_candidates,
    brief_sections: brief::BRIEF_SECTION_NAMES,
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

/// How long a command waits for another command that is writing evidence for the same task.
const MAX_EVIDENCE_LOCK_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct EvidenceWriteResult {
    pub notes: Vec<String>,
}

/// Writes one entry to a task's bundle. Returns an error if the bundle would become too large.
pub(crate) fn write_evidence_entry(
    store: &Store,
    task: &Id,
    entry: EvidenceEntry,
    listing: Option<&FileListing>,
    at: (Timestamp, Duration),
) -> Result<EvidenceWriteResult> {
    write_under_lock(store, task, (vec![entry], listing), at, |bundle| {
        trim_to_count(bundle, MAX_ENTRIES_PER_BUNDLE)
    })
}

/// Writes several entries to a task's bundle. If the bundle would become too large, its oldest entries move to the
/// archive.
pub(crate) fn write_entries(
    store: &Store,
    task: &Id,
    (entries, listing): (Vec<EvidenceEntry>, Option<&FileListing>),
    at: (Timestamp, Duration),
) -> Result<EvidenceWriteResult> {
    write_under_lock(store, task, (entries, listing), at, archive_entries_over_limits)
}

/// Adds entries to a task's bundle while holding the task's lock. Writes the listing of the files first, then the
/// archive, then the bundle.
fn write_under_lock(
    store: &Store,
    task: &Id,
    (entries, listing): (Vec<EvidenceEntry>, Option<&FileListing>),
    (now, wait): (Timestamp, Duration),
    trim: impl FnOnce(EvidenceBundle) -> TrimmedBundle,
) -> Result<EvidenceWriteResult> {
    let _lock = store.lock_evidence(task, wait)?;
    let mut notes = Vec::new();
    let known = match store.read_evidence(task) {
        // Move a damaged bundle aside, because this write replaces it.
        Err(store::Error::Damaged { .. }) => {
            let folder = store.dir().open_subfolder(&layout::evidence_folder_path(task))?;
            let aside = folder.rename_damaged_aside("bundle.json", now)?;
            notes.extend(aside.map(|aside| {
                format!(
                    "{} was damaged; the damaged file was kept as {aside}",
                    layout::evidence_bundle_path(task)
                )
            }));
            None
        }
        known => known?,
    };
    let mut bundle = known.unwrap_or_else(|| EvidenceBundle::new(task.as_str(), &time::to_rfc3339(now)));
    let archived = store.read_archived_evidence(task)?;
    let is_archived = |entry: &EvidenceEntry| archived.iter().any(|known| known.id == entry.id);
    let (before, mut new) = (bundle.clone(), Vec::new());
    for entry in entries.into_iter().filter(|entry| !is_archived(entry)) {
        if bundle.add_entry(entry.clone()) {
            new.push(entry);
        }
    }
    if new.is_empty() {
        return Ok(EvidenceWriteResult { notes });
    }
    let TrimmedBundle { bundle, archived } = trim(bundle);
    let size = bundle.to_bytes().len();
    if size > MAX_BUNDLE_BYTES {
        let hint = match max_old_entries_beside_new_ones(&before, &new) {
            Some(most) => format!("`thru evidence archive {task} --keep {most}` makes room for it"),
            None => "this entry alone is too large: shorten it".to_owned(),
        };
        return Err(too_large_error(&format!("the bundle of {task}"), size, MAX_BUNDLE_BYTES, hint));
    }
    let moved: usize =
        archived.iter().map(|entry| serde_json::to_vec(entry).map_or(0, |line| line.len())).sum();
    let all = usize::try_from(store.evidence_size(task)?).unwrap_or(usize::MAX).saturating_add(size + moved);
    if all > MAX_EVIDENCE_BYTES_PER_TASK {
        let hint = format!(
            "move old patches out of {}/{}",
            layout::STORE_FOLDER,
            layout::evidence_folder_path(task)
        );
        return Err(too_large_error(
            &format!("the evidence of {task}"),
            all,
            MAX_EVIDENCE_BYTES_PER_TASK,
            hint,
        ));
    }
    if let Some(listing) = listing {
        store.write_listing(task, listing)?;
    }
    store.write_evidence(task, &bundle, &archived)?;
    if !archived.is_empty() {
        let archive = format!("{}/{}", layout::evidence_folder_path(task), layout::EVIDENCE_ARCHIVE_FILE);
        let what = if archived.len() == 1 { "1 older entry" } else { "older entries" };
        let many = if archived.len() == 1 { String::new() } else { format!("{} ", archived.len()) };
        notes.push(format!("{many}{what} moved to {archive}"));
    }
    Ok(EvidenceWriteResult { notes })
}

fn too_large_error(what: &str, size: usize, most: usize, hint: String) -> Error {
    Error::Refused { what: format!("{what} would be {size} bytes; the limit is {most}"), hint }
}

/// Records the test runs that hooks saw in the current session. When the agent calls a command between two
/// checkpoints, the latest runs are not recorded yet. Errors are ignored, because the next checkpoint reports them.
pub(crate) fn record_runs_of_current_session(world: &World, project: &Project) {
    let Some(session) = list::session_of_current_harness(world) else { return };
    if let Ok(digest) = project.store.current_digest(&session, |_| {}) {
        let _ = record_new_runs(
            &project.store,
            &project.root.checkout,
            &digest,
            (world.now, MAX_EVIDENCE_LOCK_WAIT),
        );
    }
}

/// Returns the id of a task and the plan that contains the task. The id is checked before it becomes part of a path.
pub(crate) fn find_task(store: &Store, id: &str) -> Result<(Id, Plan)> {
    let safe = Id::new(id).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "`thru plan show` lists the tasks".into(),
    })?;
    let plan = plan::load_existing_plan(store)?.plan;
    if plan.task(id).is_none() {
        let near = plan.nearest_task_id(id).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(Error::Absent {
            what: format!("there is no task {safe}"),
            hint: format!("{near}`thru plan show` lists the tasks"),
        });
    }
    Ok((safe, plan))
}

fn new_entry_id() -> Result<String> {
    let bytes = store::random_bytes::<8>()?;
    Ok(format!("r-{:016x}", u64::from_be_bytes(bytes)))
}
