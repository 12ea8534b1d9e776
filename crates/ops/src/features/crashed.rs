//! `thru sweep`: writes packets for crashed sessions, that is, for sessions that died before a hook could report
//! their end.

use std::path::Path;
use std::time::Duration;

use model::brief::{BriefOccasion, Candidate};
use model::checkout_path;
use model::digest::{CommandUse, Digest, FileUse};
use model::event::{Event, EventKind};
use model::id::Id;
use model::journal::RecordPolicy;
use model::loops::Loop;
use model::packet::{self, Packet, PacketStatus, words};
use model::prompt::split_slash_command;
use model::render::{format_path_or_code, inline_for_model};
use model::text::count_with_noun;
use model::{run, time};
use serde::Serialize;
use serde_json::json;
use store::{Lock, LogPosition, SessionState, Store, layout};

use crate::features::packets::claimed::Ending;
use crate::features::packets::handoff::{self, FilesToFingerprint};
use crate::features::packets::{claimed, how_to_continue_packet};
use crate::features::sessions::continued;
use crate::features::{
    BriefContext, Feature, NextStepUrgency, ProjectContext, StatusReportLine, StatusTone, UnwrittenPacket,
    loops, packets,
};
use crate::hook::checkpoint::{self, CheckpointInput};
use crate::hook::context::HookContext;
use crate::hook::deadline::Deadline;
use crate::hook::transcript_replay::{TranscriptRecord, describe_unfinished_call};
use crate::project::{Project, settings};
use crate::session::facts::{self, ExaminedFiles};
use crate::session::roster::{self, RosterEntry};
use crate::session::{database, last_turn, transcript};
use crate::{Error, Result, World, WriteMode};

pub const FEATURE_ROW: Feature = Feature {
    name: "crashed sessions",
    brief_candidates,
    after_reply_sent: mark_told_sessions_offered,
    status: status_lines,
    ..Feature::EMPTY_FEATURE
};

fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let waiting = count_unswept_sessions(project.world, project.store)?;
    if waiting == 0 {
        return Ok(Vec::new());
    }
    let each = if waiting == 1 { "it" } else { "each" };
    let rest = format!("; `thru sweep` writes a packet for {each}");
    let line =
        StatusReportLine::colored("crashed", StatusTone::Warning, count_with_noun(waiting, "session"), rest);
    let line = line.with_json("crashed_sessions", json!(waiting));
    Ok(vec![line.with_next_step(
        NextStepUrgency::CrashedSession,
        "thru sweep",
        "saves the work of a crashed session as a packet",
    )])
}

/// How long `thru sweep` waits for another sweep to finish. Hooks also sweep, at the start of a session.
const MAX_SWEEP_LOCK_WAIT: Duration = Duration::from_secs(5);

/// How many bytes are read from the end of the session list to count crashed sessions.
const SESSION_LIST_TAIL_BYTES: u64 = 32 * 1024;
/// How many of the sessions that have not ended are examined, newest first.
const MAX_SESSIONS_EXAMINED: usize = 16;

#[derive(Clone, Debug, Serialize)]
pub struct SweptSession {
    pub session: String,
    pub harness: String,
    pub last_at: String,
    /// The packet's id. It is empty if the session left nothing to hand over.
    pub packet: String,
    /// Whether the packet was written. False in a dry run, or if the session left nothing to hand over.
    pub written: bool,
}

pub fn sweep_dead_sessions(world: &World, mode: WriteMode) -> Result<Vec<SweptSession>> {
    let project = Project::find_for_reading(world)?;
    if project.marker.project_id().is_none() {
        return Err(Error::Refused {
            what: format!(
                "{}: these records have no root.json, so no packet can belong to this project",
                project.store.dir().path().display()
            ),
            hint: "`thru init` makes this folder a root again".into(),
        });
    }
    let mut text = Vec::new();
    project.store.dir().each_new_line(layout::SESSIONS_INDEX, LogPosition::default(), u64::MAX, |line| {
        text.extend_from_slice(line);
        text.push(b'\n');
    })?;
    let _lock = lock_sweep(&project.store, MAX_SWEEP_LOCK_WAIT)?;
    let mut swept = Vec::new();
    for open in open_sessions(&text) {
        if read_valid_crash_record(&project.store, &open)?.is_none()
            && open.has_crashed(&project.store, world.now)
        {
            swept.push(sweep_session(world, &project, &open, mode, FilesToFingerprint::Take)?);
        }
    }
    Ok(swept)
}

