//! The files of a checkout, for evidence that is bound to them: which there are, and whether they are unchanged.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use model::evidence::{FileState, Listing};
use model::plan::hash;
use rustix::fs::{self, AtFlags, FileType};

use crate::{Dir, EntryKind, Result, layout, tracked};

/// A larger file is compared by size and time.
const LARGEST: usize = 64 * 1024 * 1024;

/// A file that changed this shortly before a look may change again without a new time.
const TOO_CLOSE: i64 = 1_000_000_000;

/// Folders with generated files. Only used without git.
const MADE: [&str; 6] = ["node_modules", "target", "__pycache__", "dist", "build", "venv"];

/// A checkout, and what was already examined in it.
#[derive(Debug)]
pub struct Checkout {
    dir: Dir,
    looked: RefCell<HashMap<String, Option<Seen>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    size: u64,
    changed: i64,
    is_link: bool,
}

/// What a check of a listing found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    Changed(String),
    Gone(String),
}

impl Checkout {
    pub fn open(path: &Path) -> Result<Checkout> {
        Ok(Checkout { dir: Dir::open(path)?, looked: RefCell::default() })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns whether there is a file, or a link, of that name.
    pub fn has(&self, path: &str) -> bool {
        self.look(path).is_some()
    }

    pub fn is_folder(&self, path: &str) -> bool {
        self.dir.sub(path).is_ok()
    }

    pub fn is_in_git(&self) -> bool {
        self.dir.path().ancestors().any(|folder| folder.join(".git").symlink_metadata().is_ok())
    }

    /// Returns what git tracks, without running git. `None` outside git, and for more than `most` files.
    pub fn tracked(&self, most: usize) -> Option<Vec<String>> {
        let files = tracked::tracked_files(self.dir.path(), most)?;
        Some(files.into_iter().filter(|path| !is_ours(path)).collect())
    }

    /// Returns every file below a folder, if there is no git. `None` for more than `most` files.
    pub fn walk(&self, below: &str, most: usize) -> Option<Vec<String>> {
        let (mut files, mut folders) = (Vec::new(), vec![below.trim_matches('/').to_owned()]);
        while let Some(folder) = folders.pop() {
            let entries = match folder.is_empty() {
                true => self.dir.entries(),
                false => self.dir.sub(&folder).and_then(|dir| dir.entries()),
            };
            for entry in entries.unwrap_or_default() {
                let path =
                    if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
                let is_made = entry.name.starts_with('.') || MADE.contains(&entry.name.as_str());
                match entry.kind {
                    EntryKind::Folder if !is_made => folders.push(path),
                    EntryKind::File if !is_ours(&path) => files.push(path),
                    EntryKind::Folder | EntryKind::File | EntryKind::Other => {}
                }
            }
            if files.len() > most {
                return None;
            }
        }
        files.sort_unstable();
        Some(files)
    }

    /// Returns the current state of files. Missing ones are left out; content is read up to `budget` bytes in total.
    pub fn listing<'f>(&self, files: impl IntoIterator<Item = &'f str>, budget: u64) -> Listing {
        let mut listing = Listing::default();
        let mut left = budget;
        for path in files {
            let Some(seen) = self.look(path) else { continue };
            let hash = match seen.size <= left {
                true => {
                    left -= seen.size;
                    self.hash(path, seen).unwrap_or_default()
                }
                false => String::new(),
            };
            listing.files.insert(path.to_owned(), FileState { size: seen.size, changed: seen.changed, hash });
        }
        listing
    }

    /// Returns the first file that differs from a listing, which was written at `written`.
    pub fn difference(&self, listing: &Listing, written: i64) -> Option<Difference> {
        // Newest first: what was being worked on is most likely to have changed.
        let mut files: Vec<(&String, &FileState)> = listing.files.iter().collect();
        files.sort_by_key(|(_, state)| std::cmp::Reverse(state.changed));
        files.into_iter().find_map(|(path, state)| self.differs(path, state, written))
    }

    fn differs(&self, path: &str, state: &FileState, written: i64) -> Option<Difference> {
        let Some(seen) = self.look(path) else { return Some(Difference::Gone(path.to_owned())) };
        let changed = || Some(Difference::Changed(path.to_owned()));
        let is_same_look = seen.size == state.size && seen.changed == state.changed;
        if state.hash.is_empty() {
            return if is_same_look { None } else { changed() };
        }
        if seen.size != state.size {
            return changed();
        }
        if is_same_look && seen.changed < written.saturating_sub(TOO_CLOSE) {
            return None;
        }
        match self.hash(path, seen) {
            Some(hash) if hash == state.hash => None,
            _ => changed(),
        }
    }

    /// A link is compared by its target: it is not followed.
    fn hash(&self, path: &str, seen: Seen) -> Option<String> {
        if seen.is_link {
            let target = fs::readlinkat(&self.dir, path, Vec::new()).ok()?;
            return Some(hash(&[b"link\0", target.as_bytes()].concat()));
        }
        self.dir.read(path, LARGEST).ok().map(|bytes| hash(&bytes))
    }

    fn look(&self, path: &str) -> Option<Seen> {
        if let Some(known) = self.looked.borrow().get(path) {
            return *known;
        }
        let stat = fs::statat(&self.dir, path, AtFlags::SYMLINK_NOFOLLOW).ok();
        let seen = stat.and_then(|stat| {
            let kind = FileType::from_raw_mode(stat.st_mode);
            let nanos = i32::try_from(stat.st_mtime_nsec).unwrap_or(0);
            matches!(kind, FileType::RegularFile | FileType::Symlink).then(|| Seen {
                size: stat.st_size.unsigned_abs(),
                changed: stat.st_mtime.saturating_mul(1_000_000_000).saturating_add(i64::from(nanos)),
                is_link: kind == FileType::Symlink,
            })
        });
        self.looked.borrow_mut().insert(path.to_owned(), seen);
        seen
    }
}

/// Our own records change all the time.
fn is_ours(path: &str) -> bool {
    path.strip_prefix(layout::STORE).is_some_and(|rest| rest.starts_with('/'))
}
