//! Records which roots are trusted on this machine. The records are outside every project, so that a clone cannot
//! bring its own trust record.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use model::marker::ProjectId;
use model::receipt::Receipt;
use model::time;
use serde::{Deserialize, Serialize};

use crate::owner::{FolderExposure, first_exposed_folder};
use crate::read::{LinkInPath, metadata_without_following, read_file_noticing_links};
use crate::{Dir, Durability, Error, Result, layout};

const TRUST_RECORD_SCHEMA_VERSION: u64 = 1;
const MAX_TRUST_RECORD_BYTES: usize = 1024 * 1024;
/// How many of a project's former paths are recorded.
const MAX_FORMER_PATHS: usize = 16;

/// A user's trust records: `trust/<project_id>.json` in the state folder.
#[derive(Debug)]
pub struct TrustRecords {
    state_folder: PathBuf,
    user: u32,
    /// The home folder, if `state_folder` is the default folder below it. `None` if an environment variable names
    /// `state_folder`.
    home: Option<PathBuf>,
    /// The open file of the record that was read last. A hook never closes it, which saves a system call.
    record_file: RefCell<Option<File>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedRoot {
    pub path: String,
    pub trusted_at: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct TrustRecord {
    schema_version: u64,
    roots: Vec<TrustedRoot>,
    /// The paths that the project was moved from, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "former")]
    former_paths: Vec<String>,
}

impl TrustRecords {
    /// Returns the trust records in `state_folder`, which is `$XDG_STATE_HOME/throughline`. `user` is the effective
    /// user.
    pub fn new(state_folder: PathBuf, user: u32) -> TrustRecords {
        TrustRecords { state_folder, user, home: None, record_file: RefCell::default() }
    }

    /// Returns the trust records in the default state folder below `home`, which is used if no variable names a state
    /// folder.
    pub fn in_default_state_folder(state_folder: PathBuf, user: u32, home: PathBuf) -> TrustRecords {
        TrustRecords { state_folder, user, home: Some(home), record_file: RefCell::default() }
    }

    pub fn path_of_trust_record(&self, project: &ProjectId) -> PathBuf {
        self.state_folder.join("trust").join(format!("{}.json", project.as_str()))
    }

    /// Returns whether the project is trusted at this path. Both the project and the path must match. Returns an
    /// error if other users can write to the folder of the trust records.
    pub fn is_trusted(&self, project: &ProjectId, root: &Path) -> Result<bool> {
        let (record, way) = self.read_record(project)?;
        let known = |root: &Path| record.roots.iter().any(|known| Path::new(&known.path) == root);
        // Hooks run this code, so first compare the path as it was given. Resolving links takes a system call for
        // each folder.
        let holds = known(root) || root.canonicalize().is_ok_and(|root| known(&root));
        if holds {
            self.require_private()?;
            self.require_state_folder_outside_root(root, way)?;
        }
        Ok(holds)
    }

    /// Returns the path at which the project was trusted before it was moved to `root`, or `None` if another of its
    /// trusted paths still exists.
    pub fn former_path(&self, project: &ProjectId, root: &Path) -> Result<Option<String>> {
        let (record, _) = self.read_record(project)?;
        let here = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let others: Vec<&TrustedRoot> =
            record.roots.iter().filter(|known| Path::new(&known.path) != here).collect();
        let newest = others.iter().max_by(|a, b| a.trusted_at.cmp(&b.trusted_at));
        let from =
            newest.filter(|_| others.iter().all(|root| has_vanished(root))).map(|root| root.path.clone());
        if from.is_some() {
            self.require_private()?;
        }
        Ok(from)
    }

    /// Returns the project's former paths: those it was moved from, and trusted paths that no longer exist.
    pub fn former_paths(&self, project: &ProjectId) -> Result<Vec<String>> {
        let TrustRecord { roots, former_paths: mut former, .. } = self.read_record(project)?.0;
        let (gone, present): (Vec<_>, Vec<_>) = roots.into_iter().partition(has_vanished);
        former.retain(|path| present.iter().all(|root| root.path != *path));
        former.extend(gone.into_iter().map(|root| root.path));
        Ok(former)
    }

    /// Trusts a project's new path in place of its old paths, which no longer exist.
    pub fn trust_new_path(
        &self,
        project: &ProjectId,
        root: &Path,
        now: Timestamp,
        wait: Duration,
    ) -> Result<()> {
        let path = canonical_path(root)?;
        self.update_record(project, wait, |TrustRecord { roots, former_paths: former, .. }| {
            let gone = roots.iter().filter(|known| has_vanished(known)).map(|known| known.path.clone());
            let gone: Vec<String> = gone.collect();
            former.retain(|known| !gone.contains(known) && *known != path);
            former.extend(gone);
            former.drain(..former.len().saturating_sub(MAX_FORMER_PATHS));
            roots.retain(|known| !has_vanished(known) && known.path != path);
            roots.push(TrustedRoot { path: path.clone(), trusted_at: time::to_rfc3339(now) });
            roots.sort_by(|a, b| a.path.cmp(&b.path));
            true
        })?;
        Ok(())
    }

    /// Returns an error unless `trust/` and the folders above it are private to the user. Otherwise, a forged
    /// `XDG_STATE_HOME` could make any root trusted.
    fn require_private(&self) -> Result<()> {
        let trust = self.state_folder.join("trust");
        let folders =
            [trust.as_path(), &self.state_folder, self.state_folder.parent().unwrap_or(&self.state_folder)];
        match first_exposed_folder(&folders, self.user) {
            Some((path, why)) => Err(Error::Exposed { path, why }),
            None => Ok(()),
        }
    }

    /// Returns an error if the state folder is inside the root. The files in a clone belong to the user who cloned
    /// it, so a clone could bring its own trust record. The only exception is a home folder that the user allowed as
    /// a root, because the state folder is inside it.
    fn require_state_folder_outside_root(&self, root: &Path, way: LinkInPath) -> Result<()> {
        let is_inside = || match way {
            LinkInPath::Direct => self.state_folder.starts_with(root),
            LinkInPath::ThroughLinks => match (self.state_folder.canonicalize(), root.canonicalize()) {
                (Ok(state), Ok(root)) => state.starts_with(root),
                _ => true,
            },
        };
        if self.home.as_ref().is_some_and(|home| home.starts_with(root)) || !is_inside() {
            return Ok(());
        }
        Err(Error::Exposed { path: self.state_folder.clone(), why: FolderExposure::InsideProject })
    }

    /// Trusts a root. Returns false if the root was already trusted.
    pub fn grant_trust(
        &self,
        project: &ProjectId,
        root: &Path,
        now: Timestamp,
        wait: Duration,
    ) -> Result<bool> {
        let path = canonical_path(root)?;
        self.update_record(project, wait, |TrustRecord { roots, .. }| {
            if roots.iter().any(|known| known.path == path) {
                return false;
            }
            roots.push(TrustedRoot { path: path.clone(), trusted_at: time::to_rfc3339(now) });
            roots.sort_by(|a, b| a.path.cmp(&b.path));
            true
        })
    }

    /// Withdraws trust from a root. Returns false if the root was not trusted.
    pub fn revoke_trust(&self, project: &ProjectId, root: &Path, wait: Duration) -> Result<bool> {
        let path = canonical_path(root)?;
        self.update_record(project, wait, |TrustRecord { roots, .. }| {
            let before = roots.len();
            roots.retain(|known| known.path != path);
            roots.len() != before
        })
    }

    /// Lists all trusted roots, each with its project.
    pub fn list_trusted_roots(&self) -> Result<Vec<(ProjectId, TrustedRoot)>> {
        let dir = match Dir::open(&self.state_folder.join("trust")) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            dir => dir?,
        };
        let mut all = Vec::new();
        for entry in dir.entries()? {
            let Some(project) = entry.name.strip_suffix(".json").and_then(ProjectId::new) else { continue };
            all.extend(self.read_record(&project)?.0.roots.into_iter().map(|root| (project.clone(), root)));
        }
        all.sort_by(|a, b| a.1.path.cmp(&b.1.path));
        Ok(all)
    }

    fn read_record(&self, project: &ProjectId) -> Result<(TrustRecord, LinkInPath)> {
        let none = TrustRecord {
            schema_version: TRUST_RECORD_SCHEMA_VERSION,
            roots: Vec::new(),
            former_paths: Vec::new(),
        };
        let path = self.path_of_trust_record(project);
        let (bytes, way) = match read_file_noticing_links(&path, MAX_TRUST_RECORD_BYTES) {
            Err(Error::Absent { .. }) => return Ok((none, LinkInPath::Direct)),
            read => {
                let (bytes, way, file) = read?;
                self.record_file.replace(Some(file));
                (bytes, way)
            }
        };
        let record: TrustRecord = serde_json::from_slice(&bytes).map_err(|e| Error::Damaged {
            path: path.clone(),
            line: Some(e.line().max(1)),
            why: e.to_string(),
        })?;
        if record.schema_version > TRUST_RECORD_SCHEMA_VERSION {
            let why = format!(
                "schema_version is {}; this version of thru supports up to {TRUST_RECORD_SCHEMA_VERSION}",
                record.schema_version
            );
            return Err(Error::Foreign { path, why });
        }
        Ok((record, way))
    }

    fn update_record(
        &self,
        project: &ProjectId,
        wait: Duration,
        change: impl FnOnce(&mut TrustRecord) -> bool,
    ) -> Result<bool> {
        let dir = self.create_trust_folder()?;
        let _lock = dir.lock_file(&format!("{}.lock", project.as_str()), wait)?;
        let mut record = self.read_record(project)?.0;
        if !change(&mut record) {
            return Ok(false);
        }
        let text = serde_json::to_string_pretty(&record).map_err(|e| Error::Io {
            path: self.path_of_trust_record(project),
            doing: "write",
            why: e.to_string(),
        })?;
        dir.write(&format!("{}.json", project.as_str()), format!("{text}\n").as_bytes(), Durability::Synced)?;
        Ok(true)
    }

    /// Appends a line to this machine's receipts, for an event without a root. Fails if other users can write to the
    /// state folder.
    pub fn leave_receipt(&self, line: &[u8], limit: u64) -> Result<()> {
        self.create_trust_folder()?;
        create_private_folder(&self.state_folder)?.append_line(
            layout::STATE_FOLDER_RECEIPTS_FILE,
            line,
            limit,
        )
    }

    /// Returns the receipts in the last `most` bytes of this machine's receipts.
    pub fn last_receipts_in_state_folder(&self, most: u64) -> Vec<Receipt> {
        let tail = Dir::open(&self.state_folder)
            .and_then(|dir| dir.read_recent_lines(layout::STATE_FOLDER_RECEIPTS_FILE, most));
        let tail = tail.unwrap_or_default();
        tail.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    fn create_trust_folder(&self) -> Result<Dir> {
        let dir = create_private_folder(&self.state_folder.join("trust"))?;
        // Check this now, because a record in a folder that others can write to would not be trusted.
        self.require_private()?;
        Ok(dir)
    }
}

/// Creates a folder that only its owner can read.
fn create_private_folder(path: &Path) -> Result<Dir> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|e| crate::read::io_error(&e, path, "create a folder"))?;
    Dir::open(path)
}

fn canonical_path(root: &Path) -> Result<String> {
    let path = root.canonicalize().map_err(|e| crate::read::io_error(&e, root, "resolve"))?;
    let Some(text) = path.to_str() else {
        return Err(Error::Refused { path, why: "its path is not Unicode".to_owned() });
    };
    Ok(text.to_owned())
}

/// Returns whether a trusted path no longer exists. A path that cannot be examined counts as existing, because the
/// project may still be there.
fn has_vanished(root: &TrustedRoot) -> bool {
    matches!(metadata_without_following(Path::new(&root.path)), Ok(None))
}
