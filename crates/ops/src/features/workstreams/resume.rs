//! The `thru resume` commands. They handle manifests, and show which files of a manifest the agent has read.

mod migrate;
mod questions;

use std::path::Path;
use std::time::Duration;

use model::document::Document;
use model::finding::{Finding, FindingLevel};
use model::manifest::{self, Manifest, NewManifestContent};
use model::time;
use model::workstream::{DetectedWorkstream, DetectionConfidence, DetectionMethod, WorkstreamAtCompaction};
use serde::Serialize;
use store::layout;

use crate::features::workstreams::{
    self, ChosenWorkstream, FileToLoad, LoadLocation, PLANNING_FOLDER, Workstream, WorkstreamFinder,
};
use crate::project::{Project, settings};
use crate::session::list::{self, SessionChoiceReason};
use crate::{Error, Result, World};

pub use migrate::{MigratedFile, MigrationDirection, MigrationOutcome, migrate_all};
pub use questions::{FileOfReadingGate, ReadingGate, reading_gate};

/// The size limit of a manifest outside a project.
const MAX_OUTSIDE_MANIFEST_BYTES: usize = 256 * 1024;
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// The files that a new manifest loads if the user names none and the folder contains none.
const DEFAULT_FILES_TO_LOAD: &[&str] = &["overview.md", "plan.md", "steps.md"];

#[derive(Clone, Debug, Serialize)]
pub struct CreatedManifest {
    pub project_id: String,
    pub path: String,
    /// The files that the manifest loads but that do not exist yet, relative to the project's folder.
    #[serde(rename = "missing")]
    pub missing_files: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct NewManifest<'a> {
    pub id: &'a str,
    pub name: Option<&'a str>,
    pub phase: &'a str,
    pub next_action: &'a str,
    pub files_to_load: &'a [String],
    pub session: Option<&'a str>,
}

pub fn create_manifest(world: &World, wish: &NewManifest) -> Result<CreatedManifest> {
    let id = manifest::id_with_padded_number(wish.id);
    let id = require_valid_id(&id)?;
    if let Some(outside) = wish
        .files_to_load
        .iter()
        .find(|file| model::checkout_path::path_within_checkout("/p", file).is_outside)
    {
        return Err(Error::Refused {
            what: format!("`{outside}` is outside the project, and files there are never opened"),
            hint: "name files relative to the workstream's folder or to the project's".into(),
        });
    }
    let project = Project::find_or_create(world)?;
    let settings = settings::resolve_settings(world, Some(&project.store)).settings();
    let place = WorkstreamFinder { root: &project.root, store: &project.store, settings: &settings };
    let folder = folder_for_new_manifest(&place, id)?;
    let dir = place.open_folder(&folder)?;
    let files = match wish.files_to_load {
        [] => files_to_load_in(&dir)?,
        named => named.to_vec(),
    };
    let words = id.split('-').skip(1).collect::<Vec<_>>().join(" ");
    let bytes = manifest::create_manifest(&NewManifestContent {
        project_id: id,
        project_name: wish.name.unwrap_or(&words),
        phase: wish.phase,
        next_action: wish.next_action,
        files_to_load: &files,
        session: wish.session,
        now: world.now,
    });
    let path = format!("{folder}/{}", manifest::MANIFEST_FILE_NAME);
    // If an earlier run was interrupted, the file may already exist with the same content. That is not an error.
    if !dir.create_private_file(manifest::MANIFEST_FILE_NAME, &bytes)?
        && !manifest::are_manifests_equal_except_time(&place.read_file(&path)?, &bytes)
    {
        return Err(Error::Refused {
            what: format!("{path} already exists"),
            hint: format!("`thru resume show {id}` shows it"),
        });
    }
    let base = folder.strip_suffix(&format!("/{PLANNING_FOLDER}")).unwrap_or(&folder).to_owned();
    let found = Workstream { id: id.to_owned(), manifest: path.clone(), folder: base };
    let (_, manifest) = place.read_manifest(&found)?;
    let missing = place.files_to_load(&found, &manifest)?.into_iter().filter(|load| load.path.is_none());
    Ok(CreatedManifest {
        project_id: id.to_owned(),
        path,
        missing_files: missing.map(|load| place.path_of_missing_file(&found, &load.written_path)).collect(),
    })
}

