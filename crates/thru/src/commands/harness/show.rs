use ops::Result;
use ops::setup::harnesses::{self, EventRow};

use crate::output::{self, BOLD, DIM, Format};

pub fn run(name: &str, format: Format) -> Result<()> {
    let shown = harnesses::show(name)?;
    if format == Format::Json {
        output::json(&shown);
        return Ok(());
    }
    let harnesses::Shown { row, calls_from, transcript, commands, context_cap, session_variable } = shown;
    output::line(format_args!("{BOLD}{}{BOLD:#} ({})", row.title, row.name));
    output::line(format_args!("  calls thru from  {calls_from}"));
    output::line(format_args!("  transcript       {transcript}"));
    output::line(format_args!("  context          at most {context_cap} characters at a time"));
    if let Some(variable) = session_variable {
        output::line(format_args!("  session          ${variable} in its shells"));
    }
    output::line(format_args!("  commands         {}", commands.join(", ")));
    let width = row.events.iter().map(|event| event.event.len()).max().unwrap_or(0);
    for EventRow { event, neutral } in &row.events {
        output::line(format_args!("  {DIM}event{DIM:#}  {event:width$}  {neutral}"));
    }
    for missing in &row.missing {
        output::line(format_args!("  {DIM}gap{DIM:#}    {missing}"));
    }
    Ok(())
}
