//! `thru decisions list|show`: shows decisions and changes nothing.

use model::decision::{Standing, State};
use serde::Serialize;

use super::{all, find};
use crate::project::Project;
use crate::{Result, World};

/// Which decisions are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Current,
    /// The decisions in force, and also superseded, withdrawn and expired decisions.
    All,
}

#[derive(Debug, Serialize)]
pub struct Listing {
    /// The decisions, newest first.
    pub decisions: Vec<Standing>,
    /// How many decisions are in force.
    pub current: usize,
    /// How many decisions are no longer in force.
    pub over: usize,
    /// How many decisions are not listed, because only `most` were requested.
    pub more: usize,
    /// The number of lines that cannot be read.
    pub torn: usize,
}

/// Returns the newest decisions, at most `most`; all of them if `most` is 0.
pub fn list(world: &World, which: Which, most: usize) -> Result<Listing> {
    let project = Project::find(world)?;
    let (lines, tally) = project.store.decisions()?;
    let mut decisions = model::decision::fold(lines, world.now);
    decisions.reverse();
    let total = decisions.len();
    let current = decisions.iter().filter(|one| one.state == State::Current).count();
    if which == Which::Current {
        decisions.retain(|one| one.state == State::Current);
    }
    let most = if most == 0 { usize::MAX } else { most };
    let more = decisions.len().saturating_sub(most);
    decisions.truncate(most);
    Ok(Listing { decisions, current, over: total - current, more, torn: tally.torn.len() })
}

/// One decision, and the decisions before and after it.
#[derive(Debug, Serialize)]
pub struct Shown {
    #[serde(flatten)]
    pub standing: Standing,
    /// The decisions that this decision superseded, directly or indirectly, newest first.
    pub before: Vec<Standing>,
}

pub fn show(world: &World, word: &str) -> Result<Shown> {
    let project = Project::find(world)?;
    let known = all(&project.store, world.now)?;
    let standing = find(&known, word)?.clone();
    let mut before: Vec<Standing> = Vec::new();
    let mut at = standing.decision.id.clone();
    // Follow the chain one step at a time. If somebody wrote a cycle by hand, stop where it began.
    while let Some(earlier) = known.iter().find(|one| one.superseded_by == at)
        && !before.iter().any(|seen| seen.decision.id == earlier.decision.id)
        && earlier.decision.id != standing.decision.id
    {
        at.clone_from(&earlier.decision.id);
        before.push(earlier.clone());
    }
    Ok(Shown { standing, before })
}
