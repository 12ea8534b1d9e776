mod add;
mod archive;
mod list;
mod run;
mod show;

use clap::Subcommand;
use model::evidence::ProofState;
use ops::features::evidence::show::TaskEvidenceLine;
use ops::{Result, World};

use crate::clock;
use crate::output::{BAD, DIM, GOOD, OutputFormat, TextStyle, WARN};

/// Manage evidence that tasks are done: observed test runs, reviews, diffs, approvals, notes
///
/// Only what thru observed itself proves that a task is done: a command that `evidence run` ran, or a test run in a
/// session with hooks. Such evidence is bound to the files that it covers, and becomes stale when they change.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Args),
    Add(Box<add::Args>),
    /// List the tasks that have evidence, with the result of each
    List,
    /// Show the evidence for a task
    Show {
        /// The task
        id: String,
        /// Show the archived entries instead
        #[arg(long)]
        archived: bool,
    },
    Archive(archive::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Run(args) => run::run(world, args, format),
        Command::Add(args) => add::run(world, args, format),
        Command::List => list::run(world, format),
        Command::Show { id, archived } => show::run(world, id, *archived, format),
        Command::Archive(args) => archive::run(world, args, format),
    }
}

/// Describes the evidence of a task for a person. The text ends with the time of its entry, which is shown in the local
/// time zone.
pub fn describe_evidence(line: &TaskEvidenceLine) -> String {
    let text = line.error.as_deref().unwrap_or(&line.text);
    match text.strip_suffix(&line.timestamp) {
        Some(before) if !line.timestamp.is_empty() => {
            format!("{before}{}", clock::local_date_and_time(&line.timestamp))
        }
        _ => text.to_owned(),
    }
}

pub fn proof_style(line: &TaskEvidenceLine) -> TextStyle {
    match line.proof {
        _ if line.error.is_some() => BAD,
        ProofState::Passed => GOOD,
        ProofState::Stale => WARN,
        ProofState::Failed => BAD,
        ProofState::None => DIM,
    }
}

fn count_entries(n: usize) -> String {
    if n == 1 { "1 entry".to_owned() } else { format!("{n} entries") }
}
