//! The program `thru`. To keep hooks fast, `main` recognises a hook by its first argument, before any argument parser
//! runs.

// macOS uses the ordinary `main` below. There, the dynamic loader probably takes far longer than Rust's start-up, but
// this was not measured.
#![cfg_attr(not(target_os = "macos"), no_main)]

mod ask;
mod cli;
mod clock;
mod commands;
#[cfg(not(target_os = "macos"))]
#[allow(unsafe_code)]
mod entry;
mod hook;
mod output;
mod progress;
mod spelling;
mod statusline;
mod world;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::time::Instant;

/// Replaces musl's allocator, which is too slow for a hook that reads a transcript.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: entry::LockedAllocator = entry::LockedAllocator::new();

#[cfg(target_os = "macos")]
fn main() -> std::process::ExitCode {
    let is_ours = |name: OsString| name.as_encoded_bytes().starts_with(world::VARIABLE_PREFIX.as_bytes());
    let has_variables = std::env::vars_os().any(|(name, _)| is_ours(name));
    run_program(std::env::args_os().collect(), has_variables).into()
}

/// Runs the whole program and returns the exit code. `has_variables` is true if the environment contains any of our
/// `THROUGHLINE_` variables.
fn run_program(words: Vec<OsString>, has_variables: bool) -> u8 {
    let started = Instant::now();
    if words.get(1).is_some_and(|word| word == "hook") && !asks_for_help(&words) {
        hook::run_hook(&words[2..], has_variables, started);
        return 0;
    }
    if words.get(1).is_some_and(|word| word == "statusline") && !asks_for_help(&words) {
        statusline::run_status_line(
            statusline::StatusLineCall::from_words(&words[2..]),
            has_variables,
            started,
        );
        return 0;
    }
    std::panic::set_hook(Box::new(output::report_panic));
    output::final_exit_code(catch_unwind(|| cli::run_command_line(words)).unwrap_or(output::BUG_EXIT_CODE))
}

fn asks_for_help(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "--help" || word == "-h")
}
