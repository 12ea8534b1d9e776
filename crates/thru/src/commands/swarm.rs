mod status;

use clap::Subcommand;
use ops::{Result, World};

use crate::output::Format;

/// Several agents at once: what each of them did
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Args),
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Status(args) => status::run(world, args, format),
    }
}
