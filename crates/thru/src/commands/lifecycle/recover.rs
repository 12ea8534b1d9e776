use ops::features::roles::lifecycle;
use ops::{Result, World};

use crate::commands::role::{RoleArg, print_role_warning};
use crate::output::{self, BOLD, GOOD, OutputFormat};

/// Move a role back to active, from any state
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: RoleArg,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let moved = lifecycle::recover_role(world, args.which.name())?;
    match format {
        OutputFormat::Json => output::print_json(&moved),
        OutputFormat::Text => {
            print_role_warning(&moved.source);
            output::print_line(format_args!("{BOLD}{}{BOLD:#} is {GOOD}{}{GOOD:#}", moved.role, moved.state));
        }
    }
    Ok(0)
}
