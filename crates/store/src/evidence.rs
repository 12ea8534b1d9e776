//! Evidence on disk: a folder for each task, with its bundle, its archive, its patches and its file listings.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use model::evidence::{EvidenceBundle, EvidenceEntry, FileListing, MAX_BUNDLE_BYTES, tree_hashes_in_effect};
use model::id::Id;
use model::plan::PlanUnreadableReason;

use crate::{Dir, Durability, Error, FolderEntryKind, Lock, Result, SessionState, Store, layout};

/// The largest bundle file that is read. Another tool's bundle may be larger than the bundles that thru writes.
const MAX_BUNDLE_FILE_BYTES: usize = 16 * MAX_BUNDLE_BYTES;

/// The size limit of a listing, which is enough for a hundred thousand files.
const MAX_LISTING_BYTES: usize = 32 * 1024 * 1024;

/// How many listings are kept for each task. Runs over the same files share one listing.
const MAX_LISTINGS_KEPT: usize = 16;

impl Store {
    pub fn lock_evidence(&self, task: &Id, wait: Duration) -> Result<Lock> {
        self.lock_by_path(&layout::evidence_lock_path(task), wait)
    }

    /// Returns the tasks that have an evidence folder, and the folder names that are not valid task ids.
    pub fn tasks_with_evidence(&self) -> Result<(Vec<Id>, Vec<String>)> {
        let folder = match self.dir().open_subfolder(layout::EVIDENCE_FOLDER) {
            Err(Error::Absent { .. }) => return Ok((Vec::new(), Vec::new())),
            folder => folder?,
        };
        let (mut tasks, mut others) = (Vec::new(), Vec::new());
        for entry in folder.entries()? {
            match (entry.kind, Id::new(&entry.name)) {
                (FolderEntryKind::Folder, Ok(id)) => tasks.push(id),
                _ => others.push(entry.name),
            }
        }
        tasks.sort_by(|a, b| model::plan::compare_ids_naturally(a.as_str(), b.as_str()));
        Ok((tasks, others))
    }

    /// Returns a task's bundle, or `None` if the task has no evidence.
    pub fn read_evidence(&self, task: &Id) -> Result<Option<EvidenceBundle>> {
        let rel = layout::evidence_bundle_path(task);
        let bytes = match self.dir().read_file(&rel, MAX_BUNDLE_FILE_BYTES) {
            Err(Error::Absent { .. }) => return Ok(None),
            bytes => bytes?,
        };
        let path = || self.dir().path().join(&rel);
        EvidenceBundle::parse(&bytes).map(Some).map_err(|problem| match problem {
            PlanUnreadableReason::Damaged { line, why } => Error::Damaged { path: path(), line, why },
            PlanUnreadableReason::Foreign { why } => Error::Foreign { path: path(), why },
        })
    }

    /// Writes the archive first, and then the bundle. After an interruption, each entry is in at least one of the two
    /// files. An entry that is in both is recognised by its id and not archived again.
    pub fn write_evidence(
        &self,
        task: &Id,
        bundle: &EvidenceBundle,
        archived: &[EvidenceEntry],
    ) -> Result<()> {
        let folder = self.dir().create_subfolder(&layout::evidence_folder_path(task))?;
        let known = if archived.is_empty() { Vec::new() } else { self.read_archived_evidence(task)? };
        let is_new =
            |entry: &&EvidenceEntry| entry.id.is_empty() || known.iter().all(|known| known.id != entry.id);
        let new = archived.iter().filter(is_new);
        let lines: Vec<Vec<u8>> = new.map(|entry| serde_json::to_vec(entry).unwrap_or_default()).collect();
        if !lines.is_empty() {
            folder.append_lines_synced(layout::EVIDENCE_ARCHIVE_FILE, &lines)?;
        }
        folder.write("bundle.json", &bundle.to_bytes(), Durability::Synced)?;
        remove_old_listings(&folder, bundle)
    }

