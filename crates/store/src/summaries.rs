//! Originals of summarised outputs, and the logs of what was summarised and removed.

use model::summary::{ArchivedOutput, SummarisedOutput};

use crate::{Durability, Error, Result, Store, Tally, layout};

/// Larger than any output that a harness shows a model.
const LARGEST: usize = 64 * 1024 * 1024;

impl Store {
    /// Keeps an original, then notes its summary. Nothing is noted of an original that is not on the disk. The id comes
    /// from the content, so an original that is there already is the same.
    pub fn keep_original(&self, original: &[u8], noted: &SummarisedOutput, limit: u64) -> Result<()> {
        let folder = self.dir().make(layout::SUMMARIES)?;
        folder.write(&layout::original(&noted.id), original, Durability::Relaxed)?;
        self.dir().append(layout::SUMMARIES_INDEX, &noted.line(), limit)
    }

    /// Returns `None` if there is none, or no more.
    pub fn original(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let rel = format!("{}/{}", layout::SUMMARIES, layout::original(id));
        match self.dir().read(&rel, LARGEST) {
            Err(Error::Absent { .. }) => Ok(None),
            bytes => bytes.map(Some),
        }
    }

    /// Returns every summary that was made, oldest first.
    pub fn summarised(&self) -> Result<(Vec<SummarisedOutput>, Tally)> {
        let mut all = Vec::new();
        let tally = self.dir().each_record(layout::SUMMARIES_INDEX, |one| all.push(one))?;
        Ok((all, tally))
    }

    pub fn archived_outputs(&self) -> Result<Vec<ArchivedOutput>> {
        let mut all = Vec::new();
        self.dir().each_record(layout::SUMMARIES_ARCHIVE, |one| all.push(one))?;
        Ok(all)
    }

    /// Notes what an original was, then removes it: whoever asks for it is told that it existed.
    pub fn archive_original(&self, archived: &ArchivedOutput) -> Result<()> {
        self.dir().append_synced(layout::SUMMARIES_ARCHIVE, &[archived.line()])?;
        self.dir().sub(layout::SUMMARIES)?.remove(&layout::original(&archived.id))
    }
}
