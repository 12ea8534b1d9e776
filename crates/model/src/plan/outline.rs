//! Reads a `plan.md` that thru, a person or an agent wrote. Headings are phases, checkboxes are tasks, and nested
//! checkboxes are parts of tasks. Reading never fails: ambiguous text is read in the most likely way, with a warning.

mod field;
mod heading;
mod item;
mod label;
mod lines;
mod marks;
mod phase;
mod resolve;
mod shape;
mod table;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::json::{ImportWarning, ImportedPlan};
use super::markdown::PLAN_VIEW_HEADER_START;
use super::{Phase, PhaseStatus, Plan, Task, TaskStatus};
use crate::id::Id;
use crate::render::one_line;
use field::TaskField;
use item::ParsedTaskItem;
use label::ListMeaning;
use lines::{CheckboxMark, PlanLineKind, PlanSourceLine};
use shape::OutlineShape;

/// The start of a comment whose fields override the visible lines.
pub(super) const EXACT_FIELDS_COMMENT_START: &str = "<!-- thru: ";
pub(super) const EXACT_FIELDS_COMMENT_END: &str = " -->";

pub fn read_outline(bytes: &[u8]) -> ImportedPlan {
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let mut warnings = Vec::new();
    if let std::borrow::Cow::Owned(_) = text {
        warnings.push(ImportWarning { line: 1, text: "the file contains text that is not UTF-8".to_owned() });
    }
    let blocks = lines::split_source_lines(&text);
    let shape = OutlineShape::of_lines(&blocks);
    let mut reader = PlanOutlineReader::new(&shape, warnings);
    reader.is_written_by_thru = text.starts_with(PLAN_VIEW_HEADER_START);
    for block in &blocks {
        reader.read_line(block);
    }
    reader.finish()
}

/// Reads one task back from the lines that [`super::render_plan`] prints.
pub(super) fn read_rendered_task(lines: &str, phase: u32) -> Option<Task> {
    let read = read_outline(format!("## Phase {phase}: _ [PENDING]\n{lines}").as_bytes()).plan;
    let mut tasks = read.phases.into_iter().next()?.tasks.into_iter();
    let first = tasks.next();
    first.filter(|_| tasks.next().is_none())
}

struct PlanOutlineReader<'s> {
    shape: &'s OutlineShape,
    /// Whether thru wrote the file. If it did, the first heading of level 1 is always the title.
    is_written_by_thru: bool,
    plan: Plan,
    has_title: bool,
    warnings: Vec<ImportWarning>,
    headings: Vec<OpenHeading>,
    /// The tasks that may be the parent of the next item, each with its indentation, outermost first.
    possible_parents: Vec<(usize, String)>,
    /// The task that the next lines belong to: the index of its phase, its index in the phase, and its indentation.
    current_task: Option<(usize, usize, usize)>,
    /// Whether a blank line has ended the task's description.
    paragraph_ended: bool,
    /// Whether the next field or thru comment describes the last phase. This is true until a task begins.
    comment_is_of_phase: bool,
    used_ids: HashSet<String>,
    /// The line numbers of list items that are neither tasks nor notes of a task.
    skipped_lines: Vec<usize>,
    /// Task ids from the file that could not be kept, as (phase, old id, new id).
    renamed_ids: Vec<(u32, String, String)>,
    heading_task: Option<HeadingTask>,
    /// Dependencies and other facts that can be resolved only after the whole file has been read.
    deferred_dependencies: resolve::DeferredDependencies,
}

/// A task that has its own heading.
struct HeadingTask {
    level: usize,
    text: String,
    id: String,
    at: TaskPositionInOutline,
}

/// The index of a task's phase, and the task's index in the phase.
type TaskPositionInOutline = (usize, usize);

/// A heading whose section contains the current line.
struct OpenHeading {
    level: usize,
    text: String,
    /// The index of the phase, if the heading is a phase.
    phase: Option<usize>,
    is_explicit: bool,
    /// The number of a chapter. It is the prefix of the ids of the chapter's tasks.
    id: Option<String>,
    /// Whether the heading marks everything below it as done.
    is_finished: bool,
}

