//! The checks of `thru doctor` and the lines of `thru status` that are about evidence.

use model::evidence::{
    MAX_BUNDLE_BYTES, MAX_EVIDENCE_BYTES_PER_TASK, ProofState, max_old_entries_beside_new_ones,
};
use model::finding::{Finding, FindingLevel};
use model::text::count_with_noun;
use serde_json::json;
use store::layout;

use super::{FreshnessJudge, show};
use crate::Result;
use crate::features::{DoctorCheck, ProjectContext, StatusReportLine, StatusTone};

pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    let judge = FreshnessJudge::new(project.store, &project.root.checkout);
    let lines = show::evidence_lines(project.store, &judge);
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let of = |proof: ProofState| lines.values().filter(|line| line.proof == proof).count();
    let (passed, stale, failed) = (of(ProofState::Passed), of(ProofState::Stale), of(ProofState::Failed));
    let head = match (failed, stale) {
        (0, 0) => format!("{passed} fresh and passing"),
        (0, _) => format!("{stale} stale"),
        (_, 0) => format!("{failed} failed"),
        (_, _) => format!("{failed} failed, {stale} stale"),
    };
    let tone = if failed + stale > 0 { StatusTone::Warning } else { StatusTone::Good };
    let rest = match failed + stale {
        0 => format!(", of {} with evidence", count_with_noun(lines.len(), "task")),
        _ => {
            format!(", {passed} fresh and passing, of {} with evidence", count_with_noun(lines.len(), "task"))
        }
    };
    let json = json!({"tasks": lines.len(), "passed": passed, "stale": stale, "failed": failed});
    Ok(vec![StatusReportLine::colored("evidence", tone, head, rest).with_json("evidence", json)])
}

/// Reads every bundle and reports each damaged one with a remedy.
pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let store = project.store;
    let (tasks, others) = match store.tasks_with_evidence() {
        Ok(found) => found,
        Err(error) => {
            let findings = vec![Finding::from(&crate::Error::from(error))];
            return vec![DoctorCheck { name: "evidence", text: "cannot be read".to_owned(), findings }];
        }
    };
    if tasks.is_empty() && others.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut entries = 0;
    for task in &tasks {
        let file = format!("{}/{}", layout::STORE_FOLDER, layout::evidence_bundle_path(task));
        match store.read_evidence(task) {
            Ok(None) => findings.push(
                Finding::new(FindingLevel::Note, "there is no bundle in this folder")
                    .at_line(file.clone(), None),
            ),
            Ok(Some(bundle)) => {
                entries += bundle.entries.len();
                if bundle.task_id != task.as_str() {
                    let text = "the bundle names a different task than its folder does";
                    findings.push(Finding::new(FindingLevel::Warning, text).at_line(file.clone(), None));
                }
                let size = bundle.to_bytes().len();
                if size > MAX_BUNDLE_BYTES {
                    let text = format!("{size} bytes; thru writes at most {MAX_BUNDLE_BYTES}");
                    let hint = match max_old_entries_beside_new_ones(&bundle, &[]) {
                        Some(most) => {
                            format!("`thru evidence archive {task} --keep {most}` makes it smaller")
                        }
                        None => {
                            "the descriptions of its open failures are too long: shorten them in the file"
                                .to_owned()
                        }
                    };
                    findings.push(
                        Finding::new(FindingLevel::Warning, text).at_line(file.clone(), None).with_hint(hint),
                    );
                }
            }
            Err(error) => {
                let line = error.line_number();
                let hint = "fix the file, or restore it from git or a backup; otherwise, the next entry moves it aside and starts a new one";
                findings.push(
                    Finding::new(FindingLevel::Error, error.to_string())
                        .at_line(file.clone(), line)
                        .with_hint(hint),
                );
            }
        }
        if store.evidence_size(task).is_ok_and(|bytes| bytes > MAX_EVIDENCE_BYTES_PER_TASK as u64) {
            let text = format!("over {MAX_EVIDENCE_BYTES_PER_TASK} bytes: nothing more is added");
            findings.push(
                Finding::new(FindingLevel::Warning, text)
                    .at_line(file, None)
                    .with_hint("move old patches elsewhere"),
            );
        }
    }
    for name in others {
        let file = format!("{}/{}/{name}", layout::STORE_FOLDER, layout::EVIDENCE_FOLDER);
        let text = "this is not a task's folder, so it is ignored";
        let hint = "evidence is in evidence/<task>/bundle.json; `thru import swarm` reads other layouts";
        findings.push(Finding::new(FindingLevel::Note, text).at_line(file, None).with_hint(hint));
    }
    let text = format!(
        "{}, {}",
        count_with_noun(tasks.len(), "task"),
        if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
    );
    vec![DoctorCheck { name: "evidence", text, findings }]
}
