//! `cargo xtask tidy`: checks rules of this repository that the compiler does not check. Violations are reported with
//! file and line.

mod dependencies;
mod licence;
mod pages;
mod source;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

#[derive(Debug, PartialEq, Eq)]
struct TidyFinding {
    place: String,
    text: String,
}

impl TidyFinding {
    fn new(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { place: place.into(), text: text.into() }
    }
}

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Rewrite xtask/ops-dependencies.txt
    #[arg(long)]
    bless: bool,
}

pub fn run_tidy(args: &Args) -> Result<bool> {
    let root = crate::workspace_root();
    if args.bless {
        dependencies::write_dependency_list(&root)?;
    }
    let files = tracked_files(&root)?;
    let mut findings = Vec::new();
    for path in &files {
        // The file is not text, or it was deleted and the deletion is not committed yet. In both cases, there are no
        // lines to check.
        let Ok(text) = std::fs::read_to_string(root.join(path)) else { continue };
        findings.extend(source::check_source(path, &text));
        let read = |path: &Path| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        findings.extend(pages::check_page(path, &text, &files, read));
    }
    findings.extend(dependencies::check_dependencies(&root)?);
    findings.extend(licence::check_licences()?);
    for finding in &findings {
        eprintln!("{}: {}", finding.place, finding.text);
    }
    if findings.is_empty() {
        println!("tidy: {} files, no problems", files.len());
    } else {
        println!("tidy: {} findings", findings.len());
    }
    Ok(findings.is_empty())
}

/// Returns the files that git tracks or would track, so that a new file is checked before its first commit.
fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("starting git")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let mut files: Vec<PathBuf> =
        String::from_utf8_lossy(&output.stdout).split_terminator('\0').map(PathBuf::from).collect();
    files.sort();
    files.dedup();
    Ok(files)
}
