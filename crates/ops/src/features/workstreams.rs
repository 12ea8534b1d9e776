//! Workstreams on disk: finds their manifests and the files that the manifests load. The submodules update manifests,
//! determine the active workstream and describe it.

mod brief;
mod follow;
mod last;
mod report;
pub mod resume;
mod state;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use model::config::Settings;
use model::document::Document;
use model::event::{EventName, EventSet};
use model::manifest::{self, Manifest};
use serde::Serialize;
use store::{Dir, Durability, FileInfo, FolderEntryKind, Result, Root, Store, layout};

pub use brief::describe_workstream_for_packet;
pub use follow::tick_and_update_manifest;
pub use state::{ChosenWorkstream, read_state, session_state};

use crate::World;
use crate::features::{Feature, ProjectContext};

pub const FEATURE_ROW: Feature = Feature {
    name: "workstreams",
    wanted_events: EventSet::from_names(&[EventName::Prompt]),
    decide: brief::remind_of_unread_files_at_prompt,
    update_at_checkpoint: follow::update_at_checkpoint,
    brief_candidates: brief::brief_candidates,
    brief_sections: brief::BRIEF_SECTION_NAMES,
    after_reply_sent: brief::record_reminders_sent,
    continue_under_new_id: state::continue_under_new_id,
    doctor_checks: report::doctor_checks,
    status: report::status_lines,
    ..Feature::EMPTY_FEATURE
};

/// How many workstreams a hook examines.
const MAX_WORKSTREAMS: usize = 64;
/// The size limit of a manifest or a steps file. A file written by hand is never this large.
const MAX_MANIFEST_FILE_BYTES: usize = 256 * 1024;

/// The folder in which other tools keep their projects, relative to the root.
const OTHER_TOOLS_PROJECTS_FOLDER: &str = "02-projects";
pub const PLANNING_FOLDER: &str = "01-planning";

/// A workstream that has a manifest. Both paths are relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workstream {
    pub id: String,
    pub manifest: String,
    pub folder: String,
}

#[derive(Clone, Copy, Debug)]
pub struct WorkstreamFinder<'a> {
    pub root: &'a Root,
    pub store: &'a Store,
    pub settings: &'a Settings,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileToLoad {
    /// The path as written in the manifest.
    pub written_path: String,
    pub location: LoadLocation,
    /// The path relative to the root, or `None` if the file is not opened.
    pub path: Option<String>,
    pub bytes: u64,
    pub modified_at: Option<Timestamp>,
}

/// The location of a file that a manifest loads. Only files inside the project are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadLocation {
    #[serde(rename = "there")]
    Exists,
    Missing,
    #[serde(rename = "outside")]
    OutsideRoot,
    /// A symbolic link, or a path through one.
    Link,
}

impl LoadLocation {
    /// Describes the location and, if the file is not opened, the reason.
    pub fn describe(self) -> &'static str {
        match self {
            LoadLocation::Exists => "there",
            LoadLocation::Missing => "missing",
            LoadLocation::OutsideRoot => "outside the project, not opened",
            LoadLocation::Link => "a link, not opened",
        }
    }
}

