//! Tables whose rows are tasks. They have a column with a checkbox or a state, and a column with the task.

use super::lines::{CheckboxMark, parse_box_mark};
use super::marks;

pub struct TaskTable {
    pub line_count: usize,
    /// Whether the state is a checkbox rather than a word.
    pub has_boxes: bool,
    pub rows: Vec<TaskTableRow>,
}

pub struct TaskTableRow {
    /// The line of the row, counted from 0 at the start of the table.
    pub line: usize,
    pub mark: CheckboxMark,
    pub text: String,
    /// The remaining cells of the row as fields, such as `Depends on: 1.1`.
    pub fields: Vec<String>,
}

/// Reads the table that starts at the first of these lines. Returns `None` if its rows are not tasks.
pub fn read_task_table(lines: &[&str]) -> Option<TaskTable> {
    let header = split_cells(lines.first()?)?;
    let divider = split_cells(lines.get(1)?)?;
    let is_divider = |cell: &String| cell.contains('-') && cell.bytes().all(|b| matches!(b, b'-' | b':'));
    if !divider.iter().all(is_divider) {
        return None;
    }
    let body: Vec<Vec<String>> = lines[2..].iter().map_while(|line| split_cells(line)).collect();
    let names: Vec<String> = header.iter().map(|name| name.trim_matches(['*', '`']).to_lowercase()).collect();
    let column = |wanted: &[&str]| names.iter().position(|name| wanted.contains(&name.as_str()));
    let cell = |row: &[String], at: usize| row.get(at).cloned().unwrap_or_default();
    // A table with dates is a log and not a list of tasks.
    if column(&["date", "when", "time"]).is_some() || body.is_empty() {
        return None;
    }
    let is_box = |at: usize| body.iter().all(|row| box_mark_of_cell(&cell(row, at)).is_some());
    let boxes = (0..names.len()).find(|at| is_box(*at));
    let state = boxes.or_else(|| {
        column(&["status", "state", "done"])
            .filter(|at| body.iter().any(|row| marks::parse_status_value(&cell(row, *at)).is_some()))
    })?;
    let task = column(&[
        "task",
        "tasks",
        "todo",
        "item",
        "work item",
        "step",
        "action",
        "deliverable",
        "description",
    ])
    .filter(|at| *at != state)?;
    let id = column(&["id", "#", "no", "no.", "nr"]).filter(|at| *at != state);
    let row = |(line, row): (usize, &Vec<String>)| {
        let said = cell(row, state);
        let status = marks::parse_status_value(&said).unwrap_or_default();
        let mark = box_mark_of_cell(&said).unwrap_or(CheckboxMark::Certain(status));
        let id = id.map(|at| cell(row, at)).filter(|id| !id.is_empty()).map(|id| format!("{id}: "));
        let others = (0..names.len()).filter(|at| *at != state && *at != task && !cell(row, *at).is_empty());
        let fields = others.filter(|at| Some(*at) != column(&["id", "#", "no", "no.", "nr"]));
        let fields = fields.map(|at| field_of_cell(&header[at], &cell(row, at))).collect();
        TaskTableRow {
            line: line + 2,
            mark,
            text: format!("{}{}", id.unwrap_or_default(), cell(row, task)),
            fields,
        }
    };
    let rows = body.iter().enumerate().map(row).filter(|row| !row.text.is_empty()).collect();
    Some(TaskTable { line_count: body.len() + 2, has_boxes: boxes.is_some(), rows })
}

/// Returns a cell as a field. In any column, `BLOCKED: why` gives the reason the task is blocked.
fn field_of_cell(name: &str, cell: &str) -> String {
    match cell.get(..8).filter(|start| start.eq_ignore_ascii_case("blocked:")) {
        Some(_) => format!("Blocked: {}", cell[8..].trim()),
        None => format!("{}: {cell}", name.trim_matches('*')),
    }
}

fn box_mark_of_cell(cell: &str) -> Option<CheckboxMark> {
    let inside = cell.trim().trim_matches('`').strip_prefix('[')?.strip_suffix(']')?;
    parse_box_mark(inside)
}

fn split_cells(line: &str) -> Option<Vec<String>> {
    let inside = line.trim().strip_prefix('|')?;
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    // An escaped `\|` does not end the cell.
    let cells = inside.replace("\\|", "\u{1}");
    Some(cells.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect())
}