impl<'s> PlanOutlineReader<'s> {
    fn new(shape: &'s OutlineShape, warnings: Vec<ImportWarning>) -> PlanOutlineReader<'s> {
        PlanOutlineReader {
            shape,
            is_written_by_thru: false,
            plan: Plan { swarm: String::new(), ..Plan::new("") },
            has_title: false,
            warnings,
            headings: Vec::new(),
            possible_parents: Vec::new(),
            current_task: None,
            paragraph_ended: false,
            comment_is_of_phase: false,
            used_ids: HashSet::new(),
            skipped_lines: Vec::new(),
            renamed_ids: Vec::new(),
            heading_task: None,
            deferred_dependencies: resolve::DeferredDependencies::default(),
        }
    }

    fn read_line(&mut self, block: &PlanSourceLine) {
        match &block.kind {
            PlanLineKind::Blank => self.paragraph_ended = true,
            PlanLineKind::OwnComment(json) => self.read_exact_fields(json, block.line),
            PlanLineKind::Heading { level, text } => self.read_heading(block, *level, text),
            PlanLineKind::Checkbox { mark, text } => match self.heading_task.as_ref().map(|task| task.at) {
                Some(task) if block.list_meaning == ListMeaning::Criteria => {
                    self.deferred_dependencies.criteria.push((
                        task,
                        *mark == CheckboxMark::Certain(TaskStatus::Completed),
                        text.clone(),
                    ));
                }
                _ => {
                    let parsed = item::parse_task_item(text, Some(mark));
                    self.warn_of_contradiction(&parsed, block.line);
                    self.read_item(block, parsed);
                }
            },
            PlanLineKind::Numbered { number, text } if self.shape.is_task_item(block) => {
                let mut parsed = item::parse_task_item(text, None);
                parsed.id = parsed.id.or_else(|| Some(number.to_string()));
                self.finish_by_heading(&mut parsed);
                self.read_item(block, parsed);
            }
            PlanLineKind::Bullet { text } if self.shape.is_task_item(block) => {
                let mut parsed = item::parse_task_item(text, None);
                self.finish_by_heading(&mut parsed);
                self.read_item(block, parsed);
            }
            PlanLineKind::Numbered { text, .. } | PlanLineKind::Bullet { text } => {
                self.read_other_line(block, text, true);
            }
            PlanLineKind::Text { text } => self.read_other_line(block, text, false),
        }
    }

    fn read_item(&mut self, block: &PlanSourceLine, parsed: ParsedTaskItem) {
        while self.possible_parents.last().is_some_and(|(indent, _)| *indent >= block.indent) {
            self.possible_parents.pop();
        }
        let parent = self.possible_parents.last().map(|(_, id)| id.clone());
        let phase = match (&parent, self.current_task) {
            (Some(_), Some((phase, ..))) => phase,
            _ => self.phase_for(block),
        };
        let id = self.add_task(phase, parsed, block.line, block.indent, parent.as_deref());
        self.possible_parents.push((block.indent, id));
    }

    fn add_task(
        &mut self,
        phase: usize,
        parsed: ParsedTaskItem,
        line: usize,
        indent: usize,
        parent: Option<&str>,
    ) -> String {
        let number = self.plan.phases[phase].id;
        let id = self.choose_task_id(&parsed, number, line, parent);
        let mut rest = Map::new();
        if let Some(section) = self.section_name() {
            rest.insert("section".to_owned(), section.into());
        }
        let task = Task {
            id: id.clone(),
            phase: number,
            status: parsed.status,
            size: parsed.size,
            description: parsed.description,
            depends: parsed.depends,
            blocked_reason: parsed.blocked_reason,
            rest,
            ..Task::default()
        };
        // A file that thru wrote needs no warning. If a line in it is ambiguous, a comment contains the exact
        // fields.
        if let Some(doubt) = parsed.warning.filter(|_| !self.is_written_by_thru) {
            self.add_warning(line, doubt);
        }
        let tasks = &mut self.plan.phases[phase].tasks;
        tasks.push(task);
        let place = tasks.len() - 1;
        self.current_task = Some((phase, place, indent));
        (self.paragraph_ended, self.comment_is_of_phase) = (false, false);
        self.deferred_dependencies
            .parent_child_pairs
            .extend(self.heading_task.as_ref().map(|whole| (whole.at, (phase, place))));
        id
    }

    /// Returns the text of the heading between a task and its phase.
    fn section_name(&self) -> Option<String> {
        let section = self.headings.last().filter(|open| !open.is_explicit && open.phase.is_none());
        match &self.heading_task {
            Some(task) if section.is_none_or(|open| open.level < task.level) => Some(task.text.clone()),
            _ => section.map(|open| open.text.clone()),
        }
    }

    /// Returns the prefix of the next task's id, which is the number of the chapter or task that contains it.
    fn task_id_prefix(&self) -> Option<String> {
        let task = self.heading_task.as_ref().map(|task| (task.level, &task.id));
        let chapters = self.headings.iter().filter_map(|open| Some((open.level, open.id.as_ref()?)));
        chapters.chain(task).max_by_key(|(level, _)| *level).map(|(_, id)| id.clone())
    }

    /// Returns the id from the file if it is valid and not used yet, and otherwise the next number.
    fn choose_task_id(
        &mut self,
        parsed: &ParsedTaskItem,
        phase: u32,
        line: usize,
        parent: Option<&str>,
    ) -> String {
        let called = parsed.id.as_deref();
        let chapter = self.task_id_prefix();
        let parent = parent.or(chapter.as_deref());
        let wanted = match called {
            // A number such as `3.` is relative to the parent or the phase.
            Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => {
                let id = format!("{}.{number}", parent.map_or(phase.to_string(), str::to_owned));
                // If a second list in the same phase starts at 1 again, its ids are already used.
                Some(id).filter(|id| !self.used_ids.contains(id))
            }
            Some(id) => Some(id.to_owned()),
            None => None,
        };
        let usable = wanted.as_deref().filter(|id| Id::new(id).is_ok() && !self.used_ids.contains(*id));
        let id = match (usable, &wanted) {
            (Some(id), _) => id.to_owned(),
            (None, Some(taken)) if self.used_ids.contains(taken.as_str()) => {
                let id =
                    (2..).map(|n| format!("{taken}-{n}")).find(|id| !self.used_ids.contains(id.as_str()));
                let id = id.unwrap_or_default();
                self.add_warning(
                    line,
                    format!("duplicate task id {}: the second task gets the id {id}", one_line(taken, 40)),
                );
                id
            }
            (None, bad) => {
                if let Some(bad) = bad {
                    self.add_warning(
                        line,
                        format!("`{}` cannot be an id; the task gets a number", one_line(bad, 40)),
                    );
                }
                let before = parent.map_or(phase.to_string(), str::to_owned);
                let is_free =
                    |id: &String| !self.used_ids.contains(id) && !self.shape.used_task_ids.contains(id);
                (1_u64..).map(|n| format!("{before}.{n}")).find(is_free).unwrap_or_default()
            }
        };
        if let Some(called) = called.filter(|called| *called != id) {
            self.renamed_ids.push((phase, called.to_owned(), id.clone()));
        }
        self.used_ids.insert(id.clone());
        id
    }

    /// Reads a line that is not a task. It may be a field of the task above, a continuation of that task's
    /// description, or a note.
    fn read_other_line(&mut self, block: &PlanSourceLine, text: &str, is_item: bool) {
        if self.read_phase_field(block, text, is_item) {
            return;
        }
        let Some((phase, place, indent)) = self.current_task else {
            match self.plan.phases.last_mut().filter(|_| self.comment_is_of_phase) {
                Some(phase) => {
                    append_note(&mut phase.rest, text);
                    let at = self.plan.phases.len() - 1;
                    self.deferred_dependencies.phase_note_items.extend(is_item.then_some((at, block.line)));
                }
                None if is_item => self.skipped_lines.push(block.line),
                None => self.read_plan_head_line(text),
            }
            return;
        };
        // This line is the label of a list of acceptance criteria, which are checkboxes.
        if block.list_meaning != ListMeaning::Criteria
            && is_criteria_label(text)
            && self.heading_task.is_some()
        {
            return;
        }
        let heading_task = self.possible_parents.is_empty();
        let below = heading_task || block.indent > indent;
        if !below && (is_item || self.paragraph_ended) {
            // The line does not belong to the task above.
            self.current_task = None;
            self.possible_parents.clear();
            if is_item {
                self.skipped_lines.push(block.line);
            }
            return;
        }
        let mut doubts = Vec::new();
        let task = &mut self.plan.phases[phase].tasks[place];
        match field::parse_field(text) {
            Some(TaskField::Acceptance(text)) => {
                task.acceptance = Some(join_texts(task.acceptance.take(), &text));
            }
            Some(TaskField::Files(files)) => task.files_touched.extend(files),
            Some(TaskField::Depends(ids, doubt)) => {
                task.depends.extend(ids);
                doubts.extend(doubt);
            }
            Some(TaskField::Size(size)) => task.size = Some(size),
            Some(TaskField::Estimate(size)) => {
                task.size = task.size.or(Some(size));
                append_note(&mut task.rest, text);
            }
            Some(TaskField::Status(status)) => {
                task.status = status;
                self.deferred_dependencies.tasks_with_status.insert((phase, place));
            }
            Some(TaskField::Blocked(why)) => task.blocked_reason = Some(why),
            Some(TaskField::Evidence(path)) => task.evidence_path = Some(path),
            Some(TaskField::WithoutEvidence(why)) => task.without_evidence = Some(why),
            // The line continues the description of the task.
            None if !is_item && !self.paragraph_ended && !heading_task => {
                task.description = separator_on_one_line(&task.description, text);
            }
            None => append_note(&mut task.rest, text),
        }
        if is_item {
            self.paragraph_ended = true;
        }
        doubts.into_iter().for_each(|doubt| self.add_warning(block.line, doubt));
    }

    /// Reads a line about the whole phase, such as `**Dependencies**: Phase 1` or `**Status:** ✅ COMPLETE`. Returns
    /// false if the line is not about the phase.
    fn read_phase_field(&mut self, block: &PlanSourceLine, text: &str, is_item: bool) -> bool {
        let is_below_task = self
            .current_task
            .is_some_and(|(.., indent)| self.possible_parents.is_empty() || block.indent > indent);
        if self.is_written_by_thru || is_below_task {
            return false;
        }
        let Some(open) = self.headings.iter_mut().rev().find(|open| open.is_explicit) else { return false };
        let Some(phase) = open.phase else { return false };
        if let Some(on) = field::phase_dependencies(text) {
            self.deferred_dependencies.phase_depends.push((phase, on, block.line));
            return true;
        }
        if self.comment_is_of_phase
            && let Some(TaskField::Status(status)) = field::parse_field(text)
        {
            self.plan.phases[phase].status = PhaseStatus::from_task_status(status);
            open.is_finished = status == TaskStatus::Completed;
            return true;
        }
        // The line is a criterion of the phase, such as `- It compiles` below `Acceptance criteria:`.
        if is_item && block.list_meaning == ListMeaning::Criteria && self.heading_task.is_none() {
            append_note(&mut self.plan.phases[phase].rest, text);
            return true;
        }
        false
    }

    fn read_plan_head_line(&mut self, text: &str) {
        let in_head = self.plan.phases.is_empty() && self.headings.is_empty();
        if let Some(swarm) = text.strip_prefix("Swarm:").filter(|_| in_head) {
            self.plan.swarm = swarm.trim().to_owned();
        } else if let Some(phase) = text.strip_prefix("Phase:").filter(|_| in_head) {
            let digits: String = phase.trim_start().chars().take_while(char::is_ascii_digit).collect();
            self.plan.current_phase = digits.parse().ok();
        }
    }

    /// Reads the exact fields of a phase or a task from a comment that thru wrote.
    fn read_exact_fields(&mut self, json: &str, line: usize) {
        let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(json) else {
            return self.add_warning(line, "a thru comment that is not JSON is ignored".to_owned());
        };
        let done = match (self.current_task, self.comment_is_of_phase) {
            (Some((phase, place, _)), _) => {
                let task = &mut self.plan.phases[phase].tasks[place];
                let old = task.id.clone();
                let done = overwrite_fields(task, &fields);
                if done {
                    let new = task.id.clone();
                    self.used_ids.remove(&old);
                    self.used_ids.insert(new);
                }
                done
            }
            (None, true) => self.plan.phases.last_mut().is_some_and(|phase| overwrite_fields(phase, &fields)),
            (None, false) if self.plan.phases.is_empty() => overwrite_fields(&mut self.plan, &fields),
            (None, false) => false,
        };
        if !done {
            self.add_warning(line, "a thru comment that does not fit here is ignored".to_owned());
        }
    }

    fn add_warning(&mut self, line: usize, text: String) {
        self.warnings.push(ImportWarning { line, text });
    }

    fn finish(mut self) -> ImportedPlan {
        self.resolve_dependencies();
        if let Some(first) = self.skipped_lines.first() {
            let items = match self.skipped_lines.len() {
                1 => "1 list item is not a task and was left out".to_owned(),
                n => format!("{n} list items are not tasks and were left out, the first of them here"),
            };
            self.warnings.push(ImportWarning { line: *first, text: items });
        }
        let doubt = self.shape.doubt_about_tasks(self.plan.tasks().count());
        if let Some(doubt) = doubt.filter(|_| !self.is_written_by_thru) {
            self.warnings.insert(0, ImportWarning { line: 1, text: doubt });
        }
        ImportedPlan { plan: self.plan, warnings: self.warnings }
    }
}

/// Replaces fields of a phase or a task. A null value removes the field. Returns false if the result is invalid.
fn overwrite_fields<T: serde::Serialize + serde::de::DeserializeOwned>(
    thing: &mut T,
    fields: &Map<String, Value>,
) -> bool {
    let Ok(Value::Object(mut all)) = serde_json::to_value(&*thing) else { return false };
    for (key, value) in fields {
        match value {
            Value::Null => drop(all.shift_remove(key)),
            value => drop(all.insert(key.clone(), value.clone())),
        }
    }
    match serde_json::from_value(Value::Object(all)) {
        Ok(read) => {
            *thing = read;
            true
        }
        Err(_) => false,
    }
}

fn append_note(rest: &mut Map<String, Value>, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if let Value::Array(notes) = rest.entry("notes").or_insert_with(|| Value::Array(Vec::new())) {
        notes.push(text.trim().into());
    }
}

fn is_criteria_label(text: &str) -> bool {
    label::label_words(text)
        .or_else(|| label::label_at_item_end(text))
        .is_some_and(|words| label::meaning_of_list_label(words) == ListMeaning::Criteria)
}

fn join_texts(known: Option<String>, more: &str) -> String {
    match known {
        Some(known) if !known.is_empty() => format!("{known}; {more}"),
        _ => more.to_owned(),
    }
}

fn separator_on_one_line(known: &str, more: &str) -> String {
    format!("{known} {}", more.trim())
}

/// Marks a pending phase as complete if all its tasks are completed or closed, or as in progress if one of them was
/// started.
pub(super) fn complete_finished_phases(plan: &mut Plan) {
    for phase in &mut plan.phases {
        let over = !phase.tasks.is_empty() && phase.tasks.iter().all(|task| task.status.is_over());
        let begun = phase
            .tasks
            .iter()
            .any(|task| matches!(task.status, TaskStatus::Completed | TaskStatus::InProgress));
        phase.status = match phase.status {
            PhaseStatus::Pending if over => PhaseStatus::Complete,
            PhaseStatus::Pending if begun => PhaseStatus::InProgress,
            status => status,
        };
    }
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;

#[cfg(test)]
mod free_form_tests;
