//! Finds thru's agents in the harnesses' folders.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use harness::Harness;
use harness::agents::{self, FileAuthor};
use model::swarm::{SwarmId, SwarmRole};
use serde::Serialize;

use super::super::install::InstallScope;
use super::super::install::files::read_settings_file;
use super::agents_folder;
use crate::{Error, Result, World};

/// An agent file that thru wrote. Somebody may have changed it since.
#[derive(Clone, Debug)]
pub(super) struct AgentFileWrittenByThru {
    pub path: PathBuf,
    pub swarm: SwarmId,
    pub is_changed: bool,
}

/// How many files in a folder are examined.
const MAX_AGENT_FILES_EXAMINED: usize = 1_000;

/// Returns the agent files that thru wrote to a folder, sorted by name. Returns an empty list if the folder does not
/// exist.
pub(super) fn agent_files_written_by_thru(folder: &Path) -> Result<Vec<AgentFileWrittenByThru>> {
    let mut found = Vec::new();
    for path in files_with_suffix(folder, ".md")? {
        let Some(bytes) = read_settings_file(&path)? else { continue };
        let (swarm, is_changed) = match agents::file_author(&String::from_utf8_lossy(&bytes)) {
            FileAuthor::WrittenByUs(swarm) => (swarm, false),
            FileAuthor::Changed(swarm) => (swarm, true),
            FileAuthor::WrittenByOthers => continue,
        };
        found.push(AgentFileWrittenByThru { path, swarm, is_changed });
    }
    Ok(found)
}

/// Returns the files in a folder whose names end with `end`. Returns an error if the folder cannot be listed, because
/// thru's files in it would otherwise stay installed unnoticed.
fn files_with_suffix(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let fail = |error: &std::io::Error| Error::stream_error(&folder.display().to_string(), "list", error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        listed => listed.map_err(|error| fail(&error))?,
    };
    let mut paths = Vec::new();
    for entry in entries.take(MAX_AGENT_FILES_EXAMINED) {
        let path = entry.map_err(|error| fail(&error))?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the swarms whose architect is installed in a harness, for this project or this user. The other agents are
/// not examined, because hooks call this function and have little time.
pub fn installed_swarms(world: &World, harness: &Harness, checkout: &Path) -> Vec<SwarmId> {
    let folders =
        [InstallScope::Local, InstallScope::User].map(|scope| agents_folder(world, harness, checkout, scope));
    let end = format!("{}.md", SwarmRole::Architect.name());
    let files =
        folders.into_iter().flatten().flat_map(|folder| files_with_suffix(&folder, &end).unwrap_or_default());
    let texts = files.filter_map(|path| read_settings_file(&path).ok().flatten());
    texts
        .filter_map(|bytes| match agents::file_author(&String::from_utf8_lossy(&bytes)) {
            FileAuthor::WrittenByUs(swarm) | FileAuthor::Changed(swarm) => Some(swarm),
            FileAuthor::WrittenByOthers => None,
        })
        .collect()
}

#[derive(Clone, Debug, Serialize)]
pub struct InstalledSwarm {
    pub swarm: String,
    pub harness: &'static str,
    pub folder: PathBuf,
    /// `project` for the project's folder, or `user` for the user's own folder.
    #[serde(rename = "place")]
    pub scope_name: &'static str,
    pub agents: usize,
    /// The agents whose files somebody has changed.
    #[serde(rename = "changed")]
    pub changed_agents: Vec<String>,
}

/// The state of an agent's file, compared with the text that an installation would write now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentFileState {
    Installed,
    /// thru wrote the file and nobody has changed it, but an installation would now write different text.
    OutOfDate,
    /// thru wrote the file, and somebody has changed it.
    Changed,
    /// A file with this name exists, but thru did not write it.
    Foreign,
    Missing,
}

pub fn list_installed_swarms(world: &World, checkout: &Path) -> Result<Vec<InstalledSwarm>> {
    let mut all: Vec<InstalledSwarm> = Vec::new();
    for harness in harness::HARNESSES.iter().filter(|harness| harness.agents.is_some()) {
        for (scope, place) in [(InstallScope::Local, "project"), (InstallScope::User, "user")] {
            let Ok(folder) = agents_folder(world, harness, checkout, scope) else { continue };
            for one in agent_files_written_by_thru(&folder)? {
                let swarm = one.swarm.to_string();
                let is_same = |known: &&mut InstalledSwarm| known.swarm == swarm && known.folder == folder;
                let name = one.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let changed = one.is_changed.then_some(name);
                match all.iter_mut().find(is_same) {
                    Some(known) => {
                        known.agents += 1;
                        known.changed_agents.extend(changed);
                    }
                    None => all.push(InstalledSwarm {
                        swarm,
                        harness: harness.name,
                        folder: folder.clone(),
                        scope_name: place,
                        agents: 1,
                        changed_agents: changed.into_iter().collect(),
                    }),
                }
            }
        }
    }
    Ok(all)
}
