//! Decisions for `thru status` and `thru doctor`.

use std::collections::HashSet;

use model::decision::{self, Decision, State};
use model::finding::{Finding, Level};
use model::render::one_line;
use model::text::count;
use serde_json::json;
use store::layout;

use crate::Result;
use crate::features::{Check, ProjectContext, StatusLine, Tone};

pub fn status(project: &ProjectContext) -> Result<Vec<StatusLine>> {
    let standing = super::all(project.store, project.world.now)?;
    if standing.is_empty() {
        return Ok(Vec::new());
    }
    let current: Vec<&Decision> =
        standing.iter().rev().filter(|one| one.state == State::Current).map(|one| &one.decision).collect();
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
        StatusLine::toned("decisions", Tone::Strong, head, format!("{over}{newest}"))
            .with_json("decisions", json),
    ])
}

pub fn checks(project: &ProjectContext) -> Vec<Check> {
    let (lines, tally) = match project.store.decisions() {
        Ok((lines, tally)) if lines.is_empty() && tally.torn.is_empty() => return Vec::new(),
        Ok(read) => read,
        Err(error) => {
            let findings = vec![Finding::from(&crate::Error::from(error))];
            return vec![Check { name: "decisions", text: "cannot be read".to_owned(), findings }];
        }
    };
    let mut findings = Vec::new();
    let at = |finding: Finding, line| finding.at(layout::DECISIONS, line);
    if !tally.torn.is_empty() {
        let text = format!(
            "{} could not be read (cut off by a crash, or not written by thru)",
            count(tally.torn.len(), "line")
        );
        findings.push(at(Finding::new(Level::Note, text), tally.torn.first().map(|(_, line)| *line)));
    }
    let newer = lines.iter().filter(|line| line.v > decision::VERSION).count();
    if newer > 0 {
        let text = format!("{} was written by a newer thru and is not shown", count(newer, "line"));
        findings.push(at(Finding::new(Level::Warning, text).hint("update thru"), None));
    }
    let ids: HashSet<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    for line in
        lines.iter().filter(|line| !line.supersedes.is_empty() && !ids.contains(line.supersedes.as_str()))
    {
        let text = format!(
            "{} supersedes {}, which is not there",
            one_line(&line.id, 40),
            one_line(&line.supersedes, 40)
        );
        findings.push(at(Finding::new(Level::Note, text), None));
    }
    let standing = decision::fold(lines, project.world.now);
    let current = standing.iter().filter(|one| one.state == State::Current).count();
    let text = format!("{}, {current} in force", count(standing.len(), "decision"));
    vec![Check { name: "decisions", text, findings }]
}
