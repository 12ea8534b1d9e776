//! `cargo xtask recall DIR`: how much of what an agent needs after a compaction does a brief give back?
//!
//! Real sessions are cut before each of their compactions; the brief is composed from what lies before the cut, the
//! way a hook does it; then it is held against what the agent did in its next 40 calls, and against everything since the
//! compaction before. The harness's own summary, which the transcript holds, is measured by the same rules.

mod cut;
mod dump;
mod events;
mod measure;
mod report;
mod texts;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use cut::Session;
use measure::Measured;
use texts::Past;

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
    /// Cut each session at N made-up points too
    #[arg(long, value_name = "N", default_value_t = 0)]
    cuts: usize,
    /// Write what a judge reads of each compaction into this folder, and measure nothing
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Only transcripts whose name holds this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

pub fn run(args: &Args) -> Result<bool> {
    let mut measured = Vec::new();
    let mut dumped = 0;
    for path in transcripts(&args.folder)? {
        if !path.to_string_lossy().contains(args.only.as_deref().unwrap_or_default()) {
            continue;
        }
        let bytes = read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let session = Session::read(name.split('.').next().unwrap_or_default(), &bytes);
        let mut cuts = session.compactions();
        if args.dump.is_none() {
            cuts.extend(session.made_up(args.cuts));
        }
        crate::table::progress(&format!("{}: {} cuts", session.name, cuts.len()));
        for cut in cuts {
            let past = Past::at(&session, &cut)?;
            if let Some(folder) = &args.dump {
                dump::write(folder, &session, &cut, &past)?;
                dumped += 1;
                continue;
            }
            let one = Measured::take(&session, &cut, &past, &SIZES);
            if args.misses {
                report::print_misses(&one);
            }
            measured.push(one);
        }
    }
    crate::table::progress("");
    if let Some(folder) = &args.dump {
        println!("{dumped} compactions written to {}", folder.display());
        return Ok(true);
    }
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
