//! The engine's decisions for all events. Given facts, an event and a journal record, the engine returns effects and
//! a reply. It has no side effects itself.
//!
//! Every event is recorded, and some are answered with a brief. Features handle events in their own modules.

use crate::brief::BriefOccasion;
use crate::config::Settings;
use crate::event::{Event, EventKind, StartSource};
use crate::journal::{JournalRecord, RecordPolicy};
use crate::marker::SharingMode;
use crate::render::{one_line, utf16_length};
use crate::reply::Reply;
use crate::session::{self, PendingBrief, SessionOrigin};

/// The state on disk before the decision.
#[derive(Clone, Copy, Debug)]
pub struct StoreStateBeforeEvent<'a> {
    pub mode: SharingMode,
    pub pending_brief: Option<PendingBrief>,
    /// The origin of the session, which is known only at a session start.
    pub session_origin: SessionOrigin<'a>,
}

/// A change to the store. Changes are applied in list order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreChange {
    /// Append to the session's journal.
    AppendJournal(Vec<u8>),
    /// Append to the list of sessions.
    RegisterSession(Vec<u8>),
    /// Record the session in `root.json` if the lock is free.
    RememberSession,
    /// Update the journal from the transcript, and then the digest from the journal.
    Checkpoint,
    /// Record that a compaction was announced, or that it happened and no brief has been sent yet. `None` means
    /// neither.
    SetPending(Option<PendingBrief>),
}

/// The maximum length of a brief at the start of a session, in UTF-16 units. The limit is small, because such a brief
/// only describes the last session.
const MAX_STARTUP_BRIEF_UNITS: usize = 2_000;

/// The maximum length of a brief after a replayed conversation, in UTF-16 units. The limit is small, because such a
/// brief only lists what has changed since the session was last active.
const MAX_REPLAYED_BRIEF_UNITS: usize = 1_000;

/// Returns the changes to the store that record an event.
pub fn changes_to_record_event(
    facts: &StoreStateBeforeEvent,
    event: &Event,
    record: &JournalRecord,
    policy: &RecordPolicy,
) -> Vec<StoreChange> {
    let mut effects = vec![StoreChange::AppendJournal(record.to_json_line())];
    // A sub-agent has its own context, so its events do not change the session's state.
    if event.subagent.is_none() || matches!(event.kind, EventKind::Summary { .. }) {
        effects.extend(session_state_changes(facts, event, policy));
    }
    if event.is_payload_truncated {
        // A truncated payload must not cancel a pending brief.
        effects.retain(|effect| !matches!(effect, StoreChange::SetPending(None)));
    }
    effects
}

fn session_state_changes(
    facts: &StoreStateBeforeEvent,
    event: &Event,
    policy: &RecordPolicy,
) -> Vec<StoreChange> {
    match &event.kind {
        EventKind::SessionStart { source } => {
            let mut effects = vec![StoreChange::RegisterSession(session::session_start_line(
                event,
                *source,
                facts.session_origin,
                policy,
            ))];
            // In a shared store, root.json is in git, and a session must not modify tracked files.
            if facts.mode == SharingMode::Private {
                effects.push(StoreChange::RememberSession);
            }
            if *source == StartSource::Compact {
                effects.push(StoreChange::SetPending(None));
            }
            effects
        }
        EventKind::BeforeCompact { .. } => {
            vec![StoreChange::SetPending(Some(PendingBrief::Announced)), StoreChange::Checkpoint]
        }
        // An after-compact event without a summary means that the compaction happened but no session start has
        // followed yet.
        EventKind::Summary { .. } | EventKind::AfterCompact { .. } => match facts.pending_brief {
            Some(PendingBrief::Announced) => vec![StoreChange::SetPending(Some(PendingBrief::Due))],
            Some(PendingBrief::Due) | None => Vec::new(),
        },
        // Either this prompt gets the brief, or the announced compaction did not happen.
        EventKind::Prompt { .. } => match facts.pending_brief {
            Some(_) => vec![StoreChange::SetPending(None)],
            None => Vec::new(),
        },
        EventKind::Stop(_) => vec![StoreChange::Checkpoint],
        EventKind::SessionEnd { reason } => {
            let ended = session::session_end_line(event, reason.as_deref(), policy);
            let mut effects = vec![StoreChange::Checkpoint, StoreChange::RegisterSession(ended)];
            if facts.pending_brief.is_some() {
                effects.push(StoreChange::SetPending(None));
            }
            effects
        }
        EventKind::ToolDone(_)
        | EventKind::SubagentStart
        | EventKind::SubagentStop { .. }
        | EventKind::Other { .. } => Vec::new(),
    }
}

/// Returns why a brief must be sent at this event, or `None` if no brief is due. `replays` is true if the
/// harness restores the whole conversation when it resumes a session.
pub fn brief_occasion(event: &Event, pending: Option<PendingBrief>, replays: bool) -> Option<BriefOccasion> {
    if event.subagent.is_some() {
        return None;
    }
    match &event.kind {
        EventKind::SessionStart { source } => match source {
            StartSource::Startup => Some(BriefOccasion::Started),
            StartSource::Compact => Some(BriefOccasion::Compacted),
            StartSource::Resume | StartSource::Fork => Some(resume_occasion(replays)),
            StartSource::Clear | StartSource::Unknown => None,
        },
        // The brief was not sent at the session start, so it is sent with the next prompt.
        EventKind::Prompt { .. } => (pending == Some(PendingBrief::Due)).then_some(BriefOccasion::Compacted),
        EventKind::ToolDone(_)
        | EventKind::BeforeCompact { .. }
        | EventKind::Summary { .. }
        | EventKind::AfterCompact { .. }
        | EventKind::SubagentStart
        | EventKind::SubagentStop { .. }
        | EventKind::Stop(_)
        | EventKind::SessionEnd { .. }
        | EventKind::Other { .. } => None,
    }
}

