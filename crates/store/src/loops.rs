//! Loops on disk: the records, the foreground pointer and the logs.

use std::time::Duration;

use model::id::Id;
use model::loops::log::LoopLogEntry;
use model::loops::pointer::ForegroundPointer;
use model::loops::{LoopRecord, LoopRecordDamage};

use crate::{Durability, Error, FolderEntryKind, LineTally, Lock, Result, Store, layout};

/// The size limit of a loop. A prompt written by hand is never this large.
const MAX_LOOP_BYTES: usize = 2 * 1024 * 1024;

impl Store {
    /// Takes the lock that is held while a loop or the foreground pointer is read, changed and written.
    pub fn lock_loops(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(layout::LOOPS_LOCK, wait)
    }

    /// Takes the lock that is held while a loop's validators run, so that two processes never run them at the same
    /// time.
    pub fn lock_validators(&self, id: &Id) -> Result<Lock> {
        self.lock_by_path(&layout::validators_lock_path(id), Duration::ZERO)
    }

    /// Returns the foreground pointer, or `None` if no loop was ever started or the index was deleted.
    pub fn read_foreground(&self) -> Result<Option<ForegroundPointer>> {
        let bytes = match self.dir().read_file(layout::FOREGROUND_LOOPS_FILE, MAX_LOOP_BYTES) {
            Err(Error::Absent { .. }) => return Ok(None),
            read => read?,
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::Damaged {
            path: self.dir().path().join(layout::FOREGROUND_LOOPS_FILE),
            line: Some(error.line()),
            why: error.to_string(),
        })
    }

    pub fn write_foreground_pointer(&self, pointer: &ForegroundPointer) -> Result<()> {
        self.dir().write_at_path(layout::FOREGROUND_LOOPS_FILE, &pointer.to_bytes(), Durability::Synced)
    }

    pub fn read_loop(&self, id: &Id) -> Result<LoopRecord> {
        let rel = format!("{}/{id}.md", layout::LOOPS_FOLDER);
        let bytes = self.dir().read_file(&rel, MAX_LOOP_BYTES)?;
        let path = || self.dir().path().join(&rel);
        let record = LoopRecord::parse(bytes).map_err(|LoopRecordDamage { line, why }| Error::Damaged {
            path: path(),
            line,
            why,
        })?;
        if record.loop_state.id != id.as_str() {
            let why = format!("its id is `{}`, which does not match the file name", record.loop_state.id);
            return Err(Error::Damaged { path: path(), line: None, why });
        }
        Ok(record)
    }

    /// Replaces a loop's record. The record is on disk when this returns, because a prompt is a person's work.
    pub fn write_loop(&self, id: &Id, record: &LoopRecord) -> Result<()> {
        self.dir().create_subfolder(layout::LOOPS_FOLDER)?.write(
            &format!("{id}.md"),
            record.bytes(),
            Durability::Synced,
        )
    }

    /// Creates a loop. Returns false if the name is taken.
    pub fn create_loop(&self, id: &Id, record: &LoopRecord) -> Result<bool> {
        self.dir()
            .create_subfolder(layout::LOOPS_FOLDER)?
            .create_private_file(&format!("{id}.md"), record.bytes())
    }

    pub fn loop_ids(&self) -> Result<Vec<Id>> {
        let dir = match self.dir().open_subfolder(layout::LOOPS_FOLDER) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            dir => dir?,
        };
        let files = dir.entries()?.into_iter().filter(|entry| entry.kind == FolderEntryKind::File);
        Ok(files.filter_map(|entry| Id::new(entry.name.strip_suffix(".md")?).ok()).collect())
    }

    pub fn append_loop_log(&self, id: &Id, entry: &LoopLogEntry, limit: u64) -> Result<()> {
        self.dir().append_line(&layout::loop_log_path(id), &entry.to_json_line(), limit)
    }

    pub fn each_loop_log_entry(&self, id: &Id, each: impl FnMut(LoopLogEntry)) -> Result<LineTally> {
        self.dir().each_record(&layout::loop_log_path(id), each)
    }

    /// Returns the newest entries of a loop's log, oldest first. Whatever the size of the log, at most `max_bytes` of it
    /// are read.
    pub fn recent_loop_log_entries(&self, id: &Id, max_bytes: u64) -> Result<Vec<LoopLogEntry>> {
        let recent = self.dir().read_recent_lines(&layout::loop_log_path(id), max_bytes)?;
        let lines = recent.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

#[cfg(test)]
mod tests {
    use model::loops::log::LoopEvent;

    use super::*;
    use crate::Dir;

    #[test]
    fn only_the_end_of_a_long_log_is_read() {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::new(Dir::open(temp.path()).unwrap());
        let id = Id::new("l1").unwrap();
        assert_eq!(store.recent_loop_log_entries(&id, 1_000).unwrap(), []);
        let entry = |iteration| LoopLogEntry::new("2026-11-19T19:00:00Z", LoopEvent::PromptSent, iteration);
        for iteration in 1..=100 {
            store.append_loop_log(&id, &entry(iteration), 1_000_000).unwrap();
        }
        let bytes = entry(100).to_json_line().len() as u64;
        // A line whose beginning is not read is left out.
        let read = store.recent_loop_log_entries(&id, 3 * bytes + bytes / 2).unwrap();
        let found: Vec<_> = read.iter().map(|entry| entry.iteration).collect();
        assert_eq!(found, [98, 99, 100]);
    }
}
