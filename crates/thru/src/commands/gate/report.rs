//! Prints the verdicts of a stage, for `check` and `run`.

use model::gate::{GateResult, OutputTier, OutputVerdict};
use model::render::one_line;
use ops::World;
use ops::features::outputs::{GateReport, OutputReportRow};

use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Prints the verdicts, followed by the PERSISTENCE_GATE line that orchestrators search for. Returns the exit code.
pub fn print_report(world: &World, report: &GateReport, format: OutputFormat) -> u8 {
    match format {
        OutputFormat::Json => output::print_json(report),
        OutputFormat::Text => print_text(world, report),
    }
    match report.gate {
        GateResult::Pass => 0,
        GateResult::SoftContinue => 3,
        GateResult::HardFail => 4,
    }
}

fn print_text(world: &World, report: &GateReport) {
    let GateReport { stage, attempt, run, .. } = report;
    let stage = one_line(stage, 128);
    output::print_line(format_args!("Stage {BOLD}{stage}{BOLD:#}, attempt {attempt}, in {}", run.display()));
    let width = report.outputs.iter().map(|row| row.file.chars().count()).max().unwrap_or(0).min(60);
    for row in &report.outputs {
        print_row(row, width);
    }
    if let Some(omissions) = &report.omissions {
        output::print_line(format_args!("Omitted outputs are listed in {}", omissions.display()));
    }
    if let Some(change) = &report.changed_since_pass {
        output::print_line(format_args!("Stage {stage} {}", one_line(&change.describe(world), 600)));
    }
    let (style, words) = match report.gate {
        GateResult::Pass => (GOOD, None),
        GateResult::SoftContinue | GateResult::HardFail if report.fails_only_because_of_inputs() => {
            let words = "the gate does not pass because of these inputs; if later work changed them, the stage is \
                         over and nothing is wrong; to cover the new inputs, do what the hints say";
            (WARN, Some(words))
        }
        GateResult::SoftContinue => {
            (WARN, Some("the stage continues without an advisory output; say so in its result"))
        }
        GateResult::HardFail => (BAD, Some("a critical output is not valid; the stage cannot continue")),
    };
    if let Some(words) = words {
        let word = if style == BAD { "error" } else { "warning" };
        output::print_message(format_args!("{style}{word}:{style:#} {words}"));
    }
    output::print_line(format_args!("PERSISTENCE_GATE={}", report.gate.name()));
}

fn print_row(row: &OutputReportRow, width: usize) {
    let style = match (row.verdict, row.tier) {
        (OutputVerdict::Valid, _) => GOOD,
        (_, OutputTier::Critical) => BAD,
        _ => WARN,
    };
    let (verdict, tier, file) = (row.verdict.name(), row.tier.name(), one_line(&row.file, 200));
    let why = one_line(&row.why, 300);
    let line = format!("  {style}{verdict:<10}{style:#}  {tier:<8}  {file:<width$}  {DIM}{why}{DIM:#}");
    output::print_line(if why.is_empty() {
        format!("  {style}{verdict:<10}{style:#}  {tier:<8}  {file}")
    } else {
        line
    });
    if !row.remedy.is_empty() {
        output::print_line(format_args!("      {DIM}hint:{DIM:#} {}", one_line(&row.remedy, 600)));
    }
    if let Some(message) = &row.last_message {
        output::print_line(format_args!("      {DIM}last message:{DIM:#} {}", message.display()));
    }
}
