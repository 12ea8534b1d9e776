//! Finds the root. It tries, in this order: `--root`, `$THROUGHLINE_ROOT`, the nearest marker, the top of the git
//! checkout, and the folder itself.
//!
//! The search for a marker stays inside the git working tree that contains the starting folder. From a submodule, it
//! continues into the superproject. Outside git, the search ends at a folder with another owner. Folders that another
//! user could have marked are skipped.

use std::path::{Path, PathBuf};

use model::marker::RootMarker;
use rustix::fs::{self, AtFlags, CWD};
use rustix::io::Errno;

use crate::git::{self, CheckoutKind};
use crate::owner::{FolderExposure, find_exposure};
use crate::store::Store;
use crate::{Dir, Error, Result, layout};

/// The rules that determine which folders may be a root if neither `--root` nor `$THROUGHLINE_ROOT` names one.
#[derive(Clone, Copy)]
pub struct RootRules<'a> {
    /// The effective user.
    pub user: u32,
    pub home: Option<&'a Path>,
    /// Returns whether the user's own settings allow a folder (`roots.allow`). Called only for a folder that would
    /// otherwise be rejected.
    pub is_allowed_by_user: &'a dyn Fn(&Path) -> bool,
}

impl std::fmt::Debug for RootRules<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("user", &self.user).field("home", &self.home).finish_non_exhaustive()
    }
}

/// Why a folder must not be a root, even if it contains a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitRootReason {
    TopOfDisk,
    HomeOrAbove,
    Exposed(FolderExposure),
    /// The folder is private to the user, but its store is not.
    StoreExposed(FolderExposure),
}

#[derive(Clone, Copy, Debug)]
pub struct RootQuery<'a> {
    pub rules: RootRules<'a>,
    /// The path in `--root`, or else in `$THROUGHLINE_ROOT`. The rules do not apply to it.
    pub explicit_root: Option<&'a Path>,
    /// The absolute paths of the folders in which to start, in order of preference. A hook passes the harness's
    /// project folder and then its working directory.
    pub start_folders: &'a [&'a Path],
}

/// A folder that is, or could become, a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    pub path: PathBuf,
    /// The current checkout: a git worktree, or the root itself.
    pub checkout: PathBuf,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "only one exists at a time, and boxing it would cost every hook an allocation"
)]
pub enum FoundRoot {
    /// The root has a readable marker.
    Marked { root: Root, store: Store, marker: RootMarker },
    /// There is no marker. `thru init` would create one here.
    Unmarked(Root),
}

/// Finds the root. A marker that is unreadable, damaged or foreign is an error and never counts as missing.
pub fn find_root(query: &RootQuery) -> Result<FoundRoot> {
    if let Some(path) = query.explicit_root {
        let path = absolute_path(path)?;
        Dir::open(&path)?;
        let root = Root { path: path.clone(), checkout: path };
        return Ok(match open_marked_store(&root.path)? {
            Some((store, marker)) => FoundRoot::Marked { root, store, marker },
            None => FoundRoot::Unmarked(root),
        });
    }
    let mut unmarked = None;
    for start in query.start_folders {
        match search_upwards(start, &query.rules)? {
            FoundRoot::Unmarked(root) => {
                unmarked.get_or_insert(root);
            }
            marked => return Ok(marked),
        }
    }
    let nowhere = || Error::Absent { path: PathBuf::from(".") };
    Ok(FoundRoot::Unmarked(unmarked.ok_or_else(nowhere)?))
}

/// Searches from `start` up to the top of its working tree. A worktree uses its main checkout's root.
fn search_upwards(start: &Path, rules: &RootRules) -> Result<FoundRoot> {
    let mut top: Option<Root> = None;
    for dir in start.ancestors() {
        let here = open_store_if_fit(start, dir, rules)?;
        match (here, git::checkout_kind(dir)) {
            (here, Some(CheckoutKind::Worktree { main_checkout })) => {
                let root = Root { path: main_checkout, checkout: dir.to_owned() };
                return Ok(match (open_store_if_fit(&root.path, &root.path, rules)?, here) {
                    (Some((store, marker)), None) => FoundRoot::Marked { root, store, marker },
                    (Some((store, marker)), Some((_, own))) if own.project_id == marker.project_id => {
                        FoundRoot::Marked { root, store, marker }
                    }
                    (_, Some((store, marker))) => found_marked_root(dir, store, marker),
                    (None, None) => FoundRoot::Unmarked(top.unwrap_or(root)),
                });
            }
            (Some((store, marker)), _) => return Ok(found_marked_root(dir, store, marker)),
            (None, Some(git)) => {
                top.get_or_insert_with(|| Root { path: dir.to_owned(), checkout: dir.to_owned() });
                if git != CheckoutKind::Submodule {
                    break;
                }
            }
            (None, None) => {}
        }
    }
    Ok(FoundRoot::Unmarked(
        top.unwrap_or_else(|| Root { path: start.to_owned(), checkout: start.to_owned() }),
    ))
}

