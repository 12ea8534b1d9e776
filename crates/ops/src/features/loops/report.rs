//! Loops for `thru status` and `thru doctor`.

use model::finding::{Finding, Level};
use model::loops::{Ended, Loop, Status};
use model::render::one_line;
use model::text::count;
use serde_json::json;

use super::{Shown, all, foreground, is_foreign};
use crate::Result;
use crate::features::{Check, ProjectContext, StatusLine, Tone, Urgency};

pub fn status(project: &ProjectContext) -> Result<Vec<StatusLine>> {
    let mut lines = Vec::new();
    if let Some(shown) = foreground(project.world, project.store)? {
        let line = StatusLine::toned("loop", Tone::Strong, &shown.id, format!(", {}", shown.standing()));
        lines.push(line.with_json("loop", json!(shown)));
    }
    let store = project.store;
    let records = all(store)?.0;
    let foreign = records.iter().filter(|record| is_foreign(store, &record.state)).count();
    let is_paused = |state: &Loop| state.status == Status::Paused && !is_foreign(store, state);
    let paused = records.iter().filter(|record| is_paused(&record.state)).count();
    if paused > 0 {
        let text =
            format!("{}; `thru loop log` says why, `thru loop resume` continues it", count(paused, "loop"));
        let line = StatusLine::plain("paused", text).with_json("paused_loops", json!(paused));
        lines.push(line.with_next(Urgency::Paused, "thru loop resume", "continues the paused loop"));
    }
    if foreign > 0 {
        let text = format!("{}; never fed, `thru loop list` names them", count(foreign, "loop"));
        let line = StatusLine::plain("not started here", text);
        lines.push(line.with_json("loops_not_started_here", json!(foreign)));
    }
    Ok(lines)
}

impl Shown {
    /// Describes the state of the loop: `iteration 3 of 30, session 9487a9f7`.
    pub fn standing(&self) -> String {
        let whose = match (&self.session, self.waiting) {
            (_, true) => ", for the next session that starts here".to_owned(),
            (Some(session), _) => format!(", session {}", short(session)),
            (None, false) => String::new(),
        };
        format!("iteration {}{whose}", self.progress())
    }

    pub fn progress(&self) -> String {
        match self.max_iterations {
            0 => self.iteration.to_string(),
            most => format!("{} of {most}", self.iteration),
        }
    }
}

/// Returns as much of a session's id as is needed to recognise it.
pub fn short(session: &str) -> String {
    one_line(session, 128).chars().take(8).collect()
}

/// Reports problems with loops.
pub fn checks(project: &ProjectContext) -> Vec<Check> {
    let (loops, findings) = findings(project);
    if loops == 0 && findings.is_empty() {
        return Vec::new();
    }
    vec![Check { name: "loops", text: count(loops, "loop"), findings }]
}

fn findings(project: &ProjectContext) -> (usize, Vec<Finding>) {
    let store = project.store;
    let (records, damaged) = match all(store) {
        Ok(all) => all,
        Err(error) => return (0, vec![Finding::new(Level::Error, error.to_string())]),
    };
    let mut findings: Vec<Finding> = damaged
        .into_iter()
        .map(|error| {
            let text = format!("a loop cannot be read: {error}");
            Finding::new(Level::Error, text).hint("fix the file; until then it lets every stop pass")
        })
        .collect();
    if let Err(error) = store.foreground() {
        let hint = "any `thru loop` command that changes a loop rebuilds it";
        findings.push(Finding::new(Level::Warning, error.to_string()).hint(hint));
    }
    for state in records.iter().map(|record| &record.state).filter(|state| state.ended == Some(Ended::Error))
    {
        let detail = state.ended_detail.as_deref().unwrap_or("it does not say why");
        let text = format!("loop {} was paused by an error: {detail}", state.id);
        findings.push(
            Finding::new(Level::Warning, text).hint(format!("`thru loop resume {}` continues it", state.id)),
        );
    }
    for state in records.iter().map(|record| &record.state).filter(|state| is_foreign(store, state)) {
        let text =
            format!("loop {} is {} and was not started here: it is never fed", state.id, state.status.name());
        let hint = format!("`thru loop adopt {}` shows its prompt and its commands, and asks", state.id);
        findings.push(Finding::new(Level::Note, text).hint(hint));
    }
    (records.len(), findings)
}
