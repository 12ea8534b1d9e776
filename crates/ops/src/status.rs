//! `thru status`: where we stand, and what to do next.

use std::path::PathBuf;

use model::marker::{Mode, ProjectId};
use serde::Serialize;
use store::Found;

use crate::{Result, World, gate, loops, sessions, settings};

#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub root: PathBuf,
    /// False: there is no marker, this is where one would go.
    pub marked: bool,
    /// The git worktree we stand in, when it is not the root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    pub trusted: bool,
    pub sessions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_session: Option<sessions::Listed>,
    /// The loop in the foreground.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub running: Option<loops::Shown>,
    /// The live run of a stage, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<gate::Open>,
    /// Why it cannot be told how that run stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs_problem: Option<String>,
    pub next: Next,
}

/// The one thing a newcomer should do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    Init,
    Trust,
    StartHarness,
    Nothing,
}

pub fn run(world: &World) -> Result<Report> {
    let (root, store, marker) = match world.find()? {
        Found::Marked { root, store, marker } => (root, store, marker),
        Found::Unmarked(root) => {
            return Ok(Report {
                worktree: (root.path != root.checkout).then_some(root.checkout),
                root: root.path,
                marked: false,
                project_id: None,
                name: None,
                mode: None,
                trusted: false,
                sessions: 0,
                last_session: None,
                running: None,
                outputs: None,
                outputs_problem: None,
                next: Next::Init,
            });
        }
    };
    let trusted = match world.trust() {
        Some(trust) => trust.holds(&marker.project_id, &root.path)?,
        None => false,
    };
    let sessions = sessions::all(&store)?.len();
    let next = match (trusted, sessions) {
        (false, _) => Next::Trust,
        (true, 0) => Next::StartHarness,
        (true, _) => Next::Nothing,
    };
    let settings = settings::resolve(world, trusted.then_some(&store)).settings();
    let (outputs, outputs_problem) = match gate::open(&store, &root, &settings) {
        Ok(open) => (open, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Report {
        outputs,
        outputs_problem,
        worktree: (root.path != root.checkout).then_some(root.checkout),
        root: root.path,
        marked: true,
        project_id: Some(marker.project_id),
        name: Some(marker.name),
        mode: Some(marker.mode),
        trusted,
        sessions,
        last_session: sessions::newest(&store)?,
        running: loops::foreground(world, &store)?,
        next,
    })
}
