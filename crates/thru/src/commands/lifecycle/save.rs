use model::role::lifecycle::ForceStep;
use ops::features::roles::lifecycle::{self, SaveReport};
use ops::{Result, World};

use crate::commands::role::{RoleArg, print_role_warning};
use crate::output::{self, BAD, BOLD, GOOD, OutputFormat};

/// Check the context file, and mark the role as saved if the file is valid
///
/// The exit code is 1 if the file is not valid; the role is then active again, and the file is unchanged.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: RoleArg,
    /// Take the step even if it is not allowed; the history records this
    #[arg(long)]
    force: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let insist = if args.force { ForceStep::Yes } else { ForceStep::No };
    let saved = lifecycle::save_role(world, args.which.name(), insist)?;
    match format {
        OutputFormat::Json => output::print_json(&saved),
        OutputFormat::Text => print_saved_role(&saved),
    }
    Ok(u8::from(!saved.valid))
}

fn print_saved_role(saved: &SaveReport) {
    print_role_warning(&saved.source);
    saved.findings.iter().for_each(output::print_line);
    let role = &saved.role;
    if saved.valid {
        output::print_line(format_args!("{BOLD}{role}{BOLD:#} is {GOOD}{}{GOOD:#}", saved.state));
        return;
    }
    output::print_line(format_args!("{BOLD}{role}{BOLD:#} is {BAD}not saved{BAD:#}: it is {}", saved.state));
    match (&saved.file, &saved.missing_path) {
        (Some(file), _) => output::print_message(format_args!(
            "Next: fix {file}; `thru context fix {file}` fixes what needs no judgement"
        )),
        (None, Some(path)) => {
            output::print_message(format_args!("Next: `thru context new {role}` creates {path}"));
        }
        (None, None) => {}
    }
}
