//! Determines which swarms are in use in this project, and whether a plan belongs to another swarm.

mod plan_view;

use harness::HARNESSES;
use model::config::Settings;
use model::plan::{Plan, PlanOwner};
use model::swarm::{self, DEFAULT_SWARM_NAME, SwarmId};

use crate::World;
use crate::features::ProjectContext;
use crate::setup::agents;

pub use plan_view::{AdoptedPlan, SwarmPlan, TaskVerdicts, adopt_plan, show_swarm_plan};

/// Returns the swarm that a plan belongs to, if that swarm is not in use in this project. Briefs mention such a plan,
/// but nobody here works on its tasks.
pub fn foreign_swarm_of_plan(project: &ProjectContext, plan: &Plan) -> Option<String> {
    // Check this first, because it is cheap and true for nearly every plan.
    if is_own_plan(project, &plan.swarm, plan.is_migrated()) {
        return None;
    }
    let ours = swarms_in_use(project.world, &project.root.checkout, project.settings);
    swarm::foreign_swarm(plan, &ours).map(str::to_owned)
}

/// Returns whether a plan of this swarm belongs to this project, regardless of which agents are installed.
fn is_own_plan(project: &ProjectContext, swarm: &str, is_migrated: bool) -> bool {
    let name = swarm.trim();
    name.is_empty() && !is_migrated || name == DEFAULT_SWARM_NAME || name == project.settings.swarm_id.trim()
}

/// Returns whether a swarm is the default swarm, the swarm that the settings name, or a swarm whose agents are
/// installed.
pub fn is_swarm_in_use(project: &ProjectContext, swarm: &SwarmId) -> bool {
    swarm.as_str() == DEFAULT_SWARM_NAME
        || swarm.as_str() == project.settings.swarm_id.trim()
        || swarms_in_use(project.world, &project.root.checkout, project.settings).contains(swarm)
}

/// Returns the swarm that the current plan belongs to, if that swarm is not in use in this project. Returns `None` if
/// the plan cannot be read.
pub fn foreign_swarm_of_current_plan(project: &ProjectContext) -> Option<String> {
    let bytes = project.store.read_plan_bytes().ok()??;
    // Parsing a large plan is slow and rarely needed here, because nearly every plan belongs to this project. So read
    // only the plan's owner first.
    if PlanOwner::read(&bytes).is_some_and(|owner| is_own_plan(project, &owner.swarm, owner.is_migrated())) {
        return None;
    }
    let loaded = crate::features::plan::load_plan(project.store).ok()??;
    foreign_swarm_of_plan(project, &loaded.plan)
}

/// Returns the swarm that the settings name, unless it is the default swarm, and all swarms whose agents are
/// installed.
pub fn swarms_in_use(world: &World, checkout: &std::path::Path, settings: &Settings) -> Vec<SwarmId> {
    let named =
        SwarmId::new(settings.swarm_id.trim()).ok().filter(|swarm| swarm.as_str() != DEFAULT_SWARM_NAME);
    let with_agents = HARNESSES.iter().filter(|harness| harness.agents.is_some());
    let installed = with_agents.flat_map(|harness| agents::installed_swarms(world, harness, checkout));
    let mut all: Vec<SwarmId> = named.into_iter().chain(installed).collect();
    all.sort();
    all.dedup();
    all
}

pub fn describe_foreign_plan(other: &str, plan: &Plan) -> String {
    format!(
        "“{}” belongs to the swarm {}, which is not in use here: do not continue it, and do not rely on what was learned for it. \
         `thru swarm plan` shows it; `thru swarm plan --adopt` assigns it to this swarm",
        model::render::inline_for_model(&plan.title, 100).replace(['“', '”'], "\""),
        model::render::inline_for_model(other, 64),
    )
}
