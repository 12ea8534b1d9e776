//! Warns a session if another session edits the same file at about the same time.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use model::activity::scan::{self, EditLine, JournalLinePathFinder};
use model::activity::{self, Activity, Clash, MAX_CLASH_GAP, OtherSessionState};
use model::event::{Event, EventKind, StartSource};
use model::id::Id;
use model::journal::JournalRecord;
use model::render::format_path_or_code;
use model::reply::{Reply, ReplyPart};
use model::time;
use store::{Durability, SessionState, Store, layout};

use super::active;
use crate::Result;
use crate::features::{FeatureAnswer, ProjectContext};
use crate::hook::context::HookContext;
use crate::session::roster::{self, RosterEntry};

/// A prompt counts as an earlier prompt only if it is at least this old. A newer prompt is the current prompt, which
/// two hooks may have reported.
const MIN_AGE_OF_EARLIER_PROMPT: SignedDuration = SignedDuration::from_secs(3);

/// If the part of the journal that is read first contains no earlier prompt, the edits of all sessions that were active
/// within this time are compared.
const MAX_AGE_OF_COMPARED_EDITS: SignedDuration = SignedDuration::from_hours(24);

/// How many bytes are read from the end of a journal in each attempt. The next attempt is made only if the text does
/// not reach back far enough. A journal is rotated at 8 MB.
const TAIL_BYTES_OF_ATTEMPTS: [u64; 3] = [64 * 1024, 1024 * 1024, 8 * 1024 * 1024];

/// How many clashes get a line of their own.
const MAX_CLASHES_TOLD: usize = 5;
/// How many of the remaining files are named.
const MAX_CLASHING_FILES_NAMED: usize = 20;

/// The clashes that a session has been told about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ReportedClashes {
    fingerprints: Vec<u64>,
}

/// How many fingerprints are kept. The oldest are dropped first.
const MAX_CLASH_FINGERPRINTS: usize = 256;

/// Warns the agent, at a prompt or a session start, about files that another session edited at about the same time.
/// Each clash is reported only once.
pub fn decide_clash_warning<'c>(context: &'c HookContext<'_>) -> Result<FeatureAnswer<'c>> {
    if context.event.subagent.is_some() || !may_warn_at_event(context.event) {
        return Ok(FeatureAnswer::no_action(
            "a warning about other sessions' edits comes only at a prompt or when a session continues",
        ));
    }
    let (store, now) = (context.project.store, context.project.world.now);
    let clashes =
        without_reported_clashes(store, context.session, find_clashes(&context.project, context.session)?);
    if clashes.is_empty() {
        return Ok(FeatureAnswer::no_action(
            "no other session recently edited the same file, or this session has already been warned",
        ));
    }
    let what = "record that the session was warned about these edits";
    Ok(FeatureAnswer::with_change(
        clash_reply(store, &clashes, now),
        "another session edited the same file",
        what,
        move || {
            // If hooks are installed twice, two processes handle this event. The lock ensures that only the first one
            // warns the agent.
            let _lock = store.lock_session_digest(context.session, context.deadline.lock_wait())?;
            let clashes = without_reported_clashes(store, context.session, clashes);
            let session = store.session_state(context.session);
            let mut told = session.read_state::<ReportedClashes>()?.unwrap_or_default();
            told.fingerprints.extend(clashes.iter().map(Clash::fingerprint));
            told.fingerprints.drain(..told.fingerprints.len().saturating_sub(MAX_CLASH_FINGERPRINTS));
            session.write_state(&told)?;
            Ok(clash_reply(store, &clashes, now))
        },
    ))
}

fn may_warn_at_event(event: &Event) -> bool {
    match event.kind {
        EventKind::Prompt { .. } => true,
        // A new session has not edited anything yet, so it gets no warning.
        EventKind::SessionStart { source } => {
            matches!(source, StartSource::Resume | StartSource::Compact | StartSource::Fork)
        }
        _ => false,
    }
}

