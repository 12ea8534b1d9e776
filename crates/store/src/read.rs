//! Reads files without blocking. Only regular files are read, and only up to a limit.
//!
//! Where thru expects a small file, there may be a pipe, a device, a folder or a gigabyte of data. A hook must
//! neither hang nor read all of that. `cargo xtask tidy` forbids the standard library's read functions in all other
//! files.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{self, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::system::{self, OPEN_FLAGS};
use crate::{Error, Result};

/// How many bytes of a log are read at a time.
const CHUNK_BYTES: usize = 128 * 1024;

/// The length to which lines are cut. No record is this long, and a cut line does not parse.
pub(crate) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Smaller files are first read onto the stack, because musl makes a system call for every large allocation.
const STACK_READ_BYTES: usize = 4096;

/// Opens a file outside every store, such as a transcript. Links in the path are followed, because the user created
/// them.
pub(crate) fn open_outside_store(path: &Path) -> Result<File> {
    let fd = fs::openat(CWD, path, OFlags::RDONLY | OPEN_FLAGS, Mode::empty());
    fd.map(File::from).map_err(|e| Error::from_errno(e, path, "read"))
}

/// Reads a whole file outside every store, such as a settings file, a trust record or one of git's files.
pub fn read_outside_store(path: &Path, max: usize) -> Result<Vec<u8>> {
    read_open_file(&open_outside_store(path)?, path, max)
}

/// Returns the metadata of the entry at a path without following links, or `None` if there is no entry. Returns an
/// error if the user lacks the permission to examine the path, whereas `Path::exists` treats such a path as absent.
pub fn metadata_without_following(path: &Path) -> Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => {
            let errno = Errno::from_io_error(&e).unwrap_or(Errno::IO);
            Err(Error::from_errno(errno, path, "look at"))
        }
    }
}

/// Whether the path to a file contained a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkInPath {
    Direct,
    /// The path may have contained a link.
    ThroughLinks,
}

/// Returns a file's content, whether the file's path may have contained a link, and the file's handle.
pub(crate) fn read_file_noticing_links(path: &Path, max: usize) -> Result<(Vec<u8>, LinkInPath, File)> {
    let opened = match system::open_without_links(path, OFlags::RDONLY) {
        Ok(fd) => Ok((fd, LinkInPath::Direct)),
        Err(Errno::NOENT) => Err(Errno::NOENT),
        // The path contains a link, or the system cannot detect links.
        Err(_) => fs::openat(CWD, path, OFlags::RDONLY | OPEN_FLAGS, Mode::empty())
            .map(|fd| (fd, LinkInPath::ThroughLinks)),
    };
    let (fd, way) = opened.map_err(|e| Error::from_errno(e, path, "read"))?;
    let file = File::from(fd);
    Ok((read_open_file(&file, path, max)?, way, file))
}

/// Reads a file that the user named on the command line. This may be a pipe, such as `<(command)` or `/dev/stdin`.
pub fn read_file_named_by_user(path: &Path, max: usize) -> Result<Vec<u8>> {
    // This call may block, because a user who names a pipe wants to wait for its writer.
    let fd = fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())
        .map_err(|e| Error::from_errno(e, path, "read"))?;
    let stat = fs::fstat(&fd).map_err(|e| Error::from_errno(e, path, "look at"))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Err(Error::from_errno(Errno::ISDIR, path, "read")),
        FileType::RegularFile if stat.st_size.unsigned_abs() > max as u64 => Err(too_large_error(path, max)),
        _ => read_stream(&mut File::from(fd), path, max),
    }
}

/// Reads a stream to its end, such as stdin or a command's output. Error messages call the stream `name`.
pub fn read_stream(stream: &mut impl Read, name: &Path, max: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = (max as u64).saturating_add(1);
    stream.take(limit).read_to_end(&mut bytes).map_err(|e| io_error(&e, name, "read"))?;
    if bytes.len() > max { Err(too_large_error(name, max)) } else { Ok(bytes) }
}

