use ops::features::roles::lifecycle;
use ops::{Result, World};

use crate::output::{self, BOLD, OutputFormat};

/// Begin the lifecycle of a role; running this command again changes nothing
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the role
    role: String,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let begun = lifecycle::begin_lifecycle(world, &args.role)?;
    let word = if begun.created { "begins" } else { "has already begun" };
    let (role, state) = (&begun.role, &begun.state);
    match format {
        OutputFormat::Json => output::print_json(&begun),
        OutputFormat::Text => {
            output::print_line(format_args!("The lifecycle of {BOLD}{role}{BOLD:#} {word}: {state}"));
        }
    }
    Ok(0)
}
