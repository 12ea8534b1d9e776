//! The checks of `thru doctor` and the lines of `thru status` that are about decisions.

use std::collections::HashSet;

use model::decision::{self, Decision, DecisionState};
use model::finding::{Finding, FindingLevel};
use model::render::one_line;
use model::text::count_with_noun;
use serde_json::json;
use store::layout;

use crate::Result;
use crate::features::{DoctorCheck, ProjectContext, StatusReportLine, StatusTone};

pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let standing = super::all_decisions(project.store, project.world.now)?;
    if standing.is_empty() {
        return Ok(Vec::new());
    }
    let current: Vec<&Decision> = standing
        .iter()
        .rev()
        .filter(|one| one.state == DecisionState::Current)
        .map(|one| &one.decision)
        .collect();
    let over = match standing.len() - current.len() {
        0 => String::new(),
        n => format!(", {n} no longer"),
    };
    let newest =
        current.first().map_or(String::new(), |one| format!("; newest: {}", one_line(&one.text, 80)));
    let json = json!({
        "current": current.len(),
        "over": standing.len() - current.len(),
        "newest": current.first().map(|one| json!({ "id": one.id, "text": one.text, "why": one.why })),
    });
    let head = format!("{} in force", current.len());
    Ok(vec![
        StatusReportLine::colored("decisions", StatusTone::Strong, head, format!("{over}{newest}"))
            .with_json("decisions", json),
    ])
}

pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let (lines, tally) = match project.store.all_decisions() {
        Ok((lines, tally)) if lines.is_empty() && tally.invalid_lines.is_empty() => return Vec::new(),
        Ok(read) => read,
        Err(error) => {
            let findings = vec![Finding::from(&crate::Error::from(error))];
            return vec![DoctorCheck { name: "decisions", text: "cannot be read".to_owned(), findings }];
        }
    };
    let mut findings = Vec::new();
    let at = |finding: Finding, line| finding.at_line(layout::DECISIONS_LOG, line);
    if !tally.invalid_lines.is_empty() {
        let text = format!(
            "{} could not be read (cut off by a crash, or not written by thru)",
            count_with_noun(tally.invalid_lines.len(), "line")
        );
        findings.push(at(
            Finding::new(FindingLevel::Note, text),
            tally.invalid_lines.first().map(|(_, line)| *line),
        ));
    }
    let newer = lines.iter().filter(|line| line.v > decision::DECISION_FORMAT_VERSION).count();
    if newer > 0 {
        let text = format!(
            "{} was written by a newer version of thru and is not shown",
            count_with_noun(newer, "line")
        );
        findings.push(at(Finding::new(FindingLevel::Warning, text).with_hint("update thru"), None));
    }
    let ids: HashSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    for line in
        lines.iter().filter(|line| !line.supersedes.is_empty() && !ids.contains(line.supersedes.as_str()))
    {
        let text = format!(
            "{} supersedes {}, which does not exist",
            one_line(&line.id, 40),
            one_line(&line.supersedes, 40)
        );
        findings.push(at(Finding::new(FindingLevel::Note, text), None));
    }
    let standing = decision::fold_decisions(lines, project.world.now);
    let current = standing.iter().filter(|one| one.state == DecisionState::Current).count();
    let text = format!("{}, {current} in force", count_with_noun(standing.len(), "decision"));
    vec![DoctorCheck { name: "decisions", text, findings }]
}