    /// Writes a listing. Call this before you write the entry that names the listing.
    pub fn write_listing(&self, task: &Id, listing: &FileListing) -> Result<()> {
        let folder = self.dir().create_subfolder(&layout::evidence_folder_path(task))?;
        folder.write(
            &layout::evidence_listing_file(&listing.tree_hash()),
            &listing.to_bytes(),
            Durability::Synced,
        )
    }

    /// Returns a listing and the time when it was written, in nanoseconds by the file system's clock. Returns `None` if
    /// the listing is missing or cannot be read.
    pub fn read_file_listing(&self, task: &Id, tree: &str) -> Option<(FileListing, i64)> {
        let is_hash = tree.len() == 64 && tree.bytes().all(|b| b.is_ascii_hexdigit());
        let rel = format!("{}/{}", layout::evidence_folder_path(task), layout::evidence_listing_file(tree));
        let bytes = is_hash.then(|| self.dir().read_file(&rel, MAX_LISTING_BYTES).ok()).flatten()?;
        let written = self.dir().file_info(&rel).ok()??.modified_at.as_nanosecond();
        let listing = FileListing::parse(&bytes).ok().filter(|listing| listing.tree_hash() == tree)?;
        Some((listing, i64::try_from(written).unwrap_or(i64::MAX)))
    }

    /// Returns the archived entries. An interrupted write can archive an entry twice, so duplicates are left out.
    pub fn read_archived_evidence(&self, task: &Id) -> Result<Vec<EvidenceEntry>> {
        let (mut entries, mut ids) = (Vec::new(), HashSet::new());
        let rel = format!("{}/{}", layout::evidence_folder_path(task), layout::EVIDENCE_ARCHIVE_FILE);
        self.dir().each_record(&rel, |entry: EvidenceEntry| {
            if entry.id.is_empty() || ids.insert(entry.id.clone()) {
                entries.push(entry);
            }
        })?;
        Ok(entries)
    }

    /// Creates the patch file of an entry. Returns false if the name is taken.
    pub fn create_patch_file(&self, task: &Id, name: &str, bytes: &[u8]) -> Result<bool> {
        self.dir().create_subfolder(&layout::evidence_folder_path(task))?.create_private_file(name, bytes)
    }

    /// Returns the size of a task's evidence, not counting the listings, because they are temporary.
    pub fn evidence_size(&self, task: &Id) -> Result<u64> {
        let folder = match self.dir().open_subfolder(&layout::evidence_folder_path(task)) {
            Err(Error::Absent { .. }) => return Ok(0),
            folder => folder?,
        };
        let mut sum = 0;
        for entry in folder.entries()?.iter().filter(|entry| !entry.name.ends_with(".files")) {
            sum += folder.file_info(&entry.name)?.map_or(0, |look| look.bytes);
        }
        Ok(sum)
    }
}

fn remove_old_listings(folder: &Dir, bundle: &EvidenceBundle) -> Result<()> {
    let kept = tree_hashes_in_effect(&bundle.entries, MAX_LISTINGS_KEPT);
    let kept: BTreeSet<String> = kept.into_iter().map(layout::evidence_listing_file).collect();
    let entries = folder.entries()?;
    for entry in entries.iter().filter(|entry| entry.name.ends_with(".files") && !kept.contains(&entry.name))
    {
        folder.remove_file(&entry.name)?;
    }
    Ok(())
}

/// The last test run that was recorded as evidence. It is identified by the number of its journal record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastRunRecordedAsEvidence {
    pub record: u64,
}

impl SessionState for LastRunRecordedAsEvidence {
    const STATE_FOLDER: &'static str = layout::RUNS_RECORDED_AS_EVIDENCE_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64;

    fn parse(bytes: &[u8]) -> std::result::Result<LastRunRecordedAsEvidence, String> {
        let text = String::from_utf8_lossy(bytes);
        text.trim()
            .parse()
            .map(|record| LastRunRecordedAsEvidence { record })
            .map_err(|_| "it is not a number".to_owned())
    }

    fn to_bytes(&self) -> Vec<u8> {
        format!("{}\n", self.record).into_bytes()
    }
}
