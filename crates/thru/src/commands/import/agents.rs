use std::path::PathBuf;

use ops::features::roles::import::{self, ContextFileImportOutcome, ContextFilesImportReport, ImportedAgent};
use ops::{Result, World, WriteMode};

use crate::output::{self, DIM, GOOD, OutputFormat, WARN};

/// Import the context files of roles from session/agents
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder with the context files [default: session/agents in the project]
    folder: Option<PathBuf>,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let report = import::import_agents(world, args.folder.as_deref(), mode)?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report, mode),
    }
    Ok(0)
}

fn print_report(report: &ContextFilesImportReport, mode: WriteMode) {
    for ImportedAgent { role, file, outcome, errors } in &report.agents {
        let how = match (outcome, mode) {
            (ContextFileImportOutcome::Imported, WriteMode::Write) => {
                format!("{GOOD}imported{GOOD:#} as {file}")
            }
            (ContextFileImportOutcome::Imported, WriteMode::DryRun) => format!("would be imported as {file}"),
            (ContextFileImportOutcome::AlreadyImported, _) => format!("was already imported as {file}"),
            (ContextFileImportOutcome::OtherFileExists, _) => {
                format!("{WARN}left out{WARN:#}: {file} exists and differs")
            }
        };
        let wrong = if *errors > 0 {
            format!("  {WARN}{errors} errors, see `thru context validate {role}`{WARN:#}")
        } else {
            String::new()
        };
        output::print_line(format_args!("{role}: {how}{wrong}"));
    }
    for left in &report.left_out {
        output::print_message(format_args!("{DIM}left out: {left}{DIM:#}"));
    }
    if report.redacted {
        output::print_message("Secrets were redacted.");
    }
    if mode == WriteMode::DryRun {
        output::print_message(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    }
}
