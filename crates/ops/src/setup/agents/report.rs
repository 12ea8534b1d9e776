//! `thru swarm agents` and `thru swarm diagnose`: list a swarm's agents, and report what is missing or changed.

use std::path::{Path, PathBuf};

use harness::agents::{self, AgentDefinition, FileAuthor};
use harness::{HARNESSES, Harness};
use model::finding::{Finding, FindingLevel};
use model::render::one_line;
use model::swarm::{SwarmId, SwarmRole, model_of_agent, unknown_model_entries};
use serde::Serialize;
use store::FoundRoot;

use super::super::install::InstallScope;
use super::super::install::files::read_settings_file;
use super::super::install::places::{harnesses_in_use, wired_files_in_force};
use super::{AgentFileState, SwarmPrompts, agents_folder, find, thru_command_for_agents, wanted_swarm};
use crate::features::{plan, swarm};
use crate::project::{Project, settings, trust};
use crate::{Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct AgentRow {
    pub name: String,
    #[serde(rename = "part")]
    pub swarm_role: &'static str,
    pub read_only: bool,
    #[serde(rename = "about")]
    pub description: &'static str,
    /// The user's own files that replace or extend the prompt. There are none if thru's prompt is used unchanged.
    pub prompt_files: Vec<PathBuf>,
    pub harnesses: Vec<AgentFileLocation>,
}

#[derive(Clone, Debug, Serialize)]
pub struct AgentFileLocation {
    pub harness: &'static str,
    pub state: AgentFileState,
    pub path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SwarmDiagnosis {
    pub swarm: String,
    pub findings: Vec<Finding>,
}

impl SwarmDiagnosis {
    /// Returns whether there is nothing to act on. Notes are only for information.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.level == FindingLevel::Note)
    }
}

/// Lists a swarm's agents, with their files in every harness in use.
pub fn list_agents(world: &World, swarm: Option<&str>) -> Result<(SwarmId, Vec<AgentRow>)> {
    let swarm = wanted_swarm(world, swarm)?;
    let (FoundRoot::Marked { root, .. } | FoundRoot::Unmarked(root)) = world.find_root()?;
    let rows = agent_rows(world, &root.checkout, &swarm)?;
    Ok((swarm, rows))
}

fn agent_rows(world: &World, checkout: &Path, swarm: &SwarmId) -> Result<Vec<AgentRow>> {
    let prompts = SwarmPrompts::read(world, swarm)?;
    let models = settings::settings_here(world).settings().swarm_models;
    let mut rows = Vec::new();
    for part in SwarmRole::ALL {
        let source = prompts.prompt_of_swarm_role(part);
        let mut places = Vec::new();
        for harness in
            harnesses_in_use(world, checkout).into_iter().filter(|harness| harness.agents.is_some())
        {
            let model = model_of_agent(&models, harness.name, part);
            let definition = AgentDefinition {
                swarm,
                swarm_role: part,
                model,
                prompt: source.replacement.as_deref(),
                appended_prompt: source.appended_text.as_deref(),
                program: "",
            };
            let (state, path) = agent_file_state(world, checkout, harness, &definition)?;
            places.push(AgentFileLocation {
                harness: harness.name,
                state,
                path,
                model: model.map(str::to_owned),
            });
        }
        rows.push(AgentRow {
            name: swarm.agent_name(part),
            swarm_role: part.name(),
            read_only: part.is_read_only(),
            description: agents::agent_description(part),
            prompt_files: source.files,
            harnesses: places,
        });
    }
    Ok(rows)
}

/// Returns the state of an agent's file in the project or, if there is none, in the user's folder. The project comes
/// first, because harnesses prefer it.
fn agent_file_state(
    world: &World,
    checkout: &Path,
    harness: &'static Harness,
    definition: &AgentDefinition,
) -> Result<(AgentFileState, PathBuf)> {
    let name = format!("{}.md", definition.swarm.agent_name(definition.swarm_role));
    let mut first = None;
    for scope in [InstallScope::Local, InstallScope::User] {
        let Ok(folder) = agents_folder(world, harness, checkout, scope) else { continue };
        let path = folder.join(&name);
        first.get_or_insert_with(|| path.clone());
        let Some(bytes) = read_settings_file(&path)? else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let state = match agents::file_author(&text) {
            FileAuthor::WrittenByOthers => AgentFileState::Foreign,
            FileAuthor::Changed(_) => AgentFileState::Changed,
            FileAuthor::WrittenByUs(_) => {
                // The file may have been installed in this scope or in the project scope, so it may match either text.
                let is_same = |scope: InstallScope| {
                    let program = thru_command_for_agents(world, scope).unwrap_or_default();
                    agents::agent_file_text(harness, &AgentDefinition { program: &program, ..*definition })
                        .as_deref()
                        == Some(&*text)
                };
                if is_same(scope) || is_same(InstallScope::Project) {
                    AgentFileState::Installed
                } else {
                    AgentFileState::OutOfDate
                }
            }
        };
        return Ok((state, path));
    }
    Ok((AgentFileState::Missing, first.unwrap_or_default()))
}

/// Reports what is missing or changed, and writes nothing.
pub fn diagnose(world: &World, named: Option<&str>) -> Result<SwarmDiagnosis> {
    let swarm = wanted_swarm(world, named)?;
    let (FoundRoot::Marked { root, .. } | FoundRoot::Unmarked(root)) = world.find_root()?;
    let checkout = root.checkout;
    let mut findings = Vec::new();
    let used = harnesses_in_use(world, &checkout);
    if used.is_empty() {
        let hint = "`thru swarm install --harness NAME` installs into a harness that is not in use";
        findings.push(Finding::new(FindingLevel::Warning, "no harness is in use here").with_hint(hint));
    }
    for harness in used.iter().filter(|harness| harness.agents.is_none()) {
        let text = format!("{} does not read sub-agents from files, so no swarm runs in it", harness.title);
        findings.push(Finding::new(FindingLevel::Note, text));
    }
    let rows = agent_rows(world, &checkout, &swarm)?;
    for harness in used.iter().filter(|harness| harness.agents.is_some()) {
        findings.extend(harness_findings(world, &checkout, harness, &swarm, &rows));
    }
    let settings = settings::settings_here(world).settings();
    for entry in unknown_model_entries(
        &settings.swarm_models,
        &HARNESSES.iter().map(|harness| harness.name).collect::<Vec<_>>(),
    ) {
        let text = format!("swarm.models: `{}` does not name an agent and a model", one_line(entry, 60));
        findings.push(
            Finding::new(FindingLevel::Warning, text)
                .with_hint("for example coder=opus, or HARNESS:coder=openai/gpt-5"),
        );
    }
    for file in SwarmPrompts::read(world, &swarm)?.unused_files {
        let finding =
            Finding::new(FindingLevel::Warning, "no agent has this name, so the prompt is not used");
        findings.push(finding.at_line(file.display().to_string(), None));
    }
    for other in find::list_installed_swarms(world, &checkout)?
        .into_iter()
        .filter(|other| other.swarm != swarm.as_str())
    {
        let text = format!("the swarm {} is also installed in {}", other.swarm, other.harness);
        findings.push(Finding::new(FindingLevel::Note, text));
    }
    findings.extend(plan_findings(world)?);
    Ok(SwarmDiagnosis { swarm: swarm.to_string(), findings })
}

fn harness_findings(
    world: &World,
    checkout: &Path,
    harness: &'static Harness,
    swarm: &SwarmId,
    rows: &[AgentRow],
) -> Vec<Finding> {
    let place = |row: &AgentRow| row.harnesses.iter().find(|place| place.harness == harness.name).cloned();
    let places: Vec<AgentFileLocation> = rows.iter().filter_map(place).collect();
    let with = |state: AgentFileState| places.iter().filter(move |place| place.state == state);
    let again = format!("`thru swarm install --harness {} --swarm {swarm}`", harness.name);
    let mut findings = Vec::new();
    let missing = with(AgentFileState::Missing).count();
    if missing == places.len() {
        let text = format!("{}: the swarm {swarm} is not installed", harness.title);
        return vec![Finding::new(FindingLevel::Warning, text).with_hint(again)];
    }
    if missing > 0 {
        let names: Vec<String> = with(AgentFileState::Missing)
            .filter_map(|place| Some(place.path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        let text = format!("{}: agents are missing: {}", harness.title, names.join(", "));
        findings.push(Finding::new(FindingLevel::Warning, text).with_hint(again.clone()));
    }
    let forced = format!("{again} with --force replaces it and keeps a backup");
    let rows = [
        (
            AgentFileState::Changed,
            FindingLevel::Warning,
            "somebody has changed it since it was installed",
            forced,
        ),
        (
            AgentFileState::OutOfDate,
            FindingLevel::Warning,
            "the prompt, the model or the version has changed since it was installed",
            again.clone(),
        ),
        (
            AgentFileState::Foreign,
            FindingLevel::Warning,
            "one of your own files has the name of an agent",
            format!("rename it, then run {again}"),
        ),
    ];
    for (state, level, text, hint) in rows {
        for place in with(state) {
            let finding = Finding::new(level, text).at_line(place.path.display().to_string(), None);
            findings.push(finding.with_hint(hint.clone()));
        }
    }
    if wired_files_in_force(world, harness, checkout).is_empty() {
        let text = format!("{}: no hooks are installed, so no verdict becomes evidence", harness.title);
        findings.push(
            Finding::new(FindingLevel::Warning, text).with_hint(format!("`thru install {}`", harness.name)),
        );
    }
    if !harness.capabilities.names_subagents {
        let text = format!(
            "{}: its hooks do not say which agent has stopped, so a verdict is recorded only if the description of the call that started the agent begins with the agent's name",
            harness.title
        );
        findings.push(Finding::new(FindingLevel::Note, text));
    }
    findings
}

fn plan_findings(world: &World) -> Result<Vec<Finding>> {
    let Some(project) = Project::find_if_present(world)? else {
        let finding = Finding::new(FindingLevel::Warning, "there is no root here, so nothing is recorded");
        return Ok(vec![finding.with_hint("run `thru init` in your project's folder to create one")]);
    };
    if !world.is_trusted(&project.marker, &project.root.path) {
        let finding = Finding::new(
            FindingLevel::Warning,
            "this root is not trusted on this machine, so hooks record nothing",
        );
        let hint = trust::how_to_trust(world, &project.marker.project_id, &project.root.path, "it");
        return Ok(vec![finding.with_hint(hint)]);
    }
    let Some(loaded) = plan::load_plan(&project.store)? else {
        return Ok(vec![Finding::new(
            FindingLevel::Note,
            "there is no plan yet; verdicts are recorded once there is one",
        )]);
    };
    let settings = settings::settings_here(world).settings();
    let ours = swarm::swarms_in_use(world, &project.root.checkout, &settings);
    let other = model::swarm::foreign_swarm(&loaded.plan, &ours);
    let text = |other: &str| {
        format!("the plan belongs to the swarm {}, which is not in use here", one_line(other, 60))
    };
    let hint = "`thru swarm plan --adopt` assigns it to this swarm";
    Ok(other
        .map(|other| Finding::new(FindingLevel::Warning, text(other)).with_hint(hint))
        .into_iter()
        .collect())
}
