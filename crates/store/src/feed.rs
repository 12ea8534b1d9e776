//! Reads a growing file of lines that another program writes, such as a harness's transcript. Each call continues where
//! the last one ended, and reads a limited number of bytes, however large the file is.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use model::text::fnv_fingerprint;
use rustix::fs;
use serde::{Deserialize, Serialize};

use crate::read::{io_error, open_outside_store, require_regular_file};
use crate::{Error, Result};

/// How far a file has been read. The position is always at the end of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedCursor {
    pub inode: u64,
    pub offset: u64,
    /// A digest of the last bytes before `offset`. It shows whether the file was rewritten under the same inode
    /// number.
    pub tail_digest: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct FeedLimits {
    /// How many bytes at the end of the file are read. Earlier bytes are skipped, and their number is reported.
    pub max_tail_bytes: u64,
    /// The length to which lines are cut, to limit memory use.
    pub max_line_bytes: usize,
}

impl Default for FeedLimits {
    fn default() -> Self {
        FeedLimits { max_tail_bytes: 8 * MEGABYTE, max_line_bytes: 1024 * 1024 }
    }
}

/// A line without its line feed, and its offset in the file. A carriage return at the end is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedLine<'a> {
    pub bytes: &'a [u8],
    pub offset: u64,
    /// Whether the line was longer than the limit and was cut.
    pub was_cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedReport {
    /// Where to continue. The position is never after an unfinished last line.
    pub cursor: FeedCursor,
    pub bytes_read: u64,
    pub lines: u64,
    /// How many lines were longer than the limit and were cut.
    pub skipped_long_lines: u64,
    /// How many bytes were skipped before the bytes that were read, counted from the old cursor or from the beginning
    /// of the file.
    pub unread_bytes_before: u64,
    /// True if the file no longer matched the cursor, because it was replaced, truncated or rewritten.
    pub cursor_mismatched: bool,
}

const MEGABYTE: u64 = 1024 * 1024;
const CHUNK_BYTES: usize = 128 * 1024;
const CURSOR_TAIL_BYTES: usize = 64;

