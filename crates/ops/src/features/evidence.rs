//! Evidence: what shows that a task is done. Only this file writes evidence. The commands, the judgement, the brief
//! and the hook are in the folder `evidence`.

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
    BUNDLE_BYTES, Bundle, Entry, Listing, MOST_ENTRIES, TASK_BYTES, Trimmed, fitting, trim, trim_to_size,
};
use model::id::Id;
use model::plan::Plan;
use model::time;
use store::{Store, layout};

use crate::features::{Feature, plan};
use crate::project::Project;
use crate::session::list;
use crate::{Error, Result, World};

pub(crate) use judge::Judge;
pub(crate) use observe::observe;
pub(crate) use show::rejection;

pub const ROW: Feature = Feature {
    name: "evidence",
    wants: EventSet::of(&[EventName::SubagentStop]),
    decide: verdicts::decide,
    follow: observe::follow,
    candidates: brief::candidates,
    sections: brief::SECTIONS,
    checks: report::checks,
    status: report::status,
    ..Feature::NONE
};

/// How long a command waits for another command that is writing evidence for the same task.
const WAIT: Duration = Duration::from_secs(30);

/// The result of writing an entry.
#[derive(Debug)]
pub(crate) struct Written {
    pub notes: Vec<String>,
}

/// Writes one entry. Refuses if the bundle would become too large.
pub(crate) fn write(
    store: &Store,
    task: &Id,
    entry: Entry,
    listing: Option<&Listing>,
    at: (Timestamp, Duration),
) -> Result<Written> {
    put(store, task, (vec![entry], listing), at, |bundle| trim(bundle, MOST_ENTRIES))
}

/// Writes entries and refuses none. Entries that do not fit into the bundle are moved to the archive, oldest first.
pub(crate) fn write_all(
    store: &Store,
    task: &Id,
    (entries, listing): (Vec<Entry>, Option<&Listing>),
    at: (Timestamp, Duration),
) -> Result<Written> {
    put(store, task, (entries, listing), at, trim_to_size)
}

/// Writes evidence. All other functions that write call this one. It holds the lock of the task, and writes the
/// listing first, then the archive, then the bundle.
fn put(
    store: &Store,
    task: &Id,
    (entries, listing): (Vec<Entry>, Option<&Listing>),
    (now, wait): (Timestamp, Duration),
    trim: impl FnOnce(Bundle) -> Trimmed,
) -> Result<Written> {
    let _lock = store.lock_evidence(task, wait)?;
    let mut notes = Vec::new();
    let known = match store.evidence(task) {
        // A damaged bundle is moved aside, because this write must replace it.
        Err(store::Error::Damaged { .. }) => {
            let folder = store.dir().sub(&layout::evidence_folder(task))?;
            let aside = folder.set_damaged_aside("bundle.json", now)?;
            notes.extend(aside.map(|aside| {
                format!("{} was damaged: it was kept as {aside}", layout::evidence_bundle(task))
            }));
            None
        }
        known => known?,
    };
    let mut bundle = known.unwrap_or_else(|| Bundle::new(task.as_str(), &time::rfc3339(now)));
    let archived = store.archived_evidence(task)?;
    let is_archived = |entry: &Entry| archived.iter().any(|known| known.id == entry.id);
    let (before, mut new) = (bundle.clone(), Vec::new());
    for entry in entries.into_iter().filter(|entry| !is_archived(entry)) {
        if bundle.add(entry.clone()) {
            new.push(entry);
        }
    }
    if new.is_empty() {
        return Ok(Written { notes });
    }
    let Trimmed { bundle, archived } = trim(bundle);
    let size = bundle.bytes().len();
    if size > BUNDLE_BYTES {
        let hint = match fitting(&before, &new) {
            Some(most) => format!("`thru evidence archive {task} --keep {most}` makes room for it"),
            None => "this entry alone is too large: shorten it".to_owned(),
        };
        return Err(over(&format!("the bundle of {task}"), size, BUNDLE_BYTES, hint));
    }
    let moved: usize =
        archived.iter().map(|entry| serde_json::to_vec(entry).map_or(0, |line| line.len())).sum();
    let all = usize::try_from(store.evidence_bytes(task)?).unwrap_or(usize::MAX).saturating_add(size + moved);
    if all > TASK_BYTES {
        let hint = format!("move old patches out of {}/{}", layout::STORE, layout::evidence_folder(task));
        return Err(over(&format!("the evidence of {task}"), all, TASK_BYTES, hint));
    }
    if let Some(listing) = listing {
        store.write_listing(task, listing)?;
    }
    store.write_evidence(task, &bundle, &archived)?;
    if !archived.is_empty() {
        let archive = format!("{}/{}", layout::evidence_folder(task), layout::EVIDENCE_ARCHIVE);
        let what = if archived.len() == 1 { "1 older entry" } else { "older entries" };
        let many = if archived.len() == 1 { String::new() } else { format!("{} ", archived.len()) };
        notes.push(format!("{many}{what} went to {archive}"));
    }
    Ok(Written { notes })
}

/// Returns a refusal that gives the size and the limit.
fn over(what: &str, size: usize, most: usize, hint: String) -> Error {
    Error::Refused { what: format!("{what} would be {size} bytes; {most} is the most"), hint }
}

/// Records the test runs that hooks saw in the current session. A command that the agent runs is earlier than the
/// session's next checkpoint. Errors are ignored: the checkpoint reports them.
pub(crate) fn observe_here(world: &World, project: &Project) {
    let Some(session) = list::around(world) else { return };
    if let Ok(digest) = project.store.digest(&session, |_| {}) {
        let _ = observe(&project.store, &project.root.checkout, &digest, (world.now, WAIT));
    }
}

/// Returns the id of a task, and the plan that contains it. An invalid id is refused before it becomes part of a path.
pub(crate) fn task(store: &Store, id: &str) -> Result<(Id, Plan)> {
    let safe = Id::new(id).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "`thru plan show` lists the tasks".into(),
    })?;
    let plan = plan::need(store)?.plan;
    if plan.task(id).is_none() {
        let near = plan.near(id).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(Error::Absent {
            what: format!("there is no task {safe}"),
            hint: format!("{near}`thru plan show` lists the tasks"),
        });
    }
    Ok((safe, plan))
}

/// Returns an id that no other entry has.
fn fresh_id() -> Result<String> {
    let bytes = store::random::<8>()?;
    Ok(format!("r-{:016x}", u64::from_be_bytes(bytes)))
}
