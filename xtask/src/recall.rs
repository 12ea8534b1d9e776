//! `cargo xtask recall DIR`: measures how well a brief covers the information that an agent needs after a compaction.
//!
//! Real sessions are cut before each of their compactions and, with `--cuts`, also at artificial points. For each cut,
//! a brief is composed from the part before the cut, just as a hook composes it. It is then compared with the agent's
//! next calls, and with everything since the previous compaction. The harness's own summary, which the transcript
//! contains, and plain lists of files are measured by the same rules. The sessions are split into two halves, so that
//! overfitting to one half is visible.

mod commands;
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
mod tune;
mod wanted;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use model::config::Settings;
use model::score::{SIGNALS, ScoringSettings};

use cut::RecallSession;
use labels::Labels;
use measure::MeasuredCut;
use texts::SessionUpToCut;

/// The sizes at which a brief is measured, in characters.
const BRIEF_SIZES: [usize; 4] = [1_200, 2_000, 4_000, 9_500];

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder of transcripts (*.jsonl, *.jsonl.gz)
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Print every figure as JSON
    #[arg(long)]
    json: bool,
    /// List the items that were not found
    #[arg(long)]
    misses: bool,
    /// Also cut each session at N artificial points
    #[arg(long, value_name = "N", default_value_t = 0)]
    cuts: usize,
    /// Write the briefs, the packet and the summary of each cut to FOLDER, for a judge; measure nothing
    #[arg(long, value_name = "FOLDER")]
    dump: Option<PathBuf>,
    /// Read only transcripts whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Compare the fixed order with the ranking by score; print the details of the chosen ranking
    #[arg(long, value_enum)]
    scoring: Option<RankingArg>,
    /// Set a weight for the ranking by score; may be repeated
    #[arg(long = "weight", value_name = "NAME=NUMBER", requires = "scoring", value_parser = parse_weight)]
    weights: Vec<(usize, f64)>,
    /// Search for better weights on one half of the sessions, and report the result on the other half
    #[arg(long)]
    tune: bool,
    /// Check that, with scoring off, every brief is the same as before scoring was added; measure nothing
    #[arg(long)]
    fixed_order: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RankingArg {
    On,
    Off,
}

/// Parses a weight such as `files=1.2`. Returns the index of the signal in the table, and its weight.
fn parse_weight(text: &str) -> Result<(usize, f64)> {
    let (name, number) = text.split_once('=').context("write NAME=NUMBER")?;
    let at = SIGNALS.iter().position(|row| row.name == name);
    let number: f64 = number.parse().context("the weight is not a number")?;
    Ok((at.with_context(|| format!("there is no weight `{name}`"))?, number))
}

pub fn run_recall(args: &Args) -> Result<bool> {
    let only = args.only.as_deref().unwrap_or_default();
    if let Some(folder) = &args.dump {
        let mut dumped = 0;
        each_session(&args.folder, only, |session| {
            for cut in session.cuts_at_compactions().into_iter().chain(session.artificial_cuts(args.cuts)) {
                dump::write_dump_of_cut(folder, session, &cut, &SessionUpToCut::before_cut(session, &cut)?)?;
                dumped += 1;
            }
            Ok(())
        })?;
        println!("{dumped} cuts written to {}", folder.display());
        return Ok(true);
    }
    if args.fixed_order {
        return is_in_fixed_order(args, only);
    }
    let mut scoring = Settings::DEFAULT.scoring_settings();
    args.weights.iter().for_each(|(at, weight)| scoring.weights.0[*at] = *weight);
    if args.tune {
        let (mut trials, labels) = (tune::weight_trials(&scoring), labels::built_in_failure_labels()?);
        each_session(&args.folder, only, |session| {
            tune::measure_session(&mut trials, session, args.cuts, &labels)
        })?;
        tune::print_trials(&trials)?;
        return Ok(true);
    }
    let scoring = args.scoring.map(|_| scoring);
    let (fixed, scored) = measure_transcripts(
        &args.folder,
        only,
        args.cuts,
        &labels::built_in_failure_labels()?,
        scoring.as_ref(),
    )?;
    if fixed.is_empty() {
        bail!("{} contains no transcript with a compaction", args.folder.display());
    }
    let measured = if args.scoring == Some(RankingArg::On) { &scored } else { &fixed };
    if args.misses {
        measured.iter().for_each(report::print_misses);
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report::report_json(measured))?),
        false => report::print_report(measured),
    }
    if scoring.is_some() && !args.json {
        return Ok(report::print_comparison(&fixed, &scored));
    }
    Ok(true)
}

