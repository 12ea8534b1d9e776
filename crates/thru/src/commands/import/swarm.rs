use std::path::PathBuf;

use ops::features::evidence::import::EvidenceImportReport;
use ops::features::plan::import::ExistingPlanPolicy;
use ops::features::summaries::{ImportedOutput, OutputImportReport};
use ops::project::benchmark::BenchmarkRunsImportReport;
use ops::setup::swarm;
use ops::{Result, World, WriteMode};

use crate::commands::plan::print_notes;
use crate::commands::{decisions, plan};
use crate::output::{self, DIM, GOOD, OutputFormat};

/// Import the .swarm folder of opencode-swarm: plan.json, plan.md, the ledger, evidence, the decisions and patterns in
/// context.md, summaries and benchmarks.json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder of opencode-swarm [default: .swarm in the project]
    folder: Option<PathBuf>,
    /// Add the imported phases after the phases of the current plan
    #[arg(long)]
    append: bool,
    /// Replace the current plan with the imported one; the old plan stays in the ledger
    #[arg(long, conflicts_with = "append")]
    replace: bool,
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let mode = if args.dry_run { WriteMode::DryRun } else { WriteMode::Write };
    let place = ExistingPlanPolicy::from_flags(args.append, args.replace);
    let report = swarm::import_swarm(world, args.folder.as_deref(), place, mode)?;
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_swarm(&report, mode),
    }
    Ok(0)
}

fn print_swarm(report: &swarm::SwarmImportReport, mode: WriteMode) {
    if let Some(report) = &report.plan {
        plan::print_import(report, mode);
    }
    if let Some(report) = &report.decisions {
        decisions::print_import(report, mode);
    }
    if let Some(evidence) = &report.evidence {
        print_evidence(evidence, mode);
    }
    if let Some(summaries) = &report.summaries {
        print_outputs(summaries, mode);
    }
    if let Some(BenchmarkRunsImportReport { runs, new, unread_reason }) = &report.benchmarks {
        let how = import_outcome_words(*new, mode);
        output::print_line(format_args!("{GOOD}Benchmarks{GOOD:#}: {runs} runs {how}"));
        if !unread_reason.is_empty() {
            output::print_message(format_args!("{DIM}left out: benchmarks.json: {unread_reason}{DIM:#}"));
        }
    }
    if mode == WriteMode::DryRun {
        output::print_message(format_args!("{DIM}(a dry run: nothing was written){DIM:#}"));
    }
}

/// Returns the end of a line about imported records, such as `imported, 3 of them new`.
fn import_outcome_words(new: usize, mode: WriteMode) -> String {
    match (new, mode) {
        (0, _) => "were already imported".to_owned(),
        (new, WriteMode::Write) => format!("imported, {new} of them new"),
        (new, WriteMode::DryRun) => format!("would be imported, {new} of them new"),
    }
}

fn print_outputs(report: &OutputImportReport, mode: WriteMode) {
    let how = import_outcome_words(report.new, mode);
    output::print_line(format_args!(
        "{GOOD}Originals{GOOD:#}: {} summarised outputs {how}",
        report.outputs.len()
    ));
    for ImportedOutput { source_name, id, bytes } in &report.outputs {
        output::print_line(format_args!(
            "  {source_name}  {DIM}{bytes} bytes, `thru swarm retrieve {id}`{DIM:#}"
        ));
    }
    for left in &report.left_out {
        output::print_message(format_args!("{DIM}left out: {left}{DIM:#}"));
    }
}

fn print_evidence(report: &EvidenceImportReport, mode: WriteMode) {
    let EvidenceImportReport { files, tasks, entries, new_entries, .. } = report;
    let how = import_outcome_words(*new_entries, mode);
    output::print_line(format_args!(
        "{GOOD}Evidence{GOOD:#}: {entries} entries for {tasks} tasks and phases, from {files} files, {how}"
    ));
    for left in &report.skipped_files {
        output::print_message(format_args!("{DIM}left out: {}: {}{DIM:#}", left.file, left.why));
    }
    print_notes(&report.notes, report.redacted);
}