/// Returns the folder for a new manifest, relative to the root. It is the workstream's existing folder, or a new one
/// in the store.
fn folder_for_new_manifest(place: &WorkstreamFinder, id: &str) -> Result<String> {
    let known = place.ids_and_folders()?.into_iter().find(|(known, _)| known == id).map(|(_, folder)| folder);
    let Some(folder) = known else {
        let folder = format!("{}/{id}", layout::WORKSTREAMS_FOLDER);
        place.store.dir().create_subfolder(&folder)?;
        return Ok(format!("{}/{folder}", layout::STORE_FOLDER));
    };
    let has_plans = place.subfolder_names(&folder)?.iter().any(|name| name == PLANNING_FOLDER);
    Ok(if has_plans { format!("{folder}/{PLANNING_FOLDER}") } else { folder })
}

/// Returns the markdown files in the folder, with the default files first. If there are none, returns the names of the
/// default files.
fn files_to_load_in(dir: &store::Dir) -> Result<Vec<String>> {
    let mut names: Vec<String> = dir.entries()?.into_iter().map(|entry| entry.name).collect();
    names.retain(|name| {
        name.ends_with(".md")
            && name != manifest::MANIFEST_FILE_NAME
            && name != manifest::LEGACY_MANIFEST_FILE_NAME
    });
    sort_default_files_first(&mut names);
    Ok(if names.is_empty() {
        DEFAULT_FILES_TO_LOAD.iter().map(|name| (*name).to_owned()).collect()
    } else {
        names
    })
}

fn sort_default_files_first(names: &mut [String]) {
    let usual = |name: &String| {
        DEFAULT_FILES_TO_LOAD.iter().position(|known| known == name).unwrap_or(DEFAULT_FILES_TO_LOAD.len())
    };
    names.sort_by_key(|name| (usual(name), name.clone()));
}

#[derive(Clone, Debug, Serialize)]
pub struct ListedWorkstream {
    pub project_id: String,
    pub project_name: String,
    /// See [`Manifest::state`].
    pub state: String,
    pub phase: String,
    pub progress: String,
    /// Whether every step is done.
    pub finished: bool,
    pub last_updated: String,
    pub path: String,
    /// Why the manifest cannot be read, or `None` if it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

pub fn list_workstreams(world: &World) -> Result<Vec<ListedWorkstream>> {
    let context = ResumeContext::open(world)?;
    let place = context.workstreams();
    let row = |found: Workstream| {
        let manifest = place.up_to_date_manifest(&found, world.now);
        let problem = manifest.as_ref().err().map(ToString::to_string);
        let manifest = manifest.unwrap_or_default();
        ListedWorkstream {
            project_id: found.id,
            finished: manifest.is_finished(),
            state: manifest.state().to_owned(),
            project_name: manifest.project_name,
            phase: manifest.current_phase,
            progress: manifest.progress,
            last_updated: manifest.last_updated,
            path: found.manifest,
            problem,
        }
    };
    Ok(place.list_all_workstreams()?.into_iter().map(row).collect())
}

#[derive(Clone, Debug, Serialize)]
pub struct ManifestShown {
    pub path: String,
    /// See [`Manifest::state`].
    pub state: String,
    pub manifest: Manifest,
    /// The text of the first open checkbox in the steps file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
    /// Whether the steps file has checkboxes.
    pub has_steps: bool,
    #[serde(rename = "loads")]
    pub files_to_load: Vec<ShownFileToLoad>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ShownFileToLoad {
    pub written_path: String,
    pub location: LoadLocation,
    pub path: Option<String>,
    pub bytes: u64,
    pub changed_at: Option<String>,
}

pub fn show_manifest(world: &World, id: Option<&str>) -> Result<ManifestShown> {
    let context = ResumeContext::open(world)?;
    let found = context.choose_workstream(id)?;
    let place = context.workstreams();
    let manifest = place.up_to_date_manifest(&found, world.now)?;
    let loads = place.files_to_load(&found, &manifest)?.into_iter().map(shown_file_to_load).collect();
    let next_step = place.next_open_step(&found, &manifest)?;
    let has_steps = place.has_steps(&found, &manifest)?;
    let state = manifest.state().to_owned();
    Ok(ManifestShown { path: found.manifest, state, manifest, next_step, has_steps, files_to_load: loads })
}

fn shown_file_to_load(load: FileToLoad) -> ShownFileToLoad {
    let FileToLoad { written_path, location, path, bytes, modified_at } = load;
    ShownFileToLoad { written_path, location, path, bytes, changed_at: modified_at.map(time::to_rfc3339) }
}

#[derive(Clone, Debug, Serialize)]
pub struct CheckedManifest {
    pub path: String,
    pub findings: Vec<Finding>,
}

impl CheckedManifest {
    pub fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.level != FindingLevel::Error)
    }
}