pub fn resume_occasion(replays: bool) -> BriefOccasion {
    if replays { BriefOccasion::Replayed } else { BriefOccasion::Resumed }
}

/// Returns the maximum length of a brief, for a harness that accepts at most `context_cap` UTF-16 units.
pub fn max_brief_length(occasion: BriefOccasion, context_cap: usize) -> usize {
    match occasion {
        BriefOccasion::Started => context_cap.min(MAX_STARTUP_BRIEF_UNITS),
        BriefOccasion::Replayed => context_cap.min(MAX_REPLAYED_BRIEF_UNITS),
        BriefOccasion::Compacted | BriefOccasion::Resumed | BriefOccasion::Asked => context_cap,
    }
}

/// Returns whether this event sends guidance to the summariser.
pub fn sends_guidance_to_summariser(event: &Event, settings: &Settings) -> bool {
    matches!(event.kind, EventKind::BeforeCompact { .. })
        && event.subagent.is_none()
        && settings.compaction_guidance
}

/// Returns guidance for the summariser, with a list of `facts`. If the list would be too long, the facts at its
/// end are left out. The summariser may ignore the guidance, so nothing depends on it.
pub fn summariser_guidance(facts: &[String]) -> Reply {
    let mut text = SUMMARISER_GUIDANCE_TEXT.to_owned();
    let mut room = MAX_GUIDANCE_FACTS_UNITS;
    let fitting = facts.iter().take_while(|fact| {
        let fits = utf16_length(fact) <= room;
        room = room.saturating_sub(utf16_length(fact));
        fits
    });
    for (index, fact) in fitting.enumerate() {
        if index == 0 {
            text.push_str("Also state these facts in the summary, as they are now:\n");
        }
        text.push_str(&format!("- {fact}\n"));
    }
    Reply::GuideSummariser(text)
}

const SUMMARISER_GUIDANCE_TEXT: &str = "\
Keep verbatim in the summary: what the user asked for and every requirement they stated; the paths of files that were \
edited or still need to be; decisions and their reasons; commands that fail and their error messages; the next step.\n";

/// The maximum total length of the facts in the guidance, in UTF-16 units.
const MAX_GUIDANCE_FACTS_UNITS: usize = 3_000;

/// The length to which the reason in a notice is cut, in UTF-16 units. A reason can quote a damaged file.
const MAX_REASON_UNITS: usize = 400;

/// Why a session is not captured although the user may expect it to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCapturedReason<'a> {
    /// The store came with the folder and is not trusted on this machine.
    Untrusted,
    /// The store was trusted at another path that no longer exists.
    Moved { from: &'a str },
    /// A setting turned off capturing.
    Disabled,
    /// The store cannot be written to.
    Unwritable { why: &'a str },
    /// The marker of the root is damaged or cannot be read.
    MarkerUnusable { why: &'a str },
    /// A newer version of thru wrote the marker.
    StoreTooNew { why: &'a str },
    /// It cannot be determined whether this user trusts the store.
    TrustUnknown { why: &'a str },
}

/// Returns one line for the user at a session start, with a remedy. `root` is the path of the root, or that of its
/// marker if the root cannot be opened. The line is not sent to the model, because text
/// from an untrusted store must not reach the model unless the user requests it.
pub fn not_captured_notice(kind: &EventKind, root: &str, off: NotCapturedReason) -> Reply {
    match kind {
        EventKind::SessionStart { source: StartSource::Startup } => {}
        // Nothing was ever captured in an untrusted store. A session that is resumed there loses nothing, so
        // the user gets no notice. In all other cases, the events of a resumed session are lost, so the user
        // gets a notice.
        EventKind::SessionStart { source: StartSource::Resume | StartSource::Fork }
            if off != NotCapturedReason::Untrusted => {}
        _ => return Reply::Silent,
    }
    Reply::MessageForUser(match off {
        NotCapturedReason::Untrusted => format!(
            "Throughline: the records in {root}/.agent/context came with this folder and are not trusted on this \
             machine. Nothing is read from or written to them. Look at them, then run `thru trust` in a terminal."
        ),
        NotCapturedReason::Moved { from } => format!(
            "Throughline: this project was moved from {from} to {root}. Nothing is captured here until you run \
             `thru trust --moved` in a terminal."
        ),
        NotCapturedReason::Disabled => format!(
            "Throughline: hooks are turned off by `hooks.enabled = false`, so this session in {root} is not \
             captured. `thru config` shows which file contains the setting."
        ),
        NotCapturedReason::Unwritable { why } => format!(
            "Throughline: the records in {root}/.agent/context cannot be written, so this session is not captured \
             ({why}). `thru doctor` explains what to do."
        ),
        NotCapturedReason::MarkerUnusable { why } => format!(
            "Throughline: the records here cannot be used, so this session is not captured ({}). `thru doctor` \
             explains what to do.",
            one_line(why, MAX_REASON_UNITS)
        ),
        NotCapturedReason::StoreTooNew { why } => format!(
            "Throughline: this thru is older than the records here, so this session is not captured ({}). Update \
             thru; `thru doctor` shows which file is newer.",
            one_line(why, MAX_REASON_UNITS)
        ),
        NotCapturedReason::TrustUnknown { why } => format!(
            "Throughline: thru cannot tell whether the records in {root}/.agent/context are trusted on this machine, \
             so this session is not captured ({}). `thru doctor` explains what to do.",
            one_line(why, MAX_REASON_UNITS)
        ),
    })
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
