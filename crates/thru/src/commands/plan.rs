use std::path::PathBuf;

use clap::Subcommand;
use model::plan::{PhaseStatus, Size, TaskChange, TaskStatus};
use ops::features::plan::edit::{self, HeadChange, PlanReport};
use ops::features::plan::import::{self, Place, Report};
use ops::features::plan::show;
use ops::session::list::Chosen;
use ops::{Error, Mode, Result, World};

use super::packet::tell_covered;
use super::plan_view;
use crate::output::{self, BOLD, DIM, Format, GOOD, WARN};

/// What is being built: phases and tasks, what is ready, what waits for what
///
/// The plan is .agent/context/plan.json; plan.md beside it is the same to read, and plan-ledger.jsonl has every change.
/// `thru task` works on single tasks.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the plan: phases, progress, what is ready, what waits for what
    Show {
        /// Draw what depends on what
        #[arg(long)]
        graph: bool,
        /// Only this phase
        #[arg(long, value_name = "N")]
        phase: Option<u32>,
        /// Phases that are over, too
        #[arg(long)]
        all: bool,
    },
    /// Begin a plan
    Init {
        /// What it is for
        title: String,
        /// A phase; once for each
        #[arg(long = "phase", value_name = "NAME")]
        phases: Vec<String>,
        /// Put it in the place of the plan that is there; the old one stays in the ledger
        #[arg(long)]
        replace: bool,
    },
    Import(ImportArgs),
    /// Add a phase
    Add {
        /// What it is called
        name: String,
        /// Its number, instead of the next
        #[arg(long, value_name = "N")]
        id: Option<u32>,
    },
    Set(SetArgs),
    /// Show what can be begun now, and what the others wait for
    Next,
    /// Check the plan: circles, unknown and duplicate ids, whether the ledger gives the same plan
    Check,
    /// Show every change of the plan
    Log {
        /// How many, the newest; 0 for all
        #[arg(short, value_name = "N", default_value_t = 20)]
        n: usize,
    },
}

/// Read a plan as people and agents write them: headings as phases, `- [ ]` items as tasks
///
/// It warns of what it is not sure of, and fails only where there is nothing to read. A plan.json is read too, also one by
/// another tool. The file stays as it is.
#[derive(Debug, clap::Args)]
struct ImportArgs {
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

/// Change a task, a phase or the plan itself
#[derive(Debug, clap::Args)]
struct SetArgs {
    /// The task; without one it is about the plan, or about the phase that --phase names
    id: Option<String>,
    /// Of a task: pending, in_progress, closed; of a phase also blocked, complete
    #[arg(long)]
    status: Option<String>,
    /// Of a task: what it is
    #[arg(long, value_name = "TEXT", requires = "id")]
    description: Option<String>,
    /// Of a task: small, medium, large
    #[arg(long, requires = "id")]
    size: Option<String>,
    /// Of a task: all it depends on, with commas; `none` for nothing
    #[arg(long, value_name = "IDS", requires = "id")]
    depends: Option<String>,
    /// Of a task: how it is known to be done; empty for none
    #[arg(long, value_name = "TEXT", requires = "id")]
    acceptance: Option<String>,
    /// Of a task: a file it is about; once for each
    #[arg(long = "file", value_name = "PATH", requires = "id")]
    files: Vec<String>,
    /// The phase it is about
    #[arg(long, value_name = "N", conflicts_with = "id")]
    phase: Option<u32>,
    /// Of a phase: what it is called
    #[arg(long, requires = "phase")]
    name: Option<String>,
    /// Of the plan: what it is for
    #[arg(long, conflicts_with = "id")]
    title: Option<String>,
    /// Of the plan: which phase is the current one
    #[arg(long, value_name = "N", conflicts_with = "id")]
    current_phase: Option<u32>,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Show { graph, phase, all } => {
            let shown = show::show(world)?;
            match (format, graph) {
                (Format::Json, _) => output::json(&shown.report()),
                (Format::Text, true) => plan_view::graph(&shown.loaded.plan),
                (Format::Text, false) => plan_view::plan(&shown, *phase, *all)?,
            }
        }
        Command::Init { title, phases, replace } => {
            let report = edit::init(world, title, phases, *replace)?;
            tell(&report, format, &format!("{GOOD}Begun{GOOD:#}: {BOLD}{}{BOLD:#}", report.title));
        }
        Command::Add { name, id } => {
            let report = edit::add_phase(world, name, *id)?;
            let line = report
                .phase
                .as_ref()
                .map(|phase| format!("Added phase {BOLD}{}{BOLD:#}: {}", phase.id, phase.name));
            tell(&report, format, &line.unwrap_or_default());
        }
        Command::Set(args) => return set(world, args, format),
        Command::Import(args) => return import(world, args, format),
        Command::Next => {
            let next = show::next(world)?;
            match format {
                Format::Json => output::json(&next),
                Format::Text => plan_view::next(&next),
            }
        }
        Command::Check => {
            let checked = show::check(world)?;
            match format {
                Format::Json => output::json(&checked),
                Format::Text => plan_view::checked(&checked),
            }
            return Ok(u8::from(!checked.is_good()));
        }
        Command::Log { n } => {
            let mut log = show::log(world)?;
            let skip = if *n == 0 { 0 } else { log.lines.len().saturating_sub(*n) };
            log.lines.drain(..skip);
            match format {
                Format::Json => output::json(&log),
                Format::Text => plan_view::log(&log),
            }
        }
    }
    Ok(0)
}