const CRASH_CANDIDATE_ID_PREFIX: &str = "crashed:";

/// Offers one crashed session's packet to a session that is starting. Each packet is offered only once.
fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let ProjectContext { world, root, store, .. } = context.project;
    if context.occasion != BriefOccasion::Started {
        return Ok(Vec::new());
    }
    let is_other = |entry: &&RosterEntry| entry.is_open() && Some(&entry.session) != context.session;
    let open: Vec<&RosterEntry> = context.roster.entries()?.iter().filter(is_other).collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    // If the lock is busy, another session start is already handling the crashed sessions.
    let lock = match lock_sweep(store, Duration::ZERO) {
        Err(store::Error::Busy { .. }) => return Ok(Vec::new()),
        lock => lock?,
    };
    let others = open.iter().rev().take(MAX_SESSIONS_EXAMINED);
    let mut crashed = None;
    for open in others {
        let seen = read_valid_crash_record(store, open)?;
        if !seen.as_ref().is_some_and(|seen| seen.offered) && open.has_crashed(store, world.now) {
            crashed = Some((open, seen));
            break;
        }
    }
    let Some((open, seen)) = crashed else { return Ok(Vec::new()) };
    let packet = match seen {
        Some(seen) => seen.packet,
        None => {
            let Some(own) = Store::open_at_root(&root.path)? else { return Ok(Vec::new()) };
            let marker = store.read_marker()?;
            // Without this machine's records, no loop counts as the user's own, so the packet would leave out the
            // session's loop.
            let own = world.with_machine_records(own.for_hook(store.deadline()), &marker, &root.path);
            let project = Project { root: root.clone(), store: own, marker };
            let swept = sweep_session(world, &project, open, context.mode, FilesToFingerprint::TakeSmall)?;
            if context.mode == WriteMode::DryRun && !swept.packet.is_empty() {
                let unwritten = UnwrittenPacket { id: swept.packet.clone(), session: open.session.clone() };
                context.unwritten_packet.replace(Some(unwritten));
                return Ok(vec![crash_candidate(open, &swept.packet)]);
            }
            swept.packet
        }
    };
    if !is_packet_open(store, &packet) {
        // The session left nothing to report, or its packet was already handled. Record this, so that the packet is
        // never offered.
        if context.mode == WriteMode::Write {
            mark_offered(store, &open.session)?;
        }
        return Ok(Vec::new());
    }
    context.held_locks.borrow_mut().push(lock);
    Ok(vec![crash_candidate(open, &packet)])
}

fn crash_candidate(open: &RosterEntry, packet: &str) -> Candidate {
    let (session, at) =
        (format_path_or_code(open.session.as_str(), 40), format_path_or_code(&open.last_listed_at, 30));
    let how = how_to_continue_packet(packet);
    let text = format!("Session {session} (started {at}) crashed; {how}.");
    Candidate::new(
        &packets::PACKETS_BRIEF_SECTION,
        format!("{CRASH_CANDIDATE_ID_PREFIX}{}", open.session),
        text,
    )
}

fn mark_told_sessions_offered(context: &HookContext, told: &[String]) -> Result<()> {
    for session in told.iter().filter_map(|id| Id::new(id.strip_prefix(CRASH_CANDIDATE_ID_PREFIX)?).ok()) {
        mark_offered(context.project.store, &session)?;
    }
    Ok(())
}

fn mark_offered(store: &Store, session: &Id) -> Result<()> {
    let seen = store.session_state(session).read_state::<CrashRecord>()?.unwrap_or_default();
    Ok(store.session_state(session).write_state(&CrashRecord { offered: true, ..seen })?)
}

fn is_packet_open(store: &Store, packet: &str) -> bool {
    let Some(document) = Id::new(packet).ok().and_then(|id| store.read_packet(&id).ok()) else {
        return false;
    };
    let packet = Packet::read_frontmatter(&document, packet);
    matches!(packet.status, Some(PacketStatus::Draft | PacketStatus::Active)) && packet.claimed_by.is_empty()
}

