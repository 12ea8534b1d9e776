//! Examines the files in a checkout to find out whether the files that evidence covers have changed.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use model::checkout_path::is_in_store;
use model::evidence::{FileListing, ListedFileState};
use model::plan::sha256_hex;
use rustix::fs::{self, AtFlags, FileType};

use crate::{Dir, FolderEntryKind, Result, tracked};

/// Larger files are compared by size and time only.
const MAX_HASHED_BYTES: usize = 64 * 1024 * 1024;

/// If a file was changed less than this many nanoseconds before it was listed, another change right after the listing
/// may have the same timestamp.
const AMBIGUOUS_TIME_NANOS: i64 = 1_000_000_000;

/// The names of folders with generated files, which are skipped in checkouts without git.
const GENERATED_FOLDERS: [&str; 6] = ["node_modules", "target", "__pycache__", "dist", "build", "venv"];

/// The files that changed most recently are the most likely to change again. This many of them are compared first.
const NEWEST_COMPARED_FIRST: usize = 16;

/// How many files are examined between two reads of the clock.
const FILES_PER_CLOCK_READ: usize = 64;

/// A checkout, and how much of it may still be examined.
#[derive(Debug)]
pub struct Checkout {
    dir: Dir,
    cached_stats: RefCell<HashMap<String, Option<FileStat>>>,
    /// The path and the handle of the folder that was used last. The handle is `None` if that folder does not exist.
    /// The handle is cached because files are examined folder by folder.
    last_folder: RefCell<(String, Option<Dir>)>,
    remaining_effort: Cell<ExaminationLimit>,
}

/// How much a caller may examine. Commands have no limit, but hooks and briefs do.
#[derive(Clone, Copy, Debug)]
pub struct ExaminationLimit {
    pub files: usize,
    /// How many bytes of file content may be read.
    pub bytes: u64,
    pub deadline: Option<Instant>,
}

