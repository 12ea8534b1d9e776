//! Everything that thru does besides capturing sessions. Each feature has a module and a row in [`FEATURES`].
//!
//! Hooks, `thru brief`, `thru status` and `thru doctor` go through the rows in the same order, so they cannot disagree.
//! To add a feature, write its module, add its row to [`FEATURES`], and add its file names to `store::layout`.

pub mod crashed;
pub mod decisions;
pub mod evidence;
pub mod loops;
pub mod outputs;
pub mod packets;
pub mod plan;
pub mod profiles;
pub mod roles;
pub mod sessions;
pub mod summaries;
pub mod swarm;
pub mod window;
pub mod workstreams;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use model::brief::{BriefOccasion, Candidate};
use model::config::Settings;
use model::digest::Digest;
use model::event::{Event, EventName, EventSet};
use model::finding::Finding;
use model::id::Id;
use model::journal::JournalRecord;
use model::render::one_line;
use model::reply::ReplyPart;
use serde::Serialize;
use store::{Lock, Root, Store};

use crate::hook::context::HookContext;
use crate::session::roster::Roster;
use crate::{Error, Result, World, WriteMode};

/// All features, in the order in which their functions are called.
pub const FEATURES: &[Feature] = &[
    loops::FEATURE_ROW,
    roles::FEATURE_ROW,
    workstreams::FEATURE_ROW,
    plan::FEATURE_ROW,
    decisions::FEATURE_ROW,
    evidence::FEATURE_ROW,
    // The packet of a crashed session comes before the other packets on offer.
    crashed::FEATURE_ROW,
    packets::FEATURE_ROW,
    sessions::FEATURE_ROW,
    outputs::FEATURE_ROW,
    profiles::FEATURE_ROW,
    window::FEATURE_ROW,
    summaries::FEATURE_ROW,
];

/// One feature: the events it handles, and the functions that handle them. A row sets only the fields that its
/// feature needs, and copies the others from [`Feature::EMPTY_FEATURE`].
#[derive(Debug)]
pub struct Feature {
    pub name: &'static str,
    /// `annotate` and `decide` are called only for these events.
    pub wanted_events: EventSet,
    /// Adds fields to an event's journal line. The line is written before `decide` is called.
    pub annotate: fn(&ProjectContext, &Event, &mut JournalRecord) -> Result<()>,
    /// Reads records, applies the feature's rule from `model`, and returns the answer and the change to write. It
    /// writes nothing itself.
    pub decide: DecideFn,
    /// Updates the feature's records from the session's digest. Called at every checkpoint. `Ok(Some(problem))` means
    /// that the update succeeded, but the receipt should mention the problem.
    pub update_at_checkpoint: fn(&HookContext, &Digest) -> Result<Option<String>>,
    pub brief_candidates: fn(&BriefContext) -> Result<Vec<Candidate>>,
    /// The brief sections that the feature's candidates belong to. `brief_candidates` is called only if the brief
    /// includes one of these sections. If the list is empty, `brief_candidates` is always called, because the
    /// candidates affect other sections too.
    pub brief_sections: &'static [&'static str],
    /// Returns the facts that a summary must not lose, one line per fact. Called before a compaction.
    pub facts_for_summary: fn(&ProjectContext) -> Result<Vec<String>>,
    /// Called after a reply has been sent, with the ids of the candidates in the reply.
    pub after_reply_sent: fn(&HookContext, &[String]) -> Result<()>,
    /// Called when the harness continues the session under a new id; `previous` is the old id.
    pub continue_under_new_id: fn(&HookContext, previous: &Id) -> Result<()>,
    pub doctor_checks: fn(&ProjectContext) -> Vec<DoctorCheck>,
    pub status: fn(&ProjectContext) -> Result<Vec<StatusReportLine>>,
}

pub type DecideFn = for<'c, 'a> fn(&'c HookContext<'a>) -> Result<FeatureAnswer<'c>>;

impl Feature {
    pub const EMPTY_FEATURE: Feature = Feature {
        name: "",
        wanted_events: EventSet::NO_EVENTS,
        annotate: |_, _, _| Ok(()),
        decide: |_| Ok(FeatureAnswer::no_action("")),
        update_at_checkpoint: |_, _| Ok(None),
        brief_candidates: |_| Ok(Vec::new()),
        brief_sections: &[],
        facts_for_summary: |_| Ok(Vec::new()),
        after_reply_sent: |_, _| Ok(()),
        continue_under_new_id: |_, _| Ok(()),
        doctor_checks: |_| Vec::new(),
        status: |_| Ok(Vec::new()),
    };

    pub fn wants_event(&self, event: EventName) -> bool {
        self.wanted_events.contains(event)
    }

    /// Runs `call` and turns a panic into an error that names the feature, so a panic costs only this feature's
    /// answer.
    pub fn call_catching_panics<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
            let why = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(Error::Panicked { what: self.name, why })
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ProjectContext<'a> {
    pub world: &'a World<'a>,
    pub root: &'a Root,
    pub store: &'a Store,
    pub settings: &'a Settings,
}

