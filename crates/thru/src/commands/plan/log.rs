use model::render::one_line;
use model::text::count_with_noun;
use ops::features::plan::show::{self, PlanLogReport};
use ops::{Result, World};

use super::TEXT_WIDTH;
use crate::clock;
use crate::output::{self, BOLD, DIM, OutputFormat, WARN};

/// Prints the newest `n` changes, or all changes if `n` is 0.
pub fn run(world: &World, n: usize, format: OutputFormat) -> Result<u8> {
    let mut log = show::show_plan_log(world)?;
    let skip = if n == 0 { 0 } else { log.lines.len().saturating_sub(n) };
    log.lines.drain(..skip);
    match format {
        OutputFormat::Json => output::print_json(&log),
        OutputFormat::Text => print_log(&log),
    }
    Ok(0)
}

fn print_log(log: &PlanLogReport) {
    if log.lines.is_empty() {
        output::print_message("There are no changes yet.");
    }
    for line in &log.lines {
        let why = if line.why.is_empty() {
            String::new()
        } else {
            format!("  {}", one_line(&line.why, TEXT_WIDTH))
        };
        output::print_line(format_args!(
            "{DIM}{:>5}  {}{DIM:#}  {:<15} {BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}{why}",
            line.seq,
            one_line(&clock::local_date_and_time(&line.at), 24),
            one_line(&line.change_kind, 24),
            one_line(&line.id, 64),
            one_line(&line.author, 40)
        ));
    }
    if log.torn > 0 {
        output::print_message(format_args!(
            "{WARN}note:{WARN:#} {} could not be read",
            count_with_noun(log.torn, "line")
        ));
    }
}
