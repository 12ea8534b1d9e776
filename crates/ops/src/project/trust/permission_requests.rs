//! Lists the prompts and commands in a store, so that the user can look at them before trusting it.

use model::consent::quote_command;
use model::gate::ExpectedOutput;
use model::loops::LoopStatus;
use model::render::show_hidden_characters;
use serde::Serialize;
use store::{ConsentKind, RunFolder, layout};

use crate::World;
use crate::features::outputs;
use crate::project::consent::{is_launch_allowed, is_stage_allowed, is_started_here};
use crate::project::{Project, settings};

/// A loop, a command or a stage that needs the user's permission.
#[derive(Clone, Debug, Serialize)]
pub struct PermissionRequest {
    pub kind: ConsentKind,
    pub id: String,
    /// The prompt, if this is a loop. Control characters are escaped in this and all other fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_prompt: Option<String>,
    /// The commands, quoted for a shell.
    pub commands: Vec<String>,
    /// Whether the user has already given the permission on this machine.
    #[serde(rename = "allowed")]
    pub is_given: bool,
    /// The command that shows the whole content and asks the user whether to allow it.
    #[serde(rename = "adopt")]
    pub adopt_command: String,
}

/// Returns the permission requests for loops, for the commands in runs, and for the stages in the project's settings.
/// Records that cannot be read are left out, because nothing in them can run.
pub(super) fn all_permission_requests(world: &World, project: &Project) -> Vec<PermissionRequest> {
    [requests_of_loops(project), requests_of_runs(world, project), requests_of_stages(world, project)]
        .concat()
}

fn requests_of_loops(project: &Project) -> Vec<PermissionRequest> {
    let store = &project.store;
    let ids = store.loop_ids().unwrap_or_default();
    let states = ids.iter().filter_map(|id| Some(store.read_loop(id).ok()?.loop_state));
    states
        .filter(|state| state.status == LoopStatus::Active)
        .map(|state| PermissionRequest {
            kind: ConsentKind::Loop,
            loop_prompt: Some(show_hidden_characters(&state.prompt)),
            commands: state.validators.iter().map(|command| show_hidden_characters(command)).collect(),
            is_given: is_started_here(store, &state),
            adopt_command: format!("thru loop adopt {}", state.id),
            id: state.id,
        })
        .collect()
}

fn requests_of_runs(world: &World, project: &Project) -> Vec<PermissionRequest> {
    let Project { root, store, .. } = project;
    let names = store.run_names().unwrap_or_default();
    let folder = |name: &String| format!("{}/{}/{name}", layout::STORE_FOLDER, layout::OUTPUTS_FOLDER);
    let mut runs: Vec<RunFolder> =
        names.iter().filter_map(|name| RunFolder::open(&root.path, &folder(name)).ok()).collect();
    // The live run can also be in another folder of the project, because an orchestrator can choose any folder.
    if let Some(live) = outputs::live_run_of_project(world, project)
        && runs.iter().all(|run| run.path() != live.path())
    {
        runs.push(live);
    }
    let mut wants = Vec::new();
    for run in &runs {
        for list in run.read_all_lists() {
            let launched: Vec<&ExpectedOutput> =
                list.outputs.iter().filter(|o| !o.launch.is_empty()).collect();
            if launched.is_empty() {
                continue;
            }
            let id = run.path().strip_prefix(&root.path).unwrap_or(run.path());
            wants.push(PermissionRequest {
                kind: ConsentKind::StageRun,
                id: show_hidden_characters(&id.to_string_lossy()),
                loop_prompt: None,
                commands: launched.iter().map(|output| quote_command(&output.launch)).collect(),
                is_given: launched.iter().all(|output| is_launch_allowed(store, root, run, output)),
                adopt_command: format!(
                    "thru gate run --stage {} --adopt",
                    show_hidden_characters(&list.stage)
                ),
            });
        }
    }
    wants
}

fn requests_of_stages(world: &World, project: &Project) -> Vec<PermissionRequest> {
    let own = world.user_settings_file().map(|path| path.display().to_string());
    let stages = settings::resolve_settings(world, Some(&project.store)).stages.into_iter();
    let of_project =
        stages.filter(|stage| own.as_ref() != Some(&stage.source) && stage.unusable_reason.is_none());
    of_project
        .filter_map(|stage| {
            let outputs = stage.expected_outputs();
            let launched = outputs.iter().filter(|output| !output.launch.is_empty());
            let mut commands: Vec<String> = launched.map(|output| quote_command(&output.launch)).collect();
            commands.dedup();
            (!commands.is_empty()).then(|| PermissionRequest {
                kind: ConsentKind::StageDefinition,
                loop_prompt: None,
                commands,
                is_given: is_stage_allowed(world, &project.store, &stage),
                adopt_command: format!("thru gate run --stage {} --adopt", stage.name),
                id: stage.name,
            })
        })
        .collect()
}
