//! Finds tasks by id.

use super::{Plan, Task};

/// The tasks of a plan by id, as a sorted list. A hash table is slower, because the tasks of a plan are nearly in order
/// and hashing thousands of short ids takes longer than sorting and searching them.
#[derive(Debug)]
pub(super) struct TaskIndex<'p> {
    /// The entries, sorted by key.
    entries: Vec<(TaskIdSortKey<'p>, TaskPosition<'p>)>,
}

/// A task and its index among all tasks of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskPosition<'p> {
    pub task: &'p Task,
    pub index_in_plan: usize,
}

/// The first bytes of an id as a number, and the whole id. The number alone decides almost every comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TaskIdSortKey<'p>(u64, &'p str);

impl<'p> TaskIdSortKey<'p> {
    fn from_id(id: &'p str) -> TaskIdSortKey<'p> {
        TaskIdSortKey(id.bytes().take(8).fold(0, |head, byte| head << 8 | u64::from(byte)), id)
    }
}

impl<'p> TaskIndex<'p> {
    pub fn of_plan(plan: &'p Plan) -> TaskIndex<'p> {
        let places =
            plan.tasks().enumerate().map(|(number, task)| TaskPosition { task, index_in_plan: number });
        let mut entries: Vec<_> =
            places.map(|place| (TaskIdSortKey::from_id(&place.task.id), place)).collect();
        // The sort is stable, so tasks with the same id keep their order.
        entries.sort_by_key(|(key, _)| *key);
        TaskIndex { entries }
    }

    /// Returns the task with this id. If several tasks have it, the last one is returned.
    pub fn find_task(&self, id: &str) -> Option<TaskPosition<'p>> {
        let key = TaskIdSortKey::from_id(id);
        let after = self.entries.partition_point(|(known, _)| *known <= key);
        let (known, place) = self.entries.get(after.checked_sub(1)?)?;
        (*known == key).then_some(*place)
    }

    /// Returns each id that several tasks share, once for every task after the first.
    pub fn repeated_ids(&self) -> impl Iterator<Item = &'p str> {
        self.entries.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0.1)
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
