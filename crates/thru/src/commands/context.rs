use ops::init::Hooks;
use ops::{Result, World};

use crate::commands::init;
use crate::output::Format;

/// Work on the store itself, .agent/context
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make the marker and the folders only; no harness is touched
    Init(init::Args),
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Init(args) => init::make(world, args, Hooks::Leave, format),
    }
}