impl<'a> WorkstreamFinder<'a> {
    pub fn workstream_finder_of_project(project: &ProjectContext<'a>) -> WorkstreamFinder<'a> {
        let ProjectContext { root, store, settings, .. } = *project;
        WorkstreamFinder { root, store, settings }
    }

    pub fn list_all_workstreams(&self) -> Result<Vec<Workstream>> {
        let mut all = self.list_each_workstream_or_error()?.into_iter().collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all.truncate(MAX_WORKSTREAMS);
        Ok(all)
    }

    /// Returns each workstream, or the error from its folder or manifest. An error does not hide the other
    /// workstreams.
    pub fn list_each_workstream_or_error(&self) -> Result<Vec<Result<Workstream>>> {
        let homes = self.ids_and_folders()?;
        let mut all: Vec<Result<Workstream>> =
            homes.iter().filter_map(|(id, folder)| self.find_in_folder(id, folder).transpose()).collect();
        for glob in self.settings.resume_globs.split(',').map(str::trim).filter(|glob| !glob.is_empty()) {
            for path in self.expand_glob(glob)? {
                if !all.iter().flatten().any(|known| known.manifest == path) {
                    all.push(self.find_by_manifest(path));
                }
            }
        }
        Ok(all)
    }

    /// Returns the ids and folders of all workstreams, with or without a manifest.
    pub fn ids_and_folders(&self) -> Result<Vec<(String, String)>> {
        let mut homes = Vec::new();
        for home in workstream_parent_folders() {
            let ids = self.subfolder_names(&home)?.into_iter().filter(|id| manifest::is_workstream_id(id));
            homes.extend(ids.map(|id| (id.clone(), format!("{home}/{id}"))));
        }
        Ok(homes)
    }

    pub fn find_by_id(&self, id: &str) -> Result<Option<Workstream>> {
        if !manifest::is_workstream_id(id) {
            return Ok(None);
        }
        for home in workstream_parent_folders() {
            if let Some(found) = self.find_in_folder(id, &format!("{home}/{id}"))? {
                return Ok(Some(found));
            }
        }
        Ok(self.list_all_workstreams()?.into_iter().find(|known| known.id == id))
    }

    /// Returns whether a workstream exists, with or without a manifest.
    pub fn has_workstream(&self, id: &str) -> bool {
        workstream_parent_folders().iter().any(|home| self.absolute_path(&format!("{home}/{id}")).is_dir())
            || self.find_by_id(id).is_ok_and(|found| found.is_some())
    }

    /// Returns the workstream that a manifest belongs to.
    fn find_by_manifest(&self, path: String) -> Result<Workstream> {
        let document = Document::parse(self.read_file(&path)?);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = folder.strip_suffix(&format!("/{PLANNING_FOLDER}")).unwrap_or(folder).to_owned();
        let named = document.frontmatter_text("project_id").filter(|id| manifest::is_workstream_id(id));
        let id = named.unwrap_or_else(|| folder.rsplit('/').next().unwrap_or_default()).to_owned();
        Ok(Workstream { id, manifest: path, folder })
    }

    /// Returns a file's path relative to the root, or `None` if the file is outside the project.
    pub fn path_below_root(&self, world: &World, file: &Path) -> crate::Result<Option<String>> {
        let whole = if file.is_absolute() { file.to_owned() } else { world.require_cwd()?.join(file) };
        let Ok(whole) = whole.canonicalize() else { return Ok(None) };
        let below =
            |base: &Path| Some(whole.strip_prefix(base.canonicalize().ok()?).ok()?.to_str()?.to_owned());
        Ok(below(&self.root.checkout).or_else(|| below(&self.root.path)))
    }

    /// Returns the workstream in a folder, if that folder or its planning folder contains a manifest. Some projects
    /// keep the manifest with the plans, and a migration leaves it where the old file was.
    fn find_in_folder(&self, id: &str, folder: &str) -> Result<Option<Workstream>> {
        let plans = format!("{folder}/{PLANNING_FOLDER}");
        let homes =
            if folder.starts_with(OTHER_TOOLS_PROJECTS_FOLDER) { [&plans, folder] } else { [folder, &plans] };
        for home in homes {
            let manifest = format!("{home}/{}", manifest::MANIFEST_FILE_NAME);
            if self.file_info(&manifest)?.is_some() {
                return Ok(Some(Workstream { id: id.to_owned(), manifest, folder: folder.to_owned() }));
            }
            if self.absolute_path(&manifest).symlink_metadata().is_ok() {
                let why = "there is a link or a folder where a file is expected".to_owned();
                return Err(store::Error::Refused { path: self.absolute_path(&manifest), why });
            }
        }
        Ok(None)
    }

    /// Returns the paths that match a pattern, in which `*` matches one name.
    fn expand_glob(&self, glob: &str) -> Result<Vec<String>> {
        let mut found = vec![String::new()];
        for part in glob.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..") {
            let join = |base: &str, name: &str| {
                if base.is_empty() { name.to_owned() } else { format!("{base}/{name}") }
            };
            let mut longer = Vec::new();
            for base in found {
                match part {
                    "*" => longer.extend(self.subfolder_names(&base)?.iter().map(|name| join(&base, name))),
                    name => longer.push(join(&base, name)),
                }
            }
            longer.truncate(MAX_WORKSTREAMS * 4);
            found = longer;
        }
        let mut files = Vec::new();
        for path in found {
            files.extend(self.file_info(&path)?.map(|_| path));
        }
        Ok(files)
    }

