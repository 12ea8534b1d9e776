mod list;
mod show;

use clap::builder::PossibleValuesParser;
use ops::setup::harnesses;
use ops::{Result, World};

use crate::output::Format;

/// The harnesses thru knows
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show what each one tells us, and what it does not
    List,
    /// Show one: what its events are to us, what it cannot do, and how it calls us
    Show {
        #[arg(value_parser = PossibleValuesParser::new(harnesses::wirable()))]
        harness: String,
    },
}

pub fn run(_: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::List => list::run(format),
        Command::Show { harness } => show::run(harness, format)?,
    }
    Ok(0)
}
