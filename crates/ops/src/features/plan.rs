//! The plan: phases and tasks. Only this file reads and changes the plan's records. The commands, imports, the
//! brief and the hook are in the folder `plan`.

mod brief;
pub mod edit;
mod follow;
pub mod import;
mod records;
mod report;
pub mod show;

use std::time::Duration;

use jiff::Timestamp;
use model::plan::{self, Line, Plan, Rebuilt, Refusal, RefusalKind};
use model::render::one_line;
use model::time;
use serde::Serialize;
use store::{Store, layout};

use crate::features::Feature;
use crate::session::list;
use crate::{Error, Result, World};

pub const ROW: Feature = Feature {
    name: "plan",
    follow: follow::follow,
    candidates: brief::candidates,
    sections: brief::SECTIONS,
    facts_for_summary: brief::facts_for_summary,
    continue_as: follow::continue_as,
    checks: report::checks,
    status: report::status,
    ..Feature::NONE
};

/// How long a command waits for other commands that change the plan. On a busy machine, 64 commands take long to
/// finish.
pub(crate) const WAIT: Duration = Duration::from_secs(60);

/// A plan, and where it was read from.
#[derive(Debug)]
pub struct Loaded {
    pub plan: Plan,
    pub from: Source,
}

/// Where a plan was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The file, and it matches the ledger.
    File,
    /// The ledger, because the file is missing or outdated.
    Ledger,
    /// The file, which somebody has edited since the last change.
    EditedFile,
}

/// Loads the plan of a store; `None` if there is no plan. If a crash left the file older than its ledger, the plan
/// is taken from the ledger.
pub fn load(store: &Store) -> Result<Option<Loaded>> {
    let bytes = store.plan_bytes()?;
    let end = store.plan_ledger_end()?;
    if let (Some(bytes), Some(end)) = (&bytes, &end)
        && plan::hash(bytes) == end.after
    {
        return Ok(Some(Loaded { plan: store.parse_plan(bytes)?, from: Source::File }));
    }
    let Some(state) = settle(store, bytes.as_deref())? else { return Ok(None) };
    Ok(Some(Loaded { plan: state.plan, from: state.from }))
}

/// Loads the plan. It is an error if there is no plan.
pub fn need(store: &Store) -> Result<Loaded> {
    load(store)?.ok_or_else(no_plan)
}

fn no_plan() -> Error {
    Error::Absent {
        what: "there is no plan here yet".into(),
        hint: "`thru plan init TITLE` begins one, `thru plan import FILE` reads one".into(),
    }
}

/// The plan that results from the file and the ledger.
struct State {
    plan: Plan,
    from: Source,
    seq: u64,
    /// The hash of the plan after the ledger's last line.
    after: String,
}

fn settle(store: &Store, bytes: Option<&[u8]>) -> Result<Option<State>> {
    let (lines, _) = store.plan_ledger()?;
    let seq = lines.iter().map(|line| line.seq).max().unwrap_or(0);
    let after = lines.last().map(|line| line.after.clone()).unwrap_or_default();
    let of_ledger = |lines: Vec<Line>| {
        let plan = plan::fold(lines).plan?;
        Some(State { plan, from: Source::Ledger, seq, after: after.clone() })
    };
    let Some(bytes) = bytes else { return Ok(of_ledger(lines)) };
    if !lines.is_empty() && Rebuilt::of(&plan::hash(bytes), lines.iter()) == Rebuilt::Behind {
        return Ok(of_ledger(lines));
    }
    let plan = store.parse_plan(bytes)?;
    // If the hash is the same, only the formatting of the file was changed.
    let from = if !lines.is_empty() && plan.hash() == after { Source::File } else { Source::EditedFile };
    Ok(Some(State { plan, from, seq, after: after.clone() }))
}

/// Who changes the plan, and when.
#[derive(Clone, Debug)]
pub struct Author {
    pub by: String,
    pub at: Timestamp,
}

impl Author {
    /// Returns the current session, or else the user at the terminal.
    pub fn here(world: &World, named: Option<&str>) -> Result<Author> {
        let session = match named {
            Some(named) => Some(model::id::Id::new(named).map_err(|bad| Error::Usage {
                what: bad.to_string(),
                hint: "`thru journal --list` shows the sessions".into(),
            })?),
            None => list::around(world),
        };
        Ok(Author { by: session.map_or("user".to_owned(), |session| session.to_string()), at: world.now })
    }

    pub fn when(&self) -> String {
        time::rfc3339(self.at)
    }
}

/// How a change is described in the ledger.
#[derive(Clone, Debug, Default)]
pub struct Entry<'a> {
    pub what: &'a str,
    pub id: String,
    pub why: String,
}

/// The result of a change.
#[derive(Debug)]
pub struct Changed {
    pub plan: Plan,
    /// False if there was nothing to change.
    pub changed: bool,
    /// Other things the user should know.
    pub notes: Vec<String>,
}

/// What happens if there is no plan to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// A missing plan is an error.
    Never,
    /// The change begins with an empty plan.
    IfNone,
}

