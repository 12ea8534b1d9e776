//! A folder held open by its handle. Names are resolved beneath it and through no symbolic link.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::time;
use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::read::{io_error, read_lines, read_whole, require_file};
use crate::system::{self, ALWAYS};
use crate::{Error, Result, Tracked};

#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
    /// Files that are read as if they were not there: they came with a commit, and belong to this machine.
    pub(crate) tracked: Tracked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A link, a pipe, a socket: nothing that thru puts there.
    Other,
}

/// Folders hold what people said to their agents.
const OWNER_ONLY: Mode = Mode::from_raw_mode(0o700);

impl Dir {
    /// Opens a folder that belongs to the user (a root, the state folder). Links on the way to it are the user's own.
    pub fn open(path: &Path) -> Result<Dir> {
        let fd = fs::openat(CWD, path, OFlags::DIRECTORY | ALWAYS, Mode::empty())
            .map_err(|e| Error::from_errno(e, path, "open"))?;
        Ok(Dir { fd, path: path.to_owned(), tracked: Tracked::Nothing })
    }

    /// Opens `path` if no link stands in any part of it. Any error but "not there" says only that this way did not do.
    /// One call instead of two, which counts when every ancestor of a folder is asked.
    pub(crate) fn open_direct(path: &Path) -> rustix::io::Result<Dir> {
        let fd = system::open_without_links(path, OFlags::DIRECTORY)?;
        Ok(Dir { fd, path: path.to_owned(), tracked: Tracked::Nothing })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same folder under the name the user knows it by, for messages.
    pub(crate) fn at(self, path: PathBuf) -> Dir {
        Dir { path, ..self }
    }

    /// Opens a folder below this one.
    pub fn sub(&self, rel: &str) -> Result<Dir> {
        let fd = self.open_beneath(rel, OFlags::DIRECTORY, Mode::empty(), "open")?;
        Ok(Dir { fd, path: self.path.join(rel), tracked: Tracked::Nothing })
    }

    /// Opens a folder below this one, making what is missing, for its owner alone.
    pub fn make(&self, rel: &str) -> Result<Dir> {
        self.make_with(rel, OWNER_ONLY)
    }

    /// The same for a folder of another program, as the umask has it.
    pub fn make_by_umask(&self, rel: &str) -> Result<Dir> {
        self.make_with(rel, Mode::from_raw_mode(0o777))
    }

    fn make_with(&self, rel: &str, mode: Mode) -> Result<Dir> {
        match self.sub(rel) {
            Err(Error::Absent { .. }) => {}
            done => return done,
        }
        let mut made = String::new();
        for part in rel.split('/') {
            made = if made.is_empty() { part.to_owned() } else { format!("{made}/{part}") };
            let parent = match made.rsplit_once('/') {
                Some((parent, _)) => &self.sub(parent)?,
                None => self,
            };
            match fs::mkdirat(&parent.fd, part, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(e) => return Err(Error::from_errno(e, &self.path.join(&made), "make a folder")),
            }
        }
        self.sub(rel)
    }

    /// Makes one folder in this one. False when there is something of that name.
    pub(crate) fn make_new(&self, name: &str) -> Result<bool> {
        match fs::mkdirat(&self.fd, name, OWNER_ONLY) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(e) => Err(Error::from_errno(e, &self.path.join(name), "make a folder")),
        }
    }

    /// The whole of a small file. Over `max` bytes it is not one of ours.
    pub fn read(&self, rel: &str, max: usize) -> Result<Vec<u8>> {
        self.read_keeping_open(rel, max).map(|(bytes, _)| bytes)
    }

    /// The same with its file, for who has a reason not to close it: a hook ends soon, and every call counts in it.
    pub(crate) fn read_keeping_open(&self, rel: &str, max: usize) -> Result<(Vec<u8>, File)> {
        let file = File::from(self.open_to_read(rel)?);
        Ok((read_whole(&file, &self.path.join(rel), max)?, file))
    }

    /// The last `max` bytes of a file, from a line's beginning on.
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

