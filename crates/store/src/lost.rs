//! Counts the records that could not be written, and keeps the time and the reason.
//!
//! On a full disk, no file can be created or enlarged, but bytes that are already allocated can be overwritten.
//! Therefore `thru init` and session starts reserve a file, and a hook that loses a record overwrites that file. If
//! that fails, because the disk is read-only or the store lacks the file, the note is written to the user's state
//! folder.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::marker::ProjectId;
use serde::{Deserialize, Serialize};

use crate::read::{io_error, read_outside_store, require_regular_file};
use crate::{Dir, Error, Lock, Result, Store, layout};

/// The size of the note, which never changes. It is one block on most disks.
const NOTE_BYTES: usize = 4096;

/// The content of the file as long as nothing has been lost. It explains the file to a person who opens it.
const NOTHING_LOST: &[u8] = br#"{"reserved":"for a note on a full disk; nothing was lost"}"#;

/// The length to which the reason is cut, in bytes.
const MAX_LOSS_REASON_BYTES: usize = 400;

/// The content of the note: how many records were lost, when and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRecords {
    pub first: String,
    pub last: String,
    /// The minimum number of lost records. If two hooks lose a record at the same moment, one of the two losses may be
    /// missing from this number.
    pub count: u64,
    pub why: String,
}

impl std::fmt::Display for LostRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LostRecords { first, last, count, why } = self;
        let what = if *count == 1 { "1 record was lost" } else { "records were lost" };
        write!(f, "{what} between {first} and {last}")?;
        if *count > 1 {
            write!(f, " ({count} of them)")?;
        }
        write!(f, ": {why}")
    }
}

/// The note about a project's lost records. It is in the project's store, or else in the state folder.
#[derive(Debug)]
pub struct LostRecordsNote<'a> {
    store: &'a Store,
    state_folder_path: Option<PathBuf>,
    name: String,
}

impl Store {
    /// Creates a blank note, unless there already is one.
    pub fn reserve_lost_note(&self) -> Result<()> {
        let (folder, name) =
            layout::LOST_RECORDS_FILE.rsplit_once('/').unwrap_or(("", layout::LOST_RECORDS_FILE));
        if self.dir().file_info(layout::LOST_RECORDS_FILE)?.is_some() {
            return Ok(());
        }
        let dir = self.dir().create_subfolder(folder)?;
        // Keep a note from an older version, because it may record a loss that has not been reported yet.
        if dir.rename_if_new_name_is_free(layout::FORMER_LOST_RECORDS_NAME, name).is_ok() {
            return dir.sync_folder();
        }
        dir.create_private_file(name, &blank_note()).map(drop)
    }
}

