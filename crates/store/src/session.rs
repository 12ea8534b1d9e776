//! The digest of a session: the stored digest, brought up to date with the journal lines after it.

use std::time::Duration;

use model::digest::{self, Digest};
use model::id::Id;
use model::journal::Record;

use crate::log::{LogPosition, NewLines};
use crate::{Durability, Error, Lock, Result, Store, layout};

impl Store {
    /// Returns the session's digest up to now: the stored digest, brought up to date with every journal line after
    /// it. Calls `each` for every record that counts. Writes nothing. A hook reads as much of the journal's end as
    /// it has time for, and the digest records how much was skipped.
    pub fn digest(&self, session: &Id, mut each: impl FnMut(&Record)) -> Result<Digest> {
        let mut digest = self.read_digest(session)?;
        if digest.journal_unread > 0 && !self.is_in_hook() {
            // A hook had no time to read the whole journal, but a command has.
            digest = Digest::again(digest);
        }
        if !self.fold_on(session, &mut digest, &mut each)? {
            // Somebody cut or replaced the journal. The journal is authoritative, so fold it again from the beginning.
            digest = Digest::new(session.as_str());
            if !self.fold_on(session, &mut digest, &mut each)? {
                digest = Digest::new(session.as_str());
            }
        }
        Ok(digest)
    }

    /// Folds the journal lines after the position of `digest`. Returns false if that position is not in the journal.
    pub fn fold_on(&self, session: &Id, digest: &mut Digest, each: &mut impl FnMut(&Record)) -> Result<bool> {
        let place = LogPosition { parts: digest.parts, offset: digest.offset };
        let journal = layout::journal(session);
        let new = self.dir().each_new_line(&journal, place, self.journal_window(), |line| {
            if let Some(record) = Record::read(line)
                && digest.fold(&record) == digest::Folded::Counted
            {
                each(&record);
            }
        })?;
        let Some(NewLines { place, unread }) = new else { return Ok(false) };
        (digest.parts, digest.offset) = (place.parts, place.offset);
        digest.journal_unread += unread;
        self.note_unread(unread);
        Ok(true)
    }

    /// Puts `text`, which consists of complete lines, before everything else in the journal. This is possible only
    /// while the journal has one part. Then every reader, and a concurrent writer too, sees the parts in the right
    /// order.
    pub fn put_first_part(&self, session: &Id, text: &[u8]) -> Result<()> {
        self.dir().put(&layout::first_journal_part(session), text, Durability::Relaxed)
    }

    /// Takes the lock that is held while a session is folded and its digest is replaced.
    pub fn lock_session(&self, session: &Id, wait: Duration) -> Result<Lock> {
        self.lock(&layout::session_lock(session), wait)
    }

    /// Takes a lock, and recreates the folder of locks if somebody deleted it.
    pub fn lock(&self, rel: &str, wait: Duration) -> Result<Lock> {
        match self.dir().lock(rel, wait) {
            Err(Error::Absent { .. }) => {
                self.dir().make(layout::LOCKS)?;
                self.dir().lock(rel, wait)
            }
            locked => locked,
        }
    }

    /// Reads the stored digest. A damaged digest, or a digest of another version, is ignored, because it can be
    /// rebuilt from the journal.
    fn read_digest(&self, session: &Id) -> Result<Digest> {
        match self.session(session).get() {
            Ok(Some(digest)) => Ok(digest),
            Ok(None) | Err(Error::Damaged { .. } | Error::Refused { .. }) => {
                Ok(Digest::new(session.as_str()))
            }
            Err(e) => Err(e),
        }
    }
}
