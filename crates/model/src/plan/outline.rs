//! Reads a plan.md, written by `thru` or by people and agents: headings are phases, boxes are tasks, nested boxes are
//! their parts. It never fails: ambiguous text is read in the likeliest way, with a warning.

mod item;
mod shape;

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::json::{Imported, Warning};
use super::markdown::HEADER;
use super::{Phase, PhaseStatus, Plan, Task, TaskStatus};
use crate::id::Id;
use crate::render::one_line;
use item::{Field, Parsed};
use shape::{HeadingRole, Kind, Shape, SourceLine};

/// The start of a comment with exact fields. They are used, whatever the plain form next to it says.
pub(super) const EXACT_COMMENT: &str = "<!-- thru: ";
pub(super) const EXACT_COMMENT_END: &str = " -->";

pub fn read(bytes: &[u8]) -> Imported {
    let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
    let mut warnings = Vec::new();
    if let std::borrow::Cow::Owned(_) = text {
        warnings.push(Warning { line: 1, text: "not all of it is UTF-8 text".to_owned() });
    }
    let blocks = shape::blocks(&text);
    let shape = Shape::of(&blocks);
    let mut reader = Reader::new(&shape, warnings);
    reader.is_ours = text.starts_with(HEADER);
    for block in &blocks {
        reader.take_line(block);
    }
    reader.finish()
}

/// Reads one task as [`super::render`] prints it.
pub(super) fn read_task(lines: &str, phase: u32) -> Option<Task> {
    let read = read(format!("## Phase {phase}: _ [PENDING]\n{lines}").as_bytes()).plan;
    let mut tasks = read.phases.into_iter().next()?.tasks.into_iter();
    let first = tasks.next();
    first.filter(|_| tasks.next().is_none())
}

struct Reader<'s> {
    shape: &'s Shape,
    /// Whether `thru` wrote the file, so that its title is a title whatever it says.
    is_ours: bool,
    plan: Plan,
    has_title: bool,
    warnings: Vec<Warning>,
    headings: Vec<Open>,
    /// The tasks that the next item may be part of, with their indents, outermost first.
    parents: Vec<(usize, String)>,
    /// The task that lines belong to: the index of its phase, its own index, and its indent.
    task: Option<(usize, usize, usize)>,
    /// Whether a blank line followed the task's own text.
    paragraph_ended: bool,
    /// Whether a comment belongs to the last phase.
    in_phase: bool,
    ids: HashSet<String>,
    /// The lines of list items that are neither tasks nor notes of a task.
    left_out: Vec<usize>,
    /// Task ids in the file that could not be kept: (phase, old id, new id).
    renamed: Vec<(u32, String, String)>,
}

/// A heading that contains the current line.
struct Open {
    level: usize,
    text: String,
    /// The index among the phases, once the heading is a phase.
    phase: Option<usize>,
    explicit: bool,
}

