use model::role::lifecycle::Insist;
use ops::features::roles::lifecycle::{self, Saved};
use ops::{Result, World};

use crate::commands::role::{Which, tell_doubt};
use crate::output::{self, BAD, BOLD, Format, GOOD};

/// Check the context file; valid, the role is saved
///
/// Exit code 1 when the file is not valid: the role is then active again, and the file as it was.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Take the step also where it is not allowed; the history says so
    #[arg(long)]
    force: bool,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let insist = if args.force { Insist::Yes } else { Insist::No };
    let saved = lifecycle::save(world, args.which.name(), insist)?;
    match format {
        Format::Json => output::json(&saved),
        Format::Text => print_saved(&saved),
    }
    Ok(u8::from(!saved.valid))
}

fn print_saved(saved: &Saved) {
    tell_doubt(&saved.source);
    saved.findings.iter().for_each(output::line);
    let role = &saved.role;
    if saved.valid {
        output::line(format_args!("{BOLD}{role}{BOLD:#} is {GOOD}{}{GOOD:#}", saved.state));
        return;
    }
    output::line(format_args!("{BOLD}{role}{BOLD:#} is {BAD}not saved{BAD:#}: it is {}", saved.state));
    match (&saved.file, &saved.missing) {
        (Some(file), _) => output::talk(format_args!(
            "Next: mend {file}; `thru context fix {file}` does what needs no thought"
        )),
        (None, Some(path)) => output::talk(format_args!("Next: `thru context new {role}` makes {path}")),
        (None, None) => {}
    }
}
