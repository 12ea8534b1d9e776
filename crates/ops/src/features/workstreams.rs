//! Workstreams on disk: finds their manifests and the files that these load. The files of this folder follow the work,
//! find the active workstream and describe it.

mod follow;
mod report;
pub mod resume;
mod state;
mod told;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use model::config::Settings;
use model::document::Document;
use model::event::{EventName, EventSet};
use model::manifest::{self, Manifest};
use serde::Serialize;
use store::{Dir, Durability, EntryKind, Look, Result, Root, Store, layout};

pub use follow::advance;
pub use state::{Used, own_state, state_of};

use crate::World;
use crate::features::{Feature, ProjectContext};

pub const ROW: Feature = Feature {
    name: "workstreams",
    wants: EventSet::of(&[EventName::Prompt]),
    decide: told::decide,
    follow: follow::follow,
    candidates: told::candidates,
    sections: told::SECTIONS,
    told: told::told,
    continue_as: state::continue_as,
    checks: report::checks,
    status: report::status,
    ..Feature::NONE
};

/// How many workstreams a hook examines at most.
const MOST: usize = 64;
/// The largest manifest or file of steps that is read; it is larger than what a person writes.
const LARGEST: usize = 256 * 1024;

/// The folder where other tools keep projects, relative to the root.
const PROJECTS: &str = "02-projects";
pub const PLANNING: &str = "01-planning";

/// A workstream with a manifest. Paths are relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workstream {
    pub id: String,
    pub manifest: String,
    pub folder: String,
}

/// The workstreams of a root.
#[derive(Clone, Copy, Debug)]
pub struct Workstreams<'a> {
    pub root: &'a Root,
    pub store: &'a Store,
    pub settings: &'a Settings,
}

/// A file that a manifest loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The path as written in the manifest.
    pub named: String,
    pub lies: LoadLocation,
    /// The path relative to the root; `None` if the file is not opened.
    pub path: Option<String>,
    pub bytes: u64,
    pub changed: Option<Timestamp>,
}

/// Where a file to load is. It is opened only if it is inside the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadLocation {
    There,
    Missing,
    Outside,
    /// A symbolic link, or a path through one.
    Link,
}

impl LoadLocation {
    /// Describes the location; for a file that is not opened, this says why.
    pub fn words(self) -> &'static str {
        match self {
            LoadLocation::There => "there",
            LoadLocation::Missing => "not there",
            LoadLocation::Outside => "outside the project, not opened",
            LoadLocation::Link => "a link, not opened",
        }
    }
}

