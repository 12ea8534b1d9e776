//! The originals of summarised outputs, the log of summaries, and the log of removed originals.

use std::time::Duration;

use model::summary::{ArchivedOutput, SummarisedOutput};

use crate::{Durability, Error, LineTally, Lock, Result, Store, layout};

/// The size limit of an original. No harness shows a model more than this.
const MAX_ORIGINAL_BYTES: usize = 64 * 1024 * 1024;

impl Store {
    pub fn lock_summaries(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(layout::SUMMARIES_LOCK, wait)
    }

    /// Writes an original and then appends its summary to the log, so that the log never names an original that was
    /// not written. The id is derived from the content, so an existing original with this id has the same content.
    /// The lock keeps other processes from removing the original between the two writes.
    pub fn write_original(
        &self,
        original: &[u8],
        noted: &SummarisedOutput,
        limit: u64,
        wait: Duration,
    ) -> Result<()> {
        let _lock = self.lock_summaries(wait)?;
        let folder = self.dir().create_subfolder(layout::SUMMARIES_FOLDER)?;
        folder.write(&layout::original_file_name(&noted.id), original, Durability::Relaxed)?;
        self.dir().append_line(layout::SUMMARIES_INDEX, &noted.to_json_line(), limit)
    }

    /// Returns an original, or `None` if it never existed or has been removed.
    pub fn read_original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let rel = format!("{}/{}", layout::SUMMARIES_FOLDER, layout::original_file_name(id));
        match self.dir().read_file(&rel, MAX_ORIGINAL_BYTES) {
            Err(Error::Absent { .. }) => Ok(None),
            bytes => bytes.map(Some),
        }
    }

    /// Returns all summaries that were made, oldest first.
    pub fn list_summarised_outputs(&self) -> Result<(Vec<SummarisedOutput>, LineTally)> {
        let mut all = Vec::new();
        let tally = self.dir().each_record(layout::SUMMARIES_INDEX, |one| all.push(one))?;
        Ok((all, tally))
    }

    pub fn list_archived_originals(&self) -> Result<Vec<ArchivedOutput>> {
        let mut all = Vec::new();
        self.dir().each_record(layout::SUMMARIES_ARCHIVE, |one| all.push(one))?;
        Ok(all)
    }

    /// Records an original's properties and then removes the original. A later request can then report that the
    /// original existed. The caller must hold the lock and must have read the log while holding it.
    pub fn archive_original(&self, archived: &ArchivedOutput) -> Result<()> {
        self.dir().append_lines_synced(layout::SUMMARIES_ARCHIVE, &[archived.to_json_line()])?;
        self.dir()
            .open_subfolder(layout::SUMMARIES_FOLDER)?
            .remove_file(&layout::original_file_name(&archived.id))
    }
}
