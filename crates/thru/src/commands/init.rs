use ops::init::{Below, Options, Report, Shared};
use ops::{Result, World};

use crate::output::{self, BOLD, Format, GOOD, WARN};

/// Make this project a root: create .agent/context and trust it on this machine
///
/// Twice is the same as once. A root above this folder is used as it is, and a git worktree uses the root of its main
/// checkout. Nothing outside .agent/context is touched.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep records that a team shares in git; journals and state stay out of it
    #[arg(long)]
    shared: bool,
    /// Make a root here although there is one above
    #[arg(long)]
    nested: bool,
    /// The project's name, instead of its folder's
    #[arg(long)]
    name: Option<String>,
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    let report = ops::init::run(world, &args.options())?;
    match format {
        Format::Json => output::json(&report),
        Format::Text => print(&report),
    }
    Ok(0)
}

impl Args {
    fn options(&self) -> Options {
        Options {
            name: self.name.clone(),
            shared: if self.shared { Shared::Yes } else { Shared::No },
            below: if self.nested { Below::Nested } else { Below::TheRoot },
        }
    }
}

fn print(report: &Report) {
    let Report { root, name, .. } = report;
    if let Some(kept) = &report.set_aside {
        output::talk(format_args!("{WARN}warning:{WARN:#} root.json was damaged; it is kept as {kept}"));
    }
    let root = root.display();
    match report.created {
        true => output::line(format_args!(
            "{GOOD}Created{GOOD:#} the root of {BOLD}{name}{BOLD:#} in {root}/.agent/context"
        )),
        false => {
            output::line(format_args!("{BOLD}{name}{BOLD:#} has its root in {root}/.agent/context already"));
        }
    }
    match (report.trusted, report.created) {
        (false, _) => {
            output::line(
                "Its records came with the folder and are not trusted on this machine: hooks do nothing here.",
            );
            output::line("Next: look at them, then run `thru trust`");
        }
        (true, true) => output::line("Next: call it from your harness; `thru help hook` shows how"),
        (true, false) => {}
    }
}
