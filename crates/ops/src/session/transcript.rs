//! Reads a session from its transcript alone, and builds a digest as hooks would have done. Writes nothing.

use std::path::Path;

use harness::transcript::{cwd_of_line, each_object_in_line, session_id_of_line as session_of};
use harness::{HARNESSES, Harness};
use jiff::Timestamp;
use model::digest::Digest;
use model::event::{Event, EventKind};
use model::id::Id;
use model::journal::RecordPolicy;
use model::{redact, run};
use serde::Serialize;
use store::feed::{self, FeedLimits};

use crate::hook::transcript_replay::{TranscriptRecord, TranscriptReplay, describe_unfinished_call};
use crate::session::database::SessionRows;
use crate::session::transcript_reader;
use crate::{Error, Result};

/// How many lines are read to recognise the harness.
const MAX_LINES_EXAMINED: usize = 50;

#[derive(Clone, Copy, Debug)]
pub struct TranscriptToRead<'a> {
    pub path: &'a Path,
    /// The checkout for which the transcript is read. If the session ran there, paths are relative to it.
    pub checkout: &'a Path,
    pub redact: redact::RedactOptions,
    pub now: Timestamp,
}

#[derive(Debug)]
pub struct ReadTranscript {
    pub digest: Digest,
    pub harness: &'static Harness,
    /// Whether the session ran outside this checkout. If so, its paths are relative to its own folder.
    pub is_of_other_project: bool,
    pub skipped: SkippedLines,
}

/// The number of lines that could not be used, because they are cut off or this version does not know their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedLines {
    pub torn: u64,
    pub unknown: u64,
}

pub fn read_transcript(source: &TranscriptToRead) -> Result<ReadTranscript> {
    let opening = recognise_harness(source.path)?;
    let harness = opening.harness.ok_or_else(|| Error::Refused {
        what: format!("{}: not a transcript of a known harness", source.path.display()),
        hint: "`thru harness list` shows the known ones; the file must contain JSON lines".into(),
    })?;
    let mut retelling = TranscriptReplay::new(true, source.redact);
    transcript_reader::read_all_lines(harness, source.path, |line| retelling.read_line(line))?;
    // The session id in the lines takes precedence over the file name, because a copied transcript may have any name.
    let stem = || source.path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let session = opening.session.filter(|id| Id::new(id).is_ok()).unwrap_or_else(stem);
    Ok(fold_replay(retelling, harness, session, opening.cwd, source))
}

/// Reads a session from the rows of a harness's database. The path in `source` is not used.
pub fn read_database_rows(rows: &SessionRows, session: &Id, source: &TranscriptToRead) -> ReadTranscript {
    let SessionRows { harness, lines } = rows;
    let retelling = replay_rows(rows, true, source);
    let folder = lines.iter().find_map(|line| cwd_of_line(line.as_bytes()));
    fold_replay(retelling, harness, session.to_string(), folder, source)
}

/// Adds what hooks did not report: the agent's last message, unreported calls and unfinished calls. A known call is
/// not counted again.
pub fn add_database_rows(digest: &mut Digest, rows: &SessionRows, session: &Id, source: &TranscriptToRead) {
    let retelling = replay_rows(rows, false, source);
    digest.unreadable_lines = retelling.unreadable_lines;
    // The rows contain the whole session, so nothing else can have begun.
    digest.may_have_unseen_work = false;
    add_replayed_records(digest, retelling, rows.harness, session, source);
}

/// Adds the records of a replay to the digest, and also its unfinished calls. If hooks reported a call, the call is not
/// counted again. It has ended, even if the transcript lacks its result. If the unfinished calls only run `thru`, no
/// records are added for them, because they are not part of the work.
pub fn add_replayed_records(
    digest: &mut Digest,
    mut retelling: TranscriptReplay,
    harness: &'static Harness,
    session: &Id,
    source: &TranscriptToRead,
) {
    let checkout = source.checkout.to_string_lossy();
    let policy = record_policy(harness, &checkout, source);
    let around = event_of_session(session.to_string());
    let fold = |digest: &mut Digest, told: &TranscriptRecord| {
        digest.fold_record(&told.to_journal_record(&told.to_event(&around), &policy));
    };
    for told in &retelling.records {
        fold(digest, told);
    }
    let mut begun = retelling.unfinished_calls();
    begun.retain(|told| {
        !digest.end_call_if_reported(&told.to_journal_record(&told.to_event(&around), &policy))
    });
    let words = |told: &TranscriptRecord| {
        describe_unfinished_call(&told.to_journal_record(&told.to_event(&around), &policy))
    };
    let begun: Vec<String> = begun.iter().map(words).collect();
    if begun.iter().any(|call| !run::only_calls_thru(call)) {
        let ended = retelling.records.len();
        retelling.finish_reading();
        for told in &retelling.records[ended..] {
            fold(digest, told);
        }
    }
    digest.unfinished_call_texts = begun;
    if let Some(edits) = retelling.edit_texts_record(&around.session, &policy, |_| false) {
        digest.fold_record(&edits);
    }
}

