//! Bringing a session's records up to date: the journal from the transcript, the digest and the index from the journal.

use std::borrow::Cow;
use std::path::Path;

use harness::Harness;
use model::digest::Digest;
use model::event::{Event, Kind};
use model::id::Id;
use model::journal::RecordPolicy;
use model::session::Pending;
use model::suggest;
use model::transcript::Line;
use store::feed::{self, Limits};
use store::{Error, Result, Store, layout};

use crate::hook::deadline::Deadline;
use crate::hook::retell::{Retelling, TranscriptRecord};
use crate::session::transcript_reader;

/// At most so much of a transcript is read at once, from its end. After the first contact a cursor makes this moot; at
/// the first, a stop has no time for more, and a compaction has some. What is passed over is counted as unread.
const WINDOW_AT_STOP: u64 = 384 * 1024;
const WINDOW_AT_COMPACTION: u64 = 3 * 512 * 1024;

/// What a checkpoint works on.
#[derive(Clone, Copy)]
pub struct Checkpoint<'a> {
    pub store: &'a Store,
    pub harness: &'static Harness,
    pub policy: RecordPolicy<'a>,
    pub session: &'a Id,
    pub event: &'a Event<'a>,
    pub limit: u64,
    pub deadline: Deadline,
    /// What features make of the records.
    pub follow: Follow<'a>,
}

/// `Ok(Some)`: done, and what went wrong beside it.
pub type Follow<'a> = &'a dyn Fn(&Digest) -> crate::Result<Option<String>>;

/// Folds what is new in transcript and journal into the digest and the index of files. Idempotent: what is told again
/// is not counted again.
pub fn run(work: &Checkpoint) -> crate::Result<()> {
    let Checkpoint { store, session, limit, .. } = *work;
    let _lock = store.lock_session(session, work.deadline.wait())?;
    let mut suggestions = Vec::new();
    // What the transcript adds goes through the journal like everything else, so that a digest made again from the
    // journal is the same digest.
    let mut digest = store.digest(session, |record| suggestions.extend(suggest::lines(record)))?;
    let (caught_up, begun) = match catch_up(work, &mut digest) {
        Ok(begun) => (Ok(()), begun),
        Err(error) => (Err(error), Vec::new()),
    };
    if let Some(folded) =
        store.fold_on(session, digest.clone(), &mut |record| suggestions.extend(suggest::lines(record)))?
    {
        digest = folded;
    }
    if !suggestions.is_empty() {
        store.dir().append_all(layout::RELEVANT_FILES, &suggestions, limit)?;
    }
    let followed = (work.follow)(&with_begun(work, &digest, &begun));
    // On failure keep the watermark, so that the next checkpoint reconsiders these records.
    if matches!(work.event.kind, Kind::BeforeCompact { .. }) && followed.is_ok() {
        digest.detected = digest.records;
        digest.begun = begun.iter().map(TranscriptRecord::mark).collect();
    }
    store.session(session).put(&digest)?;
    caught_up?;
    match followed? {
        Some(what) => Err(crate::Error::Failed { what }),
        None => Ok(()),
    }
}

/// The session with the calls that had not begun when it was looked at last: of a call that has not ended the files are
/// known, which is enough to tell what is worked on, and too little for the journal.
fn with_begun<'d>(work: &Checkpoint, digest: &'d Digest, begun: &[TranscriptRecord]) -> Cow<'d, Digest> {
    let mut seen = Cow::Borrowed(digest);
    for told in begun.iter().filter(|told| !digest.begun.contains(&told.mark())) {
        let event = told.event(work.event);
        seen.to_mut().fold(&told.record(&event, &work.policy));
    }
    seen
}

/// Journals what the transcript tells and no hook did, and returns the calls that have not ended. The transcript may be
/// absent: some harnesses write it late.
fn catch_up(work: &Checkpoint, digest: &mut Digest) -> Result<Vec<TranscriptRecord>> {
    let Some(path) = work.event.transcript.as_deref() else { return Ok(Vec::new()) };
    let cursor: Option<feed::Cursor> = work.store.session(work.session).get().ok().flatten();
    // Hooks that were not there from the beginning have missed prompts too.
    let capabilities = &work.harness.capabilities;
    let reports_all = capabilities.reports_every_prompt() && capabilities.reports_every_compaction();
    let whole = !reports_all || cursor.is_none() && digest.prompts.is_empty();
    let mut retelling = Retelling::new(whole, work.policy.redact);
    let window = match work.event.kind {
        Kind::BeforeCompact { .. } | Kind::SessionEnd { .. } => WINDOW_AT_COMPACTION,
        _ => WINDOW_AT_STOP,
    };
    let limits = Limits { window, ..Limits::default() };
    let hear = |line: Line| retelling.hear(line);
    let read = transcript_reader::read_new(work.harness, Path::new(path), cursor.as_ref(), limits, hear);
    let report = match read {
        Err(Error::Absent { .. }) => return Ok(Vec::new()),
        report => report?,
    };
    digest.unread += report.unread_before;
    let lines = new_lines(work, &retelling.told, digest);
    for (kind, times) in &retelling.unknown {
        *digest.unknown.entry(kind.clone()).or_default() += times;
    }
    if !lines.is_empty() {
        work.store.dir().append_all(&layout::journal(work.session), &lines, work.limit)?;
    }
    // A session that goes on from another begins with that one's summary, and its brief came with its start.
    let inherited = cursor.is_none() && !digest.previous.is_empty();
    let starts = matches!(work.event.kind, Kind::SessionStart { .. });
    if retelling.compacted && !capabilities.reports_every_compaction() && !inherited && !starts {
        work.store.session(work.session).put(&Pending::Due)?;
    }
    // A call whose end has not come yet is read again next time; what is known by then is not told twice.
    let begun = retelling.begun();
    if begun.is_empty() {
        work.store.session(work.session).put(&report.cursor)?;
    }
    Ok(begun)
}

/// The lines of what is not in the journal yet: whatever has an id that is new, also where a hook told the same thing
/// without one. Then the digest sees both, now and when it is made again.
fn new_lines(work: &Checkpoint, told: &[TranscriptRecord], digest: &Digest) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    for told in told {
        let event = told.event(work.event);
        let record = told.record(&event, &work.policy);
        if !digest.knows(&record) {
            lines.push(record.line());
        }
    }
    lines
}
