//! Replaces whole files: writes a temporary file in the same folder, syncs it, renames it, and syncs the folder.
//! Links are never followed.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{self, Access, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::read::io_error;
use crate::{Dir, Error, Result};

/// What a write guarantees when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The file is on disk. This is for records whose loss a person would notice.
    Synced,
    /// After a crash of the program, the file has its old or its new content. A power cut may undo the write.
    Relaxed,
    /// The file can be rebuilt, and is always complete or absent. The old file is removed first, because some file
    /// systems flush a file to disk at once if it replaces another file. This would slow down a hook.
    Rebuildable,
}

impl Dir {
    /// Replaces or creates a file below this folder, and creates the file's parent folder if necessary.
    pub fn write_at_path(&self, rel: &str, bytes: &[u8], durability: Durability) -> Result<()> {
        match rel.rsplit_once('/') {
            Some((folder, name)) => self.create_subfolder(folder)?.write(name, bytes, durability),
            None => self.write(rel, bytes, durability),
        }
    }

    /// Replaces or creates the file `name` in this folder atomically. After a crash, a `Rebuildable` file may be
    /// absent.
    pub fn write(&self, name: &str, bytes: &[u8], durability: Durability) -> Result<()> {
        let path = self.path().join(name);
        let access = match fs::statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                let why = "there is a link or a folder in its place".to_owned();
                return Err(Error::Refused { path, why });
            }
            Ok(stat) => NewFileAccess::WithMode(Mode::from_raw_mode(stat.st_mode & 0o777)),
            Err(Errno::NOENT) => NewFileAccess::ForOwner,
            Err(e) => return Err(Error::from_errno(e, &path, "look at")),
        };
        let temporary = self.write_temporary(name, bytes, access, durability)?;
        if durability == Durability::Rebuildable {
            let _ = fs::unlinkat(self, name, AtFlags::empty());
        }
        if let Err(e) = fs::renameat(self, &temporary, self, name) {
            let _ = fs::unlinkat(self, &temporary, AtFlags::empty());
            return Err(Error::from_errno(e, &path, "replace"));
        }
        self.sync_if_durable(durability)
    }

    /// Creates the file `name`, which only its owner can read. Returns false if the name is taken.
    pub fn create_private_file(&self, name: &str, bytes: &[u8]) -> Result<bool> {
        self.create_with_access(name, bytes, NewFileAccess::ForOwner)
    }

    /// Writes, syncs and removes a file in this folder. Only an actual write reliably shows whether records can be
    /// written.
    pub fn check_folder_is_writable(&self) -> Result<()> {
        let temporary = self.write_temporary(
            "write-test",
            &[b' '; 8 * 1024],
            NewFileAccess::ForOwner,
            Durability::Synced,
        )?;
        let removed = fs::unlinkat(self, &temporary, AtFlags::empty());
        removed.map_err(|e| Error::from_errno(e, &self.path().join(temporary), "remove"))
    }

    /// Checks whether the user may create files in a subfolder. A missing subfolder is not an error, because it is
    /// created when it is needed.
    pub fn check_write_permission(&self, rel: &str) -> Result<()> {
        match fs::accessat(self, rel, Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(Error::from_errno(e, &self.path().join(rel), "write")),
        }
    }

    pub(crate) fn create_with_access(&self, name: &str, bytes: &[u8], access: NewFileAccess) -> Result<bool> {
        let temporary = self.write_temporary(name, bytes, access, Durability::Synced)?;
        let linked = fs::linkat(self, &temporary, self, name, AtFlags::empty());
        let _ = fs::unlinkat(self, &temporary, AtFlags::empty());
        match linked {
            Ok(()) => self.sync_if_durable(Durability::Synced).map(|()| true),
            Err(Errno::EXIST) => Ok(false),
            // On file systems without hard links (FAT, some network disks), create the file exclusively, although
            // that is not atomic.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
                self.create_without_hard_link(name, bytes, access)
            }
            Err(e) => Err(Error::from_errno(e, &self.path().join(name), "create")),
        }
    }

    fn create_without_hard_link(&self, name: &str, bytes: &[u8], access: NewFileAccess) -> Result<bool> {
        let path = self.path().join(name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        match fs::openat(self, name, flags | OFlags::CLOEXEC, access.mode()) {
            Ok(fd) => {
                let mut file = File::from(fd);
                let written = file.write_all(bytes).and_then(|()| file.sync_all());
                written.map_err(|e| io_error(&e, &path, "create"))?;
                self.sync_if_durable(Durability::Synced).map(|()| true)
            }
            Err(Errno::EXIST) => Ok(false),
            Err(e) => Err(Error::from_errno(e, &path, "create")),
        }
    }

    pub(crate) fn write_temporary(
        &self,
        name: &str,
        bytes: &[u8],
        access: NewFileAccess,
        durability: Durability,
    ) -> Result<String> {
        let (temporary, mut file) = self.open_temporary(name, access.mode())?;
        let mut written = access.apply_to(&file).map_err(std::io::Error::from);
        written = written.and_then(|()| file.write_all(bytes));
        if written.is_ok() && durability == Durability::Synced {
            written = file.sync_all();
        }
        if let Err(e) = written {
            let _ = fs::unlinkat(self, &temporary, AtFlags::empty());
            return Err(io_error(&e, &self.path().join(name), "write"));
        }
        // Hooks write caches to folders with one entry per session, and listing such a folder is slow. For caches,
        // therefore, only one process in sixteen removes leftovers.
        if durability == Durability::Synced || std::process::id().is_multiple_of(16) {
            self.remove_leftovers(&file);
        }
        Ok(temporary)
    }

    /// Removes temporary files that killed writers left behind. A file is a leftover if it is an hour older than
    /// `newest`, which was just written. Both times come from the file system, so a wrong clock cannot cause the
    /// removal of a file that is still being written.
    fn remove_leftovers(&self, newest: &File) {
        let (Ok(now), Ok(names)) = (fs::fstat(newest), self.list_names_up_to(MAX_NAMES_CHECKED)) else {
            return;
        };
        for name in names.iter().filter(|name| is_temporary_name(name)) {
            let is_left = fs::statat(self, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| {
                FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                    && now.st_mtime.saturating_sub(stat.st_mtime) > LEFTOVER_AGE_SECONDS
            });
            if is_left {
                let _ = fs::unlinkat(self, name.as_str(), AtFlags::empty());
            }
        }
    }

    fn open_temporary(&self, name: &str, mode: Mode) -> Result<(String, File)> {
        static TEMPORARY_COUNT: AtomicU32 = AtomicU32::new(0);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let count = TEMPORARY_COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = format!(".{name}.{}-{count}{TEMPORARY_SUFFIX}", std::process::id());
            match fs::openat(self, &temporary, flags, mode) {
                Ok(fd) => return Ok((temporary, File::from(fd))),
                // A killed process with the same process id left a file with this name behind, so try the next name.
                Err(Errno::EXIST) if count < 1_000 => {}
                Err(e) => return Err(Error::from_errno(e, &self.path().join(name), "write")),
            }
        }
    }

    fn sync_if_durable(&self, durability: Durability) -> Result<()> {
        if durability == Durability::Synced { self.sync_folder() } else { Ok(()) }
    }
}

pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// How old a temporary file must be to count as a leftover.
const LEFTOVER_AGE_SECONDS: i64 = 3_600;

/// How many names in a folder are checked for leftovers.
const MAX_NAMES_CHECKED: usize = 10_000;

/// Returns whether a name has the form `.<name>.<process>-<count>.tmp`, which no other program uses.
fn is_temporary_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(TEMPORARY_SUFFIX))
        .and_then(|name| name.rsplit_once('.'))
        .and_then(|(_, numbers)| numbers.split_once('-'));
    numbers.is_some_and(|(process, count)| is_number(process) && is_number(count))
}

/// Who may read and write a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewFileAccess {
    /// Only the owner, because records contain what people wrote to their agents. A stricter umask is respected.
    ForOwner,
    /// Every user can use the file, unless the umask forbids it. This is for other programs' files, which other users
    /// may need to read.
    ByUmask,
    /// The users who could use the replaced file can use the new one. The new file gets the mode of the replaced
    /// file, regardless of the umask.
    WithMode(Mode),
    /// The users who could use the replaced file can use the new one. The new file gets the mode and the owner of the
    /// replaced file.
    WithOwner { mode: Mode, owner: u32, group: u32 },
}

impl NewFileAccess {
    fn mode(self) -> Mode {
        match self {
            // At first, only the owner can read the file. For `WithOwner`, `apply_to` sets the owner before it sets the
            // mode.
            NewFileAccess::ForOwner | NewFileAccess::WithOwner { .. } => Mode::from_raw_mode(0o600),
            NewFileAccess::ByUmask => Mode::from_raw_mode(0o666),
            NewFileAccess::WithMode(mode) => mode,
        }
    }

    fn apply_to(self, file: &File) -> rustix::io::Result<()> {
        match self {
            NewFileAccess::ForOwner | NewFileAccess::ByUmask => Ok(()),
            NewFileAccess::WithMode(mode) => fs::fchmod(file, mode),
            NewFileAccess::WithOwner { mode, owner, group } => {
                let (owner, group) = (fs::Uid::from_raw(owner), fs::Gid::from_raw(group));
                // Only root can change a file's owner, but a member of the group can at least keep the group.
                if fs::fchown(file, Some(owner), Some(group)).is_err() {
                    let _ = fs::fchown(file, None, Some(group));
                }
                fs::fchmod(file, mode)
            }
        }
    }
}

#[cfg(test)]
#[path = "atomic_tests.rs"]
mod tests;
