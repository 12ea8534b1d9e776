//! Refuses actions that only a person may take. An agent may be following instructions in another person's file, so
//! it must not grant trust or allow a command that came with the project.

use harness::process::{ProcessDescription, harness_of_process};
use rustix::process::getppid;

use crate::process::info;
use crate::{Error, Result, World};

/// How many ancestor processes are examined. Real process chains are shorter.
const MAX_PARENTS_EXAMINED: usize = 256;

/// Returns an error if a harness started this process. `what` says what is refused ("trust cannot be granted"), and
/// `command` is what the user should type instead.
///
/// The environment is checked first, and then every ancestor process. An agent can remove variables with `env -u`, but
/// it cannot remove its own process. The search goes beyond the terminal's session leader, because harnesses start
/// commands in separate sessions and terminals. This stops an agent that follows instructions in a file. It does not
/// stop a program run by the same user that deliberately detaches itself from its ancestors, but such a program could
/// write the record itself.
pub fn require_person(world: &World, what: &str, command: &str) -> Result<()> {
    let refused = |by: String| {
        Err(Error::Refused {
            what: format!("{what} from inside a harness (this was started by {by})"),
            hint: format!("run `{command}` yourself, in your own terminal"),
        })
    };
    if let Some(harness) = world.calling_harness() {
        return refused(harness.to_owned());
    }
    match harness_above() {
        Some((harness, pid)) => refused(format!("{harness}, process {pid}")),
        None => Ok(()),
    }
}

/// Returns whether a harness started this process, that is, whether an agent may be running it.
pub fn is_inside_harness(world: &World) -> bool {
    world.calling_harness().is_some() || harness_above().is_some()
}

/// Returns the nearest harness among the ancestor processes, and its process id.
fn harness_above() -> Option<(&'static str, i32)> {
    let mut pid = getppid()?.as_raw_nonzero().get();
    for _ in 0..MAX_PARENTS_EXAMINED {
        let (process, parent) = describe_process(pid)?;
        if let Some(harness) = harness_of_process(&process) {
            return Some((harness.name, pid));
        }
        pid = parent;
    }
    None
}

/// Describes a process and returns its parent's process id. Returns `None` if the process does not exist or cannot be
/// examined.
fn describe_process(pid: i32) -> Option<(ProcessDescription, i32)> {
    if pid <= 0 {
        return None;
    }
    let process = info::read_process_info(pid).ok()??;
    let program = info::executable_path(pid).unwrap_or_default();
    let program = program.to_string_lossy().trim_end_matches(" (deleted)").to_owned();
    let arguments = info::command_line_arguments(pid);
    Some((ProcessDescription { name: process.name, program, arguments }, process.parent_pid))
}