/// Reads the lines after `cursor`. If there is no cursor or it does not match, reads the end of the file.
pub fn read_new_lines(
    path: &Path,
    cursor: Option<&FeedCursor>,
    limits: FeedLimits,
    each: impl FnMut(FeedLine<'_>),
) -> Result<FeedReport> {
    let feed = FeedFile::open(path)?;
    let known = cursor.filter(|cursor| feed.cursor_fits(cursor));
    let from = known.map_or(0, |cursor| cursor.offset);
    let mut report =
        feed.read_lines(from, from.max(feed.size.saturating_sub(limits.max_tail_bytes)), limits, each)?;
    report.cursor_mismatched = cursor.is_some() && known.is_none();
    Ok(report)
}

/// Returns a cursor at the beginning of an earlier line, so that the line is read again.
pub fn cursor_at_line_start(path: &Path, offset: u64) -> Result<FeedCursor> {
    let feed = FeedFile::open(path)?;
    Ok(FeedCursor { inode: feed.inode, offset, tail_digest: feed.digest_before(offset)? })
}

/// Reads a file from its first line to its last. Hooks do not call this function.
pub fn read_all_lines(path: &Path, limits: FeedLimits, each: impl FnMut(FeedLine<'_>)) -> Result<FeedReport> {
    FeedFile::open(path)?.read_lines(0, 0, limits, each)
}

/// Returns at most `max` bytes of the unfinished line after the cursor. Another process may still be writing that
/// line.
pub fn read_unfinished_line(path: &Path, cursor: &FeedCursor, max: usize) -> Result<Vec<u8>> {
    let feed = FeedFile::open(path)?;
    if !feed.cursor_fits(cursor) {
        return Ok(Vec::new());
    }
    let length = usize::try_from(feed.size - cursor.offset).unwrap_or(max).min(max);
    let mut bytes = vec![0; length];
    let got = feed.read_at(&mut bytes, cursor.offset)?;
    bytes.truncate(memchr::memchr(b'\n', &bytes[..got]).unwrap_or(got));
    Ok(bytes)
}

/// Calls `pick` for each line, from the last line backwards, until `pick` returns a value. The last line may be
/// unfinished. The search covers at most `max_tail_bytes` and skips lines that are longer than the limit.
pub fn find_in_last_lines<T>(
    path: &Path,
    limits: FeedLimits,
    mut pick: impl FnMut(&[u8]) -> Option<T>,
) -> Result<Option<T>> {
    let feed = FeedFile::open(path)?;
    let floor = feed.size.saturating_sub(limits.max_tail_bytes);
    let mut back = BackwardsBuffer {
        buffer: vec![0; CHUNK_BYTES],
        start: CHUNK_BYTES,
        end: CHUNK_BYTES,
        max_size: limits.max_line_bytes + 2 * CHUNK_BYTES,
    };
    let (mut at, mut is_overlong) = (feed.size, false);
    while at > floor {
        let length = (at - floor).min(CHUNK_BYTES as u64);
        at -= length;
        let got =
            feed.read_at(back.make_room_in_front(usize::try_from(length).unwrap_or(CHUNK_BYTES)), at)?;
        if (got as u64) < length {
            return Ok(None); // the file was truncated while it was being read, so its end is unknown
        }
        while let Some(line) = back.take_last_line() {
            if !std::mem::take(&mut is_overlong)
                && (1..=limits.max_line_bytes).contains(&line.len())
                && let Some(found) = pick(&back.buffer[line])
            {
                return Ok(Some(found));
            }
        }
        if back.end - back.start > limits.max_line_bytes {
            is_overlong = true;
            back.end = back.start;
        }
    }
    // The first line in these bytes is complete only if they begin at the beginning of the file.
    let first = &back.buffer[back.start..back.end];
    let is_whole = floor == 0 && !is_overlong && (1..=limits.max_line_bytes).contains(&first.len());
    Ok(if is_whole { pick(first) } else { None })
}

struct FeedFile<'p> {
    file: File,
    path: &'p Path,
    inode: u64,
    size: u64,
}

impl<'p> FeedFile<'p> {
    fn open(path: &'p Path) -> Result<FeedFile<'p>> {
        let file = open_outside_store(path)?;
        let size = require_regular_file(file.as_fd(), path)?;
        let stat = fs::fstat(&file).map_err(|e| Error::from_errno(e, path, "look at"))?;
        Ok(FeedFile { file, path, inode: stat.st_ino, size })
    }

    fn cursor_fits(&self, cursor: &FeedCursor) -> bool {
        cursor.inode == self.inode
            && cursor.offset <= self.size
            && self.digest_before(cursor.offset).is_ok_and(|digest| digest == cursor.tail_digest)
    }

    /// Calls `each` for every complete line after `start`. `from` is the offset up to which the file was read before.
    /// Reads only up to the size that the file had when it was opened, so that a busy writer cannot keep this
    /// function running.
    fn read_lines(
        &self,
        from: u64,
        start: u64,
        limits: FeedLimits,
        mut each: impl FnMut(FeedLine<'_>),
    ) -> Result<FeedReport> {
        let mut report = FeedReport::default();
        let mut buffer = vec![0; CHUNK_BYTES];
        // If reading starts in the middle of the file, start one byte earlier. If that byte is a line end, the next
        // line is complete.
        let mut searching = start > from;
        let mut next = if searching { start - 1 } else { start };
        // `buffer[..filled]` begins with the line at file offset `line_at`, and contains no line end before
        // `searched`. If `was_cut` is true, bytes beyond the limit have been dropped.
        let (mut line_at, mut filled, mut searched, mut was_cut) = (next, 0, 0, false);
        let mut whole_to = from;
        loop {
            let room = usize::try_from(self.size - next).unwrap_or(usize::MAX).min(buffer.len() - filled);
            let got = self.read_at(&mut buffer[filled..filled + room], next)?;
            filled += got;
            next += got as u64;
            report.bytes_read += got as u64;
            let mut begin = 0;
            while let Some(found) = memchr::memchr(b'\n', &buffer[searched..filled]) {
                let end = searched + found;
                if searching {
                    report.unread_bytes_before = next - (filled - end - 1) as u64 - from;
                } else {
                    was_cut |= end - begin > limits.max_line_bytes;
                    report.lines += 1;
                    report.skipped_long_lines += u64::from(was_cut);
                    let end = if was_cut { begin + limits.max_line_bytes } else { end };
                    each(FeedLine { bytes: &buffer[begin..end], offset: line_at, was_cut });
                }
                (searching, was_cut) = (false, false);
                begin = end + 1;
                searched = begin;
                line_at = next - (filled - begin) as u64;
                whole_to = line_at;
            }
            if got == 0 {
                break;
            }
            if searching {
                begin = filled;
            }
            // Move only the beginning of the next line to the front. If a long line fills the buffer, do not move it.
            // Otherwise, it would be moved again for every chunk.
            if begin > 0 {
                buffer.copy_within(begin..filled, 0);
                filled -= begin;
            }
            if filled > limits.max_line_bytes {
                was_cut = true;
                filled = limits.max_line_bytes;
            }
            searched = filled;
            if filled == buffer.len() {
                buffer.resize((buffer.len() * 2).min(limits.max_line_bytes + CHUNK_BYTES), 0);
            }
        }
        if searching {
            // All of these bytes belong to a single unfinished line that is longer than the part that was read.
            report.unread_bytes_before = self.size - from;
        }
        report.cursor =
            FeedCursor { inode: self.inode, offset: whole_to, tail_digest: self.digest_before(whole_to)? };
        Ok(report)
    }

    fn digest_before(&self, offset: u64) -> Result<u64> {
        let mut tail = [0; CURSOR_TAIL_BYTES];
        let length = offset.min(CURSOR_TAIL_BYTES as u64);
        let got =
            self.read_at(&mut tail[..usize::try_from(length).unwrap_or(CURSOR_TAIL_BYTES)], offset - length)?;
        Ok(fnv_fingerprint([&tail[..got]]))
    }

    /// Fills `bytes` from offset `at` and returns how many bytes were read. Reads fewer bytes than requested only at
    /// the end of the file.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], at + filled as u64) {
                Ok(0) => break,
                Ok(got) => filled += got,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(io_error(&e, self.path, "read")),
            }
        }
        Ok(filled)
    }
}