pub fn validate_manifests(world: &World, file: Option<&Path>) -> Result<Vec<CheckedManifest>> {
    let context = match (ResumeContext::open(world), file) {
        // Outside a project, a manifest is checked by its content alone.
        (Err(Error::NoRoot { .. }), Some(file)) => return Ok(vec![check_single_file(file)?]),
        (context, _) => context?,
    };
    let place = context.workstreams();
    let Some(file) = file else { return check_all_manifests(&place) };
    let all = place.list_all_workstreams()?;
    let Some(path) = place.path_below_root(world, file)? else { return Ok(vec![check_single_file(file)?]) };
    match all.iter().find(|found| found.manifest == path) {
        Some(found) => Ok(vec![check_manifest(&place, found, &all)?]),
        None => Ok(vec![check_manifest(&place, &place.find_by_manifest(path)?, &all)?]),
    }
}

pub(super) fn check_all_manifests(place: &WorkstreamFinder) -> Result<Vec<CheckedManifest>> {
    let all = place.list_all_workstreams()?;
    all.iter().map(|found| check_manifest(place, found, &all)).collect()
}

fn check_single_file(file: &Path) -> Result<CheckedManifest> {
    let bytes = store::read_file_named_by_user(file, MAX_OUTSIDE_MANIFEST_BYTES)?;
    let path = file.display().to_string();
    Ok(CheckedManifest { findings: manifest_findings(&bytes, &path), path })
}

fn check_manifest(
    place: &WorkstreamFinder,
    found: &Workstream,
    all: &[Workstream],
) -> Result<CheckedManifest> {
    let bytes = place.read_file(&found.manifest)?;
    let mut findings = manifest_findings(&bytes, &found.manifest);
    let manifest = manifest::read_manifest(&Document::parse(bytes));
    let mut find = |text: String, hint: &str| {
        findings.push(
            Finding::new(FindingLevel::Error, text).at_line(found.manifest.clone(), None).with_hint(hint),
        );
    };
    if manifest::is_workstream_id(&manifest.project_id) && manifest.project_id != found.id {
        let text = format!("project_id is {}, but the folder belongs to {}", manifest.project_id, found.id);
        find(text, "give both the same name");
    }
    if let Some(twin) = all.iter().find(|one| one.id == found.id && one.manifest != found.manifest) {
        find(format!("{} has another manifest, {}", found.id, twin.manifest), "keep one of the two");
    }
    for load in place.files_to_load(found, &manifest)?.into_iter().filter(|load| load.path.is_none()) {
        let hint = match load.location {
            LoadLocation::Missing => "write it, or remove it from files_to_load",
            _ => "name a regular file in the project",
        };
        find(format!("`{}` is {}", load.written_path, load.location.describe()), hint);
    }
    Ok(CheckedManifest { path: found.manifest.clone(), findings })
}

