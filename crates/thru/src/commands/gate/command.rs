use std::path::PathBuf;

use model::consent::quote_command;
use model::render::one_line;
use ops::features::outputs;
use ops::{Result, World};

use crate::output::{self, OutputFormat};

/// Name the command that writes an output of an existing run; valid outputs stay as they are
///
/// `thru gate run` then launches it, if the output is not valid. Example: thru gate command review-style.md -- claude -p
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An output of the live run, or the path of an output in any run
    file: PathBuf,
    /// Set the prompt for the command; {role} stands for the role in the file's name [default: the prompt of the run]
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The command, run without a shell; it gets the prompt on stdin and the path of the output in $THROUGHLINE_OUTPUT
    #[arg(last = true, required = true, value_name = "COMMAND")]
    launch: Vec<String>,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let done = outputs::set_output_command(world, &args.file, &args.launch, args.prompt.as_deref())?;
    match format {
        OutputFormat::Json => output::print_json(&done),
        OutputFormat::Text => {
            let command = one_line(&quote_command(&done.launch), 200);
            output::print_line(format_args!("{} is written by `{command}`", done.path.display()));
            let what = match done.is_allowed {
                true => "launches it, if the output is not valid",
                false => {
                    "shows its prompt and asks whether you allow it, because the prompt is from the run's list"
                }
            };
            output::print_message(format_args!("Next: {} {what}", done.next));
        }
    }
    Ok(0)
}
