use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use ops::Result;

use crate::output::OutputFormat;
use crate::statusline::{self, StatusLineCall};

/// Print one line about a session for a harness's status line: context, task, loop, gate, role, packet
///
/// The harness calls this command with a description of its session on stdin; `thru install HARNESS --statusline` sets
/// that up. The command writes no file, and prints nothing if it does not understand the description.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run this command and print its output first, to keep the status line that you had before
    #[arg(long, value_name = "COMMAND")]
    after: Option<OsString>,
}

/// Prints the status line if options precede the command's name. Harnesses put the name first, and `main` handles those
/// calls without an argument parser.
pub fn run(root: Option<PathBuf>, args: &Args, format: OutputFormat) -> Result<u8> {
    let call = StatusLineCall { user_command: args.after.clone(), root, json: format == OutputFormat::Json };
    statusline::run_status_line(call, true, Instant::now());
    Ok(0)
}
