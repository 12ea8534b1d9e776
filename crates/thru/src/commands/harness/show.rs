use ops::Result;
use ops::setup::harnesses::{self, EventRow};

use crate::output::{self, BOLD, DIM, OutputFormat};

pub fn run(name: &str, format: OutputFormat) -> Result<()> {
    let shown = harnesses::show_harness(name)?;
    if format == OutputFormat::Json {
        output::print_json(&shown);
        return Ok(());
    }
    let harnesses::HarnessShown {
        row,
        calling_file,
        transcript,
        commands,
        max_context_length,
        session_variable,
    } = shown;
    output::print_line(format_args!("{BOLD}{}{BOLD:#} ({})", row.title, row.name));
    output::print_line(format_args!("  calls thru from  {calling_file}"));
    output::print_line(format_args!("  transcript       {transcript}"));
    output::print_line(format_args!("  context          at most {max_context_length} characters at a time"));
    if let Some(variable) = session_variable {
        output::print_line(format_args!("  session          ${variable} in its shells"));
    }
    output::print_line(format_args!("  commands         {}", commands.join(", ")));
    let width = row.events.iter().map(|event| event.event.len()).max().unwrap_or(0);
    for EventRow { event, our_event } in &row.events {
        output::print_line(format_args!("  {DIM}event{DIM:#}  {event:width$}  {our_event}"));
    }
    for missing in &row.missing {
        output::print_line(format_args!("  {DIM}gap{DIM:#}    {missing}"));
    }
    Ok(())
}
