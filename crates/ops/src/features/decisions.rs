//! Decisions: what was decided, and why. Commands and the user's answers append lines to `decisions.jsonl`. Whether a
//! decision is in force is computed when the log is read.

mod answers;
mod brief;
pub mod import;
pub mod record;
mod report;
pub mod show;
pub mod suggest;
mod view;

use jiff::Timestamp;
use model::decision::{self, Decision, DecisionStanding, DecisionState};
use model::digest::Digest;
use model::event::{EventName, EventSet};
use store::{AnswersFingerprint, Store};

use crate::features::{Feature, ProjectContext, swarm};
use crate::{Error, Result};
pub(crate) use brief::{decisions_for_packet, decisions_since_packet};

pub const FEATURE_ROW: Feature = Feature {
    name: "decisions",
    wanted_events: EventSet::from_names(&[EventName::ToolDone]),
    decide: answers::decide,
    update_at_checkpoint: answers::update_at_checkpoint,
    brief_candidates: brief::brief_candidates,
    brief_sections: brief::BRIEF_SECTION_NAMES,
    facts_for_summary: brief::facts_for_summary,
    continue_under_new_id: |context, previous| {
        Ok(context
            .project
            .store
            .session_state(context.session)
            .inherit_from_session::<AnswersFingerprint>(previous)?)
    },
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

/// How many bytes a hook reads from the end of the log in each attempt. The first attempt covers about 100 decisions.
/// The hook makes another attempt only if it has found too few decisions that are in force.
const LOG_TAIL_BYTES: [u64; 3] = [24 * 1024, 64 * 1024, MAX_LOG_TAIL_BYTES];

/// The maximum number of bytes that a hook reads from the end of the log: about 4,000 decisions.
const MAX_LOG_TAIL_BYTES: u64 = 1024 * 1024;

/// The maximum number of bytes that a search for an answer reads from the end of the log: about 30,000 decisions.
const MAX_LOG_BYTES_SEARCHED: u64 = 8 * 1024 * 1024;

/// Decisions in force, newest first.
#[derive(Debug, Default)]
pub(crate) struct DecisionsInForce {
    pub decisions: Vec<Decision>,
    /// Whether the list includes every decision in force, because the whole log was read.
    pub is_complete: bool,
    /// How many decisions were left out because they belong to another swarm's plan, and the name of that swarm.
    pub of_other_swarm: Option<(usize, String)>,
}

/// Returns the decisions in force. Reads further and further back in the log until it has found `most` decisions or
/// reaches the limit for hooks.
pub(crate) fn decisions_in_force(project: &ProjectContext, most: usize) -> Result<DecisionsInForce> {
    let mut found = DecisionsInForce { is_complete: true, ..DecisionsInForce::default() };
    for window in LOG_TAIL_BYTES {
        let (lines, is_complete) = project.store.newest_decisions(window)?;
        let standing = decision::fold_decisions(lines, project.world.now).into_iter().rev();
        let current = standing.filter(|one| one.state == DecisionState::Current).map(|one| one.decision);
        found = DecisionsInForce { decisions: current.collect(), is_complete, of_other_swarm: None };
        if is_complete || found.decisions.len() >= most {
            break;
        }
    }
    if found.decisions.iter().any(Decision::belongs_to_plan)
        && let Some(other) = swarm::foreign_swarm_of_current_plan(project)
    {
        let before = found.decisions.len();
        found.decisions.retain(|decision| !decision.belongs_to_plan());
        found.of_other_swarm = Some((before - found.decisions.len(), other));
    }
    Ok(found)
}

/// Returns the newest few thousand decisions, oldest first, and whether these are all the decisions in the log. A
/// hook never reads further back.
pub(crate) fn recent_decisions(store: &Store, now: Timestamp) -> Result<(Vec<DecisionStanding>, bool)> {
    let (lines, is_all) = store.newest_decisions(MAX_LOG_TAIL_BYTES)?;
    Ok((decision::fold_decisions(lines, now), is_all))
}

pub(crate) fn all_decisions(store: &Store, now: Timestamp) -> Result<Vec<DecisionStanding>> {
    Ok(decision::fold_decisions(store.all_decisions()?.0, now))
}

/// Removes from a digest every answer that is already recorded as a decision, even if that decision is no longer in
/// force.
pub(crate) fn remove_recorded_answers(store: &Store, digest: &mut Digest) -> Result<()> {
    if digest.answers.is_empty() {
        return Ok(());
    }
    // A session's answers are usually among the newest decisions. If a long session made many decisions after them, a
    // second search reads more of the log.
    let mut left: Vec<String> = digest.answers.iter().map(decision::decision_id_of_answer).collect();
    for window in [LOG_TAIL_BYTES[1], MAX_LOG_BYTES_SEARCHED] {
        let is_all;
        (left, is_all) = store.ids_of_unrecorded_decisions(left, window)?;
        if left.is_empty() || is_all {
            break;
        }
    }
    digest.answers.retain(|answer| left.contains(&decision::decision_id_of_answer(answer)));
    Ok(())
}

/// Returns the decision whose id is `word`, or else the only decision whose id begins with `word`.
fn find_decision<'a>(all: &'a [DecisionStanding], word: &str) -> Result<&'a DecisionStanding> {
    let bare = word.strip_prefix("d-").unwrap_or(word);
    let id =
        |one: &&DecisionStanding| one.decision.id.strip_prefix("d-").is_some_and(|id| id.starts_with(bare));
    let exact = all.iter().find(|one| one.decision.id == word);
    let found: Vec<&DecisionStanding> =
        if bare.is_empty() { Vec::new() } else { all.iter().filter(id).collect() };
    match (exact, found.as_slice()) {
        (Some(one), _) => Ok(one),
        (None, [one]) => Ok(*one),
        (None, []) => Err(Error::Absent {
            what: format!("there is no decision {}", to_one_line(word)),
            hint: "`thru decisions list --all` lists all decisions".into(),
        }),
        (None, several) => Err(Error::Usage {
            what: format!("{} decisions have ids that begin with {}", several.len(), to_one_line(word)),
            hint: format!(
                "type more of the id: {}",
                several.iter().take(5).map(|one| one.decision.id.as_str()).collect::<Vec<_>>().join(", ")
            ),
        }),
    }
}

fn to_one_line(text: &str) -> String {
    model::render::one_line(text, 120)
}
