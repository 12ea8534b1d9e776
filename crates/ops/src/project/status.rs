//! `thru status`: the current state, and the next step.

use std::path::{Path, PathBuf};

use harness::Harness;
use model::finding::Finding;
use model::marker::{Mode, ProjectId};
use serde::{Serialize, Serializer};
use store::Found;

use crate::features::{FEATURES, NextStep, ProjectContext, StatusLine};
use crate::hook::lost;
use crate::project::{settings, trust};
use crate::session::list;
use crate::setup::install;
use crate::{Result, World};

#[derive(Clone, Debug, Default, Serialize)]
pub struct StatusReport {
    pub root: PathBuf,
    /// False if there is no marker. Then `root` is the folder where the marker would be created.
    pub marked: bool,
    /// The current git worktree, if it is not the root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    pub trusted: bool,
    /// Where the project was trusted before its folder was moved here, if it is not trusted here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    pub sessions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_session: Option<list::Listed>,
    /// Whether a setting or a variable turns hooks off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hooks_off: bool,
    /// The harnesses that call us here.
    pub wired: Vec<&'static str>,
    /// Records that hooks recently could not write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// Errors in the settings. The settings with errors do not apply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings_problems: Vec<Finding>,
    pub next: Next,
    /// The command to type now, if a feature suggests one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<NextStep>,
    /// The lines that features add, in the order of their rows.
    #[serde(flatten, serialize_with = "by_key")]
    pub lines: Vec<StatusLine>,
    /// The errors of features that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What a new user should do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    #[default]
    Init,
    Trust,
    /// The user should trust the store, as for `Trust`. The project's folder was moved.
    TrustMoved,
    /// No harness calls us, and no session was ever recorded.
    Wire,
    StartHarness,
    /// Our hooks were in the settings of this checkout, and are there no longer.
    WireAgain,
    Nothing,
}

pub fn run(world: &World) -> Result<StatusReport> {
    let (root, store, marker) = match world.find()? {
        Found::Marked { root, store, marker } => (root, store, marker),
        Found::Unmarked(root) => {
            return Ok(StatusReport {
                worktree: (root.path != root.checkout).then_some(root.checkout),
                root: root.path,
                ..StatusReport::default()
            });
        }
    };
    let trusted = match world.trust() {
        Some(trust) => trust.holds(&marker.project_id, &root.path)?,
        None => false,
    };
    let sessions = list::all(&store)?.len();
    let moved_from = if trusted { None } else { trust::moved_from(world, &marker.project_id, &root.path) };
    let is_wired = |harness: &&Harness| !install::in_force(world, harness, &root.checkout).is_empty();
    let wired: Vec<&Harness> = harness::HARNESSES.iter().filter(is_wired).collect();
    let next = match (trusted, sessions) {
        (false, _) if moved_from.is_some() => Next::TrustMoved,
        (false, _) => Next::Trust,
        (true, 0) if wired.is_empty() => Next::Wire,
        (true, 0) => Next::StartHarness,
        (true, _) if wired.is_empty() && was_installed(world, &marker.project_id, &root.checkout) => {
            Next::WireAgain
        }
        (true, _) => Next::Nothing,
    };
    let resolved = settings::resolve(world, trusted.then_some(&store));
    let settings = resolved.settings();
    let project = ProjectContext { world, root: &root, store: &store, settings: &settings };
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    for feature in FEATURES {
        match feature.guard(|| (feature.status)(&project)) {
            Ok(told) => lines.extend(told),
            Err(error) => problems.push(error.to_string()),
        }
    }
    let next_step = lines.iter().filter_map(|line| line.next.clone()).min();
    Ok(StatusReport {
        next_step: next_step.filter(|_| next == Next::Nothing),
        lost: trusted.then(|| lost::recent(world, &store, &marker.project_id)).flatten(),
        lines,
        problems,
        settings_problems: resolved.findings,
        hooks_off: !settings.hooks_enabled || world.is_on("THROUGHLINE_DISABLE"),
        wired: wired.iter().map(|harness| harness.name).collect(),
        worktree: (root.path != root.checkout).then_some(root.checkout),
        root: root.path,
        marked: true,
        project_id: Some(marker.project_id),
        name: Some(marker.name),
        mode: Some(marker.mode),
        trusted,
        moved_from,
        sessions,
        last_session: list::newest(&store)?,
        next,
    })
}

/// Returns whether `thru install` once wrote into this checkout, or into the project before it was moved. If it never
/// did, a plugin of the harness calls us.
fn was_installed(world: &World, id: &ProjectId, checkout: &Path) -> bool {
    let installed = world.installs().and_then(|installs| installs.list().ok()).unwrap_or_default();
    let former = world.trust().and_then(|trust| trust.former(id).ok()).unwrap_or_default();
    installed.iter().any(|known| known == checkout || former.iter().any(|old| known == Path::new(old)))
}

/// Puts every key of every line at the top of the report.
fn by_key<S: Serializer>(lines: &[StatusLine], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(lines.iter().flat_map(|line| &line.json).map(|(key, value)| (*key, value)))
}
