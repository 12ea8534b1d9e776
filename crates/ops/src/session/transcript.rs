//! Reads a session that is known only by its transcript: folds it as hooks would have done, and writes nothing.

use std::path::Path;

use harness::transcript::{cwd, each_line, session as session_of};
use harness::{HARNESSES, Harness};
use jiff::Timestamp;
use model::digest::Digest;
use model::event::{Event, Kind};
use model::id::Id;
use model::journal::RecordPolicy;
use model::redact;
use serde::Serialize;
use store::feed::{self, Limits};

use crate::hook::retell::{TranscriptRecord, TranscriptReplay, unfinished_words};
use crate::session::database::Rows;
use crate::session::transcript_reader;
use crate::{Error, Result};

/// How many lines are read to recognise the harness.
const LOOKED_AT: usize = 50;

/// A transcript, and how to read it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub path: &'a Path,
    /// The project that the transcript is read for. If the session was in this project, paths are relative to it.
    pub checkout: &'a Path,
    pub redact: redact::Options,
    pub now: Timestamp,
}

/// The result of reading a transcript: the folded session and its harness.
#[derive(Debug)]
pub struct Read {
    pub digest: Digest,
    pub harness: &'static Harness,
    /// Whether the session was outside this project's folder. Then its paths are relative to the folder where it
    /// was.
    pub elsewhere: bool,
    pub skipped: Skipped,
}

/// Lines that could not be used: cut off, or of a type that this version does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub torn: u64,
    pub unknown: u64,
}

pub fn read(source: &Source) -> Result<Read> {
    let opening = look(source.path)?;
    let harness = opening.harness.ok_or_else(|| Error::Refused {
        what: format!("{}: not a transcript of a known harness", source.path.display()),
        hint: "`thru harness list` shows the known ones; the file must contain JSON lines".into(),
    })?;
    let mut retelling = TranscriptReplay::new(true, source.redact);
    transcript_reader::read_all(harness, source.path, |line| retelling.hear(line))?;
    // A copied transcript may have any name, so the id in its lines is preferred.
    let stem = || source.path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let session = opening.session.filter(|id| Id::new(id).is_ok()).unwrap_or_else(stem);
    Ok(fold(retelling, harness, session, opening.cwd, source))
}

/// Reads a session from a harness's database. The path of `source` is ignored.
pub fn read_rows(rows: &Rows, session: &Id, source: &Source) -> Read {
    let Rows { harness, lines } = rows;
    let retelling = retell(rows, true, source);
    let folder = lines.iter().find_map(|line| cwd(line.as_bytes()));
    fold(retelling, harness, session.to_string(), folder, source)
}

/// Adds what the database contains and hooks did not report: the agent's last words, calls that no hook reported,
/// and calls that have not ended. A call that is already known is not counted again.
pub fn add_rows(digest: &mut Digest, rows: &Rows, session: &Id, source: &Source) {
    let mut retelling = retell(rows, false, source);
    digest.unfinished = begun_words(&retelling.begun(), rows.harness, session, source);
    retelling.finish();
    let checkout = source.checkout.to_string_lossy();
    let policy = policy(rows.harness, &checkout, source);
    let around = around(session.to_string());
    for told in &retelling.told {
        digest.fold(&told.record(&told.event(&around), &policy));
    }
    digest.torn = retelling.torn;
}

fn retell(rows: &Rows, whole: bool, source: &Source) -> TranscriptReplay {
    let mut retelling = TranscriptReplay::new(whole, source.redact);
    let read_line = rows.harness.transcript.read_line();
    for line in &rows.lines {
        each_line(read_line, line.as_bytes(), |line| retelling.hear(line));
    }
    retelling
}

/// Describes each unfinished call in a few words.
fn begun_words(
    begun: &[TranscriptRecord],
    harness: &'static Harness,
    session: &Id,
    source: &Source,
) -> Vec<String> {
    let checkout = source.checkout.to_string_lossy();
    let policy = policy(harness, &checkout, source);
    let around = around(session.to_string());
    let words = |told: &TranscriptRecord| unfinished_words(&told.record(&told.event(&around), &policy));
    begun.iter().map(words).collect()
}

fn policy<'a>(harness: &'static Harness, checkout: &'a str, source: &Source) -> RecordPolicy<'a> {
    RecordPolicy { harness: harness.name, checkout, redact: source.redact, now: source.now }
}

fn fold(
    mut retelling: TranscriptReplay,
    harness: &'static Harness,
    session: String,
    folder: Option<String>,
    source: &Source,
) -> Read {
    let begun = retelling.begun();
    retelling.finish();
    let here = source.checkout.to_string_lossy();
    // The session was in another folder, or on another machine: its paths are relative to the folder where it was.
    let there = folder.filter(|cwd| !Path::new(cwd).starts_with(source.checkout));
    let policy = policy(harness, there.as_deref().unwrap_or(&here), source);
    let mut digest = Digest::new(&session);
    let around = around(session);
    for told in &retelling.told {
        let event = told.event(&around);
        digest.fold(&told.record(&event, &policy));
    }
    digest.unfinished =
        begun.iter().map(|told| unfinished_words(&told.record(&told.event(&around), &policy))).collect();
    let skipped = Skipped { torn: retelling.torn, unknown: retelling.unknown.values().sum() };
    digest.torn = retelling.torn;
    digest.unknown = retelling.unknown;
    Read { digest, harness, elsewhere: there.is_some(), skipped }
}

/// Returns an event that contains nothing but the session.
fn around(session: String) -> Event<'static> {
    Event {
        session: session.into(),
        id: None,
        torn: false,
        previous: None,
        cwd: None,
        transcript: None,
        agent: None,
        kind: Kind::SubagentStart,
    }
}

struct Opening {
    harness: Option<&'static Harness>,
    cwd: Option<String>,
    /// The last session id in the first lines: a resumed session begins with a copy of another session's beginning.
    session: Option<String>,
}

/// Finds the harness whose reader understands most of the first lines.
fn look(path: &Path) -> Result<Opening> {
    let mut known = vec![0_usize; HARNESSES.len()];
    let (mut folder, mut session) = (None, None);
    let mut seen = 0;
    feed::read_all(path, Limits { window: u64::MAX, ..Limits::default() }, |line| {
        seen += 1;
        if seen > LOOKED_AT {
            return;
        }
        folder = folder.take().or_else(|| cwd(line.bytes));
        session = session_of(line.bytes).or_else(|| session.take());
        for (harness, known) in HARNESSES.iter().zip(&mut known) {
            *known += transcript_reader::known_lines(harness, line.bytes);
        }
    })?;
    let best = (0..known.len()).max_by_key(|i| (known[*i], usize::MAX - i));
    Ok(Opening { harness: best.filter(|i| known[*i] > 0).map(|i| &HARNESSES[i]), cwd: folder, session })
}
