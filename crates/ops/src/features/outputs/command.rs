//! `thru gate command`: names the command that writes an output of an existing run. `thru gate expect` would begin a new
//! run, in which the outputs that are already valid do not count.

use std::path::{Path, PathBuf};

use model::gate::agent_role_in_output_file_name;
use serde::Serialize;

use super::seal::{find_expected_output, unknown_output_error};
use super::{GateContext, commands_for_run, require_trust, worker};
use crate::project::consent::allow_launches;
use crate::{Result, World};

#[derive(Clone, Debug, Serialize)]
pub struct OutputCommandReport {
    pub path: PathBuf,
    pub stage: String,
    pub launch: Vec<String>,
    /// The command that launches it.
    pub next: String,
}

/// Sets the command that `thru gate run` launches for an output. An output of the live run can be given by name. An
/// output of any other run must be given by its path. Whoever runs this command chose the launch, so it is allowed.
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
    expected.set_launch(i, launch, prompt.as_deref());
    allow_launches(&place.store, &place.root, &run, [&expected.outputs[i]].into_iter(), world.now)?;
    run.write_expected(&expected)?;
    worker::record_calling_agent_works_on_run(world, &place, &run);
    Ok(OutputCommandReport {
        path: run.path().join(&name),
        next: commands_for_run(&place, &run, &expected.stage).run(&[]),
        stage: expected.stage,
        launch: launch.to_vec(),
    })
}
