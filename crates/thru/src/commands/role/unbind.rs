use ops::features::roles::{self, Unbound};
use ops::{Result, World};

use super::tell_guess;
use crate::output::{self, BOLD, Format, WARN};

/// Say that a session works in no role any more; the role's file and lifecycle stay
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only if it works in this role; without --session every session that does
    role: Option<String>,
    /// Which session, instead of the one around us; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    if let Some(role) = &args.role {
        let unbound = roles::unbind_role(world, role, args.session.as_deref())?;
        match format {
            Format::Json => output::json(&unbound),
            Format::Text => unbound.iter().for_each(print_unbound),
        }
        return Ok(0);
    }
    let unbound = roles::unbind(world, args.session.as_deref())?;
    match format {
        Format::Json => output::json(&unbound),
        Format::Text => print_unbound(&unbound),
    }
    Ok(0)
}

fn print_unbound(Unbound { session, guess, role, variable }: &Unbound) {
    if *guess {
        tell_guess();
    }
    match role {
        Some(role) => output::line(format_args!("Session {session} is no longer {BOLD}{role}{BOLD:#}")),
        None => output::line(format_args!("Session {session} has no role; nothing to change")),
    }
    if let Some(variable) = variable {
        output::talk(format_args!(
            "{WARN}note:{WARN:#} ${variable} is set, and gives a session its role again"
        ));
    }
}
