//! `thru evidence list|show`, and the evidence lines that other commands print.

use std::collections::BTreeMap;

use model::evidence::{EvidenceBundle, EvidenceEntry, EvidenceStanding, Freshness, ProofState};
use model::id::Id;
use model::plan::{Plan, Task};
use serde::Serialize;
use store::{Store, layout};

use super::FreshnessJudge;
use crate::project::Project;
use crate::{Error, Result, World};

/// A short description of a task's evidence, for `plan show`, `task show`, `status`, pickup and `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct TaskEvidenceLine {
    pub task: String,
    pub proof: ProofState,
    /// Whether the files that the evidence covers have changed since it was recorded, or may have changed.
    pub stale: bool,
    /// One of `passed`, `stale`, `failed`, `none`.
    #[serde(rename = "word")]
    pub state_word: &'static str,
    pub text: String,
    /// A file that has changed since the evidence was recorded. Empty if no file has changed.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "changed")]
    pub changed_file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub timestamp: String,
    pub entries: usize,
    /// Why the bundle cannot be read, or `None` if it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl TaskEvidenceLine {
    fn from_standing(task: &Id, standing: &EvidenceStanding, bundle: &EvidenceBundle) -> TaskEvidenceLine {
        TaskEvidenceLine {
            task: task.to_string(),
            proof: standing.proof,
            stale: standing.freshness != Freshness::Fresh,
            state_word: standing.state_word(),
            text: match (standing.proof, bundle.entries.last()) {
                // A claim is better than nothing, but the text says that thru did not see the run.
                (ProofState::None, Some(last)) => {
                    format!("nothing proves that the task is done; last entry: {}", last.describe())
                }
                _ => standing.describe(),
            },
            changed_file: standing.what_has_changed().to_owned(),
            command: standing.entry.and_then(|entry| entry.command.clone()),
            timestamp: standing
                .entry
                .or(bundle.entries.last())
                .map(|entry| entry.timestamp.clone())
                .unwrap_or_default(),
            entries: bundle.entries.len(),
            error: None,
        }
    }

    fn unreadable(task: &Id, error: &store::Error) -> TaskEvidenceLine {
        TaskEvidenceLine {
            task: task.to_string(),
            proof: ProofState::None,
            stale: false,
            state_word: "none",
            text: "cannot be read".to_owned(),
            changed_file: String::new(),
            command: None,
            timestamp: String::new(),
            entries: 0,
            error: Some(error.to_string()),
        }
    }
}

/// Returns the evidence line for one task, or `None` if the task has no evidence.
pub(crate) fn evidence_line(store: &Store, judge: &FreshnessJudge, id: &str) -> Option<TaskEvidenceLine> {
    let task = Id::new(id).ok()?;
    match store.read_evidence(&task) {
        Ok(bundle) => {
            let bundle = bundle?;
            Some(TaskEvidenceLine::from_standing(&task, &judge.evidence_standing(&task, &bundle), &bundle))
        }
        Err(error) => Some(TaskEvidenceLine::unreadable(&task, &error)),
    }
}

/// Returns the evidence lines of all tasks that have evidence. A folder that cannot be listed is left out, because
/// `thru doctor` reports it.
pub(crate) fn evidence_lines(store: &Store, judge: &FreshnessJudge) -> BTreeMap<String, TaskEvidenceLine> {
    let (tasks, _) = store.tasks_with_evidence().unwrap_or_default();
    tasks
        .iter()
        .filter_map(|task| Some((task.to_string(), evidence_line(store, judge, task.as_str())?)))
        .collect()
}

/// Describes the entry that rejects a task. Returns `None` if there is no such entry or the bundle cannot be read.
pub(crate) fn describe_rejection(store: &Store, id: &str) -> Option<String> {
    let bundle = store.read_evidence(&Id::new(id).ok()?).ok()??;
    model::evidence::rejecting_entry(&bundle.entries).map(EvidenceEntry::describe)
}

/// Returns a description of the fresh evidence that a task passed. If there is no such evidence, the error describes
/// the evidence that exists.
pub(crate) fn describe_fresh_proof(
    store: &Store,
    judge: &FreshnessJudge,
    task: &Task,
) -> std::result::Result<String, String> {
    match evidence_line(store, judge, &task.id) {
        None => Err("there is no evidence for it".to_owned()),
        Some(TaskEvidenceLine { error: Some(error), .. }) => {
            Err(format!("its evidence cannot be read: {error}"))
        }
        Some(line) => match line.proof {
            ProofState::Passed => Ok(line.text),
            ProofState::Stale => Err(format!("its evidence is {}", line.text)),
            ProofState::Failed => Err(format!("its evidence says {}", line.text)),
            ProofState::None => Err(line.text),
        },
    }
}

