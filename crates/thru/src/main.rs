//! `thru`. A hook is recognised by its first word, before any argument parser: that is what keeps it fast.

// On macOS the ordinary start-up costs little beside the loader, and nothing there was measured: `main` is below.
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
mod world;

use std::ffi::OsString;
use std::panic::catch_unwind;
use std::time::Instant;

/// musl's own gives memory out slowly, and a hook that reads a transcript asks for much of it.
#[cfg(target_env = "musl")]
#[global_allocator]
static MEMORY: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[cfg(target_os = "macos")]
fn main() -> std::process::ExitCode {
    run(std::env::args_os().collect()).into()
}

/// The whole program: the words of the command line in, the exit code out.
fn run(words: Vec<OsString>) -> u8 {
    let started = Instant::now();
    if words.get(1).is_some_and(|word| word == "hook") && !asks_for_help(&words) {
        hook::run(&words[2..], started);
        return 0;
    }
    std::panic::set_hook(Box::new(output::report_panic));
    output::settle(catch_unwind(|| cli::run(words)).unwrap_or(output::BUG))
}

fn asks_for_help(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "--help" || word == "-h")
}
