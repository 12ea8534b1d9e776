//! Determines which parts of a file are phases and which are tasks.

use std::collections::HashSet;

use super::label::ListMeaning;
use super::lines::{PlanLineKind, PlanSourceLine};
use super::phase::parse_explicit_phase_heading;
use super::{field, item, marks};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingRole {
    Phase,
    Task,
    Section,
}

/// Which parts of the file are its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskSource {
    Checkboxes,
    TaskHeadings,
    NumberedHeadings {
        level: usize,
    },
    /// The numbered items of each explicit phase or, in a phase without numbered items, its other items.
    ItemsInPhases,
    NumberedItems {
        only_steps: bool,
    },
    Bullets {
        only_steps: bool,
    },
    NoTasks,
}

pub struct OutlineShape {
    source: TaskSource,
    has_boxes: bool,
    pub has_phases: bool,
    /// The explicit phases that have numbered items.
    phases_with_numbers: HashSet<usize>,
    /// The explicit phases whose tasks are headings.
    phases_with_task_headings: HashSet<usize>,
    /// The explicit phases that have tasks of any kind.
    phases_with_tasks: HashSet<usize>,
    /// The explicit phases that contain a list of work items.
    phases_with_work: HashSet<usize>,
    /// The headings that have a list of tasks below a label.
    headings_with_labelled_tasks: HashSet<usize>,
    /// The headings that have tasks anywhere below them.
    headings_with_tasks: HashSet<usize>,
    /// The numbers of the explicit phases. No other phase gets one of these numbers.
    pub used_phase_numbers: HashSet<u32>,
    /// The task ids in the file. No other task gets one of these ids.
    pub used_task_ids: HashSet<String>,
}

