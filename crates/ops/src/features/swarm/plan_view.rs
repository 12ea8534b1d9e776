//! `thru swarm plan`: shows the plan with the verdicts on its tasks, and which swarm it belongs to.

use std::collections::BTreeMap;

use model::evidence::{Entry, Kind};
use model::id::Id;
use model::swarm::Part;
use serde::Serialize;

use super::in_use;
use crate::features::plan::show::{self as plan_show, Shown};
use crate::features::plan::{self, Author, Begin};
use crate::project::{Project, settings};
use crate::setup::agents::wanted_swarm;
use crate::{Result, World};

/// The plan, as a swarm sees it.
#[derive(Debug)]
pub struct SwarmPlan {
    pub plan: Shown,
    /// The swarm that the plan belongs to, if that swarm is not in use here.
    pub foreign: Option<String>,
    /// Verdicts by task. Tasks that nobody judged are not in it.
    pub verdicts: BTreeMap<String, TaskVerdicts>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskVerdicts {
    /// Oldest first.
    pub entries: Vec<Entry>,
}

impl TaskVerdicts {
    /// Returns the verdicts of each agent, such as `reviewer: rejected, approved`, in the order of their first
    /// verdicts.
    pub fn lines(&self) -> Vec<(String, Vec<String>)> {
        let mut lines: Vec<(String, Vec<String>)> = Vec::new();
        for entry in &self.entries {
            let text = |key: &str| entry.metadata.get(key).and_then(|value| value.as_str());
            let word = text("ruling").map_or_else(|| "unreadable".to_owned(), str::to_owned);
            match lines.iter_mut().find(|(agent, _)| *agent == entry.agent) {
                Some((_, words)) => words.push(word),
                None => lines.push((entry.agent.clone(), vec![word])),
            }
        }
        lines
    }
}

pub fn show(world: &World) -> Result<SwarmPlan> {
    let project = Project::find(world)?;
    let plan = plan_show::show(world)?;
    let ours = in_use(world, &project.root.checkout, &settings::here(world).settings());
    let foreign = model::swarm::foreign(&plan.loaded.plan, &ours).map(str::to_owned);
    let mut verdicts = BTreeMap::new();
    for task in plan.loaded.plan.tasks() {
        let Ok(id) = Id::new(&task.id) else { continue };
        // Evidence that cannot be read is shown with the plan.
        let Ok(Some(bundle)) = project.store.evidence(&id) else { continue };
        let entries: Vec<Entry> = bundle.entries.into_iter().filter(is_verdict).collect();
        if !entries.is_empty() {
            verdicts.insert(task.id.clone(), TaskVerdicts { entries });
        }
    }
    Ok(SwarmPlan { plan, foreign, verdicts })
}

/// Returns whether the entry is a verdict that an agent of a swarm gave when it stopped.
fn is_verdict(entry: &Entry) -> bool {
    let is_of_part = entry.metadata.get("part").and_then(|part| part.as_str()).and_then(Part::of).is_some();
    entry.kind() == Kind::Claimed && is_of_part
}

/// The result of `--adopt`.
#[derive(Clone, Debug, Serialize)]
pub struct Adopted {
    pub swarm: String,
    pub before: String,
    pub changed: bool,
    pub notes: Vec<String>,
}

/// Assigns the plan to this swarm. Only a command does that, never a hook.
pub fn adopt(world: &World, named: Option<&str>) -> Result<Adopted> {
    let swarm = wanted_swarm(world, named)?;
    let project = Project::find(world)?;
    let author = Author::here(world, None)?;
    let mut before = String::new();
    let entry = plan::Entry { what: "swarm_changed", ..plan::Entry::default() };
    let changed = plan::change(&project.store, &author, entry, (Begin::Never, plan::WAIT), |known| {
        before.clone_from(&known.swarm);
        let mut after = known.clone();
        swarm.as_str().clone_into(&mut after.swarm);
        Ok((after, plan::Entry { why: format!("was {before}"), ..plan::Entry::default() }))
    })?;
    Ok(Adopted { swarm: swarm.to_string(), before, changed: changed.changed, notes: changed.notes })
}
