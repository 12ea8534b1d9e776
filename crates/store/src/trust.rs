//! Which roots are trusted on this machine. Kept outside of every tree, so that no clone can bring it along.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use model::marker::ProjectId;
use model::time;
use serde::{Deserialize, Serialize};

use crate::read::read_own;
use crate::{Dir, Durability, Error, Result};

const SCHEMA_VERSION: u64 = 1;
const LARGEST: usize = 1024 * 1024;

/// The trust records of one user: `trust/<project_id>.json` in the state folder.
#[derive(Clone, Debug)]
pub struct Trust {
    state: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedRoot {
    pub path: String,
    pub trusted_at: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    schema_version: u64,
    roots: Vec<TrustedRoot>,
}

impl Trust {
    /// `state` is `$XDG_STATE_HOME/throughline`.
    pub fn new(state: PathBuf) -> Trust {
        Trust { state }
    }

    pub fn file(&self, project: &ProjectId) -> PathBuf {
        self.state.join("trust").join(format!("{}.json", project.as_str()))
    }

    /// Path and project must both be right: another project at this path, or this one cloned elsewhere, is not it.
    pub fn holds(&self, project: &ProjectId, root: &Path) -> Result<bool> {
        let record = self.read(project)?;
        let known = |root: &Path| record.roots.iter().any(|known| Path::new(&known.path) == root);
        // The plain comparison first: hooks come here, and resolving links takes a call per folder.
        Ok(known(root) || root.canonicalize().is_ok_and(|root| known(&root)))
    }

    /// False when it was trusted already.
    pub fn grant(&self, project: &ProjectId, root: &Path, now: Timestamp, wait: Duration) -> Result<bool> {
        let path = canonical(root)?;
        self.update(project, wait, |roots| {
            if roots.iter().any(|known| known.path == path) {
                return false;
            }
            roots.push(TrustedRoot { path: path.clone(), trusted_at: time::rfc3339(now) });
            roots.sort_by(|a, b| a.path.cmp(&b.path));
            true
        })
    }

    /// False when it was not trusted.
    pub fn revoke(&self, project: &ProjectId, root: &Path, wait: Duration) -> Result<bool> {
        let path = canonical(root)?;
        self.update(project, wait, |roots| {
            let before = roots.len();
            roots.retain(|known| known.path != path);
            roots.len() != before
        })
    }

    /// Every trusted root, with its project.
    pub fn list(&self) -> Result<Vec<(ProjectId, TrustedRoot)>> {
        let dir = match Dir::open(&self.state.join("trust")) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            dir => dir?,
        };
        let mut all = Vec::new();
        for entry in dir.entries()? {
            let Some(project) = entry.name.strip_suffix(".json").and_then(ProjectId::new) else { continue };
            all.extend(self.read(&project)?.roots.into_iter().map(|root| (project.clone(), root)));
        }
        all.sort_by(|a, b| a.1.path.cmp(&b.1.path));
        Ok(all)
    }

    fn read(&self, project: &ProjectId) -> Result<Record> {
        let none = Record { schema_version: SCHEMA_VERSION, roots: Vec::new() };
        let path = self.file(project);
        let bytes = match read_own(&path, LARGEST) {
            Err(Error::Absent { .. }) => return Ok(none),
            bytes => bytes?,
        };
        let record: Record = serde_json::from_slice(&bytes).map_err(|e| Error::Damaged {
            path: path.clone(),
            line: Some(e.line().max(1)),
            why: e.to_string(),
        })?;
        if record.schema_version > SCHEMA_VERSION {
            let why = format!(
                "schema_version is {}, this thru knows up to {SCHEMA_VERSION}",
                record.schema_version
            );
            return Err(Error::Foreign { path, why });
        }
        Ok(record)
    }

    fn update(
        &self,
        project: &ProjectId,
        wait: Duration,
        change: impl FnOnce(&mut Vec<TrustedRoot>) -> bool,
    ) -> Result<bool> {
        let dir = self.make_dir()?;
        let _lock = dir.lock(&format!("{}.lock", project.as_str()), wait)?;
        let mut record = self.read(project)?;
        if !change(&mut record.roots) {
            return Ok(false);
        }
        let text = serde_json::to_string_pretty(&record).map_err(|e| Error::Io {
            path: self.file(project),
            doing: "write",
            why: e.to_string(),
        })?;
        dir.write(&format!("{}.json", project.as_str()), format!("{text}\n").as_bytes(), Durability::Synced)?;
        Ok(true)
    }

    fn make_dir(&self) -> Result<Dir> {
        use std::os::unix::fs::DirBuilderExt;
        let path = self.state.join("trust");
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(|e| crate::read::io_error(&e, &path, "make a folder"))?;
        Dir::open(&path)
    }
}

fn canonical(root: &Path) -> Result<String> {
    let path = root.canonicalize().map_err(|e| crate::read::io_error(&e, root, "resolve"))?;
    let Some(text) = path.to_str() else {
        return Err(Error::Refused { path, why: "its path is not Unicode".to_owned() });
    };
    Ok(text.to_owned())
}
