use std::path::PathBuf;

use ops::features::loops::start::{self, Options, PacketValidators, Source};
use ops::{Result, World};

use super::change::print_changed;
use super::{OwnerArgs, seconds};
use crate::output::Format;

/// Start a loop and put it into the foreground
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("source").required(true).args(["prompt", "from_packet", "file"]))]
pub struct Args {
    /// What the agent is to do, again and again
    prompt: Vec<String>,
    /// Take prompt, promise and limit from this packet
    #[arg(long, value_name = "ID")]
    from_packet: Option<String>,
    /// Take the prompt from a file; - is stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Most iterations, 30 unless said otherwise; the first run counts, 0 is no limit
    #[arg(long, value_name = "N")]
    max_iterations: Option<u64>,
    /// What the agent says when all is done; may be given more than once
    #[arg(long, value_name = "TEXT")]
    promise: Vec<String>,
    /// What the agent says when it cannot go on without you
    #[arg(long, value_name = "TEXT")]
    blocked_promise: Vec<String>,
    /// A shell line that must pass before a promise is believed; may be given more than once
    #[arg(long, value_name = "CMD")]
    validator: Vec<String>,
    /// Take the packet's validators too
    #[arg(long, requires = "from_packet")]
    with_validators: bool,
    /// How long it may take, e.g. 2h or 1h30m
    #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
    seconds: Option<i64>,
    #[command(flatten)]
    owner: OwnerArgs,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<()> {
    let words = args.prompt.join(" ");
    let prompt = match (&args.from_packet, &args.file) {
        (Some(packet), _) => Source::Packet(packet),
        (None, Some(file)) => Source::File(file),
        (None, None) => Source::Words(&words),
    };
    let started = start::run(
        world,
        &Options {
            prompt,
            max_iterations: args.max_iterations,
            promises: args.promise.clone(),
            blocked: args.blocked_promise.clone(),
            validators: args.validator.clone(),
            packet_validators: if args.with_validators {
                PacketValidators::Take
            } else {
                PacketValidators::Show
            },
            seconds: args.seconds,
            owner: args.owner.wanted(),
        },
    )?;
    print_changed(&started, "Started", format);
    Ok(())
}
