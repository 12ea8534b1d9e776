//! Workstreams for `thru status` and `thru doctor`.

use model::finding::{Finding, Level};
use model::text::count;
use model::workstream;
use serde_json::json;
use store::layout;

use super::{Workstreams, own_state, resume, state_of};
use crate::Result;
use crate::features::{Check, ProjectContext, StatusLine, listed};

pub fn status(project: &ProjectContext) -> Result<Vec<StatusLine>> {
    // `thru resume` reports a folder that cannot be read; here it must not hide the rest of the status.
    let all = Workstreams::of(project).all().unwrap_or_default();
    let ids: Vec<String> = all.into_iter().map(|workstream| workstream.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let line = StatusLine::plain("workstreams", listed(&ids));
    Ok(vec![line.with_json("workstreams", json!(ids))])
}

/// Reports unusable files that record the state before a compaction, and why they cannot be used. Other tools write
/// these files too, and a brief relies on them.
pub fn checks(project: &ProjectContext) -> Vec<Check> {
    let store = project.store;
    let newest = state_of(store, layout::PRECOMPACT_STATE).and_then(std::result::Result::err);
    let newest = newest.map(|why| finding(layout::PRECOMPACT_STATE, &why));
    let sessions = store.sessions_with::<workstream::State>().unwrap_or_default();
    let own = sessions.iter().filter_map(|session| {
        let why = own_state(store, session.as_str())?.err()?;
        Some(finding(&layout::precompact(session), &why))
    });
    let mut findings: Vec<Finding> = newest.into_iter().chain(own).collect();
    let place = Workstreams::of(project);
    let text = match resume::check_all(&place) {
        Ok(checked) => {
            let text = count(checked.len(), "manifest");
            findings.extend(checked.into_iter().filter_map(of_manifest));
            text
        }
        Err(error) => {
            findings.push(Finding::from(&error));
            "manifests cannot be listed".to_owned()
        }
    };
    let old = place.unmigrated().unwrap_or_default();
    findings.extend(old.into_iter().map(|path| {
        Finding::new(Level::Note, "a manifest of the older layout, which nothing reads")
            .at(path, None)
            .hint("`thru resume migrate` takes it over, and keeps the original")
    }));
    if findings.is_empty() && text == count(0, "manifest") {
        return Vec::new();
    }
    vec![Check { name: "workstreams", text, findings }]
}

/// Reports the first error of an invalid manifest.
fn of_manifest(checked: resume::Checked) -> Option<Finding> {
    let first = checked.findings.into_iter().find(|finding| finding.level == Level::Error)?;
    let text = format!("not a valid manifest: {}", first.text);
    let finding = Finding::new(Level::Warning, text).at(checked.path.clone(), first.line);
    Some(
        finding
            .hint(format!("`thru resume validate {}` names everything that is wrong with it", checked.path)),
    )
}

fn finding(path: &str, why: &str) -> Finding {
    let why = model::render::one_line(why, 200);
    Finding::new(Level::Warning, format!("not used: {why}"))
        .at(path, None)
        .hint("remove it; the next compaction writes it again")
}
