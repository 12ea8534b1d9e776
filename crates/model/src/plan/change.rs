//! A change to a plan, as data for the ledger. Each change contains a whole task, or all fields of a phase or of the
//! plan. Applying a change therefore requires no rules that a later version might change.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Phase, Plan, Task};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanChange {
    /// The whole plan, written when the plan is created, imported or edited by hand.
    Plan(Box<Plan>),
    /// All fields of the plan except its phases.
    #[serde(rename = "head")]
    PlanFields(Box<Plan>),
    /// All fields of a phase except its tasks. A new phase is added at the end.
    Phase(Box<Phase>),
    /// A whole task. Its `phase` field determines its phase. A new task is added at the end of the phase.
    Task(Box<Task>),
}

/// Returns the changes that turn `before` into `after`. If tasks or phases were removed or moved, the only change is
/// the whole plan.
pub fn changes_between_plans(before: &Plan, after: &Plan) -> Vec<PlanChange> {
    let mut changes = Vec::new();
    if plan_without_phases(before) != plan_without_phases(after) {
        changes.push(PlanChange::PlanFields(Box::new(plan_without_phases(after))));
    }
    for phase in &after.phases {
        let known = before.phase(phase.id);
        if known.map(phase_without_tasks) != Some(phase_without_tasks(phase)) {
            changes.push(PlanChange::Phase(Box::new(phase_without_tasks(phase))));
        }
        for (i, task) in phase.tasks.iter().enumerate() {
            // Most tasks are at the same position in both plans, so look there first.
            let same_place = known.and_then(|known| known.tasks.get(i)).filter(|known| known.id == task.id);
            let anywhere = || known?.tasks.iter().find(|known| known.id == task.id);
            if same_place.or_else(anywhere) != Some(task) {
                changes.push(PlanChange::Task(Box::new(task.clone())));
            }
        }
    }
    match apply_changes(before.clone(), &changes) == *after {
        true => changes,
        false => vec![PlanChange::Plan(Box::new(after.clone()))],
    }
}

pub fn apply_changes(mut plan: Plan, changes: &[PlanChange]) -> Plan {
    for change in changes {
        match change {
            PlanChange::Plan(whole) => plan = Plan::clone(whole),
            PlanChange::PlanFields(head) => plan = Plan { phases: plan.phases, ..Plan::clone(head) },
            PlanChange::Phase(phase) => match plan.phase_mut(phase.id) {
                Some(known) => {
                    let tasks = std::mem::take(&mut known.tasks);
                    *known = Phase { tasks, ..Phase::clone(phase) };
                }
                None => plan.phases.push(phase_without_tasks(phase)),
            },
            PlanChange::Task(task) => {
                let Some(phase) = plan.phase_mut(task.phase) else { continue };
                match phase.tasks.iter_mut().find(|known| known.id == task.id) {
                    Some(known) => *known = Task::clone(task),
                    None => phase.tasks.push(Task::clone(task)),
                }
            }
        }
    }
    plan
}

fn plan_without_phases(plan: &Plan) -> Plan {
    let Plan { schema_version, title, swarm, current_phase, migration_status, rest, .. } = plan;
    Plan {
        schema_version: schema_version.clone(),
        title: title.clone(),
        swarm: swarm.clone(),
        current_phase: *current_phase,
        phases: Vec::new(),
        migration_status: migration_status.clone(),
        rest: rest.clone(),
    }
}

fn phase_without_tasks(phase: &Phase) -> Phase {
    let rest: Map<String, Value> = phase.rest.clone();
    Phase { id: phase.id, name: phase.name.clone(), status: phase.status, tasks: Vec::new(), rest }
}
