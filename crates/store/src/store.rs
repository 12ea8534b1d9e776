//! A root's store, opened: its marker, its logs, its creation.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use model::id::Id;
use model::marker::{self, Marker, Mode, Problem};

use crate::root::store_at;
use crate::{Dir, Durability, EntryKind, Error, Result, Tally, layout};

/// Larger than any marker or config a person would write.
const SMALL: usize = 1024 * 1024;

#[derive(Debug)]
pub struct Store {
    dir: Dir,
    /// The marker, open as long as the store is: a hook never closes either, which saves it a system call.
    marker: Option<File>,
}

/// What `create` did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    pub marker: Marker,
    /// True when this call wrote the marker, false when it was there (or another process was first).
    pub new: bool,
    /// True when nobody's records were there before: only such a store is trusted for having been created here.
    pub pristine: bool,
    /// The file a damaged marker was moved to.
    pub set_aside: Option<String>,
}

impl Store {
    pub(crate) fn new(dir: Dir) -> Store {
        Store { dir, marker: None }
    }

    /// The store of `root`, marked or not.
    pub fn at(root: &Path) -> Result<Option<Store>> {
        store_at(root)
    }

    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    pub fn marker(&self) -> Result<Marker> {
        self.parse_marker(&self.dir.read(layout::MARKER, SMALL)?)
    }

    /// The marker, whose file stays open with the store.
    pub(crate) fn take_marker(&mut self) -> Result<Marker> {
        let (bytes, file) = self.dir.read_keeping_open(layout::MARKER, SMALL)?;
        self.marker = Some(file);
        self.parse_marker(&bytes)
    }

    fn parse_marker(&self, bytes: &[u8]) -> Result<Marker> {
        let path = self.dir.path().join(layout::MARKER);
        marker::parse(bytes).map_err(|problem| match problem {
            Problem::Damaged { line, why } => Error::Damaged { path, line: Some(line), why },
            Problem::Foreign { why } => Error::Foreign { path, why },
        })
    }

    /// The project's settings file, if there is one.
    pub fn config(&self) -> Result<Option<Vec<u8>>> {
        match self.dir.read(layout::CONFIG, SMALL) {
            Err(Error::Absent { .. }) => Ok(None),
            read => read.map(Some),
        }
    }

    pub fn append_journal(&self, session: &Id, line: &[u8], limit: u64) -> Result<()> {
        self.dir.append(&layout::journal(session), line, limit)
    }

    pub fn append_session(&self, line: &[u8], limit: u64) -> Result<()> {
        self.dir.append(layout::SESSIONS, line, limit)
    }

    pub fn append_receipt(&self, line: &[u8], limit: u64) -> Result<()> {
        self.dir.append(layout::RECEIPTS, line, limit)
    }

    pub fn receipts(&self, each: impl FnMut(model::receipt::Receipt)) -> Result<Tally> {
        self.dir.each_record(layout::RECEIPTS, each)
    }

    /// Notes the session in the marker. Best effort: whoever calls it goes on without.
    pub fn remember_session(&self, session: &Id, wait: Duration) -> Result<()> {
        let _lock = self.lock(layout::MARKER_LOCK, wait)?;
        let bytes = self.dir.read(layout::MARKER, SMALL)?;
        match marker::with_last_session(&bytes, session.as_str()) {
            Some(bytes) => self.dir.write(layout::MARKER, &bytes, Durability::Synced),
            None => Ok(()),
        }
    }

    /// Makes the store of `root`, or opens the one that is there. The marker is written last and only once, so a
    /// crash on the way leaves a folder that the next call completes, and two at once agree on one `project_id`.
    /// `vouch` runs just before the marker appears, if nobody's records were there before.
    pub fn create(
        root: &Path,
        new: &Marker,
        now: Timestamp,
        vouch: impl FnOnce() -> Result<()>,
    ) -> Result<Created> {
        let dir = Dir::open(root)?.make(layout::STORE)?;
        let store = Store::new(dir.at(root.join(layout::STORE)));
        let dir = store.dir();
        let set_aside = match store.marker() {
            Ok(marker) => return Ok(Created { marker, new: false, pristine: false, set_aside: None }),
            Err(Error::Absent { .. }) => None,
            Err(Error::Damaged { .. }) => dir.set_damaged_aside(layout::MARKER, now)?,
            Err(e) => return Err(e),
        };
        let pristine = set_aside.is_none() && !holds_files(dir)?;
        for folder in layout::FOLDERS {
            dir.make(folder)?;
        }
        let ignore = if new.mode == Mode::Shared { layout::IGNORE_SHARED } else { layout::IGNORE_ALL };
        dir.create(layout::GITIGNORE, ignore.as_bytes())?;
        if pristine {
            vouch()?;
        }
        if dir.create(layout::MARKER, &marker::render(new))? {
            return Ok(Created { marker: new.clone(), new: true, pristine, set_aside });
        }
        Ok(Created { marker: store.marker()?, new: false, pristine, set_aside })
    }
}

/// Whether anybody has put records there: any file besides our own ignore file.
fn holds_files(dir: &Dir) -> Result<bool> {
    for entry in dir.entries()? {
        let ours =
            entry.name.ends_with(crate::atomic::TEMPORARY_SUFFIX) || is_our_ignore_file(dir, &entry.name);
        match entry.kind {
            EntryKind::Folder if holds_files(&dir.sub(&entry.name)?)? => return Ok(true),
            EntryKind::Folder => {}
            _ if ours => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

/// One that came with a clone could let everything into git.
fn is_our_ignore_file(dir: &Dir, name: &str) -> bool {
    let ours = [layout::IGNORE_ALL.as_bytes(), layout::IGNORE_SHARED.as_bytes()];
    name == layout::GITIGNORE && dir.read(name, SMALL).is_ok_and(|bytes| ours.contains(&bytes.as_slice()))
}
