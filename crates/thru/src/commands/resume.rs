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
use ops::features::workstreams::resume::{MigrationDirection, NewManifest, UpdateStep};
use ops::{Result, World};

use crate::output::OutputFormat;

/// Manage manifests, the lists of files that an agent must read before it continues
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a manifest for a workstream
    New {
        /// The id of the workstream: NN-kebab-case, like 24-new-parser
        id: String,
        /// Set a readable name
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// Add a file to load, relative to the workstream's folder or to the project's; can be given several times, in
        /// order
        #[arg(long, value_name = "FILE")]
        load: Vec<String>,
        /// Set the phase, which `thru resume list` shows until all steps are done; to change it later, edit
        /// `current_phase` in the manifest
        #[arg(long, value_name = "PHASE", default_value = "planning", value_parser = model::manifest::KNOWN_PHASES.to_vec())]
        phase: String,
        /// Set the skill or command that continues the work, as the agent would call it [default: none; the agent is
        /// told only the next open step]
        #[arg(long, value_name = "SKILL", default_value = model::manifest::NEXT_ACTION_OF_NEW_MANIFEST, hide_default_value = true)]
        next_action: String,
        /// Set the session that works on the workstream
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// List the workstreams in this project, each with its state: its phase, or `finished` once all steps are done
    List,
    /// Show a manifest: what it loads, its state and its questions
    Show {
        /// The workstream [default: the last active workstream]
        id: Option<String>,
    },
    /// Assign a workstream to a session; after a compaction, the session is told only about this workstream
    Use {
        /// The workstream, or its number
        id: String,
        /// Use this session [default: the current session]; the beginning of its id is enough
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Check one manifest or all of them; the exit code is 1 if there are errors
    Validate {
        /// The manifest [default: every manifest in this project]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Check every manifest in this project (the default)
        #[arg(long, conflicts_with = "file")]
        all: bool,
    },
    /// Update a manifest from the ticked checkboxes of its steps
    ///
    /// The phase is not changed. Once all steps are done, `thru resume list` and `thru resume show` say `finished` instead
    /// of the phase.
    Update {
        /// The workstream [default: the last active workstream]
        id: Option<String>,
        /// Before the update, tick the next open checkbox
        #[arg(long)]
        task_done: bool,
    },
    /// Convert `_resume.md` files to manifests; the originals are kept as .backup files
    Migrate {
        /// Only show what would be done
        #[arg(long, conflicts_with = "rollback")]
        dry_run: bool,
        /// Restore the originals
        #[arg(long)]
        rollback: bool,
    },
    /// Show which files of the manifest a session has read since its last compaction
    Gate {
        /// The workstream [default: the workstream of the session]
        id: Option<String>,
        /// Use this session [default: the current session, or else the newest]
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::New { id, name, load: files_to_load, phase, next_action, session } => {
            let wish = NewManifest {
                id,
                name: name.as_deref(),
                phase,
                next_action,
                files_to_load,
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
            if *task_done { UpdateStep::TickNextStep } else { UpdateStep::KeepSteps },
            format,
        ),
        Command::Migrate { dry_run, rollback } => {
            let direction = match (dry_run, rollback) {
                (true, _) => MigrationDirection::DryRun,
                (_, true) => MigrationDirection::Back,
                _ => MigrationDirection::Forward,
            };
            migrate::run(world, direction, format)
        }
        Command::Gate { id, session } => gate::run(world, id.as_deref(), session.as_deref(), format),
    }
}
