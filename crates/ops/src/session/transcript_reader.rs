//! Reads the lines of a transcript file. Harnesses that keep sessions in a database have no such file, so
//! `session::database` reads their sessions.

use std::path::Path;

use harness::Harness;
use harness::transcript::each_object_in_line;
use model::transcript::{TranscriptLine, TranscriptLineKind};
use store::Result;
use store::feed::{self, FeedCursor, FeedLimits, FeedReport};

/// Calls `each` for every line after `cursor`, and passes the offset of the line.
pub fn read_new_lines(
    harness: &Harness,
    path: &Path,
    cursor: Option<&FeedCursor>,
    limits: FeedLimits,
    mut each: impl FnMut(TranscriptLine, u64),
) -> Result<FeedReport> {
    let read_line = harness.transcript.read_line();
    feed::read_new_lines(path, cursor, limits, |line| {
        each_object_in_line(read_line, line.bytes, |read| each(read, line.offset));
    })
}

/// Calls `each` for every line. The last line may be incomplete.
pub fn read_all_lines(harness: &Harness, path: &Path, mut each: impl FnMut(TranscriptLine)) -> Result<()> {
    let read_line = harness.transcript.read_line();
    let limits = FeedLimits::default();
    let report =
        feed::read_all_lines(path, limits, |line| each_object_in_line(read_line, line.bytes, &mut each))?;
    let last = feed::read_unfinished_line(path, &report.cursor, limits.max_line_bytes)?;
    each_object_in_line(read_line, &last, &mut each);
    Ok(())
}

/// Calls `is_enough` for each complete line, from the last line backwards, until `is_enough` returns true.
pub fn read_backwards(
    harness: &Harness,
    path: &Path,
    limits: FeedLimits,
    mut is_enough: impl FnMut(&TranscriptLine) -> bool,
) -> Result<()> {
    let read_line = harness.transcript.read_line();
    feed::find_in_last_lines(path, limits, |bytes| {
        // Skip this line, because the harness is still writing it.
        if !bytes.trim_ascii_end().ends_with(b"}") {
            return None;
        }
        let mut lines = Vec::new();
        each_object_in_line(read_line, bytes, |line| lines.push(line));
        lines.iter().rev().any(&mut is_enough).then_some(())
    })?;
    Ok(())
}

/// Returns how many lines in `bytes` have this harness's format. `bytes` is a part of a transcript.
pub fn count_known_lines(harness: &Harness, bytes: &[u8]) -> usize {
    let read_line = harness.transcript.read_line();
    let mut known = 0;
    each_object_in_line(read_line, bytes, |line| {
        known += usize::from(matches!(line.kind, TranscriptLineKind::Known(_)));
    });
    known
}
