//! Writes the record of a finished phase, `phases/<n>.md`. Briefs then mention that record instead of the phase's
//! tasks.

use jiff::Timestamp;
use model::decision::{Decision, DecisionState};
use model::id::Id;
use model::plan::{Phase, PhaseNotes, Plan, render_phase_record};
use model::time;
use store::{Durability, Store, layout};

use crate::Result;
use crate::features::decisions;

/// Writes the records of the phases that ended, and returns a note about each record.
pub fn write_phase_records(store: &Store, plan: &Plan, ended: &[u32], now: Timestamp) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for phase in ended.iter().filter_map(|id| plan.phase(*id)) {
        let path = layout::phase_record_path(phase.id);
        let notes_of = PhaseNotes {
            decisions: decisions_of_phase(store, phase, now)?,
            evidence: evidence_of_phase(store, phase),
            ..PhaseNotes::default()
        };
        let record = render_phase_record(phase, &notes_of, &time::to_rfc3339(now));
        store.dir().write_at_path(&path, record.as_bytes(), Durability::Synced)?;
        notes.push(format!("phase {} has ended; its record is {}/{path}", phase.id, layout::STORE_FOLDER));
    }
    Ok(notes)
}

/// Returns the decisions in force that were made during the phase or for one of its tasks.
fn decisions_of_phase(store: &Store, phase: &Phase, now: Timestamp) -> Result<Vec<String>> {
    let (standing, _) = decisions::recent_decisions(store, now)?;
    let is_own = |decision: &Decision| {
        decision.phase == Some(phase.id) || phase.tasks.iter().any(|task| task.id == decision.task)
    };
    let current = standing.iter().filter(|one| one.state == DecisionState::Current && is_own(&one.decision));
    Ok(current.map(|one| one.decision.describe_for_model(400)).collect())
}

/// Returns the finished phases that have no record. A phase that was already finished when it was imported is left
/// out. None of its tasks has a completion time.
pub fn phases_without_record(store: &Store, plan: &Plan) -> Result<Vec<u32>> {
    let mut missing = Vec::new();
    let ended_here =
        |phase: &&Phase| phase.status.is_over() && phase.tasks.iter().any(|task| task.done_at.is_some());
    for phase in plan.phases.iter().filter(ended_here) {
        if store.dir().file_info(&layout::phase_record_path(phase.id))?.is_none() {
            missing.push(phase.id);
        }
    }
    Ok(missing)
}

/// Describes the last evidence of each task, preferably evidence that thru itself saw. Evidence that cannot be read is
/// left out, because `thru doctor` reports it.
fn evidence_of_phase(store: &Store, phase: &Phase) -> Vec<String> {
    let last = |id: &Id| {
        let bundle = store.read_evidence(id).ok().flatten()?;
        let entry =
            bundle.entries.iter().rev().find(|entry| entry.is_seen_by_thru()).or(bundle.entries.last())?;
        Some(format!("{id} {}", entry.describe()))
    };
    phase.tasks.iter().filter_map(|task| last(&Id::new(&task.id).ok()?)).collect()
}