    pub fn subfolder_names(&self, folder: &str) -> Result<Vec<String>> {
        self.entry_names(folder, FolderEntryKind::Folder)
    }

    pub fn file_names(&self, folder: &str) -> Result<Vec<String>> {
        self.entry_names(folder, FolderEntryKind::File)
    }

    /// Lists a folder. A missing folder counts as empty. Returns an error if the folder cannot be read, or if it is a
    /// link in the store.
    fn entry_names(&self, folder: &str, kind: FolderEntryKind) -> Result<Vec<String>> {
        let dir = match self.open_folder(folder) {
            Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
            Err(store::Error::Refused { .. }) if !folder.starts_with(layout::STORE_FOLDER) => {
                return Ok(Vec::new());
            }
            dir => dir?,
        };
        Ok(dir.entries()?.into_iter().filter(|entry| entry.kind == kind).map(|entry| entry.name).collect())
    }

    pub fn open_folder(&self, folder: &str) -> Result<Dir> {
        let base = Dir::open(&self.base_folder(folder))?;
        if folder.is_empty() { Ok(base) } else { base.open_subfolder(folder) }
    }

    /// Returns the folder that a path is relative to: the root for paths in the store, and the session's checkout for
    /// all other paths.
    fn base_folder(&self, path: &str) -> PathBuf {
        if path.starts_with(layout::STORE_FOLDER) {
            self.root.path.clone()
        } else {
            self.root.checkout.clone()
        }
    }

    pub fn absolute_path(&self, path: &str) -> PathBuf {
        self.base_folder(path).join(path)
    }

    /// Returns information about a file in the project, or `None` if there is no regular file at this path.
    pub fn file_info(&self, path: &str) -> Result<Option<FileInfo>> {
        Dir::open(&self.base_folder(path))?.file_info(path)
    }

    pub fn read_file(&self, path: &str) -> Result<Vec<u8>> {
        Dir::open(&self.base_folder(path))?.read_file(path, MAX_MANIFEST_FILE_BYTES)
    }

    pub fn write_file(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.open_folder(folder)?.write(name, bytes, Durability::Synced)
    }

    pub fn read_manifest(&self, workstream: &Workstream) -> Result<(Document, Manifest)> {
        let document = Document::parse(self.read_file(&workstream.manifest)?);
        let manifest = manifest::read_manifest(&document);
        Ok((document, manifest))
    }

    /// Returns the files that a manifest loads. A path in a manifest can be relative to the workstream's folder, to
    /// the manifest's folder, or to the root.
    pub fn files_to_load(&self, workstream: &Workstream, manifest: &Manifest) -> Result<Vec<FileToLoad>> {
        manifest.files_to_load.iter().map(|named| self.file_to_load(workstream, named)).collect()
    }

    fn file_to_load(&self, workstream: &Workstream, written_path: &str) -> Result<FileToLoad> {
        let own = workstream.manifest.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut location = LoadLocation::OutsideRoot;
        for folder in [workstream.folder.as_str(), own, ""] {
            let Some(path) = self.path_from_root(folder, written_path) else { continue };
            if self.goes_through_link(&path) {
                location = LoadLocation::Link;
                continue;
            }
            if let Some(FileInfo { bytes, modified_at }) = self.file_info(&path)? {
                let (written_path, path, location) =
                    (written_path.to_owned(), Some(path), LoadLocation::Exists);
                return Ok(FileToLoad {
                    written_path,
                    location,
                    path,
                    bytes,
                    modified_at: Some(modified_at),
                });
            }
            if location == LoadLocation::OutsideRoot {
                location = LoadLocation::Missing;
            }
        }
        Ok(FileToLoad {
            written_path: written_path.to_owned(),
            location,
            path: None,
            bytes: 0,
            modified_at: None,
        })
    }

    /// Returns where a missing file most likely belongs, relative to the root: in the workstream's folder, or in a folder
    /// such as `docs/` that only the root has.
    pub fn path_of_missing_file(&self, workstream: &Workstream, written_path: &str) -> String {
        let in_workstream = self.path_from_root(&workstream.folder, written_path);
        let in_root = self.path_from_root("", written_path);
        let has_folder = |path: &Option<String>| {
            let folder = path.as_ref().and_then(|path| path.rsplit_once('/'));
            folder.is_some_and(|(folder, _)| self.absolute_path(folder).is_dir())
        };
        let is_in_root = has_folder(&in_root) && !has_folder(&in_workstream);
        let path = if is_in_root { in_root } else { in_workstream.or(in_root) };
        path.unwrap_or_else(|| written_path.to_owned())
    }