impl ExaminationLimit {
    pub const UNLIMITED: ExaminationLimit =
        ExaminationLimit { files: usize::MAX, bytes: u64::MAX, deadline: None };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStat {
    size: u64,
    /// When the content was last changed, in nanoseconds. Programs can set this time to any value.
    modified_ns: i64,
    /// When the content or an attribute was last changed, in nanoseconds. Programs cannot set this time.
    inode_changed: i64,
    is_link: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListingComparison {
    Same,
    Changed(String),
    Gone(String),
    /// The limit was reached before all files were compared.
    Unfinished,
}

/// When a listing was made. This determines which file times can be relied on.
#[derive(Clone, Copy, Debug)]
pub enum ListingTime<'c> {
    /// The files were examined at this time or earlier, according to the file system's clock.
    ExaminedBefore(i64),
    /// The files were examined through this `Checkout`, earlier in this process.
    ExaminedThrough(&'c Checkout),
}

impl Checkout {
    pub fn open(path: &Path) -> Result<Checkout> {
        Checkout::open_with_examination_limit(path, ExaminationLimit::UNLIMITED)
    }

    /// Opens a checkout for a caller with limited time.
    pub fn open_with_examination_limit(path: &Path, effort: ExaminationLimit) -> Result<Checkout> {
        let dir = Dir::open(path)?;
        Ok(Checkout {
            dir,
            cached_stats: RefCell::default(),
            last_folder: RefCell::default(),
            remaining_effort: Cell::new(effort),
        })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn has_file(&self, path: &str) -> bool {
        self.file_stat(path).is_some()
    }

    pub fn is_folder(&self, path: &str) -> bool {
        self.dir.open_subfolder(path).is_ok()
    }

    pub fn is_in_git(&self) -> bool {
        self.dir.path().ancestors().any(|folder| folder.join(".git").symlink_metadata().is_ok())
    }

    /// Returns the files that git tracks, without running git. Returns `None` if the checkout is not in git or there
    /// are more than `most` files.
    pub fn tracked_files(&self, most: usize) -> Option<Vec<String>> {
        let files = tracked::tracked_files(self.dir.path(), most)?;
        Some(files.into_iter().filter(|path| !is_in_store(path)).collect())
    }

    /// Returns all files below a folder, for checkouts without git. Returns `None` if there are more than `most`
    /// files.
    pub fn files_below(&self, below: &str, most: usize) -> Option<Vec<String>> {
        let (mut files, mut folders) = (Vec::new(), vec![below.trim_matches('/').to_owned()]);
        while let Some(folder) = folders.pop() {
            let entries = match folder.is_empty() {
                true => self.dir.entries(),
                false => self.dir.open_subfolder(&folder).and_then(|dir| dir.entries()),
            };
            for entry in entries.unwrap_or_default() {
                let path =
                    if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
                let is_made = entry.name.starts_with('.') || GENERATED_FOLDERS.contains(&entry.name.as_str());
                match entry.kind {
                    FolderEntryKind::Folder if !is_made => folders.push(path),
                    FolderEntryKind::File if !is_in_store(&path) => files.push(path),
                    FolderEntryKind::Folder | FolderEntryKind::File | FolderEntryKind::Other => {}
                }
            }
            if files.len() > most {
                return None;
            }
        }
        files.sort_unstable();
        Some(files)
    }

    /// Returns the current state of the files. Missing files are left out. At most `budget` bytes of content are read
    /// in total.
    pub fn list_files<'f>(&self, files: impl IntoIterator<Item = &'f str>, budget: u64) -> FileListing {
        let mut listing = FileListing::default();
        let mut left = budget;
        for path in files {
            let Some(seen) = self.file_stat(path) else { continue };
            let hash = match seen.size <= left {
                true => {
                    left -= seen.size;
                    self.content_hash(path, seen).unwrap_or_default()
                }
                false => String::new(),
            };
            listing.files.insert(
                path.to_owned(),
                ListedFileState { size: seen.size, modified_ns: seen.modified_ns, hash },
            );
        }
        listing
    }

    /// Compares the files with a listing, and returns the first difference.
    pub fn compare_with_listing(&self, listing: &FileListing, listed: ListingTime) -> ListingComparison {
        let mut newest: Vec<(&String, &ListedFileState)> = listing.files.iter().collect();
        if newest.len() > NEWEST_COMPARED_FIRST {
            newest.select_nth_unstable_by_key(NEWEST_COMPARED_FIRST - 1, |(_, state)| {
                Reverse(state.modified_ns)
            });
            newest.truncate(NEWEST_COMPARED_FIRST);
        }
        newest.sort_by_key(|(path, state)| (Reverse(state.modified_ns), *path));
        for (path, state) in newest.into_iter().chain(&listing.files) {
            match self.compare_file(path, state, listed) {
                ListingComparison::Same => {}
                other => return other,
            }
        }
        ListingComparison::Same
    }

    fn compare_file(&self, path: &str, state: &ListedFileState, listed: ListingTime) -> ListingComparison {
        if !self.has_effort_left() {
            return ListingComparison::Unfinished;
        }
        let Some(seen) = self.file_stat(path) else { return ListingComparison::Gone(path.to_owned()) };
        let same = |is_same: bool| match is_same {
            true => ListingComparison::Same,
            false => ListingComparison::Changed(path.to_owned()),
        };
        if seen.size != state.size {
            return same(false);
        }
        let is_same_look = seen.modified_ns == state.modified_ns;
        // Compare the inode's change time. Every change updates it, even if a program resets the modification time.
        let (is_untouched, is_long_untouched) = match listed {
            ListingTime::ExaminedBefore(at) => {
                let last = seen.modified_ns.max(seen.inode_changed);
                (seen.inode_changed <= at, last < at.saturating_sub(AMBIGUOUS_TIME_NANOS))
            }
            ListingTime::ExaminedThrough(earlier) => (earlier.file_stat(path) == Some(seen), false),
        };
        if state.hash.is_empty() {
            return same(is_same_look && is_untouched);
        }
        if is_same_look
            && (is_long_untouched || matches!(listed, ListingTime::ExaminedThrough(_)) && is_untouched)
        {
            return ListingComparison::Same;
        }
        let left = self.remaining_effort.get();
        let Some(bytes) = left.bytes.checked_sub(seen.size) else { return ListingComparison::Unfinished };
        self.remaining_effort.set(ExaminationLimit { bytes, ..left });
        same(self.content_hash(path, seen).is_some_and(|hash| hash == state.hash))
    }

    /// Returns the first of these files that may have changed at or after `at`, a time in nanoseconds by the file
    /// system's clock. For a missing file, the change time of its folder is used, because that time shows when the file
    /// was removed.
    pub fn first_changed_since<'f>(
        &self,
        files: impl IntoIterator<Item = &'f str>,
        at: impl Fn(&str) -> i64,
    ) -> Option<&'f str> {
        files.into_iter().find(|path| match self.file_stat(path) {
            Some(seen) => seen.modified_ns.max(seen.inode_changed) >= at(path),
            // A submodule is a folder, and git tracks only its commit, so it does not count as a missing file.
            None => !self.is_folder(path) && self.folder_change_time(path) >= at(path),
        })
    }

