//! How an output ends: read line by line, because a hook has no room for five megabytes.

use crate::document::Scanner;

use super::SENTINEL;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Not a word in it.
    Empty,
    /// The sentinel, and not a word besides.
    Bare,
    /// The last line is something else.
    Open,
    /// The last line is the sentinel, but in a code fence that nobody closed.
    Fenced { line: usize },
    /// The last line is the sentinel.
    Sealed,
}

/// A file on its way to its [`Ending`].
#[derive(Debug)]
pub struct Reading {
    scanner: Scanner,
    ending: Ending,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading { scanner: Scanner::default(), ending: Ending::Empty }
    }
}

impl Reading {
    /// The next line, counted from 1, without its line end. Blanks behind the sentinel cannot be seen, so they do no harm.
    pub fn feed(&mut self, number: usize, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        self.scanner.feed(line, number);
        if line.trim_ascii().is_empty() {
            return;
        }
        self.ending = match (line.trim_ascii_end() == SENTINEL.as_bytes(), self.scanner.open_fence()) {
            (false, _) => Ending::Open,
            (true, Some(line)) => Ending::Fenced { line },
            (true, None) if matches!(self.ending, Ending::Empty | Ending::Bare) => Ending::Bare,
            (true, None) => Ending::Sealed,
        };
    }

    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The line that opens a code fence which is still open.
    pub fn open_fence(&self) -> Option<usize> {
        self.scanner.open_fence()
    }

    /// The end of a file that is too large to be read for every glance. Whether a fence is open there cannot be seen.
    pub fn of_tail(tail: &[u8]) -> Ending {
        let last = tail.split(|byte| *byte == b'\n').rfind(|line| !line.trim_ascii().is_empty());
        match last.is_some_and(|line| line.trim_ascii_end() == SENTINEL.as_bytes()) {
            true => Ending::Sealed,
            false => Ending::Open,
        }
    }

    /// All of a text that is at hand.
    pub fn of(text: &[u8]) -> Reading {
        let mut reading = Reading::default();
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            reading.feed(number, line);
        }
        reading
    }
}
