//! Which folder is the root: `--root`, `$THROUGHLINE_ROOT`, the nearest marker, the git top level, the folder itself.

use std::path::{Path, PathBuf};

use model::marker::Marker;
use rustix::fs::{self, AtFlags, CWD};
use rustix::io::Errno;

use crate::git::{self, Git};
use crate::store::Store;
use crate::{Dir, Error, Result, layout};

/// What the caller knows.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// `--root`, else `$THROUGHLINE_ROOT`: taken as it is.
    pub explicit: Option<&'a Path>,
    /// Absolute folders to start from, best first. For a hook: the harness's project folder, then its working directory.
    pub starts: &'a [&'a Path],
}

/// A folder that is, or could become, a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    pub path: PathBuf,
    /// The checkout we stand in: a git worktree, or the root itself.
    pub checkout: PathBuf,
}

#[derive(Debug)]
pub enum Found {
    /// There is a marker, and it can be read.
    Marked { root: Root, store: Store, marker: Marker },
    /// No marker: this is where one would go.
    Unmarked(Root),
}

/// Finds the root. A marker that is there but unreadable, damaged or foreign is an error, never "no root".
pub fn find(wish: &Wish) -> Result<Found> {
    if let Some(path) = wish.explicit {
        let path = absolute(path)?;
        Dir::open(&path)?;
        let root = Root { path: path.clone(), checkout: path };
        return Ok(match open(&root.path)? {
            Some((store, marker)) => Found::Marked { root, store, marker },
            None => Found::Unmarked(root),
        });
    }
    let mut unmarked = None;
    for start in wish.starts {
        match climb(start)? {
            Found::Unmarked(root) => {
                unmarked.get_or_insert(root);
            }
            marked => return Ok(marked),
        }
    }
    let nowhere = || Error::Absent { path: PathBuf::from(".") };
    Ok(Found::Unmarked(unmarked.ok_or_else(nowhere)?))
}

/// From `start` upwards. At the top of a worktree the main checkout is asked before anything further up.
fn climb(start: &Path) -> Result<Found> {
    let mut top: Option<Root> = None;
    for dir in start.ancestors() {
        let here = open(dir)?;
        let git = if top.is_none() { git::look(dir) } else { None };
        match (here, git) {
            (here, Some(Git::Worktree { main })) => {
                let root = Root { path: main, checkout: dir.to_owned() };
                match (open(&root.path)?, here) {
                    (Some((store, marker)), None) => return Ok(Found::Marked { root, store, marker }),
                    (Some((store, marker)), Some((_, own))) if own.project_id == marker.project_id => {
                        return Ok(Found::Marked { root, store, marker });
                    }
                    (_, Some((store, marker))) => return Ok(marked_at(dir, store, marker)),
                    (None, None) => top = Some(root),
                }
            }
            (Some((store, marker)), _) => {
                // A repository inside the project is part of it; only a worktree is a checkout of its own.
                let worktree = top.filter(|top| top.path != top.checkout);
                let checkout = worktree.map_or_else(|| dir.to_owned(), |top| top.checkout);
                let root = Root { path: dir.to_owned(), checkout };
                return Ok(Found::Marked { root, store, marker });
            }
            (None, Some(Git::Top)) => top = Some(Root { path: dir.to_owned(), checkout: dir.to_owned() }),
            (None, None) => {}
        }
    }
    Ok(Found::Unmarked(top.unwrap_or_else(|| Root { path: start.to_owned(), checkout: start.to_owned() })))
}

fn marked_at(dir: &Path, store: Store, marker: Marker) -> Found {
    Found::Marked { root: Root { path: dir.to_owned(), checkout: dir.to_owned() }, store, marker }
}

/// The store at `dir` with its marker; None where there is no marker.
fn open(dir: &Path) -> Result<Option<(Store, Marker)>> {
    let Some(store) = store_at(dir)? else { return Ok(None) };
    match store.marker() {
        Ok(marker) => Ok(Some((store, marker))),
        Err(Error::Absent { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The store's folder at `dir`; None where there is none. A link in place of `.agent` or `context` is refused.
pub(crate) fn store_at(dir: &Path) -> Result<Option<Store>> {
    let path = dir.join(layout::STORE);
    match Dir::open_direct(&path) {
        Ok(open) => return Ok(Some(Store::new(open))),
        Err(Errno::NOENT) => return Ok(None),
        // A link further up is the user's own business; one below `dir` is not. Ask step by step.
        Err(_) => {}
    }
    match Dir::open(dir).and_then(|dir| dir.sub(layout::STORE)) {
        Ok(open) => Ok(Some(Store::new(open.at(path)))),
        Err(Error::Absent { .. }) => Ok(None),
        // A file called `.agent` is somebody else's; so is a folder we may not look into, unless it holds a marker.
        Err(Error::Refused { .. }) if !fs_exists(&path.join(layout::MARKER)) => Ok(None),
        Err(Error::Denied { .. }) if dir.join(".agent").symlink_metadata().is_err() => Ok(None),
        Err(e) => Err(e),
    }
}

fn fs_exists(path: &Path) -> bool {
    fs::statat(CWD, path, AtFlags::empty()).is_ok()
}

fn absolute(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|e| crate::read::io_error(&e, path, "open"))
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
