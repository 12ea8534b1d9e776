//! Reads git's index. It shows which files in `indexes/`, `sessions/` and `state/` git tracks. These files came with
//! a commit, so their content is not trusted. The index also shows which files on disk are identical to the version
//! in the index.
//!
//! Hooks start no process, so this module parses the index itself. The alternatives are worse: a nonce in every file
//! would change every file format, and a list of the files that this machine wrote would need an extra write for each
//! of them. The index is sorted by path, and `.agent/` is near its beginning. The first 32 KB are therefore usually
//! enough, and nothing needs to be cached.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{self, CWD, Mode, OFlags};

use crate::checkout::to_nanoseconds;
use crate::dir::Dir;
use crate::layout;
use crate::read::{read_outside_store, require_regular_file};
use crate::system;

/// The size limit of an index, which is enough for about 700,000 files.
const MAX_INDEX_BYTES: u64 = 64 * 1024 * 1024;
const CHUNK_BYTES: usize = 32 * 1024;

/// The folders whose files belong to one machine.
const MACHINE_LOCAL_FOLDERS: [&[u8]; 3] = [b"indexes/", b"sessions/", b"state/"];
/// The folders whose files are treated as absent if git's index cannot be read. `sessions/` is not one of them,
/// because journals are too valuable to be ignored without proof that git tracks them.
const REBUILDABLE_FOLDERS: [&[u8]; 2] = [b"indexes/", b"state/"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GitTrackedFiles {
    #[default]
    NoneTracked,
    /// The paths of the tracked files, relative to the store, such as `indexes/active-loop.json`.
    Files(Vec<String>),
    /// The reason why git's index cannot be read. Without the index, it is unknown which files are tracked and may
    /// therefore have come with a commit.
    Unknown(String),
}

impl GitTrackedFiles {
    /// Returns whether a file in the store must be treated as absent.
    pub fn treats_as_absent(&self, rel: &str) -> bool {
        match self {
            GitTrackedFiles::NoneTracked => false,
            // Ignore case, because some file systems do not distinguish `State/` from `state/`.
            GitTrackedFiles::Files(files) => files.iter().any(|file| file.eq_ignore_ascii_case(rel)),
            GitTrackedFiles::Unknown(_) => {
                REBUILDABLE_FOLDERS.iter().any(|folder| rel.as_bytes().starts_with(folder))
            }
        }
    }

    /// Reads git's index for the store of `root`.
    pub(crate) fn read_for_root(root: &Path) -> GitTrackedFiles {
        // Git lists a folder under its real path, even if it was reached through a link, so use the real path.
        let root = &real_path(root);
        let Some(top) = find_checkout_top(root) else { return GitTrackedFiles::NoneTracked };
        let inside = root.strip_prefix(top).unwrap_or(Path::new("")).as_os_str().as_bytes();
        let mut prefix = inside.to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        prefix.extend_from_slice(layout::STORE_FOLDER.as_bytes());
        prefix.push(b'/');
        let mut files = Vec::new();
        for index in index_paths(&git_dir(top)) {
            match read_index(&index, &prefix, &mut files) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return GitTrackedFiles::Unknown(format!("{}: {error}", index.display())),
            }
        }
        if files.is_empty() { GitTrackedFiles::NoneTracked } else { GitTrackedFiles::Files(files) }
    }
}

/// Returns the path of a folder with all links resolved. Usually, the path contains no link. In this case, the function
/// makes two system calls, whereas `canonicalize` makes one for each part of the path and five to manage its memory.
fn real_path(folder: &Path) -> PathBuf {
    // On macOS, `canonicalize` also corrects upper and lower case in the path. On Linux, it does not.
    let is_real = cfg!(target_os = "linux")
        && folder.is_absolute()
        && !folder.components().any(|part| part == Component::ParentDir)
        && system::open_without_links(folder, OFlags::DIRECTORY).is_ok();
    match is_real {
        // Removes `//` and `/./`.
        true => folder.components().collect(),
        false => folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
    }
}

/// Returns the nearest folder, from `folder` upwards, that contains a `.git`.
fn find_checkout_top(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| fs::access(folder.join(".git"), fs::Access::EXISTS).is_ok())
}

/// Returns the path of `.git`. If `.git` is a file, as in a worktree or submodule, returns the folder that it points
/// to.
fn git_dir(top: &Path) -> PathBuf {
    let dot_git = top.join(".git");
    let pointer = read_outside_store(&dot_git, 4096).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match pointer.as_deref().and_then(|text| text.strip_prefix("gitdir:")) {
        Some(path) => top.join(path.trim()),
        None => dot_git,
    }
}

/// Returns the paths of the index and of all shared indexes, which exist if the index is split. An outdated shared
/// index does no harm.
fn index_paths(git_dir: &Path) -> Vec<PathBuf> {
    let mut all = vec![git_dir.join("index")];
    let names = Dir::open(git_dir).and_then(|dir| dir.list_names_up_to(10_000)).unwrap_or_default();
    all.extend(names.iter().filter(|name| name.starts_with("sharedindex.")).map(|name| git_dir.join(name)));
    all
}

