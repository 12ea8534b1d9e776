//! Peak memory of one command.
//!
//! The kernel keeps a child's peak in its resource usage, but counts from the fork: before `exec` the child
//! *is* its parent, so its figure can never be below the parent's own size. A parent that holds tables of
//! samples would drown a hook of 2 MB. Hence a small helper (`src/bin/peak-memory.rs`) that does nothing but run the
//! command; what the helper itself weighs is measured with `/bin/true` and printed as floor.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::sandbox;

/// What a command took.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    pub kb: u64,
    pub ms: u64,
}

#[derive(Debug)]
pub struct Helper(PathBuf);

impl Helper {
    /// Builds it: `cargo xtask` builds nothing but the xtask.
    pub fn build() -> Result<Self> {
        let mut cargo = crate::cargo();
        cargo.args(["build", "--quiet", "--package", "xtask", "--bin", "peak-memory"]);
        ensure!(cargo.status().context("starting cargo")?.success(), "the memory helper does not build");
        Ok(Self(std::env::current_exe()?.with_file_name("peak-memory")))
    }

    /// Runs `command` through the helper: what it printed and how it ended, its peak memory and its time.
    pub fn measure(&self, command: &Command, stdin: &[u8]) -> Result<(Output, Spent)> {
        let file = tempfile::NamedTempFile::new()?;
        let mut helper = sandbox::inside(Command::new(&self.0), command);
        let output = sandbox::finish(helper.env("PEAK_MEMORY_FILE", file.path()), stdin)?;
        let text = std::fs::read_to_string(file.path())?;
        let numbers = text.split_once(' ').and_then(|(kb, ms)| Some((kb.parse().ok()?, ms.parse().ok()?)));
        // Whoever hung was killed with the helper, and left no number.
        let (kb, ms) = numbers.unwrap_or((0, u64::MAX));
        Ok((output, Spent { kb, ms }))
    }

    /// Peak in KB of `command`, which is not run itself: its words, folder and environment are handed to the helper.
    pub fn peak_kb(&self, command: &Command, stdin: &[u8]) -> Result<u64> {
        let mut helper = sandbox::inside(Command::new(&self.0), command);
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
}
