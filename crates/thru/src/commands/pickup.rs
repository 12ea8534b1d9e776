use ops::Result;
use ops::World;
use ops::features::packets::pickup::{ClaimMode, LaterFiles, PickupRequest};

use crate::output::{self, OutputFormat, WARN};

/// Print a packet's prompt, after checking its claims against the files on disk and git
///
/// Changes nothing unless --claim or --take-over is given. Without an id, uses the newest active packet, or else the
/// newest draft. If the draft of a crashed session is newer than all active packets, uses that draft. A packet that
/// another running session has claimed is left out.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("claiming").args(["claim", "take_over"]))]
pub struct Args {
    /// The packet: its id, the beginning of its id, or a part of its name
    #[arg(value_name = "ID")]
    id: Option<String>,
    #[arg(long = "for", value_name = "HARNESS", help = harness_names_for_help())]
    harness: Option<String>,
    /// Also list the files that were written after the packet was made
    #[arg(long)]
    hydrate: bool,
    /// Claim the packet for this session; refused if another running session has claimed it
    #[arg(long)]
    claim: bool,
    /// Claim the packet for this session, even if another running session has claimed it
    #[arg(long)]
    take_over: bool,
    /// Claim the packet for the session with this ID instead of the current one
    #[arg(long, value_name = "ID", requires = "claiming")]
    session: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let report = ops::features::packets::pickup::pick_up(
        world,
        &PickupRequest {
            id: args.id.as_deref(),
            harness: args.harness.as_deref(),
            session: args.session.as_deref(),
            later_files: if args.hydrate { LaterFiles::Add } else { LaterFiles::Leave },
            claim: match (args.claim, args.take_over) {
                (_, true) => ClaimMode::TakeOver,
                (true, _) => ClaimMode::Take,
                (false, false) => ClaimMode::Leave,
            },
        },
    )?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => {
            output::print_line(report.prompt.trim_end());
            let id = &report.id;
            if report.is_on_offer
                && !output::print_note_if_hooks_do_nothing(world, "No session can claim the packet")
            {
                output::print_message(format_args!(
                    "{WARN}note:{WARN:#} packet {id} is still on offer; a session that continues its work claims it with \
                     `thru pickup {id} --claim`",
                ));
            }
            if let Some(other) = &report.also_on_offer {
                output::print_message(format_args!(
                    "{WARN}note:{WARN:#} packet {id} is from a crashed session; an older packet is also on offer: \
                     `thru pickup {other}`"
                ));
            }
        }
    }
    Ok(0)
}

fn harness_names_for_help() -> String {
    format!(
        "Write file names in the form that this harness expects: {}",
        ops::setup::harnesses::harness_names().collect::<Vec<_>>().join(", ")
    )
}
