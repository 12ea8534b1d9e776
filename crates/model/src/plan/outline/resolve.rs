//! Resolves facts that can be determined only from the whole file. Examples are dependencies on phases, and tasks that
//! are done because all their parts are done.

use std::collections::{HashMap, HashSet};

use super::field::{PHASE_DEPENDENCY_PREFIX, PhaseDependencies};
use super::{PlanOutlineReader, TaskPositionInOutline, TaskStatus};

#[derive(Default)]
pub struct DeferredDependencies {
    /// Each pair is a task that has its own heading, and a task below that heading.
    pub parent_child_pairs: Vec<(TaskPositionInOutline, TaskPositionInOutline)>,
    /// The checkboxes that are criteria of a task. Each entry is the task, whether the checkbox is ticked, and its
    /// text.
    pub criteria: Vec<(TaskPositionInOutline, bool, String)>,
    /// The tasks whose state is written in the file.
    pub tasks_with_status: HashSet<TaskPositionInOutline>,
    pub phase_depends: Vec<(usize, PhaseDependencies, usize)>,
    /// The items that are kept as notes of a phase: the index of the phase and the line of the item.
    pub phase_note_items: Vec<(usize, usize)>,
}

impl PlanOutlineReader<'_> {
    pub(super) fn resolve_dependencies(&mut self) {
        self.resolve_renamed_ids();
        if self.is_written_by_thru {
            return;
        }
        self.apply_criteria();
        self.complete_parent_tasks();
        self.resolve_phase_dependencies();
        self.warn_of_empty_phases();
    }

    /// Updates dependencies on ids that could not be kept. For example, `depends: 3` in the file means task 3 of the
    /// same phase.
    fn resolve_renamed_ids(&mut self) {
        for phase in &mut self.plan.phases {
            for task in &mut phase.tasks {
                for id in task.depends.iter_mut().filter(|id| !self.used_ids.contains(id.as_str())) {
                    let here =
                        self.renamed_ids.iter().find(|(at, called, _)| *at == phase.id && called == id);
                    let anywhere = || self.renamed_ids.iter().find(|(_, called, _)| called == id);
                    if let Some((_, _, new)) = here.or_else(anywhere) {
                        id.clone_from(new);
                    }
                }
            }
        }
    }

    /// Joins the criteria of each task into its acceptance criterion. If all of them are met, the task is done.
    fn apply_criteria(&mut self) {
        let mut of_task: HashMap<TaskPositionInOutline, Vec<(bool, String)>> = HashMap::new();
        for (at, is_met, text) in std::mem::take(&mut self.deferred_dependencies.criteria) {
            of_task.entry(at).or_default().push((is_met, text));
        }
        for (at, criteria) in of_task {
            let met = criteria.iter().filter(|(is_met, _)| *is_met).count();
            let words = |(is_met, text): &(bool, String)| match is_met {
                // If only some criteria are met, those are marked.
                true if met < criteria.len() => format!("[x] {text}"),
                _ => text.clone(),
            };
            let words: Vec<String> = criteria.iter().map(words).collect();
            let is_stated = self.deferred_dependencies.tasks_with_status.contains(&at);
            let task = &mut self.plan.phases[at.0].tasks[at.1];
            task.acceptance = Some(super::join_texts(task.acceptance.take(), &words.join("; ")));
            if met == criteria.len() && task.status == TaskStatus::Pending && !is_stated {
                task.status = TaskStatus::Completed;
            }
        }
    }

    /// Completes a task that has its own heading if all tasks below that heading are completed or closed.
    fn complete_parent_tasks(&mut self) {
        let mut open: HashMap<TaskPositionInOutline, bool> = HashMap::new();
        for (whole, part) in &self.deferred_dependencies.parent_child_pairs {
            let is_open = !self.plan.phases[part.0].tasks[part.1].status.is_over();
            *open.entry(*whole).or_default() |= is_open;
        }
        for (at, is_open) in open {
            let is_stated = self.deferred_dependencies.tasks_with_status.contains(&at);
            let task = &mut self.plan.phases[at.0].tasks[at.1];
            if !is_open && task.status == TaskStatus::Pending && !is_stated {
                task.status = TaskStatus::Completed;
            }
        }
    }

    /// Turns dependencies on phases into dependencies on tasks. If phase 2 depends on phase 1, each task of phase 2
    /// then depends on the last task of phase 1.
    fn resolve_phase_dependencies(&mut self) {
        let mut lasts: HashMap<u32, String> = HashMap::new();
        for phase in &self.plan.phases {
            lasts.extend(phase.tasks.last().map(|task| (phase.id, task.id.clone())));
        }
        for (at, on, line) in std::mem::take(&mut self.deferred_dependencies.phase_depends) {
            let numbers: Vec<u32> = match on {
                PhaseDependencies::Phases(numbers) => numbers,
                PhaseDependencies::AllBefore => self.plan.phases[..at].iter().map(|phase| phase.id).collect(),
            };
            let own = self.plan.phases[at].id;
            for number in numbers.into_iter().filter(|number| *number != own) {
                let Some(last) = lasts.get(&number) else {
                    self.add_warning(
                        line,
                        format!("phase {number} has no tasks that anything could depend on"),
                    );
                    continue;
                };
                let tasks = self.plan.phases[at].tasks.iter_mut();
                tasks
                    .filter(|task| !task.depends.contains(last))
                    .for_each(|task| task.depends.push(last.clone()));
            }
        }
        let mut unknown = Vec::new();
        for task in self.plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            for id in std::mem::take(&mut task.depends) {
                let number =
                    id.strip_prefix(PHASE_DEPENDENCY_PREFIX).and_then(|number| number.parse::<u32>().ok());
                match number.map(|number| lasts.get(&number).filter(|last| **last != task.id)) {
                    None => task.depends.push(id),
                    Some(Some(last)) => task.depends.push(last.clone()),
                    Some(None) => unknown.push(format!("{} depends on {id}, which has no tasks", task.id)),
                }
            }
        }
        unknown.into_iter().for_each(|text| self.add_warning(0, text));
    }

    /// Warns about phases that have no tasks and whose list items became notes.
    fn warn_of_empty_phases(&mut self) {
        let noted = std::mem::take(&mut self.deferred_dependencies.phase_note_items);
        for (at, phase) in self.plan.phases.iter().enumerate().filter(|(_, phase)| phase.tasks.is_empty()) {
            let lines: Vec<usize> = noted.iter().filter(|(of, _)| *of == at).map(|(_, line)| *line).collect();
            if let Some(line) = lines.first() {
                let text =
                    format!("phase {} has no tasks; {} list items are its notes", phase.id, lines.len());
                self.warnings.push(super::ImportWarning { line: *line, text });
            }
        }
    }
}
