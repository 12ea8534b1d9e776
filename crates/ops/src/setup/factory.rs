//! `thru import factory`: makes packets from the handoffs that Factory's own commands wrote. The original files are not
//! changed.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::features::packets::{self, ImportedPacket};
use crate::project::Project;
use crate::{Error, Result, World, WriteMode};

/// The size limit of a slash command file.
const MAX_COMMAND_BYTES: usize = 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub struct FactoryImportReport {
    pub imported: Vec<ImportedPacket>,
    /// Factory's own commands that have the same names as thru's commands. As long as they exist, thru's commands are
    /// not installed.
    pub commands: Vec<PathBuf>,
}

/// Imports the named folder or file. If none is named, imports from the folders that Factory's commands use by
/// default, in the project and in the home folder.
pub fn import_factory_packets(
    world: &World,
    named: Option<&Path>,
    mode: WriteMode,
) -> Result<FactoryImportReport> {
    let project = match Project::find_for_reading(world) {
        Ok(project) => project.root.checkout,
        Err(Error::NoRoot { path }) => path,
        Err(error) => return Err(error),
    };
    let home = world.absolute_path_variable("HOME").map(|home| home.join(".factory"));
    let folders: Vec<PathBuf> = std::iter::once(project.join(".factory")).chain(home).collect();
    let files = match named {
        Some(file) if file.is_file() => vec![file.to_owned()],
        Some(folder) if folder.is_dir() => markdown_files(folder),
        Some(path) => return Err(store::Error::Absent { path: path.to_owned() }.into()),
        None => folders.iter().flat_map(|folder| find_handoffs(folder)).collect(),
    };
    let mut imported: Vec<ImportedPacket> = Vec::new();
    for file in &files {
        imported.push(packets::import_handoff_skipping_duplicates(world, file, mode, &imported)?);
    }
    let ours = ["handoff.md", "pickup.md"];
    let commands = folders.iter().flat_map(|folder| ours.map(|name| folder.join("commands").join(name)));
    let theirs = |path: &PathBuf| {
        let text = store::read_outside_store(path, MAX_COMMAND_BYTES)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        text.is_some_and(|text| !harness::commands::is_our_command_file(&text))
    };
    Ok(FactoryImportReport { imported, commands: commands.filter(theirs).collect() })
}

/// Returns the files called `handoff*.md` in the folder, and all markdown files in its subfolders `handoffs` and
/// `handoff`.
fn find_handoffs(folder: &Path) -> Vec<PathBuf> {
    let named = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().to_lowercase().starts_with("handoff"))
    };
    let beside = markdown_files(folder).into_iter().filter(named);
    beside.chain(["handoffs", "handoff"].iter().flat_map(|name| markdown_files(&folder.join(name)))).collect()
}

/// Returns the markdown files in a folder, sorted by name. If the folder does not exist, there are none.
fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.is_file() && path.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    files
}
