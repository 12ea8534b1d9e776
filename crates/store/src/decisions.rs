//! Decisions on disk: the append-only log `decisions.jsonl`, and `context.md` for people to read.

use std::time::Duration;

use model::decision::Decision;

use crate::{Durability, Error, LineTally, Lock, Result, SessionState, Store, layout};

/// The size limit of `context.md`. thru never writes a larger file.
const MAX_VIEW_BYTES: usize = 16 * 1024 * 1024;

impl Store {
    /// Appends decisions with a single write, so that their lines stay together. With `Durability::Synced`, the lines
    /// are on disk when this returns. The hook for a tool call does not wait for the disk, so the next checkpoint
    /// calls [`Store::sync_decisions`].
    pub fn append_decisions(&self, decisions: &[Decision], durability: Durability) -> Result<()> {
        let lines: Vec<Vec<u8>> = decisions.iter().map(Decision::to_json_line).collect();
        match durability {
            Durability::Synced => self.dir().append_lines_synced(layout::DECISIONS_LOG, &lines),
            Durability::Relaxed | Durability::Rebuildable => {
                self.dir().append_lines(layout::DECISIONS_LOG, &lines, u64::MAX)
            }
        }
    }

    /// Syncs the lines that hooks have appended without syncing.
    pub fn sync_decisions(&self) -> Result<()> {
        self.dir().sync_log(layout::DECISIONS_LOG)
    }

    /// Takes the lock for reading the decisions and adding one that depends on them. Hooks append without this lock.
    pub fn lock_decisions(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(layout::DECISIONS_LOCK, wait)
    }

    /// Returns the `ids` that do not occur in the last `window` bytes of the log, and whether these bytes are the
    /// whole log. The lines are searched without parsing, because an id in quotes cannot be part of a longer word.
    pub fn ids_of_unrecorded_decisions(&self, ids: Vec<String>, window: u64) -> Result<(Vec<String>, bool)> {
        let Some(look) = self.dir().file_info(layout::DECISIONS_LOG)? else { return Ok((ids, true)) };
        let tail = self.dir().read_tail(layout::DECISIONS_LOG, window)?;
        let is_there = |id: &String| memchr::memmem::find(&tail, format!("\"{id}\"").as_bytes()).is_some();
        Ok((ids.into_iter().filter(|id| !is_there(id)).collect(), look.bytes <= window))
    }

    /// Returns all decisions, oldest first. They include decisions in the format of a later version, which
    /// `Decision::is_complete_and_of_known_version` recognises.
    pub fn all_decisions(&self) -> Result<(Vec<Decision>, LineTally)> {
        let mut all = Vec::new();
        let tally = self.dir().each_record(layout::DECISIONS_LOG, |decision| all.push(decision))?;
        Ok((all, tally))
    }

    /// Returns the decisions in the last `window` bytes of the log, oldest first, and whether these bytes are the
    /// whole log.
    pub fn newest_decisions(&self, window: u64) -> Result<(Vec<Decision>, bool)> {
        let Some(look) = self.dir().file_info(layout::DECISIONS_LOG)? else { return Ok((Vec::new(), true)) };
        let tail = self.dir().read_tail(layout::DECISIONS_LOG, window)?;
        let decisions = tail.split(|b| *b == b'\n').filter_map(Decision::parse_line).collect();
        Ok((decisions, look.bytes <= window))
    }

    pub fn lock_context_view(&self, wait: Duration) -> Result<Lock> {
        self.lock_by_path(layout::CONTEXT_VIEW_LOCK, wait)
    }

    pub fn read_context_view(&self) -> Result<Option<Vec<u8>>> {
        match self.dir().read_file(layout::CONTEXT_VIEW_FILE, MAX_VIEW_BYTES) {
            Err(Error::Absent { .. }) => Ok(None),
            bytes => bytes.map(Some),
        }
    }

    pub fn write_context_view(&self, view: &str) -> Result<()> {
        self.dir().write(layout::CONTEXT_VIEW_FILE, view.as_bytes(), Durability::Relaxed)
    }
}

/// A fingerprint of a session's answers that have already been compared with the decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswersFingerprint(pub u64);

impl SessionState for AnswersFingerprint {
    const STATE_FOLDER: &'static str = layout::ANSWERS_SEEN_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64;

    fn parse(bytes: &[u8]) -> std::result::Result<AnswersFingerprint, String> {
        let text = String::from_utf8_lossy(bytes);
        u64::from_str_radix(text.trim(), 16).map(AnswersFingerprint).map_err(|error| error.to_string())
    }

    fn to_bytes(&self) -> Vec<u8> {
        format!("{:016x}\n", self.0).into_bytes()
    }
}
