//! A handle to an open folder. Names are resolved beneath that folder, and symbolic links are never followed.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::time;
use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::read::{io_error, read_lines, read_open_file, require_regular_file};
use crate::system::{self, OPEN_FLAGS};
use crate::{Error, GitTrackedFiles, Result};

#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
    /// The machine-local files that git tracks. They came with a commit, so they are treated as absent.
    pub(crate) tracked_local_files: GitTrackedFiles,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    pub name: String,
    pub kind: FolderEntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderEntryKind {
    File,
    Folder,
    /// A link, a pipe or a socket. thru never creates one.
    Other,
}

/// Only the owner can read folders, because they contain what people wrote to their agents.
const OWNER_ONLY_FOLDER_MODE: Mode = Mode::from_raw_mode(0o700);

impl Dir {
    /// Opens one of the user's folders, such as a root or the state folder. Links in the path are followed, because
    /// the user created them.
    pub fn open(path: &Path) -> Result<Dir> {
        let fd = fs::openat(CWD, path, OFlags::DIRECTORY | OPEN_FLAGS, Mode::empty())
            .map_err(|e| Error::from_errno(e, path, "open"))?;
        Ok(Dir { fd, path: path.to_owned(), tracked_local_files: GitTrackedFiles::NoneTracked })
    }

    /// Opens `path` if no part of it is a link. The error `NOENT` means that the path does not exist. After any other
    /// error, the caller must try `open`. `open_if_without_links` takes one system call instead of two, which matters in a search
    /// that checks every parent of a folder.
    pub(crate) fn open_if_without_links(path: &Path) -> rustix::io::Result<Dir> {
        let fd = system::open_without_links(path, OFlags::DIRECTORY)?;
        Ok(Dir { fd, path: path.to_owned(), tracked_local_files: GitTrackedFiles::NoneTracked })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn with_display_path(self, path: PathBuf) -> Dir {
        Dir { path, ..self }
    }

    pub fn open_subfolder(&self, rel: &str) -> Result<Dir> {
        let fd = self.open_beneath(rel, OFlags::DIRECTORY, Mode::empty(), "open")?;
        Ok(Dir { fd, path: self.path.join(rel), tracked_local_files: GitTrackedFiles::NoneTracked })
    }

    /// Opens a subfolder, and creates missing folders. Only the owner can read new folders.
    pub fn create_subfolder(&self, rel: &str) -> Result<Dir> {
        self.create_subfolder_with_mode(rel, OWNER_ONLY_FOLDER_MODE)
    }

    /// Opens a subfolder that belongs to another program, and creates missing folders. New folders get their mode
    /// from the umask.
    pub fn create_subfolder_by_umask(&self, rel: &str) -> Result<Dir> {
        self.create_subfolder_with_mode(rel, Mode::from_raw_mode(0o777))
    }

    fn create_subfolder_with_mode(&self, rel: &str, mode: Mode) -> Result<Dir> {
        match self.open_subfolder(rel) {
            Err(Error::Absent { .. }) => {}
            done => return done,
        }
        let mut made = String::new();
        for part in rel.split('/') {
            made = if made.is_empty() { part.to_owned() } else { format!("{made}/{part}") };
            let parent = match made.rsplit_once('/') {
                Some((parent, _)) => &self.open_subfolder(parent)?,
                None => self,
            };
            match fs::mkdirat(&parent.fd, part, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(Error::from_errno(e, &self.path.join(&made), "create a folder")),
            }
        }
        self.open_subfolder(rel)
    }

    /// Creates a folder in this one. Returns false if the name is taken.
    pub(crate) fn create_new_folder(&self, name: &str) -> Result<bool> {
        match fs::mkdirat(&self.fd, name, OWNER_ONLY_FOLDER_MODE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(e) => Err(Error::from_errno(e, &self.path.join(name), "create a folder")),
        }
    }

    /// Reads a whole small file. Returns an error if the file has more than `max` bytes, because thru never writes a
    /// larger one.
    pub fn read_file(&self, rel: &str, max: usize) -> Result<Vec<u8>> {
        self.read_keeping_open(rel, max).map(|(bytes, _)| bytes)
    }

    /// Reads a file and also returns its handle. A hook exits soon afterwards, so leaving the file open saves a system
    /// call.
    pub(crate) fn read_keeping_open(&self, rel: &str, max: usize) -> Result<(Vec<u8>, File)> {
        let file = File::from(self.open_to_read(rel)?);
        Ok((read_open_file(&file, &self.path.join(rel), max)?, file))
    }

    /// Reads the last `max` bytes of a file, without an incomplete line at the beginning.
    pub fn read_tail(&self, rel: &str, max: u64) -> Result<Vec<u8>> {
        let path = self.path.join(rel);
        let (file, size) = self.open_file(rel)?;
        let start = size.saturating_sub(max);
        let mut bytes = vec![0; usize::try_from(size - start).unwrap_or(0)];
        let got = file.read_at(&mut bytes, start).map_err(|e| io_error(&e, &path, "read"))?;
        bytes.truncate(got);
        if start > 0 {
            let end = bytes.iter().position(|b| *b == b'\n').map_or(bytes.len(), |end| end + 1);
            bytes.drain(..end);
        }
        Ok(bytes)
    }

    /// Reads the first `max` bytes of a file, or the whole file if it is shorter.
    pub fn read_start(&self, rel: &str, max: usize) -> Result<Vec<u8>> {
        let (file, size) = self.open_file(rel)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(max).min(max)];
        let got = file.read_at(&mut bytes, 0).map_err(|e| io_error(&e, &self.path.join(rel), "read"))?;
        bytes.truncate(got);
        Ok(bytes)
    }

