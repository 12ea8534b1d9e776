//! `thru decisions list|show`: print decisions and change nothing.

use model::decision::{DecisionStanding, DecisionState};
use serde::Serialize;

use super::{all_decisions, find_decision};
use crate::features::{ProjectContext, swarm};
use crate::project::{Project, settings};
use crate::{Result, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionFilter {
    Current,
    /// Also list decisions that were superseded or withdrawn, or that have expired.
    All,
}

#[derive(Debug, Serialize)]
pub struct DecisionListing {
    pub decisions: Vec<DecisionStanding>,
    #[serde(rename = "current")]
    pub in_force_count: usize,
    /// The decisions that are not in force in this project because they belong to another swarm's plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "set_aside")]
    pub of_other_swarm: Option<OtherSwarmDecisions>,
    /// How many decisions were once in force but no longer are.
    pub ended_count: usize,
    /// How many decisions were left out because only `most` were requested.
    #[serde(rename = "more")]
    pub not_listed: usize,
    pub unreadable_lines: usize,
}

/// The decisions that belong to the plan of a swarm that is not in use in this project.
#[derive(Debug, Serialize)]
pub struct OtherSwarmDecisions {
    pub swarm: String,
    pub ids: Vec<String>,
}

/// Returns the newest `most` decisions, or all of them if `most` is 0.
pub fn list_decisions(world: &World, which: DecisionFilter, most: usize) -> Result<DecisionListing> {
    let project = Project::find_for_reading(world)?;
    let (lines, tally) = project.store.all_decisions()?;
    let mut decisions = model::decision::fold_decisions(lines, world.now);
    decisions.reverse();
    let total = decisions.len();
    let is_current = |one: &&DecisionStanding| one.state == DecisionState::Current;
    let of_plan = decisions.iter().filter(is_current).filter(|one| one.decision.belongs_to_plan());
    let of_other_swarm =
        decisions_of_other_swarm(world, &project, of_plan.map(|one| one.decision.id.clone()).collect());
    let current = decisions.iter().filter(is_current).count();
    if which == DecisionFilter::Current {
        decisions.retain(|one| one.state == DecisionState::Current);
    }
    let most = if most == 0 { usize::MAX } else { most };
    let not_listed = decisions.len().saturating_sub(most);
    decisions.truncate(most);
    let ended_count = total - current;
    let current = current - of_other_swarm.as_ref().map_or(0, |aside| aside.ids.len());
    Ok(DecisionListing {
        decisions,
        in_force_count: current,
        of_other_swarm,
        ended_count,
        not_listed,
        unreadable_lines: tally.invalid_lines.len(),
    })
}

/// Returns the decisions with these ids if they belong to the plan of a swarm that is not in use in this project.
fn decisions_of_other_swarm(
    world: &World,
    project: &Project,
    ids: Vec<String>,
) -> Option<OtherSwarmDecisions> {
    if ids.is_empty() {
        return None;
    }
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    swarm::foreign_swarm_of_current_plan(&context).map(|swarm| OtherSwarmDecisions { swarm, ids })
}

/// One decision, and the decisions that it superseded.
#[derive(Debug, Serialize)]
pub struct DecisionShown {
    #[serde(flatten)]
    pub standing: DecisionStanding,
    /// The decisions that this decision superseded, directly or indirectly, newest first.
    #[serde(rename = "before")]
    pub superseded_decisions: Vec<DecisionStanding>,
}

pub fn show_decision(world: &World, word: &str) -> Result<DecisionShown> {
    let project = Project::find_for_reading(world)?;
    let known = all_decisions(&project.store, world.now)?;
    let standing = find_decision(&known, word)?.clone();
    let mut superseded_decisions: Vec<DecisionStanding> = Vec::new();
    let mut at = standing.decision.id.clone();
    // Follow the chain one step at a time. If somebody wrote a cycle by hand, stop at the first decision that occurs
    // again.
    while let Some(earlier) = known.iter().find(|one| one.superseded_by == at)
        && !superseded_decisions.iter().any(|seen| seen.decision.id == earlier.decision.id)
        && earlier.decision.id != standing.decision.id
    {
        at.clone_from(&earlier.decision.id);
        superseded_decisions.push(earlier.clone());
    }
    Ok(DecisionShown { standing, superseded_decisions })
}
