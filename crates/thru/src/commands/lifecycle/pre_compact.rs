use ops::features::roles::lifecycle::{self, PreCompactReport};
use ops::{Result, World};

use crate::commands::role::{RoleArg, print_role_warning};
use crate::output::{self, BOLD, OutputFormat, WARN};

/// Do what the hook does before a compaction: check the context file and report problems; always exit with 0
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: RoleArg,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let done = lifecycle::run_pre_compact(world, args.which.name());
    match format {
        OutputFormat::Json => output::print_json(&done),
        OutputFormat::Text => print_pre_compact(&done),
    }
    Ok(0)
}

fn print_pre_compact(done: &PreCompactReport) {
    if let Some(source) = &done.source {
        print_role_warning(source);
    }
    for warning in &done.warnings {
        output::print_line(format_args!("{WARN}warning:{WARN:#} {warning}"));
    }
    if let (Some(role), Some(state)) = (&done.role, &done.state) {
        output::print_line(format_args!("{BOLD}{role}{BOLD:#} is {state}"));
    }
}
