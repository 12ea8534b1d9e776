//! Finds the live run. It is recorded in `state/live.json` or, if no run is recorded there, in the live-state file
//! from the settings.

use std::path::{Path, PathBuf};

use model::checkout_path;
use model::config::Settings;
use model::gate::{self, GateResult};
use serde::Serialize;
use store::{Dir, Root, RunFolder, Store, layout};

use super::hook::LiveRunState;
use super::{GateContext, build_gate_report, earlier, run_path_below_root, worker};
use crate::project::{Project, settings};
use crate::{Error, Result, World};

const MAX_STATE_FILE_BYTES: usize = 4 * 1024 * 1024;

const OTHER_RUN_HINT: &str =
    "`thru gate live --set DIR` chooses another run; `thru gate expect STAGE --critical FILE…` creates one";

/// The file that identifies the live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LiveRunSource {
    LiveJson,
    LiveStateFile,
}

#[derive(Debug)]
pub(super) struct FoundLiveRun {
    pub run: RunFolder,
    pub source: LiveRunSource,
}

#[derive(Clone, Debug, Serialize)]
pub struct LiveRunReport {
    pub run: PathBuf,
    #[serde(rename = "from")]
    pub source: LiveRunSource,
    /// The stage of the run, or `None` if the run does not expect any outputs yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The result of the stage, if the run is no longer live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateResult>,
}

pub fn show_live_run(world: &World) -> Result<LiveRunReport> {
    let place = GateContext::find_project(world)?;
    let found = place.find_live_run()?.ok_or_else(|| place.no_live_run_error())?;
    Ok(live_run_report(&found))
}

/// Makes a run live. `dir` is a folder in the project, or the name of a run in `outputs/`.
pub fn set_live_run(world: &World, dir: &Path) -> Result<LiveRunReport> {
    let place = GateContext::find_project(world)?;
    let (base, rel) = match dir.to_str() {
        Some(name) if !name.contains('/') && place.store.run_names()?.iter().any(|run| run == name) => {
            (&place.root.path, run_path_below_root(name))
        }
        _ => folder_below_root(&place.root, &world.require_cwd()?.join(dir))?,
    };
    let run = RunFolder::open(base, &rel)?;
    let stage = run.read_expected().ok().map(|expected| expected.stage);
    earlier::make_run_live(&place, &rel, stage.as_deref(), world.now)?;
    worker::record_calling_session_works_on_run(world, &place, &run)?;
    Ok(live_run_report(&FoundLiveRun { run, source: LiveRunSource::LiveJson }))
}

#[derive(Clone, Debug)]
pub struct ClearedLiveRun {
    /// The run that was live until now. `None` if there was none, or if it could not be read.
    pub cleared: Option<LiveRunReport>,
    /// The other stages with open outputs in the folder of the cleared run. They are no longer live either.
    pub open_in_same_folder: Vec<LiveRunState>,
    /// The run that is live now. This is either an earlier run with open outputs, or the run that is named in another
    /// tool's live-state file. thru does not edit that file.
    pub live_now: Option<LiveRunReport>,
}

pub fn clear_live_run(world: &World) -> Result<ClearedLiveRun> {
    let place = GateContext::find_project(world)?;
    let before = place.find_live_run().ok().flatten();
    let cleared = before.filter(|found| found.source == LiveRunSource::LiveJson);
    let cleared = cleared
        .map(|found| LiveRunReport { gate: result_of_run(&place, &found.run), ..live_run_report(&found) });
    let mut open_in_same_folder =
        earlier::open_earlier_stages(&place.store, &place.root, &place.settings.settings());
    open_in_same_folder.retain(|state| cleared.as_ref().is_some_and(|cleared| cleared.run == state.run));
    earlier::clear_live_run(&place, world.now)?;
    let live_now = place.find_live_run().ok().flatten();
    Ok(ClearedLiveRun { cleared, open_in_same_folder, live_now: live_now.as_ref().map(live_run_report) })
}

/// Returns the result of the run's stage, or `None` if its outputs cannot be judged.
fn result_of_run(place: &GateContext, run: &RunFolder) -> Option<GateResult> {
    Some(build_gate_report(place, run, &run.read_expected().ok()?).ok()?.gate)
}

