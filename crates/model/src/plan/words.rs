//! Describes a plan in sentences, for a brief and for the record of a finished phase.

use super::{Phase, PlanStanding, Task, TaskStatus};
use crate::render::{inline_for_model, one_line};

/// Describes a task, as in `1.2 “Write the parser” (medium)`.
pub fn describe_task(task: &Task, most: usize) -> String {
    let size = task.size.map_or(String::new(), |size| format!(" ({})", size.name()));
    let reported = if task.reported_done {
        ", done according to the harness's todo list, but without evidence"
    } else {
        ""
    };
    format!(
        "{} “{}”{size}{reported}",
        inline_for_model(&task.id, 64),
        inline_for_model(&task.description, most).replace(['“', '”'], "\"")
    )
}

/// Describes the open dependencies of a task. Returns `None` if it has none.
pub fn describe_open_dependencies(standing: &PlanStanding, task: &Task, most: usize) -> Option<String> {
    let open: Vec<_> = standing.open_dependencies(task).collect();
    let words = |(id, task): &(&str, Option<&Task>)| match task {
        Some(task) => format!("{} ({})", inline_for_model(id, 64), task.status.name().replace('_', " ")),
        None => format!("{} (not a task of this plan)", inline_for_model(id, 64)),
    };
    let shown: Vec<String> = open.iter().take(most).map(words).collect();
    let more = if open.len() > most { format!(", +{}", open.len() - most) } else { String::new() };
    (!open.is_empty()).then(|| format!("{}{more}", shown.join(", ")))
}

/// What the record of a phase contains in addition to the phase's tasks.
#[derive(Clone, Debug, Default)]
pub struct PhaseNotes {
    pub decisions: Vec<String>,
    pub evidence: Vec<String>,
    pub failures: Vec<String>,
}

/// Returns `phases/<n>.md`, the record of a finished phase.
pub fn render_phase_record(phase: &Phase, notes: &PhaseNotes, at: &str) -> String {
    let status = phase.status.name();
    let mut out =
        format!("# Phase {}: {}\n\n{status}, {at}\n\n## Tasks\n", phase.id, one_line(&phase.name, 400));
    for task in &phase.tasks {
        let word = match task.status {
            TaskStatus::Completed => "done",
            status => status.name(),
        };
        out.push_str(&format!(
            "- {} {}: {}",
            word,
            one_line(&task.id, 128),
            one_line(&task.description, 1_000)
        ));
        if let Some(at) = &task.done_at {
            out.push_str(&format!(" ({})", one_line(at, 40)));
        }
        out.push('\n');
        let mut also = |name: &str, text: Option<&String>| {
            if let Some(text) = text {
                out.push_str(&format!("  - {name}: {}\n", one_line(text, 1_000)));
            }
        };
        also("Acceptance", task.acceptance.as_ref());
        also("Without evidence", task.without_evidence.as_ref());
        also("Blocked", task.blocked_reason.as_ref());
        if !task.files_touched.is_empty() {
            out.push_str(&format!("  - Files: {}\n", one_line(&task.files_touched.join(", "), 2_000)));
        }
    }
    for (title, lines) in [
        ("Decisions", &notes.decisions),
        ("Evidence", &notes.evidence),
        ("What failed, and how it ended", &notes.failures),
    ] {
        if lines.is_empty() {
            continue;
        }
        out.push_str(&format!("\n## {title}\n"));
        lines.iter().for_each(|line| out.push_str(&format!("- {}\n", one_line(line, 1_000))));
    }
    out
}
