mod list;
mod show;

use clap::builder::PossibleValuesParser;
use ops::setup::harnesses;
use ops::{Result, World};

use crate::output::OutputFormat;

/// List and show the supported harnesses
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the harnesses, and what each one does and does not report
    List,
    /// Show one harness: what its events mean, what it cannot do, and how it calls thru
    Show {
        /// The harness
        #[arg(value_parser = PossibleValuesParser::new(harnesses::installable_harnesses()))]
        harness: String,
    },
}

pub fn run(_: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::List => list::run(format),
        Command::Show { harness } => show::run(harness, format)?,
    }
    Ok(0)
}
