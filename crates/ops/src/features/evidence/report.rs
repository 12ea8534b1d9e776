//! Evidence for `thru status` and `thru doctor`.

use model::evidence::{BUNDLE_BYTES, Proof, TASK_BYTES, fitting};
use model::finding::{Finding, Level};
use model::text::count;
use serde_json::json;
use store::layout;

use super::{Judge, show};
use crate::Result;
use crate::features::{Check, ProjectContext, StatusLine, Tone};

pub fn status(project: &ProjectContext) -> Result<Vec<StatusLine>> {
    let judge = Judge::new(project.store, &project.root.checkout);
    let lines = show::lines(project.store, &judge);
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let of = |proof: Proof| lines.values().filter(|line| line.proof == proof).count();
    let (passed, stale, failed) = (of(Proof::Passed), of(Proof::Stale), of(Proof::Failed));
    let head = match (failed, stale) {
        (0, 0) => format!("{passed} fresh and passed"),
        (0, _) => format!("{stale} stale"),
        (_, 0) => format!("{failed} failed"),
        (_, _) => format!("{failed} failed, {stale} stale"),
    };
    let tone = if failed + stale > 0 { Tone::Warning } else { Tone::Good };
    let rest = match failed + stale {
        0 => format!(", of {} with evidence", count(lines.len(), "task")),
        _ => format!(", {passed} fresh and passed, of {} with evidence", count(lines.len(), "task")),
    };
    let json = json!({"tasks": lines.len(), "passed": passed, "stale": stale, "failed": failed});
    Ok(vec![StatusLine::toned("evidence", tone, head, rest).with_json("evidence", json)])
}

/// Reads every bundle and reports damaged bundles, each with a remedy.
pub fn checks(project: &ProjectContext) -> Vec<Check> {
    let store = project.store;
    let (tasks, others) = match store.evidence_tasks() {
        Ok(found) => found,
        Err(error) => {
            let findings = vec![Finding::from(&crate::Error::from(error))];
            return vec![Check { name: "evidence", text: "cannot be read".to_owned(), findings }];
        }
    };
    if tasks.is_empty() && others.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut entries = 0;
    for task in &tasks {
        let file = format!("{}/{}", layout::STORE, layout::evidence_bundle(task));
        match store.evidence(task) {
            Ok(None) => findings
                .push(Finding::new(Level::Note, "there is no bundle in this folder").at(file.clone(), None)),
            Ok(Some(bundle)) => {
                entries += bundle.entries.len();
                if bundle.task_id != task.as_str() {
                    let text = "the bundle is about another task than its folder";
                    findings.push(Finding::new(Level::Warning, text).at(file.clone(), None));
                }
                let size = bundle.bytes().len();
                if size > BUNDLE_BYTES {
                    let text = format!("{size} bytes; {BUNDLE_BYTES} is the most that thru writes");
                    let hint = match fitting(&bundle, &[]) {
                        Some(most) => {
                            format!("`thru evidence archive {task} --keep {most}` makes it smaller")
                        }
                        None => "its failures that are still open are too long: shorten them in the file"
                            .to_owned(),
                    };
                    findings.push(Finding::new(Level::Warning, text).at(file.clone(), None).hint(hint));
                }
            }
            Err(error) => {
                let line = error.line_number();
                let hint = "fix it, or restore it from git or a backup; the next entry moves it aside and starts a new one";
                findings
                    .push(Finding::new(Level::Error, error.to_string()).at(file.clone(), line).hint(hint));
            }
        }
        if store.evidence_bytes(task).is_ok_and(|bytes| bytes > TASK_BYTES as u64) {
            let text = format!("over {TASK_BYTES} bytes: nothing more is added");
            findings
                .push(Finding::new(Level::Warning, text).at(file, None).hint("move old patches elsewhere"));
        }
    }
    for name in others {
        let file = format!("{}/{}/{name}", layout::STORE, layout::EVIDENCE);
        let text = "this is not the folder of a task: it is ignored";
        let hint = "evidence is in evidence/<task>/bundle.json; `thru import swarm` reads other layouts";
        findings.push(Finding::new(Level::Note, text).at(file, None).hint(hint));
    }
    let text = format!(
        "{}, {}",
        count(tasks.len(), "task"),
        if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") }
    );
    vec![Check { name: "evidence", text, findings }]
}
