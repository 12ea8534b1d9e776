use clap::builder::PossibleValuesParser;
use ops::Result;
use ops::World;
use ops::setup::harnesses::{self, EventRow};

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
    /// Show one: what its events are to us, what it cannot do, and how it calls us
    Show {
        #[arg(value_parser = PossibleValuesParser::new(harnesses::wirable()))]
        harness: String,
    },
}

pub fn run(_: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::List => list(format),
        Command::Show { harness } => show(harness, format)?,
    }
    Ok(0)
}

fn show(name: &str, format: Format) -> Result<()> {
    let shown = harnesses::show(name)?;
    if format == Format::Json {
        output::json(&shown);
        return Ok(());
    }
    let harnesses::Shown { row, calls_from, transcript, commands, context_cap, session_variable } = shown;
    output::line(format_args!("{BOLD}{}{BOLD:#} ({})", row.title, row.name));
    output::line(format_args!("  calls thru from  {calls_from}"));
    output::line(format_args!("  transcript       {transcript}"));
    output::line(format_args!("  context          at most {context_cap} characters at a time"));
    if let Some(variable) = session_variable {
        output::line(format_args!("  session          ${variable} in its shells"));
    }
    output::line(format_args!("  commands         {}", commands.join(", ")));
    let width = row.events.iter().map(|event| event.event.len()).max().unwrap_or(0);
    for EventRow { event, neutral } in &row.events {
        output::line(format_args!("  {DIM}event{DIM:#}  {event:width$}  {neutral}"));
    }
    for missing in &row.missing {
        output::line(format_args!("  {DIM}gap{DIM:#}    {missing}"));
    }
    Ok(())
}

fn list(format: Format) {
    let rows = harnesses::list();
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
}