impl OutlineShape {
    pub fn of_lines(blocks: &[PlanSourceLine]) -> OutlineShape {
        let headings = || {
            blocks.iter().filter_map(|block| match &block.kind {
                PlanLineKind::Heading { level, text } => Some((*level, text.as_str())),
                _ => None,
            })
        };
        let has_phases = headings().any(|(_, text)| parse_explicit_phase_heading(text).is_some());
        let any = |test: &dyn Fn(&PlanSourceLine) -> bool| blocks.iter().any(test);
        // In a file with explicit phases, lines outside the phases are ignored, because ordinary chapters may also be
        // numbered.
        let counts = |block: &PlanSourceLine| !has_phases || block.phase > 0;
        let numbered_at = |level: usize| {
            let is_one = |block: &&PlanSourceLine| matches!(&block.kind, PlanLineKind::Heading { level: at, text } if *at == level && item::is_numbered(text) && parse_explicit_phase_heading(text).is_none());
            blocks.iter().filter(|block| counts(block)).filter(is_one).count()
        };
        let most_numbered = (2..=4).max_by_key(|level| (numbered_at(*level), 10 - level)).unwrap_or(3);
        let numbered =
            |block: &PlanSourceLine| matches!(block.kind, PlanLineKind::Numbered { .. }) && block.indent < 2;
        let bullet =
            |block: &PlanSourceLine| matches!(block.kind, PlanLineKind::Bullet { .. }) && block.indent < 2;
        let is_task = |block: &PlanSourceLine| match &block.kind {
            PlanLineKind::Heading { level, text } => *level > 1 && item::is_task_heading(text),
            _ => false,
        };
        let has_box = |block: &PlanSourceLine| matches!(block.kind, PlanLineKind::Checkbox { .. });
        let in_phase =
            |block: &PlanSourceLine| block.phase > 0 && block.list_meaning != ListMeaning::Criteria;
        // Checkboxes outside the phases, such as success criteria, do not replace the lists inside the phases.
        let are_beside = || {
            let has_list = any(&|block| in_phase(block) && (numbered(block) || block.in_labelled_tasks));
            has_phases && has_list && !any(&|block| has_box(block) && in_phase(block))
        };
        let has_boxes = any(&has_box);
        // If there are several phases and none contains a list, the lists of other chapters are used only if they are
        // labelled as work.
        let phases = headings().filter(|(_, text)| parse_explicit_phase_heading(text).is_some()).count();
        let is_enough = |block: &PlanSourceLine| phases < 2 || block.list_meaning == ListMeaning::Tasks;
        let source = if has_boxes && !are_beside() {
            TaskSource::Checkboxes
        } else if any(&|block| is_task(block) && counts(block)) {
            TaskSource::TaskHeadings
        } else if has_phases && any(&|block| block.phase > 0 && (numbered(block) || bullet(block))) {
            TaskSource::ItemsInPhases
        } else if numbered_at(most_numbered) >= 2 {
            TaskSource::NumberedHeadings { level: most_numbered }
        } else if any(&|block| numbered(block) && is_enough(block)) {
            TaskSource::NumberedItems {
                only_steps: any(&|block| numbered(block) && is_likely_step_list(block)),
            }
        } else if any(&|block| bullet(block) && is_enough(block)) {
            TaskSource::Bullets { only_steps: any(&|block| bullet(block) && is_likely_step_list(block)) }
        } else {
            TaskSource::NoTasks
        };
        let with_work = blocks.iter().filter(|block| numbered(block) || bullet(block));
        let with_work = with_work.filter(|block| may_be_work_list(block)).map(|block| block.phase).collect();
        let headings_with_labelled_tasks =
            blocks.iter().filter(|block| block.in_labelled_tasks).map(|block| block.heading).collect();
        let groups = headings_with_tasks(blocks);
        let numbered = blocks.iter().filter(|block| numbered(block)).map(|block| block.phase).collect();
        let phases_with_task_headings =
            blocks.iter().filter(|block| is_task(block)).map(|block| block.phase).collect();
        let used_phase_numbers =
            headings().filter_map(|(_, text)| parse_explicit_phase_heading(text)?.0).collect();
        let used_task_ids = blocks.iter().filter_map(|block| match &block.kind {
            PlanLineKind::Checkbox { mark, text } => item::parse_task_item(text, Some(mark)).id,
            PlanLineKind::Heading { text, .. }
                if matches!(source, TaskSource::Checkboxes | TaskSource::TaskHeadings)
                    && counts(block)
                    && !is_chapter(&groups, block, text) =>
            {
                item::parse_task_heading(text).id
            }
            _ => None,
        });
        let (used_task_ids, phases_with_tasks) = (used_task_ids.collect(), HashSet::new());
        let mut shape = OutlineShape {
            source,
            has_boxes,
            has_phases,
            phases_with_numbers: numbered,
            phases_with_task_headings,
            phases_with_tasks,
            phases_with_work: with_work,
            headings_with_labelled_tasks,
            headings_with_tasks: groups,
            used_phase_numbers,
            used_task_ids,
        };
        let is_filled = |block: &&PlanSourceLine| match &block.kind {
            PlanLineKind::Checkbox { .. } => true,
            PlanLineKind::Heading { level, text } => {
                shape.role_of_heading(block, *level, text) == HeadingRole::Task
            }
            _ => shape.is_task_item(block),
        };
        shape.phases_with_tasks = blocks.iter().filter(is_filled).map(|block| block.phase).collect();
        shape
    }

    pub fn has_tasks(&self, block: &PlanSourceLine) -> bool {
        self.phases_with_tasks.contains(&block.phase)
    }

    pub fn role_of_heading(&self, block: &PlanSourceLine, level: usize, text: &str) -> HeadingRole {
        if parse_explicit_phase_heading(text).is_some() {
            return HeadingRole::Phase;
        }
        if is_chapter(&self.headings_with_tasks, block, text) {
            return HeadingRole::Section;
        }
        let is_task = match self.source {
            // Checkboxes below a task are its parts, provided that a heading above the task can be the phase.
            TaskSource::Checkboxes => {
                item::is_task_heading(text) && (self.has_phases || item::begins_with_ticket_id(text))
            }
            TaskSource::TaskHeadings => item::is_task_heading(text),
            TaskSource::NumberedHeadings { level: of } => level == of && item::is_numbered(text),
            TaskSource::ItemsInPhases
            | TaskSource::NumberedItems { .. }
            | TaskSource::Bullets { .. }
            | TaskSource::NoTasks => false,
        };
        if is_task && level > 1 { HeadingRole::Task } else { HeadingRole::Section }
    }