    /// Opens a regular file for reading and returns its size.
    pub(crate) fn open_file(&self, rel: &str) -> Result<(File, u64)> {
        let fd = self.open_to_read(rel)?;
        let size = require_regular_file(fd.as_fd(), &self.path.join(rel))?;
        Ok((File::from(fd), size))
    }

    /// Removes a state file below this folder. A missing file is not an error. Records that people can edit are never
    /// removed.
    pub fn remove_file(&self, rel: &str) -> Result<()> {
        let (folder, name) = rel.rsplit_once('/').map_or((None, rel), |(folder, name)| (Some(folder), name));
        let removed = match folder {
            Some(folder) => match self.open_subfolder(folder) {
                Ok(folder) => fs::unlinkat(&folder, name, AtFlags::empty()),
                Err(Error::Absent { .. }) => return Ok(()),
                Err(e) => return Err(e),
            },
            None => fs::unlinkat(self, name, AtFlags::empty()),
        };
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(Error::from_errno(e, &self.path.join(rel), "remove")),
        }
    }

    /// Calls `each` with the number and the content of every line in a file, without the line end. The file may have
    /// any size, but lines longer than a megabyte are cut.
    pub fn each_line(&self, rel: &str, mut each: impl FnMut(usize, &[u8])) -> Result<()> {
        let (file, size) = self.open_file(rel)?;
        let mut number = 0;
        let ending = read_lines(&file, &self.path.join(rel), 0, size, |line| {
            number += 1;
            each(number, line);
        })?;
        if !ending.unfinished_line.is_empty() {
            each(number + 1, &ending.unfinished_line);
        }
        Ok(())
    }

    /// Lists the entries in this folder. Names that are not Unicode are skipped, because thru never creates any.
    pub fn entries(&self) -> Result<Vec<FolderEntry>> {
        let fail = |e| Error::from_errno(e, &self.path, "list");
        let mut entries = Vec::new();
        for entry in fs::Dir::read_from(&self.fd).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.entry_kind(name)?,
                known => entry_kind_from(known),
            };
            entries.push(FolderEntry { name: name.to_owned(), kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Returns at most `most` names, in no particular order. This is for folders that may be very large.
    pub fn list_names_up_to(&self, most: usize) -> Result<Vec<String>> {
        let fail = |e| Error::from_errno(e, &self.path, "list");
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd).map_err(fail)? {
            if names.len() == most {
                break;
            }
            match entry.map_err(fail)?.file_name().to_str() {
                Ok(name) if !matches!(name, "." | "..") => names.push(name.to_owned()),
                _ => {}
            }
        }
        Ok(names)
    }

    /// Determines the kind of an entry. Some file systems do not report it when a folder is listed.
    pub(crate) fn entry_kind(&self, name: &str) -> Result<FolderEntryKind> {
        let stat = fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|e| Error::from_errno(e, &self.path.join(name), "look at"))?;
        Ok(entry_kind_from(FileType::from_raw_mode(stat.st_mode)))
    }

    /// Renames an entry if the new name is free, and fails otherwise.
    pub(crate) fn rename_if_new_name_is_free(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        system::rename_if_new_name_is_free(self.fd.as_fd(), from, to)
    }

    /// Renames an entry, if it exists, so that its content is kept. Returns the new name, which is made from `word`.
    pub fn rename_aside(&self, name: &str, word: &str) -> Result<Option<String>> {
        let first = format!("{name}.{word}");
        let names = std::iter::once(first.clone()).chain((2..10_000).map(|n| format!("{first}-{n}")));
        for kept in names {
            match self.rename_if_new_name_is_free(name, &kept) {
                Ok(()) => {
                    self.sync_folder()?;
                    return Ok(Some(kept));
                }
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::EXIST) => {}
                Err(e) => return Err(Error::from_errno(e, &self.path.join(name), "rename")),
            }
        }
        Err(Error::Refused {
            path: self.path.join(first),
            why: "too many copies of this file were kept".to_owned(),
        })
    }

    /// Renames a damaged file that must be replaced, and returns the new name.
    pub fn rename_damaged_aside(&self, name: &str, now: Timestamp) -> Result<Option<String>> {
        self.rename_aside(name, &format!("damaged-{}", time::format_time_for_file_name(now)))
    }

    /// Renames a record. The rename is on disk when this returns.
    pub fn rename_synced(&self, from: &str, to: &str) -> Result<()> {
        fs::renameat(&self.fd, from, &self.fd, to)
            .map_err(|e| Error::from_errno(e, &self.path.join(from), "rename"))?;
        self.sync_folder()
    }

    /// Syncs the folder, so that created, renamed and removed entries survive a power cut.
    pub(crate) fn sync_folder(&self) -> Result<()> {
        system::sync_folder(self.fd.as_fd()).map_err(|e| Error::from_errno(e, &self.path, "sync"))
    }

    /// Opens a file for reading. Every function that reads content uses this one, so that tracked files are hidden
    /// from all of them.
    fn open_to_read(&self, rel: &str) -> Result<OwnedFd> {
        if self.tracked_local_files.treats_as_absent(rel) {
            return Err(Error::Absent { path: self.path.join(rel) });
        }
        self.open_beneath(rel, OFlags::RDONLY, Mode::empty(), "read")
    }

    pub(crate) fn open_beneath(
        &self,
        rel: &str,
        flags: OFlags,
        mode: Mode,
        doing: &'static str,
    ) -> Result<OwnedFd> {
        system::open_beneath(self.fd.as_fd(), rel, flags, mode)
            .map_err(|e| Error::from_errno(e, &self.path.join(rel), doing))
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn entry_kind_from(kind: FileType) -> FolderEntryKind {
    match kind {
        FileType::RegularFile => FolderEntryKind::File,
        FileType::Directory => FolderEntryKind::Folder,
        _ => FolderEntryKind::Other,
    }
}

#[cfg(test)]
#[path = "dir_tests.rs"]
mod tests;
