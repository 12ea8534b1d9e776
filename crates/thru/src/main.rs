//! `thru`. A hook is recognised by its first word, before any argument parser: that is what keeps it fast.

mod cli;
mod commands;
mod hook;
mod output;
mod world;

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let started = Instant::now();
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == "hook")
        && let (Some(harness), Some(event)) = (words.next(), words.next())
        && let (Some(harness), Some(event)) = (harness.to_str(), event.to_str())
        && !harness.starts_with('-')
        && !event.starts_with('-')
    {
        hook::run(harness, event, started);
        return ExitCode::SUCCESS;
    }
    cli::run()
}