/// The bytes read so far, from the end of a file backwards. New bytes are added at the front. The buffer doubles in
/// size when it is full, so that a long line is not moved for every chunk.
struct BackwardsBuffer {
    buffer: Vec<u8>,
    /// `buffer[start..end]` has been read but not returned yet.
    start: usize,
    end: usize,
    /// The largest size that the buffer needs.
    max_size: usize,
}

impl BackwardsBuffer {
    /// Makes room for `length` bytes in front of the others, and returns that part of the buffer.
    fn make_room_in_front(&mut self, length: usize) -> &mut [u8] {
        let held = self.end - self.start;
        if self.start < length {
            if held + length > self.buffer.len() {
                let mut larger = vec![0; (self.buffer.len() * 2).min(self.max_size).max(held + length)];
                let start = larger.len() - held;
                larger[start..].copy_from_slice(&self.buffer[self.start..self.end]);
                self.buffer = larger;
            } else {
                let right = self.buffer.len() - held;
                self.buffer.copy_within(self.start..self.end, right);
            }
            self.end = self.buffer.len();
            self.start = self.end - held;
        }
        self.start -= length;
        &mut self.buffer[self.start..self.start + length]
    }

    /// Removes and returns the last line. Returns `None` if the beginning of that line has not been read yet.
    fn take_last_line(&mut self) -> Option<std::ops::Range<usize>> {
        let held = &self.buffer[self.start..self.end];
        let before = memchr::memrchr(b'\n', held)?;
        let line = self.start + before + 1..self.end;
        self.end = self.start + before;
        Some(line)
    }
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
