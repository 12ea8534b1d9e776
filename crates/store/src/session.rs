//! A session folded: what its digest holds, and every journal line since.

use std::time::Duration;

use model::digest::{self, Digest};
use model::id::Id;
use model::journal::Record;

use crate::log::{LogPosition, NewLines};
use crate::{Durability, Error, Lock, Result, Store, layout};

impl Store {
    /// The session folded up to now: what was folded before, and every line since. Each record that counts is shown
    /// to `each`. Nothing is written. A hook reads as much of the journal's end as it has time for; the digest says what
    /// was passed over.
    pub fn digest(&self, session: &Id, mut each: impl FnMut(&Record)) -> Result<Digest> {
        let mut digest = self.read_digest(session)?;
        if digest.journal_unread > 0 && !self.is_in_hook() {
            // A hook had no time for all of it. A command has.
            digest = Digest::again(digest);
        }
        match self.fold_on(session, digest, &mut each)? {
            Some(digest) => Ok(digest),
            // Somebody cut or replaced the journal. It is the truth: what was folded before is not.
            None => {
                let folded = self.fold_on(session, Digest::new(session.as_str()), &mut each)?;
                Ok(folded.unwrap_or_else(|| Digest::new(session.as_str())))
            }
        }
    }

    /// Folds what the journal holds beyond the place of `digest`; None where that place is not in it.
    pub fn fold_on(
        &self,
        session: &Id,
        mut digest: Digest,
        each: &mut impl FnMut(&Record),
    ) -> Result<Option<Digest>> {
        let place = LogPosition { parts: digest.parts, offset: digest.offset };
        let journal = layout::journal(session);
        let new = self.dir().each_new_line(&journal, place, self.journal_window(), |line| {
            if let Some(record) = Record::read(line)
                && digest.fold(&record) == digest::Folded::Counted
            {
                each(&record);
            }
        })?;
        let Some(NewLines { place, unread }) = new else { return Ok(None) };
        (digest.parts, digest.offset) = (place.parts, place.offset);
        digest.journal_unread += unread;
        self.note_unread(unread);
        Ok(Some(digest))
    }

    /// Puts `text`, whole lines, before all that the journal holds. Only where it has one part: the order is then right for
    /// everybody, also for who appends meanwhile.
    pub fn put_first_part(&self, session: &Id, text: &[u8]) -> Result<()> {
        self.dir().put(&layout::first_journal_part(session), text, Durability::Relaxed)
    }

    /// Held while a session is folded and its digest replaced.
    pub fn lock_session(&self, session: &Id, wait: Duration) -> Result<Lock> {
        self.lock(&layout::session_lock(session), wait)
    }

    /// Takes a lock, and makes the folder of locks where somebody cleaned up.
    pub fn lock(&self, rel: &str, wait: Duration) -> Result<Lock> {
        match self.dir().lock(rel, wait) {
            Err(Error::Absent { .. }) => {
                self.dir().make(layout::LOCKS)?;
                self.dir().lock(rel, wait)
            }
            locked => locked,
        }
    }

    /// A digest of another version, or a damaged one, is as good as none: the journal is the truth.
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
