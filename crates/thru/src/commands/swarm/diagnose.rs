use ops::setup::agents;
use ops::{Result, World};

use crate::output::{self, GOOD, OutputFormat};

/// Report missing or changed agents, hooks, models and prompts, and a plan that belongs to another swarm
///
/// The exit code is 1 if something needs your attention; notes do not count.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Examine this swarm [default: the setting swarm.id]
    #[arg(long, value_name = "ID")]
    swarm: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let report = agents::diagnose(world, args.swarm.as_deref())?;
    if format == OutputFormat::Json {
        output::print_json(&report);
        return Ok(u8::from(!report.is_clean()));
    }
    for finding in &report.findings {
        output::print_line(output::format_finding(finding));
    }
    if report.is_clean() {
        output::print_line(format_args!("{GOOD}ok{GOOD:#} the swarm {} is ready to work", report.swarm));
    }
    Ok(u8::from(!report.is_clean()))
}
