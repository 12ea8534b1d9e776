//! Draws the dependencies of a plan as text. The tasks that depend on a task are drawn below it.

use std::collections::HashSet;

use super::{Plan, Task, TaskStatus, compare_ids_naturally};

#[derive(Debug, PartialEq)]
pub struct GraphLine<'p> {
    /// The tree-drawing characters before the task.
    pub tree_prefix: String,
    pub task: &'p Task,
    /// Whether the task was already drawn, together with the tasks below it.
    pub already_drawn: bool,
}

/// Draws the graph, starting with the tasks that have no dependencies. The tasks that depend on a task are drawn
/// below it. A task is drawn with its subtree only once. Tasks in a cycle cannot be reached in this way and come
/// last.
pub fn draw_graph(plan: &Plan) -> Vec<GraphLine<'_>> {
    let mut tasks: Vec<&Task> = plan.tasks().collect();
    tasks.sort_by(|a, b| compare_ids_naturally(&a.id, &b.id));
    let known: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    let mut dependents: std::collections::HashMap<&str, Vec<&Task>> = std::collections::HashMap::new();
    for task in &tasks {
        for id in &task.depends {
            dependents.entry(id.as_str()).or_default().push(task);
        }
    }
    let mut drawing = GraphDrawing { dependents, drawn_tasks: HashSet::new(), lines: Vec::new() };
    for task in tasks.iter().filter(|task| !task.depends.iter().any(|id| known.contains(id.as_str()))) {
        drawing.draw_task(task);
    }
    for task in &tasks {
        if !drawing.drawn_tasks.contains(task.id.as_str()) {
            drawing.draw_task(task);
        }
    }
    drawing.lines
}

struct GraphDrawing<'p> {
    dependents: std::collections::HashMap<&'p str, Vec<&'p Task>>,
    drawn_tasks: HashSet<&'p str>,
    lines: Vec<GraphLine<'p>>,
}

impl<'p> GraphDrawing<'p> {
    /// Draws a task and all tasks below it. The function does not use recursion, because a chain may be as long as the
    /// plan.
    fn draw_task(&mut self, root: &'p Task) {
        // Each entry contains the tree-drawing characters before a task, the task, and whether the task is its parent's
        // last child (`None` for the root).
        let mut open: Vec<(String, &'p Task, Option<bool>)> = vec![(String::new(), root, None)];
        while let Some((rails, task, last)) = open.pop() {
            let own = match last {
                None => rails.clone(),
                Some(true) => format!("{rails}└─ "),
                Some(false) => format!("{rails}├─ "),
            };
            let already_drawn = !self.drawn_tasks.insert(&task.id);
            self.lines.push(GraphLine { tree_prefix: own, task, already_drawn });
            if already_drawn {
                continue;
            }
            let next = match last {
                None => rails,
                Some(true) => format!("{rails}   "),
                Some(false) => format!("{rails}│  "),
            };
            // A longer prefix would not fit on a screen, so it is replaced with an ellipsis.
            let next = if next.chars().count() > MAX_TREE_PREFIX_CHARS { "… ".to_owned() } else { next };
            let children = self.dependents.get(task.id.as_str()).cloned().unwrap_or_default();
            let count = children.len();
            for (i, child) in children.into_iter().enumerate().rev() {
                open.push((next.clone(), child, Some(i + 1 == count)));
            }
        }
    }
}

const MAX_TREE_PREFIX_CHARS: usize = 60;

impl TaskStatus {
    /// Returns a symbol that can be understood without colour.
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
