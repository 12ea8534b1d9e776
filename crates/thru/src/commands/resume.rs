use std::path::PathBuf;

use clap::Subcommand;
use model::render::one_line;
use model::text::count;
use ops::Result;
use ops::World;
use ops::features::workstreams::resume::{Direction, Migrated, NewManifest, Outcome, Step};

use crate::output::{self, BAD, BOLD, DIM, Format, GOOD, WARN};

/// Loading manifests: what to read before work goes on, and whether it was read
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a manifest for a workstream
    New {
        /// NN-kebab-case, like 24-new-parser
        id: String,
        /// What people call it
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// A file to load, in this order; may be said several times
        #[arg(long, value_name = "FILE")]
        load: Vec<String>,
        #[arg(long, value_name = "PHASE", default_value = "planning", value_parser = model::manifest::PHASES.to_vec())]
        phase: String,
        /// The skill that goes on with it
        #[arg(long, value_name = "SKILL", default_value = "execute-project")]
        next_action: String,
        /// The session that works on it
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Show a manifest: what it loads, its state, its questions
    Show {
        /// The workstream; default: the one active last
        id: Option<String>,
    },
    /// Check a manifest, or all of them; exit code 1 where one has errors
    Validate {
        /// The manifest; default: every manifest of this project
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Every manifest of this project, which is also what happens without a file
        #[arg(long, conflicts_with = "file")]
        all: bool,
    },
    /// Bring a manifest in step with the boxes of its steps
    Update {
        /// The workstream; default: the one active last
        id: Option<String>,
        /// Tick the next open box first
        #[arg(long)]
        task_done: bool,
    },
    /// Take over `_resume.md` files; the originals stay as .backup
    Migrate {
        /// Only say what would be done
        #[arg(long, conflicts_with = "rollback")]
        dry_run: bool,
        /// Give the originals back
        #[arg(long)]
        rollback: bool,
    },
    /// Show which files of the manifest a session has read since it was compacted
    Gate {
        /// The workstream; the session's own without
        id: Option<String>,
        /// Of this session, instead of the one this runs in or the newest
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::New { id, name, load, phase, next_action, session } => {
            let wish = NewManifest {
                id,
                name: name.as_deref(),
                phase,
                next_action,
                load,
                session: session.as_deref(),
            };
            new(world, &wish, format)
        }
        Command::Show { id } => show(world, id.as_deref(), format),
        Command::Validate { file, .. } => validate(world, file.as_deref(), format),
        Command::Update { id, task_done } => {
            update(world, id.as_deref(), if *task_done { Step::Done } else { Step::None }, format)
        }
        Command::Migrate { dry_run, rollback } => {
            let direction = match (dry_run, rollback) {
                (true, _) => Direction::DryRun,
                (_, true) => Direction::Back,
                _ => Direction::Forward,
            };
            migrate(world, direction, format)
        }
        Command::Gate { id, session } => gate(world, id.as_deref(), session.as_deref(), format),
    }
}

fn new(world: &World, wish: &NewManifest, format: Format) -> Result<u8> {
    let created = ops::features::workstreams::resume::new(world, wish)?;
    match format {
        Format::Json => output::json(&created),
        Format::Text => {
            output::line(&created.path);
            for file in &created.missing {
                output::talk(format_args!("{WARN}not there yet:{WARN:#} {}", one_line(file, 200)));
            }
        }
    }
    Ok(0)
}