/// Reads a whole open file. Returns an error without reading anything if the file has more than `max` bytes.
pub(crate) fn read_open_file(mut file: &File, path: &Path, max: usize) -> Result<Vec<u8>> {
    let size = require_regular_file(file.as_fd(), path)?;
    let Some(size) = usize::try_from(size).ok().filter(|size| *size <= max) else {
        return Err(too_large_error(path, max));
    };
    let mut read = |into: &mut [u8]| file.read(into).map_err(|e| io_error(&e, path, "read"));
    let mut bytes = Vec::new();
    if size < STACK_READ_BYTES {
        let mut first = [0; STACK_READ_BYTES];
        let got = read(&mut first)?;
        bytes.extend_from_slice(&first[..got]);
        // Reading a regular file returns fewer bytes than requested only at the file's end.
        if got < STACK_READ_BYTES {
            return if got > max { Err(too_large_error(path, max)) } else { Ok(bytes) };
        }
    }
    // The size is only a hint, so read until the end. Files in /proc report 0, and a file can grow while it is being
    // read.
    loop {
        let filled = bytes.len();
        if filled > max {
            return Err(too_large_error(path, max));
        }
        let room = size.saturating_sub(filled).max(STACK_READ_BYTES).min(max - filled) + 1;
        match filled {
            // Newly allocated memory is already zeroed, so it need not be cleared.
            0 => bytes = vec![0; room],
            _ => bytes.resize(filled + room, 0),
        }
        let got = read(&mut bytes[filled..])?;
        bytes.truncate(filled + got);
        if got < room {
            return Ok(bytes);
        }
    }
}

/// The offset after the last complete line, and the bytes after that offset.
pub(crate) struct ReadLinesEnd {
    pub complete_lines_end: u64,
    pub unfinished_line: Vec<u8>,
}

/// Calls `each` for every line of `file` between two offsets, without the line end. Keeps only one chunk and one line
/// in memory.
pub(crate) fn read_lines(
    file: &File,
    path: &Path,
    from: u64,
    to: u64,
    mut each: impl FnMut(&[u8]),
) -> Result<ReadLinesEnd> {
    let mut chunk =
        vec![0; CHUNK_BYTES.min(usize::try_from(to.saturating_sub(from)).unwrap_or(CHUNK_BYTES)).max(1)];
    let (mut unfinished_line, mut complete_lines_end, mut at) = (Vec::new(), from, from);
    while at < to {
        let room = usize::try_from(to - at).unwrap_or(CHUNK_BYTES).min(chunk.len());
        let got = match file.read_at(&mut chunk[..room], at) {
            Ok(0) => break,
            Ok(got) => got,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(io_error(&e, path, "read")),
        };
        let mut unread = &chunk[..got];
        while let Some(end) = memchr::memchr(b'\n', unread) {
            if unfinished_line.is_empty() {
                each(&unread[..end]);
            } else {
                extend_to_limit(&mut unfinished_line, &unread[..end]);
                each(&unfinished_line);
                unfinished_line.clear();
            }
            unread = &unread[end + 1..];
            complete_lines_end = at + (got - unread.len()) as u64;
        }
        extend_to_limit(&mut unfinished_line, unread);
        at += got as u64;
    }
    Ok(ReadLinesEnd { complete_lines_end, unfinished_line })
}

fn extend_to_limit(line: &mut Vec<u8>, more: &[u8]) {
    let room = MAX_LINE_BYTES.saturating_sub(line.len());
    line.extend_from_slice(&more[..more.len().min(room)]);
}

/// Returns the size of a regular file. Returns an error for folders, pipes and devices.
pub(crate) fn require_regular_file(fd: BorrowedFd, path: &Path) -> Result<u64> {
    let stat = fs::fstat(fd).map_err(|e| Error::from_errno(e, path, "look at"))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(stat.st_size.unsigned_abs()),
        FileType::Directory => Err(Error::from_errno(Errno::ISDIR, path, "read")),
        _ => Err(Error::Refused { path: path.to_owned(), why: "it is not a regular file".to_owned() }),
    }
}

fn too_large_error(path: &Path, max: usize) -> Error {
    Error::Damaged { path: path.to_owned(), line: None, why: format!("it is over {max} bytes") }
}

pub(crate) fn io_error(error: &std::io::Error, path: &Path, doing: &'static str) -> Error {
    match Errno::from_io_error(error) {
        Some(errno) => Error::from_errno(errno, path, doing),
        None => Error::Io { path: path.to_owned(), doing, why: error.to_string() },
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