/// Returns the clashes since the last prompt, because earlier ones were reported at that prompt. The two edits of a
/// clash are at most ten minutes apart, and at least one of them is newer than that prompt.
fn find_clashes(project: &ProjectContext, own: &Id) -> Result<Vec<Clash>> {
    let ProjectContext { store, world, .. } = *project;
    let mut window = OwnJournalTail::read(store, own, world.now, TAIL_BYTES_OF_ATTEMPTS[0])?;
    if window.is_complete && scan::journal_lines_with_edits(&window.text, &window.since).is_empty() {
        return Ok(Vec::new());
    }
    let long_ago =
        time::to_rfc3339(world.now.saturating_sub(MAX_AGE_OF_COMPARED_EDITS).unwrap_or(Timestamp::MIN));
    let since = if window.since.is_empty() { &long_ago } else { &window.since };
    let others = active::sessions_active_since(store, own, world.now, since)?;
    if others.is_empty() {
        return Ok(Vec::new());
    }
    for size in &TAIL_BYTES_OF_ATTEMPTS[1..] {
        if !window.is_complete {
            window = OwnJournalTail::read(store, own, world.now, *size)?;
        }
    }
    let OwnJournalTail { text, since, .. } = &window;
    let paths = JournalLinePathFinder::default();
    let mut edited = scan::journal_lines_with_edits(text, since);
    let own_names: BTreeSet<&[u8]> = edited.iter().flat_map(|line| line.paths(&paths)).collect();
    let (mut theirs, mut same_names) = (Vec::new(), BTreeSet::new());
    for session in &others {
        let text = journal_tail_since(store, session, since)?;
        let mut lines = scan::journal_lines_with_edits(&text, since);
        lines.retain(|line| line.paths(&paths).any(|name| own_names.contains(name)));
        same_names.extend(lines.iter().flat_map(|line| line.paths(&paths)).map(<[u8]>::to_vec));
        theirs.extend(activities_of_lines(store, session, &lines));
    }
    if theirs.is_empty() {
        return Ok(Vec::new());
    }
    edited.retain(|line| line.paths(&paths).any(|name| same_names.contains(name)));
    let mut found = activity::find_clashes(&activities_of_lines(store, own, &edited), &theirs);
    if !found.is_empty() {
        found.retain(clash_filter(store, own, &window, world.now)?);
    }
    Ok(found)
}

/// Returns a filter that drops harmless clashes. A clash is harmless if the other session was over before this
/// session started, because then this session has seen only the final content of the file. A crashed session counts
/// as over after its last record. Times are in whole seconds, so within one second the order of the session list
/// decides. If the beginning of this session's journal was not read, no clash is dropped.
fn clash_filter<'s>(
    store: &'s Store,
    own: &Id,
    window: &OwnJournalTail,
    now: Timestamp,
) -> Result<impl Fn(&Clash) -> bool + use<'s>> {
    let first = window.text.split(|byte| *byte == b'\n').find_map(JournalRecord::parse_line);
    let began =
        first.filter(|_| window.is_whole_journal).map(|record| record.ts.to_string()).unwrap_or_default();
    let entries = roster::read_roster(store, active::RECENT_SESSIONS_LOG_TAIL_BYTES)?;
    let own_place = entries.iter().position(|entry| entry.session == *own).unwrap_or(0);
    Ok(move |clash: &Clash| {
        let was_over = |(place, entry): (usize, &RosterEntry)| {
            entry.session.as_str() == clash.other_session && entry.end(store, now).is_some() && {
                let at = entry.time_of_last_activity(store);
                at < began || at == began && place < own_place
            }
        };
        !entries.iter().enumerate().any(was_over)
    })
}

/// The end of this session's own journal.
struct OwnJournalTail {
    text: Vec<u8>,
    /// Edits after this time are compared. It is empty if `text` contains no earlier prompt.
    since: String,
    /// Whether the text contains everything after `since`.
    is_complete: bool,
    is_whole_journal: bool,
}

impl OwnJournalTail {
    fn read(store: &Store, own: &Id, now: Timestamp, size: u64) -> Result<OwnJournalTail> {
        let text = store.dir().read_recent_lines(&layout::journal_path(own), size)?;
        let since = time_edits_matter_from(&text, now).unwrap_or_default();
        let is_whole = is_whole_journal(&text, size);
        let is_complete = is_whole || scan::covers_time_since(&text, &since);
        Ok(OwnJournalTail { text, since, is_complete, is_whole_journal: is_whole })
    }
}

