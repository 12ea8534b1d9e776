//! `thru gate command`: names the command that writes an output of an existing run. `thru gate expect` would begin a new
//! run, in which the outputs that are already valid do not count.

use std::path::{Path, PathBuf};

use model::gate::{ExpectedOutput, agent_role_in_output_file_name};
use serde::Serialize;
use store::RunFolder;

use super::seal::{find_expected_output, unknown_output_error};
use super::{GateContext, commands_for_run, require_trust, worker};
use crate::project::consent::{allow_launches, is_launch_allowed};
use crate::{Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct OutputCommandReport {
    pub path: PathBuf,
    pub stage: String,
    pub launch: Vec<String>,
    /// Whether `thru gate run` may launch the command. If not, the user must look at its prompt first.
    #[serde(rename = "allowed")]
    pub is_allowed: bool,
    /// The command that launches it.
    pub next: String,
}

/// Sets the command that `thru gate run` launches for an output. An output of the live run can be given by name. An
/// output of any other run must be given by its path. Whoever runs this command chose the launch, so it is allowed, unless
/// the list adds something that the user may not have seen.
pub fn set_output_command(
    world: &World,
    file: &Path,
    launch: &[String],
    prompt: Option<&str>,
) -> Result<OutputCommandReport> {
    let place = GateContext::find_project(world)?;
    require_trust(&place)?;
    let unknown = || unknown_output_error(&place, file, "");
    let (run, name) = find_expected_output(world, &place, file)?.ok_or_else(unknown)?;
    let run = run.with_list_of_output(&name);
    let _lock = place.lock_run(&run, "gate command")?;
    let mut expected = place.read_expected(&run)?;
    let i = expected.outputs.iter().position(|output| output.file == name).ok_or_else(unknown)?;
    let role = agent_role_in_output_file_name(&name, &expected.stage);
    let prompt = prompt.map(|prompt| prompt.replace("{role}", role));
    let is_allowed = is_rest_of_request_known(&place, &run, &expected.outputs[i], prompt.as_deref());
    expected.set_launch(i, launch, prompt.as_deref());
    if is_allowed {
        allow_launches(&place.store, &place.root, &run, [&expected.outputs[i]].into_iter(), world.now)?;
    }
    run.write_expected(&expected)?;
    worker::record_calling_agent_works_on_run(world, &place, &run);
    Ok(OutputCommandReport {
        path: run.path().join(&name),
        next: commands_for_run(&place, &run, &expected.stage).run(if is_allowed {
            &[]
        } else {
            &["--adopt"]
        }),
        is_allowed,
        stage: expected.stage,
        launch: launch.to_vec(),
    })
}

/// Returns whether the user knows what a launch uses besides its command: the prompt, and the checkout in which the command
/// runs. Anybody may have written them into the list. The user knows them if they come from this command, or if an earlier
/// launch with them was allowed.
fn is_rest_of_request_known(
    place: &GateContext,
    run: &RunFolder,
    output: &ExpectedOutput,
    prompt: Option<&str>,
) -> bool {
    let was_allowed = !output.launch.is_empty() && is_launch_allowed(&place.store, &place.root, run, output);
    let is_prompt_known = prompt.is_some() || output.prompt.is_empty();
    let is_here = |checkout: &str| Path::new(checkout) == place.root.checkout;
    was_allowed || is_prompt_known && output.other_checkout().is_none_or(is_here)
}
