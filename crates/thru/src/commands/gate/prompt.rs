use ops::features::outputs;
use ops::{Result, World};

use crate::output::{self, Format, WARN};

/// Print the instruction to put into a sub-agent's prompt
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The output it has to write, such as review-security.md
    file: String,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let file = &args.file;
    let prompt = outputs::prompt(world, file)?;
    match format {
        Format::Json => output::json(&prompt),
        Format::Text => {
            output::line(prompt.text.trim_end());
            if !prompt.expected {
                let word =
                    format!("expected.json of the live run does not list {file}, so no gate waits for it");
                output::talk(format_args!("{WARN}warning:{WARN:#} {word}"));
            }
        }
    }
    Ok(0)
}
