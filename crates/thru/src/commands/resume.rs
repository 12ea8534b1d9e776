mod gate;
mod list;
mod migrate;
mod new;
mod show;
mod update;
mod use_in;
mod validate;

use std::path::PathBuf;

use clap::Subcommand;
use ops::features::workstreams::resume::{Direction, NewManifest, UpdateStep};
use ops::{Result, World};

use crate::output::Format;

/// Manage loading manifests: what to read before work continues, and whether it was read
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a manifest for a workstream
    New {
        /// NN-kebab-case, like 24-new-parser
        id: String,
        /// The name that people use
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// A file to load; can be given several times, in order
        #[arg(long, value_name = "FILE")]
        load: Vec<String>,
        #[arg(long, value_name = "PHASE", default_value = "planning", value_parser = model::manifest::KNOWN_PHASES.to_vec())]
        phase: String,
        /// The skill or command that continues it, as the agent would call it [default: none, only the next open
        /// step is told]
        #[arg(long, value_name = "SKILL", default_value = model::manifest::NEXT_OPEN_STEP, hide_default_value = true)]
        next_action: String,
        /// The session that works on it
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// List the workstreams of this project
    List,
    /// Show a manifest: what it loads, its state, its questions
    Show {
        /// The workstream [default: the one last active]
        id: Option<String>,
    },
    /// Set the workstream of a session: after a compaction it is told this one, and no other
    Use {
        /// The workstream, or its number
        id: String,
        /// The session [default: the current one]; the beginning of its id is enough
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Check a manifest, or all of them; exit code 1 if one has errors
    Validate {
        /// The manifest [default: every manifest of this project]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Check every manifest of this project, which is also the default
        #[arg(long, conflicts_with = "file")]
        all: bool,
    },
    /// Update a manifest from the boxes of its steps
    Update {
        /// The workstream [default: the one last active]
        id: Option<String>,
        /// Tick the next open box first
        #[arg(long)]
        task_done: bool,
    },
    /// Convert `_resume.md` files; the originals stay as .backup
    Migrate {
        /// Only show what would be done
        #[arg(long, conflicts_with = "rollback")]
        dry_run: bool,
        /// Restore the originals
        #[arg(long)]
        rollback: bool,
    },
    /// Show which files of the manifest a session has read since it was compacted
    Gate {
        /// The workstream [default: the session's own]
        id: Option<String>,
        /// The session [default: the current one, or else the newest]
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
            new::run(world, &wish, format)
        }
        Command::List => list::run(world, format),
        Command::Show { id } => show::run(world, id.as_deref(), format),
        Command::Use { id, session } => use_in::run(world, id, session.as_deref(), format),
        Command::Validate { file, .. } => validate::run(world, file.as_deref(), format),
        Command::Update { id, task_done } => update::run(
            world,
            id.as_deref(),
            if *task_done { UpdateStep::Done } else { UpdateStep::None },
            format,
        ),
        Command::Migrate { dry_run, rollback } => {
            let direction = match (dry_run, rollback) {
                (true, _) => Direction::DryRun,
                (_, true) => Direction::Back,
                _ => Direction::Forward,
            };
            migrate::run(world, direction, format)
        }
        Command::Gate { id, session } => gate::run(world, id.as_deref(), session.as_deref(), format),
    }
}
