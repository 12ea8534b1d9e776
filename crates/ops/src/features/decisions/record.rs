//! `thru decide` and `thru decisions supersede|accept`. These commands only append lines to the log. No line is ever
//! changed.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::decision::{
    self, DECISION_FORMAT_VERSION, Decision, DecisionKind, DecisionSource, DecisionStanding, DecisionState,
    MAX_DECISION_TEXT_BYTES,
};
use model::time;
use serde::Serialize;
use store::{Durability, Store};

use super::{all_decisions, answers, find_decision, suggest, to_one_line, view};
use crate::features::ProjectContext;
use crate::features::plan::{self, PlanAuthor};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::session::list;
use crate::{Error, Result, World};

/// How long a command waits for another command that is adding a decision or writing `context.md`.
pub(super) const MAX_DECISIONS_LOCK_WAIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default)]
pub struct NewDecision<'a> {
    pub text: &'a str,
    pub why: Option<&'a str>,
    pub kind: DecisionKind,
    pub supersedes: Option<&'a str>,
    /// A date such as `2026-12-01`, or a duration from now such as `30d`.
    pub expires: Option<&'a str>,
    pub task: Option<&'a str>,
    pub session: Option<&'a str>,
}

#[derive(Clone, Debug, Serialize)]
pub struct DecisionReport {
    pub decision: Decision,
    /// The text of the decision that was superseded.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "superseded")]
    pub superseded_text: String,
    /// Whether the decision was recorded. False if the same decision was already in force.
    pub changed: bool,
    /// Whether a secret in the input was redacted.
    pub redacted: bool,
    pub notes: Vec<String>,
}

/// Records a decision. If a decision with the same text is in force, nothing is recorded.
pub fn record_decision(world: &World, wanted: &NewDecision) -> Result<DecisionReport> {
    let project = Project::find_or_create(world)?;
    let given = InputRedactor::with_settings_of(world);
    let author = PlanAuthor::current_author(world, wanted.session)?;
    let _lock = project.store.lock_decisions(MAX_DECISIONS_LOCK_WAIT)?;
    let known = all_decisions(&project.store, world.now)?;
    let superseded = wanted.supersedes.map(|word| find_decision(&known, word)).transpose()?;
    superseded.map(refuse_if_no_longer_in_force).transpose()?;
    let text = redact_and_check_length(&given, wanted.text, "what was decided")?;
    let why =
        wanted.why.map(|why| redact_and_check_length(&given, why, "why")).transpose()?.unwrap_or_default();
    let same = known.iter().rev().find(|one| {
        one.state == DecisionState::Current && one.decision.text == text && one.decision.kind == wanted.kind
    });
    if let Some(same) =
        same.filter(|same| superseded.is_none() && (why.is_empty() || same.decision.why == why))
    {
        let decision = same.decision.clone();
        return Ok(DecisionReport {
            decision,
            superseded_text: String::new(),
            changed: false,
            redacted: given.has_redacted(),
            notes: Vec::new(),
        });
    }
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let (phase, task) = match wanted.task {
        Some(task) => find_named_task(&project.store, task)?,
        None => answers::current_phase_and_task(&context),
    };
    let supersedes = superseded.map(|one| one.decision.id.clone()).unwrap_or_default();
    let decision = Decision {
        v: DECISION_FORMAT_VERSION,
        id: decision::id_of_typed_decision(&author.formatted_time(), &author.author, &text, &supersedes),
        ts: author.formatted_time(),
        kind: superseded.map_or(wanted.kind, |one| one.decision.kind),
        text,
        why,
        phase,
        task,
        supersedes,
        expires_at: wanted.expires.map(|text| parse_expiry(text, world.now)).transpose()?.unwrap_or_default(),
        source: DecisionSource::Command,
        session: session_id_or_empty(world, wanted.session),
        author: author.author,
        ..Decision::default()
    };
    let superseded = superseded.map(|one| one.decision.text.clone()).unwrap_or_default();
    append_decision(&context, decision, superseded, given.has_redacted())
}

pub fn withdraw_decision(
    world: &World,
    word: &str,
    why: Option<&str>,
    session_named: Option<&str>,
) -> Result<DecisionReport> {
    let project = Project::find_for_reading(world)?;
    let given = InputRedactor::with_settings_of(world);
    let author = PlanAuthor::current_author(world, session_named)?;
    let _lock = project.store.lock_decisions(MAX_DECISIONS_LOCK_WAIT)?;
    let known = all_decisions(&project.store, world.now)?;
    let one = find_decision(&known, word)?;
    let why = why.map(|why| redact_and_check_length(&given, why, "why")).transpose()?.unwrap_or_default();
    if one.state == DecisionState::Withdrawn {
        return Ok(DecisionReport {
            decision: one.decision.clone(),
            superseded_text: one.decision.text.clone(),
            changed: false,
            redacted: given.has_redacted(),
            notes: Vec::new(),
        });
    }
    refuse_if_no_longer_in_force(one)?;
    let decision = Decision {
        v: DECISION_FORMAT_VERSION,
        id: decision::id_of_typed_decision(&author.formatted_time(), &author.author, "", &one.decision.id),
        ts: author.formatted_time(),
        why,
        supersedes: one.decision.id.clone(),
        session: session_id_or_empty(world, session_named),
        author: author.author,
        ..Decision::default()
    };
    let superseded = one.decision.text.clone();
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    append_decision(&context, decision, superseded, given.has_redacted())
}