impl<'a> Workstreams<'a> {
    pub fn of(project: &ProjectContext<'a>) -> Workstreams<'a> {
        let ProjectContext { root, store, settings, .. } = *project;
        Workstreams { root, store, settings }
    }

    /// Returns every workstream, sorted by id.
    pub fn all(&self) -> Result<Vec<Workstream>> {
        let mut all = self.each()?.into_iter().collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all.truncate(MOST);
        Ok(all)
    }

    /// Returns the workstreams, each with its own error, so that an error in one does not hide the others.
    pub fn each(&self) -> Result<Vec<Result<Workstream>>> {
        let homes = self.homes()?;
        let mut all: Vec<Result<Workstream>> =
            homes.iter().filter_map(|(id, folder)| self.at(id, folder).transpose()).collect();
        for glob in self.settings.resume_globs.split(',').map(str::trim).filter(|glob| !glob.is_empty()) {
            for path in self.expand(glob)? {
                if !all.iter().flatten().any(|known| known.manifest == path) {
                    all.push(self.by_file(path));
                }
            }
        }
        Ok(all)
    }

    /// Returns the ids and folders of workstreams, with or without a manifest.
    pub fn homes(&self) -> Result<Vec<(String, String)>> {
        let mut homes = Vec::new();
        for home in home_folders() {
            let ids = self.folders(&home)?.into_iter().filter(|id| manifest::is_workstream(id));
            homes.extend(ids.map(|id| (id.clone(), format!("{home}/{id}"))));
        }
        Ok(homes)
    }

    pub fn find(&self, id: &str) -> Result<Option<Workstream>> {
        if !manifest::is_workstream(id) {
            return Ok(None);
        }
        for home in home_folders() {
            if let Some(found) = self.at(id, &format!("{home}/{id}"))? {
                return Ok(Some(found));
            }
        }
        Ok(self.all()?.into_iter().find(|known| known.id == id))
    }

    /// Returns whether there is such a workstream, with or without a manifest.
    pub fn has(&self, id: &str) -> bool {
        home_folders().iter().any(|home| self.full(&format!("{home}/{id}")).is_dir())
            || self.find(id).is_ok_and(|found| found.is_some())
    }

    /// Returns the workstream that a manifest belongs to.
    fn by_file(&self, path: String) -> Result<Workstream> {
        let document = Document::parse(self.read(&path)?);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = folder.strip_suffix(&format!("/{PLANNING}")).unwrap_or(folder).to_owned();
        let named = document.text("project_id").filter(|id| manifest::is_workstream(id));
        let id = named.unwrap_or_else(|| folder.rsplit('/').next().unwrap_or_default()).to_owned();
        Ok(Workstream { id, manifest: path, folder })
    }

    /// Returns the path of a named file relative to the root; `None` if the file is outside the project.
    pub fn own_path(&self, world: &World, file: &Path) -> crate::Result<Option<String>> {
        let whole = if file.is_absolute() { file.to_owned() } else { world.need_cwd()?.join(file) };
        let Ok(whole) = whole.canonicalize() else { return Ok(None) };
        let below =
            |base: &Path| Some(whole.strip_prefix(base.canonicalize().ok()?).ok()?.to_str()?.to_owned());
        Ok(below(&self.root.checkout).or_else(|| below(&self.root.path)))
    }

    /// Returns the workstream of a folder, if it has a manifest there or in the folder of its plans. Some projects
    /// keep the manifest with the plans, and a migration puts it where the old one was.
    fn at(&self, id: &str, folder: &str) -> Result<Option<Workstream>> {
        let plans = format!("{folder}/{PLANNING}");
        let homes = if folder.starts_with(PROJECTS) { [&plans, folder] } else { [folder, &plans] };
        for home in homes {
            let manifest = format!("{home}/{}", manifest::NAME);
            if self.look(&manifest)?.is_some() {
                return Ok(Some(Workstream { id: id.to_owned(), manifest, folder: folder.to_owned() }));
            }
            if self.full(&manifest).symlink_metadata().is_ok() {
                let why = "a link or a folder is where a file is expected".to_owned();
                return Err(store::Error::Refused { path: self.full(&manifest), why });
            }
        }
        Ok(None)
    }

    /// Returns the paths that match a pattern; `*` matches one name.
    fn expand(&self, glob: &str) -> Result<Vec<String>> {
        let mut found = vec![String::new()];
        for part in glob.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..") {
            let join = |base: &str, name: &str| {
                if base.is_empty() { name.to_owned() } else { format!("{base}/{name}") }
            };
            let mut longer = Vec::new();
            for base in found {
                match part {
                    "*" => longer.extend(self.folders(&base)?.iter().map(|name| join(&base, name))),
                    name => longer.push(join(&base, name)),
                }
            }
            longer.truncate(MOST * 4);
            found = longer;
        }
        let mut files = Vec::new();
        for path in found {
            files.extend(self.look(&path)?.map(|_| path));
        }
        Ok(files)
    }

    pub fn folders(&self, folder: &str) -> Result<Vec<String>> {
        self.names(folder, EntryKind::Folder)
    }

    pub fn files(&self, folder: &str) -> Result<Vec<String>> {
        self.names(folder, EntryKind::File)
    }

    /// Lists a folder. A missing folder is empty. A folder that cannot be read is an error, and so is a link in the
    /// store.
    fn names(&self, folder: &str, kind: EntryKind) -> Result<Vec<String>> {
        let dir = match self.dir(folder) {
            Err(store::Error::Absent { .. }) => return Ok(Vec::new()),
            Err(store::Error::Refused { .. }) if !folder.starts_with(layout::STORE) => return Ok(Vec::new()),
            dir => dir?,
        };
        Ok(dir.entries()?.into_iter().filter(|entry| entry.kind == kind).map(|entry| entry.name).collect())
    }

    pub fn dir(&self, folder: &str) -> Result<Dir> {
        let base = Dir::open(&self.base(folder))?;
        if folder.is_empty() { Ok(base) } else { base.sub(folder) }
    }

    /// Returns the folder that a path is relative to: the root for the store, the session's checkout for everything
    /// else.
    fn base(&self, path: &str) -> PathBuf {
        if path.starts_with(layout::STORE) { self.root.path.clone() } else { self.root.checkout.clone() }
    }

    pub fn full(&self, path: &str) -> PathBuf {
        self.base(path).join(path)
    }

