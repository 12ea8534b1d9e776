//! How an output ends. The output is read line by line, because a hook must not load five megabytes into memory.

use crate::document::OutlineScanner;

use super::COMPLETION_LINE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputEnding {
    /// The output contains no text.
    Empty,
    /// The output contains only the sentinel.
    OnlySentinel,
    /// The last line is not the sentinel.
    NoSentinel,
    /// The last line is the sentinel, but it is inside an unclosed code fence.
    SentinelInFence { line: usize },
    /// The last line is the sentinel.
    Sealed,
}

#[derive(Debug)]
pub struct OutputScanner {
    scanner: OutlineScanner,
    ending: OutputEnding,
}

impl Default for OutputScanner {
    fn default() -> OutputScanner {
        OutputScanner { scanner: OutlineScanner::default(), ending: OutputEnding::Empty }
    }
}

impl OutputScanner {
    /// Scans the next line, without its line ending. Lines are counted from 1. Blanks after the sentinel are ignored,
    /// because they are invisible.
    pub fn scan_line(&mut self, number: usize, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        self.scanner.scan_line(line, number);
        if line.trim_ascii().is_empty() {
            return;
        }
        self.ending =
            match (line.trim_ascii_end() == COMPLETION_LINE.as_bytes(), self.scanner.line_of_open_fence()) {
                (false, _) => OutputEnding::NoSentinel,
                (true, Some(line)) => OutputEnding::SentinelInFence { line },
                (true, None) if matches!(self.ending, OutputEnding::Empty | OutputEnding::OnlySentinel) => {
                    OutputEnding::OnlySentinel
                }
                (true, None) => OutputEnding::Sealed,
            };
    }

    pub fn ending(&self) -> OutputEnding {
        self.ending
    }

    /// Returns the number of the line that opened a code fence, if that fence is still open.
    pub fn line_of_open_fence(&self) -> Option<usize> {
        self.scanner.line_of_open_fence()
    }

    /// Judges the end of a file that is too large to be read completely. Open fences are not detected.
    pub fn ending_of_tail(tail: &[u8]) -> OutputEnding {
        let last = tail.split(|byte| *byte == b'\n').rfind(|line| !line.trim_ascii().is_empty());
        match last.is_some_and(|line| line.trim_ascii_end() == COMPLETION_LINE.as_bytes()) {
            true => OutputEnding::Sealed,
            false => OutputEnding::NoSentinel,
        }
    }

    pub fn scan_whole_output(text: &[u8]) -> OutputScanner {
        let mut reading = OutputScanner::default();
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            reading.scan_line(number, line);
        }
        reading
    }
}
