use std::path::PathBuf;

use model::render::one_line;
use ops::features::outputs::{self, Live, Where};
use ops::{Result, World};

use crate::output::{self, DIM, Format};

/// Show which run is live, or say which is
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder of the project, or the name of a run in .agent/context/outputs
    #[arg(long, value_name = "DIR", conflicts_with = "clear")]
    set: Option<PathBuf>,
    /// No run is live any more; what is in it stays
    #[arg(long)]
    clear: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    if args.clear {
        match (outputs::clear_live(world)?, format) {
            (None, Format::Json) => output::json(&serde_json::json!({ "run": null })),
            (None, Format::Text) => output::line("No run is live"),
            (Some(live), Format::Json) => output::json(&live),
            (Some(live), Format::Text) => {
                let (from, run) = (live.from.words(), live.run.display());
                output::line(format_args!(
                    "{} is cleared; {from} still names {run}",
                    Where::LiveJson.words()
                ));
            }
        }
        return Ok(0);
    }
    let live = match &args.set {
        Some(dir) => outputs::set_live(world, dir)?,
        None => outputs::live(world)?,
    };
    match format {
        Format::Json => output::json(&live),
        Format::Text => print_live(&live),
    }
    Ok(0)
}

fn print_live(live: &Live) {
    let stage = match &live.stage {
        Some(stage) => format!("stage {}", one_line(stage, 128)),
        None => "nothing is expected in it yet".to_owned(),
    };
    output::line(format_args!("{}", live.run.display()));
    output::talk(format_args!("{DIM}{stage}; named by {}{DIM:#}", live.from.words()));
}
