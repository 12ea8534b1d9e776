//! Finds errors in a plan's structure: duplicate and unknown ids, and circular dependencies.

use std::collections::{BTreeMap, BTreeSet};

use super::index::TaskIndex;
use super::{Plan, Task, compare_ids_naturally};
use crate::id::Id;
use crate::render::one_line;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanProblem {
    DuplicateTask {
        id: String,
    },
    DuplicatePhase {
        id: u32,
    },
    /// An id that cannot be part of a file name.
    BadId {
        id: String,
        why: &'static str,
    },
    UnknownDependency {
        task: String,
        depends: String,
    },
    /// Tasks that depend on each other in a cycle, in cycle order, starting with the smallest id.
    Cycle {
        ids: Vec<String>,
    },
}

impl std::fmt::Display for PlanProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |id: &str| one_line(id, 64);
        match self {
            PlanProblem::DuplicateTask { id } => write!(f, "two tasks have the id {}", shown(id)),
            PlanProblem::DuplicatePhase { id } => write!(f, "two phases have the id {id}"),
            PlanProblem::BadId { id, why } => {
                write!(f, "the task id `{}` cannot be used: it {why}", shown(id))
            }
            PlanProblem::UnknownDependency { task, depends } => {
                write!(f, "{} depends on {}, which is not a task of this plan", shown(task), shown(depends))
            }
            PlanProblem::Cycle { ids } => {
                let ids: Vec<String> = ids.iter().map(|id| shown(id)).collect();
                let first = ids.first().cloned().unwrap_or_default();
                write!(f, "tasks depend on each other in a cycle: {} → {first}", ids.join(" → "))
            }
        }
    }
}

/// Returns all errors, in a fixed order.
pub fn find_plan_problems(plan: &Plan) -> Vec<PlanProblem> {
    let mut found = BTreeSet::new();
    let mut phases = BTreeSet::new();
    for phase in &plan.phases {
        if !phases.insert(phase.id) {
            found.insert(PlanProblem::DuplicatePhase { id: phase.id });
        }
    }
    let tasks: Vec<&Task> = plan.tasks().collect();
    let by_id = TaskIndex::of_plan(plan);
    for task in &tasks {
        if let Err(bad) = Id::check_id(&task.id) {
            found.insert(PlanProblem::BadId { id: task.id.clone(), why: bad.reason() });
        }
    }
    found.extend(by_id.repeated_ids().map(|id| PlanProblem::DuplicateTask { id: id.to_owned() }));
    let mut edges = DependencyEdges { edge_starts: vec![0], edge_targets: Vec::with_capacity(tasks.len()) };
    for task in &tasks {
        for depends in &task.depends {
            match by_id.find_task(depends) {
                Some(place) => edges.edge_targets.push(place.index_in_plan),
                None => {
                    found.insert(PlanProblem::UnknownDependency {
                        task: task.id.clone(),
                        depends: depends.clone(),
                    });
                }
            }
        }
        edges.edge_starts.push(edges.edge_targets.len());
    }
    found.extend(find_cycles(&tasks, &edges));
    found.into_iter().collect()
}

/// The dependencies of all tasks, by task number. Those of task `n` are `edge_targets[edge_starts[n]..edge_starts[n +
/// 1]]`.
struct DependencyEdges {
    edge_starts: Vec<usize>,
    edge_targets: Vec<usize>,
}

impl DependencyEdges {
    fn dependencies_of(&self, task: usize) -> &[usize] {
        &self.edge_targets[self.edge_starts[task]..self.edge_starts[task + 1]]
    }
}

/// Finds each cycle once. The function does not use recursion, because an imported plan may be a very long chain.
fn find_cycles(tasks: &[&Task], edges: &DependencyEdges) -> Vec<PlanProblem> {
    let mut seen = vec![VisitState::NotVisited; tasks.len()];
    let mut found: BTreeMap<Vec<String>, PlanProblem> = BTreeMap::new();
    for start in 0..tasks.len() {
        if seen[start] != VisitState::NotVisited {
            continue;
        }
        // The path from `start` to the current task. Each entry contains a task and the index of its next dependency to
        // visit.
        let mut path = vec![(start, 0)];
        seen[start] = VisitState::OnPath;
        while let Some((at, next)) = path.last_mut() {
            let Some(&to) = edges.dependencies_of(*at).get(*next) else {
                seen[*at] = VisitState::Visited;
                path.pop();
                continue;
            };
            *next += 1;
            match seen[to] {
                VisitState::NotVisited => {
                    seen[to] = VisitState::OnPath;
                    path.push((to, 0));
                }
                VisitState::OnPath => {
                    let from = path.iter().position(|(at, _)| *at == to).unwrap_or(0);
                    let ids = path[from..].iter().map(|(at, _)| tasks[*at].id.clone()).collect();
                    let ids = rotate_smallest_first(ids);
                    found.insert(ids.clone(), PlanProblem::Cycle { ids });
                }
                VisitState::Visited => {}
            }
        }
    }
    found.into_values().collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    NotVisited,
    OnPath,
    Visited,
}

fn rotate_smallest_first(mut ids: Vec<String>) -> Vec<String> {
    let smallest = (0..ids.len()).min_by(|a, b| compare_ids_naturally(&ids[*a], &ids[*b])).unwrap_or(0);
    ids.rotate_left(smallest);
    ids
}