    /// Returns whether an item without a checkbox is a task.
    pub fn is_task_item(&self, block: &PlanSourceLine) -> bool {
        let is_item = matches!(block.kind, PlanLineKind::Numbered { .. } | PlanLineKind::Bullet { .. });
        if !is_item || block.indent >= 2 {
            return false;
        }
        if block.phase > 0 && self.headings_with_labelled_tasks.contains(&block.heading) {
            return block.in_labelled_tasks;
        }
        let by_phase = match self.source {
            TaskSource::ItemsInPhases => true,
            // In a phase without task headings, the items of its list are the tasks.
            TaskSource::TaskHeadings => !self.phases_with_task_headings.contains(&block.phase),
            _ => false,
        };
        if by_phase && block.phase > 0 {
            return self.is_task_item_in_phase(block);
        }
        match (self.source, &block.kind) {
            (TaskSource::NumberedItems { only_steps }, PlanLineKind::Numbered { .. })
            | (TaskSource::Bullets { only_steps }, PlanLineKind::Bullet { .. }) => {
                !only_steps || is_likely_step_list(block)
            }
            // In a file with checkboxes, an item such as `- ✅ text` is also a task.
            (TaskSource::Checkboxes, PlanLineKind::Bullet { text }) => {
                marks::text_after_done_sign(text).is_some()
                    && may_be_work_list(block)
                    && (block.phase > 0 || !self.has_phases)
            }
            _ => false,
        }
    }

    fn is_task_item_in_phase(&self, block: &PlanSourceLine) -> bool {
        if !may_be_work_list(block) && self.phases_with_work.contains(&block.phase) {
            return false;
        }
        match &block.kind {
            PlanLineKind::Bullet { text } => {
                !self.phases_with_numbers.contains(&block.phase) && field::parse_field(text).is_none()
            }
            _ => true,
        }
    }

    pub fn doubt_about_tasks(&self, tasks: usize) -> Option<String> {
        let taken = match self.source {
            TaskSource::Checkboxes | TaskSource::TaskHeadings => return None,
            TaskSource::NumberedHeadings { .. } => "numbered headings",
            TaskSource::ItemsInPhases => "the lists of its phases",
            TaskSource::NumberedItems { .. } => "numbered lists",
            TaskSource::Bullets { .. } => "lists without checkboxes",
            TaskSource::NoTasks if self.has_phases => {
                return Some("its phases have no lists that could be lists of tasks".to_owned());
            }
            TaskSource::NoTasks => return Some("it has no list that could be a list of tasks".to_owned()),
        };
        let boxes = if self.has_boxes { "its phases have no checkboxes" } else { "it has no checkboxes" };
        Some(format!("{boxes} (`- [ ]`): {tasks} tasks were taken from {taken}"))
    }
}

/// Returns whether a heading such as `1.2 Name` is a chapter, that is, whether a list of tasks is below it.
/// `Task 1.2: Name` is always a task.
fn is_chapter(groups: &HashSet<usize>, block: &PlanSourceLine, text: &str) -> bool {
    groups.contains(&block.heading) && item::chapter_number(text).is_some()
}

/// Returns the headings that have checkboxes or a labelled list of tasks anywhere below them.
fn headings_with_tasks(blocks: &[PlanSourceLine]) -> HashSet<usize> {
    let mut groups = HashSet::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    for block in blocks {
        match &block.kind {
            PlanLineKind::Heading { level, .. } => {
                open.retain(|(above, _)| above < level);
                open.push((*level, block.heading));
            }
            PlanLineKind::Checkbox { .. } if block.list_meaning != ListMeaning::Criteria => {
                groups.extend(open.iter().map(|(_, heading)| *heading));
            }
            _ if block.in_labelled_tasks => groups.extend(open.iter().map(|(_, heading)| *heading)),
            _ => {}
        }
    }
    groups
}

/// Returns whether the list that contains this line may be a list of work.
fn may_be_work_list(block: &PlanSourceLine) -> bool {
    !matches!(block.list_meaning, ListMeaning::Criteria | ListMeaning::OtherContent)
}

/// Returns whether the list that contains this line is likely to be a list of steps.
fn is_likely_step_list(block: &PlanSourceLine) -> bool {
    may_be_work_list(block) && (block.under_steps_heading || block.list_meaning == ListMeaning::Tasks)
}
