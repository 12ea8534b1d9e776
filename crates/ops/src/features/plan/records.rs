//! The record of a finished phase: `phases/<n>.md`. Its details then leave the brief.

use jiff::Timestamp;
use model::plan::{PhaseNotes, Plan, phase_record};
use model::time;
use store::{Durability, Store, layout};

use crate::Result;

/// Writes the records of the phases that ended, and returns their paths.
pub fn write(store: &Store, plan: &Plan, ended: &[u32], now: Timestamp) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for phase in ended.iter().filter_map(|id| plan.phase(*id)) {
        let path = layout::phase_record(phase.id);
        let record = phase_record(phase, &PhaseNotes::default(), &time::rfc3339(now));
        store.dir().put(&path, record.as_bytes(), Durability::Synced)?;
        notes.push(format!(
            "phase {} is over; what was done in it stands in {}/{path}",
            phase.id,
            layout::STORE
        ));
    }
    Ok(notes)
}
