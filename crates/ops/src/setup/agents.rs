//! `thru swarm install|uninstall`: write and remove the files that define a swarm's agents in a harness. A file that
//! a person wrote or changed is not touched.

mod find;
mod prompts;
mod report;

use std::path::{Path, PathBuf};

use harness::Harness;
use harness::agents::{self, AgentFiles, FileAuthor};
use harness::settings::{quote_shell_word, unified_diff};
use model::swarm::{SwarmId, SwarmRole, model_of_agent, swarm_of_agent_name};
use serde::Serialize;
use store::{FoundRoot, ReplaceOutcome};

use super::backup::back_up_file;
use super::install::files::{file_to_write_for_path, open_folder, read_settings_file, remove_harness_folder};
use super::install::places::{self, PROGRAM_NAME, user_folder};
use super::install::{FileChange, FileChangedByInstall, InstallReport, InstallScope};
use crate::project::{git, settings};
use crate::{Error, Result, World, WriteMode};

pub use find::{AgentFileState, InstalledSwarm, installed_swarms};
pub use prompts::{SwarmPrompts, UserPromptForAgent, whole_prompt_of_agent};
pub use report::{AgentRow, SwarmDiagnosis, diagnose, list_agents};

#[derive(Clone, Copy, Debug)]
pub struct AgentsRequest<'a> {
    /// The harness, or `None` for every harness in use.
    pub harness: Option<&'a str>,
    /// The swarm. `None` means the swarm that the settings name or, for a removal, every swarm.
    pub swarm: Option<&'a str>,
    pub scope: InstallScope,
    /// Whether to replace or remove even files that a person has changed. Each file is backed up first.
    pub force: bool,
    pub mode: WriteMode,
}