fn read_index(path: &Path, prefix: &[u8], files: &mut Vec<String>) -> io::Result<()> {
    // The index does not record the length of its object ids. Their length is 20 bytes, or 32 bytes if git uses
    // SHA-256.
    let first = scan_store_entries(open_index(path)?, 20, prefix);
    let found = match first {
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            scan_store_entries(open_index(path)?, 32, prefix)?
        }
        found => found?,
    };
    files.extend(found);
    Ok(())
}

fn open_index(path: &Path) -> io::Result<impl BufRead> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let fd = fs::openat(CWD, path, flags, Mode::empty())?;
    let size = require_regular_file(fd.as_fd(), path).map_err(|e| io::Error::other(e.to_string()))?;
    if size > MAX_INDEX_BYTES {
        return Err(io::Error::other(format!("it is over {} MB", MAX_INDEX_BYTES / 1024 / 1024)));
    }
    Ok(BufReader::with_capacity(CHUNK_BYTES, File::from(fd).take(MAX_INDEX_BYTES)))
}

/// Lists the tracked files in a store's machine-local folders.
fn scan_store_entries(index: impl BufRead, id_bytes: usize, prefix: &[u8]) -> io::Result<Vec<String>> {
    // `end` sorts after every path in these folders: among all spellings of the prefix, the lower-case one sorts
    // last, and `0` is the character after `/`.
    let end = [prefix.to_ascii_lowercase().as_slice(), b"state0"].concat();
    let mut files = Vec::new();
    each_index_entry(index, id_bytes, |name, _| {
        if name > end.as_slice() {
            return ControlFlow::Break(());
        }
        files.extend(machine_local_name(name, prefix));
        ControlFlow::Continue(())
    })?;
    Ok(files)
}

/// Lists all files below `folder` that git tracks, relative to `folder`. Returns `None` if `folder` is not in git or
/// there are more than `most` files.
pub(crate) fn tracked_files(folder: &Path, most: usize) -> Option<Vec<String>> {
    let folder = folder.canonicalize().ok()?;
    let top = find_checkout_top(&folder)?;
    let mut prefix = folder.strip_prefix(top).ok()?.as_os_str().as_bytes().to_vec();
    if !prefix.is_empty() {
        prefix.push(b'/');
    }
    let mut files = Vec::new();
    for index in index_paths(&git_dir(top)) {
        let mut take = |name: &[u8], entry: IndexEntry| {
            let inside = name.strip_prefix(prefix.as_slice()).filter(|_| entry.mode != SUBMODULE_MODE);
            files.extend(inside.and_then(|name| String::from_utf8(name.to_vec()).ok()));
            if files.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let read = open_index(&index).and_then(|file| each_index_entry(file, 20, &mut take));
        match read {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                open_index(&index).and_then(|file| each_index_entry(file, 32, &mut take)).ok()?;
            }
            Err(_) => return None,
        }
    }
    files.sort_unstable();
    files.dedup();
    (files.len() <= most).then_some(files)
}

/// How files differ from git's index, judging by size and time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitIndexComparison<'p> {
    pub unchanged: Vec<&'p str>,
    /// Files that git tracks and that were changed or deleted.
    pub changed: Vec<&'p str>,
    /// For each file in `changed`, when the content in the index was written to the file, in whole seconds.
    pub times_in_index: Vec<(&'p str, i64)>,
    /// Files that exist and that git does not track.
    pub untracked: Vec<&'p str>,
}

/// Compares files with git's index. Nothing is known about them if the folder is not in git, or if the index is too
/// large to be read by a hook.
pub(crate) fn compare_with_index<'p>(folder: &Path, paths: &[&'p str]) -> GitIndexComparison<'p> {
    const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
    let unknown = GitIndexComparison::default();
    let Some(top) = find_checkout_top(folder).filter(|_| !paths.is_empty()) else { return unknown };
    let git_dir = git_dir(top);
    let index = git_dir.join("index");
    if !fs::stat(&index).is_ok_and(|stat| stat.st_size.unsigned_abs() <= MAX_FILE_BYTES) {
        return unknown;
    }
    let inside = folder.strip_prefix(top).unwrap_or(Path::new(""));
    let mut names: Vec<(PathBuf, &str)> = paths.iter().map(|path| (inside.join(path), *path)).collect();
    names.sort_unstable_by(|(a, _), (b, _)| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    let mut found = GitIndexComparison::default();
    let take = |name: &[u8], entry: IndexEntry| {
        if let Ok(at) = names.binary_search_by(|(path, _)| path.as_os_str().as_bytes().cmp(name)) {
            let stat = fs::lstat(top.join(&names[at].0));
            let is_unchanged = stat.is_ok_and(|stat| entry.matches_stat(&stat));
            if is_unchanged {
                found.unchanged.push(names[at].1);
            } else {
                found.changed.push(names[at].1);
                found.times_in_index.push((names[at].1, i64::from(entry.modified.0)));
            }
        }
        ControlFlow::Continue(())
    };
    // If the object ids have another length, the index does not parse, and nothing is known about the files.
    if open_index(&index).and_then(|file| each_index_entry(file, 20, take)).is_err() {
        return unknown;
    }
    names.retain(|(_, path)| !found.unchanged.contains(path) && !found.changed.contains(path));
    // If the index is split, some of its entries are in a second file, so a missing name proves nothing.
    if !names.is_empty() && index_paths(&git_dir).len() == 1 {
        let exists = |path: &PathBuf| fs::lstat(top.join(path)).is_ok();
        found.untracked = names.iter().filter(|(path, _)| exists(path)).map(|(_, path)| *path).collect();
    }
    found
}

