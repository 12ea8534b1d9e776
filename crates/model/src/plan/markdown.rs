//! `plan.md` shows the plan to people. [`super::read_markdown`] reads it back as the same plan, because comments
//! contain everything that the visible lines cannot express.

use serde_json::{Map, Value};

use super::outline::{self, EXACT_FIELDS_COMMENT_END, EXACT_FIELDS_COMMENT_START};
use super::{Phase, Plan, Task, TaskStatus, current_phase, standing_of_plan};
use crate::text::fnv_fingerprint;

/// Returns the whole file. Its first line contains a hash of the other lines, so that an edited file is recognised.
pub fn render_plan(plan: &Plan) -> String {
    let body = render_plan_body(plan);
    format!("{}{}{PLAN_VIEW_HEADER_END}\n{body}", PLAN_VIEW_HEADER_START, body_hash(&body))
}

/// Returns whether a `plan.md` is unchanged since it was rendered.
pub fn is_plan_view_unedited(text: &str) -> bool {
    let Some((first, body)) = text.split_once('\n') else { return false };
    let written =
        first.strip_prefix(PLAN_VIEW_HEADER_START).and_then(|rest| rest.strip_suffix(PLAN_VIEW_HEADER_END));
    written == Some(body_hash(body).as_str())
}

pub(super) const PLAN_VIEW_HEADER_START: &str = "<!-- The view of plan.json, written by thru (";
const PLAN_VIEW_HEADER_END: &str = "). `thru plan import` of this file imports your edits. -->";

fn body_hash(body: &str) -> String {
    format!("{:016x}", fnv_fingerprint([body]))
}

fn render_plan_body(plan: &Plan) -> String {
    let current = standing_of_plan(plan).current_task.map(|task| task.id.clone());
    let mut out = render_plan_head(plan);
    for phase in &plan.phases {
        out.push_str("\n---\n");
        out.push_str(&phase_lines(phase));
        for task in &phase.tasks {
            let is_current = current.as_deref() == Some(task.id.as_str());
            out.push_str(&task_lines(task, is_current));
        }
    }
    out
}

fn render_plan_head(plan: &Plan) -> String {
    let mut plain = format!("# {}\nSwarm: {}\n", to_one_line(&plan.title), to_one_line(&plan.swarm));
    if let Some(phase) = current_phase(plan) {
        plain.push_str(&format!("Phase: {} [{}]\n", phase.id, upper_case_name(phase.status.name())));
    }
    let exact = |plan: &Plan| to_json_fields(&Plan { phases: Vec::new(), ..plan.clone() });
    let read =
        outline::read_outline(format!("{PLAN_VIEW_HEADER_START}{PLAN_VIEW_HEADER_END}\n{plain}").as_bytes())
            .plan;
    let mut wanted = exact(plan);
    wanted.shift_remove("phases");
    let mut got = exact(&read);
    got.shift_remove("phases");
    format!("{plain}{}", exact_fields_comment("", &wanted, &got))
}

fn phase_lines(phase: &Phase) -> String {
    let plain = format!(
        "## Phase {}: {} [{}]\n",
        phase.id,
        to_one_line(&phase.name),
        upper_case_name(phase.status.name())
    );
    let read = outline::read_outline(plain.as_bytes()).plan;
    let without_tasks = |phase: &Phase| {
        let mut fields = to_json_fields(&Phase { tasks: Vec::new(), ..phase.clone() });
        fields.shift_remove("tasks");
        fields
    };
    let got = read.phases.first().map(without_tasks).unwrap_or_default();
    format!("{plain}{}", exact_fields_comment("", &without_tasks(phase), &got))
}

/// Returns the lines of a task: its description, its details, and a comment with the fields that these lines do not
/// express exactly.
fn task_lines(task: &Task, is_current: bool) -> String {
    let mark = match task.status {
        TaskStatus::Completed => "[x]",
        TaskStatus::Blocked => "[BLOCKED]",
        TaskStatus::Closed => "[CLOSED]",
        TaskStatus::Pending | TaskStatus::InProgress => "[ ]",
    };
    let mut plain = format!("- {mark} {}: {}", to_one_line(&task.id), to_one_line(&task.description));
    if let Some(size) = task.size {
        plain.push_str(&format!(" [{}]", upper_case_name(size.name())));
    }
    if !task.depends.is_empty() {
        plain.push_str(&format!(
            " (depends: {})",
            task.depends.iter().map(|id| to_one_line(id)).collect::<Vec<_>>().join(", ")
        ));
    }
    if task.status == TaskStatus::InProgress {
        plain.push_str(if is_current { " ← CURRENT" } else { " [IN PROGRESS]" });
    }
    plain.push('\n');
    let mut also = |name: &str, text: Option<&String>| {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            plain.push_str(&format!("  - {name}: {}\n", to_one_line(text)));
        }
    };
    also("Acceptance", task.acceptance.as_ref());
    also("Blocked", task.blocked_reason.as_ref());
    also("Evidence", task.evidence_path.as_ref());
    also("Without evidence", task.without_evidence.as_ref());
    if !task.files_touched.is_empty() {
        let files: Vec<String> = task.files_touched.iter().map(|file| to_one_line(file)).collect();
        plain.push_str(&format!("  - Files: {}\n", files.join(", ")));
    }
    let got =
        outline::read_rendered_task(&plain, task.phase).map(|read| to_json_fields(&read)).unwrap_or_default();
    format!("{plain}{}", exact_fields_comment("  ", &to_json_fields(task), &got))
}

/// Returns a comment with the fields that the visible lines do not express exactly. In the comment, null means that the
/// field is not set.
fn exact_fields_comment(indent: &str, wanted: &Map<String, Value>, got: &Map<String, Value>) -> String {
    let mut exact = Map::new();
    for (key, value) in wanted.iter().filter(|(key, value)| got.get(*key) != Some(*value)) {
        exact.insert(key.clone(), value.clone());
    }
    for key in got.keys().filter(|key| !wanted.contains_key(*key)) {
        exact.insert(key.clone(), Value::Null);
    }
    if exact.is_empty() {
        return String::new();
    }
    // The JSON is escaped so that no text can end the comment.
    let json =
        serde_json::to_string(&exact).unwrap_or_default().replace('>', "\\u003e").replace("--", "-\\u002d");
    format!("{indent}{EXACT_FIELDS_COMMENT_START}{json}{EXACT_FIELDS_COMMENT_END}\n")
}

fn to_json_fields(value: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns the text on one line, with single spaces.
fn to_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn upper_case_name(name: &str) -> String {
    name.to_uppercase().replace('_', " ")
}
