//! The list of checkouts in which `thru install` was run. It is in this machine's state folder and has one line for
//! each checkout. With it, `thru uninstall --all` also finds projects that are not trusted.

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

#[derive(Debug, Serialize, Deserialize)]
struct InstallLine {
    checkout: PathBuf,
    at: String,
}

impl InstallList {
    /// Returns the list in `state_folder`, which is `$XDG_STATE_HOME/throughline`.
    pub fn new(state_folder: PathBuf) -> InstallList {
        InstallList { state_folder }
    }

    /// Adds a checkout to the list, unless it is already listed.
    pub fn add_checkout(&self, checkout: &Path, now: Timestamp) -> Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        if self.list_checkouts()?.iter().any(|known| known == checkout) {
            return Ok(());
        }
        let line = InstallLine { checkout: checkout.to_owned(), at: time::to_rfc3339(now) };
        // A path that is not Unicode cannot be written to the list. `thru uninstall --all` finds such a project
        // through its trust record.
        let Ok(line) = serde_json::to_vec(&line) else { return Ok(()) };
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.state_folder);
        made.map_err(|e| io_error(&e, &self.state_folder, "create a folder"))?;
        Dir::open(&self.state_folder)?.append_line(layout::STATE_FOLDER_INSTALLS_FILE, &line, u64::MAX)
    }

    /// Lists the checkouts, including any that no longer exist.
    pub fn list_checkouts(&self) -> Result<Vec<PathBuf>> {
        let dir = match Dir::open(&self.state_folder) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            dir => dir?,
        };
        let mut checkouts = Vec::new();
        dir.each_new_line(layout::STATE_FOLDER_INSTALLS_FILE, LogPosition::default(), u64::MAX, |line| {
            checkouts.extend(serde_json::from_slice::<InstallLine>(line).map(|line| line.checkout));
        })?;
        Ok(checkouts)
    }
}
