//! `thru decide` and `thru decisions supersede|accept`. Each appends lines to the log; no line is ever changed.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use model::decision::{self, Decision, Kind, LONGEST_TEXT, Source, Standing, State, VERSION};
use model::time;
use serde::Serialize;
use store::{Durability, Store};

use super::{all, answers, find, line, suggest, view};
use crate::features::ProjectContext;
use crate::features::plan::{self, Author};
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::session::list;
use crate::{Error, Result, World};

/// How long a command waits for another command that is adding a decision or writing the view.
pub(super) const WAIT: Duration = Duration::from_secs(10);

/// The arguments of `thru decide`.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    pub text: &'a str,
    pub why: Option<&'a str>,
    pub kind: Kind,
    pub supersedes: Option<&'a str>,
    /// A date such as `2026-12-01`, or a time from now such as `30d`.
    pub expires: Option<&'a str>,
    pub task: Option<&'a str>,
    pub session: Option<&'a str>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub decision: Decision,
    /// The text of the decision that was superseded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub superseded: String,
    /// False if the same decision was already in force, so that nothing was recorded.
    pub changed: bool,
    /// Whether a secret in the input was redacted.
    pub covered: bool,
    pub notes: Vec<String>,
}

/// Records a decision. If a decision with the same text is in force, nothing is recorded.
pub fn decide(world: &World, wanted: &Wanted) -> Result<Report> {
    let project = Project::find_or_make(world)?;
    let given = InputRedactor::to(world);
    let author = Author::here(world, wanted.session)?;
    let _lock = project.store.lock_decisions(WAIT)?;
    let known = all(&project.store, world.now)?;
    let superseded = wanted.supersedes.map(|word| find(&known, word)).transpose()?;
    superseded.map(refuse_if_over).transpose()?;
    let text = checked(&given, wanted.text, "what was decided")?;
    let why = wanted.why.map(|why| checked(&given, why, "why")).transpose()?.unwrap_or_default();
    let same = known.iter().rev().find(|one| {
        one.state == State::Current && one.decision.text == text && one.decision.kind == wanted.kind
    });
    if let Some(same) =
        same.filter(|same| superseded.is_none() && (why.is_empty() || same.decision.why == why))
    {
        let decision = same.decision.clone();
        return Ok(Report {
            decision,
            superseded: String::new(),
            changed: false,
            covered: given.was_covered(),
            notes: Vec::new(),
        });
    }
    let settings = settings::here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let (phase, task) = match wanted.task {
        Some(task) => named_task(&project.store, task)?,
        None => answers::current_task(&context),
    };
    let supersedes = superseded.map(|one| one.decision.id.clone()).unwrap_or_default();
    let decision = Decision {
        v: VERSION,
        id: decision::id_at(&author.when(), &author.by, &text, &supersedes),
        ts: author.when(),
        kind: superseded.map_or(wanted.kind, |one| one.decision.kind),
        text,
        why,
        phase,
        task,
        supersedes,
        expires_at: wanted.expires.map(|text| expiry(text, world.now)).transpose()?.unwrap_or_default(),
        source: Source::Command,
        session: session(world, wanted.session),
        by: author.by,
        ..Decision::default()
    };
    let superseded = superseded.map(|one| one.decision.text.clone()).unwrap_or_default();
    append(&context, decision, superseded, given.was_covered())
}

/// Withdraws a decision without replacing it.
pub fn withdraw(world: &World, word: &str, why: Option<&str>, session_named: Option<&str>) -> Result<Report> {
    let project = Project::find(world)?;
    let given = InputRedactor::to(world);
    let author = Author::here(world, session_named)?;
    let _lock = project.store.lock_decisions(WAIT)?;
    let known = all(&project.store, world.now)?;
    let one = find(&known, word)?;
    let why = why.map(|why| checked(&given, why, "why")).transpose()?.unwrap_or_default();
    if one.state == State::Withdrawn {
        return Ok(Report {
            decision: one.decision.clone(),
            superseded: one.decision.text.clone(),
            changed: false,
            covered: given.was_covered(),
            notes: Vec::new(),
        });
    }
    refuse_if_over(one)?;
    let decision = Decision {
        v: VERSION,
        id: decision::id_at(&author.when(), &author.by, "", &one.decision.id),
        ts: author.when(),
        why,
        supersedes: one.decision.id.clone(),
        session: session(world, session_named),
        by: author.by,
        ..Decision::default()
    };
    let superseded = one.decision.text.clone();
    let settings = settings::here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    append(&context, decision, superseded, given.was_covered())
}