struct IndexEntry {
    mode: u32,
    modified: (u32, u32),
    size: u32,
}

impl IndexEntry {
    fn matches_stat(&self, stat: &fs::Stat) -> bool {
        let (seconds, fraction) = self.modified;
        // Some versions of git do not store fractions of a second, so a stored fraction of 0 matches every file.
        let fraction_on_disk = to_nanoseconds(0, stat.st_mtime_nsec);
        let is_same_time =
            i64::from(seconds) == stat.st_mtime && (fraction == 0 || i64::from(fraction) == fraction_on_disk);
        is_same_time && u64::from(self.size) == stat.st_size.unsigned_abs()
    }
}

/// The file mode that marks an entry as a submodule.
const SUBMODULE_MODE: u32 = 0o160_000;

/// Parses git's index format, versions 2 to 4, and calls `with` for each entry.
fn each_index_entry(
    mut index: impl BufRead,
    id_bytes: usize,
    mut with: impl FnMut(&[u8], IndexEntry) -> ControlFlow<()>,
) -> io::Result<()> {
    let damaged = || io::Error::new(ErrorKind::InvalidData, "it is not a git index of version 2 to 4");
    let mut header = [0; 12];
    index.read_exact(&mut header)?;
    let (version, entries) = (read_u32(&header, 4), read_u32(&header, 8));
    if &header[..4] != b"DIRC" || !(2..=4).contains(&version) {
        return Err(damaged());
    }
    let mut name = Vec::new();
    let mut fixed = [0; 40 + 32 + 2];
    let fixed = &mut fixed[..40 + id_bytes + 2];
    for _ in 0..entries {
        index.read_exact(fixed)?;
        let flags = u16::from_be_bytes([fixed[40 + id_bytes], fixed[41 + id_bytes]]);
        let mut length = fixed.len();
        if version >= 3 && flags & 0x4000 != 0 {
            index.read_exact(&mut [0; 2])?;
            length += 2;
        }
        match version {
            // In version 4, each entry contains only the difference between its name and the previous one.
            4 => {
                let dropped = read_git_varint(&mut index)?;
                let kept = name.len().checked_sub(dropped).ok_or_else(damaged)?;
                name.truncate(kept);
            }
            _ => name.clear(),
        }
        let before = name.len();
        index.read_until(0, &mut name)?;
        if name.pop() != Some(0) {
            return Err(damaged());
        }
        let told = usize::from(flags & 0xfff);
        if told < 0xfff && told != name.len() {
            return Err(damaged());
        }
        if version < 4 {
            length += name.len() - before;
            let padding = ((length + 8) & !7) - length - 1;
            index.read_exact(&mut [0; 8][..padding])?;
        }
        let modified = (read_u32(fixed, 8), read_u32(fixed, 12));
        let entry = IndexEntry { mode: read_u32(fixed, 24), modified, size: read_u32(fixed, 36) };
        if with(&name, entry).is_break() {
            break;
        }
    }
    Ok(())
}

/// Reads a big-endian number of four bytes. `bytes` must be long enough.
fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn machine_local_name(name: &[u8], prefix: &[u8]) -> Option<String> {
    let starts =
        |text: &[u8], with: &[u8]| text.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with));
    let rest = starts(name, prefix).then(|| &name[prefix.len()..])?;
    MACHINE_LOCAL_FOLDERS
        .iter()
        .any(|folder| starts(rest, folder))
        .then(|| String::from_utf8_lossy(rest).into_owned())
}

/// Reads a number in git's encoding for offsets. Each byte has seven bits of the number, and its highest bit is set
/// if another byte follows.
fn read_git_varint(index: &mut impl BufRead) -> io::Result<usize> {
    let mut byte = [0];
    index.read_exact(&mut byte)?;
    let mut value = usize::from(byte[0] & 0x7f);
    while byte[0] & 0x80 != 0 {
        index.read_exact(&mut byte)?;
        let next = value.checked_add(1).and_then(|value| value.checked_mul(128));
        value = next.ok_or_else(|| io::Error::from(ErrorKind::InvalidData))? | usize::from(byte[0] & 0x7f);
    }
    Ok(value)
}

#[cfg(test)]
#[path = "tracked_tests.rs"]
mod tests;
