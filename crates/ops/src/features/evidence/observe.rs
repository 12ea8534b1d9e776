//! Records test runs as evidence for a task if hooks saw them while the task was in progress. This happens at
//! checkpoints and whenever a command needs the evidence.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use model::checkout_path;
use model::digest::{Digest, FileUse, NewestRunOfCheck};
use model::evidence::{self, FileListing, WHOLE_PROJECT_SCOPE, entry_of_run, task_of_run};
use model::id::Id;
use model::plan::{CompletionEvidence, Plan, Task};
use model::time;
use store::{Checkout, LastRunRecordedAsEvidence, Store, layout};

use super::judge::{FreshnessJudge, list_checkout_files};
use super::{show, write_entries};
use crate::features::plan::{self, LedgerNote, MissingPlanPolicy, PlanAuthor};
use crate::hook::context::HookContext;
use crate::{Error, Result};

/// How many bytes of file content a hook reads. When the limit is reached, the remaining files are compared by size
/// and time.
const MAX_FILE_CONTENT_BYTES_READ_BY_HOOK: u64 = 4 * 1024 * 1024;

pub fn update_at_checkpoint(context: &HookContext, digest: &Digest) -> Result<Option<String>> {
    let store = context.project.store;
    // Return early in the usual cases: the session ran no tests, or the project has no plan.
    if digest.checks.is_empty() || store.dir().file_info(layout::PLAN_FILE)?.is_none() {
        return Ok(None);
    }
    let at = (context.project.world.now, context.deadline.lock_wait());
    let mut notes = record_new_runs(store, &context.project.root.checkout, digest, at)?;
    notes.extend(complete_proven_tasks(context)?);
    notes.into_iter().for_each(|note| context.add_warning(note));
    Ok(None)
}

/// Completes the tasks that the session's own task list reports as done, if fresh evidence shows that they passed.
fn complete_proven_tasks(context: &HookContext) -> Result<Vec<String>> {
    let store = context.project.store;
    let Some(loaded) = plan::load_plan(store)? else { return Ok(Vec::new()) };
    let by = context.session.to_string();
    let is_own = |task: &&Task| task.reported_done && task.claimed_by.as_deref() == Some(&by);
    let mut notes = Vec::new();
    for task in loaded.plan.tasks().filter(is_own) {
        let judge =
            FreshnessJudge::for_hook_until(store, &context.project.root.checkout, context.deadline.end());
        let Ok(shown) = show::describe_fresh_proof(store, &judge, task) else { continue };
        let author = PlanAuthor { author: by.clone(), at: context.project.world.now };
        let entry = LedgerNote { change_kind: "task_done", id: task.id.clone(), why: shown };
        let begin = (MissingPlanPolicy::IsError, context.deadline.lock_wait());
        let changed = plan::change_plan(store, &author, entry, begin, |plan| {
            let after = model::plan::complete_task(
                plan,
                &task.id,
                &by,
                &author.formatted_time(),
                &CompletionEvidence::Proven,
            );
            Ok((after.map_err(plan::refused_error)?, LedgerNote::default()))
        })?;
        notes.extend(changed.notes);
    }
    Ok(notes)
}

/// Writes the test runs that are newer than the last recorded run, so no run is written twice.
pub(crate) fn record_new_runs(
    store: &Store,
    checkout: &Path,
    digest: &Digest,
    (now, wait): (Timestamp, Duration),
) -> Result<Vec<String>> {
    let Ok(session) = Id::new(&digest.session) else { return Ok(Vec::new()) };
    let known: LastRunRecordedAsEvidence = store.session_state(&session).read_state()?.unwrap_or_default();
    // If the last recorded run has a higher number than the journal has records, the journal was rebuilt and numbered
    // anew.
    let known = if known.record > digest.record_count { LastRunRecordedAsEvidence::default() } else { known };
    let new: Vec<&NewestRunOfCheck> =
        digest.checks.iter().filter(|check| check.last_run_record > known.record).collect();
    let Some(last) = new.iter().map(|check| check.last_run_record).max() else { return Ok(Vec::new()) };
    let (mut notes, mut recorded) = (Vec::new(), last);
    if let Some(loaded) = plan::load_plan(store)? {
        let mut files = None;
        for check in new {
            let Some((task, mut entry)) = entry_from_check(&loaded.plan, check, digest, now) else {
                continue;
            };
            let files = files.get_or_insert_with(|| CurrentFiles::list_files(checkout, digest));
            let mut listing = None;
            match digest
                .files_changed_after_check(check.last_run_record)
                .first()
                .copied()
                .or_else(|| files.file_changed_after(&check.at))
            {
                Some(path) => path.clone_into(&mut entry.changed),
                // Bind the entry to the files only if all of them were examined, because an unexamined file may have
                // changed.
                None if files.is_complete => {
                    entry.tree = files.listing.tree_hash();
                    entry.files = u64::try_from(files.listing.files.len()).ok();
                    WHOLE_PROJECT_SCOPE.clone_into(&mut entry.scope);
                    listing = Some(&files.listing);
                }
                None => {}
            }
            entry.head.clone_from(&digest.head);
            if let Some(head) = store::git::read_head(checkout) {
                entry.head = head.commit;
            }
            match write_entries(store, &task, (vec![entry], listing), (now, wait)) {
                Ok(written) => notes.extend(written.notes),
                // The bundle of the task is full, and only the user can make room. Continue with the later runs,
                // which may belong to other tasks. The next checkpoint tries this run again.
                Err(Error::Refused { what, .. }) => {
                    notes.push(what);
                    recorded = recorded.min(check.last_run_record - 1);
                }
                Err(error) => return Err(error),
            }
        }
    }
    store.session_state(&session).write_state(&LastRunRecordedAsEvidence { record: recorded })?;
    Ok(notes)
}

