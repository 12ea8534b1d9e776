//! Loops on disk: the records, the foreground pointer, the logs.

use std::time::Duration;

use model::id::Id;
use model::loops::log::Entry;
use model::loops::pointer::Pointer;
use model::loops::{Damage, Record};

use crate::{Durability, EntryKind, Error, Lock, Result, Store, Tally, layout};

/// The largest loop that is read. No person writes a prompt as large as this.
const LARGEST: usize = 2 * 1024 * 1024;

impl Store {
    /// Takes the lock that is held while a loop or the foreground pointer is read, changed and written.
    pub fn lock_loops(&self, wait: Duration) -> Result<Lock> {
        self.lock(layout::LOOPS_LOCK, wait)
    }

    /// Takes the lock that is held while a loop's validators run, so that two processes never run them at the same
    /// time.
    pub fn lock_validators(&self, id: &Id) -> Result<Lock> {
        self.lock(&layout::validators_lock(id), Duration::ZERO)
    }

    /// Returns which loop is in the foreground; `None` if no loop was ever started or the index was deleted.
    pub fn foreground(&self) -> Result<Option<Pointer>> {
        let bytes = match self.dir().read(layout::ACTIVE_LOOP, LARGEST) {
            Err(Error::Absent { .. }) => return Ok(None),
            read => read?,
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| Error::Damaged {
            path: self.dir().path().join(layout::ACTIVE_LOOP),
            line: Some(error.line()),
            why: error.to_string(),
        })
    }

    pub fn write_foreground(&self, pointer: &Pointer) -> Result<()> {
        self.dir().put(layout::ACTIVE_LOOP, &pointer.bytes(), Durability::Synced)
    }

    pub fn read_loop(&self, id: &Id) -> Result<Record> {
        let rel = format!("{}/{id}.md", layout::LOOPS);
        let bytes = self.dir().read(&rel, LARGEST)?;
        let path = || self.dir().path().join(&rel);
        let record = Record::parse(bytes).map_err(|Damage { line, why }| Error::Damaged {
            path: path(),
            line,
            why,
        })?;
        if record.state.id != id.as_str() {
            let why = format!("its id is `{}`, which does not match the file name", record.state.id);
            return Err(Error::Damaged { path: path(), line: None, why });
        }
        Ok(record)
    }

    /// Replaces a loop's record. The record is on disk when this returns, because a prompt is a person's work.
    pub fn write_loop(&self, id: &Id, record: &Record) -> Result<()> {
        self.dir().make(layout::LOOPS)?.write(&format!("{id}.md"), record.bytes(), Durability::Synced)
    }

    /// Creates a loop. Returns false if a loop of this name exists.
    pub fn create_loop(&self, id: &Id, record: &Record) -> Result<bool> {
        self.dir().make(layout::LOOPS)?.create(&format!("{id}.md"), record.bytes())
    }

    /// Lists all loops by name.
    pub fn loop_ids(&self) -> Result<Vec<Id>> {
        let dir = match self.dir().sub(layout::LOOPS) {
            Err(Error::Absent { .. }) => return Ok(Vec::new()),
            dir => dir?,
        };
        let files = dir.entries()?.into_iter().filter(|entry| entry.kind == EntryKind::File);
        Ok(files.filter_map(|entry| Id::new(entry.name.strip_suffix(".md")?).ok()).collect())
    }

    pub fn append_loop_log(&self, id: &Id, entry: &Entry, limit: u64) -> Result<()> {
        self.dir().append(&layout::loop_log(id), &entry.line(), limit)
    }

    pub fn loop_log(&self, id: &Id, each: impl FnMut(Entry)) -> Result<Tally> {
        self.dir().each_record(&layout::loop_log(id), each)
    }
}