pub fn accept_suggestion(world: &World, word: &str, why: Option<&str>) -> Result<DecisionReport> {
    let project = Project::find_for_reading(world)?;
    let given = InputRedactor::with_settings_of(world);
    let author = PlanAuthor::current_author(world, None)?;
    let _lock = project.store.lock_decisions(MAX_DECISIONS_LOCK_WAIT)?;
    let suggestion = suggest::find_suggestion(world, &project.store, word)?;
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let why =
        why.map(|why| redact_and_check_length(&given, why, "why")).transpose()?.unwrap_or(suggestion.why);
    let (phase, task) = answers::current_phase_and_task(&context);
    let decision = Decision {
        v: DECISION_FORMAT_VERSION,
        id: suggestion.id,
        ts: author.formatted_time(),
        text: given.redact_text(&suggestion.text).into_owned(),
        why,
        phase,
        task,
        source: DecisionSource::Statement,
        session: suggestion.session,
        author: author.author,
        ..Decision::default()
    };
    append_decision(&context, decision, String::new(), given.has_redacted())
}

fn append_decision(
    context: &ProjectContext,
    decision: Decision,
    superseded_text: String,
    redacted: bool,
) -> Result<DecisionReport> {
    context.store.append_decisions(std::slice::from_ref(&decision), Durability::Synced)?;
    let notes = rewrite_context_view(context);
    Ok(DecisionReport { decision, superseded_text, changed: true, redacted, notes })
}

/// Rewrites `context.md`. A failure is returned as a note, not as an error, because the decision is already on disk.
pub(super) fn rewrite_context_view(context: &ProjectContext) -> Vec<String> {
    match view::rewrite_context_view(context, MAX_DECISIONS_LOCK_WAIT, None) {
        Ok(note) => note.into_iter().collect(),
        Err(error) => vec![format!("context.md could not be written: {error}")],
    }
}

fn refuse_if_no_longer_in_force(one: &DecisionStanding) -> Result<()> {
    let hint = match one.state {
        DecisionState::Current | DecisionState::Expired => return Ok(()),
        DecisionState::Superseded => {
            format!("supersede the decision that replaced it: {}", one.superseded_by)
        }
        DecisionState::Withdrawn => "`thru decide TEXT` records a new one".into(),
    };
    Err(Error::Refused { what: format!("{} is already {}", one.decision.id, one.state.name()), hint })
}

fn session_id_or_empty(world: &World, named: Option<&str>) -> String {
    let around = || list::session_of_current_harness(world).map(|session| session.to_string());
    named.map(str::to_owned).or_else(around).unwrap_or_default()
}

/// Returns the redacted text. Refuses text that is empty or too long for a decision.
fn redact_and_check_length(given: &InputRedactor, text: &str, what: &str) -> Result<String> {
    let text = given.redact_text(text.trim()).into_owned();
    if text.is_empty() {
        return Err(Error::Usage { what: format!("say {what}"), hint: "the text is empty".into() });
    }
    if text.len() > MAX_DECISION_TEXT_BYTES {
        return Err(Error::Usage {
            what: format!("{what} is {} bytes long; the limit is {MAX_DECISION_TEXT_BYTES}", text.len()),
            hint: "keep a decision to a few sentences; put the rest in a file, and name that file".into(),
        });
    }
    Ok(text)
}

fn find_named_task(store: &Store, id: &str) -> Result<(Option<u32>, String)> {
    let plan = plan::load_existing_plan(store)?.plan;
    match plan.task(id) {
        Some(task) => Ok((Some(task.phase), task.id.clone())),
        None => {
            let near =
                plan.nearest_task_id(id).map_or(String::new(), |near| format!("did you mean {near}? "));
            Err(Error::Absent {
                what: format!("there is no task {}", to_one_line(id)),
                hint: format!("{near}`thru plan show` lists the tasks"),
            })
        }
    }
}

fn parse_expiry(text: &str, now: Timestamp) -> Result<String> {
    let after = |seconds: i64| now.checked_add(SignedDuration::from_secs(seconds)).ok();
    let at = time::parse_duration_seconds(text).and_then(after).or_else(|| time::parse_time(text));
    match at {
        Some(at) if at > now => Ok(time::to_rfc3339(at)),
        Some(at) => Err(Error::Usage {
            what: format!("{} is in the past", time::to_rfc3339(at)),
            hint: "to withdraw a decision now, use `thru decisions supersede ID`".into(),
        }),
        None => Err(Error::Usage {
            what: format!("`{}` is not a valid time", to_one_line(text)),
            hint: "write it like 2026-12-01, 2026-12-01T12:00:00Z, or 30d".into(),
        }),
    }
}
