//! The engine: takes facts, an event and a journal record, and returns effects and a reply. It has no side effects.
//!
//! This module covers what is true of every event: it is recorded, and some events are answered with a brief.
//! Features decide about events in their own modules.

use crate::brief::Occasion;
use crate::config::Settings;
use crate::event::{Event, Kind, Source};
use crate::journal::{Record, RecordPolicy};
use crate::marker::Mode;
use crate::render::width;
use crate::reply::Reply;
use crate::session::{self, Pending};

/// What was found on disk before the decision.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub mode: Mode,
    pub pending: Option<Pending>,
    /// The process of the harness; only at a session start.
    pub process: Option<&'a str>,
}

/// What the store should do. The effects are applied in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Append to the session's journal.
    Journal(Vec<u8>),
    /// Append to the list of sessions.
    Register(Vec<u8>),
    /// Note the session in `root.json`, if the lock is free.
    RememberSession,
    /// Update the journal from the transcript, and the digest from the journal.
    Checkpoint,
    /// Record whether the session is between a compaction and its brief.
    SetPending(Option<Pending>),
}

/// The cap of a brief for a new session, which gets only a short text about the last session.
const STARTUP_CAP: usize = 2_000;

/// The cap of a brief for a replayed conversation. Its agent needs to know only what has changed since.
const REPLAYED_CAP: usize = 1_000;

/// Returns the effects that record an event, whatever features do with it.
pub fn capture(facts: &Facts, event: &Event, record: &Record, policy: &RecordPolicy) -> Vec<Effect> {
    let mut effects = vec![Effect::Journal(record.line())];
    // A sub-agent has its own context: what happens to it changes nothing for the session.
    if event.agent.is_none() || matches!(event.kind, Kind::Summary { .. }) {
        effects.extend(state_effects(facts, event, policy));
    }
    if event.torn {
        // A truncated payload must not use up a brief that is due.
        effects.retain(|effect| !matches!(effect, Effect::SetPending(None)));
    }
    effects
}

fn state_effects(facts: &Facts, event: &Event, policy: &RecordPolicy) -> Vec<Effect> {
    match &event.kind {
        Kind::SessionStart { source } => {
            let mut effects = vec![Effect::Register(session::line(event, *source, facts.process, policy))];
            // In a shared store root.json is in git, and a session must not modify tracked files.
            if facts.mode == Mode::Private {
                effects.push(Effect::RememberSession);
            }
            if *source == Source::Compact {
                effects.push(Effect::SetPending(None));
            }
            effects
        }
        Kind::BeforeCompact { .. } => vec![Effect::SetPending(Some(Pending::Announced)), Effect::Checkpoint],
        // An after-compact event without a summary means that the compaction happened and no session start has
        // followed yet.
        Kind::Summary { .. } | Kind::AfterCompact { .. } => match facts.pending {
            Some(Pending::Announced) => vec![Effect::SetPending(Some(Pending::Due))],
            Some(Pending::Due) | None => Vec::new(),
        },
        // Either the brief comes with this prompt, or the announced compaction never happened.
        Kind::Prompt { .. } => match facts.pending {
            Some(_) => vec![Effect::SetPending(None)],
            None => Vec::new(),
        },
        Kind::Stop(_) => vec![Effect::Checkpoint],
        Kind::SessionEnd { reason } => {
            let ended = session::end_line(event, reason.as_deref(), policy);
            let mut effects = vec![Effect::Checkpoint, Effect::Register(ended)];
            if facts.pending.is_some() {
                effects.push(Effect::SetPending(None));
            }
            effects
        }
        Kind::ToolDone(_) | Kind::SubagentStart | Kind::SubagentStop { .. } | Kind::Other { .. } => {
            Vec::new()
        }
    }
}

