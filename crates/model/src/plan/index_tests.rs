use super::*;
use crate::plan::Phase;

fn plan_with_ids(phases: &[&[&str]]) -> Plan {
    let task = |id: &&str| Task { id: (*id).to_owned(), ..Task::default() };
    let phase = |ids: &&[&str]| Phase { tasks: ids.iter().map(task).collect(), ..Phase::default() };
    Plan { phases: phases.iter().map(phase).collect(), ..Plan::default() }
}

#[test]
fn every_task_is_found_and_nothing_else() {
    let long = "a-long-identifier-1";
    let plan = plan_with_ids(&[&["1.10", "1.2", "", "1"], &[long, "a-long-identifier-2", "\x001", "ü"]]);
    let index = TaskIndex::of_plan(&plan);
    for (number, task) in plan.tasks().enumerate() {
        assert_eq!(index.find_task(&task.id).map(|place| place.index_in_plan), Some(number), "{:?}", task.id);
    }
    for id in ["1.1", "1.100", "a-long-identifier-", "a-long-i", "z", "\0"] {
        assert!(index.find_task(id).is_none(), "{id:?}");
    }
    assert_eq!(index.repeated_ids().count(), 0);
    assert!(TaskIndex::of_plan(&Plan::default()).find_task("1").is_none());
}

#[test]
fn of_two_tasks_with_one_id_the_last_is_found() {
    let plan = plan_with_ids(&[&["1", "2"], &["1", "1"]]);
    let index = TaskIndex::of_plan(&plan);
    assert_eq!(index.find_task("1").map(|place| place.index_in_plan), Some(3));
    assert_eq!(index.repeated_ids().collect::<Vec<_>>(), ["1", "1"]);
}