impl<'a> LostRecordsNote<'a> {
    /// Returns a project's note. `state` is the folder `$XDG_STATE_HOME/throughline`.
    pub fn new(store: &'a Store, state: Option<&Path>, project: &ProjectId) -> LostRecordsNote<'a> {
        let outside = state.map(|state| state.join("lost"));
        LostRecordsNote { store, state_folder_path: outside, name: format!("{}.json", project.as_str()) }
    }

    pub fn add_loss(&self, now: &str, why: &str, wait: Duration) -> Result<()> {
        let add = |dir: &Dir, rel: &str| -> Result<()> {
            let lock = dir.lock_file(rel, wait)?;
            let lost = match read_locked(&lock)? {
                Some(lost) => LostRecords { last: now.to_owned(), count: lost.count + 1, ..lost },
                None => LostRecords {
                    first: now.to_owned(),
                    last: now.to_owned(),
                    count: 1,
                    why: model::text::cut_to_bytes(why, MAX_LOSS_REASON_BYTES).to_owned(),
                },
            };
            overwrite_locked(&lock, &render_note(&lost))
        };
        match add(self.store.dir(), layout::LOST_RECORDS_FILE) {
            Ok(()) => Ok(()),
            Err(error) => match self.create_state_folder() {
                Some(dir) => add(&dir?, &self.name),
                None => Err(error),
            },
        }
    }

    /// Returns the content of the note, or `None` if nothing was lost.
    pub fn read_note(&self) -> Option<LostRecords> {
        let inside = self.store.dir().read_file(layout::LOST_RECORDS_FILE, NOTE_BYTES).ok();
        let outside =
            || read_outside_store(&self.state_folder_path.as_ref()?.join(&self.name), NOTE_BYTES).ok();
        inside.and_then(|bytes| parse_note(&bytes)).or_else(|| parse_note(&outside()?))
    }

    /// Calls `tell` with the content of the note, and clears the note if `tell` succeeds. If two hooks run at the
    /// same time, only one of them reports the loss.
    pub fn report_and_clear_lost_records(
        &self,
        wait: Duration,
        mut tell: impl FnMut(&LostRecords) -> Result<()>,
    ) -> Result<()> {
        let mut take = |dir: &Dir, rel: &str| -> Result<()> {
            let lock = dir.lock_file(rel, wait)?;
            match read_locked(&lock)? {
                Some(lost) => tell(&lost).and_then(|()| overwrite_locked(&lock, &blank_note())),
                None => Ok(()),
            }
        };
        if parse_note(&self.store.dir().read_file(layout::LOST_RECORDS_FILE, NOTE_BYTES).unwrap_or_default())
            .is_some()
        {
            take(self.store.dir(), layout::LOST_RECORDS_FILE)?;
        }
        let Some(folder) = &self.state_folder_path else { return Ok(()) };
        match Dir::open(folder) {
            Err(Error::Absent { .. }) => Ok(()),
            dir => {
                let dir = dir?;
                if dir.file_info(&self.name)?.is_none() {
                    return Ok(());
                }
                take(&dir, &self.name)?;
                dir.remove_file(&self.name)
            }
        }
    }

    fn create_state_folder(&self) -> Option<Result<Dir>> {
        use std::os::unix::fs::DirBuilderExt;
        let path = self.state_folder_path.as_ref()?;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        Some(made.map_err(|e| io_error(&e, path, "create a folder")).and_then(|()| Dir::open(path)))
    }
}

/// Returns whether a file is the blank note that `thru init` creates, and therefore not a user's record.
pub(crate) fn is_blank_note(dir: &Dir, name: &str) -> bool {
    layout::LOST_RECORDS_FILE.ends_with(name)
        && dir.read_file(name, NOTE_BYTES).is_ok_and(|bytes| is_blank(&bytes))
}

/// Returns whether a note is blank. In older versions, a blank note contained only spaces.
fn is_blank(bytes: &[u8]) -> bool {
    bytes == blank_note() || bytes.trim_ascii().is_empty()
}

fn blank_note() -> Vec<u8> {
    pad_to_note_size(NOTHING_LOST)
}

fn render_note(lost: &LostRecords) -> Vec<u8> {
    pad_to_note_size(&serde_json::to_vec(lost).unwrap_or_default())
}

/// Pads text with spaces to the size of the note. If the text is too long, the result contains only spaces and a
/// newline.
fn pad_to_note_size(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![b' '; NOTE_BYTES];
    bytes[NOTE_BYTES - 1] = b'\n';
    if text.len() < NOTE_BYTES {
        bytes[..text.len()].copy_from_slice(text);
    }
    bytes
}

/// Parses a note. Returns `None` if the note is blank or cannot be parsed.
fn parse_note(bytes: &[u8]) -> Option<LostRecords> {
    // Nearly every hook finds the blank note. Trimming its four kilobytes of spaces would take up to a twentieth of a
    // hook's instructions.
    if bytes.starts_with(NOTHING_LOST) {
        return None;
    }
    serde_json::from_slice(bytes.trim_ascii()).ok()
}

fn read_locked(lock: &Lock) -> Result<Option<LostRecords>> {
    let (file, path) = lock.locked_file();
    require_regular_file(file.as_fd(), path)?;
    let mut bytes = vec![0; NOTE_BYTES];
    let got = file.read_at(&mut bytes, 0).map_err(|e| io_error(&e, path, "read"))?;
    Ok(parse_note(&bytes[..got]))
}

/// Overwrites the note in place. Its bytes are already allocated, so this also works on a full disk.
fn overwrite_locked(lock: &Lock, bytes: &[u8]) -> Result<()> {
    let (file, path): (&File, &Path) = lock.locked_file();
    file.write_all_at(bytes, 0).map_err(|e| io_error(&e, path, "write"))
}

#[cfg(test)]
#[path = "lost_tests.rs"]
mod tests;