fn replay_rows(rows: &SessionRows, whole: bool, source: &TranscriptToRead) -> TranscriptReplay {
    let mut retelling = TranscriptReplay::new(whole, source.redact);
    let read_line = rows.harness.transcript.read_line();
    for line in &rows.lines {
        each_object_in_line(read_line, line.as_bytes(), |line| retelling.read_line(line));
    }
    retelling
}

fn record_policy<'a>(
    harness: &'static Harness,
    checkout: &'a str,
    source: &TranscriptToRead,
) -> RecordPolicy<'a> {
    RecordPolicy { harness: harness.name, checkout, redact_options: source.redact, now: source.now }
}

fn fold_replay(
    mut retelling: TranscriptReplay,
    harness: &'static Harness,
    session: String,
    folder: Option<String>,
    source: &TranscriptToRead,
) -> ReadTranscript {
    let begun = retelling.unfinished_calls();
    retelling.finish_reading();
    let here = source.checkout.to_string_lossy();
    // If the session ran in another folder or on another machine, its paths are relative to its own folder.
    let there = folder.filter(|cwd| !Path::new(cwd).starts_with(source.checkout));
    let policy = record_policy(harness, there.as_deref().unwrap_or(&here), source);
    let mut digest = Digest::new(&session);
    let around = event_of_session(session);
    for told in &retelling.records {
        let event = told.to_event(&around);
        digest.fold_record(&told.to_journal_record(&event, &policy));
    }
    if let Some(edits) = retelling.edit_texts_record(&around.session, &policy, |_| false) {
        digest.fold_record(&edits);
    }
    digest.unfinished_call_texts = begun
        .iter()
        .map(|told| describe_unfinished_call(&told.to_journal_record(&told.to_event(&around), &policy)))
        .collect();
    let skipped =
        SkippedLines { torn: retelling.unreadable_lines, unknown: retelling.unknown.values().sum() };
    digest.unreadable_lines = retelling.unreadable_lines;
    digest.unknown_line_types = retelling.unknown;
    ReadTranscript { digest, harness, is_of_other_project: there.is_some(), skipped }
}

/// Returns an event that contains only the session id.
fn event_of_session(session: String) -> Event<'static> {
    Event {
        session: session.into(),
        harness_event_id: None,
        is_payload_truncated: false,
        previous_session: None,
        cwd: None,
        transcript: None,
        subagent: None,
        kind: EventKind::SubagentStart,
    }
}

struct TranscriptOpening {
    harness: Option<&'static Harness>,
    cwd: Option<String>,
    /// The last session id in the first lines. The last one counts, because a resumed session begins with a copy of
    /// another session's lines.
    session: Option<String>,
}

/// Finds the harness whose reader recognises most of the first lines.
fn recognise_harness(path: &Path) -> Result<TranscriptOpening> {
    let mut known = vec![0_usize; HARNESSES.len()];
    let (mut folder, mut session) = (None, None);
    let mut seen = 0;
    feed::read_all_lines(path, FeedLimits { max_tail_bytes: u64::MAX, ..FeedLimits::default() }, |line| {
        seen += 1;
        if seen > MAX_LINES_EXAMINED {
            return;
        }
        folder = folder.take().or_else(|| cwd_of_line(line.bytes));
        session = session_of(line.bytes).or_else(|| session.take());
        for (harness, known) in HARNESSES.iter().zip(&mut known) {
            *known += transcript_reader::count_known_lines(harness, line.bytes);
        }
    })?;
    let best = (0..known.len()).max_by_key(|i| (known[*i], usize::MAX - i));
    Ok(TranscriptOpening {
        harness: best.filter(|i| known[*i] > 0).map(|i| &HARNESSES[i]),
        cwd: folder,
        session,
    })
}
