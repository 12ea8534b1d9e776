//! Runs its arguments as a command and prints that command's peak memory in KB; why, says `xtask::memory`.
#![allow(clippy::print_stdout)]

use std::process::{Command, ExitCode, Stdio};

use nix::sys::resource::{UsageWho, getrusage};

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else { return ExitCode::from(2) };
    if Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return ExitCode::FAILURE };
    // macOS counts bytes, everyone else kilobytes.
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    println!("{}", usage.max_rss() / unit);
    ExitCode::SUCCESS
}