    /// The first `max` bytes of a file, or all of a shorter one.
    pub fn read_start(&self, rel: &str, max: usize) -> Result<Vec<u8>> {
        let (file, size) = self.open_file(rel)?;
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(max).min(max)];
        let got = file.read_at(&mut bytes, 0).map_err(|e| io_error(&e, &self.path.join(rel), "read"))?;
        bytes.truncate(got);
        Ok(bytes)
    }

    /// Opens a regular file to read it, and says how large it is.
    pub(crate) fn open_file(&self, rel: &str) -> Result<(File, u64)> {
        let fd = self.open_to_read(rel)?;
        let size = require_file(fd.as_fd(), &self.path.join(rel))?;
        Ok((File::from(fd), size))
    }

    /// Removes a file of this folder that is ours to remove: state, never a record. Absent is fine.
    pub fn remove(&self, rel: &str) -> Result<()> {
        let (folder, name) = rel.rsplit_once('/').map_or((None, rel), |(folder, name)| (Some(folder), name));
        let removed = match folder {
            Some(folder) => match self.sub(folder) {
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

    /// Every line of a file, without its line end, however large the file is. Of a line over a megabyte only the beginning.
    pub fn each_line(&self, rel: &str, mut each: impl FnMut(usize, &[u8])) -> Result<()> {
        let (file, size) = self.open_file(rel)?;
        let mut number = 0;
        let ending = read_lines(&file, &self.path.join(rel), 0, size, |line| {
            number += 1;
            each(number, line);
        })?;
        if !ending.rest.is_empty() {
            each(number + 1, &ending.rest);
        }
        Ok(())
    }

    /// What the folder holds, by name. Names that are no Unicode are not ours and left out.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        let fail = |e| Error::from_errno(e, &self.path, "list");
        let mut entries = Vec::new();
        for entry in fs::Dir::read_from(&self.fd).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind(name)?,
                known => kind_of(known),
            };
            entries.push(Entry { name: name.to_owned(), kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The names of at most `most` entries, in no order: enough to say how many there are, where that may be very many.
    pub fn names_up_to(&self, most: usize) -> Result<Vec<String>> {
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

    /// What stands under a name. Some file systems do not tell it with the name.
    pub(crate) fn kind(&self, name: &str) -> Result<EntryKind> {
        let stat = fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|e| Error::from_errno(e, &self.path.join(name), "look at"))?;
        Ok(kind_of(FileType::from_raw_mode(stat.st_mode)))
    }

    /// Renames only if the new name is free. What is there is never overwritten.
    pub(crate) fn rename_to_free(&self, from: &str, to: &str) -> rustix::io::Result<()> {
        system::rename_to_free(self.fd.as_fd(), from, to)
    }

    /// Moves what stands in this folder under a name out of the way, whatever it is, and says where to. Nothing is ever deleted.
    pub fn set_aside(&self, name: &str, word: &str) -> Result<Option<String>> {
        let first = format!("{name}.{word}");
        let names = std::iter::once(first.clone()).chain((2..10_000).map(|n| format!("{first}-{n}")));
        for kept in names {
            match self.rename_to_free(name, &kept) {
                Ok(()) => {
                    self.sync()?;
                    return Ok(Some(kept));
                }
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::EXIST) => {}
                Err(e) => return Err(Error::from_errno(e, &self.path.join(name), "rename")),
            }
        }
        Err(Error::Refused { path: self.path.join(first), why: "there are too many of these".to_owned() })
    }

    /// The same for what cannot be read and must be replaced.
    pub fn set_damaged_aside(&self, name: &str, now: Timestamp) -> Result<Option<String>> {
        self.set_aside(name, &format!("damaged-{}", time::compact(now)))
    }

    /// Renames a record, for good when it returns.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        fs::renameat(&self.fd, from, &self.fd, to)
            .map_err(|e| Error::from_errno(e, &self.path.join(from), "rename"))?;
        self.sync()
    }

    /// What was made, renamed or removed in this folder stays so.
    pub(crate) fn sync(&self) -> Result<()> {
        system::sync_folder(self.fd.as_fd()).map_err(|e| Error::from_errno(e, &self.path, "sync"))
    }

    /// The one way to a file's content.
    fn open_to_read(&self, rel: &str) -> Result<OwnedFd> {
        if self.tracked.hides(rel) {
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

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        _ => EntryKind::Other,
    }
}

#[cfg(test)]
#[path = "dir_tests.rs"]
mod tests;