impl<'s> Reader<'s> {
    fn new(shape: &'s Shape, warnings: Vec<Warning>) -> Reader<'s> {
        Reader {
            shape,
            is_ours: false,
            plan: Plan { title: String::new(), ..Plan::new("") },
            has_title: false,
            warnings,
            headings: Vec::new(),
            parents: Vec::new(),
            task: None,
            paragraph_ended: false,
            in_phase: false,
            ids: HashSet::new(),
            left_out: Vec::new(),
            renamed: Vec::new(),
        }
    }

    fn take_line(&mut self, block: &SourceLine) {
        match &block.kind {
            Kind::Blank => self.paragraph_ended = true,
            Kind::Exact(json) => self.exact_fields(json, block.line),
            Kind::Heading { level, text } => self.heading(*level, text, block.line),
            Kind::Check { mark, text } => {
                let parsed = item::parse(text, Some(mark));
                self.item(block, parsed);
            }
            Kind::Numbered { number, text } if self.shape.takes(block) => {
                let mut parsed = item::parse(text, None);
                parsed.id = parsed.id.or_else(|| Some(number.to_string()));
                self.item(block, parsed);
            }
            Kind::Bullet { text } if self.shape.takes(block) => {
                let parsed = item::parse(text, None);
                self.item(block, parsed);
            }
            Kind::Numbered { text, .. } | Kind::Bullet { text } => self.other_line(block, text, true),
            Kind::Text { text } => self.other_line(block, text, false),
        }
    }

    fn heading(&mut self, level: usize, text: &str, line: usize) {
        (self.task, self.in_phase) = (None, false);
        self.parents.clear();
        self.headings.retain(|open| open.level < level);
        if !self.has_title && level == 1 {
            self.has_title = true;
            self.plan.title = text.trim().to_owned();
            if self.is_ours || shape::explicit_phase(text).is_none() {
                return;
            }
        }
        // Numbered chapters outside the phases are not tasks.
        let is_beside = self.shape.has_phases && !self.headings.iter().any(|open| open.explicit);
        match self.shape.role(level, text) {
            HeadingRole::Task if !is_beside => {
                let phase = self.phase_for(line);
                let parsed = item::parse_heading(text);
                self.add(phase, parsed, line, 0, None);
            }
            HeadingRole::Phase => {
                let (id, name) = shape::explicit_phase(text).unwrap_or((None, text.to_owned()));
                let phase = self.open_phase(id, &name, line);
                let explicit = true;
                self.headings.push(Open { level, text: text.to_owned(), phase: Some(phase), explicit });
                self.in_phase = true;
            }
            HeadingRole::Task | HeadingRole::Section => {
                self.headings.push(Open { level, text: text.to_owned(), phase: None, explicit: false });
            }
        }
    }

    /// Returns the phase of the next task: the explicit one around it, or else the nearest heading.
    fn phase_for(&mut self, line: usize) -> usize {
        if let Some(open) = self.headings.iter().rev().find(|open| open.explicit) {
            return open.phase.unwrap_or(0);
        }
        match self.headings.last() {
            Some(Open { phase: Some(phase), .. }) => *phase,
            Some(open) => {
                let name = open.text.clone();
                let phase = self.open_phase(None, &name, line);
                if let Some(open) = self.headings.last_mut() {
                    open.phase = Some(phase);
                }
                phase
            }
            None if self.plan.phases.is_empty() => self.open_phase(None, "Tasks", line),
            None => self.plan.phases.len() - 1,
        }
    }

    fn open_phase(&mut self, id: Option<u32>, heading: &str, line: usize) -> usize {
        let (name, status) = item::phase_name(heading);
        let taken = |id: u32| self.plan.phases.iter().any(|phase| phase.id == id);
        let next = || (1..).find(|id| !taken(*id) && !self.shape.taken.contains(id)).unwrap_or(u32::MAX);
        let id = match id {
            Some(id) if !taken(id) => id,
            // A chapter about a phase comes before the phase itself.
            Some(id) if !self.is_ours && self.empty_phase(id).is_some() => {
                self.warn(line, format!("phase {id} has two headings; the one without tasks is left out"));
                let at = self.empty_phase(id).unwrap_or_default();
                (self.plan.phases[at].name, self.plan.phases[at].status) = (name, status.unwrap_or_default());
                return at;
            }
            Some(id) => {
                let new = next();
                self.warn(line, format!("a second phase {id} is read as phase {new}"));
                new
            }
            None => next(),
        };
        let phase = Phase { id, name, status: status.unwrap_or_default(), ..Phase::default() };
        self.plan.phases.push(phase);
        self.plan.phases.len() - 1
    }

    /// Returns the index of a phase that has no tasks.
    fn empty_phase(&self, id: u32) -> Option<usize> {
        self.plan.phases.iter().position(|phase| phase.id == id && phase.tasks.is_empty())
    }

    fn item(&mut self, block: &SourceLine, parsed: Parsed) {
        while self.parents.last().is_some_and(|(indent, _)| *indent >= block.indent) {
            self.parents.pop();
        }
        let parent = self.parents.last().map(|(_, id)| id.clone());
        let phase = match (&parent, self.task) {
            (Some(_), Some((phase, ..))) => phase,
            _ => self.phase_for(block.line),
        };
        let id = self.add(phase, parsed, block.line, block.indent, parent.as_deref());
        self.parents.push((block.indent, id));
    }

    fn add(
        &mut self,
        phase: usize,
        parsed: Parsed,
        line: usize,
        indent: usize,
        parent: Option<&str>,
    ) -> String {
        let number = self.plan.phases[phase].id;
        let id = self.id_for(&parsed, number, line, parent);
        let section = self.headings.last().filter(|open| !open.explicit && open.phase.is_none());
        let mut rest = Map::new();
        if let Some(section) = section {
            rest.insert("section".to_owned(), section.text.clone().into());
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
        if let Some(doubt) = parsed.doubt {
            self.warn(line, doubt);
        }
        let tasks = &mut self.plan.phases[phase].tasks;
        tasks.push(task);
        self.task = Some((phase, tasks.len() - 1, indent));
        (self.paragraph_ended, self.in_phase) = (false, false);
        id
    }

    /// Returns the id in the file if it is valid and free, or else the next number.
    fn id_for(&mut self, parsed: &Parsed, phase: u32, line: usize, parent: Option<&str>) -> String {
        let called = parsed.id.as_deref();
        let wanted = match called {
            // The number `3.` counts within its phase or its parent.
            Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => {
                let id = format!("{}.{number}", parent.map_or(phase.to_string(), str::to_owned));
                // A second list in the phase starts counting again, so the number may be used already.
                Some(id).filter(|id| !self.ids.contains(id))
            }
            Some(id) => Some(id.to_owned()),
            None => None,
        };
        let usable = wanted.as_deref().filter(|id| Id::new(id).is_ok() && !self.ids.contains(*id));
        let id = match (usable, &wanted) {
            (Some(id), _) => id.to_owned(),
            (None, Some(taken)) if self.ids.contains(taken.as_str()) => {
                let id = (2..).map(|n| format!("{taken}-{n}")).find(|id| !self.ids.contains(id.as_str()));
                let id = id.unwrap_or_default();
                self.warn(line, format!("a second task {} is read as {id}", one_line(taken, 40)));
                id
            }
            (None, bad) => {
                if let Some(bad) = bad {
                    self.warn(
                        line,
                        format!("`{}` cannot be an id; the task got a number", one_line(bad, 40)),
                    );
                }
                let before = parent.map_or(phase.to_string(), str::to_owned);
                let is_free = |id: &String| !self.ids.contains(id) && !self.shape.named.contains(id);
                (1_u64..).map(|n| format!("{before}.{n}")).find(is_free).unwrap_or_default()
            }
        };
        if let Some(called) = called.filter(|called| *called != id) {
            self.renamed.push((phase, called.to_owned(), id.clone()));
        }
        self.ids.insert(id.clone());
        id
    }

    /// Handles a line that is not a task: a field of the task above, the rest of its text, or a note.
    fn other_line(&mut self, block: &SourceLine, text: &str, is_item: bool) {
        let Some((phase, place, indent)) = self.task else {
            match self.plan.phases.last_mut().filter(|_| self.in_phase) {
                Some(phase) => add_note(&mut phase.rest, text),
                None if is_item => self.left_out.push(block.line),
                None => self.head_line(text),
            }
            return;
        };
        let heading_task = self.parents.is_empty();
        let below = heading_task || block.indent > indent;
        if !below && (is_item || self.paragraph_ended) {
            // This line is no longer about the task.
            self.task = None;
            self.parents.clear();
            if is_item {
                self.left_out.push(block.line);
            }
            return;
        }
        let mut doubts = Vec::new();
        let task = &mut self.plan.phases[phase].tasks[place];
        match item::field(text) {
            Some(Field::Acceptance(text)) => task.acceptance = Some(joined(task.acceptance.take(), &text)),
            Some(Field::Files(files)) => task.files_touched.extend(files),
            Some(Field::Depends(ids, doubt)) => {
                task.depends.extend(ids);
                doubts.extend(doubt);
            }
            Some(Field::Size(size)) => task.size = Some(size),
            Some(Field::Status(status)) => task.status = status,
            Some(Field::Blocked(why)) => task.blocked_reason = Some(why),
            Some(Field::Evidence(path)) => task.evidence_path = Some(path),
            Some(Field::WithoutEvidence(why)) => task.without_evidence = Some(why),
            // The line is the rest of a wrapped text.
            None if !is_item && !self.paragraph_ended && !heading_task => {
                task.description = joined_line(&task.description, text);
            }
            None => add_note(&mut task.rest, text),
        }
        if is_item {
            self.paragraph_ended = true;
        }
        doubts.into_iter().for_each(|doubt| self.warn(block.line, doubt));
    }

    fn head_line(&mut self, text: &str) {
        let in_head = self.plan.phases.is_empty() && self.headings.is_empty();
        if let Some(swarm) = text.strip_prefix("Swarm:").filter(|_| in_head) {
            self.plan.swarm = swarm.trim().to_owned();
        } else if let Some(phase) = text.strip_prefix("Phase:").filter(|_| in_head) {
            let digits: String = phase.trim_start().chars().take_while(char::is_ascii_digit).collect();
            self.plan.current_phase = digits.parse().ok();
        }
    }

    /// Reads the fields in a comment, which the plain form does not contain.
    fn exact_fields(&mut self, json: &str, line: usize) {
        let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(json) else {
            return self.warn(line, "a comment of thru that is not JSON is left out".to_owned());
        };
        let done = match (self.task, self.in_phase) {
            (Some((phase, place, _)), _) => {
                let task = &mut self.plan.phases[phase].tasks[place];
                let old = task.id.clone();
                let done = overwrite(task, &fields);
                if done {
                    let new = task.id.clone();
                    self.ids.remove(&old);
                    self.ids.insert(new);
                }
                done
            }
            (None, true) => self.plan.phases.last_mut().is_some_and(|phase| overwrite(phase, &fields)),
            (None, false) if self.plan.phases.is_empty() => overwrite(&mut self.plan, &fields),
            (None, false) => false,
        };
        if !done {
            self.warn(line, "a comment of thru that does not fit here is left out".to_owned());
        }
    }

    fn warn(&mut self, line: usize, text: String) {
        self.warnings.push(Warning { line, text });
    }

    fn finish(mut self) -> Imported {
        // `depends: 3` means the task with that number in the file, within its phase.
        for phase in &mut self.plan.phases {
            for task in &mut phase.tasks {
                for id in task.depends.iter_mut().filter(|id| !self.ids.contains(id.as_str())) {
                    let here = self.renamed.iter().find(|(at, called, _)| *at == phase.id && called == id);
                    let anywhere = || self.renamed.iter().find(|(_, called, _)| called == id);
                    if let Some((_, _, new)) = here.or_else(anywhere) {
                        id.clone_from(new);
                    }
                }
            }
        }
        if let Some(first) = self.left_out.first() {
            let items = match self.left_out.len() {
                1 => "1 list item is not a task and was left out".to_owned(),
                n => format!("{n} list items are not tasks and were left out, the first of them here"),
            };
            self.warnings.push(Warning { line: *first, text: items });
        }
        if let Some(doubt) = self.shape.doubt(self.plan.tasks().count()) {
            self.warnings.insert(0, Warning { line: 1, text: doubt });
        }
        Imported { plan: self.plan, warnings: self.warnings }
    }
}

/// Replaces fields; null removes one. Returns false if the result is invalid.
fn overwrite<T: serde::Serialize + serde::de::DeserializeOwned>(
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

fn add_note(rest: &mut Map<String, Value>, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if let Value::Array(notes) = rest.entry("notes").or_insert_with(|| Value::Array(Vec::new())) {
        notes.push(text.trim().into());
    }
}

fn joined(known: Option<String>, more: &str) -> String {
    match known {
        Some(known) if !known.is_empty() => format!("{known}; {more}"),
        _ => more.to_owned(),
    }
}

fn joined_line(known: &str, more: &str) -> String {
    format!("{known} {}", more.trim())
}

/// A phase whose tasks are all over is over, even if its heading does not say so.
pub(super) fn settle_phases(plan: &mut Plan) {
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
