use ops::features::roles::lifecycle::{self, PreCompact};
use ops::{Result, World};

use crate::commands::role::{Which, tell_doubt};
use crate::output::{self, BOLD, Format, WARN};

/// Do what the hook does before a compaction: check the file, and say what is wrong. Exit code 0, always
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let done = lifecycle::pre_compact(world, args.which.name());
    match format {
        Format::Json => output::json(&done),
        Format::Text => print_pre_compact(&done),
    }
    Ok(0)
}

fn print_pre_compact(done: &PreCompact) {
    if let Some(source) = &done.source {
        tell_doubt(source);
    }
    for warning in &done.warnings {
        output::line(format_args!("{WARN}warning:{WARN:#} {warning}"));
    }
    if let (Some(role), Some(state)) = (&done.role, &done.state) {
        output::line(format_args!("{BOLD}{role}{BOLD:#} is {state}"));
    }
}
