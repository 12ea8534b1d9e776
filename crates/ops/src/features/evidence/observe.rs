//! Test runs that hooks saw while a task was in progress become its evidence: at a checkpoint, or when a command asks.

use std::time::Duration;

use jiff::Timestamp;
use model::digest::{CheckUse, Digest};
use model::evidence::{self, Listing, PROJECT, observed, task_of};
use model::id::Id;
use model::plan::{Acceptance, Plan, Task};
use model::time;
use store::{Checkout, SeenRuns, Store, layout};

use super::judge::{Judge, files_now};
use super::{show, write};
use crate::features::plan::{self, Author, Begin, Entry};
use crate::hook::context::HookContext;
use crate::{Error, Result};

/// How much of the files' content a hook reads. The others are known by size and time.
const CONTENT: u64 = 4 * 1024 * 1024;

pub fn follow(context: &HookContext, digest: &Digest) -> Result<Option<String>> {
    let store = context.project.store;
    // Most stops have no test run to tell of, and most projects no plan.
    if digest.checks.is_empty() || store.dir().look(layout::PLAN)?.is_none() {
        return Ok(None);
    }
    let at = (context.project.world.now, context.deadline.wait());
    let mut notes = observe(store, &context.project.root.checkout, digest, at)?;
    notes.extend(finish_reported(context)?);
    notes.into_iter().for_each(|note| context.warn(note));
    Ok(None)
}

/// Completes tasks that the session's own list has as done, once there is evidence that is fresh and passed.
fn finish_reported(context: &HookContext) -> Result<Vec<String>> {
    let store = context.project.store;
    let Some(loaded) = plan::load(store)? else { return Ok(Vec::new()) };
    let by = context.session.to_string();
    let is_own = |task: &&Task| task.reported_done && task.claimed_by.as_deref() == Some(&by);
    let mut notes = Vec::new();
    for task in loaded.plan.tasks().filter(is_own) {
        let judge = Judge::new(store, &context.project.root.checkout);
        let Ok(shown) = show::proof(store, &judge, task) else { continue };
        let author = Author { by: by.clone(), at: context.project.world.now };
        let entry = Entry { what: "task_done", id: task.id.clone(), why: shown };
        let begin = (Begin::Never, context.deadline.wait());
        let changed = plan::change(store, &author, entry, begin, |plan| {
            let after = model::plan::done(plan, &task.id, &by, &author.when(), &Acceptance::Proven);
            Ok((after.map_err(plan::refused)?, Entry::default()))
        })?;
        notes.extend(changed.notes);
    }
    Ok(notes)
}

/// Writes what is new. The same run is never written twice, whoever asks.
pub(crate) fn observe(
    store: &Store,
    checkout: &std::path::Path,
    digest: &Digest,
    (now, wait): (Timestamp, Duration),
) -> Result<Vec<String>> {
    let Ok(session) = Id::new(&digest.session) else { return Ok(Vec::new()) };
    let known: SeenRuns = store.session(&session).get()?.unwrap_or_default();
    // A journal that is made anew counts from the beginning.
    let known = if known.record > digest.records { SeenRuns::default() } else { known };
    let new: Vec<&CheckUse> = digest.checks.iter().filter(|check| check.last > known.record).collect();
    let Some(last) = new.iter().map(|check| check.last).max() else { return Ok(Vec::new()) };
    let mut notes = Vec::new();
    if let Some(loaded) = plan::load(store)? {
        let mut tree = None;
        for check in new {
            let Some((task, mut entry)) = entry_of(&loaded.plan, check, digest, now) else { continue };
            let mut listing = None;
            let (all, is_all) = tree.get_or_insert_with(|| listing_now(checkout, digest));
            match digest.edited_after(check.last).or_else(|| changed_after(all, &check.at, now)) {
                Some(path) => path.clone_into(&mut entry.changed),
                None => {
                    entry.tree = all.tree();
                    entry.files = u64::try_from(all.files.len()).ok();
                    entry.scope = if *is_all { PROJECT.to_owned() } else { String::new() };
                    listing = Some(&*all);
                }
            }
            entry.head.clone_from(&digest.head);
            if let Some(head) = store::git::head(checkout) {
                entry.head = head.commit;
            }
            match write(store, &task, entry, listing, (now, wait)) {
                Ok(written) => notes.extend(written.notes),
                // A full bundle is the user's to see to; the next runs are not held up by it.
                Err(Error::Refused { what, .. }) => notes.push(what),
                Err(error) => return Err(error),
            }
        }
    }
    store.session(&session).put(&SeenRuns { record: last })?;
    Ok(notes)
}

fn entry_of(plan: &Plan, check: &CheckUse, digest: &Digest, now: Timestamp) -> Option<(Id, evidence::Entry)> {
    let task = task_of(plan, &digest.session, &check.at, &time::rfc3339(now))?;
    let id = Id::new(&task.id).ok()?;
    Some((id, observed(check, &task.id, &digest.session, &digest.harness)?))
}

/// A file that was changed after a run ended, by whomever, as the disk tells it.
fn changed_after<'l>(listing: &'l Listing, at: &str, now: Timestamp) -> Option<&'l str> {
    let at = time::parse(at)?.as_second();
    // What lies ahead of our clock tells nothing.
    let is_later =
        |changed: i64| changed / 1_000_000_000 > at + 1 && changed / 1_000_000_000 <= now.as_second();
    listing.files.iter().find(|(_, state)| is_later(state.changed)).map(|(path, _)| path.as_str())
}

/// The tree as it is seen without a process: what git tracks and what the session edited. True where that is all of it.
fn listing_now(checkout: &std::path::Path, digest: &Digest) -> (Listing, bool) {
    let Ok(checkout) = Checkout::open(checkout) else { return (Listing::default(), false) };
    let all = files_now(&checkout);
    let is_all = all.is_some();
    let mut files = all.unwrap_or_default();
    let edited = digest.files.iter().filter(|file| file.edits > 0 && !file.outside && !file.deleted);
    let is_ours = |path: &str| path.starts_with(layout::STORE);
    files.extend(edited.map(|file| file.path.clone()).filter(|path| !is_ours(path)));
    files.sort_unstable();
    files.dedup();
    // What the session edited comes first: there the content decides, not the time of the file.
    let is_edited = |path: &String| digest.files.iter().any(|file| file.edits > 0 && file.path == *path);
    let (first, rest): (Vec<String>, Vec<String>) = files.into_iter().partition(is_edited);
    let order = first.iter().chain(&rest).map(String::as_str);
    (checkout.listing(order, CONTENT), is_all)
}
