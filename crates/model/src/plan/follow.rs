//! Updates tasks from the entries of a harness's own todo list.

use std::collections::BTreeMap;

use super::edit::edit_task;
use super::{Plan, Task, TaskStatus};
use crate::event::TodoStatus;
use crate::journal::RecordedTodo;
use crate::text::fnv_fingerprint;

/// The statuses of a session's todo entries when the list was last read, keyed by the fingerprint of each entry's text.
/// Only a changed entry updates its task, so that somebody else's later change to the task is not undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkedTodos {
    pub last_statuses: BTreeMap<u64, TodoStatus>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlanUpdatedFromTodos {
    pub plan: Plan,
    /// The ids of the tasks that changed.
    pub changed_ids: Vec<String>,
    pub todos: LinkedTodos,
}

/// Updates the tasks whose todo entries have changed since `known`.
pub fn follow_todos(
    plan: &Plan,
    known: &LinkedTodos,
    todos: &[RecordedTodo],
    by: &str,
    at: &str,
) -> PlanUpdatedFromTodos {
    let mut followed =
        PlanUpdatedFromTodos { plan: plan.clone(), changed_ids: Vec::new(), todos: LinkedTodos::default() };
    for todo in todos {
        let (mark, status) = (text_fingerprint(&todo.text), todo.status.unwrap_or(TodoStatus::Pending));
        let before = known.last_statuses.get(&mark).copied();
        followed.todos.last_statuses.insert(mark, status);
        if before == Some(status) {
            continue;
        }
        let Some(task) = followed.plan.tasks().find(|task| is_task_for_entry(task, &todo.text)) else {
            continue;
        };
        let Some(next) = next_status(task, before, status, by) else { continue };
        let id = task.id.clone();
        let edited = edit_task(&followed.plan, &id, |task| {
            task.status = next;
            match next {
                TaskStatus::InProgress => {
                    task.claimed_by.get_or_insert_with(|| by.to_owned());
                    task.started_at.get_or_insert_with(|| at.to_owned());
                    task.done_at = None;
                    task.reported_done = status == TodoStatus::Completed;
                }
                TaskStatus::Completed => {
                    task.claimed_by.get_or_insert_with(|| by.to_owned());
                    task.done_at = Some(at.to_owned());
                }
                _ => {
                    (task.claimed_by, task.started_at, task.done_at, task.reported_done) =
                        (None, None, None, false);
                }
            }
        });
        if let Ok(plan) = edited
            && plan != followed.plan
        {
            followed.plan = plan;
            followed.changed_ids.push(id);
        }
    }
    followed
}

impl PlanUpdatedFromTodos {
    /// If the list reports a task as done but the task's work was rejected, sets the task back to "in progress". Also
    /// returns the ids of these tasks.
    pub fn reopen_rejected_tasks(
        mut self,
        is_rejected: impl Fn(&str) -> bool,
    ) -> (PlanUpdatedFromTodos, Vec<String>) {
        let is_done = |id: &String| {
            self.plan.task(id).is_some_and(|task| task.status == TaskStatus::Completed) && is_rejected(id)
        };
        let rejected: Vec<String> = self.changed_ids.iter().filter(|id| is_done(id)).cloned().collect();
        for id in &rejected {
            let edited = edit_task(&self.plan, id, |task| {
                task.status = TaskStatus::InProgress;
                task.done_at = None;
                task.reported_done = true;
            });
            self.plan = edited.unwrap_or(self.plan);
        }
        (self, rejected)
    }
}

/// Returns a task's new status after its todo entry changed from `before` to `now`, or `None` if the task does not
/// change.
fn next_status(task: &Task, before: Option<TodoStatus>, now: TodoStatus, by: &str) -> Option<TaskStatus> {
    let is_others = task.claimed_by.as_deref().is_some_and(|known| known != by);
    match (now, task.status) {
        // The list does not change a task that is blocked or closed, or one that another session is working on.
        (_, TaskStatus::Blocked | TaskStatus::Closed) => None,
        (_, TaskStatus::InProgress) if is_others => None,
        (TodoStatus::InProgress, TaskStatus::Pending) => Some(TaskStatus::InProgress),
        (TodoStatus::InProgress, TaskStatus::Completed) if before == Some(TodoStatus::Completed) => {
            Some(TaskStatus::InProgress)
        }
        (TodoStatus::InProgress, TaskStatus::InProgress) if task.reported_done => {
            Some(TaskStatus::InProgress)
        }
        // A task with an acceptance criterion is completed only with evidence. Until then, it counts as in progress.
        (TodoStatus::Completed, TaskStatus::Pending | TaskStatus::InProgress) => {
            Some(if task.acceptance.is_some() { TaskStatus::InProgress } else { TaskStatus::Completed })
        }
        (TodoStatus::Pending, TaskStatus::InProgress | TaskStatus::Completed) if before.is_some() => {
            Some(TaskStatus::Pending)
        }
        _ => None,
    }
}

/// Returns whether a plan has a task for a todo entry with this text.
pub fn has_task_for_todo(plan: &Plan, text: &str) -> bool {
    plan.tasks().any(|task| is_task_for_entry(task, text))
}

fn is_task_for_entry(task: &Task, text: &str) -> bool {
    let text = normalise_text(text);
    !text.is_empty()
        && (task.todo.as_deref().map(normalise_text).as_ref() == Some(&text)
            || normalise_text(&task.description) == text)
}

/// Returns the text in a form that ignores case, punctuation and white space, because people often change these.
pub(super) fn normalise_text(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

pub(super) fn text_fingerprint(text: &str) -> u64 {
    fnv_fingerprint([normalise_text(text)])
}
