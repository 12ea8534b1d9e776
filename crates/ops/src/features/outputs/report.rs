//! The checks of `thru doctor` and the lines of `thru status` that are about the live run.

use model::finding::Finding;
use model::render::one_line;
use serde_json::json;

use super::earlier::{describe_open_stage, open_earlier_stages};
use super::{LiveRunState, live_run_state};
use crate::Result;
use crate::features::{DoctorCheck, NextStepUrgency, ProjectContext, StatusReportLine, StatusTone};

pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let mut lines = live_run_lines(project);
    let earlier = open_earlier_stages(project.store, project.root, project.settings);
    lines.extend(earlier.iter().map(earlier_stage_line));
    if let (Some(line), false) = (lines.last_mut(), earlier.is_empty()) {
        line.json.push(("earlier_outputs", json!(earlier)));
    }
    Ok(lines)
}

/// Describes a stage that is no longer live, but still has open outputs.
fn earlier_stage_line(state: &LiveRunState) -> StatusReportLine {
    let check = format!("thru gate check --stage {}", one_line(&state.stage, 128));
    let rest = format!("; see `{check}`");
    let line = StatusReportLine::colored("outputs", StatusTone::Warning, describe_open_stage(state), rest);
    line.with_next_step(
        NextStepUrgency::MissingOutputs,
        check,
        "says what the open outputs of an earlier stage lack",
    )
}

fn live_run_lines(project: &ProjectContext) -> Vec<StatusReportLine> {
    match live_run_state(project.store, project.root, project.settings) {
        Ok(Some(live)) => vec![live_run_line(&live, project).with_json("outputs", json!(live))],
        Ok(None) => Vec::new(),
        Err(error) => {
            let error = error.to_string();
            let line = StatusReportLine::colored("outputs", StatusTone::Warning, one_line(&error, 400), "");
            vec![line.with_json("outputs_problem", json!(error))]
        }
    }
}

/// Describes the live run, for example `2 of 5 open (stage review, outputs/review-…): missing review-a.md, stale
/// review-b.md`.
fn live_run_line(live: &LiveRunState, project: &ProjectContext) -> StatusReportLine {
    let run = live.run.strip_prefix(project.store.dir().path()).unwrap_or(&live.run).display();
    let (stage, all) = (one_line(&live.stage, 128), live.outputs);
    if live.invalid_outputs.is_empty() {
        if let Some(change) = &live.changed_since_pass {
            let head = format!("stage {stage} {}", one_line(&change.describe(project.world), 600));
            let rest = format!(" ({run}); see `thru gate check`");
            return StatusReportLine::colored("outputs", StatusTone::Plain, head, rest);
        }
        let rest = format!(" (stage {stage}, {run})");
        return StatusReportLine::colored("outputs", StatusTone::Good, format!("all {all} valid"), rest);
    }
    let named = live
        .invalid_outputs
        .iter()
        .take(4)
        .map(|o| format!("{} {}", o.verdict.name(), one_line(&o.file, 128)));
    let more = if live.invalid_outputs.len() > 4 { ", …" } else { "" };
    let named = named.collect::<Vec<_>>().join(", ");
    let head = format!("{} of {all} open", live.invalid_outputs.len());
    let rest = format!(" (stage {stage}, {run}): {named}{more}; see `thru gate check`");
    let line = StatusReportLine::colored("outputs", StatusTone::Warning, head, rest);
    line.with_next_step(NextStepUrgency::MissingOutputs, "thru gate check", "says what the open outputs lack")
        .changed_at(&live.requested_at)
}

/// Reports a live run whose state cannot be determined. Open outputs are normal, so they are not reported as a
/// problem.
pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let (text, findings) = match live_run_state(project.store, project.root, project.settings) {
        Ok(None) => return Vec::new(),
        Ok(Some(live)) => {
            let open = format!("{} of {} open", live.invalid_outputs.len(), live.outputs);
            let earlier = open_earlier_stages(project.store, project.root, project.settings);
            let earlier = earlier.iter().map(|state| format!("; earlier: {}", describe_open_stage(state)));
            (format!("{open}{}", earlier.collect::<String>()), Vec::new())
        }
        Err(error) => ("cannot be judged".to_owned(), vec![Finding::from(&error)]),
    };
    vec![DoctorCheck { name: "outputs", text, findings }]
}