/// Turns a suggestion into a decision.
pub fn accept(world: &World, word: &str, why: Option<&str>) -> Result<Report> {
    let project = Project::find(world)?;
    let given = InputRedactor::to(world);
    let author = Author::here(world, None)?;
    let _lock = project.store.lock_decisions(WAIT)?;
    let suggestion = suggest::find(world, &project.store, word)?;
    let settings = settings::here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    let why = why.map(|why| checked(&given, why, "why")).transpose()?.unwrap_or(suggestion.why);
    let (phase, task) = answers::current_task(&context);
    let decision = Decision {
        v: VERSION,
        id: suggestion.id,
        ts: author.when(),
        text: given.clean(&suggestion.text).into_owned(),
        why,
        phase,
        task,
        source: Source::Statement,
        session: suggestion.session,
        by: author.by,
        ..Decision::default()
    };
    append(&context, decision, String::new(), given.was_covered())
}

fn append(context: &ProjectContext, decision: Decision, superseded: String, covered: bool) -> Result<Report> {
    context.store.append_decisions(std::slice::from_ref(&decision), Durability::Synced)?;
    let notes = refresh(context);
    Ok(Report { decision, superseded, changed: true, covered, notes })
}

/// Writes the view again. A failure is returned as a note, not as an error, because the decision is already on
/// disk.
pub(super) fn refresh(context: &ProjectContext) -> Vec<String> {
    match view::write(context, WAIT, None) {
        Ok(note) => note.into_iter().collect(),
        Err(error) => vec![format!("context.md could not be written: {error}")],
    }
}

fn refuse_if_over(one: &Standing) -> Result<()> {
    let hint = match one.state {
        State::Current | State::Expired => return Ok(()),
        State::Superseded => format!("supersede what took its place: {}", one.superseded_by),
        State::Withdrawn => "`thru decide TEXT` records a new one".into(),
    };
    Err(Error::Refused { what: format!("{} is {} already", one.decision.id, one.state.name()), hint })
}

fn session(world: &World, named: Option<&str>) -> String {
    let around = || list::around(world).map(|session| session.to_string());
    named.map(str::to_owned).or_else(around).unwrap_or_default()
}

/// Returns the text, completely redacted. Refuses an empty text, and a text that is too long for a decision.
fn checked(given: &InputRedactor, text: &str, what: &str) -> Result<String> {
    let text = given.clean(text.trim()).into_owned();
    if text.is_empty() {
        return Err(Error::Usage { what: format!("say {what}"), hint: "it is empty".into() });
    }
    if text.len() > LONGEST_TEXT {
        return Err(Error::Usage {
            what: format!("{what} has {} bytes; at most {LONGEST_TEXT} are kept", text.len()),
            hint: "a decision is a sentence or a few; put the rest into a file and name it".into(),
        });
    }
    Ok(text)
}

fn named_task(store: &Store, id: &str) -> Result<(Option<u32>, String)> {
    let plan = plan::need(store)?.plan;
    match plan.task(id) {
        Some(task) => Ok((Some(task.phase), task.id.clone())),
        None => {
            let near = plan.near(id).map_or(String::new(), |near| format!("did you mean {near}? "));
            Err(Error::Absent {
                what: format!("there is no task {}", line(id)),
                hint: format!("{near}`thru plan show` lists the tasks"),
            })
        }
    }
}

fn expiry(text: &str, now: Timestamp) -> Result<String> {
    let after = |seconds: i64| now.checked_add(SignedDuration::from_secs(seconds)).ok();
    let at = time::seconds(text).and_then(after).or_else(|| time::parse(text));
    match at {
        Some(at) if at > now => Ok(time::rfc3339(at)),
        Some(at) => Err(Error::Usage {
            what: format!("{} is in the past", time::rfc3339(at)),
            hint: "a decision that holds no more is withdrawn: `thru decisions supersede ID`".into(),
        }),
        None => Err(Error::Usage {
            what: format!("`{}` is no time", line(text)),
            hint: "write it like 2026-12-01, 2026-12-01T12:00:00Z, or 30d".into(),
        }),
    }
}
