//! The checks of `thru doctor` and the lines of `thru status` that are about the plan.

use model::finding::Finding;
use model::plan::{self, describe_task};
use model::render::one_line;
use model::text::count_with_noun;
use serde_json::json;

use crate::Result;
use crate::features::{DoctorCheck, ProjectContext, StatusReportLine, StatusTone};

pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let Some(loaded) = super::load_plan(project.store)? else { return Ok(Vec::new()) };
    let standing = plan::standing_of_plan(&loaded.plan);
    let progress = standing.progress;
    let task = standing.current_task.map_or(String::new(), |task| {
        let verb = if standing.in_progress.is_empty() { "next" } else { "now" };
        format!("; {verb} {}", describe_task(task, 60))
    });
    let blocked = match standing.blocked.len() {
        0 => String::new(),
        n => format!("; {n} blocked"),
    };
    let title = match one_line(&loaded.plan.title, 60) {
        title if title.is_empty() => "plan".to_owned(),
        title => title,
    };
    let rest =
        format!(", {} of {} done{blocked}{task}", progress.done, count_with_noun(progress.total, "task"));
    let json = json!({
        "title": loaded.plan.title,
        "progress": progress,
        "current_phase": standing.current_phase.map(|phase| phase.id),
        "current_task": standing.current_task.map(|task| task.id.as_str()),
        "ready": standing.ready.len(),
        "blocked": standing.blocked.len(),
    });
    Ok(vec![StatusReportLine::colored("plan", StatusTone::Strong, title, rest).with_json("plan", json)])
}

pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let findings = match super::load_plan(project.store) {
        Ok(None) => return Vec::new(),
        Ok(Some(loaded)) => match super::show::plan_findings(project.store, &loaded) {
            Ok((findings, lines)) => {
                let text = format!(
                    "{}, {}",
                    count_with_noun(loaded.plan.tasks().count(), "task"),
                    count_with_noun(lines, "change")
                );
                return vec![DoctorCheck { name: "plan", text, findings }];
            }
            Err(error) => vec![Finding::from(&error)],
        },
        Err(error) => vec![Finding::from(&error)],
    };
    vec![DoctorCheck { name: "plan", text: "cannot be read".to_owned(), findings }]
}
