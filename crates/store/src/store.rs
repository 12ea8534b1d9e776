//! A root's store: creates and opens it, and reads its marker and settings.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use model::consent::ConsentDigest;
use model::id::Id;
use model::marker::{self, ProjectId, RootMarker, RootMarkerProblem, SharingMode};

use crate::root::open_store_folder;
use crate::{
    ConsentKind, Consents, Dir, Durability, Error, FolderEntryKind, GitTrackedFiles, LineTally, Result,
    layout,
};

/// The size limit of a marker or a settings file. A file written by hand is never this large.
const MAX_SMALL_FILE_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub struct Store {
    dir: Dir,
    /// The commands and prompts in this root that the user has allowed. `None` means that nothing is allowed.
    consents: Option<Box<Consents>>,
    /// The hook's deadline, or `None` in a command.
    deadline: Option<Instant>,
    /// How many bytes of journals this process has skipped for lack of time.
    skipped_journal_bytes: AtomicU64,
    /// The marker's open file. A hook never closes it, which saves a system call.
    marker_file: Option<File>,
}

/// How many bytes of a journal a hook reads for every millisecond that is left. A session start reads journals up to
/// three times, at 50 to 100 KB per millisecond, and needs half of its time for other work.
const JOURNAL_BYTES_PER_MS: u64 = 10 * 1024;
/// The minimum number of bytes that a hook reads from the end of a journal, even if it has little time.
const MIN_JOURNAL_BYTES_READ: u64 = 64 * 1024;
/// The maximum number of bytes that a hook reads from the end of a journal.
const MAX_JOURNAL_BYTES_READ: u64 = 2 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedStore {
    pub marker: RootMarker,
    /// Whether this call wrote the marker. False if the marker already existed or another process wrote it first.
    pub wrote_marker: bool,
    /// Whether the folder contained no records before. A new store is trusted only in that case.
    pub had_no_records: bool,
    /// The name under which a damaged marker was kept.
    pub damaged_marker_name: Option<String>,
}

impl Store {
    pub(crate) fn new(dir: Dir) -> Store {
        Store {
            dir,
            consents: None,
            deadline: None,
            skipped_journal_bytes: AtomicU64::new(0),
            marker_file: None,
        }
    }

    /// Adds this machine's records to the store: what the user has allowed thru to run, and which machine-local files
    /// came with a commit. `state` is the user's state folder.
    pub fn add_machine_records(&mut self, state: Option<&Path>, project: &ProjectId, root: &Path) {
        self.consents = state.map(|state| Box::new(Consents::new(state, project, root)));
        self.dir.tracked_local_files = GitTrackedFiles::read_for_root(root);
    }

    /// Returns whether the user has allowed everything in `digests` on this machine. Returns false if that cannot be
    /// determined.
    pub fn is_consent_given(&self, kind: ConsentKind, id: &str, digests: &[ConsentDigest]) -> bool {
        self.consents.as_ref().is_some_and(|consents| consents.is_allowed(kind, id, digests).unwrap_or(false))
    }

    /// Returns the consents, or `None` if there is no state folder or the root has no marker.
    pub fn consents(&self) -> Option<&Consents> {
        self.consents.as_deref()
    }

    /// Returns the files in `indexes/`, `sessions/` and `state/` that git tracks. They are not trusted.
    pub fn tracked_files(&self) -> &GitTrackedFiles {
        &self.dir.tracked_local_files
    }

    /// Returns the store for a hook with the deadline `until`. This store reads journals from their end, as far back
    /// as time allows.
    #[must_use]
    pub fn for_hook(self, until: Option<Instant>) -> Store {
        Store { deadline: until, ..self }
    }

