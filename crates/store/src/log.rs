//! Reads logs with all their parts, in order. Torn and foreign lines are skipped and counted.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::read::read_lines;
use crate::{Dir, Error, Result};

/// How many lines of a log are valid, and which lines are invalid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineTally {
    pub valid_lines: usize,
    /// The file and line number of each line that is not JSON.
    pub invalid_lines: Vec<(String, usize)>,
}

/// How far a log has been read: the number of complete rotated parts, and the offset in the next part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    pub rotated_parts: usize,
    pub offset: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogReadExtent {
    /// The position after the last complete line.
    pub end_position: LogPosition,
    /// How many bytes were skipped because they are before the last `window` bytes.
    pub skipped_bytes: u64,
}

impl Dir {
    /// Calls `each` for every complete line that is after `end_position` and in the last `window` bytes. Returns
    /// `None` if this is not the log that was read before. An unfinished last line is left out: either it is still
    /// being written, or it is torn and the next writer will end it.
    pub fn each_new_line(
        &self,
        rel: &str,
        end_position: LogPosition,
        window: u64,
        mut each: impl FnMut(&[u8]),
    ) -> Result<Option<LogReadExtent>> {
        let end_position =
            if end_position == LogPosition::default() { self.oldest_position(rel)? } else { end_position };
        let (mut end_position, mut skipped_bytes) = self.position_before_end(rel, end_position, window);
        // If reading starts in the middle of a part, the first line is complete only if the byte before it is a line
        // end, so read that byte too.
        let mut is_partial = skipped_bytes > 0 && end_position.offset > 0;
        loop {
            let part = self.rotated_part(rel, end_position.rotated_parts + 1);
            let name = part.as_deref().unwrap_or(rel);
            let opened = match self.open_file(name) {
                Err(Error::Absent { .. }) if end_position.offset == 0 => None,
                Err(Error::Absent { .. }) => return Ok(None),
                opened => Some(opened?),
            };
            // If the log was rotated after the first check, the open file may be the next part, so start again.
            if part.is_none() && self.rotated_part(rel, end_position.rotated_parts + 1).is_some() {
                continue;
            }
            if let Some((file, size)) = opened {
                if size < end_position.offset {
                    return Ok(None);
                }
                let from = end_position.offset - u64::from(is_partial);
                let ending = read_lines(&file, &self.path().join(name), from, size, |line| {
                    if std::mem::take(&mut is_partial) {
                        skipped_bytes += line.len() as u64;
                    } else if !line.is_empty() {
                        each(line);
                    }
                })?;
                end_position.offset = ending.complete_lines_end.max(end_position.offset);
            }
            if part.is_none() {
                return Ok(Some(LogReadExtent { end_position, skipped_bytes }));
            }
            end_position = LogPosition { rotated_parts: end_position.rotated_parts + 1, offset: 0 };
            is_partial = false;
        }
    }

    /// Returns the position `window` bytes before the end of the log, and how many bytes between `place` and that
    /// position are skipped. If that position is before `place`, returns `place` and 0.
    fn position_before_end(&self, rel: &str, place: LogPosition, window: u64) -> (LogPosition, u64) {
        if window == u64::MAX {
            return (place, 0);
        }
        let mut sizes: Vec<u64> = Vec::new();
        while let Some(part) = self.rotated_part(rel, place.rotated_parts + sizes.len() + 1) {
            sizes.push(self.file_size(&part));
        }
        let total = (sizes.iter().sum::<u64>() + self.file_size(rel)).saturating_sub(place.offset);
        let Some(over) = total.checked_sub(window).filter(|over| *over > 0) else { return (place, 0) };
        let mut start = LogPosition { rotated_parts: place.rotated_parts, offset: place.offset + over };
        for size in sizes.into_iter().take_while(|size| *size > 0) {
            if start.offset < size {
                break;
            }
            start = LogPosition { rotated_parts: start.rotated_parts + 1, offset: start.offset - size };
        }
        (start, over)
    }

    /// Returns the position before the oldest part that exists. Earlier parts may have been archived.
    fn oldest_position(&self, rel: &str) -> Result<LogPosition> {
        let parts = match self.rotated_parts(rel) {
            Err(Error::Absent { .. }) => return Ok(LogPosition::default()),
            parts => parts?,
        };
        let oldest = parts.first().and_then(|name| crate::append::rotated_part_number(name)).unwrap_or(1);
        Ok(LogPosition { rotated_parts: oldest.saturating_sub(1) as usize, offset: 0 })
    }

    /// Returns the complete lines in the last `max` bytes of a log. Right after a rotation, they come from the last
    /// rotated part.
    pub fn read_recent_lines(&self, rel: &str, max: u64) -> Result<Vec<u8>> {
        let absent_is_empty = |read| match read {
            Err(Error::Absent { .. }) => Ok(Vec::new()),
            read => read,
        };
        let tail = absent_is_empty(self.read_tail(rel, max))?;
        if !tail.is_empty() {
            return Ok(tail);
        }
        let parts = match self.rotated_parts(rel) {
            Err(Error::Absent { .. }) => Vec::new(),
            parts => parts?,
        };
        parts.last().map_or(Ok(Vec::new()), |part| absent_is_empty(self.read_tail(part, max)))
    }

    /// Calls `each` for every line of the log `rel` that parses as a `T`. Rotated parts come first. A missing log
    /// counts as empty.
    pub fn each_record<T>(&self, rel: &str, mut each: impl FnMut(T)) -> Result<LineTally>
    where
        T: for<'a> Deserialize<'a>,
    {
        let mut tally = LineTally::default();
        let parts = match self.rotated_parts(rel) {
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
                        tally.valid_lines += 1;
                        each(record);
                    }
                    Err(_) => tally.invalid_lines.push((part.to_owned(), number)),
                }
            });
            match read {
                Err(Error::Absent { .. }) => {}
                done => done?,
            }
        }
        Ok(tally)
    }

    pub fn count_lines(&self, rel: &str) -> Result<LineTally> {
        self.each_record(rel, |_: IgnoredAny| {})
    }
}