#[derive(Debug)]
pub struct BriefContext<'a> {
    pub project: ProjectContext<'a>,
    pub occasion: BriefOccasion,
    /// The session that will read the brief, or `None` if that session has not started yet.
    pub session: Option<&'a Id>,
    /// The session that the brief describes. When a session starts, this is the previous session.
    pub described_session: Option<&'a Id>,
    /// Whether [`Feature::brief_candidates`] may write records, such as the packet that a brief offers. `thru brief`
    /// never writes any.
    pub mode: WriteMode,
    pub roster: Roster<'a>,
    /// Locks that are held until the brief has been sent, so that two sessions cannot get the same offer.
    pub held_locks: RefCell<Vec<Lock>>,
    /// A packet that a candidate mentions, although the packet does not exist yet because `mode` forbids writing it.
    pub unwritten_packet: RefCell<Option<UnwrittenPacket>>,
}

/// The packet that `thru` would write for a crashed session when the next session starts.
#[derive(Debug)]
pub struct UnwrittenPacket {
    pub id: String,
    pub session: Id,
}

/// A feature's answer to an event, and the change that it wants to write.
#[derive(Debug)]
pub struct FeatureAnswer<'c> {
    pub reply_part: ReplyPart,
    /// A short reason, for `thru debug hook`.
    pub why: String,
    pub change: Option<RecordChange<'c>>,
}

/// A change to the records. Nothing is written until `apply` is called.
pub struct RecordChange<'c> {
    pub description: String,
    /// Writes the change and returns the answer. If the write fails, the reply omits this answer and the receipt
    /// records the error.
    pub apply: Box<dyn FnOnce() -> Result<ReplyPart> + 'c>,
}

impl std::fmt::Debug for RecordChange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Change").field("what", &self.description).finish_non_exhaustive()
    }
}

impl<'c> FeatureAnswer<'c> {
    pub fn no_action(why: impl Into<String>) -> FeatureAnswer<'c> {
        FeatureAnswer::answer(ReplyPart::silent(), why)
    }

    pub fn answer(reply_part: ReplyPart, why: impl Into<String>) -> FeatureAnswer<'c> {
        FeatureAnswer { reply_part, why: why.into(), change: None }
    }

    /// Creates an answer with a change to the records. In a dry run, the reply is `reply_part`. Otherwise, it is the
    /// result of `apply`.
    pub fn with_change(
        reply_part: ReplyPart,
        why: impl Into<String>,
        what: impl Into<String>,
        apply: impl FnOnce() -> Result<ReplyPart> + 'c,
    ) -> FeatureAnswer<'c> {
        let change = RecordChange { description: what.into(), apply: Box::new(apply) };
        FeatureAnswer { reply_part, why: why.into(), change: Some(change) }
    }
}

/// One line of `thru status`, with the fields that `--json` prints for it.
#[derive(Clone, Debug)]
pub struct StatusReportLine {
    pub label: &'static str,
    /// The start of the line, printed in the colour of `tone`. `plain_rest` follows it.
    pub colored_start: String,
    pub plain_rest: String,
    pub tone: StatusTone,
    pub json: Vec<(&'static str, serde_json::Value)>,
    pub next_step: Option<NextStep>,
}

/// A command that the user could run next. `thru status` shows only the most urgent one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    #[serde(skip)]
    pub urgency: NextStepUrgency,
    /// The time at which the work in question was begun or last changed. Empty if this time is unknown.
    #[serde(skip)]
    pub changed_at: String,
    pub command: String,
    /// What the command does. The text completes a sentence that begins with the command.
    pub why: String,
}

/// The order in which `thru status` prefers next steps; the first variant is the most urgent. Of the steps about open
/// work ([`NextStepUrgency::is_open_work`]), the one about the newest work comes first, because the user has just begun
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NextStepUrgency {
    /// A session crashed, and nobody has continued its work.
    CrashedSession,
    /// Work is paused until the user resumes it.
    PausedWork,
    /// Work is on offer, and any session can continue it.
    OfferedWork,
    /// A loop is running or waiting for the next session.
    ActiveLoop,
    /// A run is still waiting for outputs.
    MissingOutputs,
    /// Nothing more urgent is waiting. The suggested command shows where the last session ended.
    LastSession,
}

impl NextStepUrgency {
    fn is_open_work(self) -> bool {
        match self {
            NextStepUrgency::OfferedWork | NextStepUrgency::ActiveLoop | NextStepUrgency::MissingOutputs => {
                true
            }
            NextStepUrgency::CrashedSession | NextStepUrgency::PausedWork | NextStepUrgency::LastSession => {
                false
            }
        }
    }
}

