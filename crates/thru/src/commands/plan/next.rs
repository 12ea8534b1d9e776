use model::plan::Progress;
use model::render::one_line;
use ops::features::plan::show::{self, Next};
use ops::{Result, World};

use super::{TEXT, short_list};
use crate::output::{self, BOLD, DIM, Format};

pub fn run(world: &World, format: Format) -> Result<u8> {
    let next = show::next(world)?;
    match format {
        Format::Json => output::json(&next),
        Format::Text => print_next(&next),
    }
    Ok(0)
}

fn print_next(next: &Next) {
    for task in &next.in_progress {
        let who = task
            .claimed_by
            .as_deref()
            .map_or(String::new(), |who| format!("  {DIM}{}{DIM:#}", one_line(who, 60)));
        output::line(format_args!("{BOLD}▶ {}{BOLD:#}  {}{who}", task.id, one_line(&task.description, TEXT)));
    }
    for task in &next.ready {
        output::line(format_args!("○ {}  {}", task.id, one_line(&task.description, TEXT)));
    }
    if next.ready.is_empty() && next.in_progress.is_empty() {
        let Progress { done, total } = next.progress;
        let text = if done == total { "All tasks are over." } else { "Nothing is ready." };
        output::line(text);
    }
    for waiting in &next.waiting {
        let ids = short_list(waiting.waits_for.iter().map(String::as_str));
        let waits = if ids.is_empty() { String::new() } else { format!(" waits for {ids}") };
        let why = waiting
            .blocked_reason
            .as_deref()
            .map_or(String::new(), |why| format!(" blocked: {}", one_line(why, TEXT)));
        output::line(format_args!("{DIM}· {}{waits}{why}{DIM:#}", waiting.id));
    }
}
