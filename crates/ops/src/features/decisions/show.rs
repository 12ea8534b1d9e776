//! `thru decisions list|show`: shows decisions and changes nothing.

use model::decision::{DecisionStanding, DecisionState};
use serde::Serialize;

use super::{all_decisions, find_decision};
use crate::features::{ProjectContext, swarm};
use crate::project::{Project, settings};
use crate::{Result, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionFilter {
    Current,
    /// Includes decisions that were superseded or withdrawn, or that have expired.
    All,
}

#[derive(Debug, Serialize)]
pub struct DecisionListing {
    pub decisions: Vec<DecisionStanding>,
    /// How many decisions are in force.
    pub current: usize,
    /// The decisions that are not in force in this project, because they belong to the plan of another swarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<SetAside>,
    /// How many decisions are no longer in force.
    pub over: usize,
    /// How many decisions are not listed, because only `most` were requested.
    pub more: usize,
    /// How many lines of the log cannot be read.
    pub torn: usize,
}

/// Decisions of the plan of a swarm that is not in use in this project.
#[derive(Debug, Serialize)]
pub struct SetAside {
    pub swarm: String,
    pub ids: Vec<String>,
}

/// Returns the newest decisions, at most `most`; all of them if `most` is 0.
pub fn list_decisions(world: &World, which: DecisionFilter, most: usize) -> Result<DecisionListing> {
    let project = Project::find_for_reading(world)?;
    let (lines, tally) = project.store.all_decisions()?;
    let mut decisions = model::decision::fold_decisions(lines, world.now);
    decisions.reverse();
    let total = decisions.len();
    let is_current = |one: &&DecisionStanding| one.state == DecisionState::Current;
    let of_plan = decisions.iter().filter(is_current).filter(|one| one.decision.is_of_plan());
    let set_aside = set_aside(world, &project, of_plan.map(|one| one.decision.id.clone()).collect());
    let current = decisions.iter().filter(is_current).count();
    if which == DecisionFilter::Current {
        decisions.retain(|one| one.state == DecisionState::Current);
    }
    let most = if most == 0 { usize::MAX } else { most };
    let more = decisions.len().saturating_sub(most);
    decisions.truncate(most);
    let over = total - current;
    let current = current - set_aside.as_ref().map_or(0, |aside| aside.ids.len());
    Ok(DecisionListing { decisions, current, set_aside, over, more, torn: tally.torn.len() })
}

/// Returns the plan's decisions as set aside if the plan belongs to a swarm that is not in use here.
fn set_aside(world: &World, project: &Project, ids: Vec<String>) -> Option<SetAside> {
    if ids.is_empty() {
        return None;
    }
    let settings = settings::settings_here(world).settings();
    let context = ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
    swarm::foreign_plan(&context).map(|swarm| SetAside { swarm, ids })
}

/// One decision, and the decisions that it replaced.
#[derive(Debug, Serialize)]
pub struct DecisionShown {
    #[serde(flatten)]
    pub standing: DecisionStanding,
    /// The decisions that this decision superseded, directly or indirectly, newest first.
    pub before: Vec<DecisionStanding>,
}

pub fn show_decision(world: &World, word: &str) -> Result<DecisionShown> {
    let project = Project::find_for_reading(world)?;
    let known = all_decisions(&project.store, world.now)?;
    let standing = find_decision(&known, word)?.clone();
    let mut before: Vec<DecisionStanding> = Vec::new();
    let mut at = standing.decision.id.clone();
    // Follow the chain one step at a time. If somebody wrote a cycle by hand, stop at the first decision that repeats.
    while let Some(earlier) = known.iter().find(|one| one.superseded_by == at)
        && !before.iter().any(|seen| seen.decision.id == earlier.decision.id)
        && earlier.decision.id != standing.decision.id
    {
        at.clone_from(&earlier.decision.id);
        before.push(earlier.clone());
    }
    Ok(DecisionShown { standing, before })
}
