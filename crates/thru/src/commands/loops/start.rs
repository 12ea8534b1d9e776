use std::path::PathBuf;

use ops::features::loops::start::{self, LoopStartOptions, PacketValidators, PromptSource};
use ops::{Result, World};

use super::change::print_changed_loop;
use super::{OwnerArgs, parse_seconds};
use crate::output::OutputFormat;

/// Start a loop and put it into the foreground
///
/// The loop ends when the agent gives its promise and the validators pass, or when a limit is reached: the number of
/// iterations, the time (--for), or 3 turns in a row without progress. A turn makes no progress if it has no tool
/// call, or if it changes no file and the agent only repeats its last message. `loops.no_progress_turns` sets the
/// number of turns; see `thru config`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("source").required(true).args(["prompt", "from_packet", "file"]))]
pub struct Args {
    /// What the agent should do in each iteration
    prompt: Vec<String>,
    /// Use the prompt, the promise and the limit of this packet
    #[arg(long, value_name = "ID")]
    from_packet: Option<String>,
    /// Read the prompt from a file; - means stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Limit the iterations [default: 30]; the first run counts, and 0 means no limit
    #[arg(long, value_name = "N")]
    max_iterations: Option<u64>,
    /// Set what the agent says when everything is done; can be given several times
    #[arg(long, value_name = "TEXT")]
    promise: Vec<String>,
    /// Set what the agent says when it cannot continue without you
    #[arg(long, value_name = "TEXT")]
    blocked_promise: Vec<String>,
    /// Add a shell command that must pass before a promise is accepted; can be given several times
    #[arg(long, value_name = "CMD")]
    validator: Vec<String>,
    /// Also use the validators of the packet
    #[arg(long, requires = "from_packet")]
    with_validators: bool,
    /// Set a time limit, e.g. 2h or 1h30m
    #[arg(long = "for", value_name = "TIME", value_parser = parse_seconds)]
    seconds: Option<i64>,
    #[command(flatten)]
    owner: OwnerArgs,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<()> {
    let words = args.prompt.join(" ");
    let prompt = match (&args.from_packet, &args.file) {
        (Some(packet), _) => PromptSource::Packet(packet),
        (None, Some(file)) => PromptSource::File(file),
        (None, None) => PromptSource::InlineText(&words),
    };
    let started = start::start_loop(
        world,
        &LoopStartOptions {
            prompt,
            max_iterations: args.max_iterations,
            promises: args.promise.clone(),
            blocked_promises: args.blocked_promise.clone(),
            validators: args.validator.clone(),
            packet_validators: if args.with_validators {
                PacketValidators::Use
            } else {
                PacketValidators::OnlyShow
            },
            seconds: args.seconds,
            owner: args.owner.wanted_owner(),
        },
    )?;
    print_changed_loop(world, &started, "Started", format);
    Ok(())
}
