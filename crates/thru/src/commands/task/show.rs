use model::render::one_line;
use ops::features::plan::show::{self, TaskShown};
use ops::{Result, World};

use crate::clock;
use crate::commands::evidence::describe_evidence;
use crate::output::{self, BOLD, DIM, OutputFormat};

pub fn run(world: &World, id: &str, format: OutputFormat) -> Result<u8> {
    let shown = show::show_task(world, id)?;
    match format {
        OutputFormat::Json => output::print_json(&shown),
        OutputFormat::Text => print_task(&shown),
    }
    Ok(0)
}

fn print_task(shown: &TaskShown) {
    let TaskShown { task, phase_name, ready, waits_for, waiting_tasks, evidence, history } = shown;
    output::print_line(format_args!("{BOLD}{}{BOLD:#}  {}", task.id, one_line(&task.description, 2_000)));
    let status = task.status.name().replace('_', " ");
    let ready = if *ready { ", ready" } else { "" };
    let mut rows = vec![
        ("status", format!("{status}{ready}")),
        ("phase", format!("{} {}", task.phase, one_line(phase_name, 120))),
    ];
    let mut row = |name: &'static str, text: Option<String>| {
        rows.extend(text.filter(|text| !text.is_empty()).map(|text| (name, text)));
    };
    let long = |text: &Option<String>| text.as_deref().map(|text| one_line(text, 2_000));
    row("size", task.size.map(|size| size.name().to_owned()));
    row("done when", long(&task.acceptance));
    row("waits for", Some(waits_for.join(", ")));
    row("holds up", Some(waiting_tasks.join(", ")));
    row("blocked", long(&task.blocked_reason));
    row("files", Some(one_line(&task.files_touched.join(", "), 2_000)));
    row("evidence", evidence.as_ref().map(describe_evidence));
    row("evidence file", long(&task.evidence_path));
    row("no evidence", long(&task.without_evidence));
    row("by", long(&task.claimed_by));
    row("started", task.started_at.as_deref().map(clock::local_date_and_time));
    row("done", task.done_at.as_deref().map(clock::local_date_and_time));
    for (key, value) in &task.rest {
        rows.push(("also", format!("{}: {}", one_line(key, 40), one_line(&value.to_string(), 400))));
    }
    output::print_pairs(&rows);
    for line in history {
        output::print_line(format_args!(
            "{DIM}{}  {}  {}{DIM:#}",
            clock::local_date_and_time(&line.at),
            one_line(&line.change_kind, 24),
            one_line(&line.author, 60)
        ));
    }
}
