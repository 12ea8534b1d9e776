//! The plan: phases and tasks. All code that reads or changes `plan.json` and its ledger goes through this file. The
//! submodules contain the commands, the imports, the brief and the hook.

mod brief;
pub mod edit;
mod follow;
pub mod import;
mod records;
mod report;
pub mod show;

use std::time::Duration;

use jiff::Timestamp;
use model::plan::{self, LedgerComparison, LedgerLine, Plan, PlanEditRefusal, RefusalKind};
use model::render::one_line;
use model::time;
use serde::Serialize;
use store::{Store, layout};

use crate::features::Feature;
use crate::session::list;
use crate::{Error, Result, World};

pub const FEATURE_ROW: Feature = Feature {
    name: "plan",
    update_at_checkpoint: follow::update_at_checkpoint,
    brief_candidates: brief::brief_candidates,
    brief_sections: brief::BRIEF_SECTION_NAMES,
    facts_for_summary: brief::facts_for_summary,
    continue_under_new_id: follow::continue_under_new_id,
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

/// How long a command waits for other commands that are changing the plan. On a busy machine, 64 simultaneous
/// commands can take this long.
pub(crate) const MAX_PLAN_LOCK_WAIT: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub struct LoadedPlan {
    pub plan: Plan,
    pub source: PlanSource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSource {
    /// The plan was read from the file, which matches the ledger.
    File,
    /// The plan was read from the ledger, because the file is missing or outdated.
    Ledger,
    /// The plan was read from the file, because somebody has edited the file by hand.
    EditedFile,
}

/// Loads the plan from a store, or returns `None` if there is none. If a crash left the file older than its ledger,
/// the plan is rebuilt from the ledger.
pub fn load_plan(store: &Store) -> Result<Option<LoadedPlan>> {
    let bytes = store.read_plan_bytes()?;
    let end = store.read_last_plan_ledger_line()?;
    match (&bytes, &end) {
        (None, None) => return Ok(None),
        (Some(bytes), Some(end)) if plan::sha256_hex(bytes) == end.hash_after => {
            return Ok(Some(LoadedPlan { plan: store.parse_plan(bytes)?, source: PlanSource::File }));
        }
        _ => {}
    }
    let Some(state) = plan_from_file_and_ledger(store, bytes.as_deref())? else { return Ok(None) };
    Ok(Some(LoadedPlan { plan: state.plan, source: state.source }))
}

/// Like [`load_plan`], but returns an error if there is no plan.
pub fn load_existing_plan(store: &Store) -> Result<LoadedPlan> {
    load_plan(store)?.ok_or_else(no_plan_error)
}

fn no_plan_error() -> Error {
    Error::Absent {
        what: "there is no plan here yet".into(),
        hint: "`thru plan init TITLE` creates one; `thru plan import FILE` imports one".into(),
    }
}

struct LockedPlanState {
    plan: Plan,
    source: PlanSource,
    seq: u64,
    /// The plan's hash after the change in the ledger's last line.
    hash_after: String,
}

fn plan_from_file_and_ledger(store: &Store, bytes: Option<&[u8]>) -> Result<Option<LockedPlanState>> {
    let (lines, _) = store.read_plan_ledger()?;
    let seq = lines.iter().map(|line| line.seq).max().unwrap_or(0);
    let after = lines.last().map(|line| line.hash_after.clone()).unwrap_or_default();
    let of_ledger = |lines: Vec<LedgerLine>| {
        let plan = plan::fold_ledger(lines).plan?;
        Some(LockedPlanState { plan, source: PlanSource::Ledger, seq, hash_after: after.clone() })
    };
    let Some(bytes) = bytes else { return Ok(of_ledger(lines)) };
    if !lines.is_empty()
        && LedgerComparison::compare_with_file(&plan::sha256_hex(bytes), lines.iter())
            == LedgerComparison::FileBehind
    {
        return Ok(of_ledger(lines));
    }
    let plan = store.parse_plan(bytes)?;
    // If the hash is the same, only the formatting of the file has changed.
    let source = if !lines.is_empty() && plan.content_hash() == after {
        PlanSource::File
    } else {
        PlanSource::EditedFile
    };
    Ok(Some(LockedPlanState { plan, source, seq, hash_after: after.clone() }))
}

#[derive(Clone, Debug)]
pub struct PlanAuthor {
    pub author: String,
    pub at: Timestamp,
}

impl PlanAuthor {
    /// Returns the named session as the author, or else the current session, or else the user at the terminal.
    pub fn current_author(world: &World, named: Option<&str>) -> Result<PlanAuthor> {
        let session = match named {
            Some(named) => Some(model::id::Id::new(named).map_err(|bad| Error::Usage {
                what: bad.to_string(),
                hint: "`thru journal --list` shows the sessions".into(),
            })?),
            None => list::session_of_current_harness(world),
        };
        Ok(PlanAuthor {
            author: session.map_or("user".to_owned(), |session| session.to_string()),
            at: world.now,
        })
    }

    pub fn formatted_time(&self) -> String {
        time::to_rfc3339(self.at)
    }
}

#[derive(Clone, Debug, Default)]
pub struct LedgerNote<'a> {
    pub change_kind: &'a str,
    pub id: String,
    pub why: String,
}

#[derive(Debug)]
pub struct PlanChangeResult {
    pub plan: Plan,
    /// Whether the plan was changed. False if there was nothing to change.
    pub changed: bool,
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingPlanPolicy {
    IsError,
    /// Start from an empty plan.
    BeginEmpty,
}

/// Changes the plan. Every change goes through this function. Under the lock, it writes the ledger line first, then
/// `plan.json`, then `plan.md`. `edit` receives the current plan and may refuse the change.
pub(crate) fn change_plan(
    store: &Store,
    author: &PlanAuthor,
    entry: LedgerNote,
    (begin, wait): (MissingPlanPolicy, Duration),
    edit: impl FnOnce(&Plan) -> Result<(Plan, LedgerNote<'static>)>,
) -> Result<PlanChangeResult> {
    let _lock = store.lock_plan(wait)?;
    let mut notes = Vec::new();
    let bytes = store.read_plan_bytes()?;
    let state = match read_plan_state(store, bytes.as_deref()) {
        // The damaged file must be replaced. Keep it under another name, and continue with the plan from the ledger.
        Err(Error::Store(store::Error::Damaged { .. })) if store.read_last_plan_ledger_line()?.is_some() => {
            let aside = store.dir().rename_damaged_aside(layout::PLAN_FILE, author.at)?;
            notes.extend(aside.map(|aside| {
                format!(
                    "plan.json was damaged: it was rebuilt from the ledger, and the damaged file was kept \
                     as {aside}"
                )
            }));
            plan_from_file_and_ledger(store, None)?
        }
        state => state?,
    };
    let known = state.as_ref().map(|state| &state.plan);
    let before = match (known, begin) {
        (Some(plan), _) => plan.clone(),
        (None, MissingPlanPolicy::BeginEmpty) => Plan::new(""),
        (None, MissingPlanPolicy::IsError) => return Err(no_plan_error()),
    };
    let (after, more) = edit(&before)?;
    let (mut seq, mut lines) = (state.as_ref().map_or(0, |state| state.seq), Vec::new());
    let mut line = |line: LedgerLine, entry: &LedgerNote| {
        seq += 1;
        let (change_kind, by, id) = (entry.change_kind.to_owned(), author.author.clone(), entry.id.clone());
        let (ts, why) = (author.formatted_time(), entry.why.clone());
        lines.push(LedgerLine { seq, ts, change_kind, author: by, id, why, ..line });
    };
    let adopted = state.as_ref().filter(|state| state.source == PlanSource::EditedFile);
    if let Some(state) = adopted {
        let by_hand = LedgerNote { change_kind: "edited_by_hand", ..LedgerNote::default() };
        let adopted = bytes.as_deref().map(plan::sha256_hex).unwrap_or_default();
        line(
            LedgerLine {
                hash_before: state.hash_after.clone(),
                edited_file_hash: adopted,
                ..LedgerLine::of_change(0, None, &state.plan)
            },
            &by_hand,
        );
    }
    let changed = known != Some(&after);
    if changed {
        let entry = LedgerNote {
            change_kind: entry.change_kind,
            id: if more.id.is_empty() { entry.id } else { more.id },
            why: if more.why.is_empty() { entry.why } else { more.why },
        };
        line(LedgerLine::of_change(0, known, &after), &entry);
    }
    if !lines.is_empty() || state.as_ref().is_some_and(|state| state.source == PlanSource::Ledger) {
        if let Some(bytes) = bytes.as_deref().filter(|bytes| is_unversioned(bytes)) {
            let name = format!("{}.backup-{}", layout::PLAN_FILE, time::format_time_for_file_name(author.at));
            store.dir().create_private_file(&name, bytes)?;
            notes.push(format!("plan.json was in an older format; a copy of it was kept as {name}"));
        }
        store.write_plan(&lines, &after)?;
        notes.extend(rewrite_plan_view(store, &after, author.at)?);
    }
    let ended = match (known, changed) {
        (Some(known), true) => plan::newly_ended_phases(known, &after),
        // The same change was interrupted earlier, so the record of a finished phase may be missing.
        (Some(_), false) => records::phases_without_record(store, &after)?,
        (None, _) => Vec::new(),
    };
    notes.extend(records::write_phase_records(store, &after, &ended, author.at)?);
    Ok(PlanChangeResult { plan: after, changed, notes })
}

fn read_plan_state(store: &Store, bytes: Option<&[u8]>) -> Result<Option<LockedPlanState>> {
    // Usually the file matches the ledger's last line, so the other lines need not be read.
    if let (Some(bytes), Some(end)) = (bytes, store.read_last_plan_ledger_line()?)
        && plan::sha256_hex(bytes) == end.hash_after
    {
        let plan = store.parse_plan(bytes)?;
        return Ok(Some(LockedPlanState {
            plan,
            source: PlanSource::File,
            seq: end.seq,
            hash_after: end.hash_after,
        }));
    }
    plan_from_file_and_ledger(store, bytes)
}

/// Returns whether a plan file dates from before plan files had a version number.
fn is_unversioned(bytes: &[u8]) -> bool {
    let has_version = |fields: serde_json::Map<String, serde_json::Value>| {
        fields
            .get("schema_version")
            .and_then(|version| version.as_str())
            .is_some_and(|version| version.starts_with("1."))
    };
    serde_json::from_slice(bytes).is_ok_and(|fields| !has_version(fields))
}

/// Rewrites `plan.md`, which shows the plan to people. If a person edited the old `plan.md`, that version is kept
/// next to the new one, and the returned note gives its name.
fn rewrite_plan_view(store: &Store, plan: &Plan, now: Timestamp) -> Result<Option<String>> {
    let view = plan::render_plan(plan);
    let edited = store.read_plan_view()?.filter(|known| {
        let text = String::from_utf8_lossy(known);
        let is_taken_in = || plan::read_json_or_markdown(known).is_ok_and(|read| read.plan == *plan);
        !text.trim().is_empty() && !plan::is_plan_view_unedited(&text) && !is_taken_in()
    });
    let kept = match edited {
        Some(_) => store.dir().rename_aside(
            layout::PLAN_VIEW_FILE,
            &format!("edited-{}", time::format_time_for_file_name(now)),
        )?,
        None => None,
    };
    store.write_plan_view(&view)?;
    Ok(kept.map(|kept| {
        format!(
            "plan.md was edited by hand: your version was kept as {kept}, and `thru plan import \
             .agent/context/{kept}` imports it"
        )
    }))
}

pub(crate) fn refused_error(refusal: PlanEditRefusal) -> Error {
    let PlanEditRefusal { kind, message, hint } = refusal;
    match kind {
        RefusalKind::Absent => Error::Absent { what: message, hint },
        RefusalKind::Busy => Error::Busy { what: message, hint },
        RefusalKind::Refused => Error::Refused { what: message, hint },
    }
}

pub(crate) fn to_one_line(text: &str) -> String {
    one_line(text, 200)
}