/// Returns the most urgent of the steps.
pub fn most_urgent_step(steps: impl Iterator<Item = NextStep>) -> Option<NextStep> {
    let mut steps: Vec<NextStep> = steps.collect();
    steps.sort_by_key(|step| step.urgency);
    let first = steps.first()?.clone();
    if !first.urgency.is_open_work() {
        return Some(first);
    }
    // The sort is stable, so if two pieces of work were changed at the same time, the more urgent one wins.
    let open = steps.into_iter().filter(|step| step.urgency.is_open_work());
    // People and imports may write times with another offset, so the texts are not compared.
    let changed = |step: &NextStep| model::time::parse_time(&step.changed_at);
    open.reduce(|best, next| if changed(&next) > changed(&best) { next } else { best })
}

impl StatusReportLine {
    pub fn plain(label: &'static str, text: impl Into<String>) -> StatusReportLine {
        StatusReportLine {
            label,
            colored_start: String::new(),
            plain_rest: text.into(),
            tone: StatusTone::Plain,
            json: Vec::new(),
            next_step: None,
        }
    }

    pub fn colored(
        label: &'static str,
        tone: StatusTone,
        head: impl Into<String>,
        rest: impl Into<String>,
    ) -> StatusReportLine {
        StatusReportLine {
            label,
            colored_start: head.into(),
            plain_rest: rest.into(),
            tone,
            json: Vec::new(),
            next_step: None,
        }
    }

    pub fn with_next_step(
        mut self,
        urgency: NextStepUrgency,
        command: impl Into<String>,
        why: impl Into<String>,
    ) -> StatusReportLine {
        let (command, why) = (command.into(), why.into());
        self.next_step = Some(NextStep { urgency, changed_at: String::new(), command, why });
        self
    }

    /// Sets [`NextStep::changed_at`] if the line has a next step.
    pub fn changed_at(mut self, time: impl Into<String>) -> StatusReportLine {
        if let Some(step) = &mut self.next_step {
            step.changed_at = time.into();
        }
        self
    }

    pub fn with_json(mut self, key: &'static str, value: serde_json::Value) -> StatusReportLine {
        self.json.push((key, value));
        self
    }
}

const MAX_NAMES_PER_STATUS_LINE: usize = 5;

/// Formats names for one line, preceded by their count: `2: 01-parser, 02-lexer`. A single name has no count.
pub(crate) fn format_name_list(names: &[String]) -> String {
    if let [only] = names {
        return one_line(only, 64);
    }
    let shown: Vec<String> =
        names.iter().take(MAX_NAMES_PER_STATUS_LINE).map(|name| one_line(name, 64)).collect();
    let more = if names.len() > MAX_NAMES_PER_STATUS_LINE { ", …" } else { "" };
    format!("{}: {}{more}", names.len(), shown.join(", "))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusTone {
    Plain,
    Strong,
    Good,
    Warning,
}

/// One line of `thru doctor` and the problems that the check found.
#[derive(Clone, Debug, Serialize)]
pub struct DoctorCheck {
    pub name: &'static str,
    pub text: String,
    pub findings: Vec<Finding>,
}

/// Returns the brief candidates of all features, in row order, and the errors of the features that failed.
pub fn collect_feature_candidates(context: &BriefContext) -> (Vec<Candidate>, Vec<String>) {
    candidates_of_features_with_sections(context, |_| true)
}

/// Like [`collect_feature_candidates`], but skips the features whose candidates belong only to unwanted sections.
pub fn candidates_of_features_with_sections(
    context: &BriefContext,
    is_wanted: impl Fn(&str) -> bool,
) -> (Vec<Candidate>, Vec<String>) {
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for feature in FEATURES {
        if !feature.brief_sections.is_empty() && !feature.brief_sections.iter().any(|name| is_wanted(name)) {
            continue;
        }
        match feature.call_catching_panics(|| (feature.brief_candidates)(context)) {
            Ok(found) => {
                let is_listed = |one: &Candidate| feature.brief_sections.contains(&one.class.name());
                debug_assert!(
                    feature.brief_sections.is_empty() || found.iter().all(is_listed),
                    "{}",
                    feature.name
                );
                all.extend(found);
            }
            Err(error) => problems.push(error.to_string()),
        }
    }
    // Do not offer a packet that another candidate already mentions.
    let texts: Vec<String> = all
        .iter()
        .filter(|one| !one.id.starts_with(packets::OFFER))
        .map(|one| one.forms[0].clone())
        .collect();
    all.retain(|one| {
        let offered = one.id.strip_prefix(packets::OFFER);
        !offered.is_some_and(|packet| texts.iter().any(|text| text.contains(packet)))
    });
    (all, problems)
}

pub fn collect_facts_for_summary(project: &ProjectContext) -> (Vec<String>, Vec<String>) {
    let (mut facts, mut problems) = (Vec::new(), Vec::new());
    for feature in FEATURES {
        match feature.call_catching_panics(|| (feature.facts_for_summary)(project)) {
            Ok(found) => facts.extend(found),
            Err(error) => problems.push(error.to_string()),
        }
    }
    (facts, problems)
}