fn set(world: &World, args: &SetArgs, format: Format) -> Result<u8> {
    let Some(id) = &args.id else {
        let status = word(
            args.status.as_deref(),
            PhaseStatus::parse,
            "a status",
            &PhaseStatus::ALL.map(PhaseStatus::name),
        )?;
        if status.is_some() && args.phase.is_none() {
            return Err(usage("a plan has no status of its own", "name a task, or a phase with --phase"));
        }
        let SetArgs { title, current_phase, phase, name, .. } = args;
        let change = HeadChange {
            title: title.clone(),
            current_phase: *current_phase,
            phase: *phase,
            name: name.clone(),
            status,
        };
        if title.is_none() && current_phase.is_none() && name.is_none() && status.is_none() {
            return Err(usage("there is nothing to set", "`thru plan set --help` lists what can be"));
        }
        let report = edit::set_head(world, &change)?;
        let line = match (&report.phase, report.changed) {
            (_, false) => "It was so already.".to_owned(),
            (Some(phase), true) => {
                format!("Phase {BOLD}{}{BOLD:#}: {} ({})", phase.id, phase.name, phase.status.name())
            }
            (None, true) => format!("Plan: {BOLD}{}{BOLD:#}", report.title),
        };
        tell(&report, format, &line);
        return Ok(0);
    };
    let statuses = TaskStatus::ALL.map(TaskStatus::name);
    let change = TaskChange {
        status: word(args.status.as_deref(), TaskStatus::parse, "a status", &statuses)?,
        description: args.description.clone(),
        size: size(args.size.as_deref())?,
        depends: args.depends.as_deref().map(ids),
        acceptance: args.acceptance.clone(),
        files: (!args.files.is_empty()).then(|| args.files.clone()),
    };
    let report = edit::set_task(world, id, change)?;
    super::task::tell(&report, format, "Changed");
    Ok(0)
}

fn import(world: &World, args: &ImportArgs, format: Format) -> Result<u8> {
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
        Format::Text => tell_import(&report, mode),
    }
    Ok(0)
}

pub fn tell_import(report: &Report, mode: Mode) {
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
    tell_notes(&report.notes, report.covered);
    if report.written {
        output::line("Next: `thru plan show`");
    }
}

fn tell(report: &PlanReport, format: Format, line: &str) {
    match format {
        Format::Json => output::json(report),
        Format::Text => {
            output::line(line);
            tell_notes(&report.notes, report.covered);
        }
    }
}

pub fn tell_notes(notes: &[String], covered: bool) {
    for note in notes {
        output::talk(format_args!("{WARN}note:{WARN:#} {note}"));
    }
    if covered {
        tell_covered();
    }
}

/// `1.1, 1.2` or `none`.
pub fn ids(list: &str) -> Vec<String> {
    let ids =
        list.split([',', ' ']).map(str::trim).filter(|id| !id.is_empty() && !id.eq_ignore_ascii_case("none"));
    ids.map(str::to_owned).collect()
}

pub fn size(word_given: Option<&str>) -> Result<Option<Size>> {
    word(word_given, Size::parse, "a size", &["small", "medium", "large"])
}

fn word<T>(
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
            Err(usage(&format!("`{shown}` is not {what}"), &format!("one of: {}", allowed.join(", "))))
        }
    }
}

fn usage(what: &str, hint: &str) -> Error {
    Error::Usage { what: what.to_owned(), hint: hint.to_owned() }
}
