//! The parts of a plan's state that are computed and never stored: the current phase and task, the ready tasks, and the
//! open dependencies.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde::Serialize;

use super::index::TaskIndex;
use super::{Phase, PhaseStatus, Plan, Task, TaskStatus};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskProgress {
    pub done: usize,
    pub total: usize,
}

impl TaskProgress {
    pub fn count_tasks<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> TaskProgress {
        tasks.into_iter().fold(TaskProgress::default(), |progress, task| TaskProgress {
            done: progress.done + usize::from(task.status.is_over()),
            total: progress.total + 1,
        })
    }

    pub fn percent(self) -> usize {
        (self.done * 100).checked_div(self.total).unwrap_or(0)
    }
}

#[derive(Debug)]
pub struct PlanStanding<'p> {
    pub plan: &'p Plan,
    pub current_phase: Option<&'p Phase>,
    /// The first task in progress or, if there is none, the first ready task.
    pub current_task: Option<&'p Task>,
    /// The ready tasks, ordered by phase and then by id in natural order.
    pub ready: Vec<&'p Task>,
    pub in_progress: Vec<&'p Task>,
    pub blocked: Vec<&'p Task>,
    pub progress: TaskProgress,
    task_index: TaskIndex<'p>,
}

pub fn standing_of_plan<'p>(plan: &'p Plan) -> PlanStanding<'p> {
    let by_id = TaskIndex::of_plan(plan);
    // Tasks are ordered by phase first, because an imported task keeps its id, and `TASK-9` may be in the last phase.
    let in_order = |is_meant: &dyn Fn(&&Task) -> bool| -> Vec<&Task> {
        let of_phase = |phase: &'p Phase| -> Vec<&'p Task> {
            let mut found: Vec<&Task> = phase.tasks.iter().filter(is_meant).collect();
            found.sort_by(|a, b| compare_ids_naturally(&a.id, &b.id));
            found
        };
        plan.phases.iter().flat_map(of_phase).collect()
    };
    let with = |status: TaskStatus| in_order(&|task| task.status == status);
    let stopped = |task: &Task| {
        let phase = plan.phase(task.phase).map(|phase| phase.status);
        matches!(phase, Some(PhaseStatus::Blocked | PhaseStatus::Closed))
    };
    let is_ready = |task: &&Task| {
        let is_over = |id: &String| by_id.find_task(id).is_some_and(|place| place.task.status.is_over());
        task.status == TaskStatus::Pending && task.depends.iter().all(is_over) && !stopped(task)
    };
    // Few tasks of a large plan are ready, so only these are sorted.
    let ready = in_order(&is_ready);
    let in_progress = with(TaskStatus::InProgress);
    let phase = current_phase(plan);
    let task = in_progress.first().or_else(|| ready.first()).copied();
    PlanStanding {
        plan,
        current_phase: phase,
        current_task: task,
        blocked: with(TaskStatus::Blocked),
        progress: TaskProgress::count_tasks(plan.tasks()),
        ready,
        in_progress,
        task_index: by_id,
    }
}

impl<'p> PlanStanding<'p> {
    /// Returns the dependencies of a task that are neither completed nor closed. Each item is an id and its task, or
    /// `None` in place of the task if the plan has no task with this id.
    pub fn open_dependencies<'t>(&self, task: &'t Task) -> impl Iterator<Item = (&'t str, Option<&'p Task>)> {
        let open = task
            .depends
            .iter()
            .map(|id| (id.as_str(), self.task_index.find_task(id).map(|place| place.task)));
        open.filter(|(_, task)| task.is_none_or(|task| !task.status.is_over()))
    }

    /// Returns all tasks that `task` depends on, directly or indirectly, nearest first and each with its distance.
    pub fn all_dependencies_of_task(&self, task: &Task) -> Vec<(&'p Task, u32)> {
        let mut seen = HashSet::from([task.id.as_str()]);
        let mut found: Vec<(&Task, u32)> = Vec::new();
        let mut next: Vec<&str> = task.depends.iter().map(String::as_str).collect();
        for depth in 1.. {
            next.sort_by(|a, b| compare_ids_naturally(a, b));
            let at = found.len();
            let known =
                next.into_iter().filter(|id| seen.insert(id)).filter_map(|id| self.task_index.find_task(id));
            found.extend(known.map(|place| (place.task, depth)));
            if found.len() == at {
                break;
            }
            next = found[at..].iter().flat_map(|(task, _)| task.depends.iter().map(String::as_str)).collect();
        }
        found
    }

    /// Returns the open tasks that depend on this task.
    pub fn tasks_waiting_for(&self, id: &str) -> Vec<&'p Task> {
        let waits = |task: &&Task| !task.status.is_over() && task.depends.iter().any(|known| known == id);
        let mut found: Vec<&Task> = self.plan.tasks().filter(waits).collect();
        found.sort_by(|a, b| compare_ids_naturally(&a.id, &b.id));
        found
    }
}

/// Returns the phase that a person chose. If there is none, or it is finished, returns the first phase in progress, or
/// else the first open phase. A finished phase is current only if all phases are finished.
pub fn current_phase(plan: &Plan) -> Option<&Phase> {
    let chosen = plan.current_phase.and_then(|id| plan.phase(id));
    let open = || plan.phases.iter().find(|phase| !phase.status.is_over());
    let active = || plan.phases.iter().find(|phase| phase.status == PhaseStatus::InProgress);
    match chosen {
        Some(phase) if !phase.status.is_over() || open().is_none() => Some(phase),
        _ => active().or_else(open).or(plan.phases.first()),
    }
}

/// Compares ids in natural order: `1.2` comes before `1.10`, and `T9` before `T10`.
pub fn compare_ids_naturally(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        match (a.chars().next(), b.chars().next()) {
            (None, None) => return Ordering::Equal,
            (None, _) => return Ordering::Less,
            (_, None) => return Ordering::Greater,
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (m, n) = (leading_digits(a), leading_digits(b));
                let (left, right) = (m.trim_start_matches('0'), n.trim_start_matches('0'));
                let by_value = left.len().cmp(&right.len()).then_with(|| left.cmp(right));
                match by_value.then_with(|| m.len().cmp(&n.len())) {
                    Ordering::Equal => (a, b) = (&a[m.len()..], &b[n.len()..]),
                    unequal => return unequal,
                }
            }
            (Some(x), Some(y)) if x == y => (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]),
            (Some(x), Some(y)) => return x.cmp(&y),
        }
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}