/// Returns why this event gets a brief, if it does. `replays` means that the harness resumes a session with its
/// conversation.
pub fn occasion(event: &Event, pending: Option<Pending>, replays: bool) -> Option<Occasion> {
    if event.agent.is_some() {
        return None;
    }
    match &event.kind {
        Kind::SessionStart { source } => match source {
            Source::Startup => Some(Occasion::Started),
            Source::Compact => Some(Occasion::Compacted),
            Source::Resume | Source::Fork => Some(resumed(replays)),
            Source::Clear | Source::Unknown => None,
        },
        // The brief should have come with the session start but did not, so it comes with the next prompt.
        Kind::Prompt { .. } => (pending == Some(Pending::Due)).then_some(Occasion::Compacted),
        Kind::ToolDone(_)
        | Kind::BeforeCompact { .. }
        | Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Stop(_)
        | Kind::SessionEnd { .. }
        | Kind::Other { .. } => None,
    }
}

/// Returns the occasion of a resume.
pub fn resumed(replays: bool) -> Occasion {
    if replays { Occasion::Replayed } else { Occasion::Resumed }
}

/// Returns how long a brief may be on an occasion, if the harness accepts at most `context_cap` UTF-16 units.
pub fn cap(occasion: Occasion, context_cap: usize) -> usize {
    match occasion {
        Occasion::Started => context_cap.min(STARTUP_CAP),
        Occasion::Replayed => context_cap.min(REPLAYED_CAP),
        Occasion::Compacted | Occasion::Resumed | Occasion::Asked => context_cap,
    }
}

/// Returns whether the summariser is told at this event what to keep.
pub fn guides(event: &Event, settings: &Settings) -> bool {
    matches!(event.kind, Kind::BeforeCompact { .. }) && event.agent.is_none() && settings.compaction_guidance
}

/// Returns what the summariser is asked to keep, followed by as many facts of features as fit. The summariser may
/// ignore it: nothing depends on it.
pub fn guidance(facts: &[String]) -> Reply {
    let mut text = GUIDANCE_TEXT.to_owned();
    let mut room = FACTS_CAP;
    let fitting = facts.iter().take_while(|fact| {
        let fits = width(fact) <= room;
        room = room.saturating_sub(width(fact));
        fits
    });
    for (index, fact) in fitting.enumerate() {
        if index == 0 {
            text.push_str("State these in the summary too, as they are now:\n");
        }
        text.push_str(&format!("- {fact}\n"));
    }
    Reply::Guidance(text)
}

const GUIDANCE_TEXT: &str = "\
Keep verbatim in the summary: what the user asked for and every requirement they stated; the paths of files that were \
edited or are still to be; decisions and their reasons; commands that fail and their error messages; the next step.\n";

/// The most UTF-16 units of facts that a summariser is given.
const FACTS_CAP: usize = 3_000;

/// Why a session is not captured, although `thru` was set up or the user may expect that it captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCaptured<'a> {
    /// The records came with the folder and are not trusted on this machine.
    Untrusted,
    /// The records were trusted at another path, which no longer exists.
    Moved { from: &'a str },
    /// A setting turned capturing off.
    Disabled,
    /// Records cannot be written.
    Unwritable { why: &'a str },
}

/// Returns one line for the user at a session start, with the remedy. It goes to the user only, because text that
/// others wrote must not reach the model unless the user asks for it.
pub fn not_captured_notice(kind: &Kind, root: &str, off: NotCaptured) -> Reply {
    match kind {
        Kind::SessionStart { source: Source::Startup } => {}
        // A store that came with the folder was never captured, so resumed sessions lose nothing. In the other cases
        // they do.
        Kind::SessionStart { source: Source::Resume | Source::Fork } if off != NotCaptured::Untrusted => {}
        _ => return Reply::Silent,
    }
    Reply::TellUser(match off {
        NotCaptured::Untrusted => format!(
            "Throughline: the records in {root}/.agent/context came with this folder and are not trusted on this \
             machine. Nothing is read from or written to them. Look at them, then run `thru trust` in a terminal."
        ),
        NotCaptured::Moved { from } => format!(
            "Throughline: this project was moved from {from} to {root}. Nothing is captured here until you run \
             `thru trust --moved` in a terminal."
        ),
        NotCaptured::Disabled => format!(
            "Throughline: hooks are turned off by `hooks.enabled = false`, so nothing of this session in {root} is \
             captured. `thru config` shows which file says so."
        ),
        NotCaptured::Unwritable { why } => format!(
            "Throughline: the records in {root}/.agent/context cannot be written, so this session is not captured \
             ({why}). `thru doctor` says what to do."
        ),
    })
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
