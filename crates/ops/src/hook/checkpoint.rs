//! Updates a session's records: the journal from the transcript, and then the digest and the indexes from the
//! journal.

use std::borrow::Cow;
use std::mem::ManuallyDrop;
use std::path::Path;

use harness::Harness;
use model::activity::Activity;
use model::digest::Digest;
use model::event::{Event, EventKind, EventName, StartSource};
use model::id::Id;
use model::journal::{JournalRecord, RecordPolicy};
use model::relevant_files;
use model::session::{self, PendingBrief};
use model::transcript::TranscriptLine;
use store::feed::{self, FeedLimits};
use store::{Error, Result, Store, layout};

use crate::hook::deadline::Deadline;
use crate::hook::transcript_replay::{TranscriptRecord, TranscriptReplay};
use crate::process::alive;
use crate::session::{project_rules, transcript_reader};

/// How many bytes are read from the end of a transcript when it is read for the first time. Later checkpoints
/// continue where the last one ended. The brief says how many bytes were skipped.
const TRANSCRIPT_TAIL_BYTES: u64 = 14 * 1024 * 1024;

/// An unfinished call is read again only if it is within this many bytes of the transcript's end. A call further back
/// is assumed to have been killed.
const MAX_REREAD_BYTES: u64 = 384 * 1024;

#[derive(Clone, Copy)]
pub struct CheckpointInput<'a> {
    pub store: &'a Store,
    pub harness: &'static Harness,
    pub policy: RecordPolicy<'a>,
    pub session: &'a Id,
    pub event: &'a Event<'a>,
    pub log_limit_bytes: u64,
    /// Whether `thru gate run` launched the session. Its prompts are then not the user's own words.
    pub is_launched_by_gate_run: bool,
    pub deadline: Deadline,
    /// Called with the new digest, so that the features can update their records.
    pub update_features: UpdateFeaturesFn<'a>,
}

/// `Ok(Some(problem))` means that the update succeeded, but the receipt should mention the problem.
pub type UpdateFeaturesFn<'a> = &'a dyn Fn(&Digest) -> crate::Result<Option<String>>;

pub struct CheckpointOutcome {
    /// The digest as it was stored.
    pub digest: ManuallyDrop<Digest>,
    /// The calls that have started but not finished.
    pub unfinished_calls: Vec<TranscriptRecord>,
    /// A problem that did not stop the checkpoint, for the receipt.
    pub problem: Option<String>,
}

/// Updates the digest and the indexes with the new lines of the transcript and the journal. This can safely be
/// repeated, because duplicates are not counted.
pub fn run_checkpoint(work: &CheckpointInput) -> crate::Result<CheckpointOutcome> {
    let CheckpointInput { store, session, log_limit_bytes: limit, .. } = *work;
    let _lock = store.lock_session_digest(session, work.deadline.lock_wait())?;
    let mut indexes = IndexLines::new(store.role_of_session(session).ok().flatten());
    // New transcript records are written to the journal first, so that a rebuilt digest has the same content. The
    // digest is never freed, because the process ends soon after a checkpoint; this saves a tenth of the time.
    let mut digest = ManuallyDrop::new(store.current_digest(session, |record| indexes.add_record(record))?);
    let (caught_up, mut begun) = match read_new_transcript(work, &mut digest, &mut indexes) {
        Ok(begun) => (Ok(()), begun),
        Err(error) => (Err(error), Vec::new()),
    };
    store.fold_new_journal_lines(session, &mut digest, &mut |record| indexes.add_record(record))?;
    begun.retain(|told| {
        !digest.end_call_if_reported(&told.to_journal_record(&told.to_event(work.event), &work.policy))
    });
    for (index, lines) in
        [(layout::RELEVANT_FILES_INDEX, &indexes.files), (layout::ACTIVITY_LOG, &indexes.activity)]
    {
        if !lines.is_empty() {
            store.dir().append_lines(index, lines, limit)?;
        }
    }
    let mut problem = None;
    if let Some(since) = indexes.first_prompt_at.as_deref().filter(|_| !work.is_launched_by_gate_run) {
        // The digest is worth more than this log, so an error must not stop the checkpoint.
        let recorded = project_rules::record_rules(store, &digest, since, limit);
        problem = recorded.err().map(|error| format!("the project's rules were not recorded: {error}"));
    }
    let followed = (work.update_features)(&with_unfinished_calls(work, &digest, &begun));
    // If a feature's update failed, leave `records_at_last_detection` unchanged, so that the next checkpoint examines
    // these records again.
    if matches!(work.event.kind, EventKind::BeforeCompact { .. }) && followed.is_ok() {
        digest.records_at_last_detection = digest.record_count;
        digest.begun = begun.iter().map(TranscriptRecord::fingerprint).collect();
    }
    store.session_state(session).write_state::<Digest>(&digest)?;
    caught_up?;
    match followed? {
        Some(what) => Err(crate::Error::Failed { what }),
        None => Ok(CheckpointOutcome { digest, unfinished_calls: begun, problem }),
    }
}

