//! Imports the decisions and patterns of another tool's `context.md`. A decision that was imported before is
//! recognised by its id.

use std::collections::HashSet;

use model::decision::{self, Decision, Found, Kind, LONGEST_TEXT, Outlined, Source, VERSION};
use model::text::cut;
use model::time;
use serde::Serialize;
use store::{Dir, Durability};

use super::record::{WAIT, refresh};
use crate::features::ProjectContext;
use crate::features::plan::Author;
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::{Error, Mode, Result, World};

/// The other tool's file in `.swarm`.
const FILE: &str = "context.md";

/// The largest file that is read. No person writes a file as large as this.
const LARGEST_FILE: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub from: String,
    pub decisions: usize,
    pub patterns: usize,
    /// How many decisions and patterns were imported before.
    pub known: usize,
    /// How many decisions and patterns were written now.
    pub written: usize,
    pub warnings: Vec<decision::Warning>,
    pub covered: bool,
    pub notes: Vec<String>,
}

/// Imports the file. Returns `None` if it does not exist, or contains neither decisions nor patterns.
pub fn context(world: &World, swarm: &Dir, mode: Mode) -> Result<Option<Report>> {
    let path = &swarm.path().join(FILE);
    let bytes = match swarm.read(FILE, LARGEST_FILE) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        bytes => bytes?,
    };
    let given = InputRedactor::to(world);
    let Outlined { found, mut warnings } = decision::read_context(&given.clean_bytes(&bytes));
    if found.is_empty() && warnings.is_empty() {
        return Ok(None);
    }
    let project = match mode {
        Mode::Write => Some(Project::find_or_make(world)?),
        // Without a project, nothing was imported before.
        Mode::DryRun => match Project::find(world) {
            Ok(project) => Some(project),
            Err(Error::NoRoot { .. }) => None,
            Err(error) => return Err(error),
        },
    };
    warnings.extend(found.iter().filter_map(cut_warning));
    let _lock = match (mode, &project) {
        (Mode::Write, Some(project)) => Some(project.store.lock_decisions(WAIT)?),
        (Mode::Write | Mode::DryRun, _) => None,
    };
    let mut known: HashSet<String> = match &project {
        Some(project) => project.store.decisions()?.0.into_iter().map(|decision| decision.id).collect(),
        None => HashSet::new(),
    };
    let author = Author::here(world, None)?;
    let of = |kind: Kind| found.iter().filter(|one| one.kind == kind).count();
    let mut report = Report {
        from: path.display().to_string(),
        decisions: of(Kind::Decision),
        patterns: of(Kind::Pattern),
        known: 0,
        written: 0,
        warnings,
        covered: given.was_covered(),
        notes: Vec::new(),
    };
    let mut new: Vec<Decision> = Vec::new();
    for one in &found {
        let decision = of_found(one, &author);
        match known.insert(decision.id.clone()) {
            true => new.push(decision),
            false => report.known += 1,
        }
    }
    if let (Mode::Write, Some(project)) = (mode, &project)
        && !new.is_empty()
    {
        // The decisions are written in the order of the file, so the last decision in the file is the newest.
        project.store.append_decisions(&new, Durability::Synced)?;
        report.written = new.len();
        let settings = settings::here(world).settings();
        let context =
            ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
        report.notes = refresh(&context);
    }
    Ok(Some(report))
}

/// Warns about the text that [`of_found`] cuts off.
fn cut_warning(found: &Found) -> Option<decision::Warning> {
    let longest = found.text.len().max(found.why.len());
    (longest > LONGEST_TEXT).then(|| decision::Warning {
        line: found.line,
        text: format!("a text of {longest} bytes is cut: a decision has at most {LONGEST_TEXT}"),
    })
}

fn of_found(found: &Found, author: &Author) -> Decision {
    let Found { kind, text, why, topic, date, .. } = found;
    let ts = time::parse(date).filter(|at| *at <= author.at).unwrap_or(author.at);
    Decision {
        v: VERSION,
        id: decision::stable_id(Source::Import, &format!("{}\n{text}", kind.name())),
        ts: time::rfc3339(ts),
        kind: *kind,
        text: cut(text, LONGEST_TEXT).to_owned(),
        why: cut(why, LONGEST_TEXT).to_owned(),
        by: author.by.clone(),
        source: Source::Import,
        topic: topic.clone(),
        ..Decision::default()
    }
}
