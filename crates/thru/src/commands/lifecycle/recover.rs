use ops::features::roles::lifecycle;
use ops::{Result, World};

use crate::commands::role::{Which, tell_doubt};
use crate::output::{self, BOLD, Format, GOOD};

/// Bring a role back to active, from wherever it stands
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let moved = lifecycle::recover(world, args.which.name())?;
    match format {
        Format::Json => output::json(&moved),
        Format::Text => {
            tell_doubt(&moved.source);
            output::line(format_args!("{BOLD}{}{BOLD:#} is {GOOD}{}{GOOD:#}", moved.role, moved.state));
        }
    }
    Ok(0)
}
