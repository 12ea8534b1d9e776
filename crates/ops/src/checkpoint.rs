//! Bringing a session's records up to date: the journal from the transcript, the digest and the index from the journal.

use std::borrow::Cow;
use std::path::Path;

use harness::Harness;
use harness::transcript::each_line;
use model::config::Settings;
use model::digest::Digest;
use model::event::{Event, Kind};
use model::id::Id;
use model::journal::Scene;
use model::session::Pending;
use model::suggest;
use store::feed::{self, Limits};
use store::{Error, Result, Root, Store, layout};

use crate::deadline::Deadline;
use crate::retell::{Retelling, Told};
use crate::workstreams::{self, Place};

/// At most so much of a transcript is read at once, from its end. After the first contact a cursor makes this moot; at
/// the first, a stop has no time for more, and a compaction has some. What is passed over is counted as unread.
const WINDOW_AT_STOP: u64 = 384 * 1024;
const WINDOW_AT_COMPACTION: u64 = 3 * 512 * 1024;

/// What a checkpoint works on.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    pub store: &'a Store,
    pub harness: &'static Harness,
    pub scene: Scene<'a>,
    pub session: &'a Id,
    pub event: &'a Event<'a>,
    pub root: &'a Root,
    pub settings: &'a Settings,
    pub limit: u64,
    pub deadline: Deadline,
}

/// Folds what is new in transcript and journal into the digest and the index of files. Idempotent: what is told again
/// is not counted again.
pub fn run(work: &Checkpoint) -> Result<()> {
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
    let place = Place { root: work.root, store, settings: work.settings };
    let seen = with_begun(work, &digest, &begun);
    let kept_up = workstreams::keep_up(&place, session, work.event, &seen, work.scene.now, work.deadline);
    // What was not answered is weighed again.
    if matches!(work.event.kind, Kind::BeforeCompact { .. }) && kept_up.is_ok() {
        digest.detected = digest.records;
        digest.begun = begun.iter().map(Told::mark).collect();
    }
    store.write_digest(session, &digest)?;
    caught_up.and(kept_up.and_then(|also| also))
}

/// The session with the calls that had not begun when it was looked at last: of a call that has not ended the files are
/// known, which is enough to tell what is worked on, and too little for the journal.
fn with_begun<'d>(work: &Checkpoint, digest: &'d Digest, begun: &[Told]) -> Cow<'d, Digest> {
    let mut seen = Cow::Borrowed(digest);
    for told in begun.iter().filter(|told| !digest.begun.contains(&told.mark())) {
        let event = told.event(work.event);
        seen.to_mut().fold(&told.record(&event, &work.scene));
    }
    seen
}

/// Journals what the transcript tells and no hook did, and returns the calls that have not ended. The transcript may be
/// absent: some harnesses write it late.
fn catch_up(work: &Checkpoint, digest: &mut Digest) -> Result<Vec<Told>> {
    let Some(path) = work.event.transcript.as_deref() else { return Ok(Vec::new()) };
    let cursor = work.store.cursor(work.session);
    // Hooks that were not there from the beginning have missed prompts too.
    let whole = !work.harness.tells_all || cursor.is_none() && digest.prompts.is_empty();
    let mut retelling = Retelling::new(whole, work.scene.redact);
    let window = match work.event.kind {
        Kind::BeforeCompact { .. } | Kind::SessionEnd { .. } => WINDOW_AT_COMPACTION,
        _ => WINDOW_AT_STOP,
    };
    let limits = Limits { window, ..Limits::default() };
    let read = feed::read_new(Path::new(path), cursor.as_ref(), limits, |line| {
        each_line(work.harness.read_line, line.bytes, |line| retelling.hear(line));
    });
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
    if retelling.compacted && !work.harness.tells_all && !inherited && !starts {
        work.store.set_pending(work.session, Some(Pending::Due))?;
    }
    // A call whose end has not come yet is read again next time; what is known by then is not told twice.
    let begun = retelling.begun();
    if begun.is_empty() {
        work.store.write_cursor(work.session, &report.cursor)?;
    }
    Ok(begun)
}

/// The lines of what is not in the journal yet: whatever has an id that is new, also where a hook told the same thing
/// without one. Then the digest sees both, now and when it is made again.
fn new_lines(work: &Checkpoint, told: &[Told], digest: &Digest) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    for told in told {
        let event = told.event(work.event);
        let record = told.record(&event, &work.scene);
        if !digest.knows(&record) {
            lines.push(record.line());
        }
    }
    lines
}
