//! Finds tasks by their id.

use super::{Plan, Task};

/// The tasks of a plan by id. This is a sorted list and not a hash table: the tasks of a plan are nearly in order, and
/// hashing thousands of short ids took longer than sorting and searching them.
#[derive(Debug)]
pub(super) struct Index<'p> {
    /// The entries, in the order of their keys.
    entries: Vec<(Key<'p>, Place<'p>)>,
}

/// A task, and how many tasks of the plan come before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'p> {
    pub task: &'p Task,
    pub number: usize,
}

/// The first bytes of an id as a number, and the whole id. The number decides nearly every comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'p>(u64, &'p str);

impl<'p> Key<'p> {
    fn of(id: &'p str) -> Key<'p> {
        Key(id.bytes().take(8).fold(0, |head, byte| head << 8 | u64::from(byte)), id)
    }
}

impl<'p> Index<'p> {
    pub fn of(plan: &'p Plan) -> Index<'p> {
        let places = plan.tasks().enumerate().map(|(number, task)| Place { task, number });
        let mut entries: Vec<_> = places.map(|place| (Key::of(&place.task.id), place)).collect();
        // The sort is stable: if two tasks have the same id, the later one stays after the other.
        entries.sort_by_key(|(key, _)| *key);
        Index { entries }
    }

    /// Returns the task with this id, the last one if there are several.
    pub fn get(&self, id: &str) -> Option<Place<'p>> {
        let key = Key::of(id);
        let after = self.entries.partition_point(|(known, _)| *known <= key);
        let (known, place) = self.entries.get(after.checked_sub(1)?)?;
        (*known == key).then_some(*place)
    }

    /// Returns each id that more than one task has, once for each task after the first.
    pub fn repeated(&self) -> impl Iterator<Item = &'p str> {
        self.entries.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0.1)
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
