//! What is known of a file without opening it.

use jiff::Timestamp;
use rustix::fs::{self, AtFlags, FileType};
use rustix::io::Errno;

use crate::{Dir, Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub bytes: u64,
    pub changed: Timestamp,
}

impl Dir {
    /// A plain file below this folder, and behind no link. None where there is nothing of that name, or something else; what
    /// could not be looked at is an error, and not taken for absent.
    pub fn look(&self, rel: &str) -> Result<Option<Look>> {
        if let Some((folder, name)) = rel.rsplit_once('/') {
            return match self.sub(folder) {
                Err(Error::Absent { .. } | Error::Refused { .. }) => Ok(None),
                folder => folder?.look(name),
            };
        }
        let stat = match fs::statat(self, rel, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => stat,
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(e) => return Err(Error::from_errno(e, &self.path().join(rel), "look at")),
        };
        let nanos = i32::try_from(stat.st_mtime_nsec).unwrap_or(0);
        let changed = Timestamp::new(stat.st_mtime, nanos).unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(Some(Look { bytes: stat.st_size.unsigned_abs(), changed }))
    }
}
