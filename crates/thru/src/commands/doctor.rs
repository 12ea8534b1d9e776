use model::finding::FindingLevel;
use model::time;
use ops::Result;
use ops::World;
use ops::features::DoctorCheck;
use ops::project::doctor::DoctorReport;
use ops::session::hook_statistics::EventStatistics;

use crate::output::{self, BAD, BOLD, DIM, GOOD, OutputFormat, WARN};

/// Check the root, trust, settings, disk, records and hooks; change nothing
///
/// Writes a file to .agent/context/scratch and removes it, to test whether records can be written. The exit code is 1
/// if something needs your attention; notes do not count.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(world: &World, _: &Args, format: OutputFormat) -> Result<u8> {
    let report = ops::project::doctor::run_doctor(world);
    match format {
        OutputFormat::Json => output::print_json(&report),
        OutputFormat::Text => print_report(&report, world),
    }
    Ok(u8::from(!report.is_clean()))
}

fn print_report(report: &DoctorReport, world: &World) {
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in &report.checks {
        let (style, mark) = status_mark(check);
        output::print_line(format_args!(
            "{style}{mark}{style:#} {BOLD}{:<width$}{BOLD:#}  {}",
            check.name, check.text
        ));
        for finding in &check.findings {
            output::print_line(format_args!(
                "    {}",
                output::format_finding(finding).replace('\n', "\n    ")
            ));
        }
    }
    if !report.events.is_empty() {
        print_events(&report.events, world);
    }
}

fn print_events(events: &[EventStatistics], world: &World) {
    let head = format!(
        "\n{:<12} {:<15} {:>6}  {:<13} {:>8} {:>8}",
        "harness", "event", "runs", "last fired", "p50 ms", "p99 ms"
    );
    output::print_line(format_args!("{DIM}{head}{DIM:#}"));
    for EventStatistics { harness, event, runs, last_at, p50_ms, p99_ms } in events {
        let ago = time::parse_time(last_at).map_or(String::new(), |at| time::describe_age(at, world.now));
        let ms = |ms: &Option<f64>| ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1}"));
        let (p50, p99) = (ms(p50_ms), ms(p99_ms));
        output::print_line(format_args!("{harness:<12} {event:<15} {runs:>6}  {ago:<13} {p50:>8} {p99:>8}"));
    }
    if events.iter().any(|event| event.p50_ms.is_none()) {
        output::print_line(format_args!(
            "{DIM}-: not timed. A tool call is recorded before its duration is known.{DIM:#}"
        ));
    }
}

/// Returns the style and the label for the result of a check. The label is needed because colour may be off.
fn status_mark(check: &DoctorCheck) -> (output::TextStyle, &'static str) {
    match check.findings.iter().map(|finding| finding.level).max() {
        None | Some(FindingLevel::Note) => (GOOD, "ok  "),
        Some(FindingLevel::Warning) => (WARN, "warn"),
        Some(FindingLevel::Error) => (BAD, "bad "),
    }
}
