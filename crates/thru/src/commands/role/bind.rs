use ops::features::roles::{self, Bound};
use ops::{Result, World};

use super::tell_guess;
use crate::output::{self, BOLD, DIM, Format, GOOD, WARN};

/// Bind a session to a role: hooks then advance its lifecycle, and briefs include its context file
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the role is called; `thru role list` shows those there are
    role: String,
    /// Which session, instead of the one around us; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let bound = roles::bind(world, &args.role, args.session.as_deref())?;
    match format {
        Format::Json => output::json(&bound),
        Format::Text => print_bound(&bound),
    }
    Ok(0)
}

fn print_bound(Bound { role, session, guess, file, missing, near }: &Bound) {
    if *guess {
        tell_guess();
    }
    output::line(format_args!("Session {session} is {BOLD}{role}{BOLD:#} {GOOD}from now on{GOOD:#}"));
    if let Some(file) = file {
        output::line(format_args!("{DIM}  context file: {file}{DIM:#}"));
    }
    if let Some(path) = missing {
        let near = near.as_ref().map_or(String::new(), |near| {
            format!("; did you mean {near}? `thru role bind {near}` takes that one")
        });
        output::talk(format_args!("{WARN}note:{WARN:#} {role} has no context file yet{near}"));
        output::line(format_args!("Next: `thru context new {role}` makes it, {path}"));
    }
}
