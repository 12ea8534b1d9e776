//! Reading logs: every part in order, torn and foreign lines skipped and counted.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{Dir, Error, Result};

/// How a log stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub whole: usize,
    /// Where lines are not JSON: the file and the line.
    pub torn: Vec<(String, usize)>,
}

/// How far a log has been read: whole parts that were rotated away, and bytes of the one after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub parts: usize,
    pub offset: u64,
}

impl Dir {
    /// Every whole line of the log after `place`; returns the place after them, or None where the log is not the one
    /// that was read up to there. A line without its end is not taken: it is still being written, or torn, and then the
    /// next writer ends it.
    pub fn each_new_line(
        &self,
        rel: &str,
        place: Place,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Option<Place>> {
        let mut place = if place == Place::default() { self.first_place(rel)? } else { place };
        loop {
            let part = self.part(rel, place.parts + 1);
            let bytes = match self.read_from(part.as_deref().unwrap_or(rel), place.offset) {
                Err(Error::Absent { .. }) if place.offset == 0 => Vec::new(),
                Err(Error::Absent { .. }) => return Ok(None),
                Ok(None) => return Ok(None),
                Ok(Some(bytes)) => bytes,
                Err(e) => return Err(e),
            };
            // Rotated between the two questions: what was read is the beginning of the next part. Ask again.
            if part.is_none() && self.part(rel, place.parts + 1).is_some() {
                continue;
            }
            let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
            bytes[..end].split(|b| *b == b'\n').filter(|line| !line.is_empty()).for_each(&mut each);
            if part.is_none() {
                place.offset += end as u64;
                return Ok(Some(place));
            }
            place = Place { parts: place.parts + 1, offset: 0 };
        }
    }

    /// Before the oldest part there is: earlier ones may have been archived.
    fn first_place(&self, rel: &str) -> Result<Place> {
        let parts = match self.rotated(rel) {
            Err(Error::Absent { .. }) => return Ok(Place::default()),
            parts => parts?,
        };
        let oldest = parts.first().and_then(|name| crate::append::number_of(name)).unwrap_or(1);
        Ok(Place { parts: oldest.saturating_sub(1) as usize, offset: 0 })
    }

    /// The last `max` bytes of a log, whole lines only. Right after a rotation that is the end of its last part.
    pub fn recent(&self, rel: &str, max: u64) -> Result<Vec<u8>> {
        let absent_is_empty = |read| match read {
            Err(Error::Absent { .. }) => Ok(Vec::new()),
            read => read,
        };
        let tail = absent_is_empty(self.read_tail(rel, max))?;
        if !tail.is_empty() {
            return Ok(tail);
        }
        let parts = match self.rotated(rel) {
            Err(Error::Absent { .. }) => Vec::new(),
            parts => parts?,
        };
        parts.last().map_or(Ok(Vec::new()), |part| absent_is_empty(self.read_tail(part, max)))
    }

    /// Every line of the log `rel` that reads as a `T`, its rotated parts first. Absent is an empty log.
    pub fn each_record<T>(&self, rel: &str, mut each: impl FnMut(T)) -> Result<Tally>
    where
        T: for<'a> Deserialize<'a>,
    {
        let mut tally = Tally::default();
        let parts = match self.rotated(rel) {
            Err(Error::Absent { .. }) => return Ok(tally),
            parts => parts?,
        };
        for part in parts.iter().map(String::as_str).chain([rel]) {
            let read = self.each_line(part, |number, line| {
                if line.iter().all(u8::is_ascii_whitespace) {
                    return;
                }
                match serde_json::from_slice(line) {
                    Ok(record) => {
                        tally.whole += 1;
                        each(record);
                    }
                    Err(_) => tally.torn.push((part.to_owned(), number)),
                }
            });
            match read {
                Err(Error::Absent { .. }) => {}
                done => done?,
            }
        }
        Ok(tally)
    }

    /// Counts the lines of a log.
    pub fn tally(&self, rel: &str) -> Result<Tally> {
        self.each_record(rel, |_: IgnoredAny| {})
    }
}