#[derive(Clone, Debug, Serialize)]
pub struct AgentInstallReport {
    /// The swarm, or `None` if the request was for all swarms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swarm: Option<String>,
    pub scope: InstallScope,
    /// Whether the changes were written. False in a dry run, which reports what would be done.
    pub written: bool,
    pub harnesses: Vec<HarnessAgentFilesReport>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct HarnessAgentFilesReport {
    pub harness: &'static str,
    pub files: Vec<FileChangedByInstall>,
    /// The files that were not touched, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "kept")]
    pub kept_files: Vec<KeptFile>,
}

#[derive(Clone, Debug, Serialize)]
pub struct KeptFile {
    pub path: PathBuf,
    pub why: &'static str,
}

const CHANGED_AGENT_FILE_HINT: &str =
    "somebody has changed it since thru wrote it; --force replaces or removes it and keeps a backup";
const FOREIGN_AGENT_FILE_HINT: &str =
    "thru did not write it; rename it, or choose another prefix with --swarm";
const TRACKED_AGENT_FILE_HINT: &str = "it is in git, so it belongs to the project; --project changes it";

/// Installs a swarm's agents. Files in the local scope are written to all worktrees of the repository, so that one
/// call is enough.
pub fn install_agents(world: &World, request: &AgentsRequest) -> Result<AgentInstallReport> {
    let checkout = checkout_for_scope(world, request.scope, true)?;
    let swarm = wanted_swarm(world, request.swarm)?;
    let harnesses = match request.harness {
        Some(name) => vec![harness_by_name(name)?],
        None => harnesses_in_use(world, &checkout)?,
    };
    let team = SwarmInstallation {
        harnesses,
        prompts: SwarmPrompts::read(world, &swarm)?,
        program: thru_command_for_agents(world, request.scope)?,
        swarm,
    };
    let mut report = run_in_worktrees(&checkout, request.scope, |checkout| {
        install_in_checkout(world, checkout, request, &team)
    })?;
    let unused = team.prompts.unused_files;
    report.notes.extend(
        unused
            .iter()
            .map(|file| format!("{}: no agent has this name, so the file is not used", file.display())),
    );
    Ok(report)
}

/// The values that are the same in all worktrees.
struct SwarmInstallation {
    swarm: SwarmId,
    harnesses: Vec<&'static Harness>,
    prompts: SwarmPrompts,
    /// The command with which the agents call thru.
    program: String,
}

fn install_in_checkout(
    world: &World,
    checkout: &Path,
    request: &AgentsRequest,
    team: &SwarmInstallation,
) -> Result<AgentInstallReport> {
    let SwarmInstallation { swarm, harnesses, prompts, program } = team;
    let all = settings::settings_here(world).settings();
    let mut plans = Vec::new();
    for harness in harnesses {
        let folder = agents_folder(world, harness, checkout, request.scope)?;
        let mut files = Vec::new();
        for part in SwarmRole::ALL {
            let source = prompts.prompt_of_swarm_role(part);
            let definition = agents::AgentDefinition {
                swarm,
                swarm_role: part,
                model: model_of_agent(&all.swarm_models, harness.name, part),
                prompt: source.replacement.as_deref(),
                appended_prompt: source.appended_text.as_deref(),
                program,
            };
            let Some(text) = agents::agent_file_text(harness, &definition) else { continue };
            let path = file_to_write_for_path(
                checkout,
                request.scope,
                &folder.join(format!("{}.md", swarm.agent_name(part))),
            )?;
            files.push((path, Some(text)));
        }
        plans.push(plan_files(checkout, harness, files, request)?);
    }
    if request.scope == InstallScope::Local {
        git::refuse_linked_exclude_list(checkout)?;
    }
    carry_out_plans(world, checkout, plans, request, Some(swarm))
}

pub fn uninstall_agents(world: &World, request: &AgentsRequest) -> Result<AgentInstallReport> {
    let checkout = checkout_for_scope(world, request.scope, false)?;
    run_in_worktrees(&checkout, request.scope, |checkout| uninstall_from_checkout(world, checkout, request))
}

/// Calls `run` for this checkout. In the local scope, also calls it for the repository's other worktrees. A failure
/// in one of those becomes a note.
fn run_in_worktrees(
    checkout: &Path,
    scope: InstallScope,
    run: impl Fn(&Path) -> Result<AgentInstallReport>,
) -> Result<AgentInstallReport> {
    let mut report = run(checkout)?;
    let worktrees = if scope == InstallScope::Local { git::list_worktrees(checkout) } else { Vec::new() };
    for other in worktrees.iter().skip(1) {
        match run(other) {
            Ok(AgentInstallReport { harnesses, notes, .. }) => {
                for (known, more) in report.harnesses.iter_mut().zip(harnesses) {
                    known.files.extend(more.files);
                    known.kept_files.extend(more.kept_files);
                }
                report.notes.extend(notes);
            }
            Err(error) => {
                report.notes.push(format!("the worktree {} is left unchanged: {error}", other.display()));
            }
        }
    }
    Ok(report)
}

/// Removes all swarms from one checkout, or from the user's own folder, for `thru uninstall --all`. Harnesses in
/// which nothing changed are not reported.
pub(super) fn uninstall_all_in_checkout(
    world: &World,
    checkout: &Path,
    scope: InstallScope,
    mode: WriteMode,
) -> Result<Vec<InstallReport>> {
    let request = AgentsRequest { harness: None, swarm: None, scope, force: false, mode };
    let AgentInstallReport { written, harnesses, .. } = uninstall_from_checkout(world, checkout, &request)?;
    let changed = harnesses.into_iter().filter(|one| !one.files.is_empty() || !one.kept_files.is_empty());
    let report = |one: HarnessAgentFilesReport| InstallReport {
        harness: one.harness,
        scope,
        written,
        files: one.files,
        failed: Vec::new(),
        notes: one.kept_files.iter().map(|kept| format!("{}: {}", kept.path.display(), kept.why)).collect(),
    };
    Ok(changed.map(report).collect())
}

fn uninstall_from_checkout(
    world: &World,
    checkout: &Path,
    request: &AgentsRequest,
) -> Result<AgentInstallReport> {
    let swarm = request.swarm.map(parse_swarm_id).transpose()?;
    let harnesses: Vec<&'static Harness> = match request.harness {
        Some(name) => vec![harness_by_name(name)?],
        None => harness::HARNESSES.iter().filter(|harness| harness.agents.is_some()).collect(),
    };
    let default = match &swarm {
        Some(swarm) => swarm.clone(),
        None => wanted_swarm(world, None).unwrap_or_else(|_| SwarmId::default_swarm()),
    };
    let excluded = match request.scope {
        InstallScope::Local => git::excluded_paths(checkout)?,
        InstallScope::User | InstallScope::Project => Vec::new(),
    };
    let mut plans = Vec::new();
    for harness in harnesses {
        let Ok(folder) = agents_folder(world, harness, checkout, request.scope) else { continue };
        let found = find::agent_files_written_by_thru(&folder)?.into_iter();
        let is_wanted =
            |found: &find::AgentFileWrittenByThru| swarm.as_ref().is_none_or(|swarm| *swarm == found.swarm);
        let mut files = Vec::new();
        for one in found.filter(is_wanted) {
            files.push((file_to_write_for_path(checkout, request.scope, &one.path)?, None));
        }
        let mut plan = plan_files(checkout, harness, files, request)?;
        let names = SwarmRole::ALL.map(|part| folder.join(format!("{}.md", default.agent_name(part))));
        // Also remove the exclude-list lines of agents whose files somebody has already deleted by hand.
        let is_wanted = |path: &&PathBuf| {
            let name = path.file_stem().and_then(|name| name.to_str()).and_then(swarm_of_agent_name);
            let is_of = name.is_some_and(|of| swarm.as_ref().is_none_or(|swarm| *swarm == of));
            is_of && path.parent() == Some(&folder)
        };
        let hidden = excluded.iter().filter(is_wanted).cloned();
        let gone = names
            .into_iter()
            .chain(hidden)
            .filter(|path| matches!(store::metadata_without_following(path), Ok(None)));
        plan.deleted_files.extend(gone);
        plans.push(plan);
    }
    carry_out_plans(world, checkout, plans, request, swarm.as_ref())
}

