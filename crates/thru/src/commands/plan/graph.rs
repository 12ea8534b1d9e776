use model::plan::{self, Plan};
use model::render::one_line;
use ops::features::plan::show;
use ops::{Result, World};

use super::status_style;
use crate::output::{self, DIM, OutputFormat};

pub fn run(world: &World, format: OutputFormat) -> Result<u8> {
    let shown = show::show_plan(world)?;
    match format {
        OutputFormat::Json => output::print_json(&shown.to_json()),
        OutputFormat::Text => print_graph(&shown.loaded.plan),
    }
    Ok(0)
}

fn print_graph(plan: &Plan) {
    let mut out = String::new();
    for line in plan::draw_graph(plan) {
        let task = line.task;
        let style = status_style(task.status);
        let again = if line.already_drawn { format!(" {DIM}(above){DIM:#}") } else { String::new() };
        let text =
            if line.already_drawn { String::new() } else { format!("  {}", one_line(&task.description, 72)) };
        let (rails, id) = (&line.tree_prefix, one_line(&task.id, 64));
        out.push_str(&format!(
            "{DIM}{rails}{DIM:#}{style}{}{style:#} {id}{text}{again}\n",
            task.status.status_symbol()
        ));
    }
    if out.is_empty() {
        return output::print_message("There are no tasks yet; `thru task add TEXT` adds one.");
    }
    output::print_text(&out);
    output::print_message(format_args!(
        "{DIM}below each task: what waits for it. ✓ completed ▶ in progress ○ pending ✗ blocked – closed{DIM:#}"
    ));
}