/// Changes the plan. Every change is made by this function. Under the lock, the ledger line is written first, then
/// the file, then its view. `edit` gets the current plan, and may refuse to change it.
pub(crate) fn change(
    store: &Store,
    author: &Author,
    entry: Entry,
    (begin, wait): (Begin, Duration),
    edit: impl FnOnce(&Plan) -> Result<(Plan, Entry<'static>)>,
) -> Result<Changed> {
    let _lock = store.lock_plan(wait)?;
    let mut notes = Vec::new();
    let bytes = store.plan_bytes()?;
    let state = match settled(store, bytes.as_deref()) {
        // The damaged file must be replaced: continue from the ledger, and keep the file under another name.
        Err(Error::Store(store::Error::Damaged { .. })) if store.plan_ledger_end()?.is_some() => {
            let aside = store.dir().set_damaged_aside(layout::PLAN, author.at)?;
            notes.extend(aside.map(|aside| {
                format!("plan.json was damaged: it was kept as {aside} and rebuilt from the ledger")
            }));
            settle(store, None)?
        }
        state => state?,
    };
    let known = state.as_ref().map(|state| &state.plan);
    let before = match (known, begin) {
        (Some(plan), _) => plan.clone(),
        (None, Begin::IfNone) => Plan::new(""),
        (None, Begin::Never) => return Err(no_plan()),
    };
    let (after, more) = edit(&before)?;
    let (mut seq, mut lines) = (state.as_ref().map_or(0, |state| state.seq), Vec::new());
    let mut line = |line: Line, entry: &Entry| {
        seq += 1;
        let (what, by, id) = (entry.what.to_owned(), author.by.clone(), entry.id.clone());
        let (ts, why) = (author.when(), entry.why.clone());
        lines.push(Line { seq, ts, what, by, id, why, ..line });
    };
    let adopted = state.as_ref().filter(|state| state.from == Source::EditedFile);
    if let Some(state) = adopted {
        let by_hand = Entry { what: "edited_by_hand", ..Entry::default() };
        let adopted = bytes.as_deref().map(plan::hash).unwrap_or_default();
        line(Line { before: state.after.clone(), adopted, ..Line::of(0, None, &state.plan) }, &by_hand);
    }
    let changed = known != Some(&after);
    if changed {
        let entry = Entry {
            what: entry.what,
            id: if more.id.is_empty() { entry.id } else { more.id },
            why: if more.why.is_empty() { entry.why } else { more.why },
        };
        line(Line::of(0, known, &after), &entry);
    }
    if !lines.is_empty() || state.as_ref().is_some_and(|state| state.from == Source::Ledger) {
        if let Some(bytes) = bytes.as_deref().filter(|bytes| is_older(bytes)) {
            let name = format!("{}.backup-{}", layout::PLAN, time::compact(author.at));
            store.dir().create(&name, bytes)?;
            notes.push(format!("plan.json had an older format: a copy is kept as {name}"));
        }
        store.write_plan(&lines, &after)?;
        notes.extend(write_view(store, &after, author.at)?);
    }
    let ended = match (known, changed) {
        (Some(known), true) => plan::ended(known, &after),
        // The same change was made before but interrupted, so the record of a finished phase may be missing.
        (Some(_), false) => records::missing(store, &after)?,
        (None, _) => Vec::new(),
    };
    notes.extend(records::write(store, &after, &ended, author.at)?);
    Ok(Changed { plan: after, changed, notes })
}

fn settled(store: &Store, bytes: Option<&[u8]>) -> Result<Option<State>> {
    // Usually the file matches the ledger's last line. Then the rest of the ledger need not be read.
    if let (Some(bytes), Some(end)) = (bytes, store.plan_ledger_end()?)
        && plan::hash(bytes) == end.after
    {
        let plan = store.parse_plan(bytes)?;
        return Ok(Some(State { plan, from: Source::File, seq: end.seq, after: end.after }));
    }
    settle(store, bytes)
}

/// Returns whether a plan file was written before plan files had a version number.
fn is_older(bytes: &[u8]) -> bool {
    let has_version = |fields: serde_json::Map<String, serde_json::Value>| {
        fields
            .get("schema_version")
            .and_then(|version| version.as_str())
            .is_some_and(|version| version.starts_with("1."))
    };
    serde_json::from_slice(bytes).is_ok_and(|fields| !has_version(fields))
}

/// Rewrites the view. If a person edited the old view, it is kept next to the new one.
fn write_view(store: &Store, plan: &Plan, now: Timestamp) -> Result<Option<String>> {
    let view = plan::render(plan);
    let edited = store.plan_view()?.filter(|known| {
        let text = String::from_utf8_lossy(known);
        let is_taken_in = || plan::read_any(known).is_ok_and(|read| read.plan == *plan);
        !text.trim().is_empty() && !plan::is_as_written(&text) && !is_taken_in()
    });
    let kept = match edited {
        Some(_) => store.dir().set_aside(layout::PLAN_VIEW, &format!("edited-{}", time::compact(now)))?,
        None => None,
    };
    store.write_plan_view(&view)?;
    Ok(kept.map(|kept| {
        format!("plan.md had been edited: it is kept as {kept}; `thru plan import .agent/context/{kept}` imports it")
    }))
}

pub(crate) fn refused(refusal: Refusal) -> Error {
    let Refusal { kind, what, hint } = refusal;
    match kind {
        RefusalKind::Absent => Error::Absent { what, hint },
        RefusalKind::Busy => Error::Busy { what, hint },
        RefusalKind::Refused => Error::Refused { what, hint },
    }
}

/// Shortens a text to one line.
pub(crate) fn line(text: &str) -> String {
    one_line(text, 200)
}