    /// Returns the change time of the nearest existing folder above `path`. This time is updated whenever an entry in
    /// the folder is created, renamed or removed.
    fn folder_change_time(&self, path: &str) -> i64 {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]).rev();
        let nearest = folders.chain(std::iter::once("."));
        nearest
            .filter_map(|folder| {
                let dir = if folder == "." { None } else { Some(self.dir.open_subfolder(folder).ok()?) };
                let stat = fs::fstat(dir.as_ref().unwrap_or(&self.dir)).ok()?;
                Some(to_nanoseconds(stat.st_ctime, stat.st_ctime_nsec))
            })
            .next()
            .unwrap_or(i64::MAX)
    }

    fn has_effort_left(&self) -> bool {
        let ExaminationLimit { files, bytes, deadline: until } = self.remaining_effort.get();
        let Some(left) = files.checked_sub(1) else { return false };
        self.remaining_effort.set(ExaminationLimit { files: left, bytes, deadline: until });
        until.is_none_or(|until| !left.is_multiple_of(FILES_PER_CLOCK_READ) || Instant::now() < until)
    }

    /// Returns the hash of a file's content. For a link, this is the hash of the target's path, because links are not
    /// followed.
    fn content_hash(&self, path: &str, seen: FileStat) -> Option<String> {
        if seen.is_link {
            let target = self.with_parent_folder(path, |dir, name| fs::readlinkat(dir, name, Vec::new()))?;
            return Some(sha256_hex(&[b"link\0", target.as_bytes()].concat()));
        }
        self.dir.read_file(path, MAX_HASHED_BYTES).ok().map(|bytes| sha256_hex(&bytes))
    }

    fn file_stat(&self, path: &str) -> Option<FileStat> {
        if let Some(known) = self.cached_stats.borrow().get(path) {
            return *known;
        }
        let stat =
            self.with_parent_folder(path, |dir, name| fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW));
        let seen = stat.and_then(|stat| {
            let kind = FileType::from_raw_mode(stat.st_mode);
            matches!(kind, FileType::RegularFile | FileType::Symlink).then(|| FileStat {
                size: stat.st_size.unsigned_abs(),
                modified_ns: to_nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
                inode_changed: to_nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
                is_link: kind == FileType::Symlink,
            })
        });
        self.cached_stats.borrow_mut().insert(path.to_owned(), seen);
        seen
    }

    /// Calls `look` with a file's folder and the file's name in it. The folder is opened beneath the checkout without
    /// following links, so that a path in a record cannot lead out of the checkout.
    fn with_parent_folder<T>(
        &self,
        path: &str,
        look: impl FnOnce(&Dir, &str) -> rustix::io::Result<T>,
    ) -> Option<T> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if path.starts_with('/') || matches!(name, "" | "." | "..") {
            return None;
        }
        if folder.is_empty() {
            return look(&self.dir, name).ok();
        }
        let mut open = self.last_folder.borrow_mut();
        if open.0 != folder {
            *open = (folder.to_owned(), self.dir.open_subfolder(folder).ok());
        }
        look(open.1.as_ref()?, name).ok()
    }
}

pub(crate) fn to_nanoseconds(seconds: i64, nanoseconds: impl TryInto<i64>) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds.try_into().unwrap_or(0))
}
