//! The engine: facts, an event, settings and a clock in; effects and a reply out. It touches nothing.

use jiff::Timestamp;

use crate::brief::{self, Material, Note, Occasion};
use crate::config::Settings;
use crate::digest::Digest;
use crate::event::{Event, Kind, Source};
use crate::gate::{self, Verdict as OutputVerdict};
use crate::journal::{self, FileField, Scene};
use crate::marker::Mode;
use crate::reply::Reply;
use crate::role;
use crate::session::{self, Pending};

/// What was found on disk before deciding.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub harness: &'a str,
    /// The root's folder, as the user would type it.
    pub root: &'a str,
    pub checkout: &'a str,
    pub trusted: bool,
    pub mode: Mode,
    /// Most text the harness hands on whole, in UTF-16 units.
    pub context_cap: usize,
    /// What went before, at the events that can tell of it.
    pub past: Option<Past<'a>>,
    pub pending: Option<Pending>,
    /// The same event was told a moment ago: it is heard again, in silence.
    pub again: bool,
    /// The harness's process, where a session starts.
    pub process: Option<&'a str>,
    /// What a prompt is to be reminded of.
    pub reminder: Option<&'a str>,
    /// The output that the sub-agent of this event has to leave.
    pub awaited: Option<&'a Awaited>,
}

/// An output of the live run, seen from the sub-agent that has to leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    pub stage: String,
    pub file: String,
    /// Whole, for the sub-agent; and as the journal names it.
    pub path: String,
    pub shown: String,
    /// How it stands at this event.
    pub verdict: OutputVerdict,
}

/// The records a brief is made of.
#[derive(Clone, Copy, Debug)]
pub struct Past<'a> {
    pub digest: &'a Digest,
    pub problems: &'a [String],
    pub gone: &'a [String],
    pub notes: &'a [Note],
}

/// What the store is asked to do, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Append to the session's journal.
    Journal(Vec<u8>),
    /// Append to the list of sessions.
    Register(Vec<u8>),
    /// Note the session in `root.json`, if that is easily done.
    RememberSession,
    /// Bring the journal up to date from the transcript, and the digest from the journal.
    Checkpoint,
    /// Note where the session stands between a compaction and its brief.
    SetPending(Option<Pending>),
    /// Save what a sub-agent said last beside the output it did not leave.
    KeepMessage { file: String, text: String },
    /// Move the session's role, if it has one.
    Role(RoleEvent),
}

/// What an event is to the role of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleEvent {
    /// A session began: it takes its role from the environment, unless it has one.
    Started,
    /// It went on from a compaction, or was taken up again.
    WentOn,
    Compaction,
    /// The compaction that was announced did not come.
    NeverCame,
    /// The agent read or changed context files.
    Touched(Vec<FileField>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub effects: Vec<Effect>,
    pub reply: Reply,
}

/// A new session gets a short word about the last one; everything else waits until it is asked for.
const STARTUP_CAP: usize = 2_000;

pub fn decide(facts: &Facts, event: &Event, settings: &Settings, now: Timestamp) -> Verdict {
    if !facts.trusted {
        return Verdict { effects: Vec::new(), reply: untrusted_reply(facts, &event.kind) };
    }
    let scene = Scene { harness: facts.harness, checkout: facts.checkout, redact: settings.redact(), now };
    let mut record = journal::record(event, &scene);
    if let (Some(Awaited { shown, verdict, .. }), Kind::SubagentStop { .. }) = (facts.awaited, &event.kind) {
        (record.output, record.verdict) = (shown.into(), verdict.name().into());
    }
    let mut effects = vec![Effect::Journal(record.line())];
    effects.extend(last_words(facts, event, &scene));
    // A sub-agent has a context of its own: what happens to it changes nothing for the session.
    let mut reply = Reply::Silent;
    if event.agent.is_none() || matches!(event.kind, Kind::Summary { .. }) {
        effects.extend(state_effects(facts, event, &scene));
        effects.extend(role_event(facts, &event.kind, &record.files).map(Effect::Role));
        // What the first one did is done again and changes nothing; had it been killed, this completes it.
        reply = if facts.again { Reply::Silent } else { main_reply(facts, &event.kind, settings) };
    } else if let (Kind::SubagentStart, Some(awaited)) = (&event.kind, facts.awaited) {
        let Awaited { stage, path, verdict, .. } = awaited;
        reply = Reply::Context(match verdict {
            OutputVerdict::Valid => gate::there(stage, path),
            _ => gate::awaited(stage, path),
        });
    }
    Verdict { effects, reply }
}

/// Longest last message that is kept.
const MESSAGE_BYTES: usize = 256 * 1024;

/// A sub-agent that left nothing has often said it instead.
fn last_words(facts: &Facts, event: &Event, scene: &Scene) -> Option<Effect> {
    let Kind::SubagentStop { message: Some(message) } = &event.kind else { return None };
    let Awaited { file, verdict, .. } = facts.awaited?;
    let left_nothing = matches!(verdict, OutputVerdict::Missing | OutputVerdict::Empty);
    let text = scene.clean(message, MESSAGE_BYTES).trim().to_owned();
    (left_nothing && !text.is_empty())
        .then(|| Effect::KeepMessage { file: file.clone(), text: format!("{text}\n") })
}

