//! `thru debug hook`: handles an event as a hook does and records every step. It writes nothing unless the user
//! asks for it.

use harness::{Harness, Undecodable};
use model::brief::Brief;
use model::config::Settings;
use model::decide::{Effect, Facts};
use model::event::Event;
use model::reply::Reply;
use serde::Serialize;
use store::Root;

use super::{Call, handle};
use crate::features::Decision;
use crate::{Mode, Result, World};

/// How an event was handled. In a dry run, how it would be handled.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Explanation {
    /// False if nothing was written.
    pub applied: bool,
    /// Our name for the event; `None` if the payload cannot be decoded.
    pub event: Option<&'static str>,
    pub session: Option<String>,
    pub root: Option<String>,
    pub checkout: Option<String>,
    pub trusted: Option<bool>,
    pub deadline_ms: Option<u64>,
    /// Set if the session was compacted and has not received its brief yet.
    pub pending: Option<String>,
    /// Whether another hook process has already recorded this event.
    pub repeated: bool,
    /// The candidates that the brief contains.
    pub brief: Option<Vec<String>>,
    /// What is recorded about the event itself.
    pub effects: Vec<String>,
    pub decisions: Vec<FeatureDecision>,
    /// What is sent to the harness.
    pub reply: String,
    /// Why nothing is sent.
    pub silent_because: Option<String>,
}

/// What one feature decided about the event.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureDecision {
    pub feature: &'static str,
    pub why: String,
    /// What the feature writes.
    pub change: Option<String>,
    /// What the feature wants to answer.
    pub answer: Option<String>,
    pub error: Option<String>,
}

/// Handles the event as the hook would.
pub fn run(world: &World, call: &Call, mode: Mode) -> Explanation {
    let mut trace = Trace(Some(Explanation { applied: mode == Mode::Write, ..Explanation::default() }));
    let reply = handle(world, call, mode, &mut trace);
    let mut explanation = trace.0.unwrap_or_default();
    explanation.reply = String::from_utf8_lossy(&reply).into_owned();
    explanation
}

/// Records the steps of an event for `thru debug hook`. In a hook it records nothing.
pub(super) struct Trace(Option<Explanation>);

impl Trace {
    pub fn off() -> Trace {
        Trace(None)
    }

    fn note(&mut self, write: impl FnOnce(&mut Explanation)) {
        if let Some(explanation) = &mut self.0 {
            write(explanation);
        }
    }

    /// Returns an empty answer, and records the reason.
    pub fn silent(&mut self, why: impl FnOnce() -> String) -> Vec<u8> {
        self.note(|explanation| explanation.silent_because = Some(why()));
        Vec::new()
    }

    pub fn event(&mut self, decoded: &std::result::Result<Event, Undecodable>) {
        self.note(|explanation| {
            if let Ok(event) = decoded {
                explanation.event = Some(event.kind.name());
                explanation.session = Some(event.session.to_string());
            }
        });
    }

    pub fn root(&mut self, root: &Root) {
        self.note(|explanation| {
            explanation.root = Some(root.path.display().to_string());
            explanation.checkout = Some(root.checkout.display().to_string());
        });
    }

    pub fn trusted(&mut self, trusted: bool, settings: &Settings) {
        self.note(|explanation| {
            explanation.trusted = Some(trusted);
            explanation.deadline_ms = Some(settings.hooks_deadline_ms);
        });
    }

    pub fn facts(&mut self, facts: &Facts, repeated: bool) {
        self.note(|explanation| {
            explanation.pending = facts.pending.map(|pending| format!("{pending:?}").to_lowercase());
            explanation.repeated = repeated;
        });
    }

    pub fn brief(&mut self, brief: Option<&Brief>) {
        self.note(|explanation| explanation.brief = brief.map(|brief| brief.told.clone()));
    }

    pub fn effects(&mut self, effects: &[Effect]) {
        self.note(|explanation| explanation.effects = effects.iter().map(effect_words).collect());
    }

    pub fn decision(&mut self, feature: &'static str, decided: &Result<Decision>) {
        self.note(|explanation| {
            let row =
                FeatureDecision { feature, why: String::new(), change: None, answer: None, error: None };
            explanation.decisions.push(match decided {
                Ok(decision) => FeatureDecision {
                    why: decision.why.clone(),
                    change: decision.change.as_ref().map(|change| change.what.clone()),
                    answer: reply_words(&decision.part.reply),
                    ..row
                },
                Err(error) => FeatureDecision { error: Some(error.to_string()), ..row },
            });
        });
    }

    pub fn reply(&mut self, harness: &Harness, event: &Event, reply: &Reply, silent: &str) -> Vec<u8> {
        let bytes = (harness.encode)(reply, &event.kind);
        self.note(|explanation| {
            explanation.silent_because = match (reply, event.torn) {
                _ if !bytes.is_empty() => None,
                (_, true) => Some("the payload is truncated, so no answer is sent".to_owned()),
                (Reply::Silent, _) => Some(silent.to_owned()),
                (_, _) => Some(format!("{} takes no such answer at this event", harness.title)),
            };
        });
        bytes
    }
}

fn effect_words(effect: &Effect) -> String {
    match effect {
        Effect::Journal(line) => {
            format!("append to the journal: {}", String::from_utf8_lossy(line).trim_end())
        }
        Effect::Register(line) => {
            format!("append to the list of sessions: {}", String::from_utf8_lossy(line).trim_end())
        }
        Effect::RememberSession => "note the session in root.json".to_owned(),
        Effect::Checkpoint => "update journal and digest from the transcript".to_owned(),
        Effect::SetPending(Some(pending)) => {
            format!("note that a compaction is {}", format!("{pending:?}").to_lowercase())
        }
        Effect::SetPending(None) => "note that no compaction is pending".to_owned(),
    }
}

fn reply_words(reply: &Reply) -> Option<String> {
    match reply {
        Reply::Silent => None,
        Reply::TellUser(text) => Some(format!("tell the user: {text}")),
        Reply::AskAgain => Some("ask again, and wait for validators".to_owned()),
        Reply::Block(text) => Some(format!("do not stop: {text}")),
        Reply::ContextAndUser { context: text, .. } | Reply::Context(text) => {
            Some(format!("tell the model: {text}"))
        }
        Reply::Output(text) => Some(format!("show the model in place of the output: {text}")),
        Reply::Guidance(text) => Some(format!("tell the summariser: {text}")),
    }
}
