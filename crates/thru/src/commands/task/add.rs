use ops::features::plan::edit::{self, AddTaskRequest};
use ops::{Result, World};

use super::print_task_report;
use crate::commands::plan::{parse_ids, parse_task_size};
use crate::output::OutputFormat;

/// Add a task to the plan
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What should be done
    text: String,
    /// Add the task to this phase [default: the current phase]
    #[arg(long, value_name = "N")]
    phase: Option<u32>,
    /// Set the task's id [default: the next number]
    #[arg(long)]
    id: Option<String>,
    /// Set the size: small, medium, large
    #[arg(long)]
    size: Option<String>,
    /// Set the tasks that must be finished first, separated by commas
    #[arg(long, value_name = "IDS")]
    depends: Option<String>,
    /// Set the acceptance criterion of the task
    #[arg(long, value_name = "TEXT")]
    acceptance: Option<String>,
    /// Add a file that belongs to the task; can be given several times
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let Args { text, phase, id, depends, acceptance, files, .. } = args;
    let wanted = AddTaskRequest {
        id: id.clone(),
        phase: *phase,
        text: text.clone(),
        size: parse_task_size(args.size.as_deref())?,
        depends: depends.as_deref().map(parse_ids).unwrap_or_default(),
        acceptance: acceptance.clone(),
        files: files.clone(),
    };
    print_task_report(&edit::add_task(world, wanted, None)?, format, "Added");
    Ok(0)
}
