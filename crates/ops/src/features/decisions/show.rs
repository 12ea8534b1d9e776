//! `thru decisions list|show`: shows decisions and changes nothing.

use model::decision::{DecisionStanding, DecisionState};
use serde::Serialize;

use super::{all_decisions, find_decision};
use crate::project::Project;
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
    /// How many decisions are no longer in force.
    pub over: usize,
    /// How many decisions are not listed, because only `most` were requested.
    pub more: usize,
    /// How many lines of the log cannot be read.
    pub torn: usize,
}

/// Returns the newest decisions, at most `most`; all of them if `most` is 0.
pub fn list_decisions(world: &World, which: DecisionFilter, most: usize) -> Result<DecisionListing> {
    let project = Project::find_for_reading(world)?;
    let (lines, tally) = project.store.all_decisions()?;
    let mut decisions = model::decision::fold_decisions(lines, world.now);
    decisions.reverse();
    let total = decisions.len();
    let current = decisions.iter().filter(|one| one.state == DecisionState::Current).count();
    if which == DecisionFilter::Current {
        decisions.retain(|one| one.state == DecisionState::Current);
    }
    let most = if most == 0 { usize::MAX } else { most };
    let more = decisions.len().saturating_sub(most);
    decisions.truncate(most);
    Ok(DecisionListing { decisions, current, over: total - current, more, torn: tally.torn.len() })
}

/// One decision, and the decisions before and after it.
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
