use ops::features::outputs;
use ops::{Result, World};

use super::report;
use crate::output::OutputFormat;

/// Judge every output of the live run; change nothing
///
/// Prints PERSISTENCE_GATE=PASS, SOFT_CONTINUE or HARD_FAIL. The exit code is 0, 3 or 4.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use the newest run of this stage instead of the live run
    #[arg(long, value_name = "STAGE")]
    stage: Option<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    Ok(report::print_report(world, &outputs::check_gate(world, args.stage.as_deref())?, format))
}
