use std::path::PathBuf;

use clap::Subcommand;
use ops::Mode;
use ops::Result;
use ops::World;
use ops::features::loops::ralph::{self, RalphReport};
use ops::features::packets::Imported;
use ops::features::plan::import::Place;
use ops::setup::{factory, swarm};

use super::packet::tell_covered;
use crate::output::{self, BOLD, DIM, Format, GOOD};

/// Take over what another tool left; the original stays as it is
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The loop of the ralph plugin; it comes in paused, and `thru loop adopt` and `thru loop resume` go on with it
    Ralph {
        /// Its file, .claude/ralph-loop.local.md unless said otherwise
        file: Option<PathBuf>,
        /// Only show what would be written
        #[arg(long)]
        dry_run: bool,
    },
    /// Handoffs that Factory's own commands left, as packets
    Factory {
        /// A file or a folder; else .factory in the project and at home
        path: Option<PathBuf>,
        /// Only show what would be created
        #[arg(long)]
        dry_run: bool,
    },
    /// What opencode-swarm keeps in .swarm: plan.json, plan.md and its ledger, the decisions and patterns of context.md
    Swarm {
        /// Its folder, .swarm in the project unless said otherwise
        folder: Option<PathBuf>,
        /// Add the imported phases after the phases of the current plan
        #[arg(long)]
        append: bool,
        /// Replace the current plan with the imported one; the old plan stays in the ledger
        #[arg(long, conflicts_with = "append")]
        replace: bool,
        /// Only show what would be written
        #[arg(long)]
        dry_run: bool,
    },
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Ralph { file, dry_run } => {
            let mode = if *dry_run { Mode::DryRun } else { Mode::Write };
            let report = ralph::run(world, file.as_deref(), mode)?;
            match format {
                Format::Json => output::json(&report),
                Format::Text => print_ralph(&report, mode),
            }
        }
        Command::Factory { path, dry_run } => {
            let mode = if *dry_run { Mode::DryRun } else { Mode::Write };
            let report = factory::run(world, path.as_deref(), mode)?;
            match format {
                Format::Json => output::json(&report),
                Format::Text => print_factory(&report, mode),
            }
        }
        Command::Swarm { folder, append, replace, dry_run } => {
            let mode = if *dry_run { Mode::DryRun } else { Mode::Write };
            let place = match (append, replace) {
                (true, _) => Place::Append,
                (_, true) => Place::Replace,
                (false, false) => Place::Free,
            };
            let report = swarm::run(world, folder.as_deref(), place, mode)?;
            match format {
                Format::Json => output::json(&report),
                Format::Text => print_swarm(&report, mode),
            }
        }
    }
    Ok(0)
}

fn print_swarm(report: &swarm::SwarmReport, mode: Mode) {
    if let Some(plan) = &report.plan {
        super::plan::tell_import(plan, mode);
    }
    if let Some(decisions) = &report.decisions {
        super::decisions::tell_import(decisions, mode);
    }
    if mode == Mode::DryRun {
        output::talk(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    }
}

fn print_factory(report: &factory::FactoryReport, mode: Mode) {
    if report.imported.is_empty() {
        output::talk("No handoffs were found in .factory; name a file or a folder.");
    }
    for Imported { from, id, created, covered } in &report.imported {
        let how = match (*created, mode) {
            (true, _) => "became",
            (false, Mode::DryRun) => "would become",
            (false, Mode::Write) => "was imported before, as",
        };
        output::line(format_args!("{} {DIM}{how}{DIM:#} {BOLD}{id}{BOLD:#}", from.display()));
        if *covered {
            tell_covered();
        }
    }
    for command in &report.commands {
        output::talk(format_args!(
            "{DIM}{} is a command of yours; rename it, and `thru install droid` puts ours there{DIM:#}",
            command.display()
        ));
    }
}

fn print_ralph(report: &RalphReport, mode: Mode) {
    let RalphReport { file, shown, known, .. } = report;
    let file = file.display();
    if *known {
        output::line(format_args!("{file} was imported before, as {BOLD}{}{BOLD:#}", shown.id));
    } else if mode == Mode::DryRun {
        output::line(format_args!(
            "{file} would become a paused loop: iteration {} of {}, prompt of {} bytes",
            shown.iteration,
            if shown.max_iterations == 0 {
                "any number".to_owned()
            } else {
                shown.max_iterations.to_string()
            },
            shown.prompt.len()
        ));
        output::talk(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    } else {
        output::line(format_args!("{GOOD}Imported{GOOD:#} {file} as {BOLD}{}{BOLD:#}, paused", shown.id));
        output::line(format_args!(
            "Next: switch the ralph plugin off, then `thru loop adopt {0}` and `thru loop resume {0}`",
            shown.id
        ));
    }
}
