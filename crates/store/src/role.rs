//! The role of each session and the state of each role, on disk.

use std::time::Duration;

use jiff::Timestamp;
use model::id::Id;
use model::marker::RootMarkerProblem;
use model::role::lifecycle::{self, Lifecycle, LifecycleStepRefusal};

use crate::{Durability, Error, FolderEntryKind, Result, SessionState, Store, layout};

/// The size limit of a lifecycle. Even a lifecycle with a full history is smaller.
const MAX_LIFECYCLE_BYTES: usize = 1024 * 1024;

/// What to do if a role has no lifecycle yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingLifecycle {
    Leave,
    Create(Timestamp),
    /// Create a lifecycle. If there is a damaged one, rename it first.
    Replace(Timestamp),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifecycleChange {
    /// There is no lifecycle, and the caller did not ask for one to be created.
    None,
    /// The new state. `created` is true if there was no lifecycle before.
    Changed {
        lifecycle: Lifecycle,
        created: bool,
    },
    Refused(LifecycleStepRefusal),
    /// Another role uses the same state file.
    FileNameClash {
        other_role: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleBinding {
    /// The session's role. `None` if the file does not contain a valid role name. thru never writes such a file.
    pub role: Option<Id>,
}

impl SessionState for RoleBinding {
    const STATE_FOLDER: &'static str = layout::ROLES_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 256;
    const WRITE_DURABILITY: Durability = Durability::Synced;

    fn parse(bytes: &[u8]) -> std::result::Result<RoleBinding, String> {
        let name = std::str::from_utf8(bytes).ok();
        Ok(RoleBinding { role: name.and_then(|name| Id::new(name.trim_end()).ok()) })
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.role.as_ref().map(|role| format!("{role}\n").into_bytes()).unwrap_or_default()
    }
}

impl Store {
    pub fn role_of_session(&self, session: &Id) -> Result<Option<Id>> {
        Ok(self.session_state(session).read_state::<RoleBinding>()?.and_then(|binding| binding.role))
    }

    /// Lists all sessions that have a role, each with its role.
    pub fn role_bindings(&self) -> Result<Vec<(Id, Id)>> {
        let mut found = Vec::new();
        for session in self.sessions_with_state::<RoleBinding>()? {
            let binding = self.session_state(&session).read_state::<RoleBinding>()?;
            found.extend(binding.and_then(|binding| binding.role).map(|role| (session, role)));
        }
        Ok(found)
    }

    pub fn read_lifecycle(&self, role: &Id) -> Result<Option<Lifecycle>> {
        self.read_lifecycle_file(&lifecycle::state_file_stem(role))
    }

    /// Lists all lifecycles in this root by the names of their state files. If a lifecycle is damaged, the list
    /// contains the error.
    pub fn list_lifecycles(&self) -> Result<Vec<(Id, Result<Lifecycle>)>> {
        let machines = self.ids_in_file_names(layout::LIFECYCLES_FOLDER, ".json")?.into_iter();
        let read =
            |machine: Id| Some((machine.clone(), self.read_lifecycle_file(machine.as_str()).transpose()?));
        Ok(machines.filter_map(read).collect())
    }

    /// Reads, changes and writes a role's state while holding its lock. First, `change` is tried without the lock. If
    /// it changes nothing, the lock is not taken and nothing is written.
    pub fn change_lifecycle(
        &self,
        role: &Id,
        missing: MissingLifecycle,
        wait: Duration,
        change: impl Fn(&mut Lifecycle) -> std::result::Result<usize, LifecycleStepRefusal>,
    ) -> Result<LifecycleChange> {
        let machine = lifecycle::state_file_stem(role);
        let attempt = || -> Result<(LifecycleChange, bool)> {
            let known = match (self.read_lifecycle_file(&machine), missing) {
                (Err(Error::Damaged { .. }), MissingLifecycle::Replace(_)) => None,
                (known, _) => known?,
            };
            let (mut lifecycle, created) = match (known, missing) {
                (Some(lifecycle), _) if lifecycle.role != role.as_str() => {
                    return Ok((LifecycleChange::FileNameClash { other_role: lifecycle.role }, false));
                }
                (Some(lifecycle), _) => (lifecycle, false),
                (None, MissingLifecycle::Create(now) | MissingLifecycle::Replace(now)) => {
                    (Lifecycle::new(role, now), true)
                }
                (None, MissingLifecycle::Leave) => return Ok((LifecycleChange::None, false)),
            };
            match change(&mut lifecycle) {
                Ok(steps) => Ok((LifecycleChange::Changed { lifecycle, created }, created || steps > 0)),
                Err(refused) => Ok((LifecycleChange::Refused(refused), false)),
            }
        };
        let (seen, differs) = attempt()?;
        if !differs {
            return Ok(seen);
        }
        let _lock = self.lock_by_path(&layout::lifecycle_lock_path(&machine), wait)?;
        let (changed, differs) = attempt()?;
        if let (LifecycleChange::Changed { lifecycle, .. }, true) = (&changed, differs) {
            let folder = self.dir().create_subfolder(layout::LIFECYCLES_FOLDER)?;
            let name = format!("{machine}.json");
            if let (Err(Error::Damaged { .. }), MissingLifecycle::Replace(now)) =
                (self.read_lifecycle_file(&machine), missing)
            {
                folder.rename_damaged_aside(&name, now)?;
            }
            folder.write(&name, &lifecycle.to_bytes(), Durability::Synced)?;
        }
        Ok(changed)
    }

    fn read_lifecycle_file(&self, machine: &str) -> Result<Option<Lifecycle>> {
        let rel = format!("{}/{machine}.json", layout::LIFECYCLES_FOLDER);
        let bytes = match self.dir().read_file(&rel, MAX_LIFECYCLE_BYTES) {
            Err(Error::Absent { .. }) => return Ok(None),
            read => read?,
        };
        let path = self.dir().path().join(rel);
        Lifecycle::parse(&bytes).map(Some).map_err(|problem| match problem {
            RootMarkerProblem::Damaged { line, why } => Error::Damaged { path, line: Some(line), why },
            RootMarkerProblem::Foreign { why } => Error::Foreign { path, why },
        })
    }

    /// Extracts the ids from the names of the files in a folder.
    pub(crate) fn ids_in_file_names(&self, folder: &str, suffix: &str) -> Result<Vec<Id>> {
        let dir = match self.dir().open_subfolder(folder) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            dir => dir?,
        };
        let files = dir.entries()?.into_iter().filter(|entry| entry.kind == FolderEntryKind::File);
        Ok(files.filter_map(|entry| Id::new(entry.name.strip_suffix(suffix)?).ok()).collect())
    }
}

#[cfg(test)]
#[path = "role_tests.rs"]
mod tests;
