//! The decisions in force, newest first, for briefs and packets.

use jiff::Timestamp;
use model::brief::{BriefSection, Candidate};
use model::decision::{Decision, DecisionKind, DecisionState};
use model::render::inline_for_model;
use model::score::ScoreSignal;
use model::text::count_with_noun;
use model::time;

use super::DecisionsInForce;
use crate::Result;
use crate::features::{BriefContext, ProjectContext, swarm};

const DECISIONS_BRIEF_SECTION: BriefSection = BriefSection {
    section_position: 10,
    rank_step_per_form: 30,
    name: "decisions",
    title: "Decisions in force (newest first)",
    signal: ScoreSignal::DecisionRecency,
};
pub const BRIEF_SECTION_NAMES: &[&str] = &[DECISIONS_BRIEF_SECTION.name];

/// How many decisions a brief lists. The others are only counted.
const MAX_DECISIONS_NAMED: usize = 8;
/// How many patterns a brief lists. The others are only counted.
const MAX_PATTERNS_NAMED: usize = 4;

/// How many decisions become candidates when scoring is enabled. The limit for patterns is the same.
const MAX_DECISIONS_SCORED: usize = 40;

/// How many decisions a packet lists. A packet has more room than a brief.
const MAX_DECISIONS_IN_PACKET: usize = 30;
/// The length to which a packet shortens the text of each decision.
const MAX_PACKET_TEXT_CHARS: usize = 300;

pub fn brief_candidates(context: &BriefContext) -> Result<Vec<Candidate>> {
    let now = context.project.world.now;
    let (named, patterns) = match context.project.settings.brief_scoring_enabled {
        true => (MAX_DECISIONS_SCORED, MAX_DECISIONS_SCORED),
        false => (MAX_DECISIONS_NAMED, MAX_PATTERNS_NAMED),
    };
    let DecisionsInForce { decisions: found, is_complete, of_other_swarm } =
        super::decisions_in_force(&context.project, named)?;
    let of = |kind: DecisionKind, most: usize| found.iter().filter(move |one| one.kind == kind).take(most);
    let told: Vec<&Decision> =
        of(DecisionKind::Decision, named).chain(of(DecisionKind::Pattern, patterns)).collect();
    let mut all: Vec<Candidate> = told
        .iter()
        .map(|decision| {
            let mut candidate = Candidate::new(
                &DECISIONS_BRIEF_SECTION,
                format!("decision:{}", decision.id),
                decision.describe_for_model(160),
            );
            candidate.forms.push(decision.describe_for_model(500));
            candidate.forms.dedup();
            candidate.strings_stating_fact =
                vec![decision.user_answer().unwrap_or(&decision.text).to_owned()];
            candidate.signals.age_hours = decision_age_hours(decision, now);
            candidate.with_signal(ScoreSignal::DecisionRecency, 1.0)
        })
        .collect();
    let more = found.len() - told.len();
    if more > 0 {
        let or_more = if is_complete { "" } else { " or more" };
        let text = format!("{more} older{or_more}: `thru decisions list`");
        let mut older = Candidate::new(&DECISIONS_BRIEF_SECTION, "decisions:older", text)
            .with_signal(ScoreSignal::DecisionRecency, 1.0);
        // Decisions that are not listed are older than the last listed decision, so each of them gets at least that
        // decision's age.
        older.signals.age_hours = told.last().and_then(|decision| decision_age_hours(decision, now));
        all.push(older);
    }
    if let Some((decisions, other)) = of_other_swarm {
        let text = describe_decisions_of_other_swarm(decisions, &other);
        all.push(
            Candidate::new(&DECISIONS_BRIEF_SECTION, "decisions:set-aside", text)
                .with_signal(ScoreSignal::DecisionRecency, 1.0),
        );
    }
    Ok(all)
}

fn describe_decisions_of_other_swarm(decisions: usize, other: &str) -> String {
    format!(
        "{} set aside and not in force here, because the plan belongs to the swarm {}; `thru decisions list` lists them",
        count_with_noun(decisions, "decision"),
        inline_for_model(other, 64)
    )
}

fn decision_age_hours(decision: &Decision, now: Timestamp) -> Option<f64> {
    let age = now.duration_since(time::parse_time(&decision.ts)?);
    Some(age.as_secs_f64().max(0.0) / 3_600.0)
}

pub fn facts_for_summary(project: &ProjectContext) -> Result<Vec<String>> {
    let found = super::decisions_in_force(project, MAX_DECISIONS_NAMED)?.decisions;
    Ok(found
        .iter()
        .take(MAX_DECISIONS_NAMED)
        .map(|decision| format!("decided: {}", decision.describe_for_model(160)))
        .collect())
}

pub(crate) fn decisions_for_packet(project: &ProjectContext) -> Result<Vec<String>> {
    let DecisionsInForce { decisions: found, is_complete, of_other_swarm } =
        super::decisions_in_force(project, MAX_DECISIONS_IN_PACKET)?;
    let mut lines: Vec<String> = found
        .iter()
        .take(MAX_DECISIONS_IN_PACKET)
        .map(|decision| decision.describe_for_model(MAX_PACKET_TEXT_CHARS))
        .collect();
    if let Some(more) = found.len().checked_sub(MAX_DECISIONS_IN_PACKET).filter(|more| *more > 0) {
        let or_more = if is_complete { "" } else { " at least" };
        lines.push(format!("and{or_more} {}: `thru decisions list`", count_with_noun(more, "older one")));
    }
    lines.extend(
        of_other_swarm.map(|(decisions, other)| describe_decisions_of_other_swarm(decisions, &other)),
    );
    Ok(lines)
}

/// Returns two lists for a pickup, both newest first: the decisions in force that were made after the packet was
/// written, and the decisions named in the packet that are no longer in force.
pub(crate) fn decisions_since_packet(
    project: &ProjectContext,
    created_at: &str,
    recorded: &str,
) -> Result<(Vec<String>, Vec<String>)> {
    let mut standing = super::all_decisions(project.store, project.world.now)?;
    if swarm::foreign_swarm_of_current_plan(project).is_some() {
        standing.retain(|one| !one.decision.belongs_to_plan());
    }
    let created = time::parse_time(created_at);
    let (mut decided, mut overruled) = (Vec::new(), Vec::new());
    for one in standing.iter().rev() {
        let words = one.decision.describe_for_model(MAX_PACKET_TEXT_CHARS);
        let is_told =
            recorded.lines().any(|line| line.trim_start_matches(['-', '*', ' ']).trim_end() == words);
        let is_later = created.zip(time::parse_time(&one.decision.ts)).is_some_and(|(then, ts)| ts >= then);
        match one.state {
            DecisionState::Current if is_later && !is_told => decided.push(words),
            DecisionState::Current => {}
            DecisionState::Superseded | DecisionState::Withdrawn | DecisionState::Expired if is_told => {
                overruled.push(words);
            }
            DecisionState::Superseded | DecisionState::Withdrawn | DecisionState::Expired => {}
        }
    }
    Ok((decided, overruled))
}
