//! A session's digest: the stored digest, updated with newer journal lines.

use std::time::Duration;

use model::digest::{self, Digest};
use model::id::Id;
use model::journal::JournalRecord;

use crate::log::{LogPosition, LogReadExtent};
use crate::{Durability, Error, Lock, Result, Store, layout};

impl Store {
    /// Returns the session's current digest: the stored digest, updated with newer journal lines. Calls `each` for
    /// every record that is added to the digest. Writes nothing. A hook reads only as much of the journal's end as it
    /// has time for, and the digest records how much was skipped.
    pub fn current_digest(&self, session: &Id, mut each: impl FnMut(&JournalRecord)) -> Result<Digest> {
        let mut digest = self.read_stored_digest(session)?;
        if digest.unread_journal_bytes > 0 && !self.is_in_hook() {
            // A hook may have skipped a part of the journal, but a command has time to read all of it.
            digest = Digest::emptied_for_rebuild(digest);
        }
        if !self.fold_new_journal_lines(session, &mut digest, &mut each)? {
            // Somebody truncated or replaced the journal. The journal is authoritative, so build the digest again from
            // its first line.
            digest = Digest::new(session.as_str());
            if !self.fold_new_journal_lines(session, &mut digest, &mut each)? {
                digest = Digest::new(session.as_str());
            }
        }
        Ok(digest)
    }

    /// Updates the digest with the journal lines after its position. Returns false if the journal does not contain
    /// that position.
    pub fn fold_new_journal_lines(
        &self,
        session: &Id,
        digest: &mut Digest,
        each: &mut impl FnMut(&JournalRecord),
    ) -> Result<bool> {
        let end_position =
            LogPosition { rotated_parts: digest.folded_journal_parts, offset: digest.folded_journal_offset };
        let journal = layout::journal_path(session);
        let new =
            self.dir().each_new_line(&journal, end_position, self.max_journal_bytes_to_read(), |line| {
                if let Some(record) = JournalRecord::parse_line(line)
                    && digest.fold_record(&record) == digest::FoldOutcome::Counted
                {
                    each(&record);
                }
            })?;
        let Some(LogReadExtent { end_position, skipped_bytes }) = new else { return Ok(false) };
        (digest.folded_journal_parts, digest.folded_journal_offset) =
            (end_position.rotated_parts, end_position.offset);
        digest.unread_journal_bytes += skipped_bytes;
        self.add_skipped_bytes(skipped_bytes);
        Ok(true)
    }

    /// Adds `text`, which consists of complete lines, as the first part of the journal. This is done only while the
    /// journal has a single part, so that all readers and writers see the parts in the right order.
    pub fn write_first_journal_part(&self, session: &Id, text: &[u8]) -> Result<()> {
        self.dir().write_at_path(&layout::first_journal_part_path(session), text, Durability::Relaxed)
    }

    /// Takes the lock that is held while a session's digest is updated from its journal.
    pub fn lock_session_digest(&self, session: &Id, wait: Duration) -> Result<Lock> {
        self.lock_by_path(&layout::session_lock_path(session), wait)
    }

    /// Takes a lock. If somebody has deleted the folder of locks, creates it again.
    pub fn lock_by_path(&self, rel: &str, wait: Duration) -> Result<Lock> {
        match self.dir().lock_file(rel, wait) {
            Err(Error::Absent { .. }) => {
                self.dir().create_subfolder(layout::LOCKS_FOLDER)?;
                self.dir().lock_file(rel, wait)
            }
            locked => locked,
        }
    }

    /// Reads the stored digest. A digest that is damaged or has another version is ignored, because it can be rebuilt
    /// from the journal.
    fn read_stored_digest(&self, session: &Id) -> Result<Digest> {
        match self.session_state(session).read_state() {
            Ok(Some(digest)) => Ok(digest),
            Ok(None) | Err(Error::Damaged { .. } | Error::Refused { .. }) => {
                Ok(Digest::new(session.as_str()))
            }
            Err(e) => Err(e),
        }
    }
}