/// Records that the session has a packet, so that a sweep does not write a second one if the session crashes without
/// doing further work.
pub(crate) fn record_handoff_packet(world: &World, store: &Store, session: &str, packet: &str) -> Result<()> {
    let Ok(session) = Id::new(session) else { return Ok(()) };
    let seen = CrashRecord {
        packet: packet.to_owned(),
        offered: false,
        until: journal_end(world, store, &session)?,
        closed_work_until: closed_work_until(store, &session).unwrap_or_default(),
    };
    Ok(store.session_state(&session).write_state(&seen)?)
}

/// Returns a time in a session. All messages that the user sent up to that time are about finished work. If the last
/// packet about the session is now done, the result is the time at which that packet was written. Otherwise, it is the
/// time that was recorded for an earlier packet, if there is one.
pub(crate) fn closed_work_until(store: &Store, session: &Id) -> Option<String> {
    let seen = store.session_state(session).read_state::<CrashRecord>().ok()??;
    let closed = Id::new(&seen.packet).ok().and_then(|id| {
        let document = store.read_packet(&id).ok()?;
        let packet = Packet::read_frontmatter(&document, id.as_str());
        packets::is_finished_work(&packet, &document).then_some(packet.created_at)
    });
    closed.or(Some(seen.closed_work_until)).filter(|until| !until.is_empty())
}

/// Called when a loop is finished. A sweep may have written packets for crashed sessions in which the loop ran before.
/// Marks such a packet as done if the loop was the last work of its session and no session has claimed the packet.
pub(crate) fn finish_packets_of_loop(
    world: &World,
    store: &Store,
    finished: &Loop,
    wait: Duration,
) -> Result<()> {
    for (session, since) in loops::session::earlier_owners(store, finished) {
        let Some(seen) = store.session_state(&session).read_state::<CrashRecord>()? else { continue };
        let Some(packet) = Id::new(&seen.packet).ok().filter(|_| is_packet_open(store, &seen.packet)) else {
            continue;
        };
        let document = store.read_packet(&packet)?;
        let purpose = Packet::read_frontmatter(&document, packet.as_str()).purpose;
        let digest = store.current_digest(&session, |_| {})?;
        // The packet may come from a handoff with a purpose of its own.
        let is_swept = work_of_session(world, store, &session, &digest)
            .is_some_and(|work| inline_for_model(&work, claimed::MAX_CRASH_PURPOSE_CHARS) == purpose);
        if is_swept && loops::session::worked_only_on_loop(&digest, &since) {
            packets::finish_packet_of_loop(store, &packet, &finished.id, world.now, wait)?;
        }
    }
    Ok(())
}

/// Counts how many of the newest sessions crashed, left something to hand over, and have no packet yet. Writes nothing.
pub(crate) fn count_unswept_sessions(world: &World, store: &Store) -> Result<usize> {
    let tail = match store.dir().read_recent_lines(layout::SESSIONS_INDEX, SESSION_LIST_TAIL_BYTES) {
        Err(store::Error::Absent { .. }) => return Ok(0),
        tail => tail?,
    };
    let mut waiting = 0;
    for open in open_sessions(&tail).iter().rev().take(MAX_SESSIONS_EXAMINED) {
        if read_valid_crash_record(store, open)?.is_none()
            && open.has_crashed(store, world.now)
            && has_work_to_hand_over(world, store, open)
        {
            waiting += 1;
        }
    }
    Ok(waiting)
}

/// Returns whether a sweep would write a packet for a crashed session, judging by what hooks recorded about the session
/// and by the end of its transcript.
fn has_work_to_hand_over(world: &World, store: &Store, open: &RosterEntry) -> bool {
    let session = &open.session;
    let digest = facts::digest_with_predecessors(store, session, facts::MAX_PREDECESSOR_SESSIONS_READ);
    let Ok(mut digest) = digest else { return false };
    let redact = settings::settings_for_hook(world, Some(store)).settings.redact_options();
    last_turn::add_end_of_last_turn(world, store, Some(open), &mut digest, redact);
    work_of_session(world, store, session, &digest).is_some()
        && !loops::session::has_other_session_finished_loop(store, &digest)
}

/// Takes the sweep lock, so that two sweeps cannot write packets for the same session.
fn lock_sweep(store: &Store, wait: Duration) -> store::Result<Lock> {
    store.lock_by_path(layout::SWEEP_LOCK, wait)
}

