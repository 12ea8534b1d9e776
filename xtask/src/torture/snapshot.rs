//! A copy of all files below a folder, in memory. It is used to restore a sandbox, and to compare its states before and
//! after a command.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SnapshotEntry {
    Folder,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Symlink(PathBuf),
    /// A FIFO, a socket, a device or a huge file. Only its existence is compared.
    Other,
}

/// Files larger than this are not kept in memory.
const MAX_SNAPSHOT_FILE_BYTES: u64 = 256 * 1024 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The entries, by their path relative to the folder.
    pub entries: BTreeMap<PathBuf, SnapshotEntry>,
}

impl Snapshot {
    pub fn take(folder: &Path) -> Result<Self> {
        let mut snapshot = Self::default();
        snapshot.collect_below(folder, Path::new(""))?;
        Ok(snapshot)
    }

    fn collect_below(&mut self, folder: &Path, below: &Path) -> Result<()> {
        let here = folder.join(below);
        for entry in fs::read_dir(&here).with_context(|| format!("listing {}", here.display()))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            let kind = entry.file_type()?;
            let seen = if kind.is_dir() {
                SnapshotEntry::Folder
            } else if kind.is_symlink() {
                SnapshotEntry::Symlink(fs::read_link(entry.path())?)
            } else if kind.is_file() && entry.metadata()?.len() <= MAX_SNAPSHOT_FILE_BYTES {
                SnapshotEntry::File {
                    bytes: fs::read(entry.path())?,
                    mode: entry.metadata()?.permissions().mode(),
                }
            } else {
                SnapshotEntry::Other
            };
            let is_folder = seen == SnapshotEntry::Folder;
            self.entries.insert(path.clone(), seen);
            if is_folder {
                self.collect_below(folder, &path)?;
            }
        }
        Ok(())
    }

    /// Restores the folder. FIFOs and other special files are not created again.
    pub fn restore(&self, folder: &Path) -> Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("clearing {}", folder.display()))?;
        }
        fs::create_dir_all(folder)?;
        for (path, entry) in &self.entries {
            create_entry(entry, &folder.join(path))?;
        }
        Ok(())
    }

    /// Returns the paths that are new, missing or different in `after`.
    pub fn changed_paths(&self, after: &Self) -> Vec<PathBuf> {
        let gone = self.entries.keys().filter(|path| !after.entries.contains_key(*path));
        let other = after.entries.iter().filter(|(path, entry)| self.entries.get(*path) != Some(entry));
        let mut paths: Vec<PathBuf> = gone.chain(other.map(|(path, _)| path)).cloned().collect();
        paths.sort();
        paths
    }

    /// Restores only the paths that have changed, so that owners, FIFOs and huge files are not affected.
    pub fn restore_changed_paths(&self, after: &Self, folder: &Path) -> Result<()> {
        let changed = self.changed_paths(after);
        // Remove the content of a folder before the folder itself.
        for path in changed.iter().rev().filter(|path| after.entries.contains_key(*path)) {
            let here = folder.join(path);
            match (after.entries.get(path), self.entries.get(path)) {
                (Some(SnapshotEntry::Folder), Some(SnapshotEntry::Folder)) => {}
                (Some(SnapshotEntry::Folder), _) => fs::remove_dir_all(here)?,
                _ => fs::remove_file(here)?,
            }
        }
        for path in changed.iter().filter(|path| self.entries.contains_key(*path)) {
            create_entry(&self.entries[path], &folder.join(path))?;
        }
        Ok(())
    }

    /// Returns a hash that is equal for equal files within one run of the torture tests. Times in paths and files are
    /// ignored.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (path, entry) in &self.entries {
            without_times(path.as_os_str().as_bytes()).hash(&mut hasher);
            match entry {
                SnapshotEntry::File { bytes, mode } => (without_times(bytes), mode).hash(&mut hasher),
                other => other.hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    pub fn file_bytes(&self, path: &Path) -> Option<&[u8]> {
        match self.entries.get(path)? {
            SnapshotEntry::File { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8])> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            SnapshotEntry::File { bytes, .. } => Some((path.as_path(), bytes.as_slice())),
            _ => None,
        })
    }
}

/// The length of the shortest time format: `20261117T093000Z`.
const SHORTEST_TIME_TEXT_BYTES: usize = 16;

/// Removes everything that looks like a point in time.
fn without_times(bytes: &[u8]) -> Vec<u8> {
    let is_of_time = |byte: &u8| byte.is_ascii_digit() || b"-:.TZ".contains(byte);
    bytes
        .chunk_by(|a, b| is_of_time(a) == is_of_time(b))
        .filter(|run| run.len() < SHORTEST_TIME_TEXT_BYTES || !is_of_time(&run[0]))
        .flatten()
        .copied()
        .collect()
}

fn create_entry(entry: &SnapshotEntry, path: &Path) -> Result<()> {
    match entry {
        SnapshotEntry::Folder => fs::create_dir(path)?,
        SnapshotEntry::Symlink(to) => std::os::unix::fs::symlink(to, path)?,
        SnapshotEntry::Other => {}
        SnapshotEntry::File { bytes, mode } => {
            fs::write(path, bytes)?;
            fs::set_permissions(path, fs::Permissions::from_mode(*mode))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_can_be_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("a");
        fs::create_dir_all(here.join("b")).unwrap();
        fs::write(here.join("b/c"), "text").unwrap();
        std::os::unix::fs::symlink("b/c", here.join("link")).unwrap();
        let before = Snapshot::take(&here).unwrap();
        fs::write(here.join("b/c"), "changed").unwrap();
        fs::write(here.join("new"), "").unwrap();
        let changed = Snapshot::take(&here).unwrap();
        assert_ne!(changed, before);
        assert_ne!(changed.fingerprint(), before.fingerprint());
        assert_eq!(before.changed_paths(&changed), [Path::new("b/c"), Path::new("new")]);
        before.restore_changed_paths(&changed, &here).unwrap();
        assert_eq!(Snapshot::take(&here).unwrap(), before);
        fs::remove_dir_all(here.join("b")).unwrap();
        before.restore_changed_paths(&Snapshot::take(&here).unwrap(), &here).unwrap();
        assert_eq!(Snapshot::take(&here).unwrap(), before);
        fs::write(here.join("new"), "").unwrap();
        before.restore(&here).unwrap();
        assert_eq!(Snapshot::take(&here).unwrap(), before);
        assert_eq!(before.file_bytes(Path::new("b/c")), Some(b"text".as_slice()));
    }

    #[test]
    fn states_that_differ_only_in_a_time_are_equal() {
        let state = |text: &str| {
            let entry = SnapshotEntry::File { bytes: text.as_bytes().to_vec(), mode: 0o644 };
            Snapshot { entries: BTreeMap::from([(PathBuf::from("a"), entry)]) }.fingerprint()
        };
        let first = state(r#"{"at":"2026-11-17T15:50:22Z","n":12}"#);
        assert_eq!(first, state(r#"{"at":"2026-11-17T15:50:23.004Z","n":12}"#));
        assert_ne!(first, state(r#"{"at":"2026-11-17T15:50:22Z","n":13}"#));
    }
}