/// Returns whether the current code without scoring composes the same briefs as the code from before scoring was added.
/// Writes the digest at every cut to a folder. Then runs a test in `model`, which composes each brief with the current
/// code and with the old code. The old code exists only in that test.
fn is_in_fixed_order(args: &Args, only: &str) -> Result<bool> {
    let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
    let mut written = 0;
    each_session(&args.folder, only, |session| {
        for cut in session.cuts_at_compactions().into_iter().chain(session.artificial_cuts(args.cuts)) {
            let past = SessionUpToCut::before_cut(session, &cut)?;
            for digest in [past.digest(), &past.digest_after_summary(&cut.summary)] {
                std::fs::write(folder.path().join(format!("{written}.json")), serde_json::to_vec(digest)?)?;
                written += 1;
            }
        }
        Ok(())
    })?;
    let test = "brief::ranking::tests::without_scoring_the_brief_of_a_real_session_is_what_it_was";
    let mut cargo = crate::cargo_command();
    cargo.args(["test", "--quiet", "--package", "model", "--lib", "--", "--exact", test]);
    let is_same = cargo.env("THRU_DIGESTS", folder.path()).status().context("starting cargo")?.success();
    let verdict = if is_same { "the same bytes" } else { "MISSED: other bytes" };
    println!("{written} digests, four sizes each, without scoring: {verdict}");
    Ok(is_same)
}

/// Measures each transcript at every compaction and also at artificial cuts; `made_up` is the number of artificial
/// cuts per transcript. Briefs are composed in the fixed order and, on request, ranked by score.
fn measure_transcripts(
    folder: &Path,
    only: &str,
    made_up: usize,
    labels: &Labels,
    scoring: Option<&ScoringSettings>,
) -> Result<(Vec<MeasuredCut>, Vec<MeasuredCut>)> {
    let (mut fixed, mut scored) = (Vec::new(), Vec::new());
    each_session(folder, only, |session| {
        for cut in session.cuts_at_compactions().into_iter().chain(session.artificial_cuts(made_up)) {
            let past = SessionUpToCut::before_cut(session, &cut)?;
            fixed.push(MeasuredCut::measure_cut(session, &cut, &past, labels, None)?);
            if scoring.is_some() {
                scored.push(MeasuredCut::measure_cut(session, &cut, &past, labels, scoring)?);
            }
        }
        Ok(())
    })?;
    Ok((fixed, scored))
}

fn each_session(folder: &Path, only: &str, mut with: impl FnMut(&RecallSession) -> Result<()>) -> Result<()> {
    each_transcript(folder, only, |name, bytes| with(&RecallSession::read(name, bytes)))
}

/// Calls `with` for every transcript whose name contains `only`.
pub fn each_transcript(
    folder: &Path,
    only: &str,
    mut with: impl FnMut(&str, &[u8]) -> Result<()>,
) -> Result<()> {
    for path in find_transcripts(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(only) {
            let name = name.split('.').next().unwrap_or_default();
            crate::table::print_overwritten_progress_line(name);
            with(name, &read_transcript(&path)?)?;
        }
    }
    crate::table::print_overwritten_progress_line("");
    Ok(())
}

pub fn find_transcripts(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| {
        let name = path.to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    });
    paths.sort();
    Ok(paths)
}

pub fn read_transcript(path: &Path) -> Result<Vec<u8>> {
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
