mod check;
mod graph;
mod import;
mod log;
mod next;
mod set;
mod show;

use clap::Subcommand;
use model::plan::TaskStatus;
use model::render::borrow_or_collapse_line;
use ops::features::plan::edit::{self, PlanReport};
use ops::{Result, World};

pub use self::import::print_import;
pub use self::set::{parse_ids, parse_task_size};
pub use self::show::print_plan;
use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, TextStyle, WARN};

/// The maximum width of a description in a list, in characters.
const TEXT_WIDTH: usize = 100;

/// Manage the plan: phases, tasks and their dependencies
///
/// The plan is .agent/context/plan.json. plan.md next to it is a readable view of the plan, and plan-ledger.jsonl
/// records every change. `thru task` works on single tasks.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the plan: phases, progress, ready tasks and waiting tasks
    Show {
        /// Show the dependencies as a graph
        #[arg(long)]
        graph: bool,
        /// Show only this phase
        #[arg(long, value_name = "N")]
        phase: Option<u32>,
        /// Include finished phases, and every task of long phases
        #[arg(long)]
        all: bool,
    },
    /// Create a plan
    Init {
        /// What the plan is for
        title: String,
        /// Add a phase; can be given several times
        #[arg(long = "phase", value_name = "NAME")]
        phases: Vec<String>,
        /// Replace the existing plan; the old one stays in the ledger
        #[arg(long)]
        replace: bool,
    },
    Import(import::Args),
    /// Add a phase
    Add {
        /// The name of the phase
        name: String,
        /// Set the number of the phase [default: the next number]
        #[arg(long, value_name = "N")]
        id: Option<u32>,
    },
    Set(set::Args),
    /// Show the tasks that can start now, and what the other tasks wait for
    Next,
    /// Check the plan for circular dependencies, unknown or duplicate ids, and differences from its ledger
    Check,
    /// Show the changes to the plan
    Log {
        /// Show this many changes, newest last; 0 means all
        #[arg(short, value_name = "N", default_value_t = 20)]
        n: usize,
    },
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Show { graph: true, .. } => graph::run(world, format),
        Command::Show { phase, all, .. } => show::run(world, *phase, *all, format),
        Command::Init { title, phases, replace } => {
            let report = edit::begin_plan(world, title, phases, *replace)?;
            print_report(
                &report,
                format,
                &format!("{GOOD}Created{GOOD:#} the plan {BOLD}{}{BOLD:#}", report.title),
            );
            Ok(0)
        }
        Command::Add { name, id } => {
            let report = edit::add_phase(world, name, *id)?;
            let line = report
                .phase
                .as_ref()
                .map(|phase| format!("Added phase {BOLD}{}{BOLD:#}: {}", phase.id, phase.name));
            print_report(&report, format, &line.unwrap_or_default());
            Ok(0)
        }
        Command::Set(args) => set::run(world, args, format),
        Command::Import(args) => import::run(world, args, format),
        Command::Next => next::run(world, format),
        Command::Check => check::run(world, format),
        Command::Log { n } => log::run(world, *n, format),
    }
}

fn print_report(report: &PlanReport, format: OutputFormat, line: &str) {
    match format {
        OutputFormat::Json => output::print_json(report),
        OutputFormat::Text => {
            output::print_line(line);
            print_notes(&report.notes, report.redacted);
        }
    }
}

pub fn print_notes(notes: &[String], covered: bool) {
    for note in notes {
        output::print_message(format_args!("{WARN}note:{WARN:#} {note}"));
    }
    if covered {
        output::print_redaction_note();
    }
}

/// Returns a list of at most 12 ids, followed by the number of further ids.
fn format_id_list<'a>(ids: impl IntoIterator<Item = &'a str>) -> String {
    let mut list = String::new();
    push_id_list(&mut list, ids);
    list
}

fn push_id_list<'a>(list: &mut String, ids: impl IntoIterator<Item = &'a str>) {
    const MAX_LISTED_IDS: usize = 12;
    let mut more = 0;
    for (place, id) in ids.into_iter().enumerate() {
        if place >= MAX_LISTED_IDS {
            more += 1;
            continue;
        }
        list.push_str(if place == 0 { "" } else { ", " });
        list.push_str(&borrow_or_collapse_line(id, 64));
    }
    if more > 0 {
        list.push_str(&format!(" +{more}"));
    }
}

fn status_style(status: TaskStatus) -> TextStyle {
    match status {
        TaskStatus::Completed => GOOD,
        TaskStatus::InProgress => BOLD,
        TaskStatus::Blocked => BAD,
        TaskStatus::Pending | TaskStatus::Closed => DIM,
    }
}
