//! What a brief and a packet say about the decisions in force, newest first.

use jiff::Timestamp;
use model::brief::{Candidate, Section};
use model::decision::{Decision, Kind, State};
use model::render::inline;
use model::score::Signal;
use model::text::count;
use model::time;

use super::InForce;
use crate::Result;
use crate::features::{BriefContext, ProjectContext, swarm};

const SECTION: Section = Section {
    order: 10,
    longer: 30,
    name: "decisions",
    title: "Decisions in force (newest first)",
    signal: Signal::DecisionRecency,
};
pub const SECTIONS: &[&str] = &[SECTION.name];

/// How many decisions a brief names. It gives only the number of the others.
const NAMED: usize = 8;
/// How many patterns a brief names. It gives only the number of the others.
const PATTERNS: usize = 4;

/// How many decisions and how many patterns become candidates if they are ranked by their age.
const SCORED: usize = 40;

/// How many decisions a packet names. A packet has more room than a brief.
const IN_PACKET: usize = 30;
/// The longest text of a decision in a packet.
const IN_PACKET_CHARS: usize = 300;

pub fn candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let now = context.project.world.now;
    let (named, patterns) = match context.project.settings.brief_scoring_enabled {
        true => (SCORED, SCORED),
        false => (NAMED, PATTERNS),
    };
    let InForce { decisions: found, is_all, set_aside } = super::current(&context.project, named)?;
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
        // The decisions that are not named are all older than the last one that is named.
        older.signals.age_hours = told.last().and_then(|decision| age_hours(decision, now));
        all.push(older);
    }
    if let Some((decisions, other)) = set_aside {
        let text = set_aside_words(decisions, &other);
        all.push(Candidate::new(&SECTION, "decisions:set-aside", text).with(Signal::DecisionRecency, 1.0));
    }
    Ok(all)
}

/// Says that decisions were left out because they belong to the plan of another swarm.
fn set_aside_words(decisions: usize, other: &str) -> String {
    format!(
        "{} of the plan of the swarm {} set aside: not in force here; `thru decisions list` names them",
        count(decisions, "decision"),
        inline(other, 64)
    )
}

fn age_hours(decision: &Decision, now: Timestamp) -> Option<f64> {
    let age = now.duration_since(time::parse(&decision.ts)?);
    Some(age.as_secs_f64().max(0.0) / 3_600.0)
}

/// Returns the newest decisions in force, for a summariser.
pub fn facts_for_summary(project: &ProjectContext) -> Result<Vec<String>> {
    let found = super::current(project, NAMED)?.decisions;
    Ok(found.iter().take(NAMED).map(|decision| format!("decided: {}", decision.words(160))).collect())
}

/// Returns the decisions in force for a packet, newest first.
pub(crate) fn in_words(project: &ProjectContext) -> Result<Vec<String>> {
    let InForce { decisions: found, is_all, set_aside } = super::current(project, IN_PACKET)?;
    let mut lines: Vec<String> =
        found.iter().take(IN_PACKET).map(|decision| decision.words(IN_PACKET_CHARS)).collect();
    if let Some(more) = found.len().checked_sub(IN_PACKET).filter(|more| *more > 0) {
        let or_more = if is_all { "" } else { " at least" };
        lines.push(format!("and{or_more} {}: `thru decisions list`", count(more, "older one")));
    }
    lines.extend(set_aside.map(|(decisions, other)| set_aside_words(decisions, &other)));
    Ok(lines)
}

/// Returns, for a pickup, the decisions in force that were made after the packet was written, and the decisions in
/// the packet's own section that are no longer in force. Both lists are newest first.
pub(crate) fn since(
    project: &ProjectContext,
    created_at: &str,
    recorded: &str,
) -> Result<(Vec<String>, Vec<String>)> {
    let mut standing = super::all(project.store, project.world.now)?;
    if swarm::foreign_plan(project).is_some() {
        standing.retain(|one| !one.decision.is_of_plan());
    }
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