fn sweep_session(
    world: &World,
    project: &Project,
    open: &RosterEntry,
    mode: WriteMode,
    hashes: FilesToFingerprint,
) -> Result<SweptSession> {
    // Compare the files before reading the rest of the transcript, because reading it adds records to the journal, and
    // the journal's time shows when the session last worked.
    let was_changed = project.store.current_digest(&open.session, |_| {}).is_ok_and(|known| {
        facts::have_files_changed_since_session(&project.store, &known, &project.root.checkout)
    });
    let unfinished = match mode {
        WriteMode::Write => read_rest_of_transcript(world, project, open, hashes),
        WriteMode::DryRun => Vec::new(),
    };
    // A hook has no time to take all fingerprints, and it does not run git either.
    let examined = match hashes {
        FilesToFingerprint::Take => ExaminedFiles::ListedByGit,
        FilesToFingerprint::TakeSmall => ExaminedFiles::OfSession,
    };
    let mut source = handoff::packet_source_of_session(world, project, &open.session, None, examined)?;
    if !unfinished.is_empty() {
        source.digest.unfinished_call_texts = unfinished;
    }
    source.digest.are_files_changed_since |= was_changed;
    if hashes == FilesToFingerprint::Take {
        add_facts_from_database(world, project, open, &mut source.digest);
    }
    let digest = &source.digest;
    let swept = |packet: String, written| SweptSession {
        session: open.session.to_string(),
        harness: open.harness.clone(),
        last_at: digest.last_at.clone(),
        packet,
        written,
    };
    let work = work_of_session(world, &project.store, &open.session, digest);
    // A loop that another session has finished needs no packet.
    let work = work.filter(|_| !loops::session::has_other_session_finished_loop(&project.store, digest));
    let Some(work) = work else {
        if mode == WriteMode::Write {
            let until = journal_end(world, &project.store, &open.session)?;
            project.store.session_state(&open.session).write_state(&CrashRecord {
                packet: String::new(),
                offered: true,
                until,
                closed_work_until: closed_work_until(&project.store, &open.session).unwrap_or_default(),
            })?;
        }
        return Ok(swept(String::new(), false));
    };
    let purpose = inline_for_model(&work, claimed::MAX_CRASH_PURPOSE_CHARS);
    if mode == WriteMode::DryRun {
        return Ok(swept(packet::packet_id(world.now, &purpose, 1), false));
    }
    // Read git's files instead of running `git`, because this function also runs when a session starts.
    let git = source.checkout.as_deref().and_then(store::git::read_head);
    let redact = settings::settings_for_hook(world, Some(&project.store)).settings.redact_options();
    let git = git.map(|head| packet::GitFacts {
        branch: crate::project::git::redacted_branch(&head, redact),
        head: head.commit,
        uncommitted_files: None,
        fingerprint_of_changes: None,
    });
    let request = handoff::HandoffRequest {
        purpose: &purpose,
        is_purpose_from_session: true,
        hashes,
        ..handoff::HandoffRequest::default()
    };
    let report = handoff::write_packet(world, project, &source, &request, git.as_ref())?;
    // The new packet is already written. If the old packet cannot be closed, the worst result is that both are on offer.
    let _ = claimed::close_continued_packets(
        world,
        project,
        std::slice::from_ref(&open.session),
        &report.id,
        Ending::Crash,
    );
    record_handoff_packet(world, &project.store, open.session.as_str(), &report.id)?;
    Ok(swept(report.id, true))
}

