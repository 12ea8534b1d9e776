//! `thru debug hook`: handles an event as a hook would, and records every step. Nothing is written unless the user
//! asks for it.

use harness::{Harness, UndecodablePayload};
use model::brief::Brief;
use model::config::Settings;
use model::decide::{StoreChange, StoreStateBeforeEvent};
use model::event::Event;
use model::reply::Reply;
use serde::Serialize;
use store::Root;

use super::{HookCall, handle_payload};
use crate::features::FeatureAnswer;
use crate::{Result, World, WriteMode};

/// How an event was handled or, in a dry run, how it would be handled.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HookExplanation {
    pub applied: bool,
    /// thru's name for the event, or `None` if the payload cannot be decoded.
    pub event: Option<&'static str>,
    pub session: Option<String>,
    pub root: Option<String>,
    pub checkout: Option<String>,
    pub trusted: Option<bool>,
    pub deadline_ms: Option<u64>,
    /// Set if a compaction was announced, or if the session has been compacted and has not received its brief yet.
    #[serde(rename = "pending")]
    pub pending_brief: Option<String>,
    /// Whether another hook process has already recorded this event.
    pub repeated: bool,
    /// The ids of the candidates in the brief.
    #[serde(rename = "brief")]
    pub brief_candidates: Option<Vec<String>>,
    /// What was recorded about the event itself or, in a dry run, what would be recorded.
    pub effects: Vec<String>,
    pub decisions: Vec<FeatureDecision>,
    pub reply: String,
    /// Why no reply is sent, or `None` if a reply is sent.
    pub silent_because: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct FeatureDecision {
    pub feature: &'static str,
    pub why: String,
    pub change: Option<String>,
    pub answer: Option<String>,
    pub error: Option<String>,
}

pub fn explain_event(world: &World, call: &HookCall, mode: WriteMode) -> HookExplanation {
    let mut trace =
        HookTrace(Some(HookExplanation { applied: mode == WriteMode::Write, ..HookExplanation::default() }));
    let reply = handle_payload(world, call, mode, &mut trace);
    let mut explanation = trace.0.unwrap_or_default();
    explanation.reply = String::from_utf8_lossy(&reply).into_owned();
    explanation
}

/// Collects the steps of handling an event for `thru debug hook`. In a real hook, it collects nothing.
pub(super) struct HookTrace(Option<HookExplanation>);

impl HookTrace {
    pub fn disabled() -> HookTrace {
        HookTrace(None)
    }

    fn record(&mut self, write: impl FnOnce(&mut HookExplanation)) {
        if let Some(explanation) = &mut self.0 {
            write(explanation);
        }
    }

    /// Returns an empty reply and records the reason.
    pub fn silent_reply(&mut self, why: impl FnOnce() -> String) -> Vec<u8> {
        self.record(|explanation| explanation.silent_because = Some(why()));
        Vec::new()
    }

    pub fn record_event(&mut self, decoded: &std::result::Result<Event, UndecodablePayload>) {
        self.record(|explanation| {
            if let Ok(event) = decoded {
                explanation.event = Some(event.kind.name());
                explanation.session = Some(event.session.to_string());
            }
        });
    }

    pub fn record_root(&mut self, root: &Root) {
        self.record(|explanation| {
            explanation.root = Some(root.path.display().to_string());
            explanation.checkout = Some(root.checkout.display().to_string());
        });
    }

    pub fn record_trust(&mut self, trusted: bool, settings: &Settings) {
        self.record(|explanation| {
            explanation.trusted = Some(trusted);
            explanation.deadline_ms = Some(settings.hooks_deadline_ms);
        });
    }

    pub fn record_capture_facts(&mut self, facts: &StoreStateBeforeEvent, repeated: bool) {
        self.record(|explanation| {
            explanation.pending_brief =
                facts.pending_brief.map(|pending| format!("{pending:?}").to_lowercase());
            explanation.repeated = repeated;
        });
    }

    pub fn record_brief(&mut self, brief: Option<&Brief>) {
        self.record(|explanation| {
            explanation.brief_candidates = brief.map(|brief| brief.sent_candidate_ids.clone());
        });
    }

    pub fn record_store_changes(&mut self, effects: &[StoreChange]) {
        self.record(|explanation| explanation.effects = effects.iter().map(describe_store_change).collect());
    }

    pub fn record_feature_decision(&mut self, feature: &'static str, decided: &Result<FeatureAnswer>) {
        self.record(|explanation| {
            let row =
                FeatureDecision { feature, why: String::new(), change: None, answer: None, error: None };
            explanation.decisions.push(match decided {
                Ok(decision) => FeatureDecision {
                    why: decision.why.clone(),
                    change: decision.change.as_ref().map(|change| change.description.clone()),
                    answer: describe_reply(&decision.reply_part.reply),
                    ..row
                },
                Err(error) => FeatureDecision { error: Some(error.to_string()), ..row },
            });
        });
    }

    pub fn record_reply(&mut self, harness: &Harness, event: &Event, reply: &Reply, silent: &str) -> Vec<u8> {
        let bytes = (harness.encode)(reply, &event.kind);
        self.record(|explanation| {
            explanation.silent_because = match (reply, event.is_payload_truncated) {
                _ if !bytes.is_empty() => None,
                (_, true) => Some("the payload is truncated, so no answer is sent".to_owned()),
                (Reply::Silent, _) => Some(silent.to_owned()),
                (_, _) => {
                    Some(format!("{} does not accept this kind of answer at this event", harness.title))
                }
            };
        });
        bytes
    }
}

fn describe_store_change(effect: &StoreChange) -> String {
    match effect {
        StoreChange::AppendJournal(line) => {
            format!("append to the journal: {}", String::from_utf8_lossy(line).trim_end())
        }
        StoreChange::RegisterSession(line) => {
            format!("append to the list of sessions: {}", String::from_utf8_lossy(line).trim_end())
        }
        StoreChange::RememberSession => "note the session in root.json".to_owned(),
        StoreChange::Checkpoint => "update journal and digest from the transcript".to_owned(),
        StoreChange::SetPending(Some(pending)) => {
            format!("note that a compaction is {}", format!("{pending:?}").to_lowercase())
        }
        StoreChange::SetPending(None) => "note that no compaction is pending".to_owned(),
    }
}

fn describe_reply(reply: &Reply) -> Option<String> {
    match reply {
        Reply::Silent => None,
        Reply::MessageForUser(text) => Some(format!("tell the user: {text}")),
        Reply::AskToCallAgain => Some("ask to be called again, and wait for the validators".to_owned()),
        Reply::BlockStop(text) => Some(format!("do not stop: {text}")),
        Reply::ContextAndUser { context: text, .. } | Reply::ContextForAgent(text) => {
            Some(format!("tell the model: {text}"))
        }
        Reply::ReplaceToolOutput(text) => Some(format!("give the model this in place of the output: {text}")),
        Reply::GuideSummariser(text) => Some(format!("tell the summariser: {text}")),
    }
}
