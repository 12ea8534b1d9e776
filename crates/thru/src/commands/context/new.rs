use ops::features::roles::context;
use ops::{Result, World};

use crate::output::{self, Format, GOOD};

/// Make the context file of a role, to be filled in; one that is there stays as it is
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What the role is called: `tester`, `oosh-expert`
    role: String,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let begun = context::new(world, &args.role)?;
    match format {
        Format::Json => output::json(&begun),
        Format::Text if begun.created => {
            output::line(format_args!("{GOOD}Made{GOOD:#} {}", begun.file));
            output::line(format_args!("Next: fill it in, then `thru lifecycle save {}`", begun.role));
        }
        Format::Text => output::line(format_args!("{} is there already, and stays as it is", begun.file)),
    }
    Ok(0)
}
