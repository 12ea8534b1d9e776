//! `thru harness list`: what each harness tells us, and what it does not.

use harness::HARNESSES;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    pub title: &'static str,
    pub events: Vec<EventRow>,
    pub missing: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct EventRow {
    pub event: &'static str,
    pub neutral: &'static str,
}

pub fn list() -> Vec<Row> {
    let row = |harness: &harness::Harness| Row {
        name: harness.name,
        title: harness.title,
        events: harness
            .events
            .iter()
            .map(|e| EventRow { event: e.event, neutral: e.neutral.name() })
            .collect(),
        missing: harness.missing,
    };
    HARNESSES.iter().map(row).collect()
}