    /// Looks at a file of the project. Returns `None` if there is no such regular file.
    pub fn look(&self, path: &str) -> Result<Option<Look>> {
        Dir::open(&self.base(path))?.look(path)
    }

    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        Dir::open(&self.base(path))?.read(path, LARGEST)
    }

    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.dir(folder)?.write(name, bytes, Durability::Synced)
    }

    pub fn manifest(&self, workstream: &Workstream) -> Result<(Document, Manifest)> {
        let document = Document::parse(self.read(&workstream.manifest)?);
        let manifest = manifest::read(&document);
        Ok((document, manifest))
    }

    /// Returns the files that a manifest loads. Paths are relative to the workstream's folder, the manifest's, or the
    /// root.
    pub fn loads(&self, workstream: &Workstream, manifest: &Manifest) -> Result<Vec<Load>> {
        manifest.files_to_load.iter().map(|named| self.load(workstream, named)).collect()
    }

    fn load(&self, workstream: &Workstream, named: &str) -> Result<Load> {
        let own = workstream.manifest.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut lies = LoadLocation::Outside;
        for folder in [workstream.folder.as_str(), own, ""] {
            let Some(path) = self.inside(folder, named) else { continue };
            if self.is_linked(&path) {
                lies = LoadLocation::Link;
                continue;
            }
            if let Some(Look { bytes, changed }) = self.look(&path)? {
                let (named, path, lies) = (named.to_owned(), Some(path), LoadLocation::There);
                return Ok(Load { named, lies, path, bytes, changed: Some(changed) });
            }
            if lies == LoadLocation::Outside {
                lies = LoadLocation::Missing;
            }
        }
        Ok(Load { named: named.to_owned(), lies, path: None, bytes: 0, changed: None })
    }

    /// Returns `named`, which is relative to `folder`, as a path from the root; `None` if it leads outside.
    fn inside(&self, folder: &str, named: &str) -> Option<String> {
        let root = self.base(folder);
        let from = root.join(folder).join(named);
        model::place::within(&root.to_string_lossy(), &from.to_string_lossy()).into_inside()
    }

    /// Returns whether a path is a link or goes through one.
    fn is_linked(&self, path: &str) -> bool {
        let base = self.base(path);
        let parts = path.match_indices('/').map(|(end, _)| &path[..end]).chain([path]);
        let is_link = |part: &str| base.join(part).symlink_metadata().is_ok_and(|found| found.is_symlink());
        parts.into_iter().any(is_link)
    }

    /// Returns the file of steps that a manifest loads, if there is one.
    pub fn steps(&self, workstream: &Workstream, manifest: &Manifest) -> Result<Option<String>> {
        let loads = self.loads(workstream, manifest)?;
        let (named, others): (Vec<&Load>, Vec<&Load>) =
            loads.iter().partition(|load| manifest::is_steps(&load.named));
        let paths = || named.iter().chain(&others).filter_map(|load| load.path.as_deref());
        for path in paths() {
            if self.read(path).is_ok_and(|bytes| manifest::has_boxes(&Document::parse(bytes))) {
                return Ok(Some(path.to_owned()));
            }
        }
        Ok(named.iter().find_map(|load| load.path.clone()))
    }

    /// Returns the manifest according to the current state of its steps. Hooks do not write manifests outside the
    /// store, so the file can be outdated.
    pub fn current(&self, workstream: &Workstream, now: Timestamp) -> Result<Manifest> {
        let (mut document, manifest) = self.manifest(workstream)?;
        let Some(path) = self.steps(workstream, &manifest)? else { return Ok(manifest) };
        let steps = Document::parse(self.read(&path)?);
        manifest::follow(&mut document, &steps, now);
        let last_updated = manifest.last_updated;
        Ok(Manifest { last_updated, ..manifest::read(&document) })
    }

    /// Returns the manifests of the older layout that `thru resume migrate` would convert.
    pub fn unmigrated(&self) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for (_, folder) in self.homes()? {
            for home in [folder.clone(), format!("{folder}/{PLANNING}")] {
                let legacy = format!("{home}/{}", manifest::LEGACY_NAME);
                if self.look(&legacy)?.is_some()
                    && self.look(&format!("{home}/{}", manifest::NAME))?.is_none()
                {
                    found.push(legacy);
                }
            }
        }
        Ok(found)
    }

    pub fn lock(&self, wait: Duration) -> Result<store::Lock> {
        self.store.lock(layout::WORKSTREAMS_LOCK, wait)
    }
}

/// Returns the folders that contain workstreams.
pub fn home_folders() -> [String; 2] {
    [layout_home(), PROJECTS.to_owned()]
}

fn layout_home() -> String {
    format!("{}/{}", layout::STORE, layout::WORKSTREAMS)
}
