use std::path::PathBuf;

use ops::features::roles::import::{self, AgentsReport, ImportedAgent, Outcome};
use ops::{Mode, Result, World};

use crate::output::{self, DIM, Format, GOOD, WARN};

/// Import the context files of roles from session/agents
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its folder [default: session/agents in the project]
    folder: Option<PathBuf>,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Write };
    let report = import::run(world, args.folder.as_deref(), mode)?;
    match format {
        Format::Json => output::json(&report),
        Format::Text => print(&report, mode),
    }
    Ok(0)
}

fn print(report: &AgentsReport, mode: Mode) {
    for ImportedAgent { role, file, outcome, errors } in &report.agents {
        let how = match (outcome, mode) {
            (Outcome::Imported, Mode::Write) => format!("{GOOD}imported{GOOD:#} as {file}"),
            (Outcome::Imported, Mode::DryRun) => format!("would be imported as {file}"),
            (Outcome::Same, _) => format!("was imported before, as {file}"),
            (Outcome::Exists, _) => format!("{WARN}left out{WARN:#}: {file} exists and differs"),
        };
        let wrong = if *errors > 0 {
            format!("  {WARN}{errors} errors, see `thru context validate`{WARN:#}")
        } else {
            String::new()
        };
        output::line(format_args!("{role}: {how}{wrong}"));
    }
    for left in &report.left_out {
        output::talk(format_args!("{DIM}left out: {left}{DIM:#}"));
    }
    if report.covered {
        output::talk("Secrets were redacted.");
    }
    if mode == Mode::DryRun {
        output::talk(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    }
}
