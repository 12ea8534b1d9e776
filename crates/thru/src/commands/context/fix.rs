use std::path::PathBuf;

use ops::features::roles::context::{self, ContextFileFixReport};
use ops::{Result, World, WriteMode};

use super::validate::print_checked;
use crate::output::{self, BOLD, DIM, OutputFormat};

/// Fix formatting errors in a context file: dashes, labels, heading names
///
/// Shows the diff and keeps a backup. Everything else stays the same, byte for byte. The exit code is 1 if the file is
/// still not valid afterwards.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The context file, or the name of its role
    file: PathBuf,
    /// Show what would change, but change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let mended = context::fix_file(world, &args.file, mode)?;
    match format {
        OutputFormat::Json => output::print_json(&mended),
        OutputFormat::Text => print_fix_report(&mended),
    }
    Ok(u8::from(!mended.check.valid))
}

fn print_fix_report(mended: &ContextFileFixReport) {
    let file = &mended.file;
    match (mended.lines.is_empty(), mended.written) {
        (true, _) => output::print_line(format_args!("{BOLD}{file}{BOLD:#}: nothing to fix")),
        (false, written) => {
            output::print_line(format_args!("--- {file}\n+++ {file}\n{}", mended.diff.trim_end()));
            if !written {
                output::print_message(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
            }
        }
    }
    if let Some(backup) = &mended.backup {
        output::print_message(format_args!("{DIM}backup: {}{DIM:#}", backup.display()));
    }
    print_checked(&mended.check);
}
