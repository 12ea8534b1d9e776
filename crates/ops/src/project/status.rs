//! `thru status`: where we stand, and what to do next.

use std::path::PathBuf;

use harness::Harness;
use model::finding::Finding;
use model::marker::{Mode, ProjectId};
use serde::Serialize;
use store::{Found, Store, layout};

use crate::features::roles::Roles;
use crate::features::workstreams::Place;
use crate::features::{crashed, loops, outputs};
use crate::hook::lost;
use crate::project::settings;
use crate::session::list;
use crate::setup::install;
use crate::{Result, World};

#[derive(Clone, Debug, Default, Serialize)]
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
    pub last_session: Option<list::Listed>,
    /// The loop in the foreground.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub running: Option<loops::Shown>,
    /// The live run of a stage, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<outputs::Open>,
    /// Why it cannot be told how that run stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs_problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// Sessions that broke off and have left no packet yet.
    #[serde(skip_serializing_if = "is_zero")]
    pub broke_off: usize,
    /// The role of the session this runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The roles that have a context file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workstreams: Vec<String>,
    /// By a setting or a variable.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hooks_off: bool,
    /// The harnesses that call us here.
    pub wired: Vec<&'static str>,
    #[serde(skip_serializing_if = "is_zero")]
    pub paused_loops: usize,
    /// Loops that would run, or could go on, if the user had started them on this machine.
    #[serde(skip_serializing_if = "is_zero")]
    pub loops_not_started_here: usize,
    /// Records that hooks could not write, lately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// What is wrong with the settings, and therefore not in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings_problems: Vec<Finding>,
    pub next: Next,
}

/// How many packets there are, as far as a glance at their folder tells.
#[derive(Clone, Debug, Serialize)]
pub struct Packets {
    pub count: usize,
    /// There are more: they were not counted.
    pub at_least: bool,
    /// The one that was made last, where all were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<String>,
}

/// More are not counted: `thru status` says where we stand at a glance, however much there is.
const COUNTED: usize = 500;

/// The one thing a newcomer should do now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    #[default]
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
                ..Report::default()
            });
        }
    };
    let trusted = match world.trust() {
        Some(trust) => trust.holds(&marker.project_id, &root.path)?,
        None => false,
    };
    let sessions = list::all(&store)?.len();
    let next = match (trusted, sessions) {
        (false, _) => Next::Trust,
        (true, 0) => Next::StartHarness,
        (true, _) => Next::Nothing,
    };
    let resolved = settings::resolve(world, trusted.then_some(&store));
    let settings = resolved.settings();
    let (outputs, outputs_problem) = match outputs::open(&store, &root, &settings) {
        Ok(open) => (open, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let place = Place { root: &root, store: &store, settings: &settings };
    // As with roles: a folder that cannot be read is told by `thru resume`, and does not keep the rest from being shown.
    let workstreams = place.all().unwrap_or_default().into_iter().map(|workstream| workstream.id).collect();
    let role = list::around(world).and_then(|session| store.role_of(&session).ok().flatten());
    let roles = Roles { root: root.clone(), store: None, settings: settings.clone() };
    let is_wired = |harness: &&Harness| !install::wired(world, harness, &root.checkout).is_empty();
    let wired = harness::HARNESSES.iter().filter(is_wired);
    Ok(Report {
        lost: trusted.then(|| lost::recent(world, &store, &marker.project_id)).flatten(),
        packets: packets(&store)?,
        broke_off: crashed::waiting(world, &store)?,
        role: role.map(|role| role.to_string()),
        // What is wrong with their folder is the doctor's business.
        roles: roles.names().unwrap_or_default().iter().map(ToString::to_string).collect(),
        workstreams,
        settings_problems: resolved.findings,
        hooks_off: !settings.hooks_enabled || world.is_on("THROUGHLINE_DISABLE"),
        wired: wired.map(|harness| harness.name).collect(),
        paused_loops: loops::paused(&store)?,
        loops_not_started_here: loops::not_started_here(&store)?,
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
        last_session: list::newest(&store)?,
        running: loops::foreground(world, &store)?,
        next,
    })
}

fn packets(store: &Store) -> Result<Option<Packets>> {
    let folder = match store.dir().sub(layout::PACKETS) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        folder => folder?,
    };
    let mut names = folder.names_up_to(COUNTED)?;
    let at_least = names.len() == COUNTED;
    names.retain(|name| name.ends_with(".md"));
    let newest = names.iter().max().and_then(|name| name.strip_suffix(".md")).filter(|_| !at_least);
    let newest = newest.map(str::to_owned);
    Ok(Some(Packets { count: names.len(), at_least, newest }).filter(|packets| packets.count > 0))
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
