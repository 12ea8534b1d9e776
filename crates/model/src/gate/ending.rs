//! How an output ends. The output is read line by line, because a hook must not use memory for five megabytes.

use crate::document::Scanner;

use super::SENTINEL;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The output contains no words.
    Empty,
    /// The output contains only the sentinel.
    Bare,
    /// The last line is not the sentinel.
    Open,
    /// The last line is the sentinel, but in an unclosed code fence.
    Fenced { line: usize },
    /// The last line is the sentinel.
    Sealed,
}

/// The state of a file while it is read to determine its [`Ending`].
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
    /// Reads the next line, without its line end; lines are counted from 1. Blanks after the sentinel are invisible, so
    /// they are ignored.
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

    /// Returns the line that opened a code fence which is still open.
    pub fn open_fence(&self) -> Option<usize> {
        self.scanner.open_fence()
    }

    /// Judges the end of a file that is too large to read completely. Whether a fence is open there remains unknown.
    pub fn of_tail(tail: &[u8]) -> Ending {
        let last = tail.split(|byte| *byte == b'\n').rfind(|line| !line.trim_ascii().is_empty());
        match last.is_some_and(|line| line.trim_ascii_end() == SENTINEL.as_bytes()) {
            true => Ending::Sealed,
            false => Ending::Open,
        }
    }

    /// Reads a complete text.
    pub fn of(text: &[u8]) -> Reading {
        let mut reading = Reading::default();
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            reading.feed(number, line);
        }
        reading
    }
}
