//! The record of a finished phase: `phases/<n>.md`. Its details then leave the brief.

use jiff::Timestamp;
use model::decision::{Decision, State};
use model::plan::{Phase, PhaseNotes, Plan, phase_record};
use model::time;
use store::{Durability, Store, layout};

use crate::Result;
use crate::features::decisions;

/// Writes the records of the phases that ended, and returns their paths.
pub fn write(store: &Store, plan: &Plan, ended: &[u32], now: Timestamp) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for phase in ended.iter().filter_map(|id| plan.phase(*id)) {
        let path = layout::phase_record(phase.id);
        let notes_of_phase =
            PhaseNotes { decisions: decisions_of(store, phase, now)?, ..PhaseNotes::default() };
        let record = phase_record(phase, &notes_of_phase, &time::rfc3339(now));
        store.dir().put(&path, record.as_bytes(), Durability::Synced)?;
        notes.push(format!(
            "phase {} is over; what was done in it stands in {}/{path}",
            phase.id,
            layout::STORE
        ));
    }
    Ok(notes)
}

/// What was decided while the phase was the current one, or for one of its tasks, and still holds.
fn decisions_of(store: &Store, phase: &Phase, now: Timestamp) -> Result<Vec<String>> {
    let standing = decisions::all(store, now)?;
    let is_own = |decision: &Decision| {
        decision.phase == Some(phase.id) || phase.tasks.iter().any(|task| task.id == decision.task)
    };
    let current = standing.iter().filter(|one| one.state == State::Current && is_own(&one.decision));
    Ok(current.map(|one| one.decision.words(400)).collect())
}
