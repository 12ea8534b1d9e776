//! Measures the peak memory of one command.
//!
//! The kernel counts the peak memory of a child process from the moment of the fork. Before `exec`, the child is a
//! copy of its parent, so its peak is never below the size of the parent. A large parent could not measure the 2 MB
//! of a hook. So a small helper (`src/bin/peak-memory.rs`) runs the command. The helper's own size is measured with
//! `/bin/true` and printed as the lower bound.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::sandbox;

#[derive(Debug, Clone, Copy)]
pub struct PeakMemoryAndTime {
    pub memory_kb: u64,
    pub ms: u64,
}

#[derive(Debug)]
pub struct PeakMemoryHelper(PathBuf);

impl PeakMemoryHelper {
    /// Builds the helper, because `cargo xtask` builds only the xtask binary.
    pub fn build() -> Result<Self> {
        let mut cargo = crate::cargo_command();
        cargo.args(["build", "--quiet", "--package", "xtask", "--bin", "peak-memory"]);
        ensure!(cargo.status().context("starting cargo")?.success(), "the memory helper does not build");
        Ok(Self(std::env::current_exe()?.with_file_name("peak-memory")))
    }

    /// Runs `command` through the helper and returns its output, exit status, peak memory and time.
    pub fn measure(&self, command: &Command, stdin: &[u8]) -> Result<(Output, PeakMemoryAndTime)> {
        let file = tempfile::NamedTempFile::new()?;
        let mut helper = sandbox::wrap_command(Command::new(&self.0), command);
        let output = sandbox::run_with_timeout(helper.env("PEAK_MEMORY_FILE", file.path()), stdin)?;
        let text = std::fs::read_to_string(file.path())?;
        let numbers = text.split_once(' ').and_then(|(kb, ms)| Some((kb.parse().ok()?, ms.parse().ok()?)));
        // If the command hung, it was killed together with the helper, and the helper wrote no numbers.
        let (kb, ms) = numbers.unwrap_or((0, u64::MAX));
        Ok((output, PeakMemoryAndTime { memory_kb: kb, ms }))
    }

    /// Returns the peak memory of `command` in KB. The helper runs the command with the same arguments, folder and
    /// environment.
    pub fn peak_kb(&self, command: &Command, stdin: &[u8]) -> Result<u64> {
        let mut helper = sandbox::wrap_command(Command::new(&self.0), command);
        let mut child =
            helper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("starting the helper")?;
        if let Some(mut pipe) = child.stdin.take() {
            // The command may ignore its input, so a closed pipe is not an error.
            let _ = pipe.write_all(stdin);
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("the memory helper failed ({})", output.status);
        }
        String::from_utf8_lossy(&output.stdout).trim().parse().context("the memory helper printed no number")
    }
}
