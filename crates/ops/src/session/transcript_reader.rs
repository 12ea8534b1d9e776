//! Reads the lines of a harness's transcript, whatever kind of transcript that is. The only place that knows the kinds.
//!
//! A second kind of [`Transcript`] does not compile here until each of these functions has an answer for it.

use std::path::Path;

use harness::transcript::each_line;
use harness::{Harness, Transcript};
use model::transcript::{Kind, Line};
use store::Result;
use store::feed::{self, Cursor, FeedReport, Limits};

/// What is new behind `cursor`, each line with where it begins.
pub fn read_new(
    harness: &Harness,
    path: &Path,
    cursor: Option<&Cursor>,
    limits: Limits,
    mut each: impl FnMut(Line, u64),
) -> Result<FeedReport> {
    let Transcript::JsonLines { read_line } = harness.transcript;
    feed::read_new(path, cursor, limits, |line| {
        each_line(read_line, line.bytes, |read| each(read, line.offset));
    })
}

/// All of it. A last line without its end counts, as far as it goes.
pub fn read_all(harness: &Harness, path: &Path, mut each: impl FnMut(Line)) -> Result<()> {
    let Transcript::JsonLines { read_line } = harness.transcript;
    let limits = Limits::default();
    let report = feed::read_all(path, limits, |line| each_line(read_line, line.bytes, &mut each))?;
    let last = feed::peek(path, &report.cursor, limits.line)?;
    each_line(read_line, &last, &mut each);
    Ok(())
}

/// The lines that are whole, from the last one backwards, until `is_enough` says so.
pub fn read_backwards(
    harness: &Harness,
    path: &Path,
    limits: Limits,
    mut is_enough: impl FnMut(&Line) -> bool,
) -> Result<()> {
    let Transcript::JsonLines { read_line } = harness.transcript;
    feed::find_last(path, limits, |bytes| {
        // Still being written.
        if !bytes.trim_ascii_end().ends_with(b"}") {
            return None;
        }
        let mut lines = Vec::new();
        each_line(read_line, bytes, |line| lines.push(line));
        lines.iter().rev().any(&mut is_enough).then_some(())
    })?;
    Ok(())
}

/// How many lines in `bytes`, which are a piece of somebody's transcript, this harness could have written.
pub fn known_lines(harness: &Harness, bytes: &[u8]) -> usize {
    let Transcript::JsonLines { read_line } = harness.transcript;
    let mut known = 0;
    each_line(read_line, bytes, |line| {
        known += usize::from(matches!(line.kind, Kind::Known(_)));
    });
    known
}
