//! `thru evidence archive`: older entries leave the bundle, and stay in a file beside it. Nothing does so by itself, but for a
//! bundle that has more entries than it may.

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
    /// Entries that went, or would go.
    pub moved: usize,
    pub kept: usize,
    pub file: String,
}

/// Keeps the newest `keep` entries of a task, or of all of them.
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
            // A run that was cut off may have put some there already.
            let known = store.archived_evidence(&task)?;
            let is_new = |entry: &&model::evidence::Entry| {
                entry.id.is_empty() || known.iter().all(|known| known.id != entry.id)
            };
            let new: Vec<_> = trimmed.archived.iter().filter(is_new).cloned().collect();
            store.write_evidence(&task, &trimmed.bundle, &new)?;
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
