use model::finding::Level;
use ops::doctor::{Check, Report};
use ops::{Result, World};

use crate::output::{self, BAD, BOLD, Format, GOOD, WARN};

/// Check root, trust, settings, records and hooks; change nothing
///
/// Exit code 1 when something wants your attention. Notes are worth knowing and do not count.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(world: &World, _: &Args, format: Format) -> Result<u8> {
    let report = ops::doctor::run(world);
    match format {
        Format::Json => output::json(&report),
        Format::Text => print(&report),
    }
    Ok(u8::from(!report.is_clean()))
}

fn print(report: &Report) {
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in &report.checks {
        let (style, mark) = mark(check);
        output::line(format_args!(
            "{style}{mark}{style:#} {BOLD}{:<width$}{BOLD:#}  {}",
            check.name, check.text
        ));
        for finding in &check.findings {
            output::line(format_args!("    {}", output::finding(finding).replace('\n', "\n    ")));
        }
    }
}

/// A word that stands for itself without colour.
fn mark(check: &Check) -> (anstyle::Style, &'static str) {
    match check.findings.iter().map(|finding| finding.level).max() {
        None | Some(Level::Note) => (GOOD, "ok  "),
        Some(Level::Warning) => (WARN, "warn"),
        Some(Level::Error) => (BAD, "bad "),
    }
}