fn entry_from_check(
    plan: &Plan,
    check: &NewestRunOfCheck,
    digest: &Digest,
    now: Timestamp,
) -> Option<(Id, evidence::EvidenceEntry)> {
    let task = task_of_run(plan, &digest.session, &check.at, &time::to_rfc3339(now))?;
    let id = Id::new(&task.id).ok()?;
    Some((id, entry_of_run(check, &task.id, &digest.session, &digest.harness)?))
}

/// The files that a hook can list without starting a process: the files that git tracks and the files that the session
/// edited.
#[derive(Default)]
struct CurrentFiles {
    checkout: Option<Checkout>,
    /// All paths, including those of missing files.
    paths: Vec<String>,
    edited: HashSet<String>,
    listing: FileListing,
    is_complete: bool,
}

impl CurrentFiles {
    fn list_files(checkout: &Path, digest: &Digest) -> CurrentFiles {
        let nothing = CurrentFiles::default();
        let Ok(checkout) = Checkout::open(checkout) else { return nothing };
        let Some(mut paths) = list_checkout_files(&checkout) else { return nothing };
        let is_edited = |file: &&FileUse| {
            file.edits > 0 && !file.is_outside_checkout && !checkout_path::is_in_store(&file.path)
        };
        let edited: Vec<&FileUse> = digest.files.iter().filter(is_edited).collect();
        paths.extend(edited.iter().filter(|file| !file.deleted).map(|file| file.path.clone()));
        paths.sort_unstable();
        paths.dedup();
        let edited: HashSet<String> = edited.into_iter().map(|file| file.path.clone()).collect();
        // The files that the session edited come first in the list. A hook reads only a limited number of bytes.
        // Files that it does not read are compared by their times and not by their contents.
        let (first, rest): (Vec<&str>, Vec<&str>) =
            paths.iter().map(String::as_str).partition(|path| edited.contains(*path));
        let listing = checkout.list_files(first.into_iter().chain(rest), MAX_FILE_CONTENT_BYTES_READ_BY_HOOK);
        let is_complete = !listing.files.is_empty();
        CurrentFiles { checkout: Some(checkout), paths, edited, listing, is_complete }
    }

    /// Returns a file that, judging by its timestamps, may have changed after a run ended.
    fn file_changed_after(&self, at: &str) -> Option<&str> {
        const NANOS_PER_SECOND: i64 = 1_000_000_000;
        // Linux sets a file's time to the last clock tick, so a file changed just after a run can have a time just
        // before the run.
        const CLOCK_TICK_NANOS: i64 = 20_000_000;
        // If the time of the run cannot be parsed, assume that every file has changed since.
        let at = time::parse_time(at).map_or(i64::MIN, |at| at.as_second().saturating_mul(NANOS_PER_SECOND));
        // Times in the journal are whole seconds. If the session edited a file in the same second as the run, the
        // edit is assumed to be older, because the journal records them in order. Any other file from that second is
        // assumed to be newer than the run.
        let since = |path: &str| {
            if self.edited.contains(path) {
                at.saturating_add(NANOS_PER_SECOND)
            } else {
                at.saturating_sub(CLOCK_TICK_NANOS)
            }
        };
        self.checkout.as_ref()?.first_changed_since(self.paths.iter().map(String::as_str), since)
    }
}