/// Returns the work that a dead session was doing: its goal or, if its user only said “continue” or picked up a packet,
/// the work that it continued. Returns `None` if the session left nothing to hand over.
fn work_of_session(world: &World, store: &Store, session: &Id, digest: &Digest) -> Option<String> {
    // A call that was running when the session ended may have had its effect.
    if digest.files.is_empty() && digest.commands.is_empty() && !digest.has_open_call() {
        return None;
    }
    let own = packet::work_named_by_goal(&digest.current_goal());
    // A prompt that the user typed while picking up a packet is about the packet. The work is described in the packet
    // itself.
    let is_about_packet =
        |own: &str| digest.prompts.iter().any(|prompt| prompt.is_about_packet && prompt.text == own);
    let redact = settings::settings_for_hook(world, Some(store)).settings.redact_options();
    let claimed = claimed::continued_packet(store, session.as_str(), redact)
        .map(|packet| packet.goal.lines().next().unwrap_or_default().to_owned())
        .filter(|goal| !goal.is_empty());
    let works_on_packet = claimed.is_some() && words::are_about_packet(&digest.prompts);
    if let Some(own) = own.filter(|own| !works_on_packet && !is_about_packet(own)) {
        return Some(words::without_pasted_output(own));
    }
    if let Some(request) = continued::continued_request(store, session, redact) {
        return Some(request);
    }
    // A session that only read its packet has not done anything yet.
    let is_own_command = |used: &CommandUse| !run::only_calls_thru(&used.command);
    let has_changed = digest.files.iter().any(|file| file.edits > 0 || file.written_at > 0);
    let has_run_command = digest.commands.iter().any(is_own_command) || digest.has_open_call();
    if own.is_none() && !has_changed && !has_run_command {
        return None;
    }
    let has_arguments = |text: &str| split_slash_command(text).is_some_and(|(_, rest)| !rest.is_empty());
    let command = || {
        let mut typed = digest.prompts.iter().rev();
        Some(typed.find(|prompt| has_arguments(&prompt.text))?.text.clone())
    };
    let edited = || digest.last_file_edited_after(0).map(|path| format!("the work on {path}"));
    let newest = || Some(digest.prompts.last()?.text.clone());
    let own = own.map(words::without_pasted_output);
    claimed.or(own).or_else(command).or_else(edited).or_else(newest)
}

/// Adds two facts that no hook reported: the dead session's last message, and the call that was running when the
/// session died. They come from the harness's database, if the harness has one. If the database cannot be read, the
/// packet contains only the journal's facts. This function starts a process, so hooks do not call it.
fn add_facts_from_database(world: &World, project: &Project, dead: &RosterEntry, digest: &mut Digest) {
    let rows = harness::harness_by_name(&dead.harness).and_then(|harness| {
        database::find_session_in_harness_database(world, harness, &dead.session).ok().flatten()
    });
    let Some(rows) = rows else { return };
    let checkout = worktree_of_session(project, dead);
    let redact = settings::settings_for_hook(world, Some(&project.store)).settings.redact_options();
    let source = transcript::TranscriptToRead { path: checkout, checkout, redact, now: world.now };
    transcript::add_database_rows(digest, &rows, &dead.session, &source);
    facts::unmark_existing_files_as_deleted(digest, checkout);
}

/// Reads the part of a crashed session's transcript that no hook has read, adds it to the session's records, and
/// returns the unfinished calls. If the transcript cannot be read, the packet contains only what hooks reported.
fn read_rest_of_transcript(
    world: &World,
    project: &Project,
    dead: &RosterEntry,
    hashes: FilesToFingerprint,
) -> Vec<String> {
    let (Some(transcript), Some(harness)) =
        (dead.transcript.as_deref(), harness::harness_by_name(&dead.harness))
    else {
        return Vec::new();
    };
    let settings = settings::settings_for_hook(world, Some(&project.store)).settings;
    let event = Event {
        session: dead.session.as_str().into(),
        harness_event_id: None,
        is_payload_truncated: false,
        previous_session: None,
        cwd: None,
        transcript: Some(transcript.into()),
        subagent: None,
        kind: EventKind::Other { name: "sweep".into() },
    };
    let checkout = worktree_of_session(project, dead).to_string_lossy();
    let wait = if hashes == FilesToFingerprint::Take { MAX_SWEEP_LOCK_WAIT } else { Duration::ZERO };
    let policy = RecordPolicy {
        harness: harness.name,
        checkout: &checkout,
        redact_options: settings.redact_options(),
        now: world.now,
    };
    let begun = checkpoint::run_checkpoint(&CheckpointInput {
        store: &project.store,
        harness,
        policy,
        session: &dead.session,
        event: &event,
        log_limit_bytes: settings.log_limit_bytes(),
        is_launched_by_gate_run: dead.is_launched_by_gate_run,
        deadline: Deadline::of_command(wait),
        update_features: &|_| Ok(None),
    });
    let words = |told: &TranscriptRecord| {
        describe_unfinished_call(&told.to_journal_record(&told.to_event(&event), &policy))
    };
    begun.map_or_else(|_| Vec::new(), |done| done.unfinished_calls.iter().map(words).collect())
}

