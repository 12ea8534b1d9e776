//! The errors that commands return, and the error kinds that scripts can tell apart.

use std::path::{Path, PathBuf};

use model::finding::{Finding, FindingLevel};

/// What to do in a worktree if git cannot find its main checkout.
pub(crate) const REPAIR_WORKTREE_HINT: &str =
    "if you moved the main checkout, run `git worktree repair` in its new folder";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] store::Error),
    /// No record or file has the given name.
    #[error("{what}")]
    Absent { what: String, hint: String },
    /// A damaged record that a person may have written. `hint` says how to repair it.
    #[error("{}", store::Error::Damaged { path: path.clone(), line: *line, why: why.clone() })]
    Damaged { path: PathBuf, line: Option<usize>, why: String, hint: String },
    /// Another process is using the resource that `what` names.
    #[error("{what}")]
    Busy { what: String, hint: String },
    #[error("{what}")]
    Refused { what: String, hint: String },
    #[error("{what}")]
    Usage { what: String, hint: String },
    #[error("{}: not in a root: there is no .agent/context/root.json in this folder or above it", .path.display())]
    NoRoot { path: PathBuf },
    /// An error inside a hook. It has no hint, because nobody reads hints while a hook runs. The receipt records the
    /// message.
    #[error("{what}")]
    Failed { what: String },
    /// A feature panicked, which is a bug. Only this feature's answer to one event is lost.
    #[error("{what} failed inside thru: {why}")]
    Panicked { what: &'static str, why: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    Usage,
    Absent,
    Denied,
    Damaged,
    Foreign,
    Busy,
    Refused,
    Io,
}

fn is_root_marker(path: &Path) -> bool {
    path.ends_with(Path::new(store::layout::STORE_FOLDER).join(store::layout::MARKER_FILE))
}

impl Error {
    /// Wraps an I/O error on a stream, or on a file that belongs to another program.
    pub fn stream_error(name: &str, doing: &'static str, error: &std::io::Error) -> Error {
        let (path, why) = (name.into(), error.to_string());
        Error::Store(match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                store::Error::Denied { path, doing, why }
            }
            _ => store::Error::Io { path, doing, why },
        })
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Usage { .. } => ErrorKind::Usage,
            Error::Busy { .. } => ErrorKind::Busy,
            Error::Refused { .. } => ErrorKind::Refused,
            Error::Damaged { .. } => ErrorKind::Damaged,
            Error::Absent { .. } | Error::NoRoot { .. } => ErrorKind::Absent,
            Error::Panicked { .. } | Error::Failed { .. } => ErrorKind::Io,
            Error::Store(error) => match error {
                store::Error::Absent { .. } => ErrorKind::Absent,
                store::Error::Denied { .. } => ErrorKind::Denied,
                store::Error::Damaged { .. } => ErrorKind::Damaged,
                store::Error::Foreign { .. } => ErrorKind::Foreign,
                store::Error::Busy { .. } => ErrorKind::Busy,
                store::Error::Refused { .. } | store::Error::Exposed { .. } => ErrorKind::Refused,
                store::Error::Io { .. } => ErrorKind::Io,
            },
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            // The usual hint is to restore the file from git. This is impossible in a project with private records,
            // because its records are not in git.
            Error::Store(store::Error::Damaged { path, .. }) if is_root_marker(path) => Some(
                "fix the file, or run `thru init`, which keeps the damaged file next to a new one; no records are lost, and hooks run again after `thru trust`"
                    .to_owned(),
            ),
            Error::Store(error) => error.hint().map(str::to_owned),
            Error::Absent { hint, .. }
            | Error::Damaged { hint, .. }
            | Error::Busy { hint, .. }
            | Error::Refused { hint, .. }
            | Error::Usage { hint, .. } => Some(hint.clone()),
            Error::NoRoot { path } if store::git::missing_git_folder_of_worktree(path).is_some() => {
                Some(REPAIR_WORKTREE_HINT.to_owned())
            }
            Error::NoRoot { .. } => Some("run `thru init` in your project's folder to create one".to_owned()),
            Error::Failed { .. } => None,
            Error::Panicked { .. } => Some("please report it, with the output of `thru debug hook`".to_owned()),
        }
    }

    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Error::Store(error) => Some(error.path().to_owned()),
            Error::NoRoot { path } | Error::Damaged { path, .. } => Some(path.clone()),
            Error::Absent { .. }
            | Error::Busy { .. }
            | Error::Refused { .. }
            | Error::Usage { .. }
            | Error::Panicked { .. }
            | Error::Failed { .. } => None,
        }
    }

    pub fn line_number(&self) -> Option<usize> {
        match self {
            Error::Store(error) => error.line_number(),
            Error::Damaged { line, .. } => *line,
            _ => None,
        }
    }
}

impl ErrorKind {
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Usage => "usage",
            ErrorKind::Absent => "absent",
            ErrorKind::Denied => "denied",
            ErrorKind::Damaged => "damaged",
            ErrorKind::Foreign => "foreign",
            ErrorKind::Busy => "busy",
            ErrorKind::Refused => "refused",
            ErrorKind::Io => "io",
        }
    }
}

impl From<&Error> for Finding {
    fn from(error: &Error) -> Finding {
        let finding = Finding::new(FindingLevel::Error, error.to_string());
        match error.hint() {
            Some(hint) => finding.with_hint(hint),
            None => finding,
        }
    }
}
