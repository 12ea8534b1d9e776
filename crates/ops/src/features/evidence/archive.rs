//! `thru evidence archive`: moves older entries from the bundle to a file next to it. Otherwise entries are moved
//! only if a bundle has too many.

use model::evidence::trim;
use model::id::Id;
use serde::Serialize;
use store::layout;

use super::WAIT;
use crate::project::Project;
use crate::{Error, Mode, Result, World};

#[derive(Debug, Serialize)]
pub struct Archived {
    pub tasks: Vec<ArchivedTask>,
    pub written: bool,
}

#[derive(Debug, Serialize)]
pub struct ArchivedTask {
    pub task: String,
    /// How many entries were moved. In a dry run, how many would be moved.
    pub moved: usize,
    pub kept: usize,
    pub file: String,
}

/// Keeps the newest `keep` entries of one task, or of every task, and moves the others.
pub fn run(world: &World, id: Option<&str>, keep: usize, mode: Mode) -> Result<Archived> {
    let store = Project::find(world)?.store;
    let tasks = match id {
        Some(id) => {
            let task = Id::new(id).map_err(|bad| Error::Usage {
                what: bad.to_string(),
                hint: "`thru evidence list` shows the tasks that have evidence".into(),
            })?;
            if store.evidence(&task)?.is_none() {
                return Err(Error::Absent {
                    what: format!("there is no evidence for {task}"),
                    hint: "`thru evidence list` shows what there is".into(),
                });
            }
            vec![task]
        }
        None => store.evidence_tasks()?.0,
    };
    let mut report = Archived { tasks: Vec::new(), written: false };
    for task in tasks {
        let _lock = match mode {
            Mode::Write => Some(store.lock_evidence(&task, WAIT)?),
            Mode::DryRun => None,
        };
        let Some(bundle) = store.evidence(&task)? else { continue };
        let trimmed = trim(bundle, keep);
        if trimmed.archived.is_empty() {
            continue;
        }
        if mode == Mode::Write {
            store.write_evidence(&task, &trimmed.bundle, &trimmed.archived)?;
            report.written = true;
        }
        report.tasks.push(ArchivedTask {
            task: task.to_string(),
            moved: trimmed.archived.len(),
            kept: trimmed.bundle.entries.len(),
            file: format!(
                "{}/{}/{}",
                layout::STORE,
                layout::evidence_folder(&task),
                layout::EVIDENCE_ARCHIVE
            ),
        });
    }
    report.tasks.sort_by(|a, b| model::plan::natural(&a.task, &b.task));
    Ok(report)
}
