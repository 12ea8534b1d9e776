//! Finds our agents in the folders of harnesses.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use harness::Harness;
use harness::agents::{self, Written};
use model::swarm::{Part, SwarmId};
use serde::Serialize;

use super::super::install::Scope;
use super::super::install::files::read;
use super::folder;
use crate::{Error, Result, World};

/// A file that we wrote, even if somebody has changed it since.
#[derive(Clone, Debug)]
pub(super) struct Ours {
    pub path: PathBuf,
    pub swarm: SwarmId,
    pub is_changed: bool,
}

/// How many files of a folder are looked at.
const MOST: usize = 1_000;

/// Returns our files in a folder, sorted by name; none if the folder does not exist.
pub(super) fn ours(folder: &Path) -> Result<Vec<Ours>> {
    let mut found = Vec::new();
    for path in paths(folder, ".md")? {
        let Some(bytes) = read(&path)? else { continue };
        let (swarm, is_changed) = match agents::written(&String::from_utf8_lossy(&bytes)) {
            Written::ByUs(swarm) => (swarm, false),
            Written::Changed(swarm) => (swarm, true),
            Written::BySomebody => continue,
        };
        found.push(Ours { path, swarm, is_changed });
    }
    Ok(found)
}

/// Returns the files of a folder whose names end with `end`. A folder that cannot be listed is an error: its files
/// would stay there unnoticed.
fn paths(folder: &Path, end: &str) -> Result<Vec<PathBuf>> {
    let fail = |error: &std::io::Error| Error::stream(&folder.display().to_string(), "list", error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        listed => listed.map_err(|error| fail(&error))?,
    };
    let mut paths = Vec::new();
    for entry in entries.take(MOST) {
        let path = entry.map_err(|error| fail(&error))?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end)) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the swarms whose architect is installed in a harness, in this project or for this user. Hooks call this, so
/// nothing else is read.
pub fn swarms(world: &World, harness: &Harness, checkout: &Path) -> Vec<SwarmId> {
    let folders = [Scope::Local, Scope::User].map(|scope| folder(world, harness, checkout, scope));
    let end = format!("{}.md", Part::Architect.name());
    let files = folders.into_iter().flatten().flat_map(|folder| paths(&folder, &end).unwrap_or_default());
    let texts = files.filter_map(|path| read(&path).ok().flatten());
    texts
        .filter_map(|bytes| match agents::written(&String::from_utf8_lossy(&bytes)) {
            Written::ByUs(swarm) | Written::Changed(swarm) => Some(swarm),
            Written::BySomebody => None,
        })
        .collect()
}

/// The agents of one swarm in one folder of one harness.
#[derive(Clone, Debug, Serialize)]
pub struct Installed {
    pub swarm: String,
    pub harness: &'static str,
    pub folder: PathBuf,
    /// `project` for the folder in the project, `user` for the user's own.
    pub place: &'static str,
    pub agents: usize,
    /// The agents whose files somebody has changed since.
    pub changed: Vec<String>,
}

/// The state of one agent's file, compared with what would be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Installed,
    /// The file is ours and unchanged, but an installation now would write something else.
    OutOfDate,
    /// The file is ours, and somebody changed it.
    Changed,
    /// A file of this name exists that is not ours.
    Foreign,
    Missing,
}

/// Returns every swarm that is installed in a project or for this user.
pub fn installed(world: &World, checkout: &Path) -> Result<Vec<Installed>> {
    let mut all: Vec<Installed> = Vec::new();
    for harness in harness::HARNESSES.iter().filter(|harness| harness.agents.is_some()) {
        for (scope, place) in [(Scope::Local, "project"), (Scope::User, "user")] {
            let Ok(folder) = folder(world, harness, checkout, scope) else { continue };
            for one in ours(&folder)? {
                let swarm = one.swarm.to_string();
                let is_same = |known: &&mut Installed| known.swarm == swarm && known.folder == folder;
                let name = one.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let changed = one.is_changed.then_some(name);
                match all.iter_mut().find(is_same) {
                    Some(known) => {
                        known.agents += 1;
                        known.changed.extend(changed);
                    }
                    None => all.push(Installed {
                        swarm,
                        harness: harness.name,
                        folder: folder.clone(),
                        place,
                        agents: 1,
                        changed: changed.into_iter().collect(),
                    }),
                }
            }
        }
    }
    Ok(all)
}
