use std::path::PathBuf;

use model::render::one_line;
use ops::features::outputs::{self, LiveRunReport, LiveRunSource};
use ops::{Result, World};

use crate::output::{self, DIM, Format};

/// Show or set which run is live
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Set the live run: a folder of the project, or the name of a run in .agent/context/outputs
    #[arg(long, value_name = "DIR", conflicts_with = "clear")]
    set: Option<PathBuf>,
    /// Clear the live run; its files stay
    #[arg(long)]
    clear: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    if args.clear {
        match (outputs::clear_live_run(world)?, format) {
            (None, Format::Json) => output::print_json(&serde_json::json!({ "run": null })),
            (None, Format::Text) => output::print_line("No run is live"),
            (Some(live), Format::Json) => output::print_json(&live),
            (Some(live), Format::Text) => {
                let (from, run) = (live.source.describe(), live.run.display());
                output::print_line(format_args!(
                    "{} is cleared; {from} still names {run}",
                    LiveRunSource::LiveJson.describe()
                ));
            }
        }
        return Ok(0);
    }
    let live = match &args.set {
        Some(dir) => outputs::set_live_run(world, dir)?,
        None => outputs::show_live_run(world)?,
    };
    match format {
        Format::Json => output::print_json(&live),
        Format::Text => print_live(&live),
    }
    Ok(0)
}

fn print_live(live: &LiveRunReport) {
    let stage = match &live.stage {
        Some(stage) => format!("stage {}", one_line(stage, 128)),
        None => "nothing is expected in it yet".to_owned(),
    };
    output::print_line(format_args!("{}", live.run.display()));
    output::print_message(format_args!("{DIM}{stage}; named by {}{DIM:#}", live.source.describe()));
}
