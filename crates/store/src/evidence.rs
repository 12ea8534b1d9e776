//! Evidence on disk: a folder for each task, with its bundle, what was archived, patches, and the files that entries speak of.

use std::collections::BTreeSet;
use std::time::Duration;

use model::evidence::{BUNDLE_BYTES, Bundle, Entry, Listing};
use model::id::Id;
use model::plan::Unreadable;

use crate::{Dir, Durability, EntryKind, Error, Lock, Result, SessionState, Store, layout};

/// A bundle that somebody else made larger is read all the same.
const LARGEST_BUNDLE: usize = 16 * BUNDLE_BYTES;

/// Of a project with a hundred thousand files.
const LARGEST_LISTING: usize = 32 * 1024 * 1024;

/// Listings that are kept for a task: those of the newest runs. An older run is out of date anyhow.
const LISTINGS: usize = 4;

impl Store {
    pub fn lock_evidence(&self, task: &Id, wait: Duration) -> Result<Lock> {
        self.lock(&layout::evidence_lock(task), wait)
    }

    /// The tasks that have a folder, and the names in there that cannot be a task's.
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

    /// None where the task has none.
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

    /// What was archived first, then the bundle: an entry is in one of them whenever this is cut off. Where it is in both, its
    /// id tells.
    pub fn write_evidence(&self, task: &Id, bundle: &Bundle, archived: &[Entry]) -> Result<()> {
        let folder = self.dir().make(&layout::evidence_folder(task))?;
        let lines: Vec<Vec<u8>> =
            archived.iter().map(|entry| serde_json::to_vec(entry).unwrap_or_default()).collect();
        if !lines.is_empty() {
            folder.append_synced(layout::EVIDENCE_ARCHIVE, &lines)?;
        }
        folder.write("bundle.json", &bundle.bytes(), Durability::Synced)?;
        remove_old_listings(&folder, bundle)
    }

    /// Before the entry that names it.
    pub fn write_listing(&self, task: &Id, listing: &Listing) -> Result<()> {
        let folder = self.dir().make(&layout::evidence_folder(task))?;
        folder.write(&layout::evidence_listing(&listing.tree()), &listing.bytes(), Durability::Synced)
    }

    /// The listing, and when it was written by the file system's clock, in nanoseconds. None where it is not there or cannot be
    /// read.
    pub fn listing(&self, task: &Id, tree: &str) -> Option<(Listing, i64)> {
        let is_hash = tree.len() == 64 && tree.bytes().all(|b| b.is_ascii_hexdigit());
        let rel = format!("{}/{}", layout::evidence_folder(task), layout::evidence_listing(tree));
        let bytes = is_hash.then(|| self.dir().read(&rel, LARGEST_LISTING).ok()).flatten()?;
        let written = self.dir().look(&rel).ok()??.changed.as_nanosecond();
        let listing = Listing::parse(&bytes).ok().filter(|listing| listing.tree() == tree)?;
        Some((listing, i64::try_from(written).unwrap_or(i64::MAX)))
    }

    pub fn archived_evidence(&self, task: &Id) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let rel = format!("{}/{}", layout::evidence_folder(task), layout::EVIDENCE_ARCHIVE);
        self.dir().each_record(&rel, |entry| entries.push(entry))?;
        Ok(entries)
    }

    /// A patch that an entry names; false where the name is taken.
    pub fn create_patch(&self, task: &Id, name: &str, bytes: &[u8]) -> Result<bool> {
        self.dir().make(&layout::evidence_folder(task))?.create(name, bytes)
    }

    /// All that a task's evidence takes, without the listings, which come and go.
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
    let mut kept: Vec<&str> = Vec::new();
    for tree in bundle.entries.iter().rev().map(|entry| entry.tree.as_str()).filter(|tree| !tree.is_empty()) {
        if !kept.contains(&tree) && kept.len() < LISTINGS {
            kept.push(tree);
        }
    }
    let kept: BTreeSet<String> = kept.into_iter().map(layout::evidence_listing).collect();
    let entries = folder.entries()?;
    for entry in entries.iter().filter(|entry| entry.name.ends_with(".files") && !kept.contains(&entry.name))
    {
        folder.remove(&entry.name)?;
    }
    Ok(())
}

/// How far a session's test runs were made evidence: the record of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenRuns {
    pub record: u64,
}

impl SessionState for SeenRuns {
    const FOLDER: &'static str = layout::EVIDENCE_SEEN;
    const LARGEST: usize = 64;

    fn parse(bytes: &[u8]) -> std::result::Result<SeenRuns, String> {
        let text = String::from_utf8_lossy(bytes);
        text.trim().parse().map(|record| SeenRuns { record }).map_err(|_| "it is no number".to_owned())
    }

    fn bytes(&self) -> Vec<u8> {
        format!("{}\n", self.record).into_bytes()
    }
}
