//! `thru status`: shows the current state and suggests the next step.

use std::path::PathBuf;

use model::activity;
use model::finding::Finding;
use model::id::Id;
use model::marker::{ProjectId, SharingMode};
use serde::{Serialize, Serializer};
use store::{FoundRoot, Store};

use crate::features::{
    FEATURES, NextStep, NextStepUrgency, ProjectContext, StatusReportLine, most_urgent_step,
};
use crate::hook::lost;
use crate::project::hook_obstacle::{HookConditions, HookObstacle};
use crate::project::settings;
use crate::session::{last, list, roster};
use crate::setup::install::{IgnoredFile, TrackedSettings};
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
    /// The most urgent command that a feature suggests, or else one that shows the last session. `None` if
    /// `next_for_new_user` says what to do.
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
    /// A setting or a variable turns hooks off.
    SwitchOn,
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
    // An unreadable trust record is an error here. A hook does not fail in that case, but it captures nothing.
    if let Some(trust) = world.trust_records() {
        trust.is_trusted(&marker.project_id, &root.path)?;
    }
    let hooks = HookConditions::examine(world, &root, &store, &marker);
    let next_for_new_user = next_for_new_user(&hooks);
    let HookConditions { trusted, moved_from, wired, ignored_files, tracked_settings, sessions, .. } = hooks;
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
    let next_step = most_urgent_step(lines.iter().filter_map(|line| line.next_step.clone()))
        .unwrap_or_else(|| step_to_last_session(&store, last_session.as_ref()));
    Ok(StatusReport {
        next_step: (next_for_new_user == NextStepForNewUser::Nothing).then_some(next_step),
        lost_records: trusted
            .then(|| lost::describe_recent_loss(world, &store, &marker.project_id))
            .flatten(),
        lines,
        problems,
        missing_git_folder: None,
        tracked_settings,
        settings_problems: resolved.findings,
        hooks_off: hooks.is_switched_off,
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

/// Returns the step if no feature suggests one, so that `thru status` always says what to do next.
fn step_to_last_session(store: &Store, last: Option<&list::LastSession>) -> NextStep {
    let session = last.map_or("", |last| last.session.as_str());
    let digest = Id::new(session).ok().and_then(|session| store.current_digest(&session, |_| {}).ok());
    let short = activity::short_session_id(session);
    let (command, why) = match digest {
        Some(digest) if roster::has_request_or_work(&digest) => {
            ("thru brief", format!("shows where session {short} left off"))
        }
        // The session was only opened, so a brief would be empty.
        Some(_) => ("thru journal", format!("shows what has been captured from session {short}")),
        None => ("thru journal --list", "lists the sessions".to_owned()),
    };
    let urgency = NextStepUrgency::LastSession;
    NextStep { urgency, changed_at: String::new(), command: command.to_owned(), why }
}

fn next_for_new_user(hooks: &HookConditions) -> NextStepForNewUser {
    match hooks.obstacle() {
        Some(HookObstacle::Moved { .. }) => NextStepForNewUser::TrustMoved,
        Some(HookObstacle::NotTrusted) => NextStepForNewUser::Trust,
        Some(HookObstacle::SwitchedOff) => NextStepForNewUser::SwitchOn,
        Some(HookObstacle::FileIgnored { .. }) => NextStepForNewUser::FixSettings,
        Some(HookObstacle::NotInstalled { .. }) if hooks.tracked_settings.is_some() => {
            NextStepForNewUser::WireElsewhere
        }
        Some(HookObstacle::NotInstalled { .. }) if hooks.sessions == 0 => NextStepForNewUser::Wire,
        Some(HookObstacle::NotInstalled { .. }) => NextStepForNewUser::WireAgain,
        None if hooks.sessions == 0 => NextStepForNewUser::StartHarness,
        None => NextStepForNewUser::Nothing,
    }
}

/// Puts the JSON keys of all lines at the top level of the report.
fn serialize_by_key<S: Serializer>(
    lines: &[StatusReportLine],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(lines.iter().flat_map(|line| &line.json).map(|(key, value)| (*key, value)))
}
