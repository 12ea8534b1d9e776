//! Headings of phases, of chapters within a phase, and of tasks.

use super::item::{self, ParsedTaskItem};
use super::label::ListMeaning;
use super::lines::PlanSourceLine;
use super::phase::{self, parse_explicit_phase_heading};
use super::shape::HeadingRole;
use super::{HeadingTask, OpenHeading, Phase, PhaseStatus, PlanOutlineReader, TaskStatus, marks};

impl PlanOutlineReader<'_> {
    pub(super) fn read_heading(&mut self, block: &PlanSourceLine, level: usize, text: &str) {
        (self.current_task, self.comment_is_of_phase) = (None, false);
        self.possible_parents.clear();
        self.headings.retain(|open| open.level < level);
        self.heading_task = self.heading_task.take().filter(|task| task.level < level);
        if !self.has_title && level == 1 {
            self.has_title = true;
            self.plan.title = text.trim().to_owned();
            if self.is_written_by_thru || parse_explicit_phase_heading(text).is_none() {
                return;
            }
        }
        // Numbered chapters outside the phases are not tasks.
        let is_beside = self.shape.has_phases && !self.headings.iter().any(|open| open.is_explicit);
        match self.shape.role_of_heading(block, level, text) {
            HeadingRole::Task if !is_beside || item::begins_with_ticket_id(text) => {
                self.read_task_heading(block, level, text);
            }
            HeadingRole::Phase if self.is_about_earlier(block, text) => {
                self.add_warning(
                    block.line,
                    "a phase has a second heading without tasks, which is left out".to_owned(),
                );
                self.read_section_heading(level, text);
            }
            HeadingRole::Phase => {
                let (id, name) = parse_explicit_phase_heading(text).unwrap_or((None, text.to_owned()));
                let phase = self.open_phase(id, &name, text, block);
                if marks::text_after_done_sign(text).is_some() {
                    self.plan.phases[phase].status = PhaseStatus::Complete;
                }
                let is_finished = self.plan.phases[phase].status == PhaseStatus::Complete;
                let text = text.to_owned();
                self.headings.push(OpenHeading {
                    level,
                    text,
                    phase: Some(phase),
                    is_explicit: true,
                    id: None,
                    is_finished,
                });
                self.comment_is_of_phase = true;
            }
            HeadingRole::Task | HeadingRole::Section => self.read_section_heading(level, text),
        }
        // The heading `#### Acceptance criteria` belongs to the task above it.
        if block.list_meaning == ListMeaning::Criteria
            && let Some(HeadingTask { at: (phase, place), .. }) = self.heading_task
        {
            self.current_task = Some((phase, place, 0));
        }
    }

    fn read_task_heading(&mut self, block: &PlanSourceLine, level: usize, text: &str) {
        let phase = self.phase_for(block);
        let mut parsed = item::parse_task_heading(text);
        self.finish_by_heading(&mut parsed);
        self.heading_task = None;
        let id = self.add_task(phase, parsed, block.line, 0, None);
        let at = (phase, self.plan.phases[phase].tasks.len() - 1);
        self.heading_task = Some(HeadingTask { level, text: text.to_owned(), id, at });
    }

    fn read_section_heading(&mut self, level: usize, text: &str) {
        let (name, status) = item::parse_phase_name_and_status(text);
        let is_finished = status == Some(PhaseStatus::Complete) || marks::is_heading_of_done_list(text);
        let text = if is_finished { name } else { text.to_owned() };
        let id = item::chapter_number(&text);
        self.headings.push(OpenHeading { level, text, phase: None, is_explicit: false, id, is_finished });
    }

    /// Returns whether a heading such as `Phase 2 Success:` is about an earlier phase and has no tasks.
    fn is_about_earlier(&self, block: &PlanSourceLine, text: &str) -> bool {
        let id = parse_explicit_phase_heading(text).and_then(|(id, _)| id);
        let is_known = id.is_some_and(|id| self.plan.phase(id).is_some());
        !self.is_written_by_thru && is_known && !self.shape.has_tasks(block)
    }

    /// Marks an item without a checkbox as done if a heading above it is marked as done.
    pub(super) fn finish_by_heading(&self, parsed: &mut ParsedTaskItem) {
        let is_finished = self.headings.iter().any(|open| open.is_finished);
        if is_finished && parsed.status == TaskStatus::Pending {
            parsed.status = TaskStatus::Completed;
        }
    }

    /// Warns about an open checkbox below a heading that is marked as done, once per heading. The checkbox stays open.
    pub(super) fn warn_of_contradiction(&mut self, parsed: &ParsedTaskItem, line: usize) {
        let is_open = !self.is_written_by_thru && !parsed.status.is_over();
        if let Some(open) = self.headings.iter_mut().find(|open| is_open && open.is_finished) {
            open.is_finished = false;
            self.add_warning(
                line,
                "the heading says done, but this box is open: the box takes precedence".to_owned(),
            );
        }
    }

    /// Returns the phase of the next task: the explicit phase that contains it or, if there is none, the nearest
    /// heading.
    pub(super) fn phase_for(&mut self, block: &PlanSourceLine) -> usize {
        if let Some(open) = self.headings.iter().rev().find(|open| open.is_explicit) {
            return open.phase.unwrap_or(0);
        }
        match self.headings.last() {
            Some(OpenHeading { phase: Some(phase), .. }) => *phase,
            Some(open) => {
                let name = open.text.clone();
                let phase = self.open_phase(None, &name, &name, block);
                if let Some(open) = self.headings.last_mut() {
                    open.phase = Some(phase);
                }
                phase
            }
            None if self.plan.phases.is_empty() => self.open_phase(None, "Tasks", "Tasks", block),
            None => self.plan.phases.len() - 1,
        }
    }

    fn open_phase(&mut self, id: Option<u32>, name: &str, heading: &str, block: &PlanSourceLine) -> usize {
        let line = block.line;
        let (mut name, status) = item::parse_phase_name_and_status(name);
        let taken = |id: u32| self.plan.phases.iter().any(|phase| phase.id == id);
        let next = || {
            (1..).find(|id| !taken(*id) && !self.shape.used_phase_numbers.contains(id)).unwrap_or(u32::MAX)
        };
        let id = match id {
            Some(id) if !taken(id) => id,
            // The earlier heading with this number has no tasks, so it was only a chapter about the phase.
            Some(id) if !self.is_written_by_thru && self.empty_phase(id).is_some() => {
                self.add_warning(
                    line,
                    format!("phase {id} has two headings; the one without tasks is left out"),
                );
                let at = self.empty_phase(id).unwrap_or_default();
                (self.plan.phases[at].name, self.plan.phases[at].status) = (name, status.unwrap_or_default());
                return at;
            }
            Some(id) => {
                let new = next();
                self.add_warning(line, format!("a second phase {id} is read as phase {new}"));
                if phase::only_mentions_phase(heading) {
                    name = heading.trim().trim_end_matches(':').to_owned();
                }
                new
            }
            None => next(),
        };
        let phase = Phase { id, name, status: status.unwrap_or_default(), ..Phase::default() };
        self.plan.phases.push(phase);
        self.plan.phases.len() - 1
    }

    fn empty_phase(&self, id: u32) -> Option<usize> {
        self.plan.phases.iter().position(|phase| phase.id == id && phase.tasks.is_empty())
    }
}
