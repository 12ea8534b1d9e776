mod add;
mod show;

use clap::Subcommand;
use model::render::one_line;
use ops::features::plan::edit::{self, TaskCommand, TaskReport};
use ops::{Result, World};

use super::plan::print_notes;
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat};

/// Add, start, finish and block tasks in the plan
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(add::Args),
    /// Start a task; if several sessions try, only one of them gets it
    Start {
        /// The task
        id: String,
        #[command(flatten)]
        who: SessionArg,
    },
    /// Finish a task; a task with an acceptance criterion needs evidence that passed and is not stale
    Done {
        /// The task
        id: String,
        /// Finish the task without evidence, and record this reason
        #[arg(long, value_name = "WHY")]
        without_evidence: Option<String>,
        #[command(flatten)]
        who: SessionArg,
    },
    /// Mark a task as blocked, with the reason
    Block {
        /// The task
        id: String,
        /// What blocks the task
        why: String,
        #[command(flatten)]
        who: SessionArg,
    },
    /// Unblock a task
    Unblock {
        /// The task
        id: String,
        #[command(flatten)]
        who: SessionArg,
    },
    /// Show a task: what it waits for, what waits for it, and its history
    Show {
        /// The task
        id: String,
    },
}

#[derive(Debug, clap::Args)]
struct SessionArg {
    /// Act as this session [default: the current session]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let step = |id: &str, step: TaskCommand, who: &SessionArg, word: &str| -> Result<u8> {
        let report = edit::apply_task_step(world, id, &step, who.session.as_deref())?;
        print_task_report(&report, format, word);
        Ok(0)
    };
    match &args.command {
        Command::Add(args) => add::run(world, args, format),
        Command::Start { id, who } => step(id, TaskCommand::Start, who, "Started"),
        Command::Done { id, without_evidence, who } => {
            step(id, TaskCommand::Done { without_evidence: without_evidence.as_deref() }, who, "Done")
        }
        Command::Block { id, why, who } => step(id, TaskCommand::Block { why }, who, "Blocked"),
        Command::Unblock { id, who } => step(id, TaskCommand::Unblock, who, "Unblocked"),
        Command::Show { id } => show::run(world, id, format),
    }
}

pub fn print_task_report(report: &TaskReport, format: OutputFormat, word: &str) {
    if format == OutputFormat::Json {
        return output::print_json(report);
    }
    let task = &report.task;
    let (id, text) = (&task.id, one_line(&task.description, 100));
    let status = task.status.name().replace('_', " ");
    match report.changed {
        true => output::print_line(format_args!(
            "{GOOD}{word}{GOOD:#} {BOLD}{id}{BOLD:#} {text} {DIM}({status}){DIM:#}"
        )),
        false => output::print_line(format_args!("{BOLD}{id}{BOLD:#} {text}: already {status}")),
    }
    if !report.newly_ready.is_empty() && word == "Done" {
        output::print_line(format_args!("Ready now: {}", report.newly_ready.join(", ")));
    }
    print_notes(&report.notes, report.redacted);
}