    /// Converts `named`, which is relative to `folder`, to a path relative to the root. Returns `None` if that path
    /// is outside the root.
    fn path_from_root(&self, folder: &str, named: &str) -> Option<String> {
        let root = self.base_folder(folder);
        let from = root.join(folder).join(named);
        model::checkout_path::path_within_checkout(&root.to_string_lossy(), &from.to_string_lossy())
            .path_if_inside()
    }

    /// Returns whether a path is a symbolic link or passes through one.
    fn goes_through_link(&self, path: &str) -> bool {
        let base = self.base_folder(path);
        let parts = path.match_indices('/').map(|(end, _)| &path[..end]).chain([path]);
        let is_link = |part: &str| base.join(part).symlink_metadata().is_ok_and(|found| found.is_symlink());
        parts.into_iter().any(is_link)
    }

    /// Returns the file with the workstream's steps, or `None` if the manifest loads no such file.
    pub fn find_steps_file(&self, workstream: &Workstream, manifest: &Manifest) -> Result<Option<String>> {
        let loads = self.files_to_load(workstream, manifest)?;
        let (named, others): (Vec<&FileToLoad>, Vec<&FileToLoad>) =
            loads.iter().partition(|load| manifest::is_steps_file(&load.written_path));
        let paths = || named.iter().chain(&others).filter_map(|load| load.path.as_deref());
        for path in paths() {
            if self.read_file(path).is_ok_and(|bytes| manifest::has_checkboxes(&Document::parse(bytes))) {
                return Ok(Some(path.to_owned()));
            }
        }
        Ok(named.iter().find_map(|load| load.path.clone()))
    }

    /// Returns the text of the first open checkbox in the steps file.
    pub fn next_open_step(&self, workstream: &Workstream, manifest: &Manifest) -> Result<Option<String>> {
        let Some(path) = self.find_steps_file(workstream, manifest)? else { return Ok(None) };
        Ok(manifest::text_of_next_unticked_box(&Document::parse(self.read_file(&path)?)))
    }

    /// Returns whether the steps file has checkboxes, ticked or not.
    pub fn has_steps(&self, workstream: &Workstream, manifest: &Manifest) -> Result<bool> {
        let Some(path) = self.find_steps_file(workstream, manifest)? else { return Ok(false) };
        Ok(manifest::has_checkboxes(&Document::parse(self.read_file(&path)?)))
    }

    /// Returns the manifest with its progress taken from the steps file. The manifest on disk can be outdated,
    /// because hooks do not write manifests outside the store.
    pub fn up_to_date_manifest(&self, workstream: &Workstream, now: Timestamp) -> Result<Manifest> {
        let (mut document, manifest) = self.read_manifest(workstream)?;
        let Some(path) = self.find_steps_file(workstream, &manifest)? else { return Ok(manifest) };
        let steps = Document::parse(self.read_file(&path)?);
        manifest::update_from_steps(&mut document, &steps, now);
        let last_updated = manifest.last_updated;
        Ok(Manifest { last_updated, ..manifest::read_manifest(&document) })
    }

    /// Returns the manifests in the older layout that `thru resume migrate` would convert.
    pub fn unmigrated_manifests(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for (_, folder) in self.ids_and_folders()? {
            for home in [folder.clone(), format!("{folder}/{PLANNING_FOLDER}")] {
                let legacy = format!("{home}/{}", manifest::LEGACY_MANIFEST_FILE_NAME);
                if self.file_info(&legacy)?.is_some()
                    && self.file_info(&format!("{home}/{}", manifest::MANIFEST_FILE_NAME))?.is_none()
                {
                    found.push(legacy);
                }
            }
        }
        Ok(found)
    }

    pub fn lock_manifests(&self, wait: Duration) -> Result<store::Lock> {
        self.store.lock_by_path(layout::WORKSTREAMS_LOCK, wait)
    }
}

pub fn workstream_parent_folders() -> [String; 2] {
    [workstreams_folder(), OTHER_TOOLS_PROJECTS_FOLDER.to_owned()]
}

fn workstreams_folder() -> String {
    format!("{}/{}", layout::STORE_FOLDER, layout::WORKSTREAMS_FOLDER)
}
