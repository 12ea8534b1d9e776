//! `thru status`: shows the current state and suggests the next step.

use std::path::{Path, PathBuf};

use harness::Harness;
use model::finding::Finding;
use model::marker::{ProjectId, SharingMode};
use serde::{Serialize, Serializer};
use store::FoundRoot;

use crate::features::{FEATURES, NextStep, ProjectContext, StatusReportLine, most_urgent_step};
use crate::hook::lost;
use crate::project::{settings, trust};
use crate::session::{last, list};
use crate::setup::install::{self, IgnoredFile, TrackedSettings};
use crate::{Result, World};

#[derive(Clone, Debug, Default, Serialize)]
pub struct StatusReport {
    pub root: PathBuf,
    /// Whether the root has a marker. If not, `root` is the folder in which the marker would be created.
    pub marked: bool,
    /// Why this folder cannot become a root, or `None` if it can or already is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfit: Option<String>,
    /// The current git worktree, if it is not the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<SharingMode>,
    pub trusted: bool,
    /// The path at which the project was trusted before its folder was moved, or `None` if the current path is
    /// trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    pub sessions: usize,
    /// The session that `thru brief` describes if it is run outside a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_session: Option<list::LastSession>,
    /// Whether a setting or a variable turns hooks off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hooks_off: bool,
    /// The harnesses that call thru in this project.
    #[serde(rename = "wired")]
    pub wired_harnesses: Vec<&'static str>,
    /// The settings files that contain thru's hooks but that their harness ignores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored_files: Vec<IgnoredFile>,
    /// Describes the records that hooks recently could not write.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "lost")]
    pub lost_records: Option<String>,
    /// The errors in the settings. A setting with an error has no effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings_problems: Vec<Finding>,
    /// The folder that the `.git` file of this worktree points to, if that folder does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_git_folder: Option<PathBuf>,
    /// The settings file into which hooks were not installed, because git tracks it. `None` if another settings file
    /// contains thru's hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracked_settings: Option<TrackedSettings>,
    #[serde(rename = "next")]
    pub next_for_new_user: NextStepForNewUser,
    /// The most urgent command that a feature suggests, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<NextStep>,
    /// The lines from the features, in the order of the feature table.
    #[serde(flatten, serialize_with = "serialize_by_key")]
    pub lines: Vec<StatusReportLine>,
    /// The errors from features that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What a new user should do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextStepForNewUser {
    #[default]
    Init,
    /// This folder cannot become a root, for example because it is the home folder.
    GoToProject,
    /// This is a worktree, and git no longer finds its main checkout.
    RepairWorktree,
    Trust,
    /// Like `Trust`, but the project's folder was moved.
    TrustMoved,
    /// No harness calls thru, and no session has ever been recorded.
    Wire,
    /// No harness calls thru, and `thru init` cannot change that, because git tracks the settings file.
    WireElsewhere,
    StartHarness,
    /// No hook runs, because the harness ignores the file that contains thru's hooks.
    FixSettings,
    /// thru's hooks were installed in this checkout, but its settings no longer contain them.
    WireAgain,
    Nothing,
}