#[derive(Debug, Serialize)]
pub struct EvidenceListing {
    pub tasks: Vec<TaskEvidenceLine>,
}

/// Lists all tasks with evidence, sorted by task id.
pub fn list_evidence(world: &World) -> Result<EvidenceListing> {
    let project = Project::find_for_reading(world)?;
    super::record_runs_of_current_session(world, &project);
    let judge = FreshnessJudge::new(&project.store, &project.root.checkout);
    let mut tasks: Vec<TaskEvidenceLine> = evidence_lines(&project.store, &judge).into_values().collect();
    tasks.sort_by(|a, b| model::plan::compare_ids_naturally(&a.task, &b.task));
    Ok(EvidenceListing { tasks })
}

#[derive(Debug, Serialize)]
pub struct TaskEvidenceShown {
    pub task: String,
    pub evidence: TaskEvidenceLine,
    /// The entries, oldest first.
    pub entries: Vec<EntryShown>,
    /// How many older entries are in the archive.
    pub archived: usize,
    pub file: String,
}

#[derive(Debug, Serialize)]
pub struct EntryShown {
    #[serde(flatten)]
    pub entry: EvidenceEntry,
    /// Whether the files have changed since the entry was recorded, or may have changed. `None` for a claim, because a
    /// claim is not compared with files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<bool>,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "changed_since")]
    pub changed_file: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceEntryFilter {
    Current,
    Archived,
}

pub fn show_task_evidence(world: &World, id: &str, which: EvidenceEntryFilter) -> Result<TaskEvidenceShown> {
    let project = Project::find_for_reading(world)?;
    let task = Id::new(id).map_err(|bad| Error::Usage {
        what: bad.to_string(),
        hint: "`thru evidence list` shows the tasks that have evidence".into(),
    })?;
    super::record_runs_of_current_session(world, &project);
    let store = &project.store;
    let bundle = store.read_evidence(&task)?.ok_or_else(|| Error::Absent {
        what: format!("there is no evidence for {task}"),
        hint: format!(
            "`thru evidence run {task} -- COMMAND` records some; `thru evidence list` shows the existing evidence"
        ),
    })?;
    let judge = FreshnessJudge::new(store, &project.root.checkout);
    let evidence = TaskEvidenceLine::from_standing(&task, &judge.evidence_standing(&task, &bundle), &bundle);
    let archived = store.read_archived_evidence(&task)?;
    let count = archived.len();
    let entries = if which == EvidenceEntryFilter::Archived { archived } else { bundle.entries };
    let shown = |entry: EvidenceEntry| {
        let freshness = entry.is_seen_by_thru().then(|| judge.cached_freshness(&task, &entry));
        let (stale, changed_file) = match freshness {
            Some(Freshness::Stale(why) | Freshness::Unknown(why)) => (Some(true), why),
            Some(Freshness::Fresh) => (Some(false), String::new()),
            None => (None, String::new()),
        };
        EntryShown { entry, stale, changed_file }
    };
    Ok(TaskEvidenceShown {
        task: task.to_string(),
        evidence,
        entries: entries.into_iter().map(shown).collect(),
        archived: count,
        file: format!("{}/{}", layout::STORE_FOLDER, layout::evidence_bundle_path(&task)),
    })
}

/// Returns the evidence of the tasks in progress. Unreadable bundles come first, then failed evidence, then stale
/// evidence, then all other evidence.
pub(crate) fn evidence_in_progress(
    store: &Store,
    judge: &FreshnessJudge,
    plan: &Plan,
) -> Vec<(Id, std::result::Result<EvidenceBundle, store::Error>)> {
    let standing = model::plan::standing_of_plan(plan);
    let mut ids: Vec<&str> = standing.in_progress.iter().map(|task| task.id.as_str()).collect();
    if ids.is_empty() {
        ids.extend(standing.current_task.map(|task| task.id.as_str()));
    }
    let mut found: Vec<(Id, std::result::Result<EvidenceBundle, store::Error>)> = ids
        .into_iter()
        .filter_map(|id| Id::new(id).ok())
        .filter_map(|id| store.read_evidence(&id).transpose().map(|bundle| (id, bundle)))
        .collect();
    found.sort_by_cached_key(|(id, bundle)| {
        match bundle.as_ref().map(|bundle| judge.evidence_standing(id, bundle).proof) {
            Err(_) => 0,
            Ok(ProofState::Failed) => 1,
            Ok(ProofState::Stale) => 2,
            Ok(ProofState::Passed) => 3,
            Ok(ProofState::None) => 4,
        }
    });
    found
}
