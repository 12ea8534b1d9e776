//! Peak memory of one command.
//!
//! The kernel keeps a child's peak in its resource usage, but counts from the fork: before `exec` the child
//! *is* its parent, so its figure can never be below the parent's own size. A parent that holds tables of
//! samples would drown a hook of 2 MB. Hence this xtask starts itself once more as a small helper that does
//! nothing but run the command; what the helper itself weighs is measured with `/bin/true` and printed as floor.

use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};

use crate::scene;

/// The hidden command word of the helper.
pub const WORD: &str = "__peak-memory";

/// Runs the rest of the arguments as a command, then prints its peak in KB.
pub fn helper(words: &[String]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else { return ExitCode::from(2) };
    if Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return ExitCode::FAILURE };
    // macOS counts bytes, everyone else kilobytes.
    let unit = if cfg!(target_os = "macos") { 1024 } else { 1 };
    println!("{}", usage.max_rss() / unit);
    ExitCode::SUCCESS
}

/// Peak in KB of `command`, which is not run itself: its words, folder and environment are handed to the helper.
pub fn peak_kb(command: &Command, stdin: &[u8]) -> Result<u64> {
    let mut helper = Command::new(std::env::current_exe()?);
    helper.arg(WORD);
    let mut helper = scene::inside(helper, command);
    let mut child =
        helper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("starting the helper")?;
    if let Some(mut pipe) = child.stdin.take() {
        // A command that does not read all of its input is no error.
        let _ = pipe.write_all(stdin);
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("the memory helper failed ({})", output.status);
    }
    String::from_utf8_lossy(&output.stdout).trim().parse().context("the memory helper printed no number")
}
