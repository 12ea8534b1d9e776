//! The user's own prompts, which replace or extend ours: `{agent}.md` and `{agent}_append.md` in the folder `agents`
//! next to the user's settings. Prompts for a single swarm are in a folder with the name of the swarm.

use std::path::{Path, PathBuf};

use harness::agents;
use model::swarm::{Part, SwarmId};
use serde::Serialize;

use super::super::install::Scope;
use super::super::install::files::read;
use super::{program, wanted_swarm};
use crate::{Error, Result, World};

/// Where a prompt comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    #[serde(skip)]
    pub replaced: Option<String>,
    #[serde(skip)]
    pub appended: Option<String>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

/// The prompts of all agents of a swarm.
#[derive(Clone, Debug)]
pub struct Prompts {
    of: Vec<(Part, Source)>,
    /// Files in the folder that belong to no agent.
    pub unused: Vec<PathBuf>,
}

const FOLDER: &str = "agents";

/// The largest prompt that is read; it is larger than any that a harness accepts.
const LARGEST: usize = 256 * 1024;

impl Prompts {
    pub fn read(world: &World, swarm: &SwarmId) -> Result<Prompts> {
        let Some(folder) = folder(world) else {
            return Ok(Prompts { of: Vec::new(), unused: Vec::new() });
        };
        let own = folder.join(swarm.as_str());
        let mut of = Vec::new();
        for part in Part::ALL {
            let mut source = Source::default();
            let mut first = |name: String| -> Result<Option<String>> {
                for path in [own.join(&name), folder.join(&name)] {
                    if let Some(text) = text(&path)? {
                        source.files.push(path);
                        return Ok(Some(text));
                    }
                }
                Ok(None)
            };
            let replaced = first(format!("{}.md", part.name()))?;
            let appended = first(format!("{}_append.md", part.name()))?;
            of.push((part, Source { replaced, appended, ..source }));
        }
        Ok(Prompts { of, unused: unused(&folder, &own) })
    }

    pub fn of(&self, part: Part) -> Source {
        self.of.iter().find(|(known, _)| *known == part).map(|(_, source)| source.clone()).unwrap_or_default()
    }
}

/// Returns the whole prompt of an agent, as it would be installed.
pub fn whole_prompt(world: &World, part: Part, swarm: Option<&str>) -> Result<String> {
    let swarm = wanted_swarm(world, swarm)?;
    let source = Prompts::read(world, &swarm)?.of(part);
    let program = program(world, Scope::Local).or_else(|_| program(world, Scope::Project))?;
    Ok(agents::text(&agents::Definition {
        swarm: &swarm,
        part,
        model: None,
        prompt: source.replaced.as_deref(),
        appended: source.appended.as_deref(),
        program: &program,
    }))
}

/// Returns the folder of the user's prompts.
fn folder(world: &World) -> Option<PathBuf> {
    Some(world.config_file()?.parent()?.join(FOLDER))
}

fn text(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read(path)? else { return Ok(None) };
    let bad = |why: &str| Error::Refused {
        what: format!("{}: {why}", path.display()),
        hint: "mend the file or remove it; nothing was installed".into(),
    };
    if bytes.len() > LARGEST {
        return Err(bad(&format!("a prompt of {} bytes is too long; {LARGEST} is the most", bytes.len())));
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("a prompt must be UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    if text.trim().is_empty() {
        return Err(bad("a prompt must not be empty"));
    }
    Ok(Some(text))
}

fn unused(folder: &Path, own: &Path) -> Vec<PathBuf> {
    let is_known = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = stem.strip_suffix("_append").unwrap_or(&stem);
        Part::ALL.iter().any(|part| part.name() == stem)
    };
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = [folder, own].into_iter().flat_map(entries).map(|entry| entry.path());
    let is_text = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let mut unused: Vec<PathBuf> = paths.filter(|path| is_text(path) && !is_known(path)).collect();
    unused.sort();
    unused
}