fn manifest_findings(bytes: &[u8], path: &str) -> Vec<Finding> {
    let at = |finding: Finding| Finding { file: Some(path.to_owned()), ..finding };
    manifest::check_manifest(&Document::parse(bytes)).into_iter().map(at).collect()
}

#[derive(Clone, Debug, Serialize)]
pub struct UsedWorkstream {
    pub project_id: String,
    pub session: String,
    /// True if no session was named and the project's newest session was used instead.
    #[serde(rename = "guess")]
    pub is_guessed_session: bool,
    pub manifest: String,
}

/// Assigns a workstream to a session, regardless of which files the session touches (`thru resume use`).
pub fn use_workstream(world: &World, id: &str, session: Option<&str>) -> Result<UsedWorkstream> {
    let context = ResumeContext::open(world)?;
    let found = context.choose_workstream(Some(id))?;
    let (store, marker) = (&context.project.store, &context.project.marker);
    let (session, chosen) = list::choose_open_session(world, store, session, |why| Error::Refused {
        what: format!("{why}; only a running session gets briefs"),
        hint: "ask the agent in a session to run this, or name a running session with --session".into(),
    })?;
    store.session_state(&session).write_state(&ChosenWorkstream { id: found.id.clone() })?;
    let detected = DetectedWorkstream {
        id: Some(found.id.clone()),
        confidence: DetectionConfidence::High,
        method: DetectionMethod::Transcript,
    };
    let state =
        WorkstreamAtCompaction::new(detected, session.as_str(), marker.project_id.as_str(), world.now);
    store.session_state(&session).write_state(&state)?;
    Ok(UsedWorkstream {
        project_id: found.id,
        session: session.to_string(),
        is_guessed_session: chosen == SessionChoiceReason::Guess,
        manifest: found.manifest,
    })
}

#[derive(Clone, Debug, Serialize)]
pub struct UpdateReport {
    pub project_id: String,
    #[serde(rename = "steps")]
    pub steps_file: Option<String>,
    #[serde(rename = "done")]
    pub completed_step: Option<String>,
    pub changed: bool,
    pub progress: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStep {
    KeepSteps,
    /// Tick the next open checkbox.
    TickNextStep,
}

pub fn update_manifest(world: &World, id: Option<&str>, step: UpdateStep) -> Result<UpdateReport> {
    let context = ResumeContext::open(world)?;
    let found = context.choose_workstream(id)?;
    let place = context.workstreams();
    let _lock = place.lock_manifests(LOCK_WAIT)?;
    let mut completed_step = None;
    let advanced = workstreams::tick_and_update_manifest(
        &place,
        &found,
        |steps| {
            completed_step =
                (step == UpdateStep::TickNextStep).then(|| manifest::tick_next_box(steps)).flatten();
            completed_step.is_some()
        },
        world.now,
    )?;
    let (_, manifest) = place.read_manifest(&found)?;
    if advanced.steps_file.is_none() {
        return Err(match manifest.files_to_load.iter().find(|file| manifest::is_steps_file(file)) {
            Some(file) => Error::Absent {
                what: format!("{}/{file} does not exist yet", found.folder),
                hint: "write it, with one `- [ ]` box per step".into(),
            },
            None => Error::Absent {
                what: format!("{} loads no file with steps", found.manifest),
                hint: "add one, such as steps.md with `- [ ]` checkboxes, to files_to_load".into(),
            },
        });
    }
    let changed = advanced.changed || completed_step.is_some();
    Ok(UpdateReport {
        project_id: found.id,
        steps_file: advanced.steps_file,
        completed_step,
        changed,
        progress: manifest.progress,
    })
}

struct ResumeContext {
    project: Project,
    settings: model::config::Settings,
}

impl ResumeContext {
    fn open(world: &World) -> Result<ResumeContext> {
        let project = Project::find_for_reading(world)?;
        let settings = settings::settings_here(world).settings();
        Ok(ResumeContext { project, settings })
    }

