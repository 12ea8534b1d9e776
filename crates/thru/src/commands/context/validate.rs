use std::path::PathBuf;

use ops::features::roles::context::{self, CheckedContextFile, ContextValidationReport};
use ops::{Result, World};

use crate::output::{self, OutputFormat};

/// Check the context files of roles; print every error and warning with its line number
///
/// The exit code is 0 if all files are valid, even with warnings, and 1 otherwise.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The files, or the names of their roles
    #[arg(required_unless_present = "all")]
    files: Vec<PathBuf>,
    /// Check every context file in this project
    #[arg(long, conflicts_with = "files")]
    all: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let ContextValidationReport { checked_files: checked, first_error } = match args.all {
        true => context::validate_all(world)?,
        false => context::validate_context_files(world, &args.files)?,
    };
    match format {
        // Only one JSON document is printed. On failure, the caller prints the error as that document.
        OutputFormat::Json if first_error.is_some() => {}
        OutputFormat::Json => output::print_json(&checked),
        OutputFormat::Text if checked.is_empty() && first_error.is_none() => {
            output::print_message(
                "There are no context files here yet; `thru context new ROLE` creates one.",
            );
        }
        OutputFormat::Text => checked.iter().for_each(print_checked),
    }
    first_error.map_or(Ok(()), Err)?;
    Ok(u8::from(checked.iter().any(|checked| !checked.valid)))
}

/// Prints the findings and the verdict without colour and with fixed wording, because other tools parse these lines.
pub fn print_checked(checked: &CheckedContextFile) {
    checked.findings.iter().for_each(output::print_line);
    output::print_line(&checked.verdict);
}
