use ops::features::evidence::archive::{self, ArchiveReport};
use ops::{Result, World, WriteMode};

use super::count_entries;
use crate::output::{self, BOLD, OutputFormat};

/// Move older entries from a task's bundle to an archive next to it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task [default: all tasks]
    id: Option<String>,
    /// Keep this many of the newest entries
    #[arg(long, value_name = "N", default_value_t = 20)]
    keep: usize,
    /// Only show what would be moved
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let report = archive::archive_old_entries(world, args.id.as_deref(), args.keep, mode)?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_archived_evidence(&report, args.keep),
    }
    Ok(0)
}

fn print_archived_evidence(report: &ArchiveReport, keep: usize) {
    for task in &report.tasks {
        let how = if report.written { "moved" } else { "would be moved" };
        let entries = count_entries(task.archived);
        output::print_line(format_args!(
            "{BOLD}{}{BOLD:#}: {entries} {how} to {}, {} left",
            task.task, task.file, task.kept
        ));
    }
    if report.tasks.is_empty() {
        output::print_message(format_args!("No task has more than {}.", count_entries(keep)));
    }
}
