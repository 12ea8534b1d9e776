//! Errors from the disk. "Absent", "denied", "damaged" and "foreign" are separate errors, because the user must
//! respond to each of them differently.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::owner::FolderExposure;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: there is no such file or folder", .path.display())]
    Absent { path: PathBuf },
    #[error("{}: no permission to {doing} ({why})", .path.display())]
    Denied { path: PathBuf, doing: &'static str, why: String },
    #[error("{}{}: damaged: {why}", .path.display(), format_line_suffix(.line))]
    Damaged { path: PathBuf, line: Option<usize>, why: String },
    #[error("{}: written by another program or another version of thru: {why}", .path.display())]
    Foreign { path: PathBuf, why: String },
    /// The path is a link or has the wrong file type, so it is not opened.
    #[error("{}: refused: {why}", .path.display())]
    Refused { path: PathBuf, why: String },
    /// Other users can write to this folder, so its content is not trusted.
    #[error("{}: not used: {why}", .path.display())]
    Exposed { path: PathBuf, why: FolderExposure },
    #[error("{}: in use by another thru process for more than {waited_ms} ms", .path.display())]
    Busy { path: PathBuf, waited_ms: u128 },
    #[error("{}: cannot {doing}: {why}", .path.display())]
    Io { path: PathBuf, doing: &'static str, why: String },
}

impl Error {
    pub(crate) fn from_errno(errno: Errno, path: &Path, doing: &'static str) -> Error {
        let path = path.to_owned();
        // Most files that a hook looks for are absent, so the message is formatted only where it is used.
        let why = || std::io::Error::from(errno).to_string();
        match errno {
            // Reading a file in /proc returns ESRCH if the process has ended.
            Errno::NOENT | Errno::SRCH => Error::Absent { path },
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Error::Denied { path, doing, why: why() },
            Errno::LOOP => Error::Refused { path, why: "part of the path is a symbolic link".to_owned() },
            Errno::NOTDIR => {
                Error::Refused { path, why: "there is a file where a folder is expected".to_owned() }
            }
            Errno::ISDIR => {
                Error::Refused { path, why: "there is a folder where a file is expected".to_owned() }
            }
            _ => Error::Io { path, doing, why: why() },
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            Error::Absent { path }
            | Error::Denied { path, .. }
            | Error::Damaged { path, .. }
            | Error::Foreign { path, .. }
            | Error::Refused { path, .. }
            | Error::Exposed { path, .. }
            | Error::Busy { path, .. }
            | Error::Io { path, .. } => path,
        }
    }

    pub fn line_number(&self) -> Option<usize> {
        match self {
            Error::Damaged { line, .. } => *line,
            _ => None,
        }
    }

    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Absent { .. } => None,
            Error::Denied { .. } => Some("make it accessible to this user, or work in a folder that is"),
            Error::Damaged { .. } => {
                Some("fix the file, or restore it from git or a backup; nothing was changed")
            }
            Error::Foreign { .. } => Some("use the version of thru that wrote it, or a newer one"),
            Error::Refused { .. } => {
                Some("put a real file or folder there; thru does not follow links in its store")
            }
            Error::Exposed {
                why: FolderExposure::ForeignOwner { .. } | FolderExposure::InsideProject,
                ..
            } => {
                Some("use a folder of your own outside every project: set XDG_STATE_HOME to one, or unset it")
            }
            Error::Exposed { why: FolderExposure::WritableByOthers { .. }, .. } => Some(
                "look at what is in it, then remove other users' write permission: `chmod go-w` on that folder",
            ),
            Error::Busy { .. } => Some("another thru process is using it; try again"),
            Error::Io { .. } => Some("check the disk, then try again"),
        }
    }
}

fn format_line_suffix(line: &Option<usize>) -> String {
    line.map_or(String::new(), |line| format!(":{line}"))
}
