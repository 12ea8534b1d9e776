use model::render::one_line;
use model::time;
use ops::Result;
use ops::World;
use ops::WriteMode;

use crate::output::{self, DIM, OutputFormat};

/// Write packets for sessions that crashed
///
/// A session has crashed if it did not end and its harness is no longer running. If nothing is known about the
/// harness's process, a session without an event for twelve hours counts as crashed. Each session start writes the
/// packet of the newest crashed session automatically.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let swept = ops::features::crashed::sweep_dead_sessions(
        world,
        if args.dry_run { WriteMode::DryRun } else { WriteMode::Write },
    )?;
    match format {
        OutputFormat::Json => output::print_json(&swept),
        OutputFormat::Text if swept.is_empty() => {
            output::print_message("No crashed sessions without a packet.");
        }
        OutputFormat::Text => {
            for one in &swept {
                let ago = time::parse_time(&one.last_at)
                    .map_or(String::new(), |at| time::describe_age(at, world.now));
                let packet = match (one.packet.is_empty(), one.written) {
                    (true, _) => "nothing to hand over".to_owned(),
                    (false, true) => one.packet.clone(),
                    (false, false) => format!("would be {}", one.packet),
                };
                let session = one_line(&one.session, 40);
                output::print_line(format_args!(
                    "{session}  {:<11}  {DIM}{ago:<12}{DIM:#}  {packet}",
                    one.harness
                ));
            }
        }
    }
    Ok(0)
}
