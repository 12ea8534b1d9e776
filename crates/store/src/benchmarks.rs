//! The benchmark's runs on disk.

use std::time::Duration;

use model::benchmark::History;
use model::plan::Unreadable;

use crate::{Durability, Error, Lock, Result, Store, layout};

/// Enough for tens of thousands of runs.
const LARGEST: usize = 64 * 1024 * 1024;

impl Store {
    pub fn lock_benchmarks(&self, wait: Duration) -> Result<Lock> {
        self.lock(layout::BENCHMARKS_LOCK, wait)
    }

    /// Returns an empty history if there is no file.
    pub fn benchmarks(&self) -> Result<History> {
        let bytes = match self.dir().read(layout::BENCHMARKS, LARGEST) {
            Err(Error::Absent { .. }) => return Ok(History::new()),
            bytes => bytes?,
        };
        let path = || self.dir().path().join(layout::BENCHMARKS);
        History::parse(&bytes).map_err(|problem| match problem {
            Unreadable::Damaged { line, why } => Error::Damaged { path: path(), line, why },
            Unreadable::Foreign { why } => Error::Foreign { path: path(), why },
        })
    }

    pub fn write_benchmarks(&self, history: &History) -> Result<()> {
        self.dir().write(layout::BENCHMARKS, &history.bytes(), Durability::Synced)
    }
}
