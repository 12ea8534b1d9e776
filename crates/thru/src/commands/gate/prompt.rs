use ops::features::outputs;
use ops::{Result, World};

use crate::output::{self, OutputFormat, WARN};

/// Print the instruction to put into a sub-agent's prompt
///
/// If the inputs of the output have changed, this also requests the output again: only a newer file is valid.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The output that the sub-agent must write, such as review-security.md, or the path of an output in any run
    file: String,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let file = &args.file;
    let prompt = outputs::output_prompt(world, file)?;
    match format {
        OutputFormat::Json => output::print_json(&prompt),
        OutputFormat::Text => {
            output::print_line(prompt.text.trim_end());
            if !prompt.expected {
                let word = format!("the live run has no expected.json, so no gate waits for {file}");
                output::print_message(format_args!("{WARN}warning:{WARN:#} {word}"));
            }
        }
    }
    Ok(0)
}
