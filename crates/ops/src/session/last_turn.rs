//! Finds out what the agent of a session was doing when the session ended. No hook reports a call before it has a
//! result, so a call that was running at the end is only in the transcript. Nothing is written.

use std::path::Path;

use model::digest::Digest;
use model::id::Id;
use model::redact::RedactOptions;
use model::transcript::TranscriptLine;
use store::Store;
use store::feed::{self, FeedCursor, FeedLimits};

use crate::World;
use crate::features::loops;
use crate::hook::transcript_replay::TranscriptReplay;
use crate::session::roster::RosterEntry;
use crate::session::transcript::{self, TranscriptToRead};
use crate::session::transcript_reader;

/// How many bytes are read from the end of a transcript. A session start may read the ends of several transcripts, for
/// example to write the packet of a crashed session. In total, it must not read more than a hook reads when it first
/// sees a session. If the part that no checkpoint has read is longer than this limit, the outcome of the turn counts as
/// unknown, unless a call is seen to be running.
const TRANSCRIPT_TAIL_BYTES: u64 = 256 * 1024;

/// How many bytes of an unfinished last line are read. One byte is enough to show that there is such a line.
const UNFINISHED_LINE_BYTES: usize = 1;

/// Adds how the last turn ended: whether a loop continued it, and which calls were still running when the session
/// ended. If this is unknown, for example because the session is still running, the digest says so. `entry` is
/// the session's entry in the list of sessions.
pub fn add_end_of_last_turn(
    world: &World,
    store: &Store,
    entry: Option<&RosterEntry>,
    digest: &mut Digest,
    redact: RedactOptions,
) {
    let Ok(session) = Id::new(&digest.session) else { return };
    digest.has_loop_continued_turn =
        digest.has_finished() && loops::session::has_continued_after_last_stop(store, &session, digest);
    if !digest.may_be_in_turn() {
        return;
    }
    let over = entry.filter(|entry| entry.end(store, world.now).is_some());
    let is_end_known = over.and_then(|entry| add_end_of_transcript(world, store, entry, digest, redact));
    digest.may_have_unseen_work = is_end_known != Some(true);
}

/// Adds the part of the transcript that no checkpoint has read. Returns whether this part is complete, or `None` if the
/// transcript cannot be read.
fn add_end_of_transcript(
    world: &World,
    store: &Store,
    entry: &RosterEntry,
    digest: &mut Digest,
    redact: RedactOptions,
) -> Option<bool> {
    let path = Path::new(entry.transcript.as_deref()?);
    let harness = harness::harness_by_name(&entry.harness)?;
    let cursor: Option<FeedCursor> = store.session_state(&entry.session).read_state().ok().flatten();
    let mut replay = TranscriptReplay::new(false, redact);
    let limits = FeedLimits { max_tail_bytes: TRANSCRIPT_TAIL_BYTES, ..FeedLimits::default() };
    let hear = |line: TranscriptLine, line_at| replay.read_line_at(line, line_at);
    let report = transcript_reader::read_new_lines(harness, path, cursor.as_ref(), limits, hear).ok()?;
    // The harness has not written anything about this session, so the transcript shows nothing.
    if cursor.is_none() && report.lines == 0 {
        return None;
    }
    let last_line = feed::read_unfinished_line(path, &report.cursor, UNFINISHED_LINE_BYTES).ok()?;
    let checkout = Path::new(&entry.worktree);
    let source = TranscriptToRead { path, checkout, redact, now: world.now };
    transcript::add_replayed_records(digest, replay, harness, &entry.session, &source);
    Some(report.unread_bytes_before == 0 && last_line.is_empty())
}
