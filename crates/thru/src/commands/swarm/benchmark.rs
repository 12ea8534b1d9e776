use std::path::PathBuf;

use model::benchmark::{CheckOutcome, METRICS, NoDataPolicy, format_metric_value, sparkline};
use ops::project::benchmark::{self, BenchmarkReport, MAX_RUNS_IN_CHART, PictureOverwritePolicy};
use ops::{Result, World};

use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, TextStyle};

/// Measure how well the work is going, compare the figures with limits, and record each run
///
/// The figures come from evidence, journals, loops and receipts. Each check results in pass, fail or no-data; without
/// records, a check never passes. The settings `benchmark.*` are the limits. Every run is added to `benchmarks.json`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Exit with 1 if a check fails
    #[arg(long)]
    ci_gate: bool,
    /// Also fail a check that has no data
    #[arg(long)]
    require_data: bool,
    /// Write a chart of the figures to this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Replace the SVG file even if thru did not write it
    #[arg(long, requires = "svg")]
    force: bool,
}

pub fn run(world: &World, args: &Args, format: OutputFormat) -> Result<u8> {
    let no_data = if args.require_data { NoDataPolicy::FailsGate } else { NoDataPolicy::Ignored };
    let report = benchmark::run_benchmark(world, no_data)?;
    if let Some(file) = &args.svg {
        let overwrite =
            if args.force { PictureOverwritePolicy::AnyFile } else { PictureOverwritePolicy::OnlyPicture };
        benchmark::write_svg(world, &report, file, overwrite)?;
    }
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report),
    }
    Ok(u8::from(args.ci_gate && report.outcome == CheckOutcome::Fail))
}

fn print_report(report: &BenchmarkReport) {
    let width = METRICS.iter().map(|metric| metric.title.len()).max().unwrap_or(0);
    for metric in METRICS {
        let value = format_metric_value(metric, (metric.read_value)(&report.run.metrics));
        let check = report.run.checks.iter().find(|check| check.metric == metric.name);
        let limit = check.map(|check| check.limit.as_str()).unwrap_or_default();
        let outcome = check.map(|check| check.outcome);
        let (style, word) = (outcome.map_or(DIM, outcome_style), outcome.map_or("", CheckOutcome::name));
        let line = sparkline(&report.history.last_values(metric.name, MAX_RUNS_IN_CHART));
        output::print_line(format_args!(
            "{:<width$}  {BOLD}{value:>9}{BOLD:#}  {DIM}{limit:<6}{DIM:#}  {style}{word:<7}{style:#}  {DIM}{line}{DIM:#}",
            metric.title
        ));
    }
    let gate = outcome_style(report.outcome);
    let why = match report.outcome {
        CheckOutcome::Pass => "every figure with data is within its limit",
        CheckOutcome::Fail => "a figure is not within its limit, or is required and missing",
        CheckOutcome::NoData => "there are no records to judge by",
    };
    output::print_line(format_args!("\n{gate}{}{gate:#}: {why}", report.outcome.name()));
}

fn outcome_style(outcome: CheckOutcome) -> TextStyle {
    match outcome {
        CheckOutcome::Pass => GOOD,
        CheckOutcome::Fail => BAD,
        CheckOutcome::NoData => DIM,
    }
}
