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

impl Dir {
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
