mod edit;
mod import;
mod list;
mod open;
mod show;
mod validate;

use std::path::PathBuf;

use clap::Subcommand;
use model::packet::PacketStatus;
use ops::features::packets::PacketEdit;
use ops::{Result, World};

pub use self::edit::to_absolute_paths_if_existing;
use crate::output::OutputFormat;

/// List, show and change packets
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List packets, most recently changed first
    List {
        /// List only packets with this status
        #[arg(long, value_name = "STATUS", value_parser = ["draft", "active", "done", "blocked"])]
        status: Option<String>,
        /// List at most this many packets; 0 means all [default: 40, or all with --json]
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
    },
    /// Print a packet, with escape sequences and invisible characters removed
    Show {
        /// The packet: its id, the beginning of its id, or a part of its name [default: the packet that `thru pickup`
        /// would use]
        id: Option<String>,
        /// Print the exact bytes of the file; refused on a terminal, which would act on escape sequences
        #[arg(long, conflicts_with = "json")]
        raw: bool,
    },
    /// Open a packet in $EDITOR, or print its path if stdout is not a terminal
    Open {
        /// The packet: its id, the beginning of its id, or a part of its name
        id: String,
        /// Only print the path
        #[arg(long)]
        path: bool,
    },
    /// Mark a packet as active again
    Activate {
        /// The packet: its id, the beginning of its id, or a part of its name
        id: String,
    },
    /// Mark a packet as done
    Done {
        /// The packet: its id, the beginning of its id, or a part of its name
        id: String,
    },
    /// Mark a packet as blocked
    Block {
        /// The packet: its id, the beginning of its id, or a part of its name
        id: String,
        /// Give the reason
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Confirm files as relevant, however low their rank
    Confirm {
        /// The packet: its id, the beginning of its id, or a part of its name
        id: String,
        /// The files, relative to this folder or to the project's folder
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Remove files from the list of confirmed files
    Unconfirm {
        /// The packet: its id, the beginning of its id, or a part of its name
        id: String,
        /// The files, relative to this folder or to the project's folder
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
    },
    /// Replace one section with text from stdin; no other byte changes
    Set {
        /// The packet: its id, the beginning of its id, or a part of its name
        id: String,
        /// Name the section by its heading, or by the start of a standard heading: Intent, Context, Next, …
        #[arg(long, value_name = "HEADING")]
        section: String,
    },
    /// Check a packet, or all of them, for problems
    Validate {
        /// The packet; --all checks every packet
        #[arg(required_unless_present = "all")]
        id: Option<String>,
        /// Check every packet
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
    /// Create a packet from a handoff that another tool or person wrote
    Import {
        /// A markdown file; it stays unchanged
        file: PathBuf,
        /// Only show what would be created
        #[arg(long)]
        dry_run: bool,
    },
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let edit = |id: &str, edit: PacketEdit| edit::run(world, id, edit, format);
    match &args.command {
        Command::List { status, limit } => list::run(world, status.as_deref(), *limit, format),
        Command::Show { id, raw } => show::run(world, id.as_deref(), *raw, format),
        Command::Open { id, path } => open::run(world, id, *path, format),
        Command::Activate { id } => edit(id, PacketEdit::Status(PacketStatus::Active)),
        Command::Done { id } => edit(id, PacketEdit::Status(PacketStatus::Done)),
        Command::Block { id, reason } => edit(id, PacketEdit::Block { reason }),
        Command::Confirm { id, files } => {
            edit(id, PacketEdit::Confirm(&to_absolute_paths_if_existing(world, files)))
        }
        Command::Unconfirm { id, files } => {
            edit(id, PacketEdit::Unconfirm(&to_absolute_paths_if_existing(world, files)))
        }
        Command::Set { id, section } => {
            edit(id, PacketEdit::Section { heading: section, text: &edit::read_stdin()? })
        }
        Command::Validate { id, .. } => validate::run(world, id.as_deref(), format),
        Command::Import { file, dry_run } => import::run(world, file, *dry_run, format),
    }
}