struct IndexLines {
    role: String,
    files: Vec<Vec<u8>>,
    activity: Vec<Vec<u8>>,
    /// When the user sent the oldest prompt among the records.
    first_prompt_at: Option<String>,
}

impl IndexLines {
    fn new(role: Option<Id>) -> IndexLines {
        let role = role.map(|role| role.to_string()).unwrap_or_default();
        IndexLines { role, files: Vec::new(), activity: Vec::new(), first_prompt_at: None }
    }

    fn add_record(&mut self, record: &JournalRecord) {
        if record.event_name() == Some(EventName::Prompt)
            && self.first_prompt_at.as_deref().is_none_or(|first| *record.ts < *first)
        {
            self.first_prompt_at = Some(record.ts.to_string());
        }
        self.files.extend(relevant_files::relevant_file_lines(record));
        self.activity
            .extend(Activity::from_record(record, &self.role).map(|activity| activity.to_json_line()));
    }
}

/// Returns the digest with the new unfinished calls added. For an unfinished call, only the files are known. That is
/// enough to detect the workstream, but not enough for the journal.
fn with_unfinished_calls<'d>(
    work: &CheckpointInput,
    digest: &'d Digest,
    begun: &[TranscriptRecord],
) -> Cow<'d, Digest> {
    let mut seen = Cow::Borrowed(digest);
    for told in begun.iter().filter(|told| !digest.begun.contains(&told.fingerprint())) {
        let event = told.to_event(work.event);
        seen.to_mut().fold_record(&told.to_journal_record(&event, &work.policy));
    }
    seen
}

/// Adds to the journal the records that only the transcript contains, and returns the unfinished calls. A missing
/// transcript is not an error, because some harnesses create it late.
fn read_new_transcript(
    work: &CheckpointInput,
    digest: &mut Digest,
    indexes: &mut IndexLines,
) -> Result<Vec<TranscriptRecord>> {
    let Some(path) = work.event.transcript.as_deref() else { return Ok(Vec::new()) };
    let cursor: Option<feed::FeedCursor> = work.store.session_state(work.session).read_state().ok().flatten();
    let is_first_contact = cursor.is_none() && !digest.did_hooks_see_start;
    let capabilities = &work.harness.capabilities;
    let reports_all = capabilities.reports_every_prompt() && capabilities.reports_every_compaction();
    // If hooks were installed after the session started, they missed prompts, so prompts are read from the
    // transcript. The replay is never freed, because the process ends soon.
    let mut retelling = ManuallyDrop::new(TranscriptReplay::new(
        !reports_all || is_first_contact,
        work.policy.redact_options,
    ));
    let limits = FeedLimits { max_tail_bytes: TRANSCRIPT_TAIL_BYTES, ..FeedLimits::default() };
    let hear = |line: TranscriptLine, line_at| retelling.read_line_at(line, line_at);
    let read =
        transcript_reader::read_new_lines(work.harness, Path::new(path), cursor.as_ref(), limits, hear);
    let report = match read {
        Err(Error::Absent { .. }) => return Ok(Vec::new()),
        report => report?,
    };
    digest.unread_transcript_bytes += report.unread_bytes_before;
    let from = cursor.as_ref().map_or(report.unread_bytes_before, |cursor| cursor.offset);
    digest.context.update_from_window_facts(&retelling.window, from, report.cursor.offset);
    for (kind, times) in &retelling.unknown {
        *digest.unknown_line_types.entry(kind.clone()).or_default() += times;
    }
    let mut told = retelling.records.as_slice();
    if is_first_contact {
        register_session(work);
        told = write_events_before_hooks(work, told, digest, indexes)?;
    }
    let mut lines = new_journal_lines(work, told, digest, is_first_contact && reports_all);
    let edits =
        retelling.edit_texts_record(work.session.as_str(), &work.policy, |call| digest.has_edit_text(call));
    lines.extend(edits.map(|record| record.to_json_line()));
    if !lines.is_empty() {
        work.store.dir().append_lines(&layout::journal_path(work.session), &lines, work.log_limit_bytes)?;
    }
    // A session that continues another one begins with a summary, but it already got its brief when it started.
    let inherited = cursor.is_none() && !digest.continued_session.is_empty();
    let starts = matches!(work.event.kind, EventKind::SessionStart { .. });
    if retelling.compacted && !capabilities.reports_every_compaction() && !inherited && !starts {
        work.store.session_state(work.session).write_state(&PendingBrief::Due)?;
    }
    // An unfinished call is read again at the next checkpoint. This is safe, because duplicates are not counted.
    let end = report.cursor.offset;
    let cursor = match retelling
        .offset_of_first_unfinished_call()
        .filter(|line_at| end.saturating_sub(*line_at) <= MAX_REREAD_BYTES)
    {
        Some(line_at) => feed::cursor_at_line_start(Path::new(path), line_at)?,
        None => report.cursor,
    };
    work.store.session_state(work.session).write_state(&cursor)?;
    Ok(retelling.unfinished_calls())
}