fn state_effects(facts: &Facts, event: &Event, scene: &Scene) -> Vec<Effect> {
    match &event.kind {
        Kind::SessionStart { source } => {
            let mut effects = vec![Effect::Register(session::line(event, *source, facts.process, scene))];
            // In a shared store root.json is in git: a session must not make the tree dirty.
            if facts.mode == Mode::Private {
                effects.push(Effect::RememberSession);
            }
            if *source == Source::Compact {
                effects.push(Effect::SetPending(None));
            }
            effects
        }
        Kind::BeforeCompact { .. } => vec![Effect::SetPending(Some(Pending::Announced)), Effect::Checkpoint],
        Kind::Summary { .. } if facts.pending == Some(Pending::Announced) => {
            vec![Effect::SetPending(Some(Pending::Due))]
        }
        // It came, though nobody told its summary, and no session start has followed yet.
        Kind::AfterCompact { .. } if facts.pending == Some(Pending::Announced) => {
            vec![Effect::SetPending(Some(Pending::Due))]
        }
        // Told now, or never to be told: the compaction that was announced did not come.
        Kind::Prompt { .. } if facts.pending.is_some() => vec![Effect::SetPending(None)],
        Kind::Stop(_) => vec![Effect::Checkpoint],
        Kind::SessionEnd { reason } => {
            let mut effects = vec![
                Effect::Checkpoint,
                Effect::Register(session::end_line(event, reason.as_deref(), scene)),
            ];
            if facts.pending.is_some() {
                effects.push(Effect::SetPending(None));
            }
            effects
        }
        Kind::Prompt { .. }
        | Kind::ToolDone(_)
        | Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Other { .. } => Vec::new(),
    }
}

/// The role's part in an event. A tool call has one if it touched a context file, or came instead of a compaction.
fn role_event(facts: &Facts, kind: &Kind, files: &[FileField]) -> Option<RoleEvent> {
    match kind {
        Kind::SessionStart { source: Source::Compact | Source::Resume } => Some(RoleEvent::WentOn),
        Kind::SessionStart { .. } => Some(RoleEvent::Started),
        Kind::BeforeCompact { .. } => Some(RoleEvent::Compaction),
        Kind::Prompt { .. } => match facts.pending? {
            Pending::Announced => Some(RoleEvent::NeverCame),
            Pending::Due => Some(RoleEvent::WentOn),
        },
        Kind::ToolDone(done) if !done.failed => {
            let touched = files.iter().filter(|file| file.path.ends_with(role::SUFFIX));
            let touched: Vec<FileField> = touched.cloned().collect();
            if touched.is_empty() { never_came(facts) } else { Some(RoleEvent::Touched(touched)) }
        }
        Kind::ToolDone(_) => never_came(facts),
        Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Stop(_)
        | Kind::SessionEnd { .. }
        | Kind::Other { .. } => None,
    }
}

/// Whoever goes on working was not compacted.
fn never_came(facts: &Facts) -> Option<RoleEvent> {
    (facts.pending == Some(Pending::Announced)).then_some(RoleEvent::NeverCame)
}

fn main_reply(facts: &Facts, kind: &Kind, settings: &Settings) -> Reply {
    let occasion = match kind {
        Kind::BeforeCompact { .. } if settings.compaction_guidance => {
            return Reply::Guidance(GUIDANCE.to_owned());
        }
        Kind::SessionStart { source: Source::Startup } => Occasion::Started,
        Kind::SessionStart { source: Source::Compact } => Occasion::Compacted,
        Kind::SessionStart { source: Source::Resume | Source::Fork } => Occasion::Resumed,
        // The brief that should have come with the session's start did not: it comes with the next prompt.
        Kind::Prompt { .. } if facts.pending == Some(Pending::Due) => Occasion::Compacted,
        Kind::Prompt { .. } => {
            return facts.reminder.map_or(Reply::Silent, |text| Reply::Context(text.to_owned()));
        }
        Kind::SessionStart { source: Source::Clear | Source::Unknown }
        | Kind::ToolDone(_)
        | Kind::BeforeCompact { .. }
        | Kind::Summary { .. }
        | Kind::AfterCompact { .. }
        | Kind::SubagentStart
        | Kind::SubagentStop { .. }
        | Kind::Stop(_)
        | Kind::SessionEnd { .. }
        | Kind::Other { .. } => return Reply::Silent,
    };
    let Some(Past { digest, problems, gone, notes }) = facts.past else { return Reply::Silent };
    let cap = cap(occasion, facts.context_cap);
    brief::compose(&Material { occasion, digest, problems, gone, notes }, cap)
        .map_or(Reply::Silent, Reply::Context)
}

/// How much may be told on an occasion, where the harness takes `context_cap`.
pub fn cap(occasion: Occasion, context_cap: usize) -> usize {
    match occasion {
        Occasion::Started => context_cap.min(STARTUP_CAP),
        Occasion::Compacted | Occasion::Resumed | Occasion::Asked => context_cap,
    }
}

/// Costs nothing when it is ignored. Nothing relies on it.
const GUIDANCE: &str = "\
Keep verbatim in the summary: what the user asked for and every requirement they stated; the paths of files that were \
edited or are still to be; decisions and their reasons; commands that fail and their error messages; the next step.\n";

/// Once a session, and to the person only: somebody else's text never reaches the model unasked.
fn untrusted_reply(facts: &Facts, kind: &Kind) -> Reply {
    match kind {
        Kind::SessionStart { source: Source::Startup } => Reply::TellUser(format!(
            "Throughline: the records in {}/.agent/context came with this folder and are not trusted on this \
             machine. Nothing is read from or written to them. Look at them, then run `thru trust` in a terminal.",
            facts.root
        )),
        _ => Reply::Silent,
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
