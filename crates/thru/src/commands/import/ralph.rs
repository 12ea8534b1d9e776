use std::path::PathBuf;

use ops::features::loops::ralph::{self, RalphImportReport};
use ops::{Result, World, WriteMode};

use crate::output::{self, BOLD, DIM, GOOD, OutputFormat};

/// Import the ralph plugin's loop as a paused loop; `thru loop adopt` and `thru loop resume` continue it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plugin's file [default: .claude/ralph-loop.local.md]
    file: Option<PathBuf>,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let report = ralph::import_ralph_loop(world, args.file.as_deref(), mode)?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_ralph(&report, mode),
    }
    Ok(0)
}

fn print_ralph(report: &RalphImportReport, mode: WriteMode) {
    let RalphImportReport { file, shown_loop, already_imported, command_to_resume, .. } = report;
    let file = file.display();
    if *already_imported {
        output::print_line(format_args!("{file} was already imported as {BOLD}{}{BOLD:#}", shown_loop.id));
    } else if mode == WriteMode::DryRun {
        output::print_line(format_args!(
            "{file} would become a paused loop: iteration {} of {}, prompt of {} bytes",
            shown_loop.iteration,
            if shown_loop.max_iterations == 0 {
                "any number".to_owned()
            } else {
                shown_loop.max_iterations.to_string()
            },
            shown_loop.prompt.len()
        ));
        output::print_message(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    } else {
        output::print_line(format_args!(
            "{GOOD}Imported{GOOD:#} {file} as {BOLD}{}{BOLD:#}, paused",
            shown_loop.id
        ));
        output::print_line(format_args!(
            "Next: switch off the ralph plugin, then run `thru loop adopt {}` and `{command_to_resume}`",
            shown_loop.id
        ));
    }
}
