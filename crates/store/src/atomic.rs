//! Whole files: temporary file in the same folder, sync, rename, sync of the folder. Never through a link.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{self, Access, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::read::io_error;
use crate::{Dir, Error, Result};

/// What a caller needs to be true when the call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// On the disk: a record that a person would miss.
    Synced,
    /// Whole or not there after a crash of the program; a power cut may take it back.
    Relaxed,
    /// Whole or not there, at any moment: it can be made again. Replacing a file makes some file systems write the new one
    /// out at once; removing the old one first does not, and a hook is that much shorter.
    Cache,
}

impl Dir {
    /// Replaces or creates a file below this folder, with the folder it is in.
    pub fn put(&self, rel: &str, bytes: &[u8], durability: Durability) -> Result<()> {
        match rel.rsplit_once('/') {
            Some((folder, name)) => self.make(folder)?.write(name, bytes, durability),
            None => self.write(rel, bytes, durability),
        }
    }

    /// Replaces or creates the file `name` of this folder, all at once.
    pub fn write(&self, name: &str, bytes: &[u8], durability: Durability) -> Result<()> {
        let path = self.path().join(name);
        let mode = match fs::statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                let why = "a link or a folder stands in its place".to_owned();
                return Err(Error::Refused { path, why });
            }
            Ok(stat) => Mode::from_raw_mode(stat.st_mode & 0o777),
            // State holds what people said; records are made to be read.
            Err(Errno::NOENT) if durability != Durability::Synced => Mode::from_raw_mode(0o600),
            Err(Errno::NOENT) => Mode::from_raw_mode(0o644),
            Err(e) => return Err(Error::from_errno(e, &path, "look at")),
        };
        let temporary = self.write_temporary(name, bytes, mode, durability)?;
        if durability == Durability::Cache {
            let _ = fs::unlinkat(self, name, AtFlags::empty());
        }
        if let Err(e) = fs::renameat(self, &temporary, self, name) {
            let _ = fs::unlinkat(self, &temporary, AtFlags::empty());
            return Err(Error::from_errno(e, &path, "replace"));
        }
        self.settle(durability)
    }

    /// Creates the file `name` for its owner alone, unless it is there.
    pub fn create_private(&self, name: &str, bytes: &[u8]) -> Result<bool> {
        self.create_as(name, bytes, Mode::from_raw_mode(0o600))
    }

    /// Creates the file `name` unless it is there. False when somebody else was first.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<bool> {
        self.create_as(name, bytes, Mode::from_raw_mode(0o644))
    }

    /// Writes a file to this folder, for good, and removes it again: whether records can be written is seen by writing.
    pub fn try_write(&self) -> Result<()> {
        let mode = Mode::from_raw_mode(0o600);
        let temporary = self.write_temporary("write-test", &[b' '; 8 * 1024], mode, Durability::Synced)?;
        let removed = fs::unlinkat(self, &temporary, AtFlags::empty());
        removed.map_err(|e| Error::from_errno(e, &self.path().join(temporary), "remove"))
    }

    /// Whether this user may make files in a folder below this one. A folder that is not there is made when it is needed.
    pub fn may_write(&self, rel: &str) -> Result<()> {
        match fs::accessat(self, rel, Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(Error::from_errno(e, &self.path().join(rel), "write")),
        }
    }

    fn create_as(&self, name: &str, bytes: &[u8], mode: Mode) -> Result<bool> {
        let temporary = self.write_temporary(name, bytes, mode, Durability::Synced)?;
        let linked = fs::linkat(self, &temporary, self, name, AtFlags::empty());
        let _ = fs::unlinkat(self, &temporary, AtFlags::empty());
        match linked {
            Ok(()) => self.settle(Durability::Synced).map(|()| true),
            Err(Errno::EXIST) => Ok(false),
            // No hard links here (FAT, some network disks): exclusive, though not all at once.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {
                self.create_plainly(name, bytes)
            }
            Err(e) => Err(Error::from_errno(e, &self.path().join(name), "create")),
        }
    }

    fn create_plainly(&self, name: &str, bytes: &[u8]) -> Result<bool> {
        let path = self.path().join(name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        match fs::openat(self, name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o644)) {
            Ok(fd) => {
                let mut file = File::from(fd);
                let written = file.write_all(bytes).and_then(|()| file.sync_all());
                written.map_err(|e| io_error(&e, &path, "create"))?;
                self.settle(Durability::Synced).map(|()| true)
            }
            Err(Errno::EXIST) => Ok(false),
            Err(e) => Err(Error::from_errno(e, &path, "create")),
        }
    }

    fn write_temporary(
        &self,
        name: &str,
        bytes: &[u8],
        mode: Mode,
        durability: Durability,
    ) -> Result<String> {
        let (temporary, mut file) = self.open_temporary(name, mode)?;
        // A file that is replaced keeps its mode, whatever the umask says.
        let mut written = fs::fchmod(&file, mode).map_err(std::io::Error::from);
        written = written.and_then(|()| file.write_all(bytes));
        if written.is_ok() && durability == Durability::Synced {
            written = file.sync_all();
        }
        if let Err(e) = written {
            let _ = fs::unlinkat(self, &temporary, AtFlags::empty());
            return Err(io_error(&e, &self.path().join(name), "write"));
        }
        Ok(temporary)
    }

    fn open_temporary(&self, name: &str, mode: Mode) -> Result<(String, File)> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let temporary = format!(".{name}.{}-{count}{TEMPORARY_SUFFIX}", std::process::id());
            match fs::openat(self, &temporary, flags, mode) {
                Ok(fd) => return Ok((temporary, File::from(fd))),
                // Left behind by a killed process that had our number: take the next.
                Err(Errno::EXIST) if count < 1_000 => {}
                Err(e) => return Err(Error::from_errno(e, &self.path().join(name), "write")),
            }
        }
    }

    fn settle(&self, durability: Durability) -> Result<()> {
        if durability == Durability::Synced { self.sync() } else { Ok(()) }
    }
}

/// How the temporary file of an interrupted write is known.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

#[cfg(test)]
#[path = "atomic_tests.rs"]
mod tests;
