//! `thru`. A hook is recognised by its first word, before any argument parser: that is what keeps it fast.

#![no_main]

mod cli;
mod commands;
#[allow(unsafe_code)]
mod entry;
mod hook;
mod output;
mod world;

use std::ffi::OsString;
use std::time::Instant;

/// The whole program: the words of the command line in, the exit code out.
fn run(words: Vec<OsString>) -> u8 {
    let started = Instant::now();
    if let Some((harness, event)) = hook_words(&words) {
        hook::run(harness, event, started);
        return 0;
    }
    cli::run(words)
}

/// `thru hook <harness> <event>`, and nothing that looks like a flag.
fn hook_words(words: &[OsString]) -> Option<(&str, &str)> {
    let [_, hook, harness, event, ..] = words else { return None };
    let (harness, event) = (harness.to_str()?, event.to_str()?);
    (hook == "hook" && !harness.starts_with('-') && !event.starts_with('-')).then_some((harness, event))
}
