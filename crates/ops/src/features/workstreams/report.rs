//! Workstreams for `thru status` and `thru doctor`.

use model::finding::{Finding, Level};
use model::workstream;
use serde_json::json;
use store::layout;

use super::{Workstreams, own_state, state_of};
use crate::Result;
use crate::features::{Check, ProjectContext, StatusLine, listed};

pub fn status(project: &ProjectContext) -> Result<Vec<StatusLine>> {
    // `thru resume` reports a folder that cannot be read; here it must not hide the rest.
    let all = Workstreams::of(project).all().unwrap_or_default();
    let ids: Vec<String> = all.into_iter().map(|workstream| workstream.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let line = StatusLine::plain("workstreams", listed(&ids));
    Ok(vec![line.with_json("workstreams", json!(ids))])
}

/// Reports state files from before a compaction that cannot be used, and why. Other tools write them too, and a brief
/// relies on them.
pub fn checks(project: &ProjectContext) -> Vec<Check> {
    let store = project.store;
    let newest = state_of(store, layout::PRECOMPACT_STATE).and_then(std::result::Result::err);
    let newest = newest.map(|why| finding(layout::PRECOMPACT_STATE, &why));
    let sessions = store.sessions_with::<workstream::State>().unwrap_or_default();
    let own = sessions.iter().filter_map(|session| {
        let why = own_state(store, session.as_str())?.err()?;
        Some(finding(&layout::precompact(session), &why))
    });
    let findings: Vec<Finding> = newest.into_iter().chain(own).collect();
    if findings.is_empty() {
        return Vec::new();
    }
    let text =
        format!("{} from before a compaction cannot be used", model::text::count(findings.len(), "state"));
    vec![Check { name: "workstreams", text, findings }]
}

fn finding(path: &str, why: &str) -> Finding {
    let why = model::render::one_line(why, 200);
    Finding::new(Level::Warning, format!("not used: {why}"))
        .at(path, None)
        .hint("remove it; the next compaction writes it anew")
}
