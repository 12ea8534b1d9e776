//! `thru swarm plan`: shows the plan with the verdicts on its tasks, and the swarm that it belongs to.

use std::collections::BTreeMap;

use model::evidence::{EvidenceEntry, EvidenceOrigin};
use model::id::Id;
use model::swarm::SwarmRole;
use serde::Serialize;

use super::swarms_in_use;
use crate::features::plan::show::{self as plan_show, PlanShown};
use crate::features::plan::{self, MissingPlanPolicy, PlanAuthor};
use crate::project::{Project, settings};
use crate::setup::agents::wanted_swarm;
use crate::{Result, World};

#[derive(Debug)]
pub struct SwarmPlan {
    pub plan: PlanShown,
    /// The swarm that the plan belongs to, if that swarm is not in use in this project.
    pub foreign_swarm: Option<String>,
    /// The verdicts on each task that has any, by task id.
    pub verdicts: BTreeMap<String, TaskVerdicts>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskVerdicts {
    /// The verdicts, oldest first.
    pub entries: Vec<EvidenceEntry>,
}

impl TaskVerdicts {
    /// Returns each agent with its verdicts, such as `reviewer: rejected, approved`. The agents are sorted by the
    /// time of their first verdict.
    pub fn verdict_lines(&self) -> Vec<(String, Vec<String>)> {
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

pub fn show_swarm_plan(world: &World) -> Result<SwarmPlan> {
    let project = Project::find_for_reading(world)?;
    let plan = plan_show::show_plan(world)?;
    let ours = swarms_in_use(world, &project.root.checkout, &settings::settings_here(world).settings());
    let foreign = model::swarm::foreign_swarm(&plan.loaded.plan, &ours).map(str::to_owned);
    let mut verdicts = BTreeMap::new();
    for task in plan.loaded.plan.tasks() {
        let Ok(id) = Id::new(&task.id) else { continue };
        // Skip evidence that cannot be read. The evidence lines in `plan` already report the error.
        let Ok(Some(bundle)) = project.store.read_evidence(&id) else { continue };
        let entries: Vec<EvidenceEntry> = bundle.entries.into_iter().filter(is_agent_verdict).collect();
        if !entries.is_empty() {
            verdicts.insert(task.id.clone(), TaskVerdicts { entries });
        }
    }
    Ok(SwarmPlan { plan, foreign_swarm: foreign, verdicts })
}

/// Returns whether the entry is a verdict that a swarm's agent gave when it stopped.
fn is_agent_verdict(entry: &EvidenceEntry) -> bool {
    let is_of_part = entry
        .metadata
        .get("part")
        .and_then(|part| part.as_str())
        .and_then(SwarmRole::from_agent_type)
        .is_some();
    entry.kind() == EvidenceOrigin::Claimed && is_of_part
}

#[derive(Clone, Debug, Serialize)]
pub struct AdoptedPlan {
    pub swarm: String,
    #[serde(rename = "before")]
    pub previous_swarm: String,
    pub changed: bool,
    pub notes: Vec<String>,
}

/// Assigns the plan to this project's swarm. Only the user's command does this, never a hook.
pub fn adopt_plan(world: &World, named: Option<&str>) -> Result<AdoptedPlan> {
    let swarm = wanted_swarm(world, named)?;
    let project = Project::find_for_reading(world)?;
    let author = PlanAuthor::current_author(world, None)?;
    let mut previous_swarm = String::new();
    let entry = plan::LedgerNote { change_kind: "swarm_changed", ..plan::LedgerNote::default() };
    let changed = plan::change_plan(
        &project.store,
        &author,
        entry,
        (MissingPlanPolicy::IsError, plan::MAX_PLAN_LOCK_WAIT),
        |known| {
            previous_swarm.clone_from(&known.swarm);
            let mut after = known.clone();
            swarm.as_str().clone_into(&mut after.swarm);
            Ok((
                after,
                plan::LedgerNote { why: format!("was {previous_swarm}"), ..plan::LedgerNote::default() },
            ))
        },
    )?;
    Ok(AdoptedPlan {
        swarm: swarm.to_string(),
        previous_swarm,
        changed: changed.changed,
        notes: changed.notes,
    })
}
