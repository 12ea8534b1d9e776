mod init;
mod pre_compact;
mod recover;
mod save;
mod status;

use ops::{Result, World};

use crate::output::OutputFormat;

/// Show and change the state of roles between compactions
///
/// active → saving → saved → compacting → recovering → active. Hooks change the state of a role automatically; these
/// commands are for the steps that a person or an agent takes. A step that is not allowed is refused (exit code 15),
/// and the message lists the allowed steps.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(init::Args),
    Save(save::Args),
    Status(status::Args),
    PreCompact(pre_compact::Args),
    Recover(recover::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Init(args) => init::run(world, args, format),
        Command::Save(args) => save::run(world, args, format),
        Command::Status(args) => status::run(world, args, format),
        Command::PreCompact(args) => pre_compact::run(world, args, format),
        Command::Recover(args) => recover::run(world, args, format),
    }
}
