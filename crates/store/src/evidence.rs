//! Evidence on disk: a folder for each task, with its bundle, its archive, patches, and the files that entries are
//! about.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use model::evidence::{BUNDLE_BYTES, Bundle, Entry, Listing, trees_in_effect};
use model::id::Id;
use model::plan::Unreadable;

use crate::{Dir, Durability, EntryKind, Error, Lock, Result, SessionState, Store, layout};

/// A bundle may be larger than those that thru writes, because another tool may have written it.
const LARGEST_BUNDLE: usize = 16 * BUNDLE_BYTES;

/// The largest listing that is read: that of a project with a hundred thousand files.
const LARGEST_LISTING: usize = 32 * 1024 * 1024;

/// How many listings are kept for a task, of the runs that count. Runs over the same files share one listing.
const LISTINGS: usize = 16;

impl Store {
    pub fn lock_evidence(&self, task: &Id, wait: Duration) -> Result<Lock> {
        self.lock(&layout::evidence_lock(task), wait)
    }

    /// Returns the tasks that have a folder for evidence, and the names in it that cannot be a task id.
    pub fn evidence_tasks(&self) -> Result<(Vec<Id>, Vec<String>)> {
        let folder = match self.dir().sub(layout::EVIDENCE) {
            Err(Error::Absent { .. }) => return Ok((Vec::new(), Vec::new())),
            folder => folder?,
        };
        let (mut tasks, mut others) = (Vec::new(), Vec::new());
        for entry in folder.entries()? {
            match (entry.kind, Id::new(&entry.name)) {
                (EntryKind::Folder, Ok(id)) => tasks.push(id),
                _ => others.push(entry.name),
            }
        }
        tasks.sort_by(|a, b| model::plan::natural(a.as_str(), b.as_str()));
        Ok((tasks, others))
    }

    /// Returns a task's bundle; `None` if the task has no evidence.
    pub fn evidence(&self, task: &Id) -> Result<Option<Bundle>> {
        let rel = layout::evidence_bundle(task);
        let bytes = match self.dir().read(&rel, LARGEST_BUNDLE) {
            Err(Error::Absent { .. }) => return Ok(None),
            bytes => bytes?,
        };
        let path = || self.dir().path().join(&rel);
        Bundle::parse(&bytes).map(Some).map_err(|problem| match problem {
            Unreadable::Damaged { line, why } => Error::Damaged { path: path(), line, why },
            Unreadable::Foreign { why } => Error::Foreign { path: path(), why },
        })
    }

    /// Writes the archive first, then the bundle. After an interruption an entry is in at least one of them. An entry
    /// that is in both is recognised by its id and not archived again.
    pub fn write_evidence(&self, task: &Id, bundle: &Bundle, archived: &[Entry]) -> Result<()> {
        let folder = self.dir().make(&layout::evidence_folder(task))?;
        let known = if archived.is_empty() { Vec::new() } else { self.archived_evidence(task)? };
        let is_new = |entry: &&Entry| entry.id.is_empty() || known.iter().all(|known| known.id != entry.id);
        let new = archived.iter().filter(is_new);
        let lines: Vec<Vec<u8>> = new.map(|entry| serde_json::to_vec(entry).unwrap_or_default()).collect();
        if !lines.is_empty() {
            folder.append_synced(layout::EVIDENCE_ARCHIVE, &lines)?;
        }
        folder.write("bundle.json", &bundle.bytes(), Durability::Synced)?;
        remove_old_listings(&folder, bundle)
    }

    /// Writes a listing. It must be written before the entry that names it.
    pub fn write_listing(&self, task: &Id, listing: &Listing) -> Result<()> {
        let folder = self.dir().make(&layout::evidence_folder(task))?;
        folder.write(&layout::evidence_listing(&listing.tree()), &listing.bytes(), Durability::Synced)
    }

    /// Returns a listing, and when it was written, in nanoseconds of the file system's clock. Returns `None` if the
    /// listing is missing or cannot be read.
    pub fn listing(&self, task: &Id, tree: &str) -> Option<(Listing, i64)> {
        let is_hash = tree.len() == 64 && tree.bytes().all(|b| b.is_ascii_hexdigit());
        let rel = format!("{}/{}", layout::evidence_folder(task), layout::evidence_listing(tree));
        let bytes = is_hash.then(|| self.dir().read(&rel, LARGEST_LISTING).ok()).flatten()?;
        let written = self.dir().look(&rel).ok()??.changed.as_nanosecond();
        let listing = Listing::parse(&bytes).ok().filter(|listing| listing.tree() == tree)?;
        Some((listing, i64::try_from(written).unwrap_or(i64::MAX)))
    }

    /// Returns each archived entry once. An interrupted write can have archived an entry twice.
    pub fn archived_evidence(&self, task: &Id) -> Result<Vec<Entry>> {
        let (mut entries, mut ids) = (Vec::new(), HashSet::new());
        let rel = format!("{}/{}", layout::evidence_folder(task), layout::EVIDENCE_ARCHIVE);
        self.dir().each_record(&rel, |entry: Entry| {
            if entry.id.is_empty() || ids.insert(entry.id.clone()) {
                entries.push(entry);
            }
        })?;
        Ok(entries)
    }

    /// Creates a patch file that an entry names. Returns false if the name is taken.
    pub fn create_patch(&self, task: &Id, name: &str, bytes: &[u8]) -> Result<bool> {
        self.dir().make(&layout::evidence_folder(task))?.create(name, bytes)
    }

    /// Returns the size of a task's evidence, without the listings, which are temporary.
    pub fn evidence_bytes(&self, task: &Id) -> Result<u64> {
        let folder = match self.dir().sub(&layout::evidence_folder(task)) {
            Err(Error::Absent { .. }) => return Ok(0),
            folder => folder?,
        };
        let mut sum = 0;
        for entry in folder.entries()?.iter().filter(|entry| !entry.name.ends_with(".files")) {
            sum += folder.look(&entry.name)?.map_or(0, |look| look.bytes);
        }
        Ok(sum)
    }
}

fn remove_old_listings(folder: &Dir, bundle: &Bundle) -> Result<()> {
    let kept = trees_in_effect(&bundle.entries, LISTINGS);
    let kept: BTreeSet<String> = kept.into_iter().map(layout::evidence_listing).collect();
    let entries = folder.entries()?;
    for entry in entries.iter().filter(|entry| entry.name.ends_with(".files") && !kept.contains(&entry.name))
    {
        folder.remove(&entry.name)?;
    }
    Ok(())
}

/// How far a session's test runs have been turned into evidence: the journal record of the last such run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenRuns {
    pub record: u64,
}

impl SessionState for SeenRuns {
    const FOLDER: &'static str = layout::EVIDENCE_SEEN;
    const LARGEST: usize = 64;

    fn parse(bytes: &[u8]) -> std::result::Result<SeenRuns, String> {
        let text = String::from_utf8_lossy(bytes);
        text.trim().parse().map(|record| SeenRuns { record }).map_err(|_| "it is not a number".to_owned())
    }

    fn bytes(&self) -> Vec<u8> {
        format!("{}\n", self.record).into_bytes()
    }
}
