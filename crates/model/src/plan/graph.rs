//! Draws the dependencies of a plan as text: below each task, those that wait for it.

use std::collections::HashSet;

use super::{Plan, Task, TaskStatus, natural};

/// One line of the drawing.
#[derive(Debug, PartialEq)]
pub struct GraphLine<'p> {
    /// The lines and branches before the task.
    pub rails: String,
    pub task: &'p Task,
    /// It was already drawn with everything below it.
    pub again: bool,
}

/// Draws tasks without dependencies first, each with what waits for it; a task is drawn in full once. Tasks in a
/// circle cannot be reached and come last.
pub fn graph(plan: &Plan) -> Vec<GraphLine<'_>> {
    let mut tasks: Vec<&Task> = plan.tasks().collect();
    tasks.sort_by(|a, b| natural(&a.id, &b.id));
    let known: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let mut below: std::collections::HashMap<&str, Vec<&Task>> = std::collections::HashMap::new();
    for task in &tasks {
        for id in &task.depends {
            below.entry(id.as_str()).or_default().push(task);
        }
    }
    let mut drawing = Drawing { below, drawn: HashSet::new(), lines: Vec::new() };
    for task in tasks.iter().filter(|task| !task.depends.iter().any(|id| known.contains(id.as_str()))) {
        drawing.draw(task);
    }
    for task in &tasks {
        if !drawing.drawn.contains(task.id.as_str()) {
            drawing.draw(task);
        }
    }
    drawing.lines
}

struct Drawing<'p> {
    below: std::collections::HashMap<&'p str, Vec<&'p Task>>,
    drawn: HashSet<&'p str>,
    lines: Vec<GraphLine<'p>>,
}

impl<'p> Drawing<'p> {
    /// Without recursion, because a chain may be as long as the plan.
    fn draw(&mut self, root: &'p Task) {
        // The lines that continue below, the task, and whether it is the last of its parent.
        let mut open: Vec<(String, &'p Task, Option<bool>)> = vec![(String::new(), root, None)];
        while let Some((rails, task, last)) = open.pop() {
            let own = match last {
                None => rails.clone(),
                Some(true) => format!("{rails}└─ "),
                Some(false) => format!("{rails}├─ "),
            };
            let again = !self.drawn.insert(&task.id);
            self.lines.push(GraphLine { rails: own, task, again });
            if again {
                continue;
            }
            let next = match last {
                None => rails,
                Some(true) => format!("{rails}   "),
                Some(false) => format!("{rails}│  "),
            };
            // Beyond this depth the lines would be wider than any screen.
            let next = if next.chars().count() > DEEPEST { "… ".to_owned() } else { next };
            let children = self.below.get(task.id.as_str()).cloned().unwrap_or_default();
            let count = children.len();
            for (i, child) in children.into_iter().enumerate().rev() {
                open.push((next.clone(), child, Some(i + 1 == count)));
            }
        }
    }
}

const DEEPEST: usize = 60;

impl TaskStatus {
    /// One symbol for each, readable without colour.
    pub fn sign(self) -> &'static str {
        match self {
            TaskStatus::Pending => "○",
            TaskStatus::InProgress => "▶",
            TaskStatus::Completed => "✓",
            TaskStatus::Blocked => "✗",
            TaskStatus::Closed => "–",
        }
    }
}
