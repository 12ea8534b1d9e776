//! `thru harness list`: what each harness tells us, and what it does not.

use harness::HARNESSES;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub name: &'static str,
    pub title: &'static str,
    pub events: Vec<EventRow>,
    pub missing: Vec<String>,
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
        missing: harness.gaps(),
    };
    HARNESSES.iter().map(row).collect()
}

/// Those that can be wired, by name.
pub fn wirable() -> impl Iterator<Item = &'static str> {
    HARNESSES.iter().map(|harness| harness.name)
}

/// Those that a prompt can be written for, too.
pub fn names() -> impl Iterator<Item = &'static str> {
    harness::names()
}

#[cfg(test)]
#[path = "harnesses_tests.rs"]
mod tests;
