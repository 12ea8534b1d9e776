mod agents;
mod benchmark;
mod diagnose;
mod domains;
mod extract;
mod install;
mod list;
mod plan;
mod retrieve;
mod status;

use clap::Subcommand;
use ops::{Result, World};

use crate::output::OutputFormat;

/// Install a team of agents, and show its plan, its verdicts and its activity
///
/// The agents are architect, explorer, sme, coder, reviewer, critic and test_engineer. The results of reviewer, critic
/// and test_engineer become evidence for the current task.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Install(install::Args),
    Uninstall(install::UninstallArgs),
    List(list::Args),
    Agents(agents::Args),
    Plan(plan::Args),
    Diagnose(diagnose::Args),
    Status(status::Args),
    Retrieve(retrieve::Args),
    Benchmark(benchmark::Args),
    Extract(extract::Args),
    Domains(domains::Args),
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    match &args.command {
        Command::Install(args) => install::run(world, args, format),
        Command::Uninstall(args) => install::uninstall(world, args, format),
        Command::List(args) => list::run(world, args, format),
        Command::Agents(args) => agents::run(world, args, format),
        Command::Plan(args) => plan::run(world, args, format),
        Command::Diagnose(args) => diagnose::run(world, args, format),
        Command::Status(args) => status::run(world, args, format),
        Command::Benchmark(args) => benchmark::run(world, args, format),
        Command::Extract(args) => extract::run(world, args, format),
        Command::Domains(args) => domains::run(world, args, format),
        Command::Retrieve(args) => retrieve::run(world, args, format),
    }
}
