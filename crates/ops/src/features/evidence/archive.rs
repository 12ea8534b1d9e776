//! `thru evidence archive`: moves older entries from the bundle to a file next to it. Without this command, entries
//! are moved only when a bundle has too many of them.

use model::evidence::trim_to_count;
use model::id::Id;
use serde::Serialize;
use store::layout;

use super::MAX_EVIDENCE_LOCK_WAIT;
use crate::project::Project;
use crate::{Error, Result, World, WriteMode};

#[derive(Debug, Serialize)]
pub struct ArchiveReport {
    pub tasks: Vec<ArchivedTask>,
    pub written: bool,
}

#[derive(Debug, Serialize)]
pub struct ArchivedTask {
    pub task: String,
    /// The number of entries that were moved, or that would be moved in a dry run.
    #[serde(rename = "moved")]
    pub archived: usize,
    pub kept: usize,
    pub file: String,
}

/// Keeps the newest `keep` entries of the given task, or of every task, and moves the older entries to the archive.
pub fn archive_old_entries(
    world: &World,
    id: Option<&str>,
    keep: usize,
    mode: WriteMode,
) -> Result<ArchiveReport> {
    let store = Project::find_for_reading(world)?.store;
    let tasks = match id {
        Some(id) => {
            let task = Id::new(id).map_err(|bad| Error::Usage {
                what: bad.to_string(),
                hint: "`thru evidence list` shows the tasks that have evidence".into(),
            })?;
            if store.read_evidence(&task)?.is_none() {
                return Err(Error::Absent {
                    what: format!("there is no evidence for {task}"),
                    hint: "`thru evidence list` shows the existing evidence".into(),
                });
            }
            vec![task]
        }
        None => store.tasks_with_evidence()?.0,
    };
    let mut report = ArchiveReport { tasks: Vec::new(), written: false };
    for task in tasks {
        let _lock = match mode {
            WriteMode::Write => Some(store.lock_evidence(&task, MAX_EVIDENCE_LOCK_WAIT)?),
            WriteMode::DryRun => None,
        };
        let Some(bundle) = store.read_evidence(&task)? else { continue };
        let trimmed = trim_to_count(bundle, keep);
        if trimmed.archived.is_empty() {
            continue;
        }
        if mode == WriteMode::Write {
            store.write_evidence(&task, &trimmed.bundle, &trimmed.archived)?;
            report.written = true;
        }
        report.tasks.push(ArchivedTask {
            task: task.to_string(),
            archived: trimmed.archived.len(),
            kept: trimmed.bundle.entries.len(),
            file: format!(
                "{}/{}/{}",
                layout::STORE_FOLDER,
                layout::evidence_folder_path(&task),
                layout::EVIDENCE_ARCHIVE_FILE
            ),
        });
    }
    report.tasks.sort_by(|a, b| model::plan::compare_ids_naturally(&a.task, &b.task));
    Ok(report)
}