/// Lists the swarms that are installed in this project and for this user.
pub fn list_swarms_installed_here(world: &World) -> Result<Vec<InstalledSwarm>> {
    find::list_installed_swarms(world, &checkout_for_scope(world, InstallScope::User, false)?)
}

/// The planned changes to one harness's files.
struct HarnessFileChanges {
    harness: &'static Harness,
    file_steps: Vec<AgentFileChange>,
    kept_files: Vec<KeptFile>,
    /// Files that no longer exist, for example because an earlier removal was interrupted. The exclude list may still
    /// name them.
    deleted_files: Vec<PathBuf>,
}

struct AgentFileChange {
    changed_file: FileChangedByInstall,
    content_before: Option<Vec<u8>>,
    /// The new text, which is empty if the file is removed.
    content_after: String,
    needs_backup: bool,
}

/// Plans the change to each file. `files` contains each file's new text, or `None` for a file to remove.
fn plan_files(
    checkout: &Path,
    harness: &'static Harness,
    files: Vec<(PathBuf, Option<String>)>,
    request: &AgentsRequest,
) -> Result<HarnessFileChanges> {
    let mut plan = HarnessFileChanges {
        harness,
        file_steps: Vec::new(),
        kept_files: Vec::new(),
        deleted_files: Vec::new(),
    };
    let tracked = match request.scope {
        InstallScope::Local => {
            git::tracked_paths(checkout, &files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>())?
        }
        InstallScope::Project | InstallScope::User => Vec::new(),
    };
    for (path, text) in files {
        let content_before = read_settings_file(&path)?;
        let old = content_before.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let written = content_before.as_ref().map(|_| agents::file_author(&old));
        let is_same = text.as_deref() == Some(&*old);
        let why = match written {
            Some(FileAuthor::WrittenByOthers) => Some(FOREIGN_AGENT_FILE_HINT),
            Some(FileAuthor::Changed(_)) if !request.force && !is_same => Some(CHANGED_AGENT_FILE_HINT),
            Some(_) if !is_same && tracked.contains(&path) => Some(TRACKED_AGENT_FILE_HINT),
            _ => None,
        };
        if let Some(why) = why {
            plan.kept_files.push(KeptFile { path, why });
            continue;
        }
        let change = match (&content_before, &text) {
            (None, None) => continue,
            (None, Some(_)) => FileChange::Created,
            (Some(_), None) => FileChange::Removed,
            (Some(_), Some(_)) if is_same => FileChange::Unchanged,
            (Some(_), Some(_)) => FileChange::Changed,
        };
        let needs_backup = matches!(written, Some(FileAuthor::Changed(_)));
        let content_after = text.unwrap_or_default();
        let diff = unified_diff(&old, &content_after);
        let changed_file = FileChangedByInstall { path, change, events: Vec::new(), backup: None, diff };
        plan.file_steps.push(AgentFileChange { changed_file, content_before, content_after, needs_backup });
    }
    Ok(plan)
}

