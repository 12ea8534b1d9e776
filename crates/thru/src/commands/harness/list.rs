use ops::setup::harnesses;

use crate::output::{self, BOLD, DIM, OutputFormat};

pub fn run(format: OutputFormat) {
    let rows = harnesses::list_harnesses();
    match format {
        OutputFormat::Json => output::print_json(&rows),
        OutputFormat::Text => {
            for row in &rows {
                output::print_line(format_args!("{BOLD}{}{BOLD:#} ({})", row.title, row.name));
                let events: Vec<String> =
                    row.events.iter().map(|e| format!("{} ({})", e.our_event, e.event)).collect();
                output::print_line(format_args!("  reports   {}", events.join(", ")));
                for missing in &row.missing {
                    output::print_line(format_args!("  {DIM}gap{DIM:#}       {missing}"));
                }
            }
        }
    }
}
