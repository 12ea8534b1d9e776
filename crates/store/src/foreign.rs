//! Other programs' files, such as a harness's settings and git's exclude list. They are replaced only if they have
//! not changed since they were read, and they keep their owner and mode.

use rustix::fs::{self, AtFlags, FileType, Mode};
use rustix::io::Errno;

use crate::atomic::NewFileAccess;
use crate::{Dir, Durability, Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaceOutcome {
    Done,
    /// The file's content has changed since it was read, so nothing was written.
    ChangedMeanwhile,
}

impl Dir {
    /// Replaces `name` if its content is still `expected`. If `expected` is `None`, the file must not exist. The
    /// content is compared right before the rename, when the new content is already in a temporary file.
    pub fn replace_if_unchanged(
        &self,
        name: &str,
        expected: Option<&[u8]>,
        bytes: &[u8],
    ) -> Result<ReplaceOutcome> {
        let path = self.path().join(name);
        let Some(expected) = expected else {
            let created = self.create_with_access(name, bytes, NewFileAccess::ByUmask)?;
            return Ok(if created { ReplaceOutcome::Done } else { ReplaceOutcome::ChangedMeanwhile });
        };
        let access = match fs::statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
                let why = "there is a link or a folder in its place".to_owned();
                return Err(Error::Refused { path, why });
            }
            Ok(stat) => NewFileAccess::WithOwner {
                mode: Mode::from_raw_mode(stat.st_mode & 0o7777),
                owner: stat.st_uid,
                group: stat.st_gid,
            },
            Err(Errno::NOENT) => return Ok(ReplaceOutcome::ChangedMeanwhile),
            Err(e) => return Err(Error::from_errno(e, &path, "look at")),
        };
        let temporary = self.write_temporary(name, bytes, access, Durability::Synced)?;
        let done = self.has_content(name, expected).and_then(|same| {
            if !same {
                return Ok(ReplaceOutcome::ChangedMeanwhile);
            }
            fs::renameat(self, &temporary, self, name).map_err(|e| Error::from_errno(e, &path, "replace"))?;
            self.sync_folder().map(|()| ReplaceOutcome::Done)
        });
        if !matches!(done, Ok(ReplaceOutcome::Done)) {
            let _ = fs::unlinkat(self, &temporary, AtFlags::empty());
        }
        done
    }

    pub fn remove_if_unchanged(&self, name: &str, expected: &[u8]) -> Result<ReplaceOutcome> {
        if !self.has_content(name, expected)? {
            return Ok(ReplaceOutcome::ChangedMeanwhile);
        }
        self.remove_file(name).map(|()| ReplaceOutcome::Done)
    }

    fn has_content(&self, name: &str, expected: &[u8]) -> Result<bool> {
        // Read one byte more than expected, to see whether the file is longer.
        match self.read_file(name, expected.len() + 1) {
            Ok(bytes) => Ok(bytes == expected),
            Err(Error::Absent { .. } | Error::Damaged { .. }) => Ok(false),
            Err(e) => Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs as files;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn replaces_only_what_was_read_and_keeps_its_owner_and_mode() {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open(temp.path()).unwrap();
        let path = temp.path().join("x");
        assert_eq!(dir.replace_if_unchanged("x", None, b"one").unwrap(), ReplaceOutcome::Done);
        assert_eq!(dir.replace_if_unchanged("x", None, b"two").unwrap(), ReplaceOutcome::ChangedMeanwhile);
        files::set_permissions(&path, files::Permissions::from_mode(0o664)).unwrap();
        let root = path.metadata().unwrap().uid() == 0;
        if root {
            std::os::unix::fs::chown(&path, Some(4242), Some(4343)).unwrap();
        }
        for other in ["on", "onee", "", "two"] {
            let replaced = dir.replace_if_unchanged("x", Some(other.as_bytes()), b"new").unwrap();
            assert_eq!(replaced, ReplaceOutcome::ChangedMeanwhile, "{other}");
        }
        assert_eq!(dir.replace_if_unchanged("x", Some(b"one"), b"new").unwrap(), ReplaceOutcome::Done);
        let meta = path.metadata().unwrap();
        assert_eq!((files::read(&path).unwrap(), meta.mode() & 0o7777), (b"new".to_vec(), 0o664));
        assert!(!root || (meta.uid(), meta.gid()) == (4242, 4343));
        assert_eq!(dir.remove_if_unchanged("x", b"old").unwrap(), ReplaceOutcome::ChangedMeanwhile);
        assert_eq!(dir.remove_if_unchanged("x", b"new").unwrap(), ReplaceOutcome::Done);
        assert_eq!(
            dir.replace_if_unchanged("x", Some(b"new"), b"y").unwrap(),
            ReplaceOutcome::ChangedMeanwhile
        );
        assert_eq!(dir.entries().unwrap().len(), 0, "no temporary file is left");
    }
}
