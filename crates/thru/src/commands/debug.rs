mod hook;

use ops::{Result, World};

use crate::output::OutputFormat;

/// Explain, step by step, how thru handles an event
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Hook(hook::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Hook(args) => hook::run(world, args, format),
    }
}
