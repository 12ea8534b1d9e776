use std::path::PathBuf;

use ops::features::packets::ImportedPacket;
use ops::setup::factory;
use ops::{Result, World, WriteMode};

use crate::output::{self, BOLD, DIM, OutputFormat};

/// Import handoffs from Factory's own commands as packets
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file or a folder [default: .factory in the project and in your home folder]
    path: Option<PathBuf>,
    /// Only show what would be created
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let report = factory::import_factory_packets(world, args.path.as_deref(), mode)?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_factory(&report, mode),
    }
    Ok(0)
}

fn print_factory(report: &factory::FactoryImportReport, mode: WriteMode) {
    if report.imported.is_empty() {
        output::print_message("No handoffs were found in .factory; name a file or a folder.");
    }
    for ImportedPacket { from, id, already_imported: known, is_secret_redacted: covered, .. } in
        &report.imported
    {
        let how = match (*known, mode) {
            (true, _) => "was already imported as",
            (false, WriteMode::DryRun) => "would become",
            (false, WriteMode::Write) => "became",
        };
        output::print_line(format_args!("{} {DIM}{how}{DIM:#} {BOLD}{id}{BOLD:#}", from.display()));
        if *covered {
            output::print_redaction_note();
        }
    }
    for command in &report.commands {
        output::print_message(format_args!(
            "{DIM}{} is your own command; if you rename it, `thru install droid` installs ours{DIM:#}",
            command.display()
        ));
    }
}