pub fn project_status(world: &World) -> Result<StatusReport> {
    let (root, store, marker) = match world.find_root()? {
        FoundRoot::Marked { root, store, marker } => (root, store, marker),
        FoundRoot::Unmarked(root) => {
            let unfit = world.why_unfit_root(&root).map(|why| why.to_string());
            let missing_git_folder = store::git::missing_git_folder_of_worktree(&root.checkout);
            let next_for_new_user = match (&unfit, &missing_git_folder) {
                (Some(_), _) => NextStepForNewUser::GoToProject,
                (None, Some(_)) => NextStepForNewUser::RepairWorktree,
                (None, None) => NextStepForNewUser::Init,
            };
            return Ok(StatusReport {
                unfit,
                missing_git_folder,
                next_for_new_user,
                worktree: (root.path != root.checkout).then_some(root.checkout),
                root: root.path,
                ..StatusReport::default()
            });
        }
    };
    let trusted = match world.trust_records() {
        Some(trust) => trust.is_trusted(&marker.project_id, &root.path)?,
        None => false,
    };
    let sessions = list::all_session_ids(&store)?.len();
    let moved_from = if trusted { None } else { trust::former_root(world, &marker.project_id, &root.path) };
    let ignored_files = install::ignored_files(world, &root.checkout);
    let is_wired = |harness: &&Harness| {
        let files = install::wired_files_in_force(world, harness, &root.checkout);
        files.iter().any(|file| ignored_files.iter().all(|ignored| ignored.path != file.path))
    };
    let wired: Vec<&Harness> = harness::HARNESSES.iter().filter(is_wired).collect();
    let tracked_settings = match wired.is_empty() && ignored_files.is_empty() {
        true => install::tracked_settings(world, &root.checkout),
        false => None,
    };
    let next_for_new_user = match (trusted, sessions) {
        (false, _) if moved_from.is_some() => NextStepForNewUser::TrustMoved,
        (false, _) => NextStepForNewUser::Trust,
        (true, _) if wired.is_empty() && !ignored_files.is_empty() => NextStepForNewUser::FixSettings,
        (true, 0) if tracked_settings.is_some() => NextStepForNewUser::WireElsewhere,
        (true, 0) if wired.is_empty() => NextStepForNewUser::Wire,
        (true, 0) => NextStepForNewUser::StartHarness,
        (true, _) if wired.is_empty() && was_installed(world, &marker.project_id, &root.checkout) => {
            match tracked_settings {
                Some(_) => NextStepForNewUser::WireElsewhere,
                None => NextStepForNewUser::WireAgain,
            }
        }
        (true, _) => NextStepForNewUser::Nothing,
    };
    let resolved = settings::resolve_settings(world, trusted.then_some(&store));
    let settings = resolved.settings();
    let project = ProjectContext { world, root: &root, store: &store, settings: &settings };
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    for feature in FEATURES {
        match feature.call_catching_panics(|| (feature.status)(&project)) {
            Ok(told) => lines.extend(told),
            Err(error) => problems.push(error.to_string()),
        }
    }
    let last_session = last::describe_last_session(&project)?;
    let next_step = most_urgent_step(lines.iter().filter_map(|line| line.next_step.clone()));
    Ok(StatusReport {
        next_step: next_step.filter(|_| next_for_new_user == NextStepForNewUser::Nothing),
        lost_records: trusted
            .then(|| lost::describe_recent_loss(world, &store, &marker.project_id))
            .flatten(),
        lines,
        problems,
        missing_git_folder: None,
        tracked_settings,
        settings_problems: resolved.findings,
        hooks_off: !settings.hooks_enabled || world.is_variable_on("THROUGHLINE_DISABLE"),
        wired_harnesses: wired.iter().map(|harness| harness.name).collect(),
        ignored_files,
        worktree: (root.path != root.checkout).then_some(root.checkout),
        root: root.path,
        marked: true,
        unfit: None,
        project_id: Some(marker.project_id),
        name: Some(marker.name),
        mode: Some(marker.mode),
        trusted,
        moved_from,
        sessions,
        last_session,
        next_for_new_user,
    })
}

/// Returns whether `thru install` was ever run in this checkout, or at a path that the project was moved from.
/// If not, hooks may still run, because a plugin of the harness may call thru.
fn was_installed(world: &World, id: &ProjectId, checkout: &Path) -> bool {
    let installed = world.installs().and_then(|installs| installs.list_checkouts().ok()).unwrap_or_default();
    let former = world.trust_records().and_then(|trust| trust.former_paths(id).ok()).unwrap_or_default();
    installed.iter().any(|known| known == checkout || former.iter().any(|old| known == Path::new(old)))
}

/// Puts the JSON keys of all lines at the top level of the report.
fn serialize_by_key<S: Serializer>(
    lines: &[StatusReportLine],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(lines.iter().flat_map(|line| &line.json).map(|(key, value)| (*key, value)))
}
