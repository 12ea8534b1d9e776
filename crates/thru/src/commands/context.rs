mod fix;
mod new;
mod schema;
mod validate;

use ops::setup::init::HookInstallation;
use ops::{Result, World};

use crate::commands::{init, lifecycle, recover};
use crate::output::OutputFormat;

/// Manage the store (.agent/context) and the context files of roles
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

impl Args {
    pub fn creates_root(&self) -> bool {
        matches!(self.command, Command::Init(_))
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create only the marker and the folders, without changing any harness
    Init(init::RootArgs),
    Validate(validate::Args),
    Schema(schema::Args),
    New(new::Args),
    Fix(fix::Args),
    /// The same as `thru lifecycle`
    Lifecycle(lifecycle::Args),
    /// The same as `thru recover`
    Recover(recover::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Init(args) => init::create_root(world, args, HookInstallation::Skip, format),
        Command::Validate(args) => validate::run(world, args, format),
        Command::Schema(schema::Args {}) => Ok(schema::run(format)),
        Command::New(args) => new::run(world, args, format),
        Command::Fix(args) => fix::run(world, args, format),
        Command::Lifecycle(args) => lifecycle::run(world, args, format),
        Command::Recover(args) => recover::run(world, args, format),
    }
}
