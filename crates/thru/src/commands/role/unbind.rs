use ops::features::roles::{self, UnboundRole};
use ops::{Result, World};

use super::print_guess_note;
use crate::output::{self, BOLD, OutputFormat, WARN};

/// Remove the role from a session; the role's file and lifecycle stay
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Unbind only sessions with this role; without --session, unbind all such sessions
    role: Option<String>,
    /// Use this session [default: the current session]; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    if let Some(role) = &args.role {
        let unbound = roles::unbind_role(world, role, args.session.as_deref())?;
        match format {
            OutputFormat::Json => output::print_json(&unbound),
            OutputFormat::Text => unbound.iter().for_each(print_unbound),
        }
        return Ok(0);
    }
    let unbound = roles::unbind_session(world, args.session.as_deref())?;
    match format {
        OutputFormat::Json => output::print_json(&unbound),
        OutputFormat::Text => print_unbound(&unbound),
    }
    Ok(0)
}

fn print_unbound(UnboundRole { session, is_guessed_session, role, variable }: &UnboundRole) {
    if *is_guessed_session {
        print_guess_note();
    }
    match role {
        Some(role) => {
            output::print_line(format_args!("Session {session} no longer has the role {BOLD}{role}{BOLD:#}"));
        }
        None => output::print_line(format_args!("Session {session} has no role; nothing to change")),
    }
    if let Some(variable) = variable {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} ${variable} is set, so the session will get its role again"
        ));
    }
}
