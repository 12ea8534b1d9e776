use model::render::one_line;
use ops::features::workstreams::resume;
use ops::{Result, World};

use crate::clock;
use crate::output::{self, BAD, BOLD, DIM, OutputFormat};

pub fn run(world: &World, id: Option<&str>, format: OutputFormat) -> Result<u8> {
    let shown = resume::show_manifest(world, id)?;
    if format == OutputFormat::Json {
        output::print_json(&shown);
        return Ok(0);
    }
    let manifest = &shown.manifest;
    let place = [
        // Section 0 means that the steps have no sections.
        manifest.current_section.filter(|section| *section > 0).map(|section| format!("section {section}")),
        manifest.current_task.map(|task| format!("task {task}")),
        (!manifest.progress.is_empty()).then(|| one_line(&manifest.progress, 80)),
    ];
    let mut pairs = vec![
        (
            "workstream",
            format!(
                "{BOLD}{}{BOLD:#} {}",
                one_line(&manifest.project_id, 100),
                one_line(&manifest.project_name, 100)
            ),
        ),
        ("state", one_line(&shown.state, 40)),
        ("at", place.into_iter().flatten().collect::<Vec<_>>().join(", ")),
    ];
    let next_step = match (&shown.next_step, shown.has_steps) {
        (Some(step), _) => one_line(step, 160),
        (None, true) => "none: all checkboxes are ticked".to_owned(),
        (None, false) => "none: no file that it loads has a `- [ ]` box".to_owned(),
    };
    pairs.push(("next step", next_step));
    pairs.extend(manifest.action_that_continues_work().map(|action| {
        ("next action", format!("{} (the skill or command that continues the work)", one_line(action, 100)))
    }));
    pairs.extend([
        ("updated", one_line(&clock::local_date_and_time(&manifest.last_updated), 40)),
        ("manifest", one_line(&shown.path, 200)),
    ]);
    output::print_pairs(&pairs);
    for (i, load) in shown.files_to_load.iter().enumerate() {
        let state = match &load.path {
            Some(_) => format!("{DIM}{} bytes{DIM:#}", load.bytes),
            None => format!("{BAD}{}{BAD:#}", load.location.describe()),
        };
        output::print_line(format_args!("{:>3}. {}  {state}", i + 1, one_line(&load.written_path, 200)));
    }
    for question in &manifest.questions {
        output::print_line(format_args!("  ? {}", one_line(question, 300)));
    }
    Ok(0)
}
