mod benchmark;
mod domains;
mod extract;
mod retrieve;
mod status;

use clap::Subcommand;
use ops::{Result, World};

use crate::output::Format;

/// Several agents at once: what each of them did, and the outputs that they saw a summary of
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Args),
    Retrieve(retrieve::Args),
    Benchmark(benchmark::Args),
    Extract(extract::Args),
    Domains(domains::Args),
}

pub fn run(world: &World, args: &Args, format: Format) -> Result<u8> {
    match &args.command {
        Command::Status(args) => status::run(world, args, format),
        Command::Benchmark(args) => benchmark::run(world, args, format),
        Command::Extract(args) => extract::run(world, args, format),
        Command::Domains(args) => domains::run(world, args, format),
        Command::Retrieve(args) => retrieve::run(world, args, format),
    }
}
