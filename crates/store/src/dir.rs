//! A folder held open by its handle. Names are resolved beneath it and through no symbolic link.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::time;
use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::{Error, Result};

#[derive(Debug)]
pub struct Dir {
    fd: OwnedFd,
    path: PathBuf,
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

/// A pipe in place of a file must not hold up a hook, so nothing is opened in a way that could block.
const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// Folders hold what people said to their agents.
const OWNER_ONLY: Mode = Mode::from_raw_mode(0o700);

/// How much of a log is read at a time.
const CHUNK: usize = 128 * 1024;

impl Dir {
    /// Opens a folder that belongs to the user (a root, the state folder). Links on the way to it are the user's own.
    pub fn open(path: &Path) -> Result<Dir> {
        let fd = fs::openat(CWD, path, OFlags::DIRECTORY | ALWAYS, Mode::empty())
            .map_err(|e| Error::from_errno(e, path, "open"))?;
        Ok(Dir { fd, path: path.to_owned() })
    }

    /// Opens `path` if no link stands in any part of it. Any error but "not there" says only that this way did not do.
    /// One call instead of two, which counts when every ancestor of a folder is asked.
    pub(crate) fn open_direct(path: &Path) -> rustix::io::Result<Dir> {
        let fd = raw::open_without_links(path, OFlags::DIRECTORY)?;
        Ok(Dir { fd, path: path.to_owned() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same folder under the name the user knows it by, for messages.
    pub(crate) fn at(self, path: PathBuf) -> Dir {
        Dir { fd: self.fd, path }
    }

    /// Opens a folder below this one.
    pub fn sub(&self, rel: &str) -> Result<Dir> {
        let fd = self.open_beneath(rel, OFlags::DIRECTORY, Mode::empty(), "open")?;
        Ok(Dir { fd, path: self.path.join(rel) })
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
        let file = File::from(self.open_beneath(rel, OFlags::RDONLY, Mode::empty(), "read")?);
        Ok((read_whole(&file, &self.path.join(rel), max)?, file))
    }

    /// The last `max` bytes of a file, from a line's beginning on.
    pub fn read_tail(&self, rel: &str, max: u64) -> Result<Vec<u8>> {
        let path = self.path.join(rel);
        let fd = self.open_beneath(rel, OFlags::RDONLY, Mode::empty(), "read")?;
        let size = require_file(fd.as_fd(), &path)?;
        let file = File::from(fd);
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

    /// What stands in a file from `offset` on. None where it is shorter: it is not the file that was read before.
    pub(crate) fn read_from(&self, rel: &str, offset: u64) -> Result<Option<Vec<u8>>> {
        let path = self.path.join(rel);
        let fd = self.open_beneath(rel, OFlags::RDONLY, Mode::empty(), "read")?;
        let size = require_file(fd.as_fd(), &path)?;
        let Some(length) = size.checked_sub(offset) else { return Ok(None) };
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let got = File::from(fd).read_at(&mut bytes, offset).map_err(|e| io_error(&e, &path, "read"))?;
        bytes.truncate(got);
        Ok(Some(bytes))
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

    /// Every line of a file, without its line end, however large the file is.
    pub fn each_line(&self, rel: &str, mut each: impl FnMut(usize, &[u8])) -> Result<()> {
        let path = self.path.join(rel);
        let mut file = File::from(self.open_beneath(rel, OFlags::RDONLY, Mode::empty(), "read")?);
        require_file(file.as_fd(), &path)?;
        let (mut pending, mut chunk, mut number) = (Vec::new(), vec![0; CHUNK], 0);
        loop {
            let got = file.read(&mut chunk).map_err(|e| io_error(&e, &path, "read"))?;
            let mut rest = &chunk[..got];
            while let Some(end) = rest.iter().position(|b| *b == b'\n') {
                pending.extend_from_slice(&rest[..end]);
                number += 1;
                each(number, &pending);
                pending.clear();
                rest = &rest[end + 1..];
            }
            pending.extend_from_slice(rest);
            if got == 0 {
                break;
            }
        }
        if !pending.is_empty() {
            each(number + 1, &pending);
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
        match raw::rename_to_free(self.fd.as_fd(), from, to) {
            // Not every kernel and file system can look and rename in one step.
            Err(Errno::NOSYS | Errno::INVAL) => {}
            renamed => return renamed,
        }
        match fs::statat(&self.fd, to, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => fs::renameat(&self.fd, from, &self.fd, to),
            Ok(_) => Err(Errno::EXIST),
            Err(e) => Err(e),
        }
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
        fs::fsync(&self.fd).map_err(|e| Error::from_errno(e, &self.path, "sync"))
    }

    pub(crate) fn open_beneath(
        &self,
        rel: &str,
        flags: OFlags,
        mode: Mode,
        doing: &'static str,
    ) -> Result<OwnedFd> {
        let opened = match raw::open_beneath(self.fd.as_fd(), rel, flags, mode) {
            // Old kernels do not have the call, and some sandboxes refuse what they do not know.
            Err(Errno::NOSYS | Errno::PERM) => self.open_by_parts(rel, flags, mode),
            opened => opened,
        };
        opened.map_err(|e| Error::from_errno(e, &self.path.join(rel), doing))
    }

    /// The same with one step per folder, for systems without `openat2`.
    fn open_by_parts(&self, rel: &str, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        let flags = flags | ALWAYS | OFlags::NOFOLLOW;
        let mut folder: Option<OwnedFd> = None;
        let mut parts = rel.split('/').peekable();
        while let Some(part) = parts.next() {
            if matches!(part, "" | "." | "..") {
                return Err(Errno::INVAL);
            }
            let at = folder.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            let last = parts.peek().is_none();
            let step = if last { flags } else { OFlags::DIRECTORY | OFlags::NOFOLLOW | ALWAYS };
            let opened = match fs::openat(at, part, step, mode) {
                // With O_DIRECTORY a link is reported as "not a folder": tell the two apart.
                Err(Errno::NOTDIR) if is_link(at, part) => Err(Errno::LOOP),
                opened => opened,
            }?;
            folder = Some(opened);
        }
        folder.ok_or(Errno::INVAL)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The kernel's own guarantee, where there is one.
#[cfg(target_os = "linux")]
mod raw {
    use super::{ALWAYS, BorrowedFd, CWD, Mode, OFlags, OwnedFd, Path, fs};
    use rustix::fs::ResolveFlags;

    pub fn open_beneath(at: BorrowedFd, rel: &str, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        fs::openat2(at, rel, flags | ALWAYS, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    }

    pub fn rename_to_free(at: BorrowedFd, from: &str, to: &str) -> rustix::io::Result<()> {
        fs::renameat_with(at, from, at, to, fs::RenameFlags::NOREPLACE)
    }

    pub fn open_without_links(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        fs::openat2(CWD, path, flags | ALWAYS, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    }
}

#[cfg(not(target_os = "linux"))]
mod raw {
    use super::{BorrowedFd, Errno, Mode, OFlags, OwnedFd, Path};

    pub fn open_beneath(_: BorrowedFd, _: &str, _: OFlags, _: Mode) -> rustix::io::Result<OwnedFd> {
        Err(Errno::NOSYS)
    }

    pub fn rename_to_free(_: BorrowedFd, _: &str, _: &str) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }

    pub fn open_without_links(_: &Path, _: OFlags) -> rustix::io::Result<OwnedFd> {
        Err(Errno::NOSYS)
    }
}

fn is_link(at: BorrowedFd, name: &str) -> bool {
    fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// The whole of a small file outside of every store: the user's own settings, a trust record.
pub fn read_own(path: &Path, max: usize) -> Result<Vec<u8>> {
    let fd = fs::openat(CWD, path, OFlags::RDONLY | ALWAYS, Mode::empty())
        .map_err(|e| Error::from_errno(e, path, "read"))?;
    read_whole(&File::from(fd), path, max)
}

/// How a path led to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the names in it.
    Direct,
    /// Perhaps through a symbolic link.
    ThroughLinks,
}

/// The same, with its file and whether there was a link on the way.
pub(crate) fn read_seeing_links(path: &Path, max: usize) -> Result<(Vec<u8>, Way, File)> {
    let opened = match raw::open_without_links(path, OFlags::RDONLY) {
        Ok(fd) => Ok((fd, Way::Direct)),
        Err(Errno::NOENT) => Err(Errno::NOENT),
        // A link, or a system that cannot tell.
        Err(_) => {
            fs::openat(CWD, path, OFlags::RDONLY | ALWAYS, Mode::empty()).map(|fd| (fd, Way::ThroughLinks))
        }
    };
    let (fd, way) = opened.map_err(|e| Error::from_errno(e, path, "read"))?;
    let file = File::from(fd);
    Ok((read_whole(&file, path, max)?, way, file))
}

fn read_whole(mut file: &File, path: &Path, max: usize) -> Result<Vec<u8>> {
    let mut read = |into: &mut [u8]| file.read(into).map_err(|e| io_error(&e, path, "read"));
    // Most are small, and musl asks the kernel for every larger piece of memory.
    let mut first = [0; 4096];
    let mut filled = read(&mut first)?;
    let mut bytes = first[..filled].to_vec();
    // A regular file gives less than was asked for only at its end.
    let mut is_more = filled == first.len();
    while is_more && filled <= max {
        bytes.resize(filled * 4, 0);
        let got = read(&mut bytes[filled..])?;
        filled += got;
        is_more = filled == bytes.len();
        bytes.truncate(filled);
    }
    if filled > max {
        let why = format!("it is over {max} bytes");
        return Err(Error::Damaged { path: path.to_owned(), line: None, why });
    }
    if bytes.is_empty() {
        require_file(file.as_fd(), path)?;
    }
    Ok(bytes)
}

/// Refuses pipes, devices and whatever else is no plain file.
pub(crate) fn require_file(fd: BorrowedFd, path: &Path) -> Result<u64> {
    let stat = fs::fstat(fd).map_err(|e| Error::from_errno(e, path, "look at"))?;
    match kind_of(FileType::from_raw_mode(stat.st_mode)) {
        EntryKind::File => Ok(stat.st_size.unsigned_abs()),
        _ => Err(Error::Refused { path: path.to_owned(), why: "it is not a plain file".to_owned() }),
    }
}

fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        _ => EntryKind::Other,
    }
}

pub(crate) fn io_error(error: &std::io::Error, path: &Path, doing: &'static str) -> Error {
    match Errno::from_io_error(error) {
        Some(errno) => Error::from_errno(errno, path, doing),
        None => Error::Io { path: path.to_owned(), doing, why: error.to_string() },
    }
}

#[cfg(test)]
#[path = "dir_tests.rs"]
mod tests;
