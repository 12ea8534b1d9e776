//! Which agents of ours are in a harness's folders.

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

/// A file of ours, whoever changed it since.
#[derive(Clone, Debug)]
pub(super) struct Ours {
    pub path: PathBuf,
    pub swarm: SwarmId,
    pub is_changed: bool,
}

/// The most files of a folder that are looked at.
const MOST: usize = 1_000;

/// Returns our files in a folder, by name. A folder that does not exist has none.
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

/// A folder that cannot be listed is an error: what is in it would stay there unnoticed.
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

/// Returns the swarms whose architect a harness has in this project or for this user. A hook calls it, so nothing else
/// is read.
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
    /// Those that somebody changed since.
    pub changed: Vec<String>,
}

/// The state of one agent's file, compared with what would be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Installed,
    /// Ours and unchanged, but an installation now would write something else.
    OutOfDate,
    /// Ours, and somebody changed it.
    Changed,
    /// Somebody else's file has its name.
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
