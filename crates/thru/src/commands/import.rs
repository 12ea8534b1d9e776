mod agents;
mod factory;
mod ralph;
mod swarm;

use ops::{Result, World};

use crate::output::OutputFormat;

/// Import the records of another tool; the originals stay unchanged
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Ralph(ralph::Args),
    Factory(factory::Args),
    Swarm(swarm::Args),
    Agents(agents::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Ralph(args) => ralph::run(world, args, format),
        Command::Factory(args) => factory::run(world, args, format),
        Command::Agents(args) => agents::run(world, args, format),
        Command::Swarm(args) => swarm::run(world, args, format),
    }
}
