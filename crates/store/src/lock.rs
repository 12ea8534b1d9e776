//! An exclusive lock on a record, held while the record is read, changed and written. Waiting for a lock has a time
//! limit.

use std::fs::{File, TryLockError};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{self, AtFlags, Mode, OFlags};

use crate::read::io_error;
use crate::{Dir, Error, Result};

/// A lock that is held until it is dropped. Lock files are never removed, because otherwise two processes could hold
/// the same lock.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Returns the locked file and its path. Most lock files are empty.
    pub(crate) fn locked_file(&self) -> (&File, &Path) {
        (&self.file, &self.path)
    }

    /// Writes the name of the lock's holder to the file, where other processes can read it.
    pub(crate) fn write_holder(&self, who: &str) -> Result<()> {
        let signed = self.file.set_len(0).and_then(|()| self.file.write_at(who.as_bytes(), 0));
        signed.map(drop).map_err(|e| io_error(&e, &self.path, "write"))
    }
}

impl Dir {
    /// Locks the file `rel`, and waits at most `wait` for it.
    pub fn lock_file(&self, rel: &str, wait: Duration) -> Result<Lock> {
        let path = self.path().join(rel);
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            let flags = OFlags::CREATE | OFlags::RDWR;
            let file = File::from(self.open_beneath(rel, flags, Mode::from_raw_mode(0o600), "lock")?);
            match file.try_lock() {
                Ok(()) if self.is_same_file(rel, &file) => return Ok(Lock { file, path }),
                Ok(()) => continue, // the locked file was removed: lock the file that replaced it
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(e)) => return Err(io_error(&e, &path, "lock")),
            }
            let waited = start.elapsed();
            if waited >= wait {
                return Err(Error::Busy { path, waited_ms: waited.as_millis() });
            }
            std::thread::sleep(pause.min(wait - waited));
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }

    fn is_same_file(&self, rel: &str, file: &File) -> bool {
        match (fs::fstat(file), fs::statat(self, rel, AtFlags::SYMLINK_NOFOLLOW)) {
            (Ok(held), Ok(named)) => (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino),
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
