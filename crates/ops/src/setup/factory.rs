//! `thru import factory`: turns the handoffs of Factory's own commands into packets. The originals stay untouched.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::features::packets::{self, Imported};
use crate::project::Project;
use crate::{Error, Mode, Result, World};

/// The largest slash command that is read.
const LARGEST_COMMAND: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct FactoryReport {
    pub imported: Vec<Imported>,
    /// Factory's own commands that have the same names as ours. While they exist, our commands are not installed.
    pub commands: Vec<PathBuf>,
}

/// Imports the named folder or file. If none is named, imports from the usual folders of Factory's commands, in the
/// project and in the home folder.
pub fn run(world: &World, named: Option<&Path>, mode: Mode) -> Result<FactoryReport> {
    let project = match Project::find(world) {
        Ok(project) => project.root.checkout,
        Err(Error::NoRoot { path }) => path,
        Err(error) => return Err(error),
    };
    let home = world.path("HOME").map(|home| home.join(".factory"));
    let folders: Vec<PathBuf> = std::iter::once(project.join(".factory")).chain(home).collect();
    let files = match named {
        Some(file) if file.is_file() => vec![file.to_owned()],
        Some(folder) if folder.is_dir() => markdown(folder),
        Some(path) => return Err(store::Error::Absent { path: path.to_owned() }.into()),
        None => folders.iter().flat_map(|folder| handoffs(folder)).collect(),
    };
    let mut imported: Vec<Imported> = Vec::new();
    for file in &files {
        imported.push(packets::import_after(world, file, mode, &imported)?);
    }
    let ours = ["handoff.md", "pickup.md"];
    let commands = folders.iter().flat_map(|folder| ours.map(|name| folder.join("commands").join(name)));
    let theirs = |path: &PathBuf| {
        let text =
            store::read_own(path, LARGEST_COMMAND).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        text.is_some_and(|text| !harness::commands::is_ours(&text))
    };
    Ok(FactoryReport { imported, commands: commands.filter(theirs).collect() })
}

/// Returns the files `handoff*.md` next to the settings, and everything in `handoffs/` and `handoff/`.
fn handoffs(folder: &Path) -> Vec<PathBuf> {
    let named = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with("handoff"))
    };
    let beside = markdown(folder).into_iter().filter(named);
    beside.chain(["handoffs", "handoff"].iter().flat_map(|name| markdown(&folder.join(name)))).collect()
}

/// Returns the markdown files of a folder, sorted by name. The list is empty if there is no such folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files
}
