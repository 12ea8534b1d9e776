//! The checks of `thru doctor` and the lines of `thru status` that are about workstreams.

use model::finding::{Finding, FindingLevel};
use model::text::count_with_noun;
use model::workstream;
use serde_json::json;
use store::layout;

use super::{Workstream, WorkstreamFinder, read_state, resume, session_state};
use crate::Result;
use crate::features::{DoctorCheck, ProjectContext, StatusReportLine, format_name_list};

pub fn status_lines(project: &ProjectContext) -> Result<Vec<StatusReportLine>> {
    // If a folder cannot be read, still show the other status lines. `thru resume` reports the error.
    let finder = WorkstreamFinder::workstream_finder_of_project(project);
    let all = finder.list_all_workstreams().unwrap_or_default();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    // The open workstreams come first, because there is room for only a limited number of names.
    let is_finished = |workstream: &Workstream| {
        let manifest = finder.up_to_date_manifest(workstream, project.world.now);
        manifest.is_ok_and(|manifest| manifest.is_finished())
    };
    let (finished, open): (Vec<&Workstream>, Vec<&Workstream>) =
        all.iter().partition(|workstream| is_finished(workstream));
    let finished = finished.iter().map(|workstream| format!("{} (finished)", workstream.id));
    let names: Vec<String> = open.iter().map(|workstream| workstream.id.clone()).chain(finished).collect();
    let ids: Vec<&str> = all.iter().map(|workstream| workstream.id.as_str()).collect();
    let line = StatusReportLine::plain("workstreams", format_name_list(&names));
    Ok(vec![line.with_json("workstreams", json!(ids))])
}

/// Reports invalid manifests, manifests in the older layout, and unusable state files. The state files are written
/// before a compaction, and briefs rely on them. Other tools also write them.
pub fn doctor_checks(project: &ProjectContext) -> Vec<DoctorCheck> {
    let store = project.store;
    let newest = read_state(store, layout::PRECOMPACT_STATE_FILE).and_then(std::result::Result::err);
    let newest = newest.map(|why| state_file_finding(layout::PRECOMPACT_STATE_FILE, &why));
    let sessions = store.sessions_with_state::<workstream::WorkstreamAtCompaction>().unwrap_or_default();
    let own = sessions.iter().filter_map(|session| {
        let why = session_state(store, session.as_str())?.err()?;
        Some(state_file_finding(&layout::workstream_at_compaction_path(session), &why))
    });
    let mut findings: Vec<Finding> = newest.into_iter().chain(own).collect();
    let place = WorkstreamFinder::workstream_finder_of_project(project);
    let text = match resume::check_all_manifests(&place) {
        Ok(checked) => {
            let text = count_with_noun(checked.len(), "manifest");
            findings.extend(checked.into_iter().filter_map(manifest_finding));
            text
        }
        Err(error) => {
            findings.push(Finding::from(&error));
            "manifests cannot be listed".to_owned()
        }
    };
    let old = place.unmigrated_manifests().unwrap_or_default();
    findings.extend(old.into_iter().map(|path| {
        Finding::new(FindingLevel::Note, "a manifest in the old layout, which is no longer read")
            .at_line(path, None)
            .with_hint("`thru resume migrate` converts it, and keeps the original")
    }));
    if findings.is_empty() && text == count_with_noun(0, "manifest") {
        return Vec::new();
    }
    vec![DoctorCheck { name: "workstreams", text, findings }]
}

/// Reports the first error in an invalid manifest.
fn manifest_finding(checked: resume::CheckedManifest) -> Option<Finding> {
    let first = checked.findings.into_iter().find(|finding| finding.level == FindingLevel::Error)?;
    let text = format!("not a valid manifest: {}", first.text);
    let finding = Finding::new(FindingLevel::Warning, text).at_line(checked.path.clone(), first.line);
    Some(
        finding.with_hint(format!(
            "`thru resume validate {}` lists everything that is wrong with it",
            checked.path
        )),
    )
}

fn state_file_finding(path: &str, why: &str) -> Finding {
    let why = model::render::one_line(why, 200);
    Finding::new(FindingLevel::Warning, format!("not used: {why}"))
        .at_line(path, None)
        .with_hint("remove it; the next compaction writes it again")
}
