use std::path::PathBuf;

use ops::features::plan::import::{self, Place, Report};
use ops::session::list::Chosen;
use ops::{Mode, Result, World};

use super::print_notes;
use crate::output::{self, BOLD, DIM, Format, GOOD, WARN};

/// Read a plan as people and agents write them: headings as phases, `- [ ]` items as tasks
///
/// It warns of what it is not sure of, and fails only where there is nothing to read. A plan.json is read too, also one by
/// another tool. The file stays as it is.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file: markdown, or a plan.json
    #[arg(required_unless_present = "from_session")]
    file: Option<PathBuf>,
    /// The plan that was approved in a session, and the list its agent keeps; its tasks follow that list then
    #[arg(long, conflicts_with = "file")]
    from_session: bool,
    /// Which session, instead of the one around us; the beginning of its id is enough
    #[arg(long, value_name = "ID", requires = "from_session")]
    session: Option<String>,
    /// Put it behind the phases of the plan that is there
    #[arg(long)]
    append: bool,
    /// Put it in the place of the plan that is there; the old one stays in the ledger
    #[arg(long, conflicts_with = "append")]
    replace: bool,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let place = match (args.append, args.replace) {
        (true, _) => Place::Append,
        (_, true) => Place::Replace,
        (false, false) => Place::Free,
    };
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Write };
    let report = match &args.file {
        Some(file) => import::file(world, file, place, mode)?,
        None => {
            let (report, session, chosen) = import::session(world, args.session.as_deref(), place, mode)?;
            if chosen == Chosen::Guess && format == Format::Text {
                output::talk(format_args!(
                    "{WARN}note:{WARN:#} the session is a guess: the newest one here, {session}"
                ));
            }
            report
        }
    };
    match format {
        Format::Json => output::json(&report),
        Format::Text => print_import(&report, mode),
    }
    Ok(0)
}

pub fn print_import(report: &Report, mode: Mode) {
    let Report { from, title, phases, tasks, completed, blocked, dependencies, .. } = report;
    let how = match (report.known, report.written, mode) {
        (_, true, _) => format!("{GOOD}Imported{GOOD:#}"),
        (true, false, _) => "Imported before".to_owned(),
        (false, false, Mode::DryRun) => "Would be imported".to_owned(),
        (false, false, Mode::Write) => "The plan is the same already".to_owned(),
    };
    output::line(format_args!("{how}: {BOLD}{title}{BOLD:#} {DIM}({from}){DIM:#}"));
    output::line(format_args!(
        "  {phases} phases, {tasks} tasks ({completed} completed, {blocked} blocked), {dependencies} dependencies"
    ));
    for warning in &report.warnings {
        let place = if warning.line > 0 { format!("line {}: ", warning.line) } else { String::new() };
        output::talk(format_args!("{WARN}warning:{WARN:#} {place}{}", warning.text));
    }
    print_notes(&report.notes, report.covered);
    if report.written {
        output::line("Next: `thru plan show`");
    }
}