/// Opens the store at `dir` if a search from `start` may use it. A folder that must not be used is skipped without an
/// error, because otherwise a broken marker in `/tmp` could block all other users.
fn open_store_if_fit(start: &Path, dir: &Path, rules: &RootRules) -> Result<Option<(Store, RootMarker)>> {
    match open_marked_store(dir) {
        Ok(None) => Ok(None),
        found if is_fit_root(start, dir, rules) => found,
        _ => Ok(None),
    }
}

fn is_fit_root(start: &Path, dir: &Path, rules: &RootRules) -> bool {
    // Most sessions start in their root. The check by name is then enough, and it makes fewer system calls.
    let unfit = if start == dir { why_unfit_by_name(dir, rules) } else { why_unfit_root(dir, rules) };
    (unfit.is_none() && (start == dir || is_owned_by_user_up_to(start, dir, rules.user)))
        || (rules.is_allowed_by_user)(dir)
}

/// Returns true if all folders from `start` up to `dir` belong to the user, or if `dir` is in a git checkout.
fn is_owned_by_user_up_to(start: &Path, dir: &Path, user: u32) -> bool {
    let owned =
        |folder: &Path| fs::statat(CWD, folder, AtFlags::empty()).is_ok_and(|stat| stat.st_uid == user);
    start.ancestors().take_while(|folder| *folder != dir).all(owned)
        || dir.ancestors().any(|folder| path_exists(&folder.join(".git")))
}

/// Returns why `dir` must not be a root, or `None` if it may be one. `roots.allow` is not considered.
pub fn why_unfit_root(dir: &Path, rules: &RootRules) -> Option<UnfitRootReason> {
    let identity = |path: &Path| fs::statat(CWD, path, AtFlags::empty()).ok().map(|s| (s.st_dev, s.st_ino));
    // Compare the folders themselves, because the home folder may have more than one path.
    let is_home = || rules.home.and_then(identity).is_some_and(|home| identity(dir) == Some(home));
    why_unfit_by_name(dir, rules).or_else(|| is_home().then_some(UnfitRootReason::HomeOrAbove))
}

fn why_unfit_by_name(dir: &Path, rules: &RootRules) -> Option<UnfitRootReason> {
    if dir.parent().is_none() {
        return Some(UnfitRootReason::TopOfDisk);
    }
    if rules.home.is_some_and(|home| home.starts_with(dir)) {
        return Some(UnfitRootReason::HomeOrAbove);
    }
    let store_exposed =
        || find_exposure(&dir.join(layout::STORE_FOLDER), rules.user).map(UnfitRootReason::StoreExposed);
    find_exposure(dir, rules.user).map(UnfitRootReason::Exposed).or_else(store_exposed)
}

impl std::fmt::Display for UnfitRootReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UnfitRootReason::TopOfDisk => f.write_str("it is the top of the file system"),
            UnfitRootReason::HomeOrAbove => f.write_str("it is your home folder, or above it"),
            UnfitRootReason::Exposed(exposed) => exposed.fmt(f),
            UnfitRootReason::StoreExposed(exposed) => write!(f, "its {}: {exposed}", layout::STORE_FOLDER),
        }
    }
}

fn found_marked_root(dir: &Path, store: Store, marker: RootMarker) -> FoundRoot {
    FoundRoot::Marked { root: Root { path: dir.to_owned(), checkout: dir.to_owned() }, store, marker }
}

/// Opens the store at `dir` and reads its marker. Returns `None` if there is no store or no marker.
fn open_marked_store(dir: &Path) -> Result<Option<(Store, RootMarker)>> {
    let Some(mut store) = open_store_folder(dir)? else { return Ok(None) };
    match store.read_marker_keeping_open() {
        Ok(marker) => Ok(Some((store, marker))),
        Err(Error::Absent { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Opens the store's folder at `dir`, or returns `None` if there is none. Returns an error if `.agent` or `context`
/// is a link.
pub(crate) fn open_store_folder(dir: &Path) -> Result<Option<Store>> {
    let path = dir.join(layout::STORE_FOLDER);
    match Dir::open_if_without_links(&path) {
        Ok(open) => return Ok(Some(Store::new(open))),
        Err(Errno::NOENT) => return Ok(None),
        // The user created the links above `dir`, but a link below `dir` may have come with the project. So the code
        // below checks each part.
        Err(_) => {}
    }
    match Dir::open(dir).and_then(|dir| dir.open_subfolder(layout::STORE_FOLDER)) {
        Ok(open) => Ok(Some(Store::new(open.with_display_path(path)))),
        Err(Error::Absent { .. }) => Ok(None),
        // A file called `.agent` belongs to another program. So does a folder `.agent` that cannot be read, unless it
        // contains a marker.
        Err(Error::Refused { .. }) if !path_exists(&path.join(layout::MARKER_FILE)) => Ok(None),
        Err(Error::Denied { .. }) if dir.join(".agent").symlink_metadata().is_err() => Ok(None),
        Err(e) => Err(e),
    }
}

fn path_exists(path: &Path) -> bool {
    fs::statat(CWD, path, AtFlags::empty()).is_ok()
}

fn absolute_path(path: &Path) -> Result<PathBuf> {
    path.canonicalize().map_err(|e| crate::read::io_error(&e, path, "open"))
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
