//! Consent records. They list the commands and prompts that the user has allowed on this machine. thru may run these
//! commands and give these prompts to an agent. The records are kept outside every project, next to the trust records.
//!
//! There is one small file for each loop, run and stage, so that a stop hook opens only one file.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::consent::ConsentDigest;
use model::marker::ProjectId;
use model::text::fnv_fingerprint;
use model::time;
use serde::{Deserialize, Serialize};

use crate::read::{io_error, read_outside_store};
use crate::{Dir, Durability, Error, Result};

const SCHEMA_VERSION: u64 = 1;
/// The size limit of a record. The record of a run contains a digest for each output, and a run may have several
/// hundred outputs.
const MAX_CONSENT_RECORD_BYTES: usize = 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConsentKind {
    Loop,
    /// A run. Each of its outputs has its own digest.
    StageRun,
    /// The table `[stages.<name>]` in the project's settings.
    StageDefinition,
}

impl ConsentKind {
    fn name(self) -> &'static str {
        match self {
            ConsentKind::Loop => "loop",
            ConsentKind::StageRun => "stage-run",
            ConsentKind::StageDefinition => "stage-definition",
        }
    }
}

/// The consent records of one root.
#[derive(Clone, Debug)]
pub struct Consents {
    folder: PathBuf,
    root: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct ConsentRecord {
    schema_version: u64,
    root: String,
    kind: ConsentKind,
    id: String,
    /// The digests of everything that the user has allowed under this id.
    digests: Vec<ConsentDigest>,
    given_at: String,
}

impl Consents {
    /// Returns the consent records for `root`. `state` is the folder `$XDG_STATE_HOME/throughline`.
    pub fn new(state: &Path, project: &ProjectId, root: &Path) -> Consents {
        Consents { folder: state.join("consent").join(project.as_str()), root: root.to_owned() }
    }

    /// Returns whether the user has allowed everything in `digests`. A record for another root or another item is
    /// ignored.
    pub fn is_allowed(&self, kind: ConsentKind, id: &str, digests: &[ConsentDigest]) -> Result<bool> {
        let known = self.allowed_digests(kind, id)?;
        Ok(!digests.is_empty() && digests.iter().all(|digest| known.contains(digest)))
    }

    /// Adds digests to those that were already allowed under this id.
    pub fn add_digests(
        &self,
        kind: ConsentKind,
        id: &str,
        digests: &[ConsentDigest],
        now: Timestamp,
    ) -> Result<()> {
        let mut all = self.allowed_digests(kind, id)?;
        all.extend_from_slice(digests);
        self.replace_digests(kind, id, &all, now)
    }

    /// Replaces the digests that were allowed under this id. The record is on disk when this returns.
    pub fn replace_digests(
        &self,
        kind: ConsentKind,
        id: &str,
        digests: &[ConsentDigest],
        now: Timestamp,
    ) -> Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        let root = self.root.canonicalize().map_err(|e| io_error(&e, &self.root, "resolve"))?;
        let Some(root_text) = root.to_str() else {
            return Err(Error::Refused { path: root, why: "its path is not Unicode".to_owned() });
        };
        let mut digests = digests.to_vec();
        digests.sort();
        digests.dedup();
        let record = ConsentRecord {
            schema_version: SCHEMA_VERSION,
            root: root_text.to_owned(),
            kind,
            id: id.to_owned(),
            digests,
            given_at: time::to_rfc3339(now),
        };
        let name = record_file_name(&root, kind, id);
        let text = serde_json::to_string_pretty(&record).map_err(|e| Error::Io {
            path: self.folder.join(&name),
            doing: "write",
            why: e.to_string(),
        })?;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|e| io_error(&e, &self.folder, "create a folder"))?;
        Dir::open(&self.folder)?.write(&name, format!("{text}\n").as_bytes(), Durability::Synced)
    }

    pub fn withdraw_consent(&self, kind: ConsentKind, id: &str) -> Result<()> {
        let root = self.root.canonicalize().map_err(|e| io_error(&e, &self.root, "resolve"))?;
        match Dir::open(&self.folder) {
            Err(Error::Absent { .. }) => Ok(()),
            dir => dir?.remove_file(&record_file_name(&root, kind, id)),
        }
    }

    /// Moves the consents that the user gave while the root was at one of the paths in `former`, and returns how many
    /// were moved. If an item already has a consent at the current path, that consent is kept.
    pub fn move_from_former_roots(&self, former: &[String], now: Timestamp) -> Result<usize> {
        let dir = match Dir::open(&self.folder) {
            Err(Error::Absent { .. }) => return Ok(0),
            dir => dir?,
        };
        let mut taken = 0;
        for entry in dir.entries()? {
            // Skip a record that cannot be read, because such a record does not allow anything.
            let Ok(bytes) = read_outside_store(&self.folder.join(&entry.name), MAX_CONSENT_RECORD_BYTES)
            else {
                continue;
            };
            let Ok(record) = serde_json::from_slice::<ConsentRecord>(&bytes) else { continue };
            if record.schema_version > SCHEMA_VERSION || !former.contains(&record.root) {
                continue;
            }
            if self.allowed_digests(record.kind, &record.id)?.is_empty() {
                self.replace_digests(record.kind, &record.id, &record.digests, now)?;
                taken += 1;
            }
            dir.remove_file(&entry.name)?;
        }
        Ok(taken)
    }

    fn allowed_digests(&self, kind: ConsentKind, id: &str) -> Result<Vec<ConsentDigest>> {
        // Hooks run this code, so first try the path as it was given. Resolving links takes a system call for each
        // folder.
        match self.read_record(&self.root, kind, id)? {
            Some(digests) => Ok(digests),
            None => match self.root.canonicalize() {
                Ok(root) if root != self.root => Ok(self.read_record(&root, kind, id)?.unwrap_or_default()),
                _ => Ok(Vec::new()),
            },
        }
    }

    fn read_record(&self, root: &Path, kind: ConsentKind, id: &str) -> Result<Option<Vec<ConsentDigest>>> {
        let path = self.folder.join(record_file_name(root, kind, id));
        let bytes = match read_outside_store(&path, MAX_CONSENT_RECORD_BYTES) {
            Err(Error::Absent { .. }) => return Ok(None),
            bytes => bytes?,
        };
        let record: ConsentRecord = serde_json::from_slice(&bytes).map_err(|e| Error::Damaged {
            path: path.clone(),
            line: Some(e.line().max(1)),
            why: e.to_string(),
        })?;
        if record.schema_version > SCHEMA_VERSION {
            let why = format!(
                "schema_version is {}; this version of thru supports up to {SCHEMA_VERSION}",
                record.schema_version
            );
            return Err(Error::Foreign { path, why });
        }
        // The file name is only a short digest, so also compare the fields of the record.
        let is_it = Path::new(&record.root) == root && record.kind == kind && record.id == id;
        Ok(is_it.then_some(record.digests))
    }
}

/// Returns a file name that differs between two checkouts of a project, and between a loop and a stage with the same
/// name.
fn record_file_name(root: &Path, kind: ConsentKind, id: &str) -> String {
    let parts = [root.as_os_str().as_encoded_bytes(), id.as_bytes()];
    format!("{}-{:016x}.json", kind.name(), fnv_fingerprint(parts))
}

#[cfg(test)]
#[path = "consent_tests.rs"]
mod tests;
