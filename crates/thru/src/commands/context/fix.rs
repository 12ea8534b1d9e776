use std::path::PathBuf;

use ops::features::roles::context::{self, Mended};
use ops::{Mode, Result, World};

use super::validate::print_checked;
use crate::output::{self, BOLD, DIM, Format};

/// Mend what needs no thought: the dash, the labels, the names of headings
///
/// Shows the diff and keeps a backup; everything else stays byte for byte. Exit code 1 when the file is not valid
/// afterwards either.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The context file, or the role it is of
    file: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Write };
    let mended = context::fix(world, &args.file, mode)?;
    match format {
        Format::Json => output::json(&mended),
        Format::Text => print_mended(&mended),
    }
    Ok(u8::from(!mended.check.valid))
}

fn print_mended(mended: &Mended) {
    let file = &mended.file;
    match (mended.lines.is_empty(), mended.written) {
        (true, _) => output::line(format_args!("{BOLD}{file}{BOLD:#}: nothing to mend")),
        (false, written) => {
            output::line(format_args!("--- {file}\n+++ {file}\n{}", mended.diff.trim_end()));
            if !written {
                output::talk(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
            }
        }
    }
    if let Some(backup) = &mended.backup {
        output::talk(format_args!("{DIM}backup: {}{DIM:#}", backup.display()));
    }
    print_checked(&mended.check);
}
