//! Draws the dependencies of a plan as text. Below each task are the tasks that wait for it.

use std::collections::HashSet;

use super::{Plan, Task, TaskStatus, compare_naturally};

/// One line of the drawing.
#[derive(Debug, PartialEq)]
pub struct GraphLine<'p> {
    /// The characters of the tree before the task.
    pub rails: String,
    pub task: &'p Task,
    /// Whether the task was already drawn with everything below it.
    pub again: bool,
}

/// Draws tasks without dependencies first, each with the tasks that wait for it. A task is drawn in full once. Tasks in
/// a circle cannot be reached this way and come last.
pub fn draw_graph(plan: &Plan) -> Vec<GraphLine<'_>> {
    let mut tasks: Vec<&Task> = plan.tasks().collect();
    tasks.sort_by(|a, b| compare_naturally(&a.id, &b.id));
    let known: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let mut below: std::collections::HashMap<&str, Vec<&Task>> = std::collections::HashMap::new();
    for task in &tasks {
        for id in &task.depends {
            below.entry(id.as_str()).or_default().push(task);
        }
    }
    let mut drawing = GraphDrawing { below, drawn: HashSet::new(), lines: Vec::new() };
    for task in tasks.iter().filter(|task| !task.depends.iter().any(|id| known.contains(id.as_str()))) {
        drawing.draw_task(task);
    }
    for task in &tasks {
        if !drawing.drawn.contains(task.id.as_str()) {
            drawing.draw_task(task);
        }
    }
    drawing.lines
}

struct GraphDrawing<'p> {
    below: std::collections::HashMap<&'p str, Vec<&'p Task>>,
    drawn: HashSet<&'p str>,
    lines: Vec<GraphLine<'p>>,
}

impl<'p> GraphDrawing<'p> {
    /// Draws a task and everything below it. It does not use recursion, because a chain may be as long as the plan.
    fn draw_task(&mut self, root: &'p Task) {
        // The rails to the left of the task, the task, and whether it is its parent's last child (`None` for the root).
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
            // With wider rails the lines would not fit on any screen.
            let next = if next.chars().count() > MAX_RAILS_CHARS { "… ".to_owned() } else { next };
            let children = self.below.get(task.id.as_str()).cloned().unwrap_or_default();
            let count = children.len();
            for (i, child) in children.into_iter().enumerate().rev() {
                open.push((next.clone(), child, Some(i + 1 == count)));
            }
        }
    }
}

/// The widest rails, in characters.
const MAX_RAILS_CHARS: usize = 60;

impl TaskStatus {
    /// Returns one symbol for each status, readable without colour.
    pub fn status_symbol(self) -> &'static str {
        match self {
            TaskStatus::Pending => "○",
            TaskStatus::InProgress => "▶",
            TaskStatus::Completed => "✓",
            TaskStatus::Blocked => "✗",
            TaskStatus::Closed => "–",
        }
    }
}
