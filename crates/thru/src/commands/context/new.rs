use ops::features::roles::context;
use ops::{Result, World};

use crate::output::{self, GOOD, OutputFormat};

/// Create the context file of a role from a template; an existing file stays unchanged
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name of the role, such as `tester` or `oosh-expert`
    role: String,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let begun = context::create_context_file(world, &args.role)?;
    match format {
        OutputFormat::Json => output::print_json(&begun),
        OutputFormat::Text if begun.created => {
            output::print_line(format_args!("{GOOD}Created{GOOD:#} {}", begun.file));
            output::print_line(format_args!(
                "Next: fill it in, then run `thru lifecycle save {}`",
                begun.role
            ));
        }
        OutputFormat::Text => {
            output::print_line(format_args!("{} already exists and was left unchanged", begun.file));
        }
    }
    Ok(0)
}
