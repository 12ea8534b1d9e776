use ops::features::roles::{self, BoundRole};
use ops::{Result, World};

use super::print_guess_note;
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Bind a session to a role: hooks then advance the role's lifecycle, and briefs use its context file
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the role; `thru role list` shows the existing roles
    role: String,
    /// Use this session [default: the current session]; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let bound = roles::bind_role(world, &args.role, args.session.as_deref())?;
    match format {
        OutputFormat::Json => output::print_json(&bound),
        OutputFormat::Text => print_bound_role(&bound, world),
    }
    Ok(0)
}

fn print_bound_role(
    BoundRole { role, session, is_guessed_session, file, missing_path, similar_role: near }: &BoundRole,
    world: &World,
) {
    if *is_guessed_session {
        print_guess_note();
    }
    output::print_line(format_args!("Session {session} {GOOD}now has{GOOD:#} the role {BOLD}{role}{BOLD:#}"));
    if let Some(file) = file {
        output::print_line(format_args!("{DIM}  context file: {file}{DIM:#}"));
    }
    if let Some(path) = missing_path {
        let near = near.as_ref().map_or(String::new(), |near| {
            format!("; did you mean {near}? `thru role bind {near}` uses that one")
        });
        output::print_message(format_args!("{WARN}note:{WARN:#} {role} has no context file yet{near}"));
        output::print_line(format_args!("Next: `thru context new {role}` creates {path}"));
    }
    output::print_note_if_hooks_do_nothing(world, "The session is told nothing about its role");
}
