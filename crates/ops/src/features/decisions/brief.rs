//! What a brief and a packet say of the decisions: those that hold, newest first.

use jiff::Timestamp;
use model::brief::{Candidate, Section};
use model::decision::{Decision, Kind, State};
use model::score::Signal;
use model::text::count;
use model::time;
use store::Store;

use crate::Result;
use crate::features::{BriefContext, ProjectContext};

const SECTION: Section = Section {
    order: 10,
    longer: 30,
    name: "decisions",
    title: "Decisions in force (newest first)",
    signal: Signal::DecisionRecency,
};
pub const SECTIONS: &[&str] = &[SECTION.name];

/// More of a kind are counted.
const NAMED: usize = 8;
const PATTERNS: usize = 4;

/// The same where decisions are ranked by their age.
const SCORED: usize = 40;

/// In a packet, which has more room.
const IN_PACKET: usize = 30;
const IN_PACKET_CHARS: usize = 300;

pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let now = context.project.world.now;
    let (named, patterns) = match context.project.settings.brief_scoring_enabled {
        true => (SCORED, SCORED),
        false => (NAMED, PATTERNS),
    };
    let (found, is_all) = super::current(context.project.store, now, named)?;
    let of = |kind: Kind, most: usize| found.iter().filter(move |one| one.kind == kind).take(most);
    let told: Vec<&Decision> = of(Kind::Decision, named).chain(of(Kind::Pattern, patterns)).collect();
    let mut all: Vec<Candidate> = told
        .iter()
        .map(|decision| {
            let mut candidate =
                Candidate::new(&SECTION, format!("decision:{}", decision.id), decision.words(160));
            candidate.forms.push(decision.words(500));
            candidate.forms.dedup();
            candidate.known_by = vec![decision.answer().unwrap_or(&decision.text).to_owned()];
            candidate.signals.age_hours = age_hours(decision, now);
            candidate.with(Signal::DecisionRecency, 1.0)
        })
        .collect();
    let more = found.len() - told.len();
    if more > 0 {
        let or_more = if is_all { "" } else { " or more" };
        let text = format!("{more} older{or_more}: `thru decisions list`");
        let mut older = Candidate::new(&SECTION, "decisions:older", text).with(Signal::DecisionRecency, 1.0);
        // They are no newer than the last that is told.
        older.signals.age_hours = told.last().and_then(|decision| age_hours(decision, now));
        all.push(older);
    }
    Ok(all)
}

fn age_hours(decision: &Decision, now: Timestamp) -> Option<f64> {
    let age = now.duration_since(time::parse(&decision.ts)?);
    Some(age.as_secs_f64().max(0.0) / 3_600.0)
}

/// Returns the newest decisions that hold, for a summariser.
pub fn facts_for_summary(project: &ProjectContext) -> Result<Vec<String>> {
    let (found, _) = super::current(project.store, project.world.now, NAMED)?;
    Ok(found.iter().take(NAMED).map(|decision| format!("decided: {}", decision.words(160))).collect())
}

/// For a packet, newest first.
pub(crate) fn in_words(store: &Store, now: Timestamp) -> Result<Vec<String>> {
    let (found, is_all) = super::current(store, now, IN_PACKET)?;
    let mut lines: Vec<String> =
        found.iter().take(IN_PACKET).map(|decision| decision.words(IN_PACKET_CHARS)).collect();
    if let Some(more) = found.len().checked_sub(IN_PACKET).filter(|more| *more > 0) {
        let or_more = if is_all { "" } else { " at least" };
        lines.push(format!("and{or_more} {}: `thru decisions list`", count(more, "older one")));
    }
    Ok(lines)
}

/// For a pickup: what was decided after the packet was written and holds, and what the packet's own section tells that does
/// not hold any more. Both newest first.
pub(crate) fn since(
    store: &Store,
    created_at: &str,
    recorded: &str,
    now: Timestamp,
) -> Result<(Vec<String>, Vec<String>)> {
    let standing = super::all(store, now)?;
    let created = time::parse(created_at);
    let (mut decided, mut overruled) = (Vec::new(), Vec::new());
    for one in standing.iter().rev() {
        let words = one.decision.words(IN_PACKET_CHARS);
        let is_told =
            recorded.lines().any(|line| line.trim_start_matches(['-', '*', ' ']).trim_end() == words);
        let is_later = created.zip(time::parse(&one.decision.ts)).is_some_and(|(then, ts)| ts >= then);
        match one.state {
            State::Current if is_later && !is_told => decided.push(words),
            State::Current => {}
            State::Superseded | State::Withdrawn | State::Expired if is_told => overruled.push(words),
            State::Superseded | State::Withdrawn | State::Expired => {}
        }
    }
    Ok((decided, overruled))
}
