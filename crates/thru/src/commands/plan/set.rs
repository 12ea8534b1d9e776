use model::plan::{PhaseStatus, TaskFieldChanges, TaskSize, TaskStatus};
use ops::features::plan::edit::{self, PlanOrPhaseChange};
use ops::{Error, Result, World};

use super::print_report;
use crate::commands::task::print_task_report;
use crate::output::{BOLD, OutputFormat};

/// Change a task, a phase or the plan itself
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task; if omitted, the command changes the plan, or the phase given with --phase
    id: Option<String>,
    /// Set the status of a task (pending, in_progress, closed) or of a phase (also blocked, complete)
    #[arg(long)]
    status: Option<String>,
    /// Set the description of the task
    #[arg(long, value_name = "TEXT", requires = "id")]
    description: Option<String>,
    /// Set the size of the task: small, medium, large
    #[arg(long, requires = "id")]
    size: Option<String>,
    /// Set all dependencies of the task, separated by commas; `none` removes them
    #[arg(long, value_name = "IDS", requires = "id")]
    depends: Option<String>,
    /// Set the acceptance criterion of the task; empty text removes it
    #[arg(long, value_name = "TEXT", requires = "id")]
    acceptance: Option<String>,
    /// Replace the task's list of files; repeat the option for several files
    #[arg(long = "file", value_name = "PATH", requires = "id")]
    files: Vec<String>,
    /// Change this phase
    #[arg(long, value_name = "N", conflicts_with = "id")]
    phase: Option<u32>,
    /// Set the name of the phase
    #[arg(long, requires = "phase")]
    name: Option<String>,
    /// Set the title of the plan
    #[arg(long, conflicts_with = "id")]
    title: Option<String>,
    /// Set the current phase of the plan
    #[arg(long, value_name = "N", conflicts_with = "id")]
    current_phase: Option<u32>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let Some(id) = &args.id else {
        let status = parse_word(
            args.status.as_deref(),
            PhaseStatus::parse,
            "a status",
            &PhaseStatus::ALL.map(PhaseStatus::name),
        )?;
        if status.is_some() && args.phase.is_none() {
            return Err(usage_error(
                "a plan has no status of its own",
                "name a task, or a phase with --phase",
            ));
        }
        let Args { title, current_phase, phase, name, .. } = args;
        let change = PlanOrPhaseChange {
            title: title.clone(),
            current_phase: *current_phase,
            phase: *phase,
            name: name.clone(),
            status,
        };
        if title.is_none() && current_phase.is_none() && name.is_none() && status.is_none() {
            return Err(usage_error(
                "there is nothing to set",
                "`thru plan set --help` lists what can be set",
            ));
        }
        let report = edit::set_plan_or_phase(world, &change)?;
        let line = match (&report.phase, report.changed) {
            (_, false) => "There was nothing to change.".to_owned(),
            (Some(phase), true) => {
                format!("Phase {BOLD}{}{BOLD:#}: {} ({})", phase.id, phase.name, phase.status.name())
            }
            (None, true) => format!("Plan: {BOLD}{}{BOLD:#}", report.title),
        };
        print_report(&report, format, &line);
        return Ok(0);
    };
    let statuses = TaskStatus::ALL.map(TaskStatus::name);
    let change = TaskFieldChanges {
        status: parse_word(args.status.as_deref(), TaskStatus::parse, "a status", &statuses)?,
        description: args.description.clone(),
        size: parse_task_size(args.size.as_deref())?,
        dependency_ids: args.depends.as_deref().map(parse_ids),
        acceptance: args.acceptance.clone(),
        files: (!args.files.is_empty()).then(|| args.files.clone()),
    };
    let report = edit::set_task(world, id, change)?;
    print_task_report(&report, format, "Changed");
    Ok(0)
}

/// Parses a list of ids like `1.1, 1.2`. The word `none` means an empty list.
pub fn parse_ids(list: &str) -> Vec<String> {
    let ids =
        list.split([',', ' ']).map(str::trim).filter(|id| !id.is_empty() && !id.eq_ignore_ascii_case("none"));
    ids.map(str::to_owned).collect()
}

pub fn parse_task_size(word_given: Option<&str>) -> Result<Option<TaskSize>> {
    parse_word(word_given, TaskSize::parse, "a size", &["small", "medium", "large"])
}

fn parse_word<T>(
    given: Option<&str>,
    parse: fn(&str) -> Option<T>,
    what: &str,
    allowed: &[&str],
) -> Result<Option<T>> {
    let Some(given) = given else { return Ok(None) };
    match parse(given).filter(|_| !given.trim().is_empty()) {
        Some(read) => Ok(Some(read)),
        None => {
            let shown = model::render::one_line(given, 40);
            Err(usage_error(&format!("`{shown}` is not {what}"), &format!("one of: {}", allowed.join(", "))))
        }
    }
}

fn usage_error(what: &str, hint: &str) -> Error {
    Error::Usage { what: what.to_owned(), hint: hint.to_owned() }
}
