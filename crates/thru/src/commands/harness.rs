use ops::Result;
use ops::World;

use crate::output::{self, BOLD, DIM, Format};

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
}

pub fn run(_: &World, args: &Args, format: Format) -> Result<u8> {
    let Command::List = args.command;
    let rows = ops::setup::harnesses::list();
    match format {
        Format::Json => output::json(&rows),
        Format::Text => {
            for row in &rows {
                output::line(format_args!("{BOLD}{}{BOLD:#} ({})", row.title, row.name));
                let events: Vec<String> =
                    row.events.iter().map(|e| format!("{} ({})", e.neutral, e.event)).collect();
                output::line(format_args!("  tells     {}", events.join(", ")));
                for missing in &row.missing {
                    output::line(format_args!("  {DIM}gap{DIM:#}       {missing}"));
                }
            }
        }
    }
    Ok(0)
}