fn carry_out_plans(
    world: &World,
    checkout: &Path,
    mut plans: Vec<HarnessFileChanges>,
    request: &AgentsRequest,
    swarm: Option<&SwarmId>,
) -> Result<AgentInstallReport> {
    let is_written = request.mode == WriteMode::Write;
    let mut notes = Vec::new();
    if is_written {
        for step in plans.iter_mut().flat_map(|plan| &mut plan.file_steps) {
            write_step(world, checkout, request.scope, step)?;
        }
    }
    if let Some(list) = exclude_list_change(checkout, &plans, request)? {
        if is_written {
            list.write()?;
        } else {
            notes.push(format!("{}: this git exclude list would be changed", list.file.display()));
        }
    }
    if is_written {
        plans.iter().for_each(|plan| remove_empty_folders(world, plan, request.scope));
    }
    let harnesses = plans.into_iter().map(|plan| HarnessAgentFilesReport {
        harness: plan.harness.name,
        files: plan.file_steps.into_iter().map(|step| step.changed_file).collect(),
        kept_files: plan.kept_files,
    });
    Ok(AgentInstallReport {
        swarm: swarm.map(ToString::to_string),
        scope: request.scope,
        written: is_written,
        harnesses: harnesses.collect(),
        notes,
    })
}

fn write_step(world: &World, checkout: &Path, scope: InstallScope, step: &mut AgentFileChange) -> Result<()> {
    let AgentFileChange { changed_file, content_before, content_after, needs_backup } = step;
    if changed_file.change == FileChange::Unchanged {
        return Ok(());
    }
    if let Some(content_before) = content_before.as_deref().filter(|_| *needs_backup) {
        changed_file.backup = back_up_file(world, &changed_file.path, content_before)?;
    }
    let (dir, name) = open_folder(world, checkout, scope, &changed_file.path)?;
    let done = match (changed_file.change, content_before.as_deref()) {
        (FileChange::Removed, Some(content_before)) => dir.remove_if_unchanged(&name, content_before)?,
        (_, content_before) => dir.replace_if_unchanged(&name, content_before, content_after.as_bytes())?,
    };
    match done {
        ReplaceOutcome::Done => Ok(()),
        _ => Err(Error::Busy {
            what: format!("{}: another program changed it just now", changed_file.path.display()),
            hint: "run the command again".into(),
        }),
    }
}

/// Returns the change to the exclude list. Files in the local scope are hidden from git in this clone.
fn exclude_list_change(
    checkout: &Path,
    plans: &[HarnessFileChanges],
    request: &AgentsRequest,
) -> Result<Option<git::ExcludeListChange>> {
    let steps = || plans.iter().flat_map(|plan| &plan.file_steps);
    let paths = |is: &dyn Fn(&FileChange) -> bool| -> Vec<PathBuf> {
        steps()
            .filter(|step| is(&step.changed_file.change))
            .map(|step| step.changed_file.path.clone())
            .collect()
    };
    let gone = plans.iter().flat_map(|plan| plan.deleted_files.iter().cloned());
    let removed: Vec<PathBuf> =
        paths(&|change| *change == FileChange::Removed).into_iter().chain(gone).collect();
    let present = paths(&|change| *change != FileChange::Removed);
    match request.scope {
        InstallScope::User => Ok(None),
        InstallScope::Local if !present.is_empty() => git::add_to_exclude_list(checkout, &present),
        // Shared files must be visible to git, even if an earlier local installation hid them.
        InstallScope::Project if !present.is_empty() => git::remove_from_exclude_list(checkout, &present),
        InstallScope::Local if !removed.is_empty() => {
            // All worktrees share one exclude list. If another worktree has one of thru's files at a path, keep the
            // line for that path.
            let others = git::list_worktrees(checkout);
            let is_ours = |path: &Path| {
                let text = read_settings_file(path).ok().flatten();
                let text = text.as_deref().map(String::from_utf8_lossy);
                text.is_some_and(|text| !matches!(agents::file_author(&text), FileAuthor::WrittenByOthers))
            };
            let is_elsewhere = |path: &PathBuf| {
                let inside = path.strip_prefix(checkout).ok();
                inside.is_some_and(|inside| others.iter().skip(1).any(|other| is_ours(&other.join(inside))))
            };
            let free: Vec<PathBuf> = removed.into_iter().filter(|path| !is_elsewhere(path)).collect();
            git::remove_from_exclude_list(checkout, &free)
        }
        _ => Ok(None),
    }
}

