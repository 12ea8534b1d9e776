use ops::features::workstreams::resume;
use ops::{Result, World};

use crate::output::{self, BOLD, OutputFormat, WARN};

pub fn run(world: &World, id: &str, session: Option<&str>, format: OutputFormat) -> Result<u8> {
    let using = resume::use_workstream(world, id, session)?;
    match format {
        OutputFormat::Json => output::print_json(&using),
        OutputFormat::Text => {
            if using.is_guessed_session {
                output::print_message(format_args!(
                    "{WARN}note:{WARN:#} assuming the last active session here"
                ));
            }
            let (id, session) = (&using.project_id, &using.session);
            output::print_line(format_args!("Session {session} now works on {BOLD}{id}{BOLD:#}"));
            output::print_note_if_hooks_do_nothing(world, "The session is told nothing about the workstream");
        }
    }
    Ok(0)
}
