//! The edits that commands make to a plan, and the reasons to refuse them. Each function returns the changed plan.

use std::collections::HashMap;

use super::{
    Phase, PhaseStatus, Plan, PlanProblem, Task, TaskSize, TaskStatus, find_plan_problems, standing_of_plan,
};
use crate::id::Id;
use crate::render::one_line;

/// Why an edit is refused, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEditRefusal {
    pub kind: RefusalKind,
    pub message: String,
    pub hint: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The task or phase does not exist.
    Absent,
    /// Another session is working on the task.
    Busy,
    Refused,
}

type EditResult = Result<Plan, PlanEditRefusal>;

/// The evidence for a task that is to be marked as done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionEvidence<'a> {
    Proven,
    /// No fresh evidence exists. The string describes the evidence that does exist.
    Unproven(&'a str),
    /// A reviewer rejected the work or reported failed tests. The string names the reviewer. The task is not done
    /// even if it has no acceptance criterion.
    Rejected(&'a str),
    /// The user completes the task without evidence. The string is the reason.
    Waived(&'a str),
}

/// Claims a task for a session. The claim is refused if another session is working on the task.
pub fn start_task(plan: &Plan, id: &str, by: &str, at: &str) -> EditResult {
    let task = find_task(plan, id)?;
    match task.status {
        TaskStatus::InProgress if task.claimed_by.as_deref().is_none_or(|known| known == by) => {}
        TaskStatus::InProgress => {
            let who = task.claimed_by.as_deref().unwrap_or("somebody");
            let since = task.started_at.as_deref().map_or(String::new(), |at| format!(" since {at}"));
            return Err(PlanEditRefusal {
                kind: RefusalKind::Busy,
                message: format!("{id} is taken by {}{since}", one_line(who, 80)),
                hint: "`thru plan next` shows what is ready".to_owned(),
            });
        }
        TaskStatus::Pending => {
            let standing = standing_of_plan(plan);
            let open: Vec<&str> = standing.open_dependencies(task).map(|(id, _)| id).collect();
            if !open.is_empty() {
                let what = format!("{id} is not ready: it waits for {}", open.join(", "));
                return new_edit_refusal(what, "`thru plan next` shows what is ready");
            }
        }
        TaskStatus::Blocked => {
            return new_edit_refusal(
                describe_blocked_task(task),
                &format!("`thru task unblock {id}` frees it"),
            );
        }
        TaskStatus::Completed | TaskStatus::Closed => return already_over_refusal(task),
    }
    if task.status == TaskStatus::InProgress && task.claimed_by.is_some() {
        return Ok(plan.clone());
    }
    edit_task(plan, id, |task| {
        task.status = TaskStatus::InProgress;
        task.claimed_by = Some(by.to_owned());
        task.started_at = Some(at.to_owned());
    })
}

pub fn complete_task(
    plan: &Plan,
    id: &str,
    by: &str,
    at: &str,
    acceptance: &CompletionEvidence,
) -> EditResult {
    let task = find_task(plan, id)?;
    match (task.status, acceptance) {
        (TaskStatus::Completed, _) => return Ok(plan.clone()),
        (TaskStatus::Closed, _) => return already_over_refusal(task),
        (TaskStatus::Blocked, _) => {
            return new_edit_refusal(
                describe_blocked_task(task),
                &format!("`thru task unblock {id}` frees it"),
            );
        }
        (_, CompletionEvidence::Unproven(what)) if task.acceptance.is_some() => {
            let hint = format!(
                "`thru evidence run {id} -- COMMAND` records evidence; `thru task done {id} --without-evidence WHY` completes the task without it"
            );
            return new_edit_refusal(format!("{id} has an acceptance criterion, and {what}"), &hint);
        }
        (_, CompletionEvidence::Rejected(what)) => {
            let hint = format!(
                "a later verdict can settle this; `thru task done {id} --without-evidence WHY` completes the task anyway"
            );
            return new_edit_refusal(format!("{id} is not done: {what}"), &hint);
        }
        _ => {}
    }
    edit_task(plan, id, |task| {
        task.status = TaskStatus::Completed;
        task.done_at = Some(at.to_owned());
        task.claimed_by.get_or_insert_with(|| by.to_owned());
        task.reported_done = false;
        task.without_evidence = match acceptance {
            CompletionEvidence::Waived(why) => Some((*why).to_owned()),
            CompletionEvidence::Proven
            | CompletionEvidence::Unproven(_)
            | CompletionEvidence::Rejected(_) => None,
        };
    })
}

pub fn block_task(plan: &Plan, id: &str, why: &str) -> EditResult {
    let task = find_task(plan, id)?;
    if task.status.is_over() {
        return already_over_refusal(task);
    }
    edit_task(plan, id, |task| {
        task.status = TaskStatus::Blocked;
        task.blocked_reason = Some(why.to_owned());
    })
}

/// Returns a task to its earlier state: in progress if it was started, otherwise pending.
pub fn unblock_task(plan: &Plan, id: &str) -> EditResult {
    let task = find_task(plan, id)?;
    if task.status != TaskStatus::Blocked {
        return new_edit_refusal(
            format!("{id} is not blocked; it is {}", task.status.name()),
            "nothing was changed",
        );
    }
    edit_task(plan, id, |task| {
        let begun = task.started_at.is_some();
        task.status = if begun { TaskStatus::InProgress } else { TaskStatus::Pending };
        task.blocked_reason = None;
    })
}

#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// The id, or `None` for the next number in the phase.
    pub id: Option<String>,
    /// The phase, or `None` for the current phase. If the plan has no phase, one is created.
    pub phase: Option<u32>,
    pub description: String,
    pub size: Option<TaskSize>,
    pub dependency_ids: Vec<String>,
    pub acceptance: Option<String>,
    pub files: Vec<String>,
}

/// Adds a task. Returns the changed plan and the new id.
pub fn add_task(plan: &Plan, new: &NewTask) -> Result<(Plan, String), PlanEditRefusal> {
    let mut next = plan.clone();
    let phase = match new.phase {
        Some(id) => find_phase(plan, id)?.id,
        None => match super::current_phase(plan) {
            Some(phase) => phase.id,
            None => {
                next.phases.push(Phase { id: 1, name: "Tasks".to_owned(), ..Phase::default() });
                1
            }
        },
    };
    let id = match &new.id {
        Some(id) => Id::new(id)
            .map_err(|bad| PlanEditRefusal {
                kind: RefusalKind::Refused,
                message: bad.to_string(),
                hint: "an id looks like 1.2".to_owned(),
            })?
            .to_string(),
        None => next_free_task_id(plan, phase),
    };
    let task = Task {
        id: id.clone(),
        phase,
        description: new.description.clone(),
        size: new.size,
        depends: new.dependency_ids.clone(),
        acceptance: new.acceptance.clone(),
        files_touched: new.files.clone(),
        ..Task::default()
    };
    if let Some(phase) = next.phase_mut(phase) {
        phase.tasks.push(task);
        // A new task reopens a completed phase.
        if phase.status == PhaseStatus::Complete {
            phase.status = PhaseStatus::InProgress;
        }
    }
    Ok((refuse_new_problems(plan, next)?, id))
}

/// Adds a phase. Returns the changed plan and the phase's number.
pub fn add_phase(plan: &Plan, name: &str, id: Option<u32>) -> Result<(Plan, u32), PlanEditRefusal> {
    let id = id.unwrap_or_else(|| {
        plan.phases.iter().map(|phase| phase.id).max().map_or(1, |id| id.saturating_add(1))
    });
    let mut next = plan.clone();
    next.phases.push(Phase { id, name: name.to_owned(), ..Phase::default() });
    Ok((refuse_new_problems(plan, next)?, id))
}

/// The fields that `plan set` changes. `None` leaves a field unchanged, and an empty string removes it.
#[derive(Clone, Debug, Default)]
pub struct TaskFieldChanges {
    pub status: Option<TaskStatus>,
    pub description: Option<String>,
    pub size: Option<TaskSize>,
    pub dependency_ids: Option<Vec<String>>,
    pub acceptance: Option<String>,
    pub files: Option<Vec<String>>,
}

pub fn set_task(plan: &Plan, id: &str, change: &TaskFieldChanges) -> EditResult {
    let task = find_task(plan, id)?;
    if change.status == Some(TaskStatus::Completed) && task.status != TaskStatus::Completed {
        return new_edit_refusal(
            format!("`thru plan set` cannot complete {id}"),
            &format!("run `thru task done {id}`"),
        );
    }
    let edited = edit_task(plan, id, |task| {
        if let Some(status) = change.status.filter(|status| *status != task.status) {
            task.status = status;
            if status != TaskStatus::Blocked {
                task.blocked_reason = None;
            }
            if status == TaskStatus::Pending {
                (task.claimed_by, task.started_at, task.reported_done) = (None, None, false);
            }
            (task.done_at, task.without_evidence) = (None, None);
        }
        if let Some(description) = &change.description {
            task.description.clone_from(description);
        }
        task.size = change.size.or(task.size);
        if let Some(depends) = &change.dependency_ids {
            task.depends.clone_from(depends);
        }
        if let Some(acceptance) = &change.acceptance {
            task.acceptance = Some(acceptance.clone()).filter(|text| !text.trim().is_empty());
        }
        if let Some(files) = &change.files {
            task.files_touched.clone_from(files);
        }
    })?;
    refuse_new_problems(plan, edited)
}

/// Appends the phases of another plan. Phase numbers and task ids that already exist are replaced, including in
/// dependencies.
pub fn append_plan(plan: &Plan, other: &Plan) -> Plan {
    let mut next = plan.clone();
    let mut renamed: HashMap<String, String> = HashMap::new();
    let first = next.phases.len();
    for phase in &other.phases {
        let highest = next.phases.iter().map(|phase| phase.id).max();
        let is_taken = next.phase(phase.id).is_some();
        let id = if is_taken { highest.map_or(1, |id| id.saturating_add(1)) } else { phase.id };
        next.phases.push(Phase { id, tasks: Vec::new(), ..phase.clone() });
        for task in &phase.tasks {
            let is_taken = next.task(&task.id).is_some();
            let own = if is_taken { next_free_task_id(&next, id) } else { task.id.clone() };
            if is_taken {
                renamed.insert(task.id.clone(), own.clone());
            }
            let task = Task { id: own, phase: id, ..task.clone() };
            if let Some(phase) = next.phases.last_mut() {
                phase.tasks.push(task);
            }
        }
    }
    for task in next.phases.iter_mut().skip(first).flat_map(|phase| &mut phase.tasks) {
        for id in &mut task.depends {
            if let Some(new) = renamed.get(id.as_str()) {
                id.clone_from(new);
            }
        }
    }
    next
}

/// Changes a task and updates its phase. A phase is in progress once one of its tasks is started, and complete once
/// all of them are completed or closed.
pub(super) fn edit_task(plan: &Plan, id: &str, edit: impl FnOnce(&mut Task)) -> EditResult {
    let mut next = plan.clone();
    let Some(task) = next.task_mut(id) else { return no_such_task_refusal(plan, id) };
    edit(task);
    let phase = task.phase;
    update_phase_status(&mut next, phase);
    Ok(next)
}

fn update_phase_status(plan: &mut Plan, id: u32) {
    let Some(phase) = plan.phase_mut(id) else { return };
    let begun =
        phase.tasks.iter().any(|task| !matches!(task.status, TaskStatus::Pending | TaskStatus::Blocked));
    let over = !phase.tasks.is_empty() && phase.tasks.iter().all(|task| task.status.is_over());
    phase.status = match phase.status {
        PhaseStatus::Blocked | PhaseStatus::Closed => return,
        _ if over => PhaseStatus::Complete,
        PhaseStatus::Pending if begun => PhaseStatus::InProgress,
        PhaseStatus::Complete => PhaseStatus::InProgress,
        status => status,
    };
    if over && plan.current_phase == Some(id) {
        let open = plan.phases.iter().find(|phase| !phase.status.is_over());
        plan.current_phase = open.map(|phase| phase.id).or(plan.current_phase);
    }
}

/// Returns the phases that have ended in `after` but not in `before`.
pub fn newly_ended_phases(before: &Plan, after: &Plan) -> Vec<u32> {
    let was_over = |id: u32| before.phase(id).is_some_and(|phase| phase.status.is_over());
    after
        .phases
        .iter()
        .filter(|phase| phase.status.is_over() && !was_over(phase.id))
        .map(|phase| phase.id)
        .collect()
}

/// Refuses a change that adds an error to the plan. `plan check` reports errors that already exist.
pub fn refuse_new_problems(before: &Plan, after: Plan) -> EditResult {
    let known = find_plan_problems(before);
    let new: Vec<String> = find_plan_problems(&after)
        .iter()
        .filter(|problem| !known.contains(problem))
        .map(PlanProblem::to_string)
        .collect();
    match new.is_empty() {
        true => Ok(after),
        false => new_edit_refusal(new.join("; "), "nothing was changed; `thru plan show` lists the tasks"),
    }
}

/// Returns the next free id in a phase, one higher than its highest number.
pub(super) fn next_free_task_id(plan: &Plan, phase: u32) -> String {
    let prefix = format!("{phase}.");
    let numbers = plan.tasks().filter_map(|task| task.id.strip_prefix(&prefix)?.parse::<u64>().ok());
    format!("{prefix}{}", numbers.max().unwrap_or(0).saturating_add(1))
}

fn find_task<'p>(plan: &'p Plan, id: &str) -> Result<&'p Task, PlanEditRefusal> {
    plan.task(id).map_or_else(|| no_such_task_refusal(plan, id), Ok)
}