/// Adds the session to the list of sessions if no hook saw its start. Without an entry, nobody could see that the
/// session is running or has crashed.
fn register_session(work: &CheckpointInput) {
    if !matches!(work.event.kind, EventKind::SessionStart { .. } | EventKind::Other { .. }) {
        let process = alive::calling_harness_stamp();
        let origin = session::SessionOrigin { process_stamp: process.as_deref(), by_gate_run: false };
        let line = session::session_start_line(work.event, StartSource::Unknown, origin, &work.policy);
        let _ = work.store.register_session(&line, work.log_limit_bytes);
    }
}

/// Puts the events that happened before the first hook at the beginning of the journal, so that the journal is in
/// chronological order. Called only when the transcript is read for the first time. Returns the later transcript
/// records.
fn write_events_before_hooks<'t>(
    work: &CheckpointInput,
    told: &'t [TranscriptRecord],
    digest: &mut Digest,
    indexes: &mut IndexLines,
) -> Result<&'t [TranscriptRecord]> {
    let journal = layout::journal_path(work.session);
    let is_earlier = |told: &TranscriptRecord| {
        digest.record_count == 0 || told.at.as_deref().is_none_or(|at| at < digest.first_at.as_str())
    };
    let (earlier, later) =
        told.split_at(told.iter().position(|told| !is_earlier(told)).unwrap_or(told.len()));
    if earlier.is_empty() || !work.store.dir().rotated_parts(&journal)?.is_empty() {
        return Ok(told);
    }
    // The harness records a prompt a moment before it calls the hook, so the first prompt is in both the transcript
    // and the journal. Leave it out here.
    let first = digest.prompts.first().map(|prompt| prompt.text.clone());
    let mut again = std::mem::take(digest).emptied_for_rebuild();
    let mut text = Vec::new();
    for told in earlier {
        let event = told.to_event(work.event);
        let record = told.to_journal_record(&event, &work.policy);
        let is_told = matches!(told.kind, EventKind::Prompt { .. })
            && first.as_deref().is_some_and(|first| record.text.starts_with(first));
        if !is_told {
            text.extend_from_slice(&record.to_json_line());
            text.push(b'\n');
            again.fold_record(&record);
            indexes.add_record(&record);
        }
    }
    work.store.write_first_journal_part(work.session, &text)?;
    again.folded_journal_parts = 1;
    *digest = again;
    work.store.fold_new_journal_lines(work.session, digest, &mut |_| {})?;
    Ok(later)
}

/// Returns journal lines for the records that are not in the journal yet. A record with a new id gets a line even if
/// a hook reported the same event without an id, so that a rebuilt digest is based on the same records. If
/// `knows_prompts` is true, hooks have already reported the prompts.
fn new_journal_lines(
    work: &CheckpointInput,
    told: &[TranscriptRecord],
    digest: &Digest,
    knows_prompts: bool,
) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    // A prompt with which the user refused a call is not known yet, because no hook reports such a prompt.
    let is_known = |told: &TranscriptRecord| {
        knows_prompts && matches!(told.kind, EventKind::Prompt { .. }) && told.refused_call.is_none()
    };
    for told in told.iter().filter(|told| !is_known(told)) {
        let event = told.to_event(work.event);
        let record = told.to_journal_record(&event, &work.policy);
        if !digest.is_record_already_counted(&record) {
            lines.push(record.to_json_line());
        }
    }
    lines
}
