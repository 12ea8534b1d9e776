//! The user's own prompts, which replace or extend thru's prompts. They are files called `{agent}.md` and
//! `{agent}_append.md` in the folder `agents`, next to the user's settings. Prompts for a single swarm are in a
//! subfolder named after the swarm.

use std::path::{Path, PathBuf};

use harness::agents;
use model::swarm::{SwarmId, SwarmRole};
use serde::Serialize;

use super::super::install::InstallScope;
use super::super::install::files::read_settings_file;
use super::{thru_command_for_agents, wanted_swarm};
use crate::{Error, Result, World};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UserPromptForAgent {
    #[serde(skip)]
    pub replacement: Option<String>,
    #[serde(skip)]
    pub appended_text: Option<String>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct SwarmPrompts {
    by_role: Vec<(SwarmRole, UserPromptForAgent)>,
    /// The files in the folder whose names match no agent.
    pub unused_files: Vec<PathBuf>,
}

const PROMPTS_FOLDER: &str = "agents";

/// The size limit of a prompt. No harness accepts a larger one.
const MAX_PROMPT_BYTES: usize = 256 * 1024;

impl SwarmPrompts {
    pub fn read(world: &World, swarm: &SwarmId) -> Result<SwarmPrompts> {
        let Some(folder) = user_prompts_folder(world) else {
            return Ok(SwarmPrompts { by_role: Vec::new(), unused_files: Vec::new() });
        };
        let own = folder.join(swarm.as_str());
        let mut by_role = Vec::new();
        for part in SwarmRole::ALL {
            let mut source = UserPromptForAgent::default();
            let mut first = |name: String| -> Result<Option<String>> {
                for path in [own.join(&name), folder.join(&name)] {
                    if let Some(text) = read_prompt(&path)? {
                        source.files.push(path);
                        return Ok(Some(text));
                    }
                }
                Ok(None)
            };
            let replacement = first(format!("{}.md", part.name()))?;
            let appended_text = first(format!("{}_append.md", part.name()))?;
            by_role.push((part, UserPromptForAgent { replacement, appended_text, ..source }));
        }
        Ok(SwarmPrompts { by_role, unused_files: unused_prompt_files(&folder, &own) })
    }

    pub fn prompt_of_swarm_role(&self, part: SwarmRole) -> UserPromptForAgent {
        self.by_role
            .iter()
            .find(|(known, _)| *known == part)
            .map(|(_, source)| source.clone())
            .unwrap_or_default()
    }
}

/// Returns an agent's whole prompt, as an installation would write it.
pub fn whole_prompt_of_agent(world: &World, swarm_role: SwarmRole, swarm: Option<&str>) -> Result<String> {
    let swarm = wanted_swarm(world, swarm)?;
    let source = SwarmPrompts::read(world, &swarm)?.prompt_of_swarm_role(swarm_role);
    let program = thru_command_for_agents(world, InstallScope::Local)
        .or_else(|_| thru_command_for_agents(world, InstallScope::Project))?;
    Ok(agents::full_agent_prompt(&agents::AgentDefinition {
        swarm: &swarm,
        swarm_role,
        model: None,
        prompt: source.replacement.as_deref(),
        appended_prompt: source.appended_text.as_deref(),
        program: &program,
    }))
}

fn user_prompts_folder(world: &World) -> Option<PathBuf> {
    Some(world.user_settings_file()?.parent()?.join(PROMPTS_FOLDER))
}

fn read_prompt(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read_settings_file(path)? else { return Ok(None) };
    let bad = |why: &str| Error::Refused {
        what: format!("{}: {why}", path.display()),
        hint: "fix the file or remove it; nothing was installed".into(),
    };
    if bytes.len() > MAX_PROMPT_BYTES {
        return Err(bad(&format!(
            "a prompt of {} bytes is too long; the limit is {MAX_PROMPT_BYTES}",
            bytes.len()
        )));
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("a prompt must be UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    if text.trim().is_empty() {
        return Err(bad("a prompt must not be empty"));
    }
    Ok(Some(text))
}

fn unused_prompt_files(folder: &Path, own: &Path) -> Vec<PathBuf> {
    let is_known = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = stem.strip_suffix("_append").unwrap_or(&stem);
        SwarmRole::ALL.iter().any(|part| part.name() == stem)
    };
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = [folder, own].into_iter().flat_map(entries).map(|entry| entry.path());
    let is_text = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let mut unused: Vec<PathBuf> = paths.filter(|path| is_text(path) && !is_known(path)).collect();
    unused.sort();
    unused
}