/// Returns the folder in which a session worked. The file paths of the session are relative to this folder.
fn worktree_of_session<'a>(project: &'a Project, session: &'a RosterEntry) -> &'a Path {
    if session.worktree.is_empty() { &project.root.checkout } else { Path::new(&session.worktree) }
}

/// Returns the sessions that have neither ended nor continued under another id, oldest first. Some of them may still be
/// running.
fn open_sessions(text: &[u8]) -> Vec<RosterEntry> {
    let mut entries = roster::parse_roster(text);
    entries.retain(RosterEntry::is_open);
    entries
}

/// The packet of a session that crashed or handed over its work, and whether the packet has been offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CrashRecord {
    packet: String,
    offered: bool,
    until: JournalEnd,
    /// The user's messages up to this time are about the work of an earlier packet that is done. Empty if there is no
    /// such packet.
    closed_work_until: String,
}

/// Where the journal ended when the packet was written. The packet does not cover any later records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct JournalEnd {
    at: String,
    records: u64,
}

fn journal_end(world: &World, store: &Store, session: &Id) -> Result<JournalEnd> {
    let records = store.current_digest(session, |_| {})?.record_count;
    Ok(JournalEnd { at: time::to_rfc3339(world.now), records })
}

/// Returns a session's crash record, or `None` if there is none or the session continued working after its packet was
/// written.
fn read_valid_crash_record(store: &Store, open: &RosterEntry) -> Result<Option<CrashRecord>> {
    let Some(seen) = store.session_state(&open.session).read_state::<CrashRecord>()? else { return Ok(None) };
    let since = seen.until.records;
    let is_over = match *open.last_listed_at < *seen.until.at {
        false => !has_worked_since(store, &open.session, since)?,
        // A packet is offered only after its session has crashed, so the session cannot have worked after the offer.
        true => seen.offered || !has_continued_after_handoff(store, &open.session, since)?,
    };
    Ok(is_over.then_some(seen))
}

/// Returns whether the session continued working after its own handoff: the user asked for something, or a file was
/// edited. An agent that only reads files after the handoff does not need a second packet.
fn has_continued_after_handoff(store: &Store, session: &Id, since: u64) -> Result<bool> {
    let digest = store.current_digest(session, |_| {})?;
    let is_edited = |file: &FileUse| file.edited_at > since && !checkout_path::is_in_store(&file.path);
    Ok(words::prompts_about_work(&digest.prompts).iter().any(|prompt| prompt.record > since)
        || digest.files.iter().any(is_edited))
}

fn has_worked_since(store: &Store, session: &Id, since: u64) -> Result<bool> {
    let digest = store.current_digest(session, |_| {})?;
    let touched = |file: &FileUse| file.edited_at > since || file.reads > 0 && file.last_use_record > since;
    Ok(digest.files.iter().any(|file| touched(file) && !checkout_path::is_in_store(&file.path))
        || digest
            .commands
            .iter()
            .any(|used| used.last_run_record > since && !run::only_calls_thru(&used.command)))
}

impl SessionState for CrashRecord {
    const STATE_FOLDER: &'static str = layout::PACKETS_OF_ENDED_SESSIONS_FOLDER;
    const MAX_STATE_FILE_BYTES: usize = 1024;

    fn parse(bytes: &[u8]) -> std::result::Result<CrashRecord, String> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let packet = lines.next().unwrap_or_default().trim_matches('-').to_owned();
        let offered = lines.next() == Some("offered");
        let until = lines.next().and_then(|line| line.split_once(' '));
        let until = until
            .map(|(at, records)| JournalEnd { at: at.to_owned(), records: records.parse().unwrap_or(0) });
        let closed_work_until = lines.next().unwrap_or_default().to_owned();
        Ok(CrashRecord { packet, offered, until: until.unwrap_or_default(), closed_work_until })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let packet = if self.packet.is_empty() { "-" } else { &self.packet };
        let offered = if self.offered { "offered" } else { "-" };
        let JournalEnd { at, records } = &self.until;
        let closed = if self.closed_work_until.is_empty() { "" } else { "\n" };
        format!("{packet}\n{offered}\n{at} {records}\n{}{closed}", self.closed_work_until).into_bytes()
    }
}
