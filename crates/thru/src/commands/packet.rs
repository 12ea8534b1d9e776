mod edit;
mod import;
mod list;
mod open;
mod show;
mod validate;

use std::path::PathBuf;

use clap::Subcommand;
use model::packet::Status;
use ops::features::packets::Edit;
use ops::{Result, World};

pub use self::edit::absolute;
use crate::output::Format;

/// Look at packets and change them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// All packets, the one changed last first
    List {
        /// Only those with this status
        #[arg(long, value_name = "STATUS", value_parser = ["draft", "active", "done", "blocked"])]
        status: Option<String>,
        /// At most this many; 0 for all. Without it 40, and all with --json
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
    },
    /// Print a packet, without escape sequences and characters that cannot be seen
    Show {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Every byte of the file; not to a terminal, which would act on escape sequences
        #[arg(long, conflicts_with = "json")]
        raw: bool,
    },
    /// Say where a packet is; on a terminal open it in $EDITOR
    Open {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Only print the path
        #[arg(long)]
        path: bool,
    },
    /// Take work on a packet up again
    Activate {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
    },
    /// The packet's work is done
    Done {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
    },
    /// The packet's work cannot go on
    Block {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Why not
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Files that matter, whatever the ranking says
    Confirm {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Seen from here, or from the project's folder
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Take files off the confirmed ones
    Unconfirm {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// Seen from here, or from the project's folder
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Replace the text of one section by what is on stdin; no other byte changes
    Set {
        /// The packet: its id, the beginning of it, or a part of its name
        id: String,
        /// The section's heading, or the start of a standard heading: Intent, Context, Next, …
        #[arg(long, value_name = "HEADING")]
        section: String,
    },
    /// Say what is off with a packet, or with all of them
    Validate {
        /// The packet; or --all
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Every packet there is
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
    /// Make a packet of a handoff that somebody else wrote
    Import {
        /// A markdown file; it stays as it is
        file: PathBuf,
        /// Only say what would be made
        #[arg(long)]
        dry_run: bool,
    },
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let edit = |id: &str, edit: Edit| edit::run(world, id, edit, format);
    match &args.command {
        Command::List { status, limit } => list::run(world, status.as_deref(), *limit, format),
        Command::Show { id, raw } => show::run(world, id, *raw, format),
        Command::Open { id, path } => open::run(world, id, *path, format),
        Command::Activate { id } => edit(id, Edit::Status(Status::Active)),
        Command::Done { id } => edit(id, Edit::Status(Status::Done)),
        Command::Block { id, reason } => edit(id, Edit::Block { reason }),
        Command::Confirm { id, files } => edit(id, Edit::Confirm(&absolute(world, files))),
        Command::Unconfirm { id, files } => edit(id, Edit::Unconfirm(&absolute(world, files))),
        Command::Set { id, section } => edit(id, Edit::Section { heading: section, text: &edit::stdin()? }),
        Command::Validate { id, .. } => validate::run(world, id.as_deref(), format),
        Command::Import { file, dry_run } => import::run(world, file, *dry_run, format),
    }
}
