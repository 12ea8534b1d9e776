use clap::builder::PossibleValuesParser;
use ops::ErrorKind;
use ops::Mode;
use ops::Result;
use ops::World;
use ops::setup::install::{Failed, FileChange, InstallReport, Scope, Task};

use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

/// Install hooks and commands into a harness's settings
///
/// Nothing of yours is changed: comments, order, indentation and other tools' hooks stay byte for byte. Running it
/// again changes nothing, and `thru uninstall` restores the original bytes. A backup is kept. Without a flag, the
/// file that is not in git is used.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    what: What,
}

/// Remove our hooks and commands from a harness's settings
///
/// Removes only ours; your own changes stay.
#[derive(Debug, clap::Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    what: What,
}

#[derive(Debug, clap::Args)]
struct What {
    /// The harness
    #[arg(value_parser = PossibleValuesParser::new(ops::setup::harnesses::wirable()))]
    harness: String,
    /// Your own settings, for every project
    #[arg(long, group = "scope")]
    user: bool,
    /// The project's settings, which are in git: hooks find `thru` on PATH and do nothing where it is not installed
    #[arg(long, group = "scope")]
    project: bool,
    /// Your settings for this project, which are not in git
    #[arg(long, group = "scope")]
    local: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    go(world, &args.what, Task::Install, format)
}

pub fn undo(world: &World, args: &UninstallArgs, format: Format) -> Result<u8> {
    go(world, &args.what, Task::Uninstall, format)
}

fn go(world: &World, what: &What, task: Task, format: Format) -> Result<u8> {
    let mode = if what.dry_run { Mode::DryRun } else { Mode::Write };
    let scope = match (what.user, what.project, what.local) {
        (true, _, _) => Some(Scope::User),
        (_, true, _) => Some(Scope::Project),
        (_, _, true) => Some(Scope::Local),
        _ => None,
    };
    let report = ops::setup::install::by_name(world, &what.harness, scope, task, mode)?;
    match format {
        Format::Json => output::json(&report),
        Format::Text => {
            print(&report);
            if mode == Mode::DryRun {
                show_diffs(&report);
            }
        }
    }
    Ok(if report.failed.is_empty() { 0 } else { output::exit_code(ErrorKind::Damaged) })
}

/// Prints one line for each file that changed.
pub fn print(report: &InstallReport) {
    let InstallReport { harness, files, notes, .. } = report;
    let changed: Vec<_> = files.iter().filter(|file| file.change != FileChange::Unchanged).collect();
    if changed.is_empty() && report.failed.is_empty() {
        output::line(format_args!("{BOLD}{harness}{BOLD:#}: nothing to change"));
    }
    for file in changed {
        let word = match file.change {
            FileChange::Created => "created",
            FileChange::Changed => "changed",
            FileChange::Removed => "removed",
            FileChange::Unchanged => "unchanged",
        };
        let would = if report.written { "" } else { "would be " };
        let events =
            if file.events.is_empty() { String::new() } else { format!(" ({} hooks)", file.events.len()) };
        output::line(format_args!(
            "{BOLD}{harness}{BOLD:#} {GOOD}{would}{word}{GOOD:#} {}{events}",
            file.path.display()
        ));
        if let Some(backup) = &file.backup {
            output::line(format_args!("{DIM}  backup: {}{DIM:#}", backup.display()));
        }
    }
    for Failed { error, .. } in &report.failed {
        output::talk(format_args!("{BAD}error:{BAD:#} {error}"));
        output::talk("hint:  fix that file, then run this again; our hooks in other files were removed");
    }
    for note in notes {
        output::talk(format_args!("{WARN}note:{WARN:#} {note}"));
    }
}

fn show_diffs(report: &InstallReport) {
    output::talk(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    for file in report.files.iter().filter(|file| !file.diff.is_empty()) {
        output::line(format_args!("\n--- {0}\n+++ {0}\n{1}", file.path.display(), file.diff.trim_end()));
    }
}
