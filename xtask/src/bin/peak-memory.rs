//! Runs its arguments as a command and prints the command's peak memory in KB. `xtask::memory` explains why a helper is
//! needed.
//!
//! If `PEAK_MEMORY_FILE` is set, the command keeps its stdout, stderr and exit code. Its peak memory and its running
//! time in milliseconds are written to that file.
#![allow(clippy::print_stdout)]

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

const RESULT_FILE_VARIABLE: &str = "PEAK_MEMORY_FILE";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else { return ExitCode::from(2) };
    let file = std::env::var_os(RESULT_FILE_VARIABLE);
    let mut command = Command::new(program);
    command.args(words).env_remove(RESULT_FILE_VARIABLE);
    if file.is_none() {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    let start = Instant::now();
    let Ok(status) = command.status() else { return ExitCode::FAILURE };
    let ms = start.elapsed().as_millis();
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return ExitCode::FAILURE };
    // macOS reports bytes, and other systems report kilobytes.
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    let kb = usage.max_rss() / unit;
    let Some(file) = file else {
        println!("{kb}");
        return ExitCode::SUCCESS;
    };
    if std::fs::write(file, format!("{kb} {ms}")).is_err() {
        return ExitCode::FAILURE;
    }
    // A command that was killed by a signal has no exit code. 128 is returned instead, because no command of thru exits
    // with 128.
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(128))
}
