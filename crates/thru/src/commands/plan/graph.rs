use model::plan::{self, Plan};
use model::render::one_line;
use ops::features::plan::show;
use ops::{Result, World};

use super::style_of;
use crate::output::{self, DIM, Format};

pub fn run(world: &World, format: Format) -> Result<u8> {
    let shown = show::show(world)?;
    match format {
        Format::Json => output::json(&shown.report()),
        Format::Text => print_graph(&shown.loaded.plan),
    }
    Ok(0)
}

fn print_graph(plan: &Plan) {
    let mut out = String::new();
    for line in plan::graph(plan) {
        let task = line.task;
        let style = style_of(task.status);
        let again = if line.again { format!(" {DIM}(above){DIM:#}") } else { String::new() };
        let text = if line.again { String::new() } else { format!("  {}", one_line(&task.description, 72)) };
        let (rails, id) = (&line.rails, one_line(&task.id, 64));
        out.push_str(&format!(
            "{DIM}{rails}{DIM:#}{style}{}{style:#} {id}{text}{again}\n",
            task.status.sign()
        ));
    }
    if out.is_empty() {
        return output::talk("There are no tasks yet; `thru task add TEXT` adds one.");
    }
    output::text(&out);
    output::talk(format_args!(
        "{DIM}below each task: what waits for it. ✓ completed ▶ in progress ○ pending ✗ blocked – closed{DIM:#}"
    ));
}
