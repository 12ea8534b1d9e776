use model::plan::TaskProgress;
use model::render::one_line;
use ops::features::plan::show::{self, NextTasks};
use ops::{Result, World};

use super::{TEXT_WIDTH, format_id_list};
use crate::output::{self, BOLD, DIM, OutputFormat};

pub fn run(world: &World, format: OutputFormat) -> Result<u8> {
    let next = show::list_next_tasks(world)?;
    match format {
        OutputFormat::Json => output::print_json(&next),
        OutputFormat::Text => print_next(&next),
    }
    Ok(0)
}

fn print_next(next: &NextTasks) {
    for task in &next.in_progress {
        let who = task
            .claimed_by
            .as_deref()
            .map_or(String::new(), |who| format!("  {DIM}{}{DIM:#}", one_line(who, 60)));
        output::print_line(format_args!(
            "{BOLD}▶ {}{BOLD:#}  {}{who}",
            task.id,
            one_line(&task.description, TEXT_WIDTH)
        ));
    }
    for task in &next.ready {
        output::print_line(format_args!("○ {}  {}", task.id, one_line(&task.description, TEXT_WIDTH)));
    }
    if next.ready.is_empty() && next.in_progress.is_empty() {
        let TaskProgress { done, total } = next.progress;
        let text = if done == total { "No open tasks are left." } else { "Nothing is ready." };
        output::print_line(text);
    }
    for waiting in &next.waiting {
        let ids = format_id_list(waiting.waits_for.iter().map(String::as_str));
        let waits = if ids.is_empty() { String::new() } else { format!(" waits for {ids}") };
        let why = waiting
            .blocked_reason
            .as_deref()
            .map_or(String::new(), |why| format!(" blocked: {}", one_line(why, TEXT_WIDTH)));
        output::print_line(format_args!("{DIM}· {}{waits}{why}{DIM:#}", waiting.id));
    }
}