pub fn find_phase(plan: &Plan, id: u32) -> Result<&Phase, PlanEditRefusal> {
    plan.phase(id).ok_or_else(|| {
        let ids: Vec<String> = plan.phases.iter().take(20).map(|phase| phase.id.to_string()).collect();
        let there = if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
        let hint = format!("the phases are: {there}; `thru plan add NAME` adds another");
        PlanEditRefusal { kind: RefusalKind::Absent, message: format!("there is no phase {id}"), hint }
    })
}

fn no_such_task_refusal<T>(plan: &Plan, id: &str) -> Result<T, PlanEditRefusal> {
    let shown = one_line(id, 64);
    let hint = match plan.nearest_task_id(id) {
        Some(near) => format!("did you mean {near}? `thru plan show` lists the tasks"),
        None => "`thru plan show` lists the tasks".to_owned(),
    };
    Err(PlanEditRefusal { kind: RefusalKind::Absent, message: format!("there is no task {shown}"), hint })
}

fn new_edit_refusal<T>(message: String, hint: &str) -> Result<T, PlanEditRefusal> {
    Err(PlanEditRefusal { kind: RefusalKind::Refused, message, hint: hint.to_owned() })
}

fn describe_blocked_task(task: &Task) -> String {
    let why = task.blocked_reason.as_deref().map_or(String::new(), |why| format!(": {}", one_line(why, 200)));
    format!("{} is blocked{why}", task.id)
}

fn already_over_refusal<T>(task: &Task) -> Result<T, PlanEditRefusal> {
    let id = &task.id;
    let hint = format!("`thru plan set {id} --status pending` opens it again");
    new_edit_refusal(format!("{id} is already {}", task.status.name()), &hint)
}