impl GateContext {
    pub(super) fn find_live_run(&self) -> Result<Option<FoundLiveRun>> {
        find_live_run_in(&self.store, &self.root, &self.settings.settings())
    }
}

/// Returns a project's live run, whether or not the project is trusted. Returns `None` if there is none or it cannot
/// be determined.
pub(crate) fn live_run_of_project(world: &World, project: &Project) -> Option<RunFolder> {
    let settings = settings::resolve_settings(world, Some(&project.store)).settings();
    find_live_run_in(&project.store, &project.root, &settings).ok().flatten().map(|found| found.run)
}

/// Finds the live run. Returns an error if the recorded run does not exist.
pub(super) fn find_live_run_in(
    store: &Store,
    root: &Root,
    settings: &Settings,
) -> Result<Option<FoundLiveRun>> {
    let live = store.read_live_run().map_err(|error| match error {
        store::Error::Damaged { path, line, why } => {
            Error::Damaged { path, line, why, hint: OTHER_RUN_HINT.into() }
        }
        error => Error::Store(error),
    })?;
    if let Some(dir) = live {
        let source = LiveRunSource::LiveJson;
        // `outputs/` belongs to the root, but each worktree has its own folders, so search both.
        let bases = [&root.path, &root.checkout];
        let named = store.dir().path().join(layout::LIVE_RUN_FILE);
        return Ok(Some(FoundLiveRun { run: open_run(&bases, &dir, &named)?, source }));
    }
    if settings.live_state_file.is_empty() {
        return Ok(None);
    }
    let named = &*settings.live_state_file;
    let path = root.checkout.join(named);
    let Some(rel) =
        checkout_path::path_within_checkout(&root.checkout.to_string_lossy(), named).path_if_inside()
    else {
        return Err(Error::Refused {
            what: format!("gates.live_state_file is `{named}`, which is not inside this project"),
            hint: format!("name a file below {}, or remove the setting", root.checkout.display()),
        });
    };
    let text = match Dir::open(&root.checkout)?.read_file(&rel, MAX_STATE_FILE_BYTES) {
        Err(store::Error::Absent { .. }) => return Ok(None),
        text => String::from_utf8_lossy(&text?).into_owned(),
    };
    let Some(dir) = gate::live_dir_of_yaml(&text) else { return Ok(None) };
    Ok(Some(FoundLiveRun {
        run: open_run(&[&root.checkout, &root.path], &dir, &path)?,
        source: LiveRunSource::LiveStateFile,
    }))
}

/// Opens a run. `named` is the file in which `dir` is recorded. Error messages mention that file.
fn open_run(bases: &[&PathBuf], dir: &str, named: &Path) -> Result<RunFolder> {
    let mut absent = None;
    for base in bases {
        let place = checkout_path::path_within_checkout(&base.to_string_lossy(), dir);
        if place.is_outside || place.path == "." {
            continue;
        }
        match RunFolder::open(base, &place.path) {
            Err(store::Error::Absent { path }) => drop(absent.get_or_insert(path)),
            run => return Ok(run?),
        }
    }
    let what = match absent {
        Some(path) => {
            format!(
                "{}: this run does not exist, but {} names it as the live run",
                path.display(),
                named.display()
            )
        }
        None => format!("{}: `{dir}` is not a folder inside this project", named.display()),
    };
    Err(Error::Absent { what, hint: OTHER_RUN_HINT.into() })
}

/// Splits a path into its base, which is the root or the checkout, and the path relative to that base.
pub(super) fn folder_below_root<'a>(root: &'a Root, dir: &Path) -> Result<(&'a PathBuf, String)> {
    let dir = dir.to_string_lossy();
    for base in [&root.path, &root.checkout] {
        let place = checkout_path::path_within_checkout(&base.to_string_lossy(), &dir);
        if !place.is_outside && place.path != "." {
            return Ok((base, place.path.into_owned()));
        }
    }
    Err(Error::Usage {
        what: format!("{dir}: a run must be a folder inside the project {}", root.path.display()),
        hint: "name such a folder, or let `thru gate expect` create one".into(),
    })
}

fn live_run_report(found: &FoundLiveRun) -> LiveRunReport {
    let stage = found.run.read_expected().ok().map(|expected| expected.stage);
    LiveRunReport { run: found.run.path().to_owned(), source: found.source, stage, gate: None }
}
