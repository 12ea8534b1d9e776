//! Determines from a folder's owner and mode whether other users could have written to it.

use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, CWD, Stat};

/// Why a folder is not private to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderExposure {
    /// The folder belongs to another user.
    ForeignOwner { owner: u32, user: u32 },
    /// The folder's mode lets other users write to it. A sticky bit, as on `/tmp`, does not keep them from adding
    /// files.
    WritableByOthers { mode: u32 },
    /// The folder is inside the project whose trust it records, so it may have come with that project.
    InsideProject,
}

/// A folder's owner, group and mode, which determine who can write to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderAccess {
    pub owner: u32,
    pub group: u32,
    pub mode: u32,
}

impl FolderAccess {
    pub fn from_stat(stat: &Stat) -> FolderAccess {
        // The conversion is needed because `st_mode` is narrower than `u32` on some systems.
        #[allow(clippy::useless_conversion)]
        FolderAccess { owner: stat.st_uid, group: stat.st_gid, mode: u32::from(stat.st_mode) & 0o7777 }
    }

    /// Returns `None` if only `user` and root can write to the folder. A group with the same number as the owner
    /// counts as private, because many systems give each user a private group that may write to the user's folders.
    pub fn exposure_to_others(self, user: u32) -> Option<FolderExposure> {
        let group_is_private = self.group == self.owner;
        if self.owner != user {
            return Some(FolderExposure::ForeignOwner { owner: self.owner, user });
        }
        let others = self.mode & 0o002 != 0 || (self.mode & 0o020 != 0 && !group_is_private);
        others.then_some(FolderExposure::WritableByOthers { mode: self.mode })
    }
}

impl std::fmt::Display for FolderExposure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FolderExposure::ForeignOwner { owner, user } => {
                write!(f, "it belongs to another user (uid {owner}, you are {user})")
            }
            FolderExposure::WritableByOthers { mode } => {
                write!(f, "other users may write to it (mode {mode:04o})")
            }
            FolderExposure::InsideProject => {
                f.write_str("it is inside the project, so the project could declare itself trusted")
            }
        }
    }
}

/// Checks a folder with a single system call. A missing folder is not exposed.
pub(crate) fn find_exposure(path: &Path, user: u32) -> Option<FolderExposure> {
    let stat = fs::statat(CWD, path, AtFlags::empty()).ok()?;
    FolderAccess::from_stat(&stat).exposure_to_others(user)
}

/// Returns the first of these folders that other users could have written to, and the reason.
pub(crate) fn first_exposed_folder(folders: &[&Path], user: u32) -> Option<(PathBuf, FolderExposure)> {
    folders.iter().find_map(|folder| Some(((*folder).to_owned(), find_exposure(folder, user)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_others_may_write_is_exposed() {
        let foreign = |owner| Some(FolderExposure::ForeignOwner { owner, user: 1000 });
        let writable = |mode| Some(FolderExposure::WritableByOthers { mode });
        let cases = [
            ((1000, 1000, 0o700), None),
            ((1000, 1000, 0o755), None),
            ((1000, 100, 0o755), None),
            ((1000, 1000, 0o775), None),
            ((1000, 100, 0o775), writable(0o775)),
            ((1000, 1000, 0o777), writable(0o777)),
            ((1000, 1000, 0o1777), writable(0o1777)),
            ((1000, 1000, 0o702), writable(0o702)),
            ((0, 0, 0o755), foreign(0)),
            ((1001, 1000, 0o700), foreign(1001)),
        ];
        for ((owner, group, mode), expected) in cases {
            let access = FolderAccess { owner, group, mode };
            assert_eq!(access.exposure_to_others(1000), expected, "{access:?}");
        }
    }
}
