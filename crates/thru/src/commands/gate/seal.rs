use std::path::PathBuf;

use ops::features::outputs;
use ops::{Result, World};

use crate::output::{self, OutputFormat};

/// Mark an output as complete by appending its last line
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An output of the live run, or the path of an output in any run
    file: PathBuf,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let sealed = outputs::seal_output(world, &args.file)?;
    let path = sealed.path.display();
    match format {
        OutputFormat::Json => output::print_json(&sealed),
        OutputFormat::Text if sealed.changed => output::print_line(format_args!("Sealed {path}")),
        OutputFormat::Text => output::print_line(format_args!("{path} is already sealed")),
    }
    Ok(0)
}
