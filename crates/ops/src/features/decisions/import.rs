//! Imports the decisions and patterns in another tool's `context.md`. A decision that was imported before is
//! recognised by its id.

use std::collections::HashSet;

use model::decision::{
    self, DECISION_FORMAT_VERSION, Decision, DecisionKind, DecisionSource, MAX_DECISION_TEXT_BYTES,
    OutlinedDecision, OutlinedDecisions,
};
use model::text::cut_to_bytes;
use model::time;
use serde::Serialize;
use store::{Dir, Durability};

use super::record::{MAX_DECISIONS_LOCK_WAIT, rewrite_context_view};
use crate::features::ProjectContext;
use crate::features::plan::PlanAuthor;
use crate::input_redactor::InputRedactor;
use crate::project::{Project, settings};
use crate::{Error, Result, World, WriteMode};

/// The other tool's file in `.swarm`.
const SWARM_CONTEXT_FILE: &str = "context.md";

/// The size limit of the imported file. A file written by hand is never this large.
const MAX_IMPORTED_DECISIONS_FILE_BYTES: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct DecisionImportReport {
    pub from: String,
    pub decisions: usize,
    pub patterns: usize,
    /// How many decisions and patterns an earlier import had already recorded.
    pub already_recorded: usize,
    /// How many decisions and patterns this import recorded.
    #[serde(rename = "written")]
    pub newly_recorded: usize,
    pub warnings: Vec<decision::OutlineWarning>,
    pub redacted: bool,
    pub notes: Vec<String>,
}

/// Imports the file. Returns `None` if it does not exist, or contains neither decisions nor patterns.
pub fn import_swarm_context_file(
    world: &World,
    swarm: &Dir,
    mode: WriteMode,
) -> Result<Option<DecisionImportReport>> {
    let path = &swarm.path().join(SWARM_CONTEXT_FILE);
    let bytes = match swarm.read_file(SWARM_CONTEXT_FILE, MAX_IMPORTED_DECISIONS_FILE_BYTES) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        bytes => bytes?,
    };
    let given = InputRedactor::with_settings_of(world);
    let OutlinedDecisions { decisions: found, mut warnings } =
        decision::read_context(&given.redact_bytes(&bytes));
    if found.is_empty() && warnings.is_empty() {
        return Ok(None);
    }
    let project = match mode {
        WriteMode::Write => Some(Project::find_or_create(world)?),
        // If there is no project, nothing has been imported before.
        WriteMode::DryRun => match Project::find_for_reading(world) {
            Ok(project) => Some(project),
            Err(Error::NoRoot { .. }) => None,
            Err(error) => return Err(error),
        },
    };
    warnings.extend(found.iter().filter_map(warn_if_text_is_cut));
    let _lock = match (mode, &project) {
        (WriteMode::Write, Some(project)) => Some(project.store.lock_decisions(MAX_DECISIONS_LOCK_WAIT)?),
        (WriteMode::Write | WriteMode::DryRun, _) => None,
    };
    let mut known: HashSet<String> = match &project {
        Some(project) => project.store.all_decisions()?.0.into_iter().map(|decision| decision.id).collect(),
        None => HashSet::new(),
    };
    let author = PlanAuthor::current_author(world, None)?;
    let of = |kind: DecisionKind| found.iter().filter(|one| one.kind == kind).count();
    let mut report = DecisionImportReport {
        from: path.display().to_string(),
        decisions: of(DecisionKind::Decision),
        patterns: of(DecisionKind::Pattern),
        already_recorded: 0,
        newly_recorded: 0,
        warnings,
        redacted: given.has_redacted(),
        notes: Vec::new(),
    };
    let mut new: Vec<Decision> = Vec::new();
    for one in &found {
        let decision = decision_of_outlined_entry(one, &author);
        match known.insert(decision.id.clone()) {
            true => new.push(decision),
            false => report.already_recorded += 1,
        }
    }
    if let (WriteMode::Write, Some(project)) = (mode, &project)
        && !new.is_empty()
    {
        // The decisions are written in file order, so the last decision in the file counts as the newest.
        project.store.append_decisions(&new, Durability::Synced)?;
        report.newly_recorded = new.len();
        let settings = settings::settings_here(world).settings();
        let context =
            ProjectContext { world, root: &project.root, store: &project.store, settings: &settings };
        report.notes = rewrite_context_view(&context);
    }
    Ok(Some(report))
}

/// Returns a warning if [`decision_of_outlined_entry`] would shorten the decision's text or its reason.
fn warn_if_text_is_cut(found: &OutlinedDecision) -> Option<decision::OutlineWarning> {
    let longest = found.text.len().max(found.why.len());
    (longest > MAX_DECISION_TEXT_BYTES).then(|| decision::OutlineWarning {
        line: found.line,
        text: format!(
            "the text is {longest} bytes long and was cut: the limit for a decision is {MAX_DECISION_TEXT_BYTES}"
        ),
    })
}

fn decision_of_outlined_entry(found: &OutlinedDecision, author: &PlanAuthor) -> Decision {
    let OutlinedDecision { kind, text, why, topic, date, .. } = found;
    let ts = time::parse_time(date).filter(|at| *at <= author.at).unwrap_or(author.at);
    Decision {
        v: DECISION_FORMAT_VERSION,
        id: decision::id_from_content(DecisionSource::Import, &format!("{}\n{text}", kind.name())),
        ts: time::to_rfc3339(ts),
        kind: *kind,
        text: cut_to_bytes(text, MAX_DECISION_TEXT_BYTES).to_owned(),
        why: cut_to_bytes(why, MAX_DECISION_TEXT_BYTES).to_owned(),
        author: author.author.clone(),
        source: DecisionSource::Import,
        topic: topic.clone(),
        ..Decision::default()
    }
}