/// Returns whether `text` is certainly the whole journal. The length alone does not show this. The reader drops an
/// incomplete first line, so the end of a longer journal can also be shorter than `size`.
fn is_whole_journal(text: &[u8], size: u64) -> bool {
    (text.len() as u64) < size / 2
}

/// Returns the time after which edits are compared. This is ten minutes before the last prompt, not counting the
/// current prompt. Returns `None` if the text contains no other prompt.
fn time_edits_matter_from(text: &[u8], now: Timestamp) -> Option<String> {
    let before = time::to_rfc3339(now.saturating_sub(MIN_AGE_OF_EARLIER_PROMPT).ok()?);
    let prompt = time::parse_time(scan::last_prompt_time(text, &before)?)?;
    Some(time::to_rfc3339(prompt.saturating_sub(MAX_CLASH_GAP).ok()?))
}

/// Returns the end of a session's journal. It contains everything since `from`, unless that is too long to read.
fn journal_tail_since(store: &Store, session: &Id, from: &str) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for window in TAIL_BYTES_OF_ATTEMPTS {
        text = store.dir().read_recent_lines(&layout::journal_path(session), window)?;
        if is_whole_journal(&text, window) || scan::covers_time_since(&text, from) {
            break;
        }
    }
    Ok(text)
}

fn activities_of_lines(store: &Store, session: &Id, lines: &[EditLine]) -> Vec<Activity> {
    if lines.is_empty() {
        return Vec::new();
    }
    let role = store.role_of_session(session).ok().flatten().map(|role| role.to_string()).unwrap_or_default();
    lines
        .iter()
        .filter_map(|line| Activity::from_record(&JournalRecord::parse_line(line.0)?, &role))
        .collect()
}

fn clash_reply(store: &Store, clashes: &[Clash], now: Timestamp) -> ReplyPart {
    if clashes.is_empty() {
        return ReplyPart::silent();
    }
    let entries = roster::read_roster(store, roster::ROSTER_TAIL_BYTES).unwrap_or_default();
    let other = |clash: &Clash| match roster::is_over(&entries, store, &clash.other_session, now) {
        true => OtherSessionState::Ended,
        false => OtherSessionState::Open,
    };
    let (told, more) = clashes.split_at(clashes.len().min(MAX_CLASHES_TOLD));
    let mut text: String = told
        .iter()
        .map(|clash| clash.describe_for_agent(harness_title(&clash.other_harness), other(clash)))
        .collect();
    if !more.is_empty() {
        let names: Vec<String> = more
            .iter()
            .take(MAX_CLASHING_FILES_NAMED)
            .map(|clash| format_path_or_code(&clash.path, 120))
            .collect();
        let rest = more.len() - names.len();
        let rest = if rest > 0 { format!(", +{rest} more") } else { String::new() };
        text.push_str(&format!(
            "Throughline: other sessions also edited files that this session edited: {}{rest}.\n",
            names.join(", ")
        ));
    }
    ReplyPart::from_reply(Reply::ContextForAgent(text))
}

fn harness_title(harness: &str) -> &str {
    harness::harness_by_name(harness).map_or(harness, |row| row.title)
}

fn without_reported_clashes(store: &Store, session: &Id, mut clashes: Vec<Clash>) -> Vec<Clash> {
    if clashes.is_empty() {
        return clashes;
    }
    let told =
        store.session_state(session).read_state::<ReportedClashes>().ok().flatten().unwrap_or_default();
    clashes.retain(|clash| !told.fingerprints.contains(&clash.fingerprint()));
    clashes
}

impl SessionState for ReportedClashes {
    const STATE_FOLDER: &'static str = layout::CLASHES_TOLD_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 64 * 1024;
    const WRITE_DURABILITY: Durability = Durability::Rebuildable;

    fn parse(bytes: &[u8]) -> std::result::Result<ReportedClashes, String> {
        let text = String::from_utf8_lossy(bytes);
        let marks: std::result::Result<Vec<u64>, _> =
            text.lines().map(|line| u64::from_str_radix(line, 16)).collect();
        Ok(ReportedClashes { fingerprints: marks.map_err(|error| error.to_string())? })
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.fingerprints.iter().map(|mark| format!("{mark:016x}\n")).collect::<String>().into_bytes()
    }
}
