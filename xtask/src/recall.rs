//! `cargo xtask recall DIR`: measures how much of what an agent needs after a compaction is in the brief.
//!
//! Real sessions are cut before each of their compactions and, with `--cuts`, at artificial points too. The brief is
//! composed from what comes before the cut, as a hook does it. Then it is compared with what the agent did in its
//! next calls, and with everything since the previous compaction. The harness's own summary, which the transcript
//! contains, and bare lists of files are measured by the same rules. Sessions are split in two halves, so that
//! overfitting to one shows.

mod cut;
mod dump;
mod effects;
mod errors;
mod events;
mod labels;
mod measure;
mod report;
mod targets;
mod texts;
mod wanted;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use cut::Session;
use labels::Labels;
use measure::Measured;
use texts::Past;

/// The sizes at which a brief is measured, in characters.
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
    /// Cut each session at N artificial points too
    #[arg(long, value_name = "N", default_value_t = 0)]
    cuts: usize,
    /// Write the texts of each compaction for a judge into this folder, and measure nothing
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Only transcripts whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

pub fn run(args: &Args) -> Result<bool> {
    let only = args.only.as_deref().unwrap_or_default();
    if let Some(folder) = &args.dump {
        let mut dumped = 0;
        each_session(&args.folder, only, |session| {
            for cut in session.compactions() {
                dump::write(folder, session, &cut, &Past::at(session, &cut)?)?;
                dumped += 1;
            }
            Ok(())
        })?;
        println!("{dumped} compactions written to {}", folder.display());
        return Ok(true);
    }
    let measured = measure(&args.folder, only, args.cuts, &labels::ours()?)?;
    if measured.is_empty() {
        bail!("{} holds no transcript with a compaction", args.folder.display());
    }
    if args.misses {
        measured.iter().for_each(report::print_misses);
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report::json(&measured))?),
        false => report::print(&measured),
    }
    Ok(true)
}

/// Measures every compaction of every transcript, and this many artificial cuts of each.
fn measure(folder: &Path, only: &str, made_up: usize, labels: &Labels) -> Result<Vec<Measured>> {
    let mut measured = Vec::new();
    each_session(folder, only, |session| {
        for cut in session.compactions().into_iter().chain(session.made_up(made_up)) {
            measured.push(Measured::take(session, &cut, &Past::at(session, &cut)?, labels)?);
        }
        Ok(())
    })?;
    Ok(measured)
}

fn each_session(folder: &Path, only: &str, mut with: impl FnMut(&Session) -> Result<()>) -> Result<()> {
    for path in transcripts(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(only) {
            let name = name.split('.').next().unwrap_or_default();
            crate::table::progress(name);
            with(&Session::read(name, &read(&path)?))?;
        }
    }
    crate::table::progress("");
    Ok(())
}

pub fn transcripts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    });
    paths.sort();
    Ok(paths)
}

pub fn read(path: &Path) -> Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    }
    let done = Command::new("gzip").arg("-dc").arg(path).output().context("cannot start gzip")?;
    if !done.status.success() {
        bail!("gzip cannot read {}", path.display());
    }
    Ok(done.stdout)
}

#[cfg(test)]
#[path = "recall/recall_tests.rs"]
mod tests;
