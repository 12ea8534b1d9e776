//! What a store keeps of one session besides its journal: the digest, and whether a brief is due.

use std::time::Duration;

use model::digest::{self, Digest};
use model::id::Id;
use model::journal::Record;
use model::session::Pending;

use crate::log::{NewLines, Place};
use crate::{Durability, Error, Lock, Result, Store, feed, layout};

/// Larger than any digest we write. A hook has eight megabytes for everything.
const LARGEST: usize = 2 * 1024 * 1024;

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
        let place = Place { parts: digest.parts, offset: digest.offset };
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

    /// Replaces the digest. It can be made again from the journal, so nobody waits for the disk.
    pub fn write_digest(&self, session: &Id, digest: &Digest) -> Result<()> {
        let bytes = serde_json::to_vec(digest).unwrap_or_default();
        self.dir().make(layout::DIGESTS)?.write(&format!("{session}.json"), &bytes, Durability::Cache)
    }

    /// A digest of another version, or a damaged one, is as good as none: the journal is the truth.
    fn read_digest(&self, session: &Id) -> Result<Digest> {
        match self.dir().read(&format!("{}/{session}.json", layout::DIGESTS), LARGEST) {
            Ok(bytes) => Ok(serde_json::from_slice::<Digest>(&bytes)
                .ok()
                .filter(|digest| digest.schema_version == digest::SCHEMA_VERSION)
                .unwrap_or_else(|| Digest::new(session.as_str()))),
            Err(Error::Absent { .. } | Error::Damaged { .. } | Error::Refused { .. }) => {
                Ok(Digest::new(session.as_str()))
            }
            Err(e) => Err(e),
        }
    }

    /// How far the session's transcript was read; none where nobody has, or it cannot be told any more.
    pub fn cursor(&self, session: &Id) -> Option<feed::Cursor> {
        let bytes = self.dir().read(&format!("{}/{session}.json", layout::CURSORS), LARGEST).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub fn write_cursor(&self, session: &Id, cursor: &feed::Cursor) -> Result<()> {
        let bytes = serde_json::to_vec(cursor).unwrap_or_default();
        self.dir().make(layout::CURSORS)?.write(&format!("{session}.json"), &bytes, Durability::Cache)
    }

    pub fn pending(&self, session: &Id) -> Result<Option<Pending>> {
        match self.dir().read(&format!("{}/{session}", layout::PENDING), 64) {
            Ok(bytes) if bytes == b"due\n" => Ok(Some(Pending::Due)),
            Ok(_) => Ok(Some(Pending::Announced)),
            Err(Error::Absent { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub fn set_pending(&self, session: &Id, pending: Option<Pending>) -> Result<()> {
        let word: &[u8] = match pending {
            Some(Pending::Due) => b"due\n",
            Some(Pending::Announced) => b"announced\n",
            None => return self.dir().remove(&format!("{}/{session}", layout::PENDING)),
        };
        self.dir().make(layout::PENDING)?.write(session.as_str(), word, Durability::Relaxed)
    }
}
