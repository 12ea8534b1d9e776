//! What a brief and a packet say of the decisions: those that hold, newest first.

use jiff::Timestamp;
use model::brief::{Candidate, Section};
use model::decision::{Decision, Kind};
use model::text::count;
use store::Store;

use crate::Result;
use crate::features::BriefContext;

const SECTION: Section =
    Section { order: 10, longer: 30, name: "decisions", title: "Decisions in force (newest first)" };

/// More of a kind are counted.
const NAMED: usize = 8;
const PATTERNS: usize = 4;

/// In a packet, which has more room.
const IN_PACKET: usize = 30;

pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let (found, is_all) = super::current(context.project.store, context.project.world.now, NAMED)?;
    let of = |kind: Kind, most: usize| found.iter().filter(move |one| one.kind == kind).take(most);
    let told: Vec<&Decision> = of(Kind::Decision, NAMED).chain(of(Kind::Pattern, PATTERNS)).collect();
    let mut all: Vec<Candidate> = told
        .iter()
        .map(|decision| {
            let mut candidate =
                Candidate::new(&SECTION, format!("decision:{}", decision.id), decision.words(160));
            candidate.forms.push(decision.words(500));
            candidate.forms.dedup();
            candidate.known_by = vec![decision.answer().unwrap_or(&decision.text).to_owned()];
            candidate
        })
        .collect();
    let more = found.len() - told.len();
    if more > 0 {
        let or_more = if is_all { "" } else { " or more" };
        let text = format!("{more} older{or_more}: `thru decisions list`");
        all.push(Candidate::new(&SECTION, "decisions:older", text));
    }
    Ok(all)
}

/// For a packet, newest first.
pub(crate) fn in_words(store: &Store, now: Timestamp) -> Result<Vec<String>> {
    let (found, is_all) = super::current(store, now, IN_PACKET)?;
    let mut lines: Vec<String> = found.iter().take(IN_PACKET).map(|decision| decision.words(400)).collect();
    if let Some(more) = found.len().checked_sub(IN_PACKET).filter(|more| *more > 0) {
        let or_more = if is_all { "" } else { " at least" };
        lines.push(format!("and{or_more} {}: `thru decisions list`", count(more, "older one")));
    }
    Ok(lines)
}
