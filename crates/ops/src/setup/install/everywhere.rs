//! `thru uninstall --all`: removes thru's hooks from the settings files of all projects on this machine, and reports
//! what remains.

use std::path::{Path, PathBuf};

use harness::HARNESSES;
use model::marker::ProjectId;
use serde::Serialize;
use store::{FoundRoot, layout};

use super::{FileChange, InstallReport, InstallScope, InstallTask, default_scope, run_in_checkout};
use crate::project::git;
use crate::setup::agents;
use crate::{Result, World, WriteMode};

#[derive(Clone, Debug, Serialize)]
pub struct UninstallReport {
    /// Whether the changes were written. False in a dry run, which reports what would be done.
    pub written: bool,
    /// The checkouts that were examined. The user's own settings are not listed here.
    #[serde(rename = "looked_at")]
    pub examined_checkouts: Vec<PathBuf>,
    /// Reports on the settings that were restored, and on those that could not be restored.
    #[serde(rename = "undone")]
    pub uninstall_reports: Vec<InstallReport>,
    /// Descriptions of what could not be removed, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "not_undone")]
    pub failures: Vec<String>,
    /// The checkouts that no longer exist. If one of them was moved, its settings may still contain thru's hooks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "gone")]
    pub missing_checkouts: Vec<PathBuf>,
    /// The files that remain on this machine. They have no effect on their own.
    #[serde(rename = "left")]
    pub remaining_files: Vec<FileLeftByUninstallation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileLeftByUninstallation {
    pub path: PathBuf,
    #[serde(rename = "what")]
    pub description: &'static str,
}

impl UninstallReport {
    pub fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.uninstall_reports.iter().all(|report| report.failed.is_empty())
    }
}

/// Removes thru's hooks from the user's own settings, the current project, all projects that are trusted on this
/// machine, all projects in which thru was installed, and all worktrees of these projects.
pub fn uninstall_everywhere(world: &World, mode: WriteMode) -> Result<UninstallReport> {
    let InstalledFolders { existing_checkouts: roots, missing_checkouts } =
        folders_with_installations(world)?;
    let mut checkouts: Vec<PathBuf> = roots.iter().flat_map(|root| git::list_worktrees(root)).collect();
    checkouts.sort();
    checkouts.dedup();
    let mut all = UninstallReport {
        written: mode == WriteMode::Write,
        examined_checkouts: checkouts.clone(),
        uninstall_reports: Vec::new(),
        failures: Vec::new(),
        missing_checkouts,
        remaining_files: Vec::new(),
    };
    for checkout in &checkouts {
        for scope in [InstallScope::Local, InstallScope::Project] {
            all.uninstall_project(world, checkout, scope, mode);
        }
    }
    let here = world.cwd.clone().unwrap_or_default();
    all.uninstall_project(world, &here, InstallScope::User, mode);
    all.remaining_files = remaining_installations(world, &roots);
    Ok(all)
}

impl UninstallReport {
    fn uninstall_project(&mut self, world: &World, project: &Path, scope: InstallScope, mode: WriteMode) {
        for harness in HARNESSES {
            if scope == InstallScope::Local && default_scope(harness) == InstallScope::User {
                continue;
            }
            match run_in_checkout(world, harness, project, scope, InstallTask::Uninstall, mode) {
                Ok(mut report) => {
                    report.files.retain(|file| file.change != FileChange::Unchanged);
                    if !report.files.is_empty() || !report.failed.is_empty() {
                        self.uninstall_reports.push(report);
                    }
                }
                Err(error) => self.failures.push(format!("{}: {error}", harness.title)),
            }
        }
        // The `local` and `project` scopes share one folder for agents, so the agents are removed only once.
        if scope != InstallScope::Project {
            match agents::uninstall_all_in_checkout(world, project, scope, mode) {
                Ok(reports) => self.uninstall_reports.extend(reports),
                Err(error) => self.failures.push(format!("agents: {error}")),
            }
        }
    }
}

struct InstalledFolders {
    existing_checkouts: Vec<PathBuf>,
    /// The paths that no longer exist, unless the same project exists at another path.
    missing_checkouts: Vec<PathBuf>,
}

fn folders_with_installations(world: &World) -> Result<InstalledFolders> {
    let trust = world.trust_records();
    let trusted = trust.as_ref().map_or(Ok(Vec::new()), |trust| trust.list_trusted_roots())?;
    let installed = world.installs().map_or(Ok(Vec::new()), |installs| installs.list_checkouts())?;
    let mut known: Vec<PathBuf> = trusted.iter().map(|(_, root)| PathBuf::from(&root.path)).collect();
    known.extend(installed.into_iter().map(|checkout| checkout.canonicalize().unwrap_or(checkout)));
    // The projects that still exist at one or more of their paths.
    let mut projects: Vec<ProjectId> = Vec::new();
    projects.extend(trusted.into_iter().filter(|(_, root)| Path::new(&root.path).is_dir()).map(|(id, _)| id));
    match world.find_root() {
        Ok(FoundRoot::Marked { root, marker, .. }) => {
            known.push(root.path.canonicalize().unwrap_or(root.path));
            projects.push(marker.project_id);
        }
        Ok(FoundRoot::Unmarked(root)) => known.push(root.path.canonicalize().unwrap_or(root.path)),
        Err(_) => {}
    }
    known.sort();
    known.dedup();
    let (existing_checkouts, mut missing_checkouts): (Vec<PathBuf>, Vec<PathBuf>) =
        known.into_iter().partition(|root| root.is_dir());
    for former in projects.iter().filter_map(|id| trust.as_ref()?.former_paths(id).ok()) {
        missing_checkouts.retain(|path| !former.iter().any(|former| path.starts_with(former)));
    }
    Ok(InstalledFolders { existing_checkouts, missing_checkouts })
}

fn remaining_installations(world: &World, roots: &[PathBuf]) -> Vec<FileLeftByUninstallation> {
    let stores = roots.iter().map(|root| FileLeftByUninstallation {
        path: root.join(layout::STORE_FOLDER),
        description: "records",
    });
    let state = world.state_folder().map(|path| FileLeftByUninstallation {
        path,
        description: "trust, consent and backups of settings files",
    });
    let config = world
        .user_settings_file()
        .map(|path| FileLeftByUninstallation { path, description: "your thru settings" });
    let program =
        Some(FileLeftByUninstallation { path: world.program_path.clone(), description: "the program" });
    stores.chain(state).chain(config).chain(program).filter(|left| left.path.exists()).collect()
}