fn show(world: &World, id: Option<&str>, format: Format) -> Result<u8> {
    let shown = ops::features::workstreams::resume::show(world, id)?;
    if format == Format::Json {
        output::json(&shown);
        return Ok(0);
    }
    let manifest = &shown.manifest;
    let place = [
        manifest.current_section.map(|section| format!("section {section}")),
        manifest.current_task.map(|task| format!("task {task}")),
        (!manifest.progress.is_empty()).then(|| one_line(&manifest.progress, 80)),
    ];
    output::pairs(&[
        (
            "workstream",
            format!(
                "{BOLD}{}{BOLD:#} {}",
                one_line(&manifest.project_id, 100),
                one_line(&manifest.project_name, 100)
            ),
        ),
        ("phase", one_line(&manifest.current_phase, 40)),
        ("at", place.into_iter().flatten().collect::<Vec<_>>().join(", ")),
        ("next action", one_line(&manifest.next_action, 100)),
        ("updated", one_line(&manifest.last_updated, 40)),
        ("manifest", one_line(&shown.path, 200)),
    ]);
    for (i, load) in shown.loads.iter().enumerate() {
        let state = match &load.path {
            Some(_) => format!("{DIM}{} bytes{DIM:#}", load.bytes),
            None => format!("{BAD}{}{BAD:#}", load.lies.words()),
        };
        output::line(format_args!("{:>3}. {}  {state}", i + 1, one_line(&load.named, 200)));
    }
    for question in &manifest.questions {
        output::line(format_args!("  ? {}", one_line(question, 300)));
    }
    Ok(0)
}

fn validate(world: &World, file: Option<&std::path::Path>, format: Format) -> Result<u8> {
    let checked = ops::features::workstreams::resume::validate(world, file)?;
    let good = checked.iter().all(ops::features::workstreams::resume::Checked::is_good);
    match format {
        Format::Json => output::json(&checked),
        Format::Text if checked.is_empty() => output::talk("There is no manifest in this project."),
        Format::Text => {
            for one in &checked {
                let mark =
                    if one.is_good() { format!("{GOOD}ok{GOOD:#}") } else { format!("{BAD}bad{BAD:#}") };
                output::line(format_args!("{mark}  {}", one_line(&one.path, 200)));
                one.findings.iter().for_each(|finding| output::line(output::finding(finding)));
            }
        }
    }
    Ok(u8::from(!good))
}

fn update(world: &World, id: Option<&str>, step: Step, format: Format) -> Result<u8> {
    let updated = ops::features::workstreams::resume::update(world, id, step)?;
    match format {
        Format::Json => output::json(&updated),
        Format::Text => {
            match &updated.done {
                Some(done) => output::line(format_args!("done: {}", one_line(done, 200))),
                None if step == Step::Done => output::talk("No box is open: there was nothing to tick."),
                None => {}
            }
            output::line(format_args!("{}  {}", updated.project_id, one_line(&updated.progress, 80)));
        }
    }
    Ok(0)
}

fn migrate(world: &World, direction: Direction, format: Format) -> Result<u8> {
    let done = ops::features::workstreams::resume::migrate(world, direction)?;
    match format {
        Format::Json => output::json(&done),
        Format::Text if done.is_empty() => output::talk("There is nothing to migrate."),
        Format::Text => {
            for Migrated { path, outcome, why } in &done {
                let word = match outcome {
                    Outcome::Success => format!("{GOOD}SUCCESS{GOOD:#}"),
                    Outcome::Skip => format!("{DIM}SKIP{DIM:#}   "),
                    Outcome::Error => format!("{BAD}ERROR{BAD:#}  "),
                };
                output::line(format_args!("{word}  {}: {}", one_line(path, 200), one_line(why, 300)));
            }
        }
    }
    Ok(u8::from(done.iter().any(|one| one.outcome == Outcome::Error)))
}

fn gate(world: &World, id: Option<&str>, session: Option<&str>, format: Format) -> Result<u8> {
    let gate = ops::features::workstreams::resume::gate(world, id, session)?;
    if format == Format::Json {
        output::json(&gate);
        return Ok(u8::from(gate.is_open()));
    }
    for file in &gate.files {
        let state = match (&file.path, &file.read_at) {
            (None, _) => format!("{BAD}{}{BAD:#}", file.lies.words()),
            (_, Some(at)) => format!("{GOOD}read{GOOD:#} {DIM}{at}{DIM:#}"),
            (_, None) => format!("{WARN}unread{WARN:#}"),
        };
        output::line(format_args!("{state}  {}", one_line(&file.named, 200)));
    }
    let open = gate.files.iter().filter(|file| file.read_at.is_none()).count();
    let editing = if gate.editing && open > 0 { ", and files have been edited" } else { "" };
    output::talk(format_args!("{DIM}{}: {} open{editing}{DIM:#}", gate.project_id, count(open, "file")));
    Ok(u8::from(gate.is_open()))
}