    pub fn set_deadline(&mut self, until: Instant) {
        self.deadline = Some(until);
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn skipped_journal_bytes(&self) -> u64 {
        self.skipped_journal_bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add_skipped_bytes(&self, bytes: u64) {
        self.skipped_journal_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn is_in_hook(&self) -> bool {
        self.deadline.is_some()
    }

    pub(crate) fn max_journal_bytes_to_read(&self) -> u64 {
        let Some(until) = self.deadline else { return u64::MAX };
        let left = until.saturating_duration_since(Instant::now()).as_millis();
        (left as u64)
            .saturating_mul(JOURNAL_BYTES_PER_MS)
            .clamp(MIN_JOURNAL_BYTES_READ, MAX_JOURNAL_BYTES_READ)
    }

    /// Opens the store at `root`, whether or not it has a marker.
    pub fn open_at_root(root: &Path) -> Result<Option<Store>> {
        open_store_folder(root)
    }

    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    pub fn read_marker(&self) -> Result<RootMarker> {
        self.parse_marker(&self.dir.read_file(layout::MARKER_FILE, MAX_SMALL_FILE_BYTES)?)
    }

    /// Reads the marker and keeps its file open.
    pub(crate) fn read_marker_keeping_open(&mut self) -> Result<RootMarker> {
        let (bytes, file) = self.dir.read_keeping_open(layout::MARKER_FILE, MAX_SMALL_FILE_BYTES)?;
        self.marker_file = Some(file);
        self.parse_marker(&bytes)
    }

    fn parse_marker(&self, bytes: &[u8]) -> Result<RootMarker> {
        let path = self.dir.path().join(layout::MARKER_FILE);
        marker::parse_root_marker(bytes).map_err(|problem| match problem {
            RootMarkerProblem::Damaged { line, why } => Error::Damaged { path, line: Some(line), why },
            RootMarkerProblem::Foreign { why } => Error::Foreign { path, why },
        })
    }

    pub fn read_project_settings_file(&self) -> Result<Option<Vec<u8>>> {
        match self.dir.read_file(layout::PROJECT_SETTINGS_FILE, MAX_SMALL_FILE_BYTES) {
            Err(Error::Absent { .. }) => Ok(None),
            read => read.map(Some),
        }
    }

    pub fn append_journal(&self, session: &Id, line: &[u8], limit: u64) -> Result<()> {
        self.dir.append_line(&layout::journal_path(session), line, limit)
    }

    pub fn register_session(&self, line: &[u8], limit: u64) -> Result<()> {
        self.dir.append_line(layout::SESSIONS_INDEX, line, limit)
    }

    pub fn append_receipt(&self, line: &[u8], limit: u64) -> Result<()> {
        self.dir.append_line(layout::RECEIPTS_LOG, line, limit)
    }

    pub fn each_receipt(&self, each: impl FnMut(model::receipt::Receipt)) -> Result<LineTally> {
        self.dir.each_record(layout::RECEIPTS_LOG, each)
    }

    /// Records the session in the marker.
    pub fn record_session_in_marker(&self, session: &Id, wait: Duration) -> Result<()> {
        let _lock = self.lock_by_path(layout::MARKER_LOCK, wait)?;
        let bytes = self.dir.read_file(layout::MARKER_FILE, MAX_SMALL_FILE_BYTES)?;
        match marker::with_last_session(&bytes, session.as_str()) {
            Some(bytes) => self.dir.write(layout::MARKER_FILE, &bytes, Durability::Synced),
            None => Ok(()),
        }
    }

    /// Creates the store at `root`, or opens the existing one. The marker is written last and only once. So if
    /// a crash leaves a store unfinished, the next call completes it, and two processes always agree on one
    /// `project_id`. If there were no records before, `vouch` runs just before the marker is written.
    pub fn create(
        root: &Path,
        new: &RootMarker,
        now: Timestamp,
        vouch: impl FnOnce() -> Result<()>,
    ) -> Result<CreatedStore> {
        let dir = Dir::open(root)?.create_subfolder(layout::STORE_FOLDER)?;
        let store = Store::new(dir.with_display_path(root.join(layout::STORE_FOLDER)));
        let dir = store.dir();
        let damaged_marker_name = match store.read_marker() {
            Ok(marker) => {
                return Ok(CreatedStore {
                    marker,
                    wrote_marker: false,
                    had_no_records: false,
                    damaged_marker_name: None,
                });
            }
            Err(Error::Absent { .. }) => None,
            Err(Error::Damaged { .. }) => dir.rename_damaged_aside(layout::MARKER_FILE, now)?,
            Err(e) => return Err(e),
        };
        let had_no_records = damaged_marker_name.is_none() && !contains_user_records(dir)?;
        for folder in layout::INITIAL_FOLDERS {
            dir.create_subfolder(folder)?;
        }
        let ignore = if new.mode == SharingMode::Shared {
            layout::GITIGNORE_SHARED
        } else {
            layout::GITIGNORE_TEXT_IGNORING_ALL
        };
        dir.create_private_file(layout::GITIGNORE_FILE, ignore.as_bytes())?;
        if had_no_records {
            vouch()?;
        }
        if dir.create_private_file(layout::MARKER_FILE, &marker::render_root_marker(new))? {
            // If this fails, the next session start creates the note.
            let _ = store.reserve_lost_note();
            return Ok(CreatedStore {
                marker: new.clone(),
                wrote_marker: true,
                had_no_records,
                damaged_marker_name,
            });
        }
        Ok(CreatedStore {
            marker: store.read_marker()?,
            wrote_marker: false,
            had_no_records,
            damaged_marker_name,
        })
    }
}

/// Returns whether the folder contains a file that thru does not create when it creates a store.
fn contains_user_records(dir: &Dir) -> Result<bool> {
    for entry in dir.entries()? {
        let ours = entry.name.ends_with(crate::atomic::TEMPORARY_SUFFIX)
            || is_our_ignore_file(dir, &entry.name)
            || crate::lost::is_blank_note(dir, &entry.name);
        match entry.kind {
            FolderEntryKind::Folder if contains_user_records(&dir.open_subfolder(&entry.name)?)? => {
                return Ok(true);
            }
            FolderEntryKind::Folder => {}
            _ if ours => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// Returns whether thru wrote an ignore file. Any other ignore file may have come with a clone, and it could let git
/// track all records.
fn is_our_ignore_file(dir: &Dir, name: &str) -> bool {
    let ours = [layout::GITIGNORE_TEXT_IGNORING_ALL.as_bytes(), layout::GITIGNORE_SHARED.as_bytes()];
    name == layout::GITIGNORE_FILE
        && dir.read_file(name, MAX_SMALL_FILE_BYTES).is_ok_and(|bytes| ours.contains(&bytes.as_slice()))
}
