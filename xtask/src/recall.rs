//! `cargo xtask recall DIR`: how much of what an agent needs after a compaction does a brief give back?
//!
//! Real sessions are cut before each of their compactions; the brief is composed from what lies before the cut, the
//! way a hook does it; then it is held against what the agent did in its next 40 calls, and against everything since the
//! compaction before. The harness's own summary, which the transcript holds, is measured by the same rules.

mod cut;
mod measure;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use cut::Session;
use measure::Measured;

/// The sizes a brief is measured at, in characters.
const SIZES: [usize; 4] = [1_200, 2_000, 4_000, 9_500];

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder of transcripts (*.jsonl, *.jsonl.gz)
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Every figure
    #[arg(long)]
    json: bool,
    /// Name what was not found
    #[arg(long)]
    misses: bool,
    /// Cut after every N calls too
    #[arg(long, value_name = "N")]
    every: Option<usize>,
    /// Only transcripts whose name holds this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

pub fn run(args: &Args) -> Result<bool> {
    let mut measured = Vec::new();
    for path in transcripts(&args.folder)? {
        if !path.to_string_lossy().contains(args.only.as_deref().unwrap_or_default()) {
            continue;
        }
        let bytes = read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let session = Session::read(name.split('.').next().unwrap_or_default(), &bytes);
        crate::table::progress(&format!("{}: {} cuts", session.name, session.cuts(args.every).len()));
        for cut in session.cuts(args.every) {
            let one = Measured::take(&session, &cut, &SIZES);
            if args.misses {
                report::print_misses(&one);
            }
            measured.push(one);
        }
    }
    crate::table::progress("");
    if measured.is_empty() {
        bail!("{} holds no transcript with a compaction", args.folder.display());
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report::json(&measured))?),
        false => report::print(&measured),
    }
    Ok(true)
}

fn transcripts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    });
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    }
    let done = Command::new("gzip").arg("-dc").arg(path).output().context("cannot start gzip")?;
    if !done.status.success() {
        bail!("gzip cannot read {}", path.display());
    }
    Ok(done.stdout)
}
