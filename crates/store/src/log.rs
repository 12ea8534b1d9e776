//! Reading logs: every part in order, torn and foreign lines skipped and counted.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::read::read_lines;
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
pub struct LogPosition {
    pub parts: usize,
    pub offset: u64,
}

/// What a reading of new lines came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    /// The place behind the last whole line.
    pub place: LogPosition,
    /// Bytes that were passed over because there were more than the window takes.
    pub unread: u64,
}

impl Dir {
    /// Every whole line of the log after `place`, at most the last `window` bytes of them. None where the log is not the one
    /// that was read up to there. A line without its end is not taken: it is still being written, or torn, and then the
    /// next writer ends it.
    pub fn each_new_line(
        &self,
        rel: &str,
        place: LogPosition,
        window: u64,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Option<NewLines>> {
        let place = if place == LogPosition::default() { self.first_place(rel)? } else { place };
        let (mut place, mut unread) = self.last_bytes(rel, place, window);
        // Beginning in the middle, the first line is not whole, unless the byte before it is a line end: look at that too.
        let mut is_partial = unread > 0 && place.offset > 0;
        loop {
            let part = self.part(rel, place.parts + 1);
            let name = part.as_deref().unwrap_or(rel);
            let opened = match self.open_file(name) {
                Err(Error::Absent { .. }) if place.offset == 0 => None,
                Err(Error::Absent { .. }) => return Ok(None),
                opened => Some(opened?),
            };
            // Rotated between the two questions: what was opened may be the next part. Ask again.
            if part.is_none() && self.part(rel, place.parts + 1).is_some() {
                continue;
            }
            if let Some((file, size)) = opened {
                if size < place.offset {
                    return Ok(None);
                }
                let from = place.offset - u64::from(is_partial);
                let ending = read_lines(&file, &self.path().join(name), from, size, |line| {
                    if std::mem::take(&mut is_partial) {
                        unread += line.len() as u64;
                    } else if !line.is_empty() {
                        each(line);
                    }
                })?;
                place.offset = ending.whole_to.max(place.offset);
            }
            if part.is_none() {
                return Ok(Some(NewLines { place, unread }));
            }
            place = LogPosition { parts: place.parts + 1, offset: 0 };
            is_partial = false;
        }
    }

    /// The place `window` bytes before the end, where `place` lies further back, and how much lies between the two.
    fn last_bytes(&self, rel: &str, place: LogPosition, window: u64) -> (LogPosition, u64) {
        if window == u64::MAX {
            return (place, 0);
        }
        let size = |name: &str| self.look(name).ok().flatten().map_or(0, |look| look.bytes);
        let mut sizes: Vec<u64> = Vec::new();
        while let Some(part) = self.part(rel, place.parts + sizes.len() + 1) {
            sizes.push(size(&part));
        }
        let total = (sizes.iter().sum::<u64>() + size(rel)).saturating_sub(place.offset);
        let Some(over) = total.checked_sub(window).filter(|over| *over > 0) else { return (place, 0) };
        let mut start = LogPosition { parts: place.parts, offset: place.offset + over };
        for size in sizes.into_iter().take_while(|size| *size > 0) {
            if start.offset < size {
                break;
            }
            start = LogPosition { parts: start.parts + 1, offset: start.offset - size };
        }
        (start, over)
    }

    /// Before the oldest part there is: earlier ones may have been archived.
    fn first_place(&self, rel: &str) -> Result<LogPosition> {
        let parts = match self.rotated(rel) {
            Err(Error::Absent { .. }) => return Ok(LogPosition::default()),
            parts => parts?,
        };
        let oldest = parts.first().and_then(|name| crate::append::number_of(name)).unwrap_or(1);
        Ok(LogPosition { parts: oldest.saturating_sub(1) as usize, offset: 0 })
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
