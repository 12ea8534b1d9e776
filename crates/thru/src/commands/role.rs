mod bind;
mod list;
mod unbind;

use ops::features::roles::RoleSource;
use ops::{Result, World};

use crate::output::{self, OutputFormat, WARN};

/// Bind this session to a role, and list the roles
///
/// A role is a named agent with a context file, `<role>.context.md` (see `thru context schema`), and a lifecycle.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Bind(bind::Args),
    Unbind(unbind::Args),
    List(list::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Bind(args) => bind::run(world, args, format),
        Command::Unbind(args) => unbind::run(world, args, format),
        Command::List(list::Args {}) => list::run(world, format),
    }
}

/// The role that a command applies to.
#[derive(Debug, clap::Args)]
pub struct RoleArg {
    /// The role [default: the role of this session]
    role: Option<String>,
    /// Set the role with an option instead of an argument
    #[arg(long = "role", value_name = "ROLE", conflicts_with = "role")]
    named: Option<String>,
}

impl RoleArg {
    pub fn name(&self) -> Option<&str> {
        self.role.as_deref().or(self.named.as_deref())
    }
}

/// Prints a warning if the role is uncertain.
pub fn print_role_warning(source: &RoleSource) {
    if let Some(doubt) = source.uncertainty_warning() {
        output::print_message(format_args!("{WARN}note:{WARN:#} {doubt}"));
    }
}

fn print_guess_note() {
    output::print_message(format_args!("{WARN}note:{WARN:#} assuming the last active session here"));
}
