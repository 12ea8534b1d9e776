mod check;
mod expect;
mod live;
mod prompt;
mod report;
mod run;
mod seal;

use ops::{Result, World};

use crate::output::OutputFormat;

/// Check whether the files that sub-agents must write exist, and are complete and fresh
///
/// `expect` records which files a stage must produce. A file is valid if its last line is `<!-- AGENT_COMPLETE -->`,
/// outside any code block, and the file is not from an earlier run. `check` judges the files, and `run` launches the
/// commands for the files that are not valid.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Expect(expect::Args),
    #[command(visible_alias = "status")]
    Check(check::Args),
    Run(run::Args),
    Prompt(prompt::Args),
    Seal(seal::Args),
    Live(live::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Expect(args) => expect::run(world, args, format),
        Command::Check(args) => check::run(world, args, format),
        Command::Run(args) => run::run(world, args, format),
        Command::Prompt(args) => prompt::run(world, args, format),
        Command::Seal(args) => seal::run(world, args, format),
        Command::Live(args) => live::run(world, args, format),
    }
}
