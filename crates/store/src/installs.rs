//! The list of the checkouts in which `thru install` was run, and of the folders that it created outside these
//! checkouts. The list is in this machine's state folder. Each line is about one checkout or one folder.
//! `thru uninstall --all` uses the list to find projects that are not trusted, and to remove the folders if they are
//! empty.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::time;
use serde::{Deserialize, Serialize};

use crate::read::io_error;
use crate::{Dir, Error, LogPosition, Result, layout};

#[derive(Clone, Debug)]
pub struct InstallList {
    state_folder: PathBuf,
}

/// What thru did with a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderChange {
    Created,
    Removed,
}

#[derive(Debug, Serialize, Deserialize)]
struct InstallLine {
    checkout: PathBuf,
    at: String,
}

/// A line which records that thru created a folder in the user's home, or removed it again. If several lines are
/// about the same folder, the last one counts.
#[derive(Debug, Serialize, Deserialize)]
struct CreatedFolderLine {
    folder: PathBuf,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    at: String,
}

impl InstallList {
    /// Returns the list in `state_folder`, which is `$XDG_STATE_HOME/throughline`.
    pub fn new(state_folder: PathBuf) -> InstallList {
        InstallList { state_folder }
    }

    /// Adds a checkout to the list, unless it is already listed.
    pub fn add_checkout(&self, checkout: &Path, now: Timestamp) -> Result<()> {
        if self.list_checkouts()?.iter().any(|known| known == checkout) {
            return Ok(());
        }
        self.append(&InstallLine { checkout: checkout.to_owned(), at: time::to_rfc3339(now) })
    }

    /// Records that thru created a folder, or that it removed one that it had created.
    pub fn add_folder(&self, folder: &Path, change: FolderChange, now: Timestamp) -> Result<()> {
        let (folder, removed) = (folder.to_owned(), change == FolderChange::Removed);
        self.append(&CreatedFolderLine { folder, removed, at: time::to_rfc3339(now) })
    }

    fn append(&self, line: &impl Serialize) -> Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        // A path that is not Unicode cannot be written to the list. `thru uninstall --all` finds such a project
        // through its trust record.
        let Ok(line) = serde_json::to_vec(line) else { return Ok(()) };
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.state_folder);
        made.map_err(|e| io_error(&e, &self.state_folder, "create a folder"))?;
        Dir::open(&self.state_folder)?.append_line(layout::STATE_FOLDER_INSTALLS_FILE, &line, u64::MAX)
    }

    /// Lists the checkouts, including any that no longer exist.
    pub fn list_checkouts(&self) -> Result<Vec<PathBuf>> {
        let mut checkouts = Vec::new();
        self.each_line(|line| {
            checkouts.extend(serde_json::from_slice::<InstallLine>(line).map(|line| line.checkout));
        })?;
        Ok(checkouts)
    }

    /// Lists the folders that thru created and has not removed.
    pub fn list_created_folders(&self) -> Result<Vec<PathBuf>> {
        let mut folders: Vec<PathBuf> = Vec::new();
        self.each_line(|line| {
            let Ok(CreatedFolderLine { folder, removed, .. }) = serde_json::from_slice(line) else { return };
            folders.retain(|known| *known != folder);
            folders.extend((!removed).then_some(folder));
        })?;
        Ok(folders)
    }

    fn each_line(&self, with: impl FnMut(&[u8])) -> Result<()> {
        let dir = match Dir::open(&self.state_folder) {
            Err(Error::Absent { .. }) => return Ok(()),
            dir => dir?,
        };
        dir.each_new_line(layout::STATE_FOLDER_INSTALLS_FILE, LogPosition::default(), u64::MAX, with)?;
        Ok(())
    }
}
