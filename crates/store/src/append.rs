//! Append-only logs. Each line is written with a single `write(2)`, without a lock. If the last line is torn, the
//! next writer adds a newline after it, and readers skip it.

use std::fs::{File, TryLockError};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::read::{io_error, require_regular_file};
use crate::{Dir, Error, Result};

impl Dir {
    /// Appends `line`, which has no trailing newline, to `rel`. If the log has reached `limit` bytes, rotates it
    /// first.
    pub fn append_line(&self, rel: &str, line: &[u8], limit: u64) -> Result<()> {
        self.append_lines(rel, &[line], limit)
    }

    /// Appends several lines with a single `write(2)`, so that no other process's line comes between them.
    pub fn append_lines(&self, rel: &str, lines: &[impl AsRef<[u8]>], limit: u64) -> Result<()> {
        let path = self.path().join(rel);
        let (mut file, mut size) = self.open_log(rel)?;
        if size >= limit && self.rotate_log(rel, &file) {
            (file, size) = self.open_log(rel)?;
        }
        let length: usize = lines.iter().map(|line| line.as_ref().len() + 1).sum();
        let mut bytes = Vec::with_capacity(length + 1);
        if size > 0 && last_byte(&file, size) != Some(b'\n') {
            bytes.push(b'\n');
        }
        for line in lines {
            bytes.extend_from_slice(line.as_ref());
            bytes.push(b'\n');
        }
        // Call `write` only once. With `write_all`, a second call could write after another process's line.
        let written = loop {
            match rustix::io::write(&file, &bytes) {
                Err(Errno::INTR) => {}
                done => break done.map_err(|e| Error::from_errno(e, &path, "append"))?,
            }
        };
        if written < bytes.len() {
            let why = format!("only {written} of {} bytes were written; the line is torn", bytes.len());
            return Err(Error::Io { path, doing: "append", why });
        }
        Ok(())
    }

    /// Appends several lines and syncs them to disk. Never rotates the log. This is for records whose loss a person
    /// would notice.
    pub fn append_lines_synced(&self, rel: &str, lines: &[impl AsRef<[u8]>]) -> Result<()> {
        self.append_lines(rel, lines, u64::MAX)?;
        self.sync_log(rel)
    }

    /// Syncs lines that were appended without syncing.
    pub(crate) fn sync_log(&self, rel: &str) -> Result<()> {
        let (file, _) = self.open_log(rel)?;
        file.sync_all().map_err(|e| io_error(&e, &self.path().join(rel), "sync"))?;
        self.sync_folder()
    }

    fn open_log(&self, rel: &str) -> Result<(File, u64)> {
        let flags = OFlags::APPEND | OFlags::CREATE | OFlags::RDWR;
        let open = || self.open_beneath(rel, flags, Mode::from_raw_mode(0o600), "append");
        let fd = match (open(), rel.rsplit_once('/')) {
            // Somebody has deleted the folder, so create it again.
            (Err(Error::Absent { .. }), Some((folder, _))) => {
                self.create_subfolder(folder)?;
                open()?
            }
            (opened, _) => opened?,
        };
        let file = File::from(fd);
        let size = require_regular_file(file.as_fd(), &self.path().join(rel))?;
        Ok((file, size))
    }

    /// Renames a full log, so that the caller can start a new one. Returns false if the log could not be renamed. In
    /// that case, the log keeps growing, and nothing is lost.
    fn rotate_log(&self, rel: &str, file: &File) -> bool {
        // If several processes find the log full, this lock lets only one of them rename it.
        if let Err(TryLockError::WouldBlock | TryLockError::Error(_)) = file.try_lock() {
            return false;
        }
        let (Ok(here), Ok(named)) = (fs::fstat(file), fs::statat(self, rel, AtFlags::SYMLINK_NOFOLLOW))
        else {
            return false;
        };
        if (here.st_dev, here.st_ino) != (named.st_dev, named.st_ino) {
            return true; // another process has already renamed the log
        }
        let Ok(taken) = self.rotated_parts(rel) else { return false };
        let next = taken.last().and_then(|name| rotated_part_number(name)).unwrap_or(0) + 1;
        let Some(stem) = rel.strip_suffix(".jsonl") else { return false };
        self.rename_if_new_name_is_free(rel, &format!("{stem}~{next:04}.jsonl")).is_ok()
    }

    /// Returns the name of the `n`-th rotated part if that part exists. Only this name is checked, because listing a
    /// folder with many sessions is slow.
    pub(crate) fn rotated_part(&self, rel: &str, n: usize) -> Option<String> {
        let name = format!("{}~{n:04}.jsonl", rel.strip_suffix(".jsonl")?);
        fs::statat(self, &name, AtFlags::SYMLINK_NOFOLLOW).is_ok().then_some(name)
    }

    /// Lists a log's rotated parts, oldest first. An id cannot contain `~`, so no other log matches.
    pub fn rotated_parts(&self, rel: &str) -> Result<Vec<String>> {
        let Some(stem) = rel.strip_suffix(".jsonl") else { return Ok(Vec::new()) };
        let (folder, stem) = stem.rsplit_once('/').unwrap_or((".", stem));
        let entries = if folder == "." { self.entries()? } else { self.open_subfolder(folder)?.entries()? };
        let prefix = format!("{stem}~");
        let mut parts: Vec<String> = entries
            .into_iter()
            .filter(|entry| entry.name.starts_with(&prefix) && rotated_part_number(&entry.name).is_some())
            .map(|entry| if folder == "." { entry.name } else { format!("{folder}/{}", entry.name) })
            .collect();
        parts.sort_by_key(|name| rotated_part_number(name));
        Ok(parts)
    }
}

/// Returns the number in the name of a rotated part, for example 12 for `session~0012.jsonl`.
pub(crate) fn rotated_part_number(name: &str) -> Option<u32> {
    name.strip_suffix(".jsonl")?.rsplit_once('~')?.1.parse().ok()
}

fn last_byte(file: &File, size: u64) -> Option<u8> {
    let mut byte = [0];
    match file.read_at(&mut byte, size - 1) {
        Ok(1) => Some(byte[0]),
        // If the last byte cannot be read, assume that the last line is torn. An extra empty line is harmless, but
        // joining two lines would damage both.
        _ => None,
    }
}

#[cfg(test)]
#[path = "append_tests.rs"]
mod tests;
