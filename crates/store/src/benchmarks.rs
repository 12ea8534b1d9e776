//! Reads and writes `benchmarks.json`, the history of benchmark runs.

use std::time::Duration;

use model::benchmark::BenchmarkHistory;
use model::plan::PlanUnreadableReason;

use crate::{Durability, Error, Lock, Result, Store, layout};

/// The size limit of the file, which is enough for tens of thousands of runs.
const MAX_BENCHMARKS_FILE_BYTES: usize = 64 * 1024 * 1024;

impl Store {
    pub fn lock_benchmarks(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(layout::BENCHMARKS_LOCK, wait)
    }

    /// Reads the history, which is empty if there is no file.
    pub fn read_benchmarks(&self) -> Result<BenchmarkHistory> {
        let bytes = match self.dir().read_file(layout::BENCHMARKS_FILE, MAX_BENCHMARKS_FILE_BYTES) {
            Err(Error::Absent { .. }) => return Ok(BenchmarkHistory::new()),
            bytes => bytes?,
        };
        let path = || self.dir().path().join(layout::BENCHMARKS_FILE);
        BenchmarkHistory::parse(&bytes).map_err(|problem| match problem {
            PlanUnreadableReason::Damaged { line, why } => Error::Damaged { path: path(), line, why },
            PlanUnreadableReason::Foreign { why } => Error::Foreign { path: path(), why },
        })
    }

    pub fn write_benchmarks(&self, history: &BenchmarkHistory) -> Result<()> {
        self.dir().write(layout::BENCHMARKS_FILE, &history.to_bytes(), Durability::Synced)
    }
}
