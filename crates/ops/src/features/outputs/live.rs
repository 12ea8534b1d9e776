//! Finds the live run: from `state/live.json`, or else from the live-state file that a setting names.

use std::path::{Path, PathBuf};

use model::config::Settings;
use model::{gate, place};
use serde::Serialize;
use store::{Dir, Root, Run, Store, layout};

use super::{GateContext, in_outputs};
use crate::project::{Project, settings};
use crate::{Error, Result, World};

const LARGEST: usize = 4 * 1024 * 1024;

const OTHER: &str =
    "`thru gate live --set DIR` names another, `thru gate expect STAGE --critical FILE…` makes one";

/// Which file names the live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    LiveJson,
    LiveStateFile,
}

#[derive(Debug)]
pub(super) struct Found {
    pub run: Run,
    pub from: Where,
}

#[derive(Clone, Debug, Serialize)]
pub struct Live {
    pub run: PathBuf,
    pub from: Where,
    /// `None` if nothing is expected in the run yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
}

pub fn live(world: &World) -> Result<Live> {
    let place = GateContext::find(world)?;
    let found = place.live()?.ok_or_else(|| place.no_live_run())?;
    Ok(told(&found))
}

/// Sets the live run. `dir` is a folder of the project, or the name of a run in `outputs/`.
pub fn set_live(world: &World, dir: &Path) -> Result<Live> {
    let place = GateContext::find(world)?;
    let (base, rel) = match dir.to_str() {
        Some(name) if !name.contains('/') && place.store.runs()?.iter().any(|run| run == name) => {
            (&place.root.path, in_outputs(name))
        }
        _ => below(&place.root, &world.need_cwd()?.join(dir))?,
    };
    let run = Run::open(base, &rel)?;
    place.store.set_live(Some(&rel), world.now)?;
    Ok(told(&Found { run, from: Where::LiveJson }))
}

/// Clears the live run. Returns the run that another tool's live-state file still names, because we do not clear that
/// file.
pub fn clear_live(world: &World) -> Result<Option<Live>> {
    let place = GateContext::find(world)?;
    place.store.set_live(None, world.now)?;
    Ok(place.live().ok().flatten().as_ref().map(told))
}

impl GateContext {
    pub(super) fn live(&self) -> Result<Option<Found>> {
        find(&self.store, &self.root, &self.resolved.settings())
    }
}

/// Returns the live run of a project, whether trusted or not; `None` also if the live run cannot be determined.
pub(crate) fn live_run(world: &World, project: &Project) -> Option<Run> {
    let settings = settings::resolve(world, Some(&project.store)).settings();
    find(&project.store, &project.root, &settings).ok().flatten().map(|found| found.run)
}

/// Finds the live run. A run that is named but missing is an error, because somebody named it for a reason.
pub(super) fn find(store: &Store, root: &Root, settings: &Settings) -> Result<Option<Found>> {
    let live = store.live().map_err(|error| match error {
        store::Error::Damaged { path, line, why } => Error::Damaged { path, line, why, hint: OTHER.into() },
        error => Error::Store(error),
    })?;
    if let Some(dir) = live {
        let from = Where::LiveJson;
        // Each worktree has its own folders, but `outputs/` belongs to the root.
        let bases = [&root.path, &root.checkout];
        let named = store.dir().path().join(layout::LIVE);
        return Ok(Some(Found { run: open(&bases, &dir, &named)?, from }));
    }
    if settings.live_state_file.is_empty() {
        return Ok(None);
    }
    let named = &*settings.live_state_file;
    let path = root.checkout.join(named);
    let Some(rel) = place::within(&root.checkout.to_string_lossy(), named).into_inside() else {
        return Err(Error::Refused {
            what: format!("gates.live_state_file is `{named}`, which is not inside this project"),
            hint: format!("name a file below {}, or remove the setting", root.checkout.display()),
        });
    };
    let text = match Dir::open(&root.checkout)?.read(&rel, LARGEST) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        text => String::from_utf8_lossy(&text?).into_owned(),
    };
    let Some(dir) = gate::live_of_yaml(&text) else { return Ok(None) };
    Ok(Some(Found { run: open(&[&root.checkout, &root.path], &dir, &path)?, from: Where::LiveStateFile }))
}

/// Opens a run. `named` is the file that contains `dir`, for an error message.
fn open(bases: &[&PathBuf], dir: &str, named: &Path) -> Result<Run> {
    let mut absent = None;
    for base in bases {
        let place = place::within(&base.to_string_lossy(), dir);
        if place.outside || place.path == "." {
            continue;
        }
        match Run::open(base, &place.path) {
            Err(store::Error::Absent { path }) => drop(absent.get_or_insert(path)),
            run => return Ok(run?),
        }
    }
    let what = match absent {
        Some(path) => {
            format!("{}: the live run does not exist; {} names it", path.display(), named.display())
        }
        None => format!("{}: `{dir}` is not a folder inside this project", named.display()),
    };
    Err(Error::Absent { what, hint: OTHER.into() })
}

/// Returns a folder in the form that records use: relative to the root.
pub(super) fn below<'a>(root: &'a Root, dir: &Path) -> Result<(&'a PathBuf, String)> {
    let dir = dir.to_string_lossy();
    for base in [&root.path, &root.checkout] {
        let place = place::within(&base.to_string_lossy(), &dir);
        if !place.outside && place.path != "." {
            return Ok((base, place.path.into_owned()));
        }
    }
    Err(Error::Usage {
        what: format!("{dir}: a run is a folder inside the project {}", root.path.display()),
        hint: "name one that is, or let `thru gate expect` make one".into(),
    })
}

fn told(found: &Found) -> Live {
    let stage = found.run.expected().ok().map(|expected| expected.stage);
    Live { run: found.run.path().to_owned(), from: found.from, stage }
}
