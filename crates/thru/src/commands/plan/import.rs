use std::path::PathBuf;

use ops::features::plan::import::{self, ExistingPlanPolicy, PlanImportReport};
use ops::session::list::SessionChoiceReason;
use ops::{Result, World, WriteMode};

use super::print_notes;
use crate::output::{self, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Import a plan that a person or an agent wrote: headings become phases, and `- [ ]` items become tasks
///
/// Warns about ambiguities, and fails only if there is nothing to read. Also reads a plan.json, including one from
/// another tool. The file stays unchanged.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file: markdown, or a plan.json
    #[arg(required_unless_present = "from_session")]
    file: Option<PathBuf>,
    /// Use the plan that the user approved in a session, and the agent's todo list; the tasks then follow the todo list
    #[arg(long, conflicts_with = "file")]
    from_session: bool,
    /// Use this session [default: the current session]; the beginning of its id is enough
    #[arg(long, value_name = "ID", requires = "from_session")]
    session: Option<String>,
    /// Append the imported plan to the existing plan
    #[arg(long)]
    append: bool,
    /// Replace the existing plan; the old one stays in the ledger
    #[arg(long, conflicts_with = "append")]
    replace: bool,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let place = ExistingPlanPolicy::from_flags(args.append, args.replace);
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let report = match &args.file {
        Some(file) => import::import_plan_file(world, file, place, mode)?,
        None => {
            let (report, session, chosen) =
                import::import_session_plan(world, args.session.as_deref(), place, mode)?;
            if chosen == SessionChoiceReason::Guess && format == OutputFormat::Text {
                output::print_message(format_args!(
                    "{WARN}note:{WARN:#} assuming the last active session here, {session}"
                ));
            }
            report
        }
    };
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_import(&report, mode),
    }
    Ok(0)
}

pub fn print_import(report: &PlanImportReport, mode: WriteMode) {
    let PlanImportReport { from, title, phases, tasks, completed, blocked, dependencies, .. } = report;
    let how = match (report.already_imported, report.written, mode) {
        (_, true, _) => format!("{GOOD}Imported{GOOD:#}"),
        (true, false, _) => "Already imported".to_owned(),
        (false, false, WriteMode::DryRun) => "Would be imported".to_owned(),
        (false, false, WriteMode::Write) => "No change: the plan already has this content".to_owned(),
    };
    output::print_line(format_args!("{how}: {BOLD}{title}{BOLD:#} {DIM}({from}){DIM:#}"));
    output::print_line(format_args!(
        "  {phases} phases, {tasks} tasks ({completed} completed, {blocked} blocked), {dependencies} dependencies"
    ));
    for warning in &report.warnings {
        let place = if warning.line > 0 { format!("line {}: ", warning.line) } else { String::new() };
        output::print_message(format_args!("{WARN}warning:{WARN:#} {place}{}", warning.text));
    }
    print_notes(&report.notes, report.redacted);
    if report.written {
        output::print_line("Next: `thru plan show`");
    }
}