/// Removes the folders that thru may have created, if they are empty.
fn remove_empty_folders(world: &World, plan: &HarnessFileChanges, scope: InstallScope) {
    let removed = plan.file_steps.iter().find(|step| step.changed_file.change == FileChange::Removed);
    let Some(folder) = removed.and_then(|step| step.changed_file.path.parent()) else { return };
    let _ = std::fs::remove_dir(folder);
    if let Some(above) = folder.parent() {
        remove_harness_folder(world, scope, above);
    }
}

fn harness_by_name(name: &str) -> Result<&'static Harness> {
    let harness = harness::harness_by_name(name).ok_or_else(|| Error::Usage {
        what: format!("unknown harness `{name}`"),
        hint: "`thru harness list` shows the known harnesses".into(),
    })?;
    match harness.agents {
        Some(_) => Ok(harness),
        None => Err(Error::Refused {
            what: format!("{} does not read sub-agents from files", harness.title),
            hint:
                "without --harness, `thru swarm install` uses every harness that reads sub-agents from files"
                    .into(),
        }),
    }
}

fn harnesses_in_use(world: &World, checkout: &Path) -> Result<Vec<&'static Harness>> {
    let mut found = places::harnesses_in_use(world, checkout);
    found.retain(|harness| harness.agents.is_some());
    match found.is_empty() {
        false => Ok(found),
        true => Err(Error::Absent {
            what: "no harness with sub-agents is in use here".into(),
            hint: "name one with --harness; `thru harness list` shows the harnesses".into(),
        }),
    }
}

pub(super) fn parse_swarm_id(text: &str) -> Result<SwarmId> {
    SwarmId::new(text).map_err(|bad| Error::Usage {
        what: format!("`{}`: {bad}", model::render::one_line(text, 60)),
        hint: "for example --swarm mega".into(),
    })
}

/// Returns the swarm called `named`, or else the swarm that the settings name.
pub fn wanted_swarm(world: &World, named: Option<&str>) -> Result<SwarmId> {
    match named {
        Some(named) => parse_swarm_id(named),
        None => parse_swarm_id(settings::settings_here(world).settings().swarm_id.trim()),
    }
}

fn checkout_for_scope(world: &World, scope: InstallScope, is_install: bool) -> Result<PathBuf> {
    let root = match world.find_root() {
        Ok(FoundRoot::Marked { root, .. } | FoundRoot::Unmarked(root)) => root,
        // A project is not needed, because the user's own agents do not belong to one.
        Err(Error::Refused { .. }) if scope == InstallScope::User => {
            return Ok(world.require_cwd()?.to_owned());
        }
        Err(error) => return Err(error),
    };
    if scope != InstallScope::User && is_install {
        world.refuse_unfit_root(&root)?;
    }
    Ok(root.checkout)
}

/// Returns the folder in which a harness looks for agents.
pub(super) fn agents_folder(
    world: &World,
    harness: &Harness,
    checkout: &Path,
    scope: InstallScope,
) -> Result<PathBuf> {
    let Some(AgentFiles { folder, .. }) = harness.agents else {
        return Err(Error::Refused { what: format!("{} has no agents", harness.title), hint: String::new() });
    };
    match scope {
        InstallScope::Local | InstallScope::Project => Ok(checkout.join(harness.folder).join(folder)),
        InstallScope::User => {
            user_folder(world, harness).map(|home| home.join(folder)).ok_or_else(|| Error::Refused {
                what: "HOME is not set, so there is no folder for your agents".into(),
                hint: "set HOME to your home folder".into(),
            })
        }
    }
}

/// Returns the command with which agents call thru: its path, or just its name if the file is shared with other
/// people.
pub(super) fn thru_command_for_agents(world: &World, scope: InstallScope) -> Result<String> {
    match scope {
        InstallScope::Project => Ok(PROGRAM_NAME.to_owned()),
        _ if !world.program_path.is_absolute() => Err(Error::Refused {
            what: "thru cannot determine its own path, so agents would be unable to call thru".into(),
            hint: "run thru by its full path, or use --project, which looks for thru on PATH".into(),
        }),
        _ => Ok(quote_shell_word(&world.program_path.to_string_lossy())),
    }
}