    fn workstreams(&self) -> WorkstreamFinder<'_> {
        WorkstreamFinder { root: &self.project.root, store: &self.project.store, settings: &self.settings }
    }

    /// Returns the named workstream, or else the workstream that was last active, or else the only one.
    fn choose_workstream(&self, id: Option<&str>) -> Result<Workstream> {
        let place = self.workstreams();
        if let Some(id) = id {
            let id = self.complete_id(id)?;
            return place.find_by_id(require_valid_id(&id)?)?.ok_or_else(|| self.not_found_error(&id));
        }
        let last = workstreams::read_state(&self.project.store, layout::PRECOMPACT_STATE_FILE);
        let last = last.and_then(std::result::Result::ok).and_then(|state| state.active_project_id);
        if let Some(found) = last.map(|id| place.find_by_id(&id)).transpose()?.flatten() {
            return Ok(found);
        }
        let mut all = place.list_all_workstreams()?;
        match (all.pop(), all.as_slice()) {
            (Some(only), []) => Ok(only),
            (None, _) => Err(Error::Absent {
                what: "there are no workstreams yet".into(),
                hint: self.migrate_hint().unwrap_or_else(|| "`thru resume new 01-name` creates one".into()),
            }),
            (Some(last), others) => Err(Error::Usage {
                what: "there are several workstreams; name one".into(),
                hint: others.iter().chain([&last]).map(|one| one.id.as_str()).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

impl ResumeContext {
    /// Returns the full id. A number such as `24` is completed if only one workstream has that number. Leading zeros
    /// may be omitted unless that makes the number ambiguous.
    fn complete_id(&self, typed: &str) -> Result<String> {
        if typed.is_empty() || !typed.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(manifest::id_with_padded_number(typed).into_owned());
        }
        let all = self.workstreams().list_all_workstreams()?;
        let ids_with_number = |is_it: &dyn Fn(&str) -> bool| -> Vec<&str> {
            let ids = all.iter().map(|one| one.id.as_str());
            ids.filter(|id| id.split_once('-').is_some_and(|(number, _)| is_it(number))).collect()
        };
        let without_zeros = |number: &str| number.trim_start_matches('0').to_owned();
        let mut fitting = ids_with_number(&|number| number == typed);
        if fitting.is_empty() {
            fitting = ids_with_number(&|number| without_zeros(number) == without_zeros(typed));
        }
        match fitting.as_slice() {
            [one] => Ok((*one).to_owned()),
            [] => Err(Error::Absent {
                what: format!("there is no workstream with the number {typed}"),
                hint: self
                    .migrate_hint()
                    .unwrap_or_else(|| "`thru resume list` shows the workstreams".into()),
            }),
            many => Err(Error::Refused {
                what: format!("{} workstreams have the number {typed}", many.len()),
                hint: many.join(", "),
            }),
        }
    }

    fn not_found_error(&self, id: &str) -> Error {
        Error::Absent {
            what: format!("there is no workstream `{id}` with a {}", manifest::MANIFEST_FILE_NAME),
            hint: self.migrate_hint().unwrap_or_else(|| format!("`thru resume new {id}` creates one")),
        }
    }

    /// Returns a hint to migrate, or `None` if there are no manifests in the older layout.
    fn migrate_hint(&self) -> Option<String> {
        let legacy = self.workstreams().unmigrated_manifests().ok()?.into_iter().next()?;
        Some(format!("{legacy} uses the old layout; `thru resume migrate` converts it"))
    }
}

fn require_valid_id(id: &str) -> Result<&str> {
    match manifest::is_workstream_id(id) {
        true => Ok(id),
        false => Err(Error::Usage {
            what: format!("`{id}` is not the name of a workstream"),
            hint: "a name is a number of two to four digits followed by lower-case words, joined by hyphens: 24-new-parser"
                .into(),
        }),
    }
}
